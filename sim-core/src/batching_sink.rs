//! A sink that collects reports and forwards them in batches through one virtual call, so that code
//! compiled once can report to any sink.
//!
//! A machine that is generic over its sink is compiled again for each type of sink. A
//! [`BatchingSink`] avoids that. Order and totals stay the same; reports arrive a few operations
//! later.

use crate::pmu_event::PmuEvent;
use crate::sink::{EventSink, Notice};

/// One report of a batch. An operation is never batched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Notification {
    /// [`EventSink::count`].
    Count(PmuEvent, u64),
    /// [`EventSink::notify`].
    Notice(Notice<'static>),
}

/// Object-safe form of [`EventSink`], for virtual calls.
pub trait DynSink {
    /// Returns the value of [`EventSink::counts_only`].
    fn needs_counts_only(&self) -> bool;

    /// Returns the value of [`EventSink::unneeded_mops`], or `None` for a sink that skips none.
    fn may_skip(&self) -> Option<u64>;

    /// Receives the reports of `batch` in order, then the last notice if there is one.
    fn receive(&mut self, batch: &[Notification], last: Option<Notice<'_>>);
}

impl<S: EventSink> DynSink for S {
    fn needs_counts_only(&self) -> bool {
        self.counts_only()
    }

    fn may_skip(&self) -> Option<u64> {
        S::SKIPS_OPS.then(|| self.unneeded_mops())
    }

    fn receive(&mut self, batch: &[Notification], last: Option<Notice<'_>>) {
        for one in batch {
            match *one {
                Notification::Count(event, n) => self.count(event, n),
                Notification::Notice(notice) => self.notify(notice),
            }
        }
        if let Some(last) = last {
            self.notify(last);
        }
    }
}

/// Entries of a batch: about as many as a dozen instructions report.
const BATCH: usize = 256;

/// Collects reports for a sink. Dropping it forwards the rest of the last batch.
pub struct BatchingSink<'a> {
    batch: Vec<Notification>,
    counts_only: bool,
    skips_ops: bool,
    sink: &'a mut dyn DynSink,
}

impl<'a> BatchingSink<'a> {
    /// Creates a collector for this sink.
    pub fn new(sink: &'a mut dyn DynSink) -> BatchingSink<'a> {
        let counts_only = sink.needs_counts_only();
        BatchingSink {
            batch: Vec::with_capacity(BATCH),
            counts_only,
            skips_ops: sink.may_skip().is_some(),
            sink,
        }
    }

    /// Returns whether the sink has [`EventSink::SKIPS_OPS`].
    pub fn skips_ops(&self) -> bool {
        self.skips_ops
    }

    /// Returns how many of the next MOPs the sink does not need, after all reports so far.
    pub fn next_unneeded_mops(&mut self) -> u64 {
        if !self.batch.is_empty() {
            self.hand_on(None);
        }
        self.sink.may_skip().unwrap_or(0)
    }

    #[inline]
    fn push(&mut self, one: Notification) {
        if self.batch.len() == BATCH {
            self.hand_on(None);
        }
        self.batch.push(one);
    }

    fn hand_on(&mut self, last: Option<Notice<'_>>) {
        self.sink.receive(&self.batch, last);
        self.batch.clear();
    }

    /// Keeps a notice if the sink needs details.
    #[inline]
    fn push_detail(&mut self, notice: Notice<'static>) {
        if !self.counts_only {
            self.push(Notification::Notice(notice));
        }
    }
}

impl Drop for BatchingSink<'_> {
    fn drop(&mut self) {
        self.hand_on(None);
    }
}

impl EventSink for BatchingSink<'_> {
    const OBSERVES_OPS: bool = true;

    #[inline]
    fn counts_only(&self) -> bool {
        self.counts_only
    }

    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        if !self.skips_ops {
            self.push(Notification::Count(event, n));
        }
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Operation(_) if self.counts_only => {}
            Notice::Operation(_) => self.hand_on(Some(notice)),
            Notice::Skipped(mops) => self.push(Notification::Notice(Notice::Skipped(mops))),
            Notice::At(_) if self.counts_only => {}
            Notice::At(cycle) => match self.batch.last_mut() {
                // A cycle in which nothing happened need not be reported.
                Some(Notification::Notice(Notice::At(last))) => *last = cycle,
                _ => self.push_detail(Notice::At(cycle)),
            },
            Notice::Edge(edge) => self.push_detail(Notice::Edge(edge)),
            Notice::Lost(lost) => self.push_detail(Notice::Lost(lost)),
            Notice::Squashed => self.push_detail(Notice::Squashed),
            // Only sinks that add up get them.
            Notice::BeginsOnWrongPath { .. } | Notice::Part { .. } => {}
            Notice::SoftwareIncrement(counters) => {
                self.push(Notification::Notice(Notice::SoftwareIncrement(counters)));
            }
            Notice::RegisterAccess(access) => {
                self.push(Notification::Notice(Notice::RegisterAccess(access)));
            }
            Notice::Core(core) => self.push(Notification::Notice(Notice::Core(core))),
            Notice::Counting(is_counted) => {
                self.push(Notification::Notice(Notice::Counting(is_counted)));
            }
            Notice::Privilege(privilege) => {
                self.push(Notification::Notice(Notice::Privilege(privilege)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Operation;

    /// Sink that records what it receives.
    #[derive(Default)]
    struct Record(Vec<String>);

    impl EventSink for Record {
        fn count(&mut self, event: PmuEvent, n: u64) {
            self.0.push(format!("{event:?} {n}"));
        }

        fn notify(&mut self, notice: Notice<'_>) {
            match notice {
                Notice::At(cycle) => self.0.push(format!("at {cycle}")),
                Notice::Operation(op) => self.0.push(format!("operation {}", op.timeline.pc)),
                other => panic!("{other:?} was not reported"),
            }
        }
    }

    #[test]
    fn a_sink_receives_everything_in_order() {
        let report_all = |sink: &mut dyn FnMut(u64)| (0..600).for_each(sink);
        let mut direct = Record::default();
        let mut batched = Record::default();
        report_all(&mut |n| report(&mut direct, n));
        {
            let mut batching = BatchingSink::new(&mut batched);
            report_all(&mut |n| report(&mut batching, n));
        }
        assert_eq!(batched.0, direct.0);
        assert!(direct.0.len() > 1200, "more than one batch");
    }

    /// Sink that adds up counts, and fails on any notice.
    #[derive(Default)]
    struct CountsOnly(u64);

    impl EventSink for CountsOnly {
        fn counts_only(&self) -> bool {
            true
        }

        fn count(&mut self, _event: PmuEvent, n: u64) {
            self.0 += n;
        }

        fn notify(&mut self, notice: Notice<'_>) {
            panic!("{notice:?} is not a count");
        }
    }

    #[test]
    fn a_sink_of_counts_only_receives_all_counts_and_no_notice() {
        let mut counts = CountsOnly::default();
        let mut batching = BatchingSink::new(&mut counts);
        (0..600).for_each(|n| report(&mut batching, n));
        drop(batching);
        assert_eq!(counts.0, 600 * 599 / 2);
    }

    fn report<S: EventSink>(sink: &mut S, n: u64) {
        sink.notify(Notice::At(n));
        sink.count(PmuEvent::LD_SPEC, n);
        if n.is_multiple_of(300) {
            let mut operation = Operation::default();
            operation.timeline.pc = n;
            sink.notify(Notice::Operation(&operation));
        }
    }
}
