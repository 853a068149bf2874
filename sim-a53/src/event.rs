//! Events of a run of the Cortex-A53: which of them a trace never raises, their receiver and their
//! totals.

use crate::slots::LostTo;
pub use sim_core::a53_event::{A53Event, COUNT};
use sim_core::{Privilege, RegisterAccess};

use crate::seen::Seen;

/// Returns why a run of a trace never raises the event; `None` if it can.
pub fn never_raised(event: A53Event) -> Option<&'static str> {
    match event {
        A53Event::SW_INCR => Some("a write to PMSWINC counts it in the counters that it selects"),
        A53Event::CHAIN => Some("a counter raises it when the counter below overflows"),
        A53Event::PRE_DECODE_ERR | A53Event::DECODE_DEP_STALL => {
            Some("A64 has one size of instruction, so that pre-decode makes no error")
        }
        _ => None,
    }
}

/// Step of the program that changes what a counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum A53Note {
    /// The trace includes the kernel, and the stream begins at this address.
    Begin {
        /// Address of the first instruction.
        pc: u64,
    },
    /// Takes an exception whose handler follows; `None` if its level was not recorded.
    Enter(Option<Privilege>),
    /// Returns from an exception.
    Return {
        /// Address of the next instruction; `None` if the stream breaks off.
        next: Option<u64>,
    },
    /// Completes an access to a system register.
    Register(RegisterAccess),
}

/// A condition that the event bus has a bit for, and the table no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum A53Condition {
    /// Memory error in the L2 cache, found by an access of the core.
    L2Error,
    /// Memory error in the snoop filter, found by an access of the core.
    SnoopFilterError,
    /// A cycle in which the vector unit is in retention.
    VectorRetention,
}

/// Number of conditions.
const CONDITIONS: usize = 3;

impl A53Condition {
    /// Every condition.
    pub const ALL: [A53Condition; CONDITIONS] =
        [A53Condition::L2Error, A53Condition::SnoopFilterError, A53Condition::VectorRetention];

    /// Returns its name on the bus.
    pub fn name(self) -> &'static str {
        match self {
            A53Condition::L2Error => "L2_CACHE_ERR",
            A53Condition::SnoopFilterError => "SNOOP_FILTER_ERR",
            A53Condition::VectorRetention => "SIMD_RETENTION",
        }
    }
}

/// Cycles of one instruction. Decode follows its fetch, and the wait in the queue its arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Issued {
    /// First cycle of its fetch.
    pub fetch: u64,
    /// Cycle in which it is fetched, after the misses of its line.
    pub fetched: u64,
    /// First cycle in which it was in the instruction queue and decoded.
    pub arrived: u64,
    /// First cycle in which its operands and its unit are ready.
    pub operands: u64,
    /// Register whose value is ready last, if it decides `operands`; `None` if the unit does, or if
    /// no older instruction of the run wrote it.
    pub awaited: Option<u8>,
    /// Cycle of its issue.
    pub issue: u64,
    /// It is the second of its cycle.
    pub is_second: bool,
    /// Further cycles in which nothing else issues.
    pub more_cycles: u64,
    /// Cycle in which it reaches write-back.
    pub write_back: u64,
    /// First cycle after its write-back, as far as it is known: the second instruction of its cycle
    /// may hold it longer.
    pub leaves: u64,
    /// Cycles that its results come later than without a miss.
    pub delay: u64,
}

/// Receiver of events.
pub trait A53Sink {
    /// The sink receives [`A53Sink::issued`].
    const OBSERVES_ISSUE: bool = false;

    /// Receives `times` occurrences of `event` in the cycle `cycle`. Cycles do not always ascend.
    ///
    /// A sink may ask for its caller: the place in the model that raises the event.
    #[track_caller]
    fn raise(&mut self, event: A53Event, cycle: u64, times: u64);

    /// Receives the number of the static instruction that causes the events from now on, and the
    /// cycle of the issue before it.
    #[inline]
    fn begin(&mut self, _inst: u32, _cycle: u64) {}

    /// Receives issue slots that are lost to a cause, from the cycle `cycle` on: one, or both of
    /// each cycle. The instruction in progress waits for them; none waits at the end of the run.
    #[inline]
    fn lose(&mut self, _: LostTo, _cycle: u64, _slots: u64) {}

    /// Receives the cycles of the instruction in progress, when it has issued. Only a sink with
    /// [`A53Sink::OBSERVES_ISSUE`] does.
    #[inline]
    fn issued(&mut self, _: &Issued) {}

    /// Receives a step of the program, which takes effect in the cycle `cycle`. Events of older
    /// instructions were raised before, those of younger ones come later.
    #[inline]
    fn note(&mut self, _: A53Note, _cycle: u64) {}

    /// Receives whether the part of the run that counts begins or ends, at the begin of the cycle
    /// `cycle`. Without this step, all of the run counts.
    #[inline]
    fn counting(&mut self, _is_counted: bool, _cycle: u64) {}

    /// Receives a step of the model. Most sinks ignore it.
    #[inline(always)]
    fn see(&mut self, _: Seen) {}

    /// Receives `times` cycles of `condition` from the cycle `cycle` on.
    #[track_caller]
    fn signal(&mut self, condition: A53Condition, cycle: u64, times: u64);
}

/// Total of each event and condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct A53Counts {
    events: [u64; COUNT],
    conditions: [u64; CONDITIONS],
}

impl Default for A53Counts {
    fn default() -> A53Counts {
        A53Counts { events: [0; COUNT], conditions: [0; CONDITIONS] }
    }
}

impl AsRef<A53Counts> for A53Counts {
    fn as_ref(&self) -> &A53Counts {
        self
    }
}

impl A53Counts {
    /// Returns the total of an event.
    pub fn value(&self, event: A53Event) -> u64 {
        self.events[event as usize]
    }

    /// Returns the cycles of a condition.
    pub fn cycles_of(&self, condition: A53Condition) -> u64 {
        self.conditions[condition as usize]
    }

    /// Replaces the total of an event.
    pub(crate) fn set(&mut self, event: A53Event, total: u64) {
        self.events[event as usize] = total;
    }

    /// Returns what was counted since these totals.
    #[must_use]
    pub fn since(&self, before: &A53Counts) -> A53Counts {
        A53Counts {
            events: std::array::from_fn(|at| self.events[at] - before.events[at]),
            conditions: std::array::from_fn(|at| self.conditions[at] - before.conditions[at]),
        }
    }

    /// Adds other totals.
    pub fn add(&mut self, other: &A53Counts) {
        self.events.iter_mut().zip(&other.events).for_each(|(own, more)| *own += more);
        let conditions = self.conditions.iter_mut().zip(&other.conditions);
        conditions.for_each(|(own, more)| *own += more);
    }
}

impl A53Sink for A53Counts {
    #[inline]
    fn raise(&mut self, event: A53Event, _: u64, times: u64) {
        self.events[event as usize] += times;
    }

    #[inline]
    fn signal(&mut self, condition: A53Condition, _: u64, times: u64) {
        self.conditions[condition as usize] += times;
    }
}
