//! Features of an interval beyond its blocks: event counts of functional warming
//! ([`FunctionalWarming`]), and how old its code is.

use crate::known_events::KNOWN_EVENTS;
use sim_core::Counts;
use sim_machine::functional_warming::FunctionalWarming;
use sim_trace::BlockVisitor;

/// Ages of blocks that are counted, in executed blocks, as log2.
pub(crate) const AGES: [u32; 3] = [8, 12, 16];
/// Number of features: the events of [`KNOWN_EVENTS`], changes of flow, and ages.
pub(crate) const FEATURES: usize = KNOWN_EVENTS.len() + 1 + AGES.len();

/// Count of each feature.
pub(crate) type Features = [f64; FEATURES];

/// Source of the features of consecutive intervals.
pub(crate) trait FeatureSource: BlockVisitor {
    /// Returns the features since the last call.
    fn take(&mut self) -> Features;
}

/// Counts features while a trace is read.
pub(crate) struct FeatureReader<'a> {
    machine: FunctionalWarming<'a, Counts>,
    blocks: u32,
    /// Time of each block's last execution, and the block that ran after it.
    ran: Vec<(u32, u32)>,
    previous: u32,
    counts: [u64; FEATURES],
    /// Counts of the machine at the last call.
    before: [u64; FEATURES],
}

impl<'a> FeatureReader<'a> {
    /// Creates a reader of a trace with `blocks` blocks.
    pub(crate) fn new(blocks: usize, machine: FunctionalWarming<'a, Counts>) -> FeatureReader<'a> {
        FeatureReader {
            machine,
            blocks: 0,
            ran: vec![(0, 0); blocks],
            previous: 0,
            counts: [0; FEATURES],
            before: [0; FEATURES],
        }
    }
}

impl FeatureSource for FeatureReader<'_> {
    fn take(&mut self) -> Features {
        for (count, event) in self.counts.iter_mut().zip(KNOWN_EVENTS) {
            *count = self.machine.sink.value(event);
        }
        let before = std::mem::replace(&mut self.before, self.counts);
        std::array::from_fn(|i| (self.counts[i] - before[i]) as f64)
    }
}

impl BlockVisitor for FeatureReader<'_> {
    const ACCESSES: bool = true;

    #[inline]
    fn block(&mut self, block: u32, place: u32, executed: u16) {
        // At a wrap of the clock some ages are wrong: once in four billion blocks.
        self.blocks = self.blocks.wrapping_add(1);
        let (ran, _) = &mut self.ran[block as usize];
        let age = self.blocks.wrapping_sub(std::mem::replace(ran, self.blocks));
        for (limit, count) in AGES.iter().zip(&mut self.counts[KNOWN_EVENTS.len() + 1..]) {
            *count += u64::from(age >> limit > 0);
        }
        let (_, next) = &mut self.ran[self.previous as usize];
        self.counts[KNOWN_EVENTS.len()] += u64::from(*next != block);
        *next = block;
        self.previous = block;
        self.machine.block(block, place, executed);
    }

    #[inline]
    fn access(&mut self, place: u32, addr: u64) {
        self.machine.access(place, addr);
    }
}
