//! Selection of the path class of an instruction when its word is decoded.

use sim_core::TagUse;

use crate::inst::{BranchKind, Faulting, Inst, MemOp, MemShape, Rename, Special, StaticEvents};
use crate::micro_op::{Role, UopGroup};
use crate::path_class::PathClass;

impl PathClass {
    pub(crate) fn of(inst: &Inst) -> PathClass {
        let is_ordinary = inst.n_mops <= 2
            && inst.special == Special::None
            && inst.maintenance.is_none()
            && inst.context_write.is_none()
            // A barrier without cost takes no pipe, but its event counts when it would issue.
            && (inst.rename == Rename::Normal || inst.events.and(StaticEvents::AT_ISSUE).0 == 0)
            // Whether a store-exclusive succeeds is an event.
            && !(inst.mem.exclusive && inst.mem.op == MemOp::Store);
        let MemShape { op, elements, scattered, faulting, .. } = inst.mem;
        let in_one = elements == 0 && !scattered && faulting == Faulting::Every;
        if !is_ordinary || !in_one || op == MemOp::Maintenance {
            return PathClass::General;
        }
        if inst.rename != Rename::Normal {
            return if inst.n_mops == 1 { PathClass::of_renamed(inst) } else { PathClass::General };
        }
        match inst.uops() {
            [group] if group.role == Role::Compute && group.is_one() && op == MemOp::None => {
                if inst.n_mops == 1 { PathClass::Alu } else { PathClass::General }
            }
            _ => PathClass::of_access(inst),
        }
    }

    /// Returns the class of a load or store in one or two slots.
    fn of_access(inst: &Inst) -> PathClass {
        use PathClass::{General, Load, LoadUpdate, Store, TwoMopStoreUpdate};
        if !is_simple_access(inst) {
            return General;
        }
        let is = |group: &UopGroup, role| group.role == role && group.count == 1;
        match (inst.mem.op, inst.n_mops, inst.uops()) {
            (MemOp::Load, 1, [load]) if is(load, Role::Load) => Load,
            (MemOp::Load, 1, [load, base])
                if inst.n_dsts > 0 && is(load, Role::Load) && is(base, Role::BaseUpdate) =>
            {
                LoadUpdate
            }
            (MemOp::Store, mops, [addr, data, base @ ..])
                if is(addr, Role::StoreAddr) && is(data, Role::StoreData) =>
            {
                match (mops, base) {
                    (1, []) if inst.n_dsts == 0 => Store,
                    (2, [base]) if inst.n_dsts == 1 && is(base, Role::BaseUpdate) => {
                        TwoMopStoreUpdate
                    }
                    _ => General,
                }
            }
            _ => General,
        }
    }

    /// Returns the class of an ordinary instruction that rename may complete.
    fn of_renamed(inst: &Inst) -> PathClass {
        let computes = |group: &UopGroup| group.role == Role::Compute && group.is_one();
        let is_plain = matches!(inst.uops(), [group] if computes(group));
        let does_more = inst.mem.op != MemOp::None || inst.branch != BranchKind::None;
        match inst.rename {
            _ if does_more => PathClass::General,
            Rename::Move if !is_plain => PathClass::General,
            _ => PathClass::Eliminated,
        }
    }
}

/// Returns true if the access orders nothing, is not exclusive and has no accumulator. All sources
/// of such a load form its address. Such a store has at most four sources; the first one or two
/// form its address.
fn is_simple_access(inst: &Inst) -> bool {
    let MemShape { op, exclusive, ordered, tags, .. } = inst.mem;
    let few_sources = match op {
        MemOp::Load => inst.n_addr_srcs == inst.n_srcs,
        MemOp::Store => inst.n_srcs <= 4 && matches!(inst.n_addr_srcs, 1 | 2),
        _ => false,
    };
    // A store of tags may fault on its address.
    let may_fault = tags == TagUse::Writes;
    let does_more = exclusive || ordered || may_fault || inst.fp_element_ops > 0;
    few_sources
        && !does_more
        && inst.accumulate.family == 0
        && inst.uops().iter().all(UopGroup::takes_only_a_cycle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode;

    #[test]
    fn each_instruction_has_the_class_of_its_fast_path() {
        let cases: [(u32, &str, PathClass); 22] = [
            (0x8b02_0020, "add x0, x1, x2", PathClass::Alu),
            (0xeb02_003f, "cmp x1, x2", PathClass::Alu),
            (0x5400_0040, "b.eq", PathClass::Alu),
            (0x9ac2_0820, "udiv: blocks its pipe", PathClass::General),
            (0xaa01_03e0, "mov x0, x1", PathClass::Eliminated),
            (0xf940_0020, "ldr x0, [x1]", PathClass::Load),
            (0xf862_7820, "ldr x0, [x1, x2, lsl #3]", PathClass::Load),
            (0xa940_0440, "ldp x0, x1, [x2]: two loads", PathClass::General),
            (0xc8df_fc20, "ldar x0, [x1]: orders others", PathClass::General),
            (0xc85f_7c20, "ldxr x0, [x1]: exclusive", PathClass::General),
            (0x0d40_0020, "ld1 {v0.b}[0], [x1]: merges", PathClass::General),
            (0xf840_8420, "ldr x0, [x1], #8", PathClass::LoadUpdate),
            (0xa8c1_0440, "ldp x0, x1, [x2], #16", PathClass::General),
            (0xf900_0020, "str x0, [x1]", PathClass::Store),
            (0xf822_7820, "str x0, [x1, x2, lsl #3]", PathClass::Store),
            (0xc89f_fc20, "stlr x0, [x1]: orders others", PathClass::General),
            (0xf800_8420, "str x0, [x1], #8", PathClass::TwoMopStoreUpdate),
            (0xa9bf_7bfd, "stp x29, x30, [sp, #-16]!", PathClass::TwoMopStoreUpdate),
            (0xc802_7c20, "stxr w2, x0, [x1]: it may fail", PathClass::General),
            (0xd920_0842, "stg x2, [x2]: it may be refused", PathClass::General),
            (0xd503_3fbf, "dmb sy", PathClass::General),
            (0xd400_0001, "svc #0", PathClass::General),
        ];
        for (word, text, shape) in cases {
            assert_eq!(decode(word).path_class, shape, "{text}");
        }
    }
}
