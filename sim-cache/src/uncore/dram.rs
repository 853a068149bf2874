//! Local memory: channels with a rate and an access time. Not modeled: banks, pages, refresh.

use sim_core::{Cycle, LineAddr};

use crate::config::DramConfig;
use crate::uncore::home_node::fold;
use crate::units::bandwidth::Bandwidth;

/// Memory channels of one chip.
#[derive(Clone, Debug)]
pub(crate) struct Dram {
    channels: Box<[Bandwidth]>,
    access_cycles: Cycle,
}

impl Dram {
    /// Creates idle channels.
    pub(crate) fn new(config: &DramConfig) -> Dram {
        Dram {
            channels: vec![Bandwidth::rate(1, config.line_cycles); config.channels as usize].into(),
            access_cycles: config.access_cycles.into(),
        }
    }

    /// Returns the channel of a line.
    pub(crate) fn channel_of(&self, line: LineAddr) -> u32 {
        fold(line.0, self.channels.len().trailing_zeros()) as u32
    }

    /// Reads or writes a line whose request reaches its controller at `at`. Returns when it is
    /// done.
    pub(crate) fn access(&mut self, line: LineAddr, at: Cycle) -> Cycle {
        let channel = self.channel_of(line) as usize;
        self.channels[channel].book(at) + self.access_cycles
    }
}
