//! Events that one execution of an encoding raises by itself (PMU guide 4.8, 4.9, 4.10, 4.13).
//!
//! Choices where the guide is silent:
//! - Cryptographic instructions count in CRYPTO_SPEC alone, not as Advanced SIMD. SVE cryptographic
//!   instructions also count as SVE operations. The guide excludes PMULL, which counts as Advanced
//!   SIMD.
//! - Vector loads, stores and plain register moves count in none of ASE, VFP and SVE, because the
//!   guide excludes data movement. A published run of an N2 model counted `LD2` in ASE_INST_SPEC,
//!   and Arm's later text excludes them from ASE_SPEC alone. `count_structure` makes a machine
//!   count them (decision A49).
//! - `ERET` is an indirect branch, because it is not exception-generating.
//! - Logic, permutation and predicate operations are not integer arithmetic.
//! - Instructions that generate an exception or return from one always change the PC. They count in
//!   PC_WRITE_SPEC when they execute. `UDF` is not such an instruction; it is merely undefined.
//!
//! STREX_*, PC_WRITE_SPEC of branches, EXC_* and the SVE_PRED splits depend on the run, and the
//! pipeline raises them. This module describes a governing predicate as all TRUE.

use sim_core::PmuEvent;

use crate::inst::{BranchKind, Faulting, Inst, MemOp, Special, StaticEvents};
use crate::row::{Counts, Domain, Elem, Row};

/// Returns the events of a row. `elem` is the logarithm of the bytes of its largest element type.
pub(crate) fn static_events(
    row: &Row,
    domain: Domain,
    elem: u32,
    is_governed: bool,
) -> StaticEvents {
    let mut events = Collector::default();
    memory_events(row, &mut events);
    branch_events(row.branch, &mut events);
    if matches!(
        row.special,
        Special::SupervisorCall
            | Special::HypervisorCall
            | Special::SecureMonitorCall
            | Special::Breakpoint
    ) {
        events.add(PmuEvent::PC_WRITE_SPEC);
    }
    if row.counts == Counts::Barrier {
        barrier_event(row.special, &mut events);
    }
    class_events(row.counts, domain, elem, &mut events);
    if is_governed {
        // The pipeline replaces this event with EMPTY or PARTIAL when the predicate is not all
        // TRUE.
        events.add(PmuEvent::SVE_PRED_FULL_SPEC);
    }
    events.0
}

#[derive(Default)]
struct Collector(StaticEvents);

impl Collector {
    fn add(&mut self, event: PmuEvent) {
        self.0 = StaticEvents(self.0.0 | StaticEvents::bit(event).0);
    }
}

fn memory_events(row: &Row, events: &mut Collector) {
    let (loads, stores) = match row.mem.op {
        MemOp::Load => (true, false),
        MemOp::Store | MemOp::AtomicStore | MemOp::ZeroLine => (false, true),
        MemOp::AtomicLoad | MemOp::AtomicSwap => (true, true),
        _ => (false, false),
    };
    if loads {
        events.add(PmuEvent::LD_SPEC);
        if row.mem.acquire {
            events.add(PmuEvent::RC_LD_SPEC);
        }
        if row.mem.exclusive {
            events.add(PmuEvent::LDREX_SPEC);
        }
        if row.mem.faulting != Faulting::Every {
            events.add(PmuEvent::SVE_LDFF_SPEC);
        }
    }
    if stores {
        events.add(PmuEvent::ST_SPEC);
        if row.mem.release {
            events.add(PmuEvent::RC_ST_SPEC);
        }
    }
}

fn branch_events(branch: BranchKind, events: &mut Collector) {
    match branch {
        BranchKind::None => {}
        BranchKind::Direct | BranchKind::Conditional | BranchKind::Call => {
            events.add(PmuEvent::BR_IMMED_SPEC);
        }
        BranchKind::Indirect | BranchKind::IndirectCall => events.add(PmuEvent::BR_INDIRECT_SPEC),
        BranchKind::Return => {
            events.add(PmuEvent::BR_INDIRECT_SPEC);
            events.add(PmuEvent::BR_RETURN_SPEC);
        }
        BranchKind::ExceptionReturn => {
            events.add(PmuEvent::BR_INDIRECT_SPEC);
            events.add(PmuEvent::PC_WRITE_SPEC);
        }
    }
}

fn barrier_event(special: Special, events: &mut Collector) {
    match special {
        Special::DataMemoryBarrier => events.add(PmuEvent::DMB_SPEC),
        Special::DataSyncBarrier => events.add(PmuEvent::DSB_SPEC),
        Special::InstSyncBarrier => events.add(PmuEvent::ISB_SPEC),
        _ => {}
    }
}

fn class_events(counts: Counts, domain: Domain, elem: u32, events: &mut Collector) {
    match counts {
        Counts::Nothing | Counts::Barrier => return,
        Counts::DataProcessing => return events.add(PmuEvent::DP_SPEC),
        Counts::Crypto => {
            events.add(PmuEvent::CRYPTO_SPEC);
            if domain == Domain::Sve {
                events.add(PmuEvent::SVE_INST_SPEC);
            }
            return;
        }
        Counts::Plain => {}
        Counts::Int(_) => events.add(INT_BY_ELEM[elem as usize]),
        Counts::Fp(..) => events.add(FP_BY_ELEM[elem as usize]),
        Counts::FpConvert(Elem::H, _) => events.add(PmuEvent::FP_HP_SPEC),
        Counts::FpConvert(Elem::S, _) => events.add(PmuEvent::FP_SP_SPEC),
        Counts::FpConvert(..) => events.add(PmuEvent::FP_DP_SPEC),
    }
    match domain {
        Domain::Integer => events.add(PmuEvent::DP_SPEC),
        Domain::ScalarFp => events.add(PmuEvent::VFP_SPEC),
        Domain::Sve => events.add(PmuEvent::SVE_INST_SPEC),
        Domain::Simd => {
            events.add(PmuEvent::ASE_SPEC);
            events.add(PmuEvent::ASE_INST_SPEC);
        }
    }
}

/// Adds `ASE_INST_SPEC` to a load or store of Advanced SIMD structures, multiple or single.
pub(crate) fn count_structure(inst: &mut Inst) {
    let is_structure = inst.word & 0xbe00_0000 == 0x0c00_0000;
    if is_structure && inst.mem.op != MemOp::None {
        inst.events.0 |= StaticEvents::bit(PmuEvent::ASE_INST_SPEC).0;
        inst.finish_decode();
    }
}

const INT_BY_ELEM: [PmuEvent; 4] = [
    PmuEvent::ASE_SVE_INT8_SPEC,
    PmuEvent::ASE_SVE_INT16_SPEC,
    PmuEvent::ASE_SVE_INT32_SPEC,
    PmuEvent::ASE_SVE_INT64_SPEC,
];

/// Events by element size. This core has no 8-bit floating point, so the first entry is unused.
const FP_BY_ELEM: [PmuEvent; 4] =
    [PmuEvent::FP_HP_SPEC, PmuEvent::FP_HP_SPEC, PmuEvent::FP_SP_SPEC, PmuEvent::FP_DP_SPEC];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Program;

    #[test]
    fn structure_accesses_count_as_advanced_simd_if_the_machine_counts_them() {
        // LD2 {v0.4s, v1.4s}, [x0] ; ST1 {v0.s}[0], [x0], #4 ; LDR q0, [x0] ; LDR x0, [x0]
        let words = [0x4c40_8800, 0x0d9f_8000, 0x3dc0_0000, 0xf940_0000];
        for (counts, expected) in [(false, [false; 4]), (true, [true, true, false, false])] {
            let mut program = Program::new().counting_structures(counts);
            let got = words.map(|word| {
                let id = program.intern(u64::from(word) & !3, word);
                program.inst(id).events.contains(PmuEvent::ASE_INST_SPEC)
            });
            assert_eq!(got, expected);
        }
    }
}
