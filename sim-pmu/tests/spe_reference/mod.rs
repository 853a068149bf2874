//! Second model of the profiling unit, written directly from the supplement: one operation, one
//! record and one field at a time, without derived state.

use sim_core::Privilege;
use sim_pmu::spe::{SampleOutcome, SpeConfig};
use sim_pmu::{AccessError, ExceptionLevel};

use crate::spe_unit::Op;

/// Random bytes of both models, repeated.
pub(crate) const RANDOM: [u8; 5] = [3, 0, 200, 17, 255];

/// A sample in flight: number, end, total latency, events, kind, squashed.
type Flying = (u64, u64, u64, u64, u8, bool);

pub(crate) struct Plain {
    config: SpeConfig,
    privilege: Privilege,
    mdcr_el2: u64,
    mdcr_el3: u64,
    el1: u64,
    el2: u64,
    counter: u64,
    second: u64,
    interval: u64,
    sfcr: u64,
    evfr: u64,
    latfr: u64,
    limit: u64,
    pointer: u64,
    pub(crate) status: u64,
    random_at: usize,
    was_on: bool,
    population: u64,
    flying: Vec<Flying>,
    /// Counts of POP, FEED, FILTRATE and COLLISION.
    pub(crate) raised: [u64; 4],
    pub(crate) sampled_ops: Vec<(u64, SampleOutcome)>,
}

fn bit(value: u64, n: u32) -> bool {
    value >> n & 1 == 1
}

impl Plain {
    pub(crate) fn new(config: &SpeConfig) -> Plain {
        Plain {
            config: config.clone(),
            privilege: Privilege::default(),
            mdcr_el2: 0,
            mdcr_el3: 0,
            el1: 0,
            el2: 0,
            counter: 0,
            second: 0,
            interval: 0,
            sfcr: 0,
            evfr: 0,
            latfr: 0,
            limit: 0,
            pointer: 0,
            status: 0,
            random_at: 0,
            was_on: false,
            population: 0,
            flying: Vec::new(),
            raised: [0; 4],
            sampled_ops: Vec::new(),
        }
    }

    fn random(&mut self) -> u64 {
        self.random_at += 1;
        RANDOM[(self.random_at - 1) % RANDOM.len()].into()
    }

    fn secure(&self) -> bool {
        self.privilege.secure || self.privilege.level == 3
    }

    /// Returns ProfilingBufferOwner of the supplement: secure, level.
    fn owner(&self) -> (bool, u8) {
        let secure = !bit(self.mdcr_el3, 13);
        let level = if !secure && self.mdcr_el2 >> 12 & 3 == 0 { 2 } else { 1 };
        (secure, level)
    }

    /// Returns whether both StatisticalProfilingEnabled and ProfilingBufferEnabled of the
    /// supplement hold.
    fn enabled(&self) -> bool {
        let (secure, level) = self.owner();
        let of_state = secure == self.privilege.secure;
        if !of_state || !bit(self.limit, 0) || bit(self.status, 17) {
            return false;
        }
        let in_host = !self.secure() && self.privilege.tge;
        if self.privilege.level > level || secure != self.secure() || in_host && level == 1 {
            return false;
        }
        match self.privilege.level {
            2 => bit(self.el2, 1),
            1 => bit(self.el1, 1),
            _ if in_host => bit(self.el2, 0),
            _ => bit(self.el1, 0),
        }
    }

    /// Loads the counter if it is zero when profiling becomes enabled.
    fn update_enable(&mut self) {
        let on = self.enabled();
        if on && !self.was_on && self.counter == 0 && self.second == 0 {
            self.load();
        }
        self.was_on = on;
    }

    fn load(&mut self) {
        self.counter = self.interval & 0xFFFF_FF00;
        if bit(self.interval, 0) && !self.config.random_after_interval {
            self.counter += self.random();
        }
    }

    pub(crate) fn set_privilege(&mut self, privilege: Privilege) {
        self.privilege = privilege;
        self.update_enable();
    }

    pub(crate) fn set_mdcr_el2(&mut self, value: u64) {
        self.mdcr_el2 = value;
        self.update_enable();
    }

    pub(crate) fn set_mdcr_el3(&mut self, value: u64) {
        self.mdcr_el3 = value;
        self.update_enable();
    }

    pub(crate) fn operation(&mut self, op: &Op, now: u64, privilege: Privilege) {
        self.advance(now);
        self.set_privilege(privilege);
        let squashed = !op.retired && !op.exception;
        if !self.enabled() || squashed && !self.config.population_wrong_path {
            return;
        }
        for mop in 0..op.mops {
            self.population += 1;
            self.raised[0] += 1;
            if self.is_sampled() {
                self.sample(op, now, mop == 0, squashed);
            }
        }
    }

    /// Returns whether the next operation is sampled (section 3.1.2 of the supplement).
    fn is_sampled(&mut self) -> bool {
        let both = self.config.random_after_interval && bit(self.interval, 0);
        let mut due = false;
        if both && self.second > 0 {
            self.second -= 1;
            due = self.second == 0;
        }
        if self.counter > 0 {
            self.counter -= 1;
            return due;
        }
        self.load();
        if !both {
            return true;
        }
        self.second = self.random();
        due || self.second == 0
    }

    fn sample(&mut self, op: &Op, now: u64, first: bool, squashed: bool) {
        let end = now + op.latency + 1;
        let flying = self.flying.iter().filter(|sample| sample.1 > now).count();
        if self.config.samples_in_flight > 0 && flying >= self.config.samples_in_flight as usize {
            self.raised[3] += 1;
            self.status |= 1 << 16;
            self.sampled_ops.push((self.population, SampleOutcome::Collided));
            return;
        }
        self.raised[1] += 1;
        let mut events = if squashed { 0 } else { 1 << 1 };
        if op.exception {
            events |= 1;
        }
        if first {
            events |= u64::from(op.refill) << 3;
            events |= u64::from(op.walk) << 5;
            events |= u64::from(op.mispredicted && op.kind == 5 && !op.exception) << 7;
        }
        let kind = if first { op.kind } else { 0 };
        self.flying.push((self.population, end, op.latency, events, kind, squashed));
    }

    pub(crate) fn advance(&mut self, now: u64) {
        while self.flying.first().is_some_and(|sample| sample.1 <= now) {
            let (number, _, latency, events, kind, squashed) = self.flying.remove(0);
            let outcome = if squashed && !self.config.record_wrong_path {
                SampleOutcome::Squashed
            } else if !self.collects(events, latency, kind) {
                SampleOutcome::Filtered
            } else {
                self.raised[2] += 1;
                if self.store() { SampleOutcome::Written } else { SampleOutcome::Dropped }
            };
            self.sampled_ops.push((number, outcome));
        }
    }

    /// Returns CollectRecord of the supplement.
    fn collects(&self, events: u64, latency: u64, kind: u8) -> bool {
        let (b, ld, st) = (bit(self.sfcr, 16), bit(self.sfcr, 17), bit(self.sfcr, 18));
        if bit(self.sfcr, 0) && (0..64).any(|n| bit(self.evfr, n) && !bit(events, n)) {
            return false;
        }
        let of_type = match kind {
            1 => ld,
            2 | 4 => st,
            3 => ld || st,
            5 => b,
            _ => false,
        };
        if bit(self.sfcr, 1) && !of_type {
            return false;
        }
        !(bit(self.sfcr, 2) && self.latfr > 0 && latency < self.latfr)
    }

    /// Writes 64 bytes; sections 3.5.2 and 3.5.3 of the supplement.
    fn store(&mut self) -> bool {
        if !bit(self.limit, 0) || bit(self.status, 17) {
            return false;
        }
        let limit = self.limit & !0xFFF;
        let keep = self.status & 0x000D_0000;
        let fault = |code: u64| keep | 1 << 17 | 0x24 << 26 | code;
        let same_part = limit >> 56 == self.pointer >> 56;
        let fits = |pointer: u64| same_part && pointer <= limit && limit - pointer >= 64;
        if !self.pointer.is_multiple_of(64) {
            self.status = fault(0x21);
        } else if !fits(self.pointer) {
            self.status = keep | 1 << 17 | 1;
        } else if self.pointer >> 48 != 0 && self.pointer >> 48 != 0xFFFF {
            self.status = fault(0x04);
        } else {
            self.pointer += 64;
            if !fits(self.pointer) {
                self.status = keep | 1 << 17 | 1;
            }
            self.update_enable();
            return true;
        }
        self.update_enable();
        false
    }

    /// Returns the register that a name accesses, or the exception.
    fn reach(&self, name: &'static str, write: bool) -> Result<&'static str, AccessError> {
        let level = self.privilege.level;
        let fixed = name == "PMSIDR_EL1" || name == "PMBIDR_EL1";
        let high = name == "PMSCR_EL2" || name == "PMSCR_EL12";
        let no_alias = name == "PMSCR_EL12" && (!self.privilege.e2h || self.privilege.secure);
        if level == 0 || high && level == 1 || write && fixed || no_alias {
            return Err(AccessError::Undefined);
        }
        let of_buffer = ["PMBLIMITR_EL1", "PMBPTR_EL1", "PMBSR_EL1"].contains(&name);
        let kept = if of_buffer { !bit(self.mdcr_el2, 12) } else { bit(self.mdcr_el2, 14) };
        if name != "PMBIDR_EL1" {
            if level == 1 && !self.privilege.secure && kept {
                return Err(AccessError::Trap { to: ExceptionLevel::El2 });
            }
            let given = if self.privilege.secure { 1 } else { 3 };
            if level < 3 && self.mdcr_el3 >> 12 & 3 != given {
                return Err(AccessError::Trap { to: ExceptionLevel::El3 });
            }
        }
        Ok(match name {
            "PMSCR_EL1" if self.privilege.e2h && level == 2 => "PMSCR_EL2",
            "PMSCR_EL12" => "PMSCR_EL1",
            name => name,
        })
    }

    pub(crate) fn mrs(&self, name: &'static str) -> Result<u64, AccessError> {
        let second = if self.config.random_after_interval { 1 << 5 } else { 0 };
        Ok(match self.reach(name, false)? {
            "PMSCR_EL1" => self.el1,
            "PMSCR_EL2" if self.mdcr_el2 >> 12 & 3 == 0 => self.el2,
            "PMSCR_EL2" => self.el2 & 0x78,
            "PMSICR_EL1" => self.counter | self.second << 56,
            "PMSIRR_EL1" => self.interval,
            "PMSFCR_EL1" => self.sfcr,
            "PMSEVFR_EL1" => self.evfr,
            "PMSLATFR_EL1" => self.latfr,
            "PMSIDR_EL1" => 0x26417 | second,
            "PMBLIMITR_EL1" => self.limit,
            "PMBPTR_EL1" => self.pointer,
            "PMBSR_EL1" => self.status,
            _ => {
                let (secure, level) = self.owner();
                let below = self.privilege.level < level || secure != self.privilege.secure;
                6 | if below && self.privilege.level < 3 { 1 << 4 } else { 0 }
            }
        })
    }

    pub(crate) fn msr(&mut self, name: &'static str, value: u64) -> Result<(), AccessError> {
        match self.reach(name, true)? {
            "PMSCR_EL1" => self.el1 = value & 0x7B,
            "PMSCR_EL2" => self.el2 = value & 0x7B,
            "PMSICR_EL1" => {
                self.counter = value & 0xFFFF_FFFF;
                self.second = if self.config.random_after_interval { value >> 56 } else { 0 };
            }
            "PMSIRR_EL1" => self.interval = value & 0xFFFF_FF01,
            "PMSFCR_EL1" => self.sfcr = value & 0x7_0007,
            "PMSEVFR_EL1" => self.evfr = value & 0x6_08AA,
            "PMSLATFR_EL1" => self.latfr = value & 0xFFF,
            "PMBLIMITR_EL1" => self.limit = value & !0xFF8,
            "PMBPTR_EL1" => self.pointer = value,
            _ => self.status = value & 0xFC0F_003F,
        }
        self.update_enable();
        Ok(())
    }
}
