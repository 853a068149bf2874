//! The ways of accesses through a Cortex-A53: boxes with the events that they raise, and the edges
//! between them, with the number of times that a run took each.
//!
//! A sink counts the steps of the model ([`Seen`]), and the charts read the counts. The events of
//! the boxes are those of the manual, table 12.28, as the model raises them; [`accounts`] compares
//! the visits of the boxes with the counts of the events.

mod charts;

pub use charts::{A53Box, A53Edge, A53Flow, FLOWS};

use crate::event::{A53Condition, A53Counts, A53Event, A53Sink};
use crate::seen::{FetchedFrom, LoadedFrom, Purpose, Seen, Source, WrittenTo};

/// Numbers of purposes and of sources of a line.
const PURPOSES: usize = 7;
const SOURCES: usize = 4;

/// Number of times that a run took each step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    fetched: [u64; 4],
    prefetch_dropped: u64,
    loaded: [u64; 4],
    /// Software prefetches that miss, and that hit.
    software: [u64; 2],
    stored: u64,
    /// Parts of stores that take an entry, and that merge.
    buffered: [u64; 2],
    written: [u64; 4],
    read_allocate: u64,
    /// Bursts into the L2 cache, and to memory.
    streamed: [u64; 2],
    streamed_beats: u64,
    /// Misses of the micro-TLBs for data and for fetches: main TLB hits, and walks.
    micro_tlb: [[u64; 2]; 2],
    /// Walks from the first table, and from the walk cache.
    walked: [u64; 2],
    /// Descriptors that miss the L1 D-cache, and that hit.
    descriptors: [u64; 2],
    purpose: Option<Purpose>,
    supplied: [[u64; SOURCES]; PURPOSES],
    /// Evicted lines that are clean, and that are changed.
    evicted: [u64; 2],
    /// Evicted lines that were not moved anywhere.
    dropped: u64,
    l2_victims: u64,
    /// Accesses of loads and stores to memory that no cache keeps.
    uncached: u64,
    /// Requests that write and that read past the caches, and their beats.
    uncached_requests: [u64; 2],
    uncached_beats: [u64; 2],
}

impl Steps {
    /// Counts a step.
    fn add(&mut self, seen: Seen) {
        let at = usize::from;
        match seen {
            Seen::Fetched(from) => self.fetched[from as usize] += 1,
            Seen::FetchPrefetchDropped => self.prefetch_dropped += 1,
            Seen::Loaded(from) => self.loaded[from as usize] += 1,
            Seen::SoftwarePrefetch { hit } => self.software[at(hit)] += 1,
            Seen::Stored => self.stored += 1,
            Seen::Buffered { merged } => self.buffered[at(merged)] += 1,
            Seen::Written(to) => self.written[to as usize] += 1,
            Seen::ReadAllocateBegan => self.read_allocate += 1,
            Seen::Streamed { beats, to_memory } => {
                self.streamed[at(to_memory)] += 1;
                self.streamed_beats += beats;
            }
            Seen::MicroTlbMissed { is_fetch, walks } => {
                self.micro_tlb[at(is_fetch)][at(walks)] += 1;
            }
            Seen::Walked { from_walk_cache } => self.walked[at(from_walk_cache)] += 1,
            Seen::Descriptor { hit } => self.descriptors[at(hit)] += 1,
            Seen::Requested(purpose) => self.purpose = Some(purpose),
            Seen::Supplied(source) => {
                if let Some(purpose) = self.purpose.take() {
                    self.supplied[purpose as usize][source as usize] += 1;
                }
            }
            Seen::Evicted { dirty, moved } => match moved {
                true => self.evicted[at(dirty)] += 1,
                false => self.dropped += 1,
            },
            Seen::L2VictimWritten => self.l2_victims += 1,
            Seen::Uncached => self.uncached += 1,
            Seen::UncachedBeats { beats, requests, is_read } => {
                self.uncached_requests[at(is_read)] += requests;
                self.uncached_beats[at(is_read)] += beats;
            }
            Seen::Idle(..)
            | Seen::Abandoned
            | Seen::FailedExclusive
            | Seen::Mispredicted
            | Seen::LoadMissed
            | Seen::WrongPath(_) => {}
        }
    }

    /// Adds the steps of another core.
    pub fn join(&mut self, other: &Steps) {
        let sum = |own: &mut [u64], more: &[u64]| {
            own.iter_mut().zip(more).for_each(|(own, more)| *own += more);
        };
        sum(&mut self.fetched, &other.fetched);
        sum(&mut self.loaded, &other.loaded);
        sum(&mut self.software, &other.software);
        sum(&mut self.buffered, &other.buffered);
        sum(&mut self.written, &other.written);
        sum(&mut self.streamed, &other.streamed);
        sum(&mut self.walked, &other.walked);
        sum(&mut self.descriptors, &other.descriptors);
        sum(&mut self.evicted, &other.evicted);
        sum(&mut self.uncached_requests, &other.uncached_requests);
        sum(&mut self.uncached_beats, &other.uncached_beats);
        sum(self.micro_tlb.as_flattened_mut(), other.micro_tlb.as_flattened());
        sum(self.supplied.as_flattened_mut(), other.supplied.as_flattened());
        self.prefetch_dropped += other.prefetch_dropped;
        self.stored += other.stored;
        self.read_allocate += other.read_allocate;
        self.streamed_beats += other.streamed_beats;
        self.dropped += other.dropped;
        self.l2_victims += other.l2_victims;
        self.uncached += other.uncached;
    }

    fn fetched(&self, from: FetchedFrom) -> u64 {
        self.fetched[from as usize]
    }

    fn loaded(&self, from: LoadedFrom) -> u64 {
        self.loaded[from as usize]
    }

    fn written(&self, to: WrittenTo) -> u64 {
        self.written[to as usize]
    }

    fn requested(&self, purpose: Purpose) -> u64 {
        self.supplied[purpose as usize].iter().sum()
    }

    fn supplied(&self, source: Source) -> u64 {
        self.supplied.iter().map(|of_purpose| of_purpose[source as usize]).sum()
    }
}

/// Sink that counts events and steps.
#[derive(Clone, Debug, Default)]
pub struct FlowSink {
    /// Counts of the events.
    pub counts: A53Counts,
    /// Steps of the model.
    pub steps: Steps,
}

impl AsRef<A53Counts> for FlowSink {
    fn as_ref(&self) -> &A53Counts {
        &self.counts
    }
}

impl A53Sink for FlowSink {
    #[inline]
    fn raise(&mut self, event: A53Event, cycle: u64, times: u64) {
        self.counts.raise(event, cycle, times);
    }

    #[inline]
    fn signal(&mut self, condition: A53Condition, cycle: u64, times: u64) {
        self.counts.signal(condition, cycle, times);
    }

    #[inline]
    fn see(&mut self, seen: Seen) {
        self.steps.add(seen);
    }
}

/// Visits of the boxes that raise an event, and the count of the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct A53Account {
    /// Event.
    pub event: A53Event,
    /// Occurrences that the visits of the boxes imply.
    pub visits: u64,
    /// Count.
    pub counted: u64,
}

/// Returns the accounts of all events of the boxes. Maintenance operations and errors raise events
/// beside the flows.
pub fn accounts(steps: &Steps, counts: &A53Counts) -> Vec<A53Account> {
    let mut accounts: Vec<A53Account> = Vec::new();
    for place in FLOWS.iter().flat_map(|flow| flow.boxes) {
        for (event, times) in place.events {
            let visits = times * (place.visits)(steps);
            match accounts.iter_mut().find(|own| own.event == *event) {
                Some(own) => own.visits += visits,
                None => {
                    let counted = counts.value(*event);
                    accounts.push(A53Account { event: *event, visits, counted });
                }
            }
        }
    }
    accounts.sort_by_key(|own| own.event);
    accounts
}
