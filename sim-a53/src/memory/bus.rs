//! External memory and the bus to it. TRM 7.3.
//!
//! One latency for all reads of memory, and one for devices; reads and writes share one rate of
//! lines, of which a shorter burst takes as much (assumed). The bus limits how many data linefills
//! and how many other reads a core has outstanding, and how many writes the cluster. Instruction
//! linefills (three a core) and walks (one a core) have limits of their own, which their units
//! keep.

use super::config::BusConfig;
use super::slots::{Rate, Slots};

/// Largest number of cores in a cluster.
const CORES: usize = 4;

/// External memory, as the cluster sees it.
#[derive(Clone, Debug)]
pub(crate) struct Bus {
    latency: u64,
    device_cycles: u64,
    line_cycles: u64,
    rate: Rate,
    data_reads: [Slots; CORES],
    uncached_reads: [Slots; CORES],
    writes: Slots,
}

impl Bus {
    /// Creates an idle bus.
    pub(crate) fn new(config: &BusConfig) -> Bus {
        Bus {
            latency: config.latency_cycles.into(),
            device_cycles: config.device_cycles.into(),
            line_cycles: config.line_cycles.into(),
            rate: Rate::new(config.line_cycles),
            data_reads: std::array::from_fn(|_| Slots::new(config.data_reads.max(1))),
            uncached_reads: std::array::from_fn(|_| Slots::new(config.uncached_reads.max(1))),
            writes: Slots::new(config.writes.max(1)),
        }
    }

    /// Reads a line for the data side of a core. Returns the cycle of the first beat.
    pub(crate) fn read_data(&mut self, core: usize, at: u64) -> u64 {
        let slot = self.data_reads[core % CORES].find(at);
        let first = self.read(slot.from);
        self.data_reads[core % CORES].hold(slot, first);
        first
    }

    /// Reads a burst from memory that no cache keeps, or from a device. Returns the cycle of the
    /// first beat.
    pub(crate) fn read_uncached(&mut self, core: usize, is_device: bool, at: u64) -> u64 {
        let slot = self.uncached_reads[core % CORES].find(at);
        let served = self.rate.book(slot.from);
        let first = self.complete(served, is_device);
        self.uncached_reads[core % CORES].hold(slot, first);
        first
    }

    /// Reads a line for an instruction linefill or a walk. Returns the cycle of the first beat.
    pub(crate) fn read(&mut self, at: u64) -> u64 {
        self.rate.book(at) + self.latency
    }

    /// Writes a line. Returns the cycle in which the write leaves its sender.
    pub(crate) fn write(&mut self, at: u64) -> u64 {
        let slot = self.writes.find(at);
        let served = self.rate.book(slot.from);
        self.writes.hold(slot, served + self.line_cycles);
        slot.from
    }

    /// Returns the cycle in which a request that left at `at` is complete in memory or in a device.
    pub(crate) fn complete(&self, at: u64, is_device: bool) -> u64 {
        at + if is_device { self.device_cycles } else { self.latency }
    }
}
