//! Counts the flows of guide chapter 5 on every core, in the counted part of a run.

use sim_core::flow::FlowCounts;
use sim_core::{EventSink, FlowEdge, PmuEvent};

/// Observer that keeps the edges of each core while the core is counted.
#[derive(Clone, Debug, Default)]
pub struct FlowWatch {
    cores: Vec<Watched>,
    current: usize,
}

#[derive(Clone, Debug, Default)]
struct Watched {
    flows: FlowCounts,
    is_counted: bool,
}

impl FlowWatch {
    /// Returns the edges of each core, in the order of the results.
    pub fn cores(&self) -> impl Iterator<Item = &FlowCounts> {
        self.cores.iter().map(|core| &core.flows)
    }

    /// Returns the edges of all cores together.
    pub fn total(&self) -> FlowCounts {
        let mut total = FlowCounts::default();
        for edge in FlowEdge::ALL {
            self.cores().for_each(|flows| total.add(*edge, flows.taken(*edge)));
        }
        total
    }

    fn present(&mut self) -> &mut Watched {
        if self.current >= self.cores.len() {
            self.cores.resize_with(self.current + 1, Watched::default);
        }
        &mut self.cores[self.current]
    }
}

impl EventSink for FlowWatch {
    #[inline]
    fn count(&mut self, _event: PmuEvent, _n: u64) {}

    #[inline]
    fn edge(&mut self, edge: FlowEdge) {
        let core = self.present();
        if core.is_counted {
            core.flows.edge(edge);
        }
    }

    fn core(&mut self, core: usize) {
        self.current = core;
    }

    fn counting(&mut self, is_counted: bool) {
        self.present().is_counted = is_counted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_core_keeps_its_counted_edges() {
        let mut watch = FlowWatch::default();
        let (hit, miss) = (FlowEdge::L1dReadHit, FlowEdge::L1dReadMiss);
        watch.edge(hit);
        watch.counting(true);
        watch.edge(hit);
        watch.core(1);
        watch.edge(miss);
        watch.counting(true);
        watch.edge(miss);
        watch.core(0);
        watch.edge(hit);
        watch.counting(false);
        watch.edge(hit);
        let taken: Vec<(u64, u64)> =
            watch.cores().map(|flows| (flows.taken(hit), flows.taken(miss))).collect();
        assert_eq!(taken, [(2, 0), (0, 1)]);
        assert_eq!((watch.total().taken(hit), watch.total().taken(miss)), (2, 1));
    }
}
