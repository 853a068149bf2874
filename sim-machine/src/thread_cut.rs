//! A cut through a run of all threads: the place of each, so that nothing that a thread must wait
//! for is after the cut if the wait is before it.

use sim_core::Cycle;

/// Place of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Number of instructions of the thread before the cut.
    pub position: u64,
    /// Last of them, whose successor the predictors have not yet learned; `None` at the start.
    pub last: Option<u32>,
    /// Clock of the thread.
    pub cycle: Cycle,
    /// Cycle in which it continues, later than its clock if it waits for what has happened; its
    /// clock if it waits for what is after the cut.
    pub ready: Cycle,
}

/// Places of all threads that have instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Cycle in which the next instruction of any thread begins.
    pub now: Cycle,
    /// The places, in the order of the streams.
    pub places: Vec<Place>,
}

impl Cut {
    /// Returns the number of words of a cut through `threads` threads.
    pub(crate) fn words(threads: usize) -> usize {
        1 + 4 * threads
    }

    /// Appends the cut to `words`.
    pub(crate) fn save(&self, words: &mut Vec<u64>) {
        words.push(self.now);
        for place in &self.places {
            let last = place.last.map_or(0, |last| u64::from(last) + 1);
            words.extend([place.position, last, place.cycle, place.ready]);
        }
    }

    /// Returns the cut of these words, as many as [`Cut::words`].
    pub(crate) fn load(words: &[u64]) -> Cut {
        let Some((now, places)) = words.split_first() else { return Cut::default() };
        let place = |words: &[u64]| Place {
            position: words[0],
            // A number that no instruction has is one that the program does not have.
            last: words[1].checked_sub(1).map(|last| u32::try_from(last).unwrap_or(u32::MAX)),
            cycle: words[2],
            ready: words[3],
        };
        Cut { now: *now, places: places.chunks_exact(4).map(place).collect() }
    }

    /// Returns the number of instructions before the cut.
    pub fn instructions(&self) -> u64 {
        self.places.iter().fold(0, |sum, place| sum.saturating_add(place.position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loaded_cut_is_the_saved_one() {
        let place = |position, last| {
            let (cycle, ready) = (7 * position, 8 * position);
            Place { position, last, cycle, ready }
        };
        let cut =
            Cut { now: 9, places: vec![place(0, None), place(5, Some(0)), place(8, Some(3))] };
        let mut words = Vec::new();
        cut.save(&mut words);
        assert_eq!((words.len(), Cut::load(&words)), (Cut::words(3), cut.clone()));
        assert_eq!(cut.instructions(), 13);
    }
}
