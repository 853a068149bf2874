//! Happens-before edges among the instructions of all threads, derived from their tickets and their
//! accesses (docs/capture.md, Threads).
//!
//! The tickets of all streams are taken in the order of their numbers. For each other thread, an
//! acquire waits for the last release to the bytes that it reads. If the bytes of a release or an
//! acquire are unknown, it covers all. Every edge leads to an earlier ticket, so edges form no
//! cycle.
//!
//! A release removes the releases to the same bytes that its thread has waited for: an acquire that
//! waits for it follows them too. Threads that pass a lock on, or that are joined, therefore leave
//! one release there. Lists longer than [`FEW`] are cleaned when full. A newer release of the same
//! thread replaces the older one at once.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rustc_hash::FxHashMap;

use crate::error::MachineError;

/// Size of a granule of the table of locations in bytes.
const GRANULE: u64 = 8;
/// Size of the word that the kernel clears when a thread ends, in bytes.
const ENDING_BYTES: u16 = 4;
/// Pseudo-granule of system calls.
const KERNEL: u64 = u64::MAX;
/// Pseudo-granule of thread creation.
const CREATION: u64 = u64::MAX - 1;
/// Pseudo-granule of releases whose bytes are unknown.
const FENCES: u64 = u64::MAX - 2;
/// Pseudo-granule of all releases.
const ANY: u64 = u64::MAX - 3;
/// Pseudo-granule of thread ends, at which the kernel clears a word. One release covers all known
/// words, so that ends take memory per thread, not per thread and word.
const EXITS: u64 = u64::MAX - 4;

/// Locations of an acquire or a release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scope {
    /// No location: not an acquire or release.
    #[default]
    Nowhere,
    /// A range of bytes: address and size.
    Bytes(u64, u16),
    /// Data of the operating system.
    Kernel,
    /// Creation or start of a thread, with the word that the kernel clears at its end, if known;
    /// start, wake-up or interrupt of a processor.
    Creation(Option<u64>),
    /// End of a thread: the end words of all threads made so far.
    Exit,
    /// Every location.
    Everywhere,
}

/// A ticket, and what its instruction acquires and releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// Number of the instruction in its stream.
    pub(super) position: u64,
    /// Number among the tickets of all streams.
    pub(super) order: u64,
    /// Locations that it acquires.
    pub(super) acquires: Scope,
    /// Locations that it releases.
    pub(super) releases: Scope,
}

/// Arrivals of one thread, in order.
pub(crate) trait Arrivals {
    /// Returns the next arrival; `None` after the last.
    fn next_arrival(&mut self) -> Result<Option<Arrival>, MachineError>;

    /// Returns the order of the first arrival without keeping a reader open; `None` if there is
    /// none.
    fn first_order(&self) -> Result<Option<u64>, MachineError>;
}

/// A rank of another thread that must be passed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) thread: usize,
    pub(super) rank: u64,
}

/// An instruction that waits for others, or that others may wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hold {
    /// Number of the instruction in its stream.
    pub(super) position: u64,
    /// Rank among all taken tickets, from 1.
    pub(super) rank: u64,
    /// Number of edges that lead here or may do so later.
    pub(super) references: u32,
    /// Edges to what it waits for.
    pub(super) edges: Vec<Edge>,
}

impl Hold {
    /// Returns true if no thread will wait for it.
    pub(super) fn is_no_release(&self) -> bool {
        self.references == 0
    }

    pub(super) fn is_dead(&self) -> bool {
        self.references == 0 && self.edges.is_empty()
    }
}

/// Release of a thread to some bytes of a granule.
#[derive(Clone, Copy, Debug)]
struct Release {
    thread: usize,
    rank: u64,
    bytes: u8,
}

impl Release {
    fn edge(&self) -> Edge {
        Edge { thread: self.thread, rank: self.rank }
    }
}

/// Releases to one granule, by rising rank.
#[derive(Debug, Default)]
struct Releases {
    list: Vec<Release>,
    /// Length at which a list longer than [`FEW`] is full.
    full: usize,
}

impl Releases {
    /// Returns true if the next release removes those that its thread has waited for. Each removal
    /// searches the waits of the thread, so a long list must double in between.
    fn is_cleaned_next(&self) -> bool {
        self.list.len() <= FEW || self.list.len() >= self.full
    }
}

/// Thread ends that a thread has waited for: ranks above `since`, up to `up_to`.
#[derive(Clone, Copy, Debug)]
struct SeenExits {
    since: u64,
    up_to: u64,
}

impl SeenExits {
    const NONE: SeenExits = SeenExits { since: u64::MAX, up_to: 0 };
}

/// Arrivals and holds of a thread.
struct Thread<A> {
    /// Source of arrivals; `None` after the last.
    arrivals: Option<A>,
    /// Next arrival that is not taken yet; the first one is read when needed.
    head: Option<Arrival>,
    /// Order of the next ticket; `None` after the last.
    next_order: Option<u64>,
    /// Instructions that are not passed yet, in order.
    holds: VecDeque<Hold>,
    /// Number of dead holds in the list.
    dead: usize,
    /// Progress of waits for each other thread. Emptied after the last ticket if the thread made no
    /// other thread.
    waited: FxHashMap<usize, Waited>,
    /// Thread ends that were found at [`EXITS`].
    exits: SeenExits,
    /// The thread may have made another thread.
    is_maker: bool,
    /// Maker of the thread. The thread inherits the maker's waits up to its creation.
    maker: Option<Maker>,
}

/// Maker of a thread.
#[derive(Clone, Copy, Debug)]
struct Maker {
    /// Position of the maker at which the thread begins.
    edge: Edge,
    /// Rank of the thread's first wait.
    at: u64,
}

/// Progress of a thread's waits for another thread.
#[derive(Clone, Copy, Debug)]
struct Waited {
    /// Rank of the other thread that was waited for.
    rank: u64,
    /// Own rank of the wait.
    at: u64,
}

/// Largest number of makers that [`has_waited`] follows.
const MOST_MAKERS: usize = 8;

/// Longest list of releases that is cleaned before each new one; a longer one is cleaned when full.
const FEW: usize = 8;

impl<A: Arrivals> Thread<A> {
    fn new(arrivals: A) -> Result<Thread<A>, MachineError> {
        Ok(Thread {
            next_order: arrivals.first_order()?,
            arrivals: Some(arrivals),
            head: None,
            holds: VecDeque::new(),
            dead: 0,
            waited: FxHashMap::default(),
            exits: SeenExits::NONE,
            is_maker: false,
            maker: None,
        })
    }

    /// Reads the next ticket. Drops the source of tickets after the last.
    fn read(&mut self) -> Result<Option<Arrival>, MachineError> {
        let Some(arrivals) = &mut self.arrivals else { return Ok(None) };
        let next = arrivals.next_arrival()?;
        if next.is_none() {
            self.arrivals = None;
        }
        Ok(next)
    }

    /// Takes the next arrival.
    fn take(&mut self) -> Result<Option<Arrival>, MachineError> {
        let taken = match self.head.take() {
            Some(head) => Some(head),
            None => self.read()?,
        };
        self.head = self.read()?;
        self.next_order = self.head.map(|head| head.order);
        Ok(taken)
    }
}

impl<A> Thread<A> {
    /// Drops a reference to the hold of this rank, unless it is passed.
    fn forget(&mut self, rank: u64) {
        let Ok(at) = self.holds.binary_search_by_key(&rank, |hold| hold.rank) else { return };
        let hold = &mut self.holds[at];
        hold.references -= 1;
        self.dead += usize::from(hold.is_dead());
        if self.dead > self.holds.len() / 2 + 64 {
            self.holds.retain(|hold| !hold.is_dead());
            self.dead = 0;
        }
    }

    /// Adds a reference to the hold of this rank, unless it is passed.
    fn refer(&mut self, rank: u64) {
        if let Ok(at) = self.holds.binary_search_by_key(&rank, |hold| hold.rank) {
            self.holds[at].references += 1;
        }
    }
}

/// Takes the tickets of all threads in order, as far as needed, and finds the edges.
pub(super) struct Edges<A> {
    threads: Vec<Thread<A>>,
    /// Order of the next ticket of each thread that has one, lowest first.
    heads: BinaryHeap<Reverse<(u64, usize)>>,
    /// Releases by granule; no loop visits all of them.
    locations: FxHashMap<u64, Releases>,
    /// Rank from which the kernel clears each byte at a thread end, by granule; `u64::MAX` for
    /// never.
    endings: FxHashMap<u64, [u64; GRANULE as usize]>,
    /// A thread was made whose end word is unknown.
    has_unknown_ending: bool,
    /// Each thread runs to its last ticket, so its waits really happen.
    is_whole: bool,
    rank: u64,
    found: Vec<Edge>,
}

impl<A: Arrivals> Edges<A> {
    /// Creates the edges among these threads. If not `is_whole`, a thread may end before its last
    /// ticket.
    pub(super) fn new(threads: Vec<A>, is_whole: bool) -> Result<Edges<A>, MachineError> {
        let threads: Vec<Thread<A>> =
            threads.into_iter().map(Thread::new).collect::<Result<_, _>>()?;
        let orders = threads.iter().enumerate();
        let heads = orders.filter_map(|(i, thread)| Some(Reverse((thread.next_order?, i))));
        Ok(Edges {
            heads: heads.collect(),
            threads,
            locations: FxHashMap::default(),
            endings: FxHashMap::default(),
            has_unknown_ending: false,
            is_whole,
            rank: 0,
            found: Vec::new(),
        })
    }

    /// Returns the next instruction of a thread that waits or is waited for; `None` after the last.
    pub(super) fn next_hold(&mut self, thread: usize) -> Result<Option<&Hold>, MachineError> {
        loop {
            let one = &mut self.threads[thread];
            while one.holds.front().is_some_and(Hold::is_dead) {
                one.holds.pop_front();
                one.dead -= 1;
            }
            if !one.holds.is_empty() || one.next_order.is_none() {
                return Ok(self.threads[thread].holds.front());
            }
            self.take_next()?;
        }
    }

    /// Marks the instruction that [`Edges::next_hold`] returned as passed.
    pub(super) fn pass(&mut self, thread: usize) {
        self.threads[thread].holds.pop_front();
    }

    /// Returns the edges of the hold at or before this position.
    pub(super) fn edges(&self, thread: usize, position: u64) -> &[Edge] {
        // The first of two holds of an instruction may have died; then the second counts.
        let mut holds = self.threads[thread].holds.iter();
        let here = holds.find(|hold| !hold.is_dead()).filter(|hold| hold.position <= position);
        here.map_or(&[], |hold| &hold.edges)
    }

    /// Returns true once the edge's thread has passed its rank, which must be taken.
    pub(super) fn has_passed(&self, edge: &Edge) -> bool {
        self.threads[edge.thread].holds.front().is_none_or(|hold| hold.rank > edge.rank)
    }

    /// Returns the number of kept holds of a thread.
    #[cfg(test)]
    pub(super) fn held(&self, thread: usize) -> usize {
        self.threads[thread].holds.len()
    }

    /// Takes the tickets of a thread before position `end`, and one more.
    pub(super) fn take_before(&mut self, thread: usize, end: u64) -> Result<(), MachineError> {
        let is_known = |one: &Thread<A>| {
            one.next_order.is_none() || one.holds.back().is_some_and(|hold| hold.position >= end)
        };
        while !is_known(&self.threads[thread]) {
            self.take_next()?;
        }
        Ok(())
    }

    /// Returns the instructions of a thread before position `end` that wait or are waited for, and
    /// the one after them, which the thread does not reach. Edges to what has been passed are left
    /// out.
    pub(super) fn holds_before(&self, thread: usize, end: u64) -> Vec<Hold> {
        let alive = self.threads[thread].holds.iter().filter(|hold| !hold.is_dead());
        let mut holds = Vec::new();
        for hold in alive {
            let mut hold = hold.clone();
            hold.edges.retain(|edge| !self.has_passed(edge));
            if hold.position >= end {
                hold.references += 1;
                holds.push(hold);
                break;
            }
            if !hold.is_dead() {
                holds.push(hold);
            }
        }
        holds
    }

    /// Creates the edges among these instructions of each thread alone.
    pub(super) fn of_holds(holds: Vec<Vec<Hold>>) -> Edges<A> {
        let thread = |holds: Vec<Hold>| Thread {
            next_order: None,
            arrivals: None,
            head: None,
            holds: holds.into(),
            dead: 0,
            waited: FxHashMap::default(),
            exits: SeenExits::NONE,
            is_maker: false,
            maker: None,
        };
        Edges {
            heads: BinaryHeap::new(),
            threads: holds.into_iter().map(thread).collect(),
            locations: FxHashMap::default(),
            endings: FxHashMap::default(),
            has_unknown_ending: false,
            is_whole: true,
            rank: 0,
            found: Vec::new(),
        }
    }

    /// Takes the lowest ticket of all threads.
    fn take_next(&mut self) -> Result<(), MachineError> {
        let Some(Reverse((_, first))) = self.heads.pop() else { return Ok(()) };
        let taken = self.threads[first].take()?;
        self.heads.extend(self.threads[first].next_order.map(|order| Reverse((order, first))));
        let Some(arrival) = taken else { return Ok(()) };
        self.rank += 1;
        self.find_edges(first, arrival.acquires);
        if self.is_whole && matches!(arrival.acquires, Scope::Creation(_)) {
            let last = self.found.iter().max_by_key(|edge| edge.rank).copied();
            self.threads[first].maker = last.map(|edge| Maker { edge, at: self.rank });
        }
        let edges = self.settle_edges(first);
        let hold = Hold { position: arrival.position, rank: self.rank, references: 0, edges };
        self.threads[first].holds.push_back(hold);
        self.release(first, arrival.releases);
        let thread = &mut self.threads[first];
        if thread.holds.back().is_some_and(Hold::is_dead) {
            thread.holds.pop_back();
        }
        if thread.next_order.is_none() && !thread.is_maker {
            thread.waited = FxHashMap::default();
        }
        Ok(())
    }

    /// Finds the edges of an acquire.
    fn find_edges(&mut self, thread: usize, scope: Scope) {
        self.found.clear();
        match scope {
            Scope::Nowhere | Scope::Exit => {}
            Scope::Bytes(addr, bytes) => {
                each_granule(addr, bytes, |granule, bytes| {
                    self.find_at(granule, bytes);
                    self.find_exits(thread, granule, bytes);
                });
                self.find_at(FENCES, u8::MAX);
            }
            Scope::Kernel => self.find_at(KERNEL, u8::MAX),
            Scope::Creation(_) => self.find_at(CREATION, u8::MAX),
            Scope::Everywhere => self.find_at(ANY, u8::MAX),
        }
        self.found.retain(|edge| edge.thread != thread);
    }

    fn find_at(&mut self, granule: u64, bytes: u8) {
        let Some(releases) = self.locations.get(&granule) else { return };
        let seen = releases.list.iter().filter(|release| release.bytes & bytes != 0);
        self.found.extend(seen.map(Release::edge));
    }

    /// Finds the thread ends at which the kernel may have cleared one of these bytes. Ends that the
    /// thread has waited for are left out, so a thread that joins many visits each end once.
    fn find_exits(&mut self, thread: usize, granule: u64, bytes: u8) {
        let Some(since) = self.endings.get(&granule) else { return };
        let asked = each_byte(bytes).map(|n| since[n]);
        let Some(since) = asked.min().filter(|rank| *rank < u64::MAX) else { return };
        let Some(exits) = self.locations.get(&EXITS) else { return };
        let seen = &mut self.threads[thread].exits;
        let is_seen = (seen.since..=seen.up_to).contains(&since);
        let from = if is_seen { seen.up_to } else { since };
        *seen = SeenExits { since: if is_seen { seen.since } else { since }, up_to: self.rank };
        let first = exits.list.partition_point(|exit| exit.rank <= from);
        self.found.extend(exits.list[first..].iter().map(Release::edge));
    }

    /// Returns the found edges without those that an earlier wait covers.
    fn settle_edges(&mut self, thread: usize) -> Vec<Edge> {
        let mut edges = Vec::new();
        self.found.sort_unstable_by_key(|edge| (edge.thread, Reverse(edge.rank)));
        self.found.dedup_by_key(|edge| edge.thread);
        for &edge in &self.found {
            if !has_waited(&self.threads, thread, edge) {
                let waited = Waited { rank: edge.rank, at: self.rank };
                self.threads[thread].waited.insert(edge.thread, waited);
                self.threads[edge.thread].refer(edge.rank);
                edges.push(edge);
            }
        }
        edges
    }

    /// Records a release of the last taken hold.
    fn release(&mut self, thread: usize, scope: Scope) {
        match scope {
            Scope::Nowhere => return,
            Scope::Bytes(addr, bytes) => {
                each_granule(addr, bytes, |granule, bytes| self.release_at(thread, granule, bytes));
            }
            Scope::Kernel => self.release_at(thread, KERNEL, u8::MAX),
            Scope::Creation(ending) => {
                self.release_at(thread, CREATION, u8::MAX);
                self.threads[thread].is_maker = true;
                match ending {
                    Some(word) => self.know_ending(word),
                    None => self.has_unknown_ending = true,
                }
            }
            Scope::Exit => {
                if self.has_unknown_ending || self.endings.is_empty() {
                    self.release_at(thread, FENCES, u8::MAX);
                }
                if !self.endings.is_empty() {
                    self.release_at(thread, EXITS, u8::MAX);
                }
            }
            Scope::Everywhere => self.release_at(thread, FENCES, u8::MAX),
        }
        self.release_at(thread, ANY, u8::MAX);
    }

    /// Records that the kernel clears this word at thread ends from now on.
    fn know_ending(&mut self, word: u64) {
        each_granule(word, ENDING_BYTES, |granule, bytes| {
            let since = self.endings.entry(granule).or_insert([u64::MAX; GRANULE as usize]);
            each_byte(bytes).for_each(|n| since[n] = since[n].min(self.rank));
        });
    }

    fn release_at(&mut self, thread: usize, granule: u64, bytes: u8) {
        let Edges { threads, locations, is_whole, rank, .. } = self;
        let releases = locations.entry(granule).or_default();
        threads[thread].refer(*rank);
        let is_cleaned = releases.is_cleaned_next();
        releases.list.retain(|one| {
            let has_waited = || is_cleaned && *is_whole && has_waited(threads, thread, one.edge());
            let is_covered = one.bytes & !bytes == 0 && (one.thread == thread || has_waited());
            if is_covered {
                threads[one.thread].forget(one.rank);
            }
            !is_covered
        });
        if is_cleaned {
            releases.full = 2 * releases.list.len();
        }
        releases.list.push(Release { thread, rank: *rank, bytes });
    }
}

/// Returns true if `thread` waited for `edge`, or if one of its makers had before it made the next
/// thread of the chain.
fn has_waited<A>(threads: &[Thread<A>], thread: usize, edge: Edge) -> bool {
    let (mut one, mut up_to) = (thread, u64::MAX);
    for _ in 0..MOST_MAKERS {
        let Thread { waited, maker, .. } = &threads[one];
        let waited = waited.get(&edge.thread);
        if waited.is_some_and(|waited| waited.rank >= edge.rank && waited.at <= up_to) {
            return true;
        }
        let Some(Maker { edge: made, .. }) = maker.filter(|maker| maker.at <= up_to) else {
            return false;
        };
        (one, up_to) = (made.thread, made.rank);
    }
    false
}

/// Calls `visit` with each granule of a range and the mask of its bytes.
fn each_granule(addr: u64, bytes: u16, mut visit: impl FnMut(u64, u8)) {
    let end = u128::from(addr) + u128::from(bytes.max(1));
    let last = u64::try_from((end - 1) / u128::from(GRANULE)).unwrap_or(u64::MAX);
    for granule in addr / GRANULE..=last {
        let begin = u128::from(granule) * u128::from(GRANULE);
        let of = |n: &u32| (u128::from(addr)..end).contains(&(begin + u128::from(*n)));
        visit(granule, (0..GRANULE as u32).filter(of).map(|n| 1u8 << n).sum());
    }
}

/// Returns the numbers of the bytes set in the mask.
fn each_byte(bytes: u8) -> impl Iterator<Item = usize> {
    (0..GRANULE as usize).filter(move |n| bytes >> n & 1 != 0)
}

#[cfg(test)]
mod tests;
