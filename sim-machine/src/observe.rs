//! Looks at a run from all sides at once, for reports: where slots went and which code is to blame, the run
//! over time, flows, reuse of lines and pages, latencies, branches. PMU guide 4.7 (slots) and chapter 5.
//!
//! What is kept grows with the code that ran and with the lines that are remembered, never with the length
//! of the run: some 500 bytes for each static instruction, [`timeline::MOST`] intervals, and for each thread
//! up to [`reuse::MOST_LINES`] lines and [`reuse::MOST_PAGES`] pages of data and of code.

mod column;
mod core;
mod fate;
mod latency;
mod profile;
pub mod reuse;
pub mod timeline;

pub use column::Column;
pub use fate::{End, Fate, FateSlots};
pub use latency::{Latencies, Latency, SOURCES};
pub use profile::{BranchKind, CodeKind, InstCost};
pub use reuse::{Curve, Reuse};
pub use timeline::Interval;

use sim_core::flow::FlowCounts;
use sim_core::{EventSink, FlowEdge, InstId, Lost, Operation, PmuEvent};

use self::column::Columns;
use self::core::Core;
use self::profile::Profile;

/// A sink that follows a run and keeps what a report shows.
#[derive(Clone, Debug)]
pub struct RunObserver {
    cores: Vec<Core>,
    now: usize,
    columns: Columns,
    page_shift: u32,
    seen: Seen,
}

/// What is kept of all cores together.
#[derive(Clone, Debug, Default)]
struct Seen {
    profile: Profile,
    flows: FlowCounts,
    latencies: Latencies,
    curves: Reuse<Curve>,
}

impl RunObserver {
    /// Has seen nothing yet. Pages have this size, a power of two.
    pub fn new(page_bytes: u64) -> RunObserver {
        let page_shift = page_bytes.max(1).ilog2();
        let (cores, columns) = (vec![Core::new(page_shift)], Columns::default());
        RunObserver { cores, now: 0, columns, page_shift, seen: Seen::default() }
    }

    /// What each instruction cost, with its number in the trace; code that only abandoned paths met comes
    /// behind that.
    pub fn instructions(&self) -> impl Iterator<Item = (InstId, &InstCost)> {
        self.seen.profile.met()
    }

    /// What belongs to no instruction: slots behind the last one, fetches that no operation came of.
    pub fn elsewhere(&self) -> &InstCost {
        &self.seen.profile.elsewhere
    }

    /// How often the edges of the flows were taken.
    pub fn flows(&self) -> &FlowCounts {
        &self.seen.flows
    }

    /// How long retired loads took.
    pub fn latencies(&self) -> &Latencies {
        &self.seen.latencies
    }

    /// Misses by size, of lines and pages of data and code.
    pub fn curves(&self) -> &Reuse<Curve> {
        &self.seen.curves
    }

    /// Length of an interval in cycles, and the intervals of each core, the last one as long as the rest of
    /// its run.
    pub fn timelines(&self) -> (u64, Vec<Vec<Interval>>) {
        timeline::aligned(self.cores.iter().map(|core| &core.timeline))
    }
}

impl EventSink for RunObserver {
    const FOLLOWS_RUN: bool = true;

    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        let core = &mut self.cores[self.now];
        if !core.is_counted {
            return;
        }
        if event == PmuEvent::CPU_CYCLES {
            core.pass(n, &mut self.seen.profile);
        } else if let Some(column) = self.columns.of(event) {
            core.count(column, n);
        }
    }

    #[inline]
    fn edge(&mut self, edge: FlowEdge) {
        if self.cores[self.now].is_counted {
            self.seen.flows.edge(edge);
        }
    }

    fn core(&mut self, core: usize) {
        if core >= self.cores.len() {
            self.cores.resize_with(core + 1, || Core::new(self.page_shift));
        }
        self.now = core;
    }

    fn counting(&mut self, is_counted: bool) {
        self.cores[self.now].set_counted(is_counted, &mut self.seen.profile);
    }

    #[inline]
    fn operation(&mut self, operation: &Operation) {
        self.cores[self.now].operation(operation, &mut self.seen);
    }

    #[inline]
    fn lost(&mut self, lost: Lost) {
        self.cores[self.now].lost(lost);
    }

    fn squashed(&mut self) {
        self.cores[self.now].squashed(&mut self.seen.profile);
    }
}
