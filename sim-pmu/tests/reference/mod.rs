//! Second model of the PMU, written directly from the rules of the architecture: one counter and
//! one increment at a time, without derived state. It shares no code with the PMU under test.

use sim_core::{Counts, EventSink, PmuEvent};
use sim_pmu::{Access, AccessError, ExceptionLevel, PeState, Register};

/// Counter with its bits in the registers that have one bit for each counter.
#[derive(Clone, Debug, Default)]
struct Counter {
    value: u64,
    type_register: u64,
    runs: bool,
    flag: bool,
    interrupts: bool,
}

/// Tables of a core, written down from its documents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) counters: usize,
    pub(crate) has_p5: bool,
    /// `PMCR` without N and the bits that software sets.
    pub(crate) identity: u64,
    pub(crate) pmceid: [u64; 2],
    pub(crate) pmmir: Option<u64>,
    /// Bits that software can set: `PMCR`, `MDCR_EL2`, `MDCR_EL3`, type, filter of the cycles.
    pub(crate) kept: [u64; 5],
}

/// Neoverse N2, by the PMU guide.
pub(crate) const N2: Kind = Kind {
    counters: 6,
    has_p5: false,
    identity: 0x4149_0000,
    pmceid: [0x0000_027F_7FFF_0F3F, 0x0000_0077_FEF2_A07E],
    pmmir: Some(5),
    kept: [0x79, 0x030A_7FFF, 0x033F_F640, 0xFD00_FFFF, 0xFD00_0000],
};

/// Neoverse N2, by its ID register.
pub(crate) const N2_P5: Kind =
    Kind { has_p5: true, kept: [0xF9, 0x078A_7FFF, 0x03BF_F640, 0xFD00_FFFF, 0xFD00_0000], ..N2 };

/// Cortex-A53, by its manual (4.3.65, 4.3.68, 12.4) and Armv8.0.
pub(crate) const A53: Kind = Kind {
    counters: 6,
    has_p5: false,
    identity: 0x4103_0000,
    pmceid: [0x67FF_BFFF, 0],
    pmmir: None,
    kept: [0x79, 0x0FFF, 0x0033_C640, 0xFC00_03FF, 0xFC00_0000],
};

/// Plain model. Event counters come first, then the cycle counter.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub(crate) state: PeState,
    kind: Kind,
    has_p5: bool,
    counters: Vec<Counter>,
    selected: u64,
    control: u64,
    user: u64,
    el2: u64,
    el3: u64,
    prescaler: u64,
}

fn bit(word: u64, n: u32) -> bool {
    word >> n & 1 == 1
}

impl Reference {
    pub(crate) fn new(kind: Kind) -> Reference {
        Reference {
            state: PeState::default(),
            kind,
            has_p5: kind.has_p5,
            counters: vec![Counter::default(); kind.counters + 1],
            selected: 0,
            control: 0,
            user: 0,
            el2: kind.counters as u64,
            el3: 0,
            prescaler: 0,
        }
    }

    /// Returns the number of the cycle counter.
    fn cycles(&self) -> usize {
        self.kind.counters
    }

    fn level(&self) -> u8 {
        self.state.level as u8
    }

    fn is_el2_enabled(&self) -> bool {
        self.level() < 2 && (!self.state.is_secure || self.state.has_secure_el2)
    }

    /// Returns the number of counters below the partition.
    fn partition(&self) -> usize {
        let n = (self.el2 & 31) as usize;
        if (1..=self.kind.counters).contains(&n) { n } else { self.kind.counters }
    }

    fn is_above(&self, counter: usize) -> bool {
        counter != self.cycles() && counter >= self.partition()
    }

    fn is_hidden(&self, counter: usize) -> bool {
        self.is_el2_enabled() && self.is_above(counter)
    }

    /// Returns the counter that a single-counter register accesses, or 99 for none.
    fn reached(&self, name: &str) -> usize {
        let last = self.kind.counters as u64;
        let number = match name {
            "PMXEVTYPER_EL0" if self.selected == 31 => last,
            "PMXEVTYPER_EL0" | "PMXEVCNTR_EL0" if self.selected >= last => 99,
            "PMXEVTYPER_EL0" | "PMXEVCNTR_EL0" => self.selected,
            "PMCCFILTR_EL0" => last,
            _ => {
                let digits: String =
                    name[..name.len() - 4].chars().filter(char::is_ascii_digit).collect();
                digits.parse().expect("a register with a number")
            }
        };
        let is_cycles = name.contains('X') || name.contains("CCF");
        if number > last || (number == last && !is_cycles) { 99 } else { number as usize }
    }

    pub(crate) fn allows(&self, register: Register, access: Access) -> Result<(), AccessError> {
        let name = register.name();
        let name = name.as_str();
        let (reads, writes) = (access == Access::Read, access == Access::Write);
        let undefined = Err(AccessError::Undefined);
        let is_single = name.starts_with("PMEV") || name.starts_with("PMXEV");
        let is_selected = name.starts_with("PMXEV");
        if name == "MDCR_EL3" {
            return if self.level() == 3 { Ok(()) } else { undefined };
        }
        if name == "MDCR_EL2" {
            return match self.level() {
                0 | 1 => undefined,
                2 if bit(self.el3, 9) => trap(3),
                _ => Ok(()),
            };
        }
        if writes && ["PMCEID0_EL0", "PMCEID1_EL0", "PMMIR_EL1"].contains(&name) {
            return undefined;
        }
        if name == "PMMIR_EL1" && self.kind.pmmir.is_none() {
            return undefined;
        }
        if reads && name == "PMSWINC_EL0" || name.ends_with("_EL1") && self.level() == 0 {
            return undefined;
        }
        if is_single && !is_selected && self.reached(name) == 99 {
            return undefined;
        }
        if self.level() == 0 && name == "PMUSERENR_EL0" && writes {
            return undefined;
        }
        if self.level() == 0 && !self.user_may(name, reads) {
            let hosted = self.state.tge && self.is_el2_enabled();
            return trap(if hosted { 2 } else { 1 });
        }
        if self.is_el2_enabled() {
            let whole = bit(self.el2, 6) || name == "PMCR_EL0" && bit(self.el2, 5);
            let kept = is_single
                && self.reached(name) < self.cycles()
                && self.is_above(self.reached(name));
            if whole || kept {
                return trap(2);
            }
        }
        if is_single && self.reached(name) == 99 {
            return undefined;
        }
        if self.level() < 3 && bit(self.el3, 6) { trap(3) } else { Ok(()) }
    }

    fn user_may(&self, name: &str, reads: bool) -> bool {
        let reads_counter = name.starts_with("PMEVCNTR") || name == "PMXEVCNTR_EL0";
        let by_other_bit = match name {
            "PMUSERENR_EL0" => true,
            "PMSWINC_EL0" => bit(self.user, 1),
            "PMCCNTR_EL0" if reads => bit(self.user, 2),
            "PMSELR_EL0" => bit(self.user, 3),
            _ if reads_counter && reads => bit(self.user, 3),
            _ => false,
        };
        bit(self.user, 0) || by_other_bit
    }

    pub(crate) fn mrs(&self, register: Register) -> Result<u64, AccessError> {
        self.allows(register, Access::Read)?;
        let name = register.name();
        Ok(match name.as_str() {
            "PMCR_EL0" => {
                let n = if self.is_el2_enabled() { self.partition() } else { self.cycles() };
                let n = n as u64;
                self.kind.identity + n * 0x800 + self.control
            }
            "PMCNTENSET_EL0" | "PMCNTENCLR_EL0" => self.gather(|counter| counter.runs),
            "PMOVSSET_EL0" | "PMOVSCLR_EL0" => self.gather(|counter| counter.flag),
            "PMINTENSET_EL1" | "PMINTENCLR_EL1" => self.gather(|counter| counter.interrupts),
            "PMSELR_EL0" => self.selected,
            "PMCEID0_EL0" => self.kind.pmceid[0],
            "PMCEID1_EL0" => self.kind.pmceid[1],
            "PMCCNTR_EL0" => self.counters[self.cycles()].value,
            "PMUSERENR_EL0" => self.user,
            "PMMIR_EL1" => self.kind.pmmir.expect("the core has it"),
            "MDCR_EL2" => self.el2,
            "MDCR_EL3" => self.el3,
            other if other.contains("TYPER") || other == "PMCCFILTR_EL0" => {
                self.counters[self.reached(other)].type_register
            }
            other => self.counters[self.reached(other)].value,
        })
    }

    fn gather(&self, has: impl Fn(&Counter) -> bool) -> u64 {
        let mut word = 0;
        for (n, counter) in self.counters.iter().enumerate() {
            if has(counter) && !self.is_hidden(n) {
                word += if n == self.cycles() { 1 << 31 } else { 1 << n };
            }
        }
        word
    }

    /// Applies `act` to each visible counter whose bit is written as 1.
    fn scatter(&mut self, value: u64, mut act: impl FnMut(&mut Counter)) {
        for n in 0..=self.cycles() {
            if bit(value, if n == self.cycles() { 31 } else { n as u32 }) && !self.is_hidden(n) {
                act(&mut self.counters[n]);
            }
        }
    }

    pub(crate) fn msr(&mut self, register: Register, value: u64) -> Result<(), AccessError> {
        self.allows(register, Access::Write)?;
        let name = register.name();
        let p5 = |bits: u64| if self.has_p5 { bits } else { 0 };
        let [_, el2, el3, type_bits, filter_bits] = self.kind.kept;
        let cycles = self.cycles();
        match name.as_str() {
            "PMCR_EL0" => self.write_control(value),
            "PMCNTENSET_EL0" => self.scatter(value, |counter| counter.runs = true),
            "PMCNTENCLR_EL0" => self.scatter(value, |counter| counter.runs = false),
            "PMOVSSET_EL0" => self.scatter(value, |counter| counter.flag = true),
            "PMOVSCLR_EL0" => self.scatter(value, |counter| counter.flag = false),
            "PMINTENSET_EL1" => self.scatter(value, |counter| counter.interrupts = true),
            "PMINTENCLR_EL1" => self.scatter(value, |counter| counter.interrupts = false),
            "PMSWINC_EL0" => {
                for n in 0..self.cycles() {
                    let is_programmed = self.counters[n].type_register & 0xFFFF == 0;
                    if bit(value, n as u32) && !self.is_hidden(n) && is_programmed && self.counts(n)
                    {
                        self.add_one(n);
                    }
                }
            }
            "PMSELR_EL0" => self.selected = value % 32,
            "PMCCNTR_EL0" => self.counters[cycles].value = value,
            "PMUSERENR_EL0" => self.user = value % 16,
            "MDCR_EL2" => self.el2 = value & el2,
            "MDCR_EL3" => self.el3 = value & el3,
            other if other.contains("TYPER") || other == "PMCCFILTR_EL0" => {
                let n = self.reached(other);
                let kept = if n == cycles { filter_bits } else { type_bits };
                self.counters[n].type_register = value & kept;
            }
            other => {
                let n = self.reached(other);
                self.counters[n].value = value & (0xFFFF_FFFF | p5(0xFFFF_FFFF_0000_0000));
            }
        }
        Ok(())
    }

    fn write_control(&mut self, value: u64) {
        self.control = value & self.kind.kept[0];
        for n in 0..=self.cycles() {
            let resets = if n == self.cycles() {
                bit(value, 2)
            } else {
                bit(value, 1) && !self.is_hidden(n)
            };
            if resets {
                self.counters[n].value = 0;
            }
        }
        if bit(value, 2) {
            self.prescaler = 0;
        }
    }

    /// Returns whether counter `n` counts, by the architecture's rule for each counter and event.
    fn counts(&self, n: usize) -> bool {
        let is_secure = self.state.is_secure || self.level() == 3;
        let main_enable = if self.is_above(n) { bit(self.el2, 7) } else { bit(self.control, 0) };
        if !main_enable || !self.counters[n].runs {
            return false;
        }
        let mut prohibited = is_secure && !bit(self.el3, 17);
        if self.level() == 2 && !self.is_above(n) && bit(self.el2, 17) {
            prohibited = true;
        }
        if n == self.cycles() {
            prohibited = prohibited && bit(self.control, 5);
            if is_secure && bit(self.el3, 23) || self.level() == 2 && bit(self.el2, 23) {
                prohibited = true;
            }
        }
        let filter = self.counters[n].type_register;
        let (p, u, nsk, nsu) = (bit(filter, 31), bit(filter, 30), bit(filter, 29), bit(filter, 28));
        let (nsh, m, sh) = (bit(filter, 27), bit(filter, 26), bit(filter, 24));
        let filtered = match self.level() {
            0 if is_secure => u,
            0 => u != nsu,
            1 if is_secure => p,
            1 => p != nsk,
            2 if is_secure => nsh == sh,
            2 => !nsh,
            _ => m != p,
        };
        !prohibited && !filtered
    }

    fn add_one(&mut self, n: usize) {
        let is_short = match n {
            _ if n == self.cycles() => !bit(self.control, 6),
            _ if self.is_above(n) => !bit(self.el2, 26),
            _ => !bit(self.control, 7),
        };
        let old = self.counters[n].value;
        let new = if n == self.cycles() || self.has_p5 {
            old.wrapping_add(1)
        } else {
            (old + 1) % (1 << 32)
        };
        self.counters[n].value = new;
        let overflows = if is_short { new % (1 << 32) == 0 } else { new == 0 };
        if !overflows {
            return;
        }
        self.counters[n].flag = true;
        let is_chained = n.is_multiple_of(2) && n + 1 < self.cycles() && is_short;
        if is_chained && self.counters[n + 1].type_register & 0xFFFF == 0x1E && self.counts(n + 1) {
            self.add_one(n + 1);
        }
    }

    /// Counts `times` occurrences of a raised event of the Neoverse N2, one by one.
    pub(crate) fn count(&mut self, event: PmuEvent, times: u64) {
        let mut once = Counts::default();
        once.raise(event);
        self.count_where(times, event == PmuEvent::CPU_CYCLES, |code| {
            let programmed = PmuEvent::from_code(u32::from(code));
            programmed.is_ok_and(|event| !event.never_counts() && once.value(event) != 0)
        });
    }

    /// Counts `times` occurrences of the event with number `raised`, of a core whose events raise
    /// nothing but themselves.
    pub(crate) fn count_code(&mut self, raised: u16, times: u64) {
        self.count_where(times, raised == PmuEvent::CPU_CYCLES.code(), |code| code == raised);
    }

    fn count_where(&mut self, times: u64, is_cycle: bool, is_counted: impl Fn(u16) -> bool) {
        for n in 0..self.cycles() {
            let code = (self.counters[n].type_register & 0xFFFF) as u16;
            let is_internal = [PmuEvent::CHAIN.code(), PmuEvent::SW_INCR.code()].contains(&code);
            if is_internal || !is_counted(code) {
                continue;
            }
            for _ in 0..times {
                if self.counts(n) {
                    self.add_one(n);
                }
            }
        }
        if is_cycle {
            for _ in 0..times {
                self.cycle();
            }
        }
    }

    fn cycle(&mut self) {
        if !self.counts(self.cycles()) {
            return;
        }
        if bit(self.control, 3) && !bit(self.control, 6) {
            self.prescaler += 1;
            if self.prescaler < 64 {
                return;
            }
            self.prescaler = 0;
        }
        self.add_one(self.cycles());
    }

    pub(crate) fn interrupt(&self) -> bool {
        (0..=self.cycles()).any(|n| {
            let enable = if self.is_above(n) { bit(self.el2, 7) } else { bit(self.control, 0) };
            enable && self.counters[n].flag && self.counters[n].interrupts
        })
    }
}

fn trap(level: u8) -> Result<(), AccessError> {
    let to = ExceptionLevel::from_number(level).expect("a level");
    Err(AccessError::Trap { to })
}
