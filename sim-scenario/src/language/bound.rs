//! Expected counts as the language writes them, and events by name.

use sim_core::PmuEvent;

use super::cursor::Cursor;
use super::error::{Fault, Problem};

/// Inclusive range of expected counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Smallest count.
    pub min: u64,
    /// Largest count.
    pub max: u64,
}

impl Bound {
    /// Creates a range that contains only `n`.
    pub fn exactly(n: u64) -> Bound {
        Bound { min: n, max: n }
    }

    /// Returns true if the range contains `n`.
    pub fn holds(self, n: u64) -> bool {
        (self.min..=self.max).contains(&n)
    }

    /// Returns the count if the range contains only one.
    pub fn exact(self) -> Option<u64> {
        (self.min == self.max).then_some(self.min)
    }
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.exact(), self.max) {
            (Some(n), _) => write!(f, "{n}"),
            (None, u64::MAX) => write!(f, "at least {}", self.min),
            (None, max) if self.min == 0 => write!(f, "at most {max}"),
            (None, max) => write!(f, "{} to {max}", self.min),
        }
    }
}

/// Returns the event with this name, which was read at `offset`.
pub(super) fn event_named(name: &str, offset: usize) -> Result<PmuEvent, Fault> {
    PmuEvent::from_name(name).map_err(|error| Fault::new(offset, Problem::UnknownEvent(error)))
}

/// Reads `1`, `1..5`, `>= 1` or `<= 5`.
pub(crate) fn parse_bound(cursor: &mut Cursor) -> Result<Bound, Fault> {
    if cursor.take(">=") {
        return Ok(Bound { min: cursor.need_number("a count")?, max: u64::MAX });
    }
    if cursor.take("<=") {
        return Ok(Bound { min: 0, max: cursor.need_number("a count")? });
    }
    let min = cursor.need_number("a count, as in 1, 1..5, >= 1 or <= 5")?;
    if !cursor.take("..") {
        return Ok(Bound::exactly(min));
    }
    let offset = cursor.offset();
    let max = cursor.need_number("the largest count")?;
    if max < min {
        let range = "not less than its beginning";
        let problem = Problem::OutOfRange { what: "the end of a range", range, value: max };
        return Err(Fault::new(offset, problem));
    }
    Ok(Bound { min, max })
}
