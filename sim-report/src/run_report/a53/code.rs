//! Costs of functions, lines, instructions and branches on a Cortex-A53.

use sim_a53::A53Event;
use sim_a53::profile::{A53Cost, SlotUse};
use sim_asm::disassembly;
use sim_core::InstId;
use sim_isa::{BranchKind as Branch, Inst, MemOp};
use sim_machine::observe::{BranchKind, CodeKind};
use sim_trace::TraceFile;

use super::slots::{Category, names};
use super::{A53Observed, decoded};
use crate::run_report::branches::BranchCount;
use crate::run_report::code::{CauseSlots, Cost, HotInstruction, ranked};
use crate::run_report::names::kind_name;
use crate::run_report::profiled::{CodeCost, Profiled};
use crate::run_report::ratio::{over, percent};

/// Cost of one static instruction, with its address.
#[derive(Clone, Debug, Default)]
pub(super) struct CodeCosts {
    pc: u64,
    kind: CodeKind,
    pub(super) cost: A53Cost,
}

impl CodeCost for CodeCosts {
    fn pc(&self) -> u64 {
        self.pc
    }

    fn add(&mut self, other: &CodeCosts) {
        self.cost.add(&other.cost);
    }

    fn all_slots(&self) -> u64 {
        self.cost.all_slots()
    }

    fn is_counted(&self) -> bool {
        !self.cost.is_none()
    }

    fn row(&self, all_slots: u64) -> Cost {
        let cost = &self.cost;
        let category = |category| {
            let own = SlotUse::all().filter(|slot| Category::of(*slot) == category);
            own.map(|slot| cost.slots_of(slot)).sum::<u64>()
        };
        let named = SlotUse::all().filter(|slot| *slot != SlotUse::Issued).map(|slot| {
            let (cause, name) = names(slot);
            CauseSlots {
                cause: cause.to_owned(),
                name: name.to_owned(),
                slots: cost.slots_of(slot),
            }
        });
        let instructions = cost.count(A53Event::INST_RETIRED);
        Cost {
            slots: cost.all_slots(),
            percent: percent(cost.all_slots(), all_slots),
            retiring: category(Category::Issued),
            bad_speculation: category(Category::BadSpeculation),
            frontend: category(Category::Frontend),
            backend: category(Category::Backend),
            causes: ranked(named),
            cycles: cost.cycles,
            instructions,
            ipc: over(instructions, cost.cycles, 1.0),
            branch_misses: cost.count(A53Event::BR_MIS_PRED),
            l1i_refills: cost.count(A53Event::L1I_CACHE_REFILL),
            l1d_refills: cost.count(A53Event::L1D_CACHE_REFILL),
            l2_refills: cost.count(A53Event::L2D_CACHE_REFILL),
            dtlb_walks: None,
            itlb_walks: None,
            l1d_tlb_refills: Some(cost.count(A53Event::L1D_TLB_REFILL)),
            l1i_tlb_refills: Some(cost.count(A53Event::L1I_TLB_REFILL)),
        }
    }
}

/// Costs of all instructions of a trace.
pub(super) struct CodeOfTrace<'a> {
    trace: &'a TraceFile,
    pub(super) costs: Vec<CodeCosts>,
    pub(super) elsewhere: CodeCosts,
}

impl<'a> CodeOfTrace<'a> {
    pub(super) fn new(observed: &A53Observed<'a>) -> CodeOfTrace<'a> {
        let (program, ids) = decoded(observed.trace);
        let insts = observed.trace.statics().insts().iter().zip(ids);
        let cost = |((code, id), cost): ((_, InstId), &A53Cost)| {
            let code: &sim_trace::CodeWord = code;
            CodeCosts { pc: code.pc, kind: kind_of(program.inst(id)), cost: cost.clone() }
        };
        let elsewhere =
            CodeCosts { cost: observed.profile.elsewhere.clone(), ..CodeCosts::default() };
        let costs = insts.zip(&observed.profile.costs).map(cost).collect();
        CodeOfTrace { trace: observed.trace, costs, elsewhere }
    }

    /// Returns the row of an instruction.
    pub(super) fn row(
        &self,
        id: InstId,
        cost: &CodeCosts,
        profile: &Profiled<'_, CodeCosts>,
    ) -> HotInstruction {
        let code = self.trace.statics().insts().get(id as usize);
        let word = code.map_or(0, |code| code.word);
        HotInstruction {
            place: profile.place(cost),
            word: format!("{word:08x}"),
            text: disassembly::text(cost.pc, word),
            kind: kind_name(cost.kind).to_owned(),
            cost: cost.row(profile.all_slots()),
            squashed: None,
            load_cycles: None,
            sources: Vec::new(),
        }
    }

    /// Returns the counts of the branches that retired.
    pub(super) fn branches(&self) -> Vec<BranchCount> {
        let branch = |own: &CodeCosts| {
            let CodeKind::Branch(kind) = own.kind else { return None };
            let retired = own.cost.count(A53Event::INST_RETIRED);
            (retired > 0).then(|| BranchCount {
                pc: own.pc,
                kind,
                retired,
                taken: own.cost.count(A53Event::PC_WRITE_RETIRED),
                mispredicted: own.cost.count(A53Event::BR_MIS_PRED),
                bad_slots: own.cost.slots_of(SlotUse::Misprediction),
            })
        };
        self.costs.iter().filter_map(branch).collect()
    }
}

/// Returns the kind of an instruction; an exception return is no branch.
fn kind_of(inst: &Inst) -> CodeKind {
    let branch = match inst.branch {
        Branch::None | Branch::ExceptionReturn => None,
        Branch::Direct => Some(BranchKind::Direct),
        Branch::Conditional => Some(BranchKind::Conditional),
        Branch::Call => Some(BranchKind::Call),
        Branch::Indirect => Some(BranchKind::Indirect),
        Branch::IndirectCall => Some(BranchKind::IndirectCall),
        Branch::Return => Some(BranchKind::Return),
    };
    match (branch, inst.mem.op) {
        (Some(kind), _) => CodeKind::Branch(kind),
        (None, MemOp::Load) => CodeKind::Load,
        (None, MemOp::Store | MemOp::ZeroLine) => CodeKind::Store,
        (None, MemOp::AtomicLoad | MemOp::AtomicStore | MemOp::AtomicSwap) => CodeKind::Atomic,
        (None, _) => CodeKind::Other,
    }
}
