//! Turns a case into work of a program: what brings caches and TLBs into the given state, and the
//! steps.

use sim_core::pmu_event::{Group, PmuEvent};
use sim_core::{CacheOp, LINE_BYTES, Maintenance};
use sim_isa::{BranchKind, Inst, MemOp, Special, decode};
use sim_scenario::{Action, Base, Case, Clause, Join, State, Step};

use crate::operands::{Operands, Predicate, used_lines};
use crate::reason::Reason;

/// Bytes of the addresses that cases may use: offsets in the program's memory.
pub const CASE_BYTES: u64 = 4 << 20;
/// Bytes of a page.
pub(crate) const PAGE_BYTES: u64 = 4096;
/// Most steps of a case; a loop with more would not fit the instruction cache.
const MOST_STEPS: usize = 256;
/// Bytes of half a page.
const HALF_BYTES: u64 = PAGE_BYTES / 2;
/// Rounds of a loop without preparation.
const ROUNDS_OF_STEPS: u32 = 200;
/// Rounds of a loop whose preparation is short.
const ROUNDS: u32 = 100;
/// Rounds of a loop that empties both TLB levels each time.
const ROUNDS_OF_TLBS: u32 = 4;

/// One act that brings a line or the TLBs into the given state. Addresses are offsets in the
/// program's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prepare {
    /// Takes the line out of all caches (`DC CIVAC`).
    Drop(u64),
    /// Loads from the line.
    Load(u64),
    /// Stores into the line.
    Store(u64),
    /// Loads enough lines of the same set to take the line out of the L1 D-cache.
    LeaveL1(u64),
    /// Loads enough lines of the same set to take the line out of the L2.
    LeaveL2(u64),
    /// Touches enough pages to empty the L1 data TLB, in the half that begins there.
    LeaveL1Tlb(u64),
    /// Touches enough pages to empty both TLB levels, in the half that begins there.
    LeaveTlbs(u64),
}

impl Prepare {
    /// Returns true if it changes TLBs alone.
    pub(crate) fn is_of_tlb(self) -> bool {
        matches!(self, Prepare::LeaveL1Tlb(_) | Prepare::LeaveTlbs(_))
    }
}

/// Direction that a conditional branch needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The Z flag.
    Zero(bool),
    /// X0 is zero.
    X0(bool),
    /// X2 is zero.
    X2(bool),
}

/// One step of the case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedStep {
    /// Text of the step, for a comment.
    pub text: String,
    /// The A64 word.
    pub word: u32,
    /// Its registers, predicate and addresses.
    pub operands: Operands,
    /// Preparation of a conditional branch.
    pub condition: Option<Condition>,
    /// A word follows that the branch skips, or may skip.
    pub skips: bool,
    /// The branch is taken.
    pub taken: bool,
    /// The branch goes to X4 or X30.
    pub indirect: bool,
    /// It returns to this register; a call before it gives the address.
    pub returns_to: Option<u8>,
    /// Its address is no access of a program: of a preload, or for maintenance or `DC ZVA`.
    pub hides_address: bool,
    /// It starts after everything before it is complete.
    pub waits: bool,
}

impl PlannedStep {
    /// Returns true unless a predicate leaves elements out.
    pub fn has_all_elements(&self) -> bool {
        self.operands.predicate == Predicate::All
    }
}

/// Work of the program for one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Acts before the steps, in order.
    pub prepare: Vec<Prepare>,
    /// Steps.
    pub steps: Vec<PlannedStep>,
    /// It needs pages of 4 KiB, not blocks of 2 MiB.
    pub small_pages: bool,
    /// It needs blocks of 2 MiB: its preparation was proved with them, and the set of the L2 is
    /// known only inside a block.
    pub needs_blocks: bool,
    /// Rounds of each loop.
    pub rounds: u32,
}

/// Plans a case.
///
/// # Errors
///
/// If user mode cannot run it.
pub fn plan(case: &Case) -> Result<Plan, Reason> {
    check_machine(case)?;
    let steps = case.steps.iter().map(plan_step).collect::<Result<Vec<_>, _>>()?;
    if !case.expect.events.iter().any(|expected| is_compared(expected.event)) {
        return Err(Reason::NothingToCount);
    }
    if steps.len() > MOST_STEPS {
        return Err(Reason::State("more steps than a loop should have"));
    }
    let memory = Memory::of(case)?;
    if memory.leaves_tlb() && memory.free_half().is_none() {
        return Err(Reason::State("a page in no TLB with lines everywhere in it"));
    }
    let small_pages = memory.leaves_tlb();
    if small_pages && memory.leaves_l2() {
        return Err(Reason::State("a line in no L2 with a page in no TLB"));
    }
    let prepare = memory.acts();
    let needs_blocks = !small_pages && !prepare.is_empty();
    let is_long = prepare.iter().any(|act| matches!(act, Prepare::LeaveTlbs(_)));
    let rounds = match prepare.is_empty() {
        true => ROUNDS_OF_STEPS,
        false if is_long => ROUNDS_OF_TLBS,
        false => ROUNDS,
    };
    Ok(Plan { prepare, steps, small_pages, needs_blocks, rounds })
}

/// Returns true for events that are compared: not clocks, stalls and fetched lines, whose counts
/// depend on the loop around the step.
pub fn is_compared(event: PmuEvent) -> bool {
    use PmuEvent::{BUS_CYCLES, CNT_CYCLES, CPU_CYCLES, L1I_CACHE, L1I_TLB};
    event.info().group != Group::Pipeline
        && ![CPU_CYCLES, BUS_CYCLES, CNT_CYCLES, L1I_CACHE, L1I_TLB].contains(&event)
}

impl Plan {
    /// Returns true if the counts of the event can be compared. A preparation that touches
    /// thousands of pages has few rounds, and misses and mispredictions whose number varies: then
    /// only translations and accesses of the L1 D-cache are compared.
    pub fn compares(&self, event: PmuEvent) -> bool {
        use PmuEvent::{L1D_CACHE_REFILL_INNER, L1D_CACHE_REFILL_OUTER, MEM_ACCESS};
        use PmuEvent::{MEM_ACCESS_RD, MEM_ACCESS_WR};
        let touches_many = self.prepare.iter().any(|act| matches!(act, Prepare::LeaveTlbs(_)));
        let is_steady = match event.info().group {
            Group::Tlb => true,
            Group::L1d => ![L1D_CACHE_REFILL_INNER, L1D_CACHE_REFILL_OUTER].contains(&event),
            _ => [MEM_ACCESS, MEM_ACCESS_RD, MEM_ACCESS_WR].contains(&event),
        };
        is_compared(event) && (is_steady || !touches_many)
    }
}

fn check_machine(case: &Case) -> Result<(), Reason> {
    let given = &case.given;
    let registers = !given.counters.is_empty()
        || given.profiling != Default::default()
        || !case.expect.counters.is_empty()
        || !case.expect.registers.is_empty()
        || !case.expect.profile.is_empty()
        || !case.expect.statements.is_empty();
    if registers {
        return Err(Reason::Registers);
    }
    if given.privilege.level > 0 || given.exceptions != Default::default() {
        return Err(Reason::NeedsEl1);
    }
    if !given.set.is_empty() {
        return Err(Reason::Configuration);
    }
    if given.stage2 || given.tag_checks {
        return Err(Reason::State("stage 2 or tag checks"));
    }
    if given.own_fetches {
        return Err(Reason::Fetches);
    }
    Ok(())
}

fn plan_step(step: &Step) -> Result<PlannedStep, Reason> {
    if step.wrong_path || !step.other_path.is_empty() {
        return Err(Reason::WrongPath);
    }
    match step.action {
        Action::Fetch { .. } => Err(Reason::Fetches),
        Action::Snoop { .. } | Action::Stash { .. } => Err(Reason::OtherAgent),
        Action::Interrupt(_) => Err(Reason::Exception),
        Action::ExecuteA32 { .. } | Action::Idle { .. } | Action::Rename { .. } => {
            Err(Reason::NothingToCount)
        }
        Action::Execute { word, operand, taken, exclusive_fails, elements, .. } => {
            if exclusive_fails {
                return Err(Reason::Operands(step.text.clone()));
            }
            let inst = decode(word);
            check_level(&inst)?;
            let operands = Operands::of(step, &inst, operand, &elements)?;
            let returns_to = (inst.branch == BranchKind::Return).then(|| (word >> 5 & 31) as u8);
            let branches = inst.branch != BranchKind::None;
            let condition = condition_of(step, &inst, taken)?;
            let indirect = branches && inst.n_srcs > 0 && condition.is_none();
            let waits = step.join == Join::After;
            let text = step.text.clone();
            let hides_address = hides_address(inst.mem.op);
            Ok(PlannedStep {
                text,
                word,
                operands,
                condition,
                skips: branches,
                taken,
                indirect,
                returns_to,
                hides_address,
                waits,
            })
        }
    }
}

fn hides_address(op: MemOp) -> bool {
    matches!(
        op,
        MemOp::PrefetchLoad
            | MemOp::PrefetchStore
            | MemOp::PrefetchInst
            | MemOp::ZeroLine
            | MemOp::Maintenance
    )
}

/// Refuses instructions that EL0 may not execute, or that leave it.
fn check_level(inst: &Inst) -> Result<(), Reason> {
    let runs_at_el0 = match inst.maintenance {
        None => true,
        Some(Maintenance::DataByAddress(op)) => op != CacheOp::Invalidate,
        Some(op) => op == Maintenance::InstByAddress,
    };
    if !runs_at_el0 || inst.context_write.is_some() {
        return Err(Reason::NeedsEl1);
    }
    let is_plain = matches!(
        inst.special,
        Special::None
            | Special::DataMemoryBarrier
            | Special::DataSyncBarrier
            | Special::InstSyncBarrier
            | Special::ClearExclusive
    );
    match inst.special {
        _ if is_plain || inst.maintenance.is_some() => Ok(()),
        Special::SupervisorCall
        | Special::HypervisorCall
        | Special::SecureMonitorCall
        | Special::Breakpoint
        | Special::Undefined => Err(Reason::Exception),
        _ if inst.mem.op == MemOp::ZeroLine => Ok(()),
        _ => Err(Reason::NeedsEl1),
    }
}

/// Returns the value that makes a conditional branch go as the case says.
fn condition_of(step: &Step, inst: &Inst, taken: bool) -> Result<Option<Condition>, Reason> {
    if inst.branch != BranchKind::Conditional {
        return Ok(None);
    }
    // The conditional branches that the language has by name, and whether they go if it is so.
    let conditions = [
        ("B.EQ", Condition::Zero as fn(bool) -> Condition, true),
        ("B.NE", Condition::Zero, false),
        ("CBZ X0", Condition::X0, true),
        ("CBNZ X0", Condition::X0, false),
        ("CBZ", Condition::X2, true),
        ("CBNZ", Condition::X2, false),
        ("TBZ", Condition::X2, true),
        ("TBNZ", Condition::X2, false),
    ];
    let found = conditions.iter().find(|(name, ..)| step.text.starts_with(name));
    let (_, condition, goes) = found.ok_or_else(|| Reason::Operands(step.text.clone()))?;
    Ok(Some(condition(taken == *goes)))
}

/// States of the lines and pages of a case.
#[derive(Default)]
struct Memory {
    /// First used address of each line, and its state.
    lines: Vec<(u64, State)>,
    /// Number of each page, and its state.
    pages: Vec<(u64, State)>,
}

impl Memory {
    fn of(case: &Case) -> Result<Memory, Reason> {
        let mut memory = Memory::default();
        let (line, page) = match case.given.base {
            Base::K0 => (State::InNoCache, State::InNoTlb),
            Base::K1 => (State::InNoCache, State::InTlbs),
            Base::K2 => (State::InL2, State::InTlbs),
            Base::K3 => (State::InL1d, State::InTlbs),
            Base::K3d => (State::DirtyInL1d, State::InTlbs),
        };
        for addr in case.steps.iter().flat_map(used_lines) {
            put(&mut memory.lines, addr, LINE_BYTES, line);
            put(&mut memory.pages, addr, PAGE_BYTES, page);
        }
        for clause in &case.given.clauses {
            memory.apply(clause, page)?;
        }
        Ok(memory)
    }

    fn apply(&mut self, clause: &Clause, page: State) -> Result<(), Reason> {
        let state = clause.state;
        let of_page = match state {
            State::InTlbs | State::InL2Tlb | State::InNoTlb => true,
            State::InL1d | State::DirtyInL1d | State::InL2 | State::DirtyInL2 => false,
            State::InNoCache | State::InSlc | State::InDram => false,
            State::InPeer | State::InRemote | State::Shared => return Err(Reason::OtherAgent),
            State::Unmapped | State::ReadOnly => return Err(Reason::Exception),
            State::InWalkCache => return Err(Reason::State("in the walk cache alone")),
            State::InL1i => return Err(Reason::Fetches),
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

    fn leaves_tlb(&self) -> bool {
        self.pages.iter().any(|(_, state)| *state != State::InTlbs)
    }

    fn leaves_l2(&self) -> bool {
        self.lines.iter().any(|(_, state)| *state == State::InSlc)
    }

    /// Returns the acts in an order in which later ones keep what earlier ones did: out of all
    /// caches, from the outermost cache inwards, and TLBs last.
    fn acts(&self) -> Vec<Prepare> {
        let mut acts: Vec<Prepare> =
            self.lines.iter().map(|(addr, _)| Prepare::Drop(*addr)).collect();
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
        let of_tlb = |wanted: State| self.pages.iter().any(|(_, state)| *state == wanted);
        let free = self.free_half().unwrap_or(0);
        if of_tlb(State::InNoTlb) {
            acts.push(Prepare::LeaveTlbs(free));
        }
        if of_tlb(State::InL2Tlb) {
            acts.push(Prepare::LeaveL1Tlb(free));
        }
        acts
    }

    /// Returns the offset of a half of a page in which no line of the case lies.
    fn free_half(&self) -> Option<u64> {
        let is_used = |half: u64| {
            self.lines.iter().any(|(addr, _)| addr % PAGE_BYTES / HALF_BYTES == half / HALF_BYTES)
        };
        [HALF_BYTES, 0].into_iter().find(|half| !is_used(*half))
    }
}

/// Bytes of a way of the L1 D-cache: addresses at this distance share a set.
pub(crate) const L1_WAY_BYTES: u64 = 16 << 10;

fn put(list: &mut Vec<(u64, State)>, addr: u64, unit: u64, state: State) {
    if !list.iter().any(|(known, _)| known / unit == addr / unit) {
        list.push((addr, state));
    }
}
