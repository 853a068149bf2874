//! Results that operations read: the operation that produced each, and when it was ready.

use std::cmp::Reverse;
use std::collections::VecDeque;

use sim_core::operation::AccessShape;
use sim_core::{AccessKind, Cycle, DataSource, Operation, OperationKind};
use sim_isa::{Inst, Reg, Rename};

/// Operations searched for the store that a load read from: more than a reorder buffer holds.
const STORES_BACK: usize = 1024;

/// Result that an operation reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Operation that produces it, counted from 0 in rename order.
    pub place: usize,
    /// First cycle in which it can be read. An updated base register is ready long before the data
    /// of its load.
    pub ready: Cycle,
}

/// Latest writer of each register, if it is known.
type Writers = [Option<Need>; Reg::COUNT];

/// Store whose data a younger load may read.
#[derive(Clone, Copy, Debug)]
struct Store {
    place: usize,
    addr: u64,
    bytes: u64,
    ready: Cycle,
}

/// Follows results from the operations that produce them to those that read them: in registers,
/// through moves that rename eliminates, and through the store queue.
#[derive(Clone, Debug)]
pub struct Dataflow {
    writers: Writers,
    /// Writers before the present wrong path.
    before: Option<Box<Writers>>,
    /// Stores among the last [`STORES_BACK`] operations.
    stores: VecDeque<Store>,
    count: usize,
}

impl Default for Dataflow {
    fn default() -> Dataflow {
        Dataflow { writers: [None; Reg::COUNT], before: None, stores: VecDeque::new(), count: 0 }
    }
}

impl Dataflow {
    /// Takes the next operation in rename order and its instruction, if the trace has it. Returns
    /// the results that it reads, each operation once, by place.
    pub fn take(&mut self, operation: &Operation, inst: Option<&Inst>) -> Vec<Need> {
        self.change_path(operation.timeline.wrong_path);
        let mut needs = Vec::new();
        if let Some(inst) = inst {
            needs.extend(inst.srcs().iter().filter_map(|reg| self.writers[usize::from(reg.0)]));
            needs.extend(self.forwarded_to(operation));
            needs.sort_unstable_by_key(|need: &Need| (need.place, Reverse(need.ready)));
            needs.dedup_by_key(|need| need.place);
            self.write(operation, inst);
        }
        self.keep_store(operation);
        self.count += 1;
        needs
    }

    /// Registers of a wrong path are those of the correct path again after its squash.
    fn change_path(&mut self, is_wrong: bool) {
        if !is_wrong {
            if let Some(before) = self.before.take() {
                self.writers = *before;
            }
        } else if self.before.is_none() {
            self.before = Some(Box::new(self.writers));
        }
    }

    fn write(&mut self, operation: &Operation, inst: &Inst) {
        let timeline = &operation.timeline;
        // A move eliminated at rename gives a register another name.
        let is_alias = inst.rename == Rename::Move && timeline.complete <= timeline.rename + 1;
        let source = inst.srcs().first().filter(|_| is_alias);
        let own = Need { place: self.count, ready: timeline.complete };
        let writer = source.map_or(Some(own), |reg| self.writers[usize::from(reg.0)]);
        for reg in inst.dsts() {
            self.writers[usize::from(reg.0)] = writer;
        }
        if let (Some(base), true) = (inst.dsts().last(), operation.base_ready > 0) {
            let ready = operation.base_ready;
            self.writers[usize::from(base.0)] = Some(Need { ready, ..own });
        }
    }

    /// Returns the store that a load read its data from: the youngest older store that overlaps it.
    fn forwarded_to(&self, operation: &Operation) -> Option<Need> {
        let OperationKind::Access(AccessShape { bytes, .. }) = operation.kind else { return None };
        let timeline = &operation.timeline;
        if timeline.source != DataSource::StoreQueue || timeline.written != 0 {
            return None;
        }
        let overlaps = |store: &&Store| {
            store.place + STORES_BACK >= self.count
                && store.addr < timeline.addr.saturating_add(bytes.into())
                && timeline.addr < store.addr.saturating_add(store.bytes)
        };
        let store = self.stores.iter().rev().find(overlaps)?;
        Some(Need { place: store.place, ready: store.ready })
    }

    fn keep_store(&mut self, operation: &Operation) {
        let OperationKind::Access(access) = operation.kind else { return };
        let timeline = &operation.timeline;
        // Stores of wrong paths are never written.
        let is_squashed = timeline.wrong_path && access.kind != AccessKind::Load;
        if timeline.written == 0 && !is_squashed {
            return;
        }
        while self.stores.front().is_some_and(|old| old.place + STORES_BACK < self.count) {
            self.stores.pop_front();
        }
        let (addr, bytes) = (timeline.addr, access.bytes.into());
        let store = Store { place: self.count, addr, bytes, ready: timeline.complete };
        self.stores.push_back(store);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::OpTimeline;
    use sim_isa::decode;

    /// `mov x1, x0`.
    const MOVE: u32 = 0xAA00_03E1;
    /// `add x0, x0, x2`.
    const ADD: u32 = 0x8B02_0000;
    /// `add x3, x1, x2`.
    const READ: u32 = 0x8B02_0023;
    /// `str x0, [x2]` and `ldr x1, [x2]`.
    const STORE: u32 = 0xF900_0040;
    const LOAD: u32 = 0xF940_0041;

    fn alu(complete: Cycle) -> Operation {
        let timeline = OpTimeline { rename: 10, complete, ..OpTimeline::default() };
        Operation { timeline, ..Operation::default() }
    }

    fn access(kind: AccessKind, timeline: OpTimeline) -> Operation {
        let shape = AccessShape {
            kind,
            exclusive: false,
            ordered: false,
            aligned: true,
            scattered: false,
            bytes: 8,
        };
        Operation { timeline, kind: OperationKind::Access(shape), ..Operation::default() }
    }

    fn places(flow: &mut Dataflow, operation: &Operation, word: u32) -> Vec<usize> {
        let needs = flow.take(operation, Some(&decode(word)));
        needs.into_iter().map(|need| need.place).collect()
    }

    #[test]
    fn a_reader_of_an_eliminated_move_needs_the_writer_of_its_source() {
        for (complete, needed) in [(11, 0), (14, 1)] {
            let mut flow = Dataflow::default();
            assert!(places(&mut flow, &alu(20), ADD).is_empty());
            assert_eq!(places(&mut flow, &alu(complete), MOVE), [0]);
            assert_eq!(places(&mut flow, &alu(30), READ), [needed], "complete at {complete}");
        }
    }

    #[test]
    fn a_load_needs_the_youngest_store_that_it_reads() {
        let store = |addr, written| {
            let timeline = OpTimeline { addr, written, complete: 15, ..OpTimeline::default() };
            access(AccessKind::Store, timeline)
        };
        let from_queue =
            OpTimeline { addr: 0x8004, source: DataSource::StoreQueue, ..OpTimeline::default() };
        let mut flow = Dataflow::default();
        for addr in [0x8000, 0x8000, 0x9000] {
            assert!(places(&mut flow, &store(addr, 90), STORE).is_empty());
        }
        let load = access(AccessKind::Load, from_queue);
        assert_eq!(places(&mut flow, &load, LOAD), [1]);
        let from_cache = OpTimeline { source: DataSource::L1, ..from_queue };
        assert!(places(&mut flow, &access(AccessKind::Load, from_cache), LOAD).is_empty());
    }

    #[test]
    fn a_load_on_a_wrong_path_supplies_no_data() {
        let timeline = OpTimeline { addr: 0x8000, wrong_path: true, ..OpTimeline::default() };
        let source = DataSource::StoreQueue;
        let load = access(AccessKind::Load, OpTimeline { source, ..timeline });
        let mut flow = Dataflow::default();
        assert!(places(&mut flow, &access(AccessKind::Store, timeline), STORE).is_empty());
        assert_eq!(places(&mut flow, &load, LOAD), [0]);
        assert_eq!(places(&mut flow, &load, LOAD), [0]);
    }

    #[test]
    fn a_wrong_path_leaves_the_registers_as_they_were() {
        let mut flow = Dataflow::default();
        assert!(places(&mut flow, &alu(20), ADD).is_empty());
        let mut wrong = alu(21);
        wrong.timeline.wrong_path = true;
        assert_eq!(places(&mut flow, &wrong, ADD), [0]);
        assert_eq!(places(&mut flow, &wrong, ADD), [1]);
        assert_eq!(places(&mut flow, &alu(22), ADD), [0]);
    }
}
