//! Observation of a whole run for reports. It collects classes of rename slots and the code charged
//! with them, the run over time, flows, reuse of lines and pages, load latencies and branches.
//!
//! PMU guide 4.7 (slots) and chapter 5 (flows). Memory grows with the code that ran and with the
//! lines in use, never with the length of the run. It holds about 500 bytes for each static
//! instruction and [`timeline::MOST`] intervals. Each thread adds up to [`reuse::MOST_LINES`] lines
//! and [`reuse::MOST_PAGES`] pages, of data and of code.

pub mod calls;
mod column;
mod core;
mod dataflow;
mod latency;
mod op_window;
mod profile;
pub mod reuse;
mod slot_class;
pub mod timeline;

pub use calls::{Call, Calls};
pub use column::Column;
pub use dataflow::{Dataflow, Need};
pub use latency::{Latencies, Latency, SOURCES};
pub use op_window::{OpWindow, SeenOp, SeenOps};
pub use profile::{BranchKind, CodeKind, InstCost};
pub use reuse::{Curve, Reuse};
pub use slot_class::{ClassSlots, SlotClass, TopDownCategory};
pub use timeline::{CodeTime, Interval};

use sim_core::flow::FlowCounts;
use sim_core::{EventSink, InstId, Notice, PmuEvent};

use self::column::Columns;
use self::core::Core;
use self::profile::Profile;

/// Sink that collects, during a run, the data that a report shows.
#[derive(Clone, Debug)]
pub struct RunObserver {
    cores: Vec<Core>,
    now: usize,
    columns: Columns,
    page_shift: u32,
    seen: Seen,
}

/// Data collected over all cores together.
#[derive(Clone, Debug, Default)]
struct Seen {
    profile: Profile,
    flows: FlowCounts,
    latencies: Latencies,
    curves: Reuse<Curve>,
    calls: Calls,
}

impl RunObserver {
    /// Creates an observer without data. `page_bytes` is the page size, a power of two.
    pub fn new(page_bytes: u64) -> RunObserver {
        let page_shift = page_bytes.max(1).ilog2();
        let (cores, columns) = (vec![Core::new(page_shift)], Columns::default());
        RunObserver { cores, now: 0, columns, page_shift, seen: Seen::default() }
    }

    /// Returns the cost of each instruction with its number in the trace. Code that ran only on
    /// wrong paths follows the rest.
    pub fn instructions(&self) -> impl Iterator<Item = (InstId, &InstCost)> {
        self.seen.profile.rows()
    }

    /// Returns the cost that belongs to no instruction: slots after the last one, and fetches
    /// without an operation.
    pub fn elsewhere(&self) -> &InstCost {
        &self.seen.profile.elsewhere
    }

    /// Returns how often each edge of the flows was taken.
    pub fn flows(&self) -> &FlowCounts {
        &self.seen.flows
    }

    /// Returns the latencies of retired loads.
    pub fn latencies(&self) -> &Latencies {
        &self.seen.latencies
    }

    /// Returns the miss-ratio curves for lines and pages of data and of code.
    pub fn curves(&self) -> &Reuse<Curve> {
        &self.seen.curves
    }

    /// Returns the calls of the correct path, each place of a call and its target once.
    pub fn calls(&self) -> &Calls {
        &self.seen.calls
    }

    /// Returns the length of an interval in cycles, and the intervals of each core. The last
    /// interval ends with the run of its core.
    pub fn timelines(&self) -> (u64, Vec<Vec<Interval>>) {
        timeline::aligned(self.cores.iter().map(|core| &core.timeline))
    }
}

impl EventSink for RunObserver {
    const OBSERVES_OPS: bool = true;

    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        let core = &mut self.cores[self.now];
        if !core.is_counted {
            return;
        }
        if event == PmuEvent::CPU_CYCLES {
            core.pass(n, &mut self.seen.profile);
        }
        core.timeline.count(event, n);
        if let Some(column) = self.columns.of(event) {
            core.count(column, n);
        }
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Edge(edge) if self.cores[self.now].is_counted => {
                self.seen.flows.notify(Notice::Edge(edge));
            }
            Notice::Core(core) => {
                if core >= self.cores.len() {
                    self.cores.resize_with(core + 1, || Core::new(self.page_shift));
                }
                self.now = core;
            }
            Notice::Counting(is_counted) => {
                self.cores[self.now].set_counted(is_counted, &mut self.seen);
            }
            Notice::Operation(operation) => {
                self.cores[self.now].operation(operation, &mut self.seen);
            }
            Notice::Lost(lost) => {
                self.cores[self.now].lost(lost);
            }
            Notice::Squashed => {
                self.cores[self.now].squashed(&mut self.seen.profile);
            }
            _ => {}
        }
    }
}
