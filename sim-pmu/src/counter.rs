//! Numbers of the event counters, and register masks with one bit for each counter. PMU guide:
//! chapter 3.1 (six counters).

/// Programmable event counters of the Neoverse N2.
pub const EVENT_COUNTERS: usize = 6;
/// Number of event counters that the architecture names.
pub const ARCHITECTED_COUNTERS: u8 = 31;
/// Bit of the cycle counter in enable and overflow masks.
pub const CYCLE_BIT: u32 = 1 << 31;
/// Bits of the event counters.
pub const EVENT_BITS: u32 = (1 << EVENT_COUNTERS) - 1;
/// Implemented bits of enable and overflow masks.
pub const IMPLEMENTED_BITS: u32 = CYCLE_BIT | EVENT_BITS;

/// Number of an event counter, 0 to 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CounterIndex(u8);

impl std::fmt::Display for CounterIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "counter {}", self.0)
    }
}

impl CounterIndex {
    /// Returns every event counter.
    pub fn all() -> impl Iterator<Item = CounterIndex> {
        (0..EVENT_COUNTERS as u8).map(CounterIndex)
    }

    /// Returns counter `n`, or `None` if the core does not have it.
    pub fn new(n: u8) -> Option<CounterIndex> {
        (usize::from(n) < EVENT_COUNTERS).then_some(CounterIndex(n))
    }

    /// Returns the bit of the counter in enable and overflow masks.
    pub fn bit(self) -> u32 {
        1 << self.0
    }

    /// Returns the odd counter that can count the overflows of this even counter.
    pub fn chained(self) -> Option<CounterIndex> {
        if self.0.is_multiple_of(2) { CounterIndex::new(self.0 + 1) } else { None }
    }

    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_six_counters_in_three_pairs() {
        assert_eq!(CounterIndex::new(6), None);
        let pairs: Vec<_> = CounterIndex::all()
            .filter_map(|even| Some((even.index(), even.chained()?.index())))
            .collect();
        assert_eq!(pairs, [(0, 1), (2, 3), (4, 5)]);
    }
}
