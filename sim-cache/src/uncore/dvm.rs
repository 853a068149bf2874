//! The DVM node: it sends maintenance of TLBs and instruction caches to all cores, and reports when
//! they have performed it. CMN-700; CHI, chapter "DVM operations"; table `[memory.dvm]`.
//!
//! An operation is complete for its core as soon as the node has its payload, and the node snoops
//! the other cores then. A synchronization first waits in the node until all cores have answered
//! the older operations of its core. It is complete when all have answered it too. `traffic` counts
//! the messages. Not modeled: limits of the tracker and of operations under way.

use sim_core::Cycle;
use sim_core::chi::Message;
use sim_core::mesh_counts::DvmOccupant;

use crate::uncore::Uncore;
use crate::uncore::dvm_node::DvmNode;
use crate::uncore::passage::pulses;

/// Cycles of an operation, or the latest ones of several.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DvmOperation {
    /// Its core has the completion.
    pub(crate) completed: Cycle,
    /// The node has the answers of all other cores.
    pub(crate) answered: Cycle,
}

impl DvmOperation {
    /// Adds an operation.
    pub(crate) fn extend(&mut self, other: DvmOperation) {
        self.completed = self.completed.max(other.completed);
        self.answered = self.answered.max(other.answered);
    }
}

/// Result of a synchronization.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DvmSync {
    /// Cycle in which its core has the completion.
    pub(crate) completed: Cycle,
    /// It waited in the node for older operations of its core.
    pub(crate) is_stalled: bool,
}

impl Uncore {
    /// Sends an operation that leaves a core at `at` to all others.
    pub(crate) fn send_dvm_operation(&mut self, core: usize, at: Cycle) -> DvmOperation {
        let (arrived, sent) = self.enter_dvm_node(core, at);
        let completed = self.sent_by_dvm_node(core, Message::Comp, sent);
        let answered = self.snoop_for_dvm(core, sent, self.dvm.answer);
        self.occupy_dvm(DvmOccupant::Operation, answered - arrived);
        DvmOperation { completed, answered }
    }

    /// Sends a synchronization that leaves a core at `at` to all others. `older` is the cycle in
    /// which the node has all answers to older operations of the core.
    pub(crate) fn send_dvm_sync(&mut self, core: usize, at: Cycle, older: Cycle) -> DvmSync {
        let (arrived, ready) = self.enter_dvm_node(core, at);
        let answered = self.snoop_for_dvm(core, ready.max(older), self.dvm.sync_answer);
        let completed = self.sent_by_dvm_node(core, Message::Comp, answered);
        self.occupy_dvm(DvmOccupant::Sync, answered - arrived);
        DvmSync { completed, is_stalled: older > ready }
    }

    /// Brings a request that leaves a core at `at`, and its payload, to the node. Returns when the
    /// request arrives, and when the node can send what it causes.
    fn enter_dvm_node(&mut self, core: usize, at: Cycle) -> (Cycle, Cycle) {
        let node = self.dvm.node;
        let arrives = self.sent_to_dvm_node(core, Message::DVMOp, at);
        let asked = self.sent_by_dvm_node(core, Message::DBIDResp, arrives + node);
        let payload = self.sent_to_dvm_node(core, Message::PartWrData, asked);
        (arrives, payload + node)
    }

    /// Snoops all cores but `core` at `at`; each takes `answer` cycles. Returns when the node can
    /// send what the last answer causes.
    fn snoop_for_dvm(&mut self, core: usize, at: Cycle, answer: Cycle) -> Cycle {
        let mut last = at;
        for other in (0..self.cores).filter(|other| *other != core) {
            let there = self.sent_by_dvm_node(other, Message::SnpDVMOp, at);
            let answered = self.sent_to_dvm_node(other, Message::SnpResp, there + answer);
            last = last.max(answered + self.dvm.node);
        }
        last
    }

    /// Returns when a message that leaves a core at `at` is at the node.
    fn sent_to_dvm_node(&mut self, core: usize, message: Message, at: Cycle) -> Cycle {
        let (from, to) = (self.mesh.core(core), self.mesh.gateway());
        let enters = at + self.latencies.interface;
        enters + self.mesh.cycles(from, to) + self.wait(from, to, message, enters)
    }

    /// Returns when a message that leaves the node at `at` is at a core.
    fn sent_by_dvm_node(&mut self, core: usize, message: Message, at: Cycle) -> Cycle {
        let (from, to) = (self.mesh.gateway(), self.mesh.core(core));
        let leaves = at + self.mesh.cycles(from, to) + self.wait(from, to, message, at);
        leaves + self.latencies.interface
    }

    /// Counts the pulses of an entry of the node's tracker that was taken for `cycles`.
    fn occupy_dvm(&mut self, occupant: DvmOccupant, cycles: Cycle) {
        let DvmNode { clock_percent, rests, .. } = &mut self.dvm;
        for one in [DvmOccupant::Any, occupant] {
            let pulses = pulses(&mut rests[one as usize], cycles, *clock_percent);
            self.traffic.occupy_dvm(one, pulses);
        }
    }
}
