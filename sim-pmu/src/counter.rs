//! Numbers of the event counters, and register masks with one bit for each counter. PMU guide:
//! chapter 3.1 (six counters). Constants are those of the Neoverse N2.

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

/// Number of event counters that a kernel has for itself. A virtual machine may have fewer than the
/// core: its hypervisor keeps the others (`MDCR_EL2.HPMN`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterCount(u8);

impl CounterCount {
    /// Fewest counters.
    pub const FEWEST: u8 = 2;

    /// Returns a number of counters, or `None` if no machine has it.
    pub fn new(n: u8) -> Option<CounterCount> {
        (CounterCount::FEWEST..=ARCHITECTED_COUNTERS).contains(&n).then_some(CounterCount(n))
    }

    /// Returns the number.
    pub fn get(self) -> u8 {
        self.0
    }
}

impl Default for CounterCount {
    /// Returns the counters of a Neoverse N2 and of a Cortex-A53.
    fn default() -> CounterCount {
        CounterCount(EVENT_COUNTERS as u8)
    }
}

impl std::fmt::Display for CounterCount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::str::FromStr for CounterCount {
    type Err = String;

    fn from_str(text: &str) -> Result<CounterCount, String> {
        let (fewest, most) = (CounterCount::FEWEST, ARCHITECTED_COUNTERS);
        let count = text.parse().ok().and_then(CounterCount::new);
        count.ok_or_else(|| format!("a machine has {fewest} to {most} event counters"))
    }
}

/// Number of an event counter: 0 to 5 on the Neoverse N2, up to 30 in the architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CounterIndex(u8);

impl std::fmt::Display for CounterIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "counter {}", self.0)
    }
}

impl CounterIndex {
    /// Returns every event counter of the Neoverse N2.
    pub fn all() -> impl Iterator<Item = CounterIndex> {
        CounterIndex::first(EVENT_COUNTERS as u8)
    }

    /// Returns the first `counters` event counters, at most those of the architecture.
    pub fn first(counters: u8) -> impl Iterator<Item = CounterIndex> {
        (0..counters.min(ARCHITECTED_COUNTERS)).map(CounterIndex)
    }

    /// Returns counter `n`, or `None` if the Neoverse N2 does not have it.
    pub fn new(n: u8) -> Option<CounterIndex> {
        CounterIndex::among(EVENT_COUNTERS as u8, n)
    }

    /// Returns counter `n` of a core with `counters` event counters, or `None` if it does not have
    /// it.
    pub fn among(counters: u8, n: u8) -> Option<CounterIndex> {
        (n < counters.min(ARCHITECTED_COUNTERS)).then_some(CounterIndex(n))
    }

    /// Returns the bit of the counter in enable and overflow masks.
    pub fn bit(self) -> u32 {
        1 << self.0
    }

    /// Returns the odd counter that can count the overflows of this even counter, if the core has
    /// it.
    pub fn chained(self) -> Option<CounterIndex> {
        let is_even = self.0.is_multiple_of(2);
        if is_even { CounterIndex::among(ARCHITECTED_COUNTERS, self.0 + 1) } else { None }
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
