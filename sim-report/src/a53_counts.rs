//! Exact counts of the cores of a Cortex-A53 cluster, as the formulas of metrics read them.

use sim_a53::{A53CoreOutcome, A53Event};
use sim_metrics::formula::event_use::Time;
use sim_metrics::formula::{EventUse, Linked, Machine, Quantity};

/// Exact counts of some cores of a cluster.
#[derive(Clone, Copy, Debug)]
pub struct ClusterCounts<'a> {
    /// Count of each event, in the order of [`A53Event::ALL`].
    pub events: &'a [u64],
    /// Number of cores that counted.
    pub cores: u32,
    /// Cycles of the core that ran longest.
    pub longest: u64,
    /// Clock of the cores in Hz.
    pub clock_hz: u64,
}

impl ClusterCounts<'_> {
    /// Returns the properties of the machine that formulas use.
    pub fn machine(&self) -> Machine {
        Machine::cortex_a53(self.cores)
    }

    /// Returns the value of a formula; NaN if it has none.
    pub fn value(&self, linked: &Linked) -> f64 {
        linked.evaluate(&self.machine(), |event| self.of(event)).value
    }

    /// Returns a count, or the modeled time in seconds.
    pub fn of(&self, event: &EventUse) -> Option<f64> {
        match event.quantity {
            Quantity::A53(event) => Some(self.events[event as usize] as f64),
            Quantity::Time(Time::Duration) => Some(self.longest as f64 / self.clock_hz as f64),
            _ => None,
        }
    }
}

/// Returns the sum of each event over some cores.
pub fn totals(cores: &[A53CoreOutcome]) -> Vec<u64> {
    let sum = |event| cores.iter().map(|core| core.counts.value(event)).sum();
    A53Event::ALL.map(sum).to_vec()
}

/// Passes the counts of some cores to `use_them`.
pub fn with_counts<T>(
    cores: &[A53CoreOutcome],
    clock_hz: u64,
    use_them: impl FnOnce(&ClusterCounts<'_>) -> T,
) -> T {
    let events = totals(cores);
    let longest = cores.iter().map(|core| core.cycles).max().unwrap_or_default();
    use_them(&ClusterCounts { events: &events, cores: cores.len() as u32, longest, clock_hz })
}
