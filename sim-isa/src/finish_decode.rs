//! Derived properties of a decoded instruction, computed once when all its other fields are known.

use crate::fuse::fusion_of;
use crate::inst::{BranchKind, Inst, MemOp, Reg, RegFile};
use crate::path_class::PathClass;
use crate::rename_resources::{RenameResources, ResourceKind};
use crate::uop_counts::UopCounts;

impl Inst {
    /// Computes the derived fields. All other fields must be final.
    pub(crate) fn finish_decode(&mut self) {
        self.by_type = UopCounts::by_type(self.uops());
        self.by_queue = UopCounts::by_queue(self.uops());
        self.queue_entries = self.uops.map(|group| UopCounts::queue_entry(group.pipes));
        self.entries = resources_of(self);
        self.stores = self.mem.op.stores();
        self.fusion = fusion_of(self);
        self.needs_no_uop = self.branch == BranchKind::None
            && !self.srcs().contains(&Reg::NZCV)
            && self.srcs().iter().any(|src| self.dsts().contains(src));
        self.tally = self.events.tally();
        self.path_class = PathClass::of(self);
        self.srcs[self.n_srcs.into()..].fill(Reg::READY);
        self.dsts[self.n_dsts.into()..].fill(Reg::NOWHERE);
    }
}

/// Returns the in-order resources that an instruction takes, except its reorder buffer entries.
fn resources_of(inst: &Inst) -> RenameResources {
    let loads = matches!(
        inst.mem.op,
        MemOp::Load
            | MemOp::PrefetchLoad
            | MemOp::PrefetchStore
            | MemOp::AtomicLoad
            | MemOp::AtomicSwap
    );
    let branches = inst.branch != BranchKind::None;
    let queues = RenameResources::of(ResourceKind::Load, loads.into())
        .plus(RenameResources::of(ResourceKind::Branch, branches.into()));
    inst.dsts().iter().fold(queues, |all, reg| {
        let kind = match reg.file() {
            RegFile::General => ResourceKind::General,
            RegFile::Vector => ResourceKind::Vector,
            RegFile::Flags => ResourceKind::Flags,
        };
        all.plus(RenameResources::of(kind, 1))
    })
}
