//! Events of the Cortex-A53 by the names that a command line or a file gives them.

use sim_a53::A53Event;
use sim_core::EventName;

use crate::counting::event_list::{EventListError, ListedEvent};

impl ListedEvent for A53Event {
    const NO_DIVISOR: A53Event = A53Event::SW_INCR;

    fn find(name: &EventName<'_>) -> Result<A53Event, EventListError> {
        let plain = name.plain()?;
        let wrong = |error| EventListError::A53Name(plain.clone().into_owned(), error);
        named(&plain).map_err(wrong)
    }
}

/// Returns an event by its mnemonic in any case, by rNN, or by a name of Linux. The error has no
/// name in front.
pub(crate) fn named(name: &str) -> Result<A53Event, String> {
    A53Event::from_linux_name(name).ok_or_else(|| {
        String::from(
            "the Cortex-A53 has no such event; `n2sim list events --core cortex-a53` lists them",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_a_mnemonic_and_a_number() {
        for name in ["rE7", "r0e7", "ld_dep_stall", "LD_DEP_STALL"] {
            assert_eq!(named(name), Ok(A53Event::LD_DEP_STALL), "{name}");
        }
        assert!(named("stall_slot").is_err_and(|error| error.contains("no such event")));
    }
}
