//! Turns a case into work of a program: what brings caches and TLBs into the given state, and the
//! steps.

use sim_core::pmu_event::{Group, PmuEvent};
use sim_core::{CacheOp, Maintenance};
use sim_isa::{BranchKind, Inst, MemOp, Special, decode};
use sim_scenario::{Action, Case, Join, Step, Xt};

use crate::el1::{self, Before};
use crate::memory::Memory;
use crate::operands::{Operands, Predicate};
use crate::reason::Reason;

/// Bytes of the addresses that cases may use: offsets in the program's memory.
pub const CASE_BYTES: u64 = 4 << 20;
/// Bytes of a page.
pub(crate) const PAGE_BYTES: u64 = 4096;
/// Most steps of a case; a loop with more would not fit the instruction cache.
const MOST_STEPS: usize = 600;
/// `blr x4`.
const CALL_X4: u32 = 0xd63f_0080;
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
    /// Touches enough pages to empty the L1 data TLB, in the quarter of a page that begins there.
    LeaveL1Tlb(u64),
    /// Touches enough pages to empty both TLB levels, in the quarter of a page that begins there.
    LeaveTlbs(u64),
    /// Takes the line out of the L1 I-cache (`IC IVAU`).
    DropCode(u64),
    /// Calls the function in the line.
    Fetch(u64),
    /// Calls functions in enough pages to empty the L1 instruction TLB, in the quarter of a page
    /// that begins there.
    LeaveL1ITlb(u64),
    /// Takes the page out of all TLBs, with the upper levels of its walk (`TLBI VAAE1`).
    DropPage(u64),
    /// Takes the page out of all TLBs, and keeps the upper levels of its walk (`TLBI VAALE1`).
    DropLeaf(u64),
}

impl Prepare {
    /// Returns true if it takes a line out of caches.
    pub(crate) fn drops(self) -> bool {
        matches!(self, Prepare::Drop(_) | Prepare::DropCode(_))
    }

    /// Returns true if it changes TLBs alone.
    pub(crate) fn is_of_tlb(self) -> bool {
        use Prepare::{LeaveL1ITlb, LeaveL1Tlb, LeaveTlbs};
        matches!(self, LeaveL1Tlb(_) | LeaveTlbs(_) | LeaveL1ITlb(_)) || self.drops_page()
    }

    /// Returns true if it takes a page out of the TLBs.
    fn drops_page(self) -> bool {
        matches!(self, Prepare::DropPage(_) | Prepare::DropLeaf(_))
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
    /// The branch goes to this register.
    pub indirect: Option<u8>,
    /// It returns to this register; a call before it gives the address.
    pub returns_to: Option<u8>,
    /// Its address is no access of a program: of a preload, or for maintenance or `DC ZVA`.
    pub hides_address: bool,
    /// It starts after everything before it is complete.
    pub waits: bool,
    /// It is the fetch of a line: a call of the function in it, at this offset.
    pub fetches: Option<u64>,
    /// It is executed on a wrong path.
    pub wrong_path: bool,
    /// A step that needs EL1 has this before it.
    pub before: Option<Before>,
}

impl PlannedStep {
    /// Returns true unless a predicate leaves elements out.
    pub fn has_all_elements(&self) -> bool {
        self.operands.predicate == Predicate::All
    }

    /// Returns true for an access on a wrong path. The model knows its address only if it was
    /// executed before, so the trial of a case executes it.
    pub fn needs_trial(&self) -> bool {
        self.wrong_path && self.operands.base.is_some()
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
    /// It runs at EL1, in a module of the kernel.
    pub at_el1: bool,
}

/// Exception level that a plan is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// A program of user mode.
    El0,
    /// A module of the kernel.
    El1,
}

/// Plans a case.
///
/// # Errors
///
/// If user mode cannot run it.
pub fn plan(case: &Case) -> Result<Plan, Reason> {
    plan_at(case, Level::El0)
}

/// Plans a case that needs EL1.
///
/// # Errors
///
/// If a module of the kernel cannot run it.
pub fn plan_el1(case: &Case) -> Result<Plan, Reason> {
    plan_at(case, Level::El1)
}

fn plan_at(case: &Case, level: Level) -> Result<Plan, Reason> {
    check_machine(case, level)?;
    let needs_el1 = |step| plan_step(step, Level::El0) == Err(Reason::NeedsEl1);
    if level == Level::El1 && case.given.privilege.level == 0 && case.steps.iter().any(needs_el1) {
        return Err(Reason::NotInModule(el1::FROM_EL0));
    }
    let step = |step| plan_step(step, level);
    let steps = case.steps.iter().map(step).collect::<Result<Vec<_>, _>>()?;
    if !case.expect.events.iter().any(|expected| is_compared(expected.event)) {
        return Err(Reason::NothingToCount);
    }
    if steps.len() > MOST_STEPS {
        return Err(Reason::State("more steps than a loop should have"));
    }
    let memory = Memory::of(case, level)?;
    if memory.leaves_tlb() && memory.free_quarter().is_none() {
        return Err(Reason::State("a page in no TLB with lines everywhere in it"));
    }
    // All pages of the module are small, and each of its blocks of 2 MiB is one piece of memory.
    let at_el1 = level == Level::El1;
    let small_pages = memory.leaves_tlb() || at_el1;
    if small_pages && memory.leaves_l2() {
        return Err(Reason::State("a line in no L2 with a page in no TLB"));
    }
    let prepare = memory.acts(level);
    let needs_blocks = !small_pages && !prepare.is_empty();
    let is_long = prepare.iter().any(|act| matches!(act, Prepare::LeaveTlbs(_)));
    let rounds = match prepare.is_empty() {
        true => ROUNDS_OF_STEPS,
        false if is_long => ROUNDS_OF_TLBS,
        false => ROUNDS,
    };
    Ok(Plan { prepare, steps, small_pages, needs_blocks, rounds, at_el1 })
}

/// Returns true for events that are compared: not clocks, stalls and fetched lines, whose counts
/// depend on the loop around the step.
pub fn is_compared(event: PmuEvent) -> bool {
    use PmuEvent::{BUS_CYCLES, CNT_CYCLES, CPU_CYCLES, L1I_CACHE, L1I_TLB};
    event.info().group != Group::Pipeline
        && ![CPU_CYCLES, BUS_CYCLES, CNT_CYCLES, L1I_CACHE, L1I_TLB].contains(&event)
}

impl Plan {
    /// Returns true if only a kernel that runs at EL1 can run the case: at EL2 the registers that a
    /// step names are others, or its exception has another level.
    pub fn is_of_el1_alone(&self) -> bool {
        let names = |before: &Before| matches!(before, Before::OwnValue(_) | Before::Vector);
        self.steps.iter().any(|step| step.before.as_ref().is_some_and(names))
    }

    /// Returns true if the counts of the event can be compared. A preparation that touches
    /// thousands of pages has few rounds, and misses and mispredictions whose number varies: then
    /// only translations and accesses of the L1 D-cache are compared. So are they where the
    /// preparation or a step takes a page out of the TLBs: the walk that follows may read its
    /// descriptors from the L2.
    pub fn compares(&self, event: PmuEvent) -> bool {
        use PmuEvent::{L1D_CACHE_REFILL_INNER, L1D_CACHE_REFILL_OUTER, MEM_ACCESS};
        use PmuEvent::{MEM_ACCESS_RD, MEM_ACCESS_WR};
        let of_act = |act: &Prepare| matches!(act, Prepare::LeaveTlbs(_)) || act.drops_page();
        let of_step = |step: &PlannedStep| matches!(step.before, Some(Before::Page(_)));
        let walks = self.prepare.iter().any(of_act) || self.steps.iter().any(of_step);
        let is_steady = match event.info().group {
            Group::Tlb => true,
            Group::L1d => ![L1D_CACHE_REFILL_INNER, L1D_CACHE_REFILL_OUTER].contains(&event),
            _ => [MEM_ACCESS, MEM_ACCESS_RD, MEM_ACCESS_WR].contains(&event),
        };
        is_compared(event) && (is_steady || !walks)
    }
}

fn check_machine(case: &Case, level: Level) -> Result<(), Reason> {
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
    match level {
        Level::El1 => el1::check_machine(given)?,
        Level::El0 if given.privilege.level > 0 || given.exceptions != Default::default() => {
            return Err(Reason::NeedsEl1);
        }
        Level::El0 => {}
    }
    if given.cores.is_some() || !case.mesh.is_empty() {
        return Err(Reason::OtherAgent);
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

fn plan_step(step: &Step, level: Level) -> Result<PlannedStep, Reason> {
    let is_instruction = matches!(step.action, Action::Execute { .. });
    if step.wrong_path && !is_instruction || !step.other_path.is_empty() {
        return Err(Reason::WrongPath);
    }
    match step.action {
        Action::Fetch { .. } if level == Level::El1 => Err(Reason::NotInModule(el1::CODE)),
        Action::Fetch { addr } => plan_fetch(step, addr),
        Action::Snoop { .. } | Action::Stash { .. } | Action::OtherCore { .. } => {
            Err(Reason::OtherAgent)
        }
        Action::Interrupt(_) => Err(Reason::Exception),
        Action::ExecuteA32 { .. } | Action::Idle { .. } | Action::Rename { .. } => {
            Err(Reason::NothingToCount)
        }
        Action::Execute { word, operand, taken, exclusive_fails, elements, .. } => {
            if exclusive_fails {
                return Err(Reason::Operands(step.text.clone()));
            }
            let inst = decode(word);
            let before = before(step, &inst, operand, level)?;
            // What a step of EL1 has before it makes the operands that are no addresses.
            let operand = operand.filter(|xt| before.is_none() || matches!(xt, Xt::Address(_)));
            let operands = Operands::of(step, &inst, operand, &elements)?;
            let is_return = inst.branch == BranchKind::Return;
            // The last source of an authenticated return is the stack pointer.
            let returns_to = inst.srcs().last().map(|reg| reg.0).filter(|_| is_return);
            let branches = inst.branch != BranchKind::None;
            let condition = condition_of(step, &inst, taken)?;
            let is_indirect = branches && condition.is_none() && before.is_none();
            let indirect = inst.srcs().first().map(|reg| reg.0).filter(|_| is_indirect);
            let waits = step.join == Join::After;
            let text = step.text.clone();
            // A recording of a whole system shows them.
            let hides_address = level == Level::El0 && hides_address(inst.mem.op);
            Ok(PlannedStep {
                text,
                word,
                operands,
                condition,
                skips: branches && before.is_none(),
                taken,
                indirect,
                returns_to,
                hides_address,
                waits,
                fetches: None,
                wrong_path: step.wrong_path,
                before,
            })
        }
    }
}

/// Returns what a step of EL1 has before it; `None` for a step that EL0 may execute.
fn before(
    step: &Step,
    inst: &Inst,
    operand: Option<Xt>,
    level: Level,
) -> Result<Option<Before>, Reason> {
    let checked = match check_level(inst) {
        // Nothing of it happens on a wrong path.
        Err(Reason::Exception) if step.wrong_path && operand.is_none() => Ok(()),
        checked => checked,
    };
    let returns = inst.branch == BranchKind::ExceptionReturn;
    if level == Level::El0 || checked.is_ok() && !returns {
        return checked.map(|()| None);
    }
    let before = el1::before(step, inst, operand)?;
    match before {
        Before::Page(addr) if !(PAGE_BYTES..CASE_BYTES).contains(&addr) => {
            Err(Reason::Operands(step.text.clone()))
        }
        _ => Ok(Some(before)),
    }
}

/// Plans a fetch: a call of the function that each line of the program's memory has at its end.
fn plan_fetch(step: &Step, addr: u64) -> Result<PlannedStep, Reason> {
    if !(PAGE_BYTES..CASE_BYTES).contains(&addr) || !addr.is_multiple_of(4) {
        return Err(Reason::Operands(step.text.clone()));
    }
    Ok(PlannedStep {
        text: step.text.clone(),
        word: CALL_X4,
        operands: Operands { base: None, predicate: Predicate::All, offsets: None },
        condition: None,
        skips: false,
        taken: true,
        indirect: None,
        returns_to: None,
        hides_address: false,
        waits: step.join == Join::After,
        fetches: Some(addr),
        wrong_path: false,
        before: None,
    })
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
