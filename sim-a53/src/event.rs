//! Events of a run of the Cortex-A53: which of them a trace never raises, their receiver and their
//! totals.

pub use sim_core::a53_event::{A53Event, COUNT};
use sim_core::{Privilege, RegisterAccess};

/// Returns why a run of a trace never raises the event; `None` if it can.
pub fn never_raised(event: A53Event) -> Option<&'static str> {
    match event {
        A53Event::SW_INCR => Some("a trace does not say which counters PMSWINC selects"),
        A53Event::CHAIN => Some("a counter raises it when the counter below overflows"),
        A53Event::MEMORY_ERROR
        | A53Event::L1I_CACHE_ERR
        | A53Event::L1D_CACHE_ERR
        | A53Event::TLB_ERR => Some("memories of the model have no errors"),
        A53Event::EXT_MEM_REQ_NC => Some("all memory of the model is cacheable"),
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

/// Receiver of events.
pub trait A53Sink {
    /// Receives `times` occurrences of `event` in the cycle `cycle`. Cycles do not always ascend.
    fn raise(&mut self, event: A53Event, cycle: u64, times: u64);

    /// Receives the number of the static instruction that causes the events from now on, and the
    /// cycle of the issue before it.
    #[inline]
    fn begin(&mut self, _inst: u32, _cycle: u64) {}

    /// Receives a step of the program, which takes effect in the cycle `cycle`. Events of older
    /// instructions were raised before, those of younger ones come later.
    #[inline]
    fn note(&mut self, _: A53Note, _cycle: u64) {}
}

/// Total of each event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct A53Counts([u64; COUNT]);

impl Default for A53Counts {
    fn default() -> A53Counts {
        A53Counts([0; COUNT])
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
        self.0[event as usize]
    }
}

impl A53Counts {
    /// Adds the counts of another run or part.
    pub fn add(&mut self, other: &A53Counts) {
        self.0.iter_mut().zip(other.0).for_each(|(own, other)| *own += other);
    }
}

impl A53Sink for A53Counts {
    #[inline]
    fn raise(&mut self, event: A53Event, _: u64, times: u64) {
        self.0[event as usize] += times;
    }
}
