//! What a sink hears, as data: lets code compiled once speak to any sink.
//!
//! A machine that is generic over its sink is compiled again for each kind of sink. A [`Relay`] collects what the
//! machine reports and hands it on in small batches through one virtual call; order and totals are the
//! same, only a few operations later.

use crate::flow::FlowEdge;
use crate::operation::Operation;
use crate::pmu_event::PmuEvent;
use crate::privilege::Privilege;
use crate::register_access::RegisterAccess;
use crate::root_cause::Lost;
use crate::sink::EventSink;
use crate::time::Cycle;

/// One verb of [`EventSink`], but for operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// [`EventSink::count`].
    Count(PmuEvent, u64),
    /// [`EventSink::software_increment`].
    SoftwareIncrement(u32),
    /// [`EventSink::edge`].
    Edge(FlowEdge),
    /// [`EventSink::at`].
    At(Cycle),
    /// [`EventSink::register_access`].
    RegisterAccess(RegisterAccess),
    /// [`EventSink::core`].
    Core(usize),
    /// [`EventSink::counting`].
    Counting(bool),
    /// [`EventSink::privilege`].
    Privilege(Privilege),
    /// [`EventSink::lost`].
    Lost(Lost),
    /// [`EventSink::squashed`].
    Squashed,
}

/// Any sink, behind a virtual call.
pub trait Listener {
    /// [`EventSink::hears_counts_alone`].
    fn wants_counts_alone(&self) -> bool;

    /// Hears these in order.
    fn hear(&mut self, told: &[Told]);

    /// [`EventSink::operation`].
    fn hear_operation(&mut self, operation: &Operation);
}

impl<S: EventSink> Listener for S {
    fn wants_counts_alone(&self) -> bool {
        self.hears_counts_alone()
    }

    fn hear(&mut self, told: &[Told]) {
        for one in told {
            match *one {
                Told::Count(event, n) => self.count(event, n),
                Told::SoftwareIncrement(counters) => self.software_increment(counters),
                Told::Edge(edge) => self.edge(edge),
                Told::At(cycle) => self.at(cycle),
                Told::RegisterAccess(access) => self.register_access(access),
                Told::Core(core) => self.core(core),
                Told::Counting(is_counted) => self.counting(is_counted),
                Told::Privilege(privilege) => self.privilege(privilege),
                Told::Lost(lost) => self.lost(lost),
                Told::Squashed => self.squashed(),
            }
        }
    }

    fn hear_operation(&mut self, operation: &Operation) {
        self.operation(operation);
    }
}

/// Entries of a batch: what a dozen instructions report.
const BATCH: usize = 256;

/// Follows a run for a listener. What is left of the last batch is handed on when it is dropped.
pub struct Relay<'a> {
    told: Vec<Told>,
    counts_alone: bool,
    listener: &'a mut dyn Listener,
}

impl<'a> Relay<'a> {
    /// Speaks to this listener.
    pub fn new(listener: &'a mut dyn Listener) -> Relay<'a> {
        let counts_alone = listener.wants_counts_alone();
        Relay { told: Vec::with_capacity(BATCH), counts_alone, listener }
    }

    #[inline]
    fn push(&mut self, told: Told) {
        if self.told.len() == BATCH {
            self.hand_on();
        }
        self.told.push(told);
    }

    /// What somebody needs who wants more than counts.
    #[inline]
    fn push_detail(&mut self, told: Told) {
        if !self.counts_alone {
            self.push(told);
        }
    }

    fn hand_on(&mut self) {
        self.listener.hear(&self.told);
        self.told.clear();
    }
}

impl Drop for Relay<'_> {
    fn drop(&mut self) {
        self.hand_on();
    }
}

impl EventSink for Relay<'_> {
    const FOLLOWS_RUN: bool = true;

    #[inline]
    fn hears_counts_alone(&self) -> bool {
        self.counts_alone
    }

    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        self.push(Told::Count(event, n));
    }

    #[inline]
    fn software_increment(&mut self, counters: u32) {
        self.push(Told::SoftwareIncrement(counters));
    }

    #[inline]
    fn edge(&mut self, edge: FlowEdge) {
        self.push_detail(Told::Edge(edge));
    }

    #[inline]
    fn at(&mut self, cycle: Cycle) {
        // A moment in which nothing happened need not be told.
        if let Some(Told::At(last)) = self.told.last_mut() {
            *last = cycle;
        } else {
            self.push_detail(Told::At(cycle));
        }
    }

    #[inline]
    fn register_access(&mut self, access: RegisterAccess) {
        self.push(Told::RegisterAccess(access));
    }

    #[inline]
    fn core(&mut self, core: usize) {
        self.push(Told::Core(core));
    }

    #[inline]
    fn counting(&mut self, is_counted: bool) {
        self.push(Told::Counting(is_counted));
    }

    #[inline]
    fn privilege(&mut self, privilege: Privilege) {
        self.push(Told::Privilege(privilege));
    }

    #[inline]
    fn operation(&mut self, operation: &Operation) {
        if !self.counts_alone {
            self.hand_on();
            self.listener.hear_operation(operation);
        }
    }

    #[inline]
    fn lost(&mut self, lost: Lost) {
        self.push_detail(Told::Lost(lost));
    }

    #[inline]
    fn squashed(&mut self) {
        self.push_detail(Told::Squashed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes down what it hears.
    #[derive(Default)]
    struct Diary(Vec<String>);

    impl EventSink for Diary {
        fn count(&mut self, event: PmuEvent, n: u64) {
            self.0.push(format!("{event:?} {n}"));
        }

        fn at(&mut self, cycle: Cycle) {
            self.0.push(format!("at {cycle}"));
        }

        fn operation(&mut self, operation: &Operation) {
            self.0.push(format!("operation {}", operation.life.pc));
        }
    }

    #[test]
    fn a_listener_hears_everything_in_order() {
        let speak = |sink: &mut dyn FnMut(u64)| (0..600).for_each(sink);
        let mut direct = Diary::default();
        let mut relayed = Diary::default();
        speak(&mut |n| say(&mut direct, n));
        {
            let mut relay = Relay::new(&mut relayed);
            speak(&mut |n| say(&mut relay, n));
        }
        assert_eq!(relayed.0, direct.0);
        assert!(direct.0.len() > 1200, "more than one batch");
    }

    /// Writes down counts, and fails if it is told anything else.
    #[derive(Default)]
    struct CountsAlone(u64);

    impl EventSink for CountsAlone {
        fn hears_counts_alone(&self) -> bool {
            true
        }

        fn count(&mut self, _event: PmuEvent, n: u64) {
            self.0 += n;
        }

        fn at(&mut self, cycle: Cycle) {
            panic!("it was told of cycle {cycle}");
        }

        fn operation(&mut self, operation: &Operation) {
            panic!("it was told {operation:?}");
        }
    }

    #[test]
    fn a_listener_to_counts_alone_hears_all_of_them_and_nothing_else() {
        let mut listener = CountsAlone::default();
        let mut relay = Relay::new(&mut listener);
        (0..600).for_each(|n| say(&mut relay, n));
        drop(relay);
        assert_eq!(listener.0, 600 * 599 / 2);
    }

    fn say<S: EventSink>(sink: &mut S, n: u64) {
        sink.at(n);
        sink.count(PmuEvent::LD_SPEC, n);
        if n.is_multiple_of(300) {
            let mut operation = Operation::default();
            operation.life.pc = n;
            sink.operation(&operation);
        }
    }
}
