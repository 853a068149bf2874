//! Classification of an instruction's access, for the pipeline and the in-order engine.

use sim_core::MemKind;
use sim_core::operation::AccessKind;

use crate::inst::{BranchKind, Faulting, Inst, MemOp, Special};

/// Work of an in-order engine for the memory access of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessClass {
    /// No access.
    None,
    /// One load of consecutive bytes that orders nothing beyond itself in an in-order engine.
    Load,
    /// One store of consecutive bytes that orders nothing beyond itself in an in-order engine.
    Store,
    /// Any other access: exclusive, by element, atomic, preload, maintenance, a context write, or a
    /// system instruction that changes the state of younger instructions.
    General,
}

impl MemOp {
    /// Returns true for accesses that read and write memory at once.
    #[inline]
    pub fn is_atomic(self) -> bool {
        matches!(self, MemOp::AtomicLoad | MemOp::AtomicStore | MemOp::AtomicSwap)
    }

    /// Returns true for preloads of data, which never fault.
    #[inline]
    pub fn is_preload(self) -> bool {
        matches!(self, MemOp::PrefetchLoad | MemOp::PrefetchStore)
    }

    /// Returns the kind of a data access as a sampling unit reports it; `None` for preloads,
    /// maintenance and instructions without an access.
    pub fn reported_kind(self) -> Option<AccessKind> {
        match self {
            MemOp::Load => Some(AccessKind::Load),
            MemOp::Store => Some(AccessKind::Store),
            MemOp::AtomicLoad => Some(AccessKind::AtomicLoad),
            MemOp::AtomicStore => Some(AccessKind::AtomicStore),
            MemOp::AtomicSwap => Some(AccessKind::AtomicSwap),
            MemOp::ZeroLine => Some(AccessKind::ZeroLine),
            MemOp::None
            | MemOp::PrefetchLoad
            | MemOp::PrefetchStore
            | MemOp::PrefetchInst
            | MemOp::Maintenance => None,
        }
    }
}

impl Inst {
    /// Returns the kind of the access in a request to the memory system. Returns `None` without a
    /// data access and for maintenance, whose request depends on its operand
    /// ([`Inst::maintenance`]).
    #[inline(always)]
    pub fn access_kind(&self) -> Option<MemKind> {
        match self.mem.op {
            MemOp::Load => Some(MemKind::Load),
            MemOp::Store => Some(MemKind::Store),
            MemOp::AtomicLoad => Some(MemKind::AtomicLoad),
            MemOp::AtomicStore => Some(MemKind::AtomicStore),
            MemOp::AtomicSwap => Some(MemKind::AtomicSwap),
            MemOp::PrefetchLoad | MemOp::PrefetchStore => Some(self.preload_kind()),
            MemOp::ZeroLine => Some(MemKind::ZeroLine),
            MemOp::None | MemOp::PrefetchInst | MemOp::Maintenance => None,
        }
    }

    /// Returns the kind of the access if the recorded address is all that is known of it: the
    /// address of maintenance is its operand.
    pub fn recorded_access_kind(&self) -> Option<MemKind> {
        match self.maintenance {
            Some(what) => Some(MemKind::Maintain(what)),
            None => self.access_kind(),
        }
    }

    /// Returns the kind of a preload: the target field of `PRFM` names the cache.
    fn preload_kind(&self) -> MemKind {
        let for_write = self.mem.op == MemOp::PrefetchStore;
        match () {
            () if self.preloads_outer() => MemKind::PrefetchOuter { for_write },
            () if for_write => MemKind::PrefetchStore,
            () => MemKind::PrefetchLoad,
        }
    }

    /// Returns true for `LDNP` and `STNP`.
    pub fn is_non_temporal_pair(&self) -> bool {
        self.word & 0x3b80_0000 == 0x2800_0000
    }

    /// Returns true for system instructions that may change fetch, exception level or context of
    /// younger instructions: all except memory barriers and reads of system registers.
    pub fn changes_what_follows(&self) -> bool {
        !matches!(
            self.special,
            Special::None
                | Special::DataMemoryBarrier
                | Special::DataSyncBarrier
                | Special::SystemRead
        )
    }

    /// Returns the access class, which selects the work of an in-order engine.
    pub fn access_class(&self) -> AccessClass {
        let mem = &self.mem;
        let has_rules = mem.exclusive
            || mem.elements > 0
            || mem.scattered
            || mem.faulting != Faulting::Every
            || self.maintenance.is_some()
            || self.context_write.is_some()
            || self.branch == BranchKind::ExceptionReturn;
        match mem.op {
            _ if self.changes_what_follows() || has_rules => AccessClass::General,
            MemOp::None | MemOp::PrefetchInst => AccessClass::None,
            MemOp::Load => AccessClass::Load,
            MemOp::Store => AccessClass::Store,
            _ => AccessClass::General,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode;

    #[test]
    fn each_access_has_one_kind_and_one_class() {
        use AccessClass::{General, Load, None as Nothing, Store};
        let cases: [(u32, &str, AccessClass, Option<MemKind>); 10] = [
            (0x8b02_0020, "add x0, x1, x2", Nothing, None),
            (0xf940_0020, "ldr x0, [x1]", Load, Some(MemKind::Load)),
            (0xc8df_fc20, "ldar x0, [x1]", Load, Some(MemKind::Load)),
            (0xc85f_7c20, "ldxr x0, [x1]", General, Some(MemKind::Load)),
            (0xa940_0440, "ldp x0, x1, [x2]", Load, Some(MemKind::Load)),
            (0xf900_0020, "str x0, [x1]", Store, Some(MemKind::Store)),
            (0xf821_0040, "ldadd x1, x0, [x2]", General, Some(MemKind::AtomicLoad)),
            (0xf980_0020, "prfm pldl1keep, [x1]", General, Some(MemKind::PrefetchLoad)),
            (0xd50b_7420, "dc zva, x0", General, Some(MemKind::ZeroLine)),
            (0xd50b_7a20, "dc cvac, x0", General, None),
        ];
        for (word, text, class, kind) in cases {
            let inst = decode(word);
            assert_eq!((inst.access_class(), inst.access_kind()), (class, kind), "{text}");
            if inst.maintenance.is_none() {
                assert_eq!(inst.recorded_access_kind(), kind, "{text}");
            }
        }
        let kind = decode(0xd50b_7a20).recorded_access_kind();
        assert!(matches!(kind, Some(MemKind::Maintain(_))), "dc cvac, x0: {kind:?}");
    }
}
