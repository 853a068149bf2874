//! Counts the flows of guide chapter 5 on every core, in the counted part of a run.

use sim_core::flow::FlowCounts;
use sim_core::{EventSink, FlowEdge, Notice, PmuEvent};

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
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Edge(edge) => {
                let core = self.present();
                if core.is_counted {
                    core.flows.notify(Notice::Edge(edge));
                }
            }
            Notice::Core(core) => {
                self.current = core;
            }
            Notice::Counting(is_counted) => {
                self.present().is_counted = is_counted;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_core_keeps_its_counted_edges() {
        let mut watch = FlowWatch::default();
        let (hit, miss) = (FlowEdge::L1dReadHit, FlowEdge::L1dReadMiss);
        watch.notify(Notice::Edge(hit));
        watch.notify(Notice::Counting(true));
        watch.notify(Notice::Edge(hit));
        watch.notify(Notice::Core(1));
        watch.notify(Notice::Edge(miss));
        watch.notify(Notice::Counting(true));
        watch.notify(Notice::Edge(miss));
        watch.notify(Notice::Core(0));
        watch.notify(Notice::Edge(hit));
        watch.notify(Notice::Counting(false));
        watch.notify(Notice::Edge(hit));
        let taken: Vec<(u64, u64)> =
            watch.cores().map(|flows| (flows.taken(hit), flows.taken(miss))).collect();
        assert_eq!(taken, [(2, 0), (0, 1)]);
        assert_eq!((watch.total().taken(hit), watch.total().taken(miss)), (2, 1));
    }
}
