//! Times of the DVM node, which `dvm` combines with the ways of messages.

use sim_core::Cycle;

use crate::config::MemoryConfig;

/// Times of the DVM node and of the cores that it snoops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DvmNode {
    /// False if operations take no time and are never synchronized.
    is_timed: bool,
    /// From a message at the node to those that it causes.
    pub(super) node: Cycle,
    /// From the snoop of an operation at a core to the answer.
    pub(super) answer: Cycle,
    /// From the snoop of a synchronization at a core to the answer.
    pub(super) sync_answer: Cycle,
    pub(super) clock_percent: u64,
    /// Parts of pulses that are not counted yet, by occupant.
    pub(super) rests: [u64; 3],
}

impl DvmNode {
    /// Creates the node.
    pub(crate) fn new(config: &MemoryConfig) -> DvmNode {
        let dvm = &config.dvm;
        DvmNode {
            is_timed: dvm.sync,
            node: dvm.node_cycles.into(),
            answer: dvm.answer_cycles.into(),
            sync_answer: dvm.sync_answer_cycles.into(),
            clock_percent: config.mesh.core_clock_percent.into(),
            rests: [0; 3],
        }
    }

    /// Returns whether operations take time and can be synchronized.
    pub(crate) fn is_timed(&self) -> bool {
        self.is_timed
    }
}
