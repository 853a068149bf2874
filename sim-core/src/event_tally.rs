//! Small counts of several events, added in one step.

/// Small counts of events, all of which are added at once. The code that fills it in defines the
/// index of each event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventTally(pub [u8; EventTally::PLACES]);

impl EventTally {
    /// Number of counts.
    pub const PLACES: usize = 32;

    /// Adds another tally; no count may exceed 255.
    #[inline(always)]
    pub fn add(&mut self, more: &EventTally) {
        for (count, more) in self.0.iter_mut().zip(more.0) {
            *count += more;
        }
    }

    /// Returns the first `places` counts, with 0 for the others.
    #[inline]
    #[must_use]
    pub fn take(&self, places: usize) -> EventTally {
        let mut taken = *self;
        taken.0[places..].fill(0);
        taken
    }

    /// Returns all counts but the first `places`, which are 0.
    #[inline]
    #[must_use]
    pub fn skip(&self, places: usize) -> EventTally {
        let mut rest = *self;
        rest.0[..places].fill(0);
        rest
    }
}
