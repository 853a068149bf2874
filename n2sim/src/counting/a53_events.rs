//! Events of the Cortex-A53 by the names that a command line or a file gives them.

use sim_a53::A53Event;
use sim_core::EventName;

use crate::counting::event_list::{EventListError, ListedEvent};

impl ListedEvent for A53Event {
    const NO_DIVISOR: A53Event = A53Event::SW_INCR;

    fn find(name: &EventName<'_>) -> Result<A53Event, EventListError> {
        let plain = name.plain()?;
        let wrong = |error| EventListError::A53Name(plain.clone().into_owned(), error);
        A53Event::from_name(&plain).map_err(wrong)
    }
}
