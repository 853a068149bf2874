//! States of lines and pages that a case begins with, and what brings them about.

use sim_core::{LINE_BYTES, Maintenance};
use sim_isa::decode;
use sim_scenario::{Action, Base, Case, Clause, State, Step, Xt};

use crate::operands::used_lines;
use crate::plan::{CASE_BYTES, Level, PAGE_BYTES, Prepare};
use crate::reason::Reason;

/// Bytes of a quarter of a page.
const QUARTER_BYTES: u64 = PAGE_BYTES / 4;

/// States of the lines and pages of a case.
#[derive(Default)]
pub(crate) struct Memory {
    /// First used address of each line, and its state.
    lines: Vec<(u64, State)>,
    /// Number of each page, and its state.
    pages: Vec<(u64, State)>,
    /// Lines that are fetched, and whether the L1 I-cache has them.
    code: Vec<(u64, bool)>,
    /// A line is read or written.
    has_data: bool,
}

impl Memory {
    /// Returns the states that a case begins with.
    ///
    /// # Errors
    ///
    /// If user mode cannot bring them about.
    pub(crate) fn of(case: &Case, level: Level) -> Result<Memory, Reason> {
        let mut memory = Memory::default();
        let (line, page) = match case.given.base {
            Base::K0 => (State::InNoCache, State::InNoTlb),
            Base::K1 => (State::InNoCache, State::InTlbs),
            Base::K2 => (State::InL2, State::InTlbs),
            Base::K3 => (State::InL1d, State::InTlbs),
            Base::K3d => (State::DirtyInL1d, State::InTlbs),
        };
        let is_fetch = |step: &&Step| fetched_line(step).is_some();
        for addr in case.steps.iter().filter(|step| !is_fetch(step)).flat_map(used_lines) {
            memory.has_data = true;
            put(&mut memory.lines, addr, LINE_BYTES, line);
            put(&mut memory.pages, addr, PAGE_BYTES, page);
        }
        // The L1 D-cache has no copy of a line that is only fetched.
        let line_of_code = if line == State::InL1d { State::InL2 } else { line };
        for addr in case.steps.iter().filter_map(fetched_line) {
            put(&mut memory.lines, addr, LINE_BYTES, line_of_code);
            put(&mut memory.pages, addr, PAGE_BYTES, page);
            memory.put_code(addr, case.given.base == Base::K3);
        }
        for clause in &case.given.clauses {
            memory.apply(clause, page, level)?;
        }
        Ok(memory)
    }

    fn apply(&mut self, clause: &Clause, page: State, level: Level) -> Result<(), Reason> {
        let state = clause.state;
        let of_page = match state {
            State::InTlbs | State::InL2Tlb | State::InNoTlb => true,
            State::InWalkCache if level == Level::El1 => true,
            State::InWalkCache => return Err(Reason::NeedsEl1),
            State::InL1d | State::DirtyInL1d | State::InL2 | State::DirtyInL2 => false,
            State::InNoCache | State::InSlc | State::InDram => false,
            State::InPeer | State::InRemote | State::Shared => return Err(Reason::OtherAgent),
            State::Unmapped | State::ReadOnly => return Err(Reason::Exception),
            State::InL1i => {
                let addrs = clause.subject.as_deref().unwrap_or_default();
                return self.put_fetched(addrs, page);
            }
            State::Faulty(..) => return Err(Reason::State("an error in a RAM")),
            _ => return Err(Reason::State("a memory type, a tag or an alias")),
        };
        let list = if of_page { &mut self.pages } else { &mut self.lines };
        match &clause.subject {
            None => list.iter_mut().for_each(|(_, known)| *known = state),
            Some(addrs) => {
                for addr in addrs {
                    if !(PAGE_BYTES..CASE_BYTES).contains(addr) {
                        return Err(Reason::Operands(format!("0x{addr:x}")));
                    }
                    let unit = if of_page { PAGE_BYTES } else { LINE_BYTES };
                    let list = if of_page { &mut self.pages } else { &mut self.lines };
                    match list.iter_mut().find(|(known, _)| known / unit == addr / unit) {
                        Some((_, known)) => *known = state,
                        None => list.push((*addr, state)),
                    }
                    if !of_page {
                        put(&mut self.pages, *addr, PAGE_BYTES, page);
                    }
                }
            }
        }
        Ok(())
    }

    /// Brings lines into the L1 I-cache, besides what is known of them.
    fn put_fetched(&mut self, addrs: &[u64], page: State) -> Result<(), Reason> {
        for addr in addrs {
            if !(PAGE_BYTES..CASE_BYTES).contains(addr) {
                return Err(Reason::Operands(format!("0x{addr:x}")));
            }
            match self.lines.iter_mut().find(|(known, _)| known / LINE_BYTES == addr / LINE_BYTES) {
                Some((_, state)) if *state == State::InL1d => *state = State::InL2,
                Some(_) => {}
                None => self.lines.push((*addr, State::InL2)),
            }
            put(&mut self.pages, *addr, PAGE_BYTES, page);
            self.put_code(*addr, true);
        }
        Ok(())
    }

    fn put_code(&mut self, addr: u64, in_l1i: bool) {
        match self.code.iter_mut().find(|(known, _)| known / LINE_BYTES == addr / LINE_BYTES) {
            Some((_, known)) => *known |= in_l1i,
            None => self.code.push((addr, in_l1i)),
        }
    }

    /// Returns true if a page is not in all TLBs.
    pub(crate) fn leaves_tlb(&self) -> bool {
        self.pages.iter().any(|(_, state)| *state != State::InTlbs)
    }

    /// Returns true if a line is in the system level cache alone.
    pub(crate) fn leaves_l2(&self) -> bool {
        self.lines.iter().any(|(_, state)| *state == State::InSlc)
    }

    /// Returns the acts in an order in which later ones keep what earlier ones did: out of all
    /// caches, from the outermost cache inwards, and TLBs last.
    pub(crate) fn acts(&self, level: Level) -> Vec<Prepare> {
        let mut acts: Vec<Prepare> = Vec::new();
        if level == Level::El1 {
            // A step may take the page out of the TLBs; then the next round finds it so too.
            let half = self.pages.iter().filter(|(_, state)| *state == State::InL2Tlb);
            acts.extend(half.map(|(addr, _)| Prepare::DropPage(*addr)));
        }
        acts.extend(self.lines.iter().map(|(addr, _)| Prepare::Drop(*addr)));
        acts.extend(self.code.iter().map(|(addr, _)| Prepare::DropCode(*addr)));
        let of = |wanted: State| self.lines.iter().filter(move |(_, state)| *state == wanted);
        for (addr, _) in of(State::InSlc) {
            acts.extend([Prepare::Load(*addr), Prepare::LeaveL2(*addr)]);
        }
        acts.extend(of(State::DirtyInL2).map(|(addr, _)| Prepare::Store(*addr)));
        acts.extend(of(State::InL2).map(|(addr, _)| Prepare::Load(*addr)));
        let mut sets: Vec<u64> = Vec::new();
        for (addr, _) in of(State::DirtyInL2).chain(of(State::InL2)) {
            let set = addr % L1_WAY_BYTES / LINE_BYTES;
            if !sets.contains(&set) {
                sets.push(set);
                acts.push(Prepare::LeaveL1(*addr));
            }
        }
        acts.extend(of(State::InL1d).map(|(addr, _)| Prepare::Load(*addr)));
        acts.extend(of(State::DirtyInL1d).map(|(addr, _)| Prepare::Store(*addr)));
        let in_l1i = self.code.iter().filter(|(_, in_l1i)| *in_l1i);
        acts.extend(in_l1i.map(|(addr, _)| Prepare::Fetch(*addr)));
        let of_tlb = |wanted: State| self.pages.iter().any(|(_, state)| *state == wanted);
        let free = self.free_quarter().unwrap_or(0);
        if self.leaves_tlb() && !self.code.is_empty() {
            acts.push(Prepare::LeaveL1ITlb(free));
        }
        if of_tlb(State::InNoTlb) && level == Level::El0 {
            acts.push(Prepare::LeaveTlbs(free));
        }
        if of_tlb(State::InL2Tlb) && self.has_data {
            acts.push(Prepare::LeaveL1Tlb(free));
        }
        if self.leaves_tlb() {
            let stay = self.pages.iter().filter(|(_, state)| *state == State::InTlbs);
            acts.extend(stay.map(|(addr, _)| Prepare::Load(addr / PAGE_BYTES * PAGE_BYTES + free)));
        }
        if level == Level::El1 {
            acts.extend(self.pages.iter().filter_map(|(addr, state)| match state {
                State::InNoTlb => Some(Prepare::DropPage(*addr)),
                State::InWalkCache => Some(Prepare::DropLeaf(*addr)),
                _ => None,
            }));
        }
        acts
    }

    /// Returns the offset of a quarter of a page in which no line of the case lies.
    pub(crate) fn free_quarter(&self) -> Option<u64> {
        let is_used = |quarter: u64| {
            let of_quarter = |addr: &u64| addr % PAGE_BYTES / QUARTER_BYTES == quarter;
            self.lines.iter().any(|(addr, _)| of_quarter(addr))
        };
        (0..4).rev().find(|quarter| !is_used(*quarter)).map(|quarter| quarter * QUARTER_BYTES)
    }
}

/// Bytes of a way of the L1 D-cache: addresses at this distance share a set.
pub(crate) const L1_WAY_BYTES: u64 = 16 << 10;

fn put(list: &mut Vec<(u64, State)>, addr: u64, unit: u64, state: State) {
    if !list.iter().any(|(known, _)| known / unit == addr / unit) {
        list.push((addr, state));
    }
}

/// Returns the address of a line of code that a step fetches, or takes out of the I-cache.
fn fetched_line(step: &Step) -> Option<u64> {
    match step.action {
        Action::Fetch { addr } => Some(addr),
        Action::Execute { word, operand: Some(Xt::Address(addr)), .. } => {
            (decode(word).maintenance == Some(Maintenance::InstByAddress)).then_some(addr)
        }
        _ => None,
    }
}
