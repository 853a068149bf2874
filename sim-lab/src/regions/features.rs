//! What is known of an interval beside its blocks: what a plain machine counts in it that has caches, TLBs,
//! prefetchers and branch predictors, but no pipeline ([`FunctionalWarming`]); and how far its code is from what ran
//! before.

use crate::known_events::KNOWN_EVENTS;
use sim_core::Counts;
use sim_machine::functional_warming::FunctionalWarming;
use sim_trace::Skim;

/// Ages of blocks, in executed blocks, as log2.
const BLOCK_AGES: [u32; 3] = [8, 12, 16];
/// Features of an interval: what is known of the whole trace, in the order of [`KNOWN_EVENTS`], changes of flow, and ages.
pub(crate) const FEATURES: usize = KNOWN_EVENTS.len() + 1 + BLOCK_AGES.len();

/// How often each feature was met.
pub(crate) type Features = [f64; FEATURES];

/// Who knows features of a stretch of a trace.
pub(crate) trait FeatureSource: Skim {
    /// What was met since the last time.
    fn take(&mut self) -> Features;
}

/// Counts features while a trace is read.
pub(crate) struct FeatureReader<'a> {
    machine: FunctionalWarming<'a, Counts>,
    blocks: u32,
    /// When each block ran last, and what ran behind it.
    ran: Vec<(u32, u32)>,
    previous: u32,
    counts: [u64; FEATURES],
    /// What the machine had counted the last time.
    before: [u64; FEATURES],
}

impl<'a> FeatureReader<'a> {
    /// A reader of a trace with so many blocks.
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

impl Skim for FeatureReader<'_> {
    const ACCESSES: bool = true;

    #[inline]
    fn block(&mut self, block: u32, place: u32, executed: u16) {
        // Around the end of the clock some ages are wrong, once in four billion blocks.
        self.blocks = self.blocks.wrapping_add(1);
        let (ran, _) = &mut self.ran[block as usize];
        let age = self.blocks.wrapping_sub(std::mem::replace(ran, self.blocks));
        for (limit, count) in BLOCK_AGES.iter().zip(&mut self.counts[KNOWN_EVENTS.len() + 1..]) {
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
