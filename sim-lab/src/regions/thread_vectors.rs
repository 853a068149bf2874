//! Intervals of a run of several threads, in the order of functional warming.

use super::features::{AGES, FEATURES, FeatureSource, Features};
use super::vectors::{Interval, VectorReader};
use crate::known_events::{KNOWN_EVENTS, SHARED_EVENTS};
use sim_core::{Counts, PmuEvent};
use sim_isa::BranchKind;
use sim_machine::{MachineError, Session, ThreadWarming};
use sim_trace::{BlockId, BlockVisitor, CodeWord, StaticTable};

/// Counts of the events of [`SHARED_EVENTS`].
pub(crate) type Shared = [u64; SHARED_EVENTS.len()];

/// Returns the intervals of a run of all threads, cut by their instructions together, with blocks
/// and features, and the counts of each that only several threads have. `progress` receives the
/// number of instructions run so far.
pub(crate) fn thread_intervals(
    session: &Session,
    interval: u64,
    seed: u64,
    progress: &mut dyn FnMut(u64),
) -> Result<(Vec<Interval>, Vec<Shared>), MachineError> {
    let statics = session.trace().statics();
    let places = places(statics);
    let is_branch = |code: &CodeWord| sim_isa::decode(code.word).branch != BranchKind::None;
    let is_branch: Vec<bool> = statics.insts().iter().map(is_branch).collect();
    let mut branches = 0;
    let features = ThreadFeatures::new(statics.blocks(), session.trace().streams().len());
    let mut vectors = VectorReader::new(statics.blocks(), interval, seed, features);
    let mut warming = ThreadWarming::new(session)?;
    let (mut shared, mut last) = (Vec::new(), Shared::default());
    loop {
        let before = warming.done();
        warming.run_to(before.saturating_add(interval), &mut |thread, insts| {
            vectors.features.thread = thread;
            for inst in insts {
                let (block, place) = places[inst.id as usize];
                branches += u64::from(is_branch[inst.id as usize]);
                vectors.block(block, place, 1);
            }
        })?;
        if warming.done() == before {
            return Ok((vectors.finish(), shared));
        }
        warming.answer_snoops();
        let counts = warming.counts();
        vectors.features.note(counts);
        let now = SHARED_EVENTS.map(|event| match event {
            PmuEvent::BR_RETIRED => branches,
            _ => counts.raised(event),
        });
        shared.push(std::array::from_fn(|i| now[i] - last[i]));
        last = now;
        progress(warming.done());
    }
}

/// Returns the block of each static instruction, the first one of several, and its place in it.
fn places(statics: &StaticTable) -> Vec<(u32, u32)> {
    let mut places = vec![(u32::MAX, 0); statics.insts().len()];
    for block in 0..statics.blocks() as u32 {
        let insts = statics.block(BlockId(block)).unwrap_or_default();
        for (id, place) in insts.iter().zip(0..) {
            let known = &mut places[*id as usize];
            if known.0 == u32::MAX {
                *known = (block, place);
            }
        }
    }
    places
}

/// Features of all threads together: the counts of functional warming, and how old their code is.
struct ThreadFeatures {
    /// Thread of the next instructions.
    thread: usize,
    blocks: u32,
    /// Time of each block's last execution, and the block that ran after it.
    ran: Vec<(u32, u32)>,
    /// Last block of each thread.
    previous: Vec<u32>,
    counts: [u64; FEATURES],
    /// Counts at the last call.
    before: [u64; FEATURES],
}

impl ThreadFeatures {
    fn new(blocks: usize, threads: usize) -> ThreadFeatures {
        ThreadFeatures {
            thread: 0,
            blocks: 0,
            ran: vec![(0, 0); blocks],
            previous: vec![0; threads],
            counts: [0; FEATURES],
            before: [0; FEATURES],
        }
    }

    /// Takes the counts of functional warming so far.
    fn note(&mut self, counts: &Counts) {
        for (count, event) in self.counts.iter_mut().zip(KNOWN_EVENTS) {
            *count = counts.value(event);
        }
    }
}

impl FeatureSource for ThreadFeatures {
    fn take(&mut self) -> Features {
        let before = std::mem::replace(&mut self.before, self.counts);
        std::array::from_fn(|i| (self.counts[i] - before[i]) as f64)
    }
}

impl BlockVisitor for ThreadFeatures {
    const ACCESSES: bool = true;

    /// Visits one instruction, which may be the first of its block.
    #[inline]
    fn block(&mut self, block: u32, place: u32, _executed: u16) {
        let previous = &mut self.previous[self.thread];
        if place > 0 && *previous == block {
            return;
        }
        self.blocks = self.blocks.wrapping_add(1);
        let (ran, _) = &mut self.ran[block as usize];
        let age = self.blocks.wrapping_sub(std::mem::replace(ran, self.blocks));
        for (limit, count) in AGES.iter().zip(&mut self.counts[KNOWN_EVENTS.len() + 1..]) {
            *count += u64::from(age >> limit > 0);
        }
        let (_, next) = &mut self.ran[*previous as usize];
        self.counts[KNOWN_EVENTS.len()] += u64::from(*next != block);
        *next = block;
        *previous = block;
    }
}
