//! Properties that the PMU events of every core have.

use std::fmt;

use crate::event_name::EventName;
use crate::{A53Event, PmuEvent};

/// PMU event of some core.
pub trait CoreEvent: Copy + Eq + Ord + fmt::Debug + 'static {
    /// Event that counts the cycles of the core.
    const CYCLES: Self;

    /// Returns Arm's mnemonic.
    fn mnemonic(self) -> &'static str;

    /// Returns the event that a name of Linux denotes on this core, whatever PMU the name has.
    fn named(name: &EventName<'_>) -> Option<Self>;

    /// Returns the name that Linux perf uses: the mnemonic in lower case.
    fn perf_name(self) -> String {
        self.mnemonic().to_ascii_lowercase()
    }
}

impl CoreEvent for PmuEvent {
    const CYCLES: PmuEvent = PmuEvent::CPU_CYCLES;

    fn mnemonic(self) -> &'static str {
        PmuEvent::mnemonic(self)
    }

    fn named(name: &EventName<'_>) -> Option<PmuEvent> {
        name.event().ok()
    }
}

impl CoreEvent for A53Event {
    const CYCLES: A53Event = A53Event::CPU_CYCLES;

    fn mnemonic(self) -> &'static str {
        A53Event::mnemonic(self)
    }

    fn named(name: &EventName<'_>) -> Option<A53Event> {
        A53Event::from_linux_name(&name.plain().ok()?)
    }
}
