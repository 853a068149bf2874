//! Which instructions wait for which, by happens-before alone: derived from the tickets of all threads and from what
//! each of them does (docs/capture.md, Threads).
//!
//! The tickets of all streams are taken in the order of their numbers. An acquire waits, for each other thread, for the
//! last release to the bytes that it reads. Where it is not known which bytes carry a release or an acquire, they are
//! taken to be all. Every edge leads to a ticket that was taken before, so there is no circle of them.
//!
//! A release removes the releases to the same bytes that its thread had waited for: an acquire that waits for it comes
//! after them too. So threads that hand one lock on, or that are joined, leave one release there, not one each. Lists
//! longer than [`FEW`] are cleaned when they are full. A release of the same thread is replaced at once.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rustc_hash::FxHashMap;

use crate::error::MachineError;

/// Bytes of a place in the table of locations.
const GRANULE: u64 = 8;
/// Bytes of the word that the system clears when a thread ends.
const ENDING_BYTES: u16 = 4;
/// Granule that no address has: what system calls release and acquire.
const KERNEL: u64 = u64::MAX;
/// Granule that no address has: what threads are made by.
const CREATION: u64 = u64::MAX - 1;
/// Granule that no address has: releases that may have been to any location.
const FENCES: u64 = u64::MAX - 2;
/// Granule that no address has: releases of every kind.
const ANY: u64 = u64::MAX - 3;
/// Granule that no address has: ends of threads, at which the system clears a word. One release stands for all words that
/// are known, so that ends take memory for each thread, not for each thread and word.
const EXITS: u64 = u64::MAX - 4;

/// Where an acquire or a release takes effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Nowhere: it is none.
    #[default]
    Nowhere,
    /// These bytes.
    Bytes(u64, u16),
    /// In the operating system.
    Kernel,
    /// A thread is made, or begins; the word that the system clears at its end, if that is known.
    Creation(Option<u64>),
    /// A thread ends: the words of all threads that were made.
    Exit,
    /// Every location.
    Everywhere,
}

/// A ticket, and what its instruction does there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// Number of the instruction in its stream.
    pub(super) position: u64,
    /// Number among the tickets of all streams.
    pub(super) order: u64,
    /// What it waits for.
    pub(super) acquires: Scope,
    /// What may wait for it.
    pub(super) releases: Scope,
}

/// Where the tickets of one thread come from, in order.
pub(crate) trait Arrivals {
    /// Returns the next ticket; `None` after the last.
    fn next_arrival(&mut self) -> Result<Option<Arrival>, MachineError>;

    /// The order of the first one, for which nothing is kept open; `None` if there is none.
    fn first_order(&self) -> Result<Option<u64>, MachineError>;
}

/// A place of another thread that is to be passed first.
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
    /// Its place among all that was taken; rises from 1.
    pub(super) rank: u64,
    /// How many edges lead here, or may come to do so.
    references: u32,
    /// What it waits for.
    pub(super) edges: Vec<Edge>,
}

impl Hold {
    /// No thread will ever wait for it.
    pub(super) fn is_no_release(&self) -> bool {
        self.references == 0
    }

    fn is_dead(&self) -> bool {
        self.references == 0 && self.edges.is_empty()
    }
}

/// A release of a thread to some bytes of a granule.
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

/// The releases to one granule, by rising rank.
#[derive(Debug, Default)]
struct Releases {
    list: Vec<Release>,
    /// The length at which a list that is longer than [`FEW`] is full.
    full: usize,
}

impl Releases {
    /// Returns true if the next release looks for those that its thread had waited for. Each look is a search among
    /// what the thread has seen, so a long list has to double between two times.
    fn is_cleaned_next(&self) -> bool {
        self.list.len() <= FEW || self.list.len() >= self.full
    }
}

/// The ends of threads that a thread has waited for: all whose ranks are above `since`, up to `up_to`.
#[derive(Clone, Copy, Debug)]
struct SeenExits {
    since: u64,
    up_to: u64,
}

impl SeenExits {
    const NONE: SeenExits = SeenExits { since: u64::MAX, up_to: 0 };
}

/// One thread.
struct Thread<A> {
    /// Where the tickets come from, until the last one was read.
    arrivals: Option<A>,
    /// The next ticket that is not taken yet; the first is read when its turn comes.
    head: Option<Arrival>,
    /// Order of the next ticket; `None` after the last.
    next_order: Option<u64>,
    /// What it has yet to pass, in order.
    holds: VecDeque<Hold>,
    /// Dead ones among them.
    dead: usize,
    /// How far the thread has waited for each other one that it has waited for. Emptied after its last ticket if it made no
    /// other thread.
    waited: FxHashMap<usize, Waited>,
    /// The ends of threads among them that were found at [`EXITS`].
    exits: SeenExits,
    /// It may have made another one.
    is_maker: bool,
    /// The thread that made it. What that had waited for up to the place of the edge, it has waited for too.
    maker: Option<Maker>,
}

/// The thread that made another one.
#[derive(Clone, Copy, Debug)]
struct Maker {
    /// The maker, and where it was when the other one began.
    edge: Edge,
    /// The place of the other one where it waited for that.
    at: u64,
}

/// How far a thread has waited for another one.
#[derive(Clone, Copy, Debug)]
struct Waited {
    /// Up to this place of the other.
    rank: u64,
    /// Its own place where it did.
    at: u64,
}

/// Length of the chain of makers that [`has_waited`] follows.
const MOST_MAKERS: usize = 8;

/// A list of at most so many releases is cleaned before each new one; a longer one when it is full.
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

    /// Takes the ticket that comes next.
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
    /// One edge less may lead to the hold of this rank, if it is not passed.
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

    /// One edge more leads to the hold of this rank, if it is not passed.
    fn refer(&mut self, rank: u64) {
        if let Ok(at) = self.holds.binary_search_by_key(&rank, |hold| hold.rank) {
            self.holds[at].references += 1;
        }
    }
}

/// Takes the tickets of all threads in their order, as far as is asked for.
pub(super) struct Edges<A> {
    threads: Vec<Thread<A>>,
    /// Order of the next ticket of each thread that has one, lowest first.
    heads: BinaryHeap<Reverse<(u64, usize)>>,
    /// What was released, by granule; no loop goes over all of it.
    locations: FxHashMap<u64, Releases>,
    /// By granule: the rank from which on the system clears each byte at the end of a thread; `u64::MAX` if it does not.
    endings: FxHashMap<u64, [u64; GRANULE as usize]>,
    /// A thread was made whose word is not known.
    has_unknown_ending: bool,
    /// Each thread runs to the last of its tickets, so that it really waits where it has to.
    is_whole: bool,
    rank: u64,
    found: Vec<Edge>,
}

impl<A: Arrivals> Edges<A> {
    /// The edges among threads with these tickets. If not `is_whole`, a thread may end before the last of its tickets.
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

    /// The instruction that [`Edges::next_hold`] named is passed.
    pub(super) fn pass(&mut self, thread: usize) {
        self.threads[thread].holds.pop_front();
    }

    /// What a thread waits for that stands before this instruction.
    pub(super) fn edges(&self, thread: usize, position: u64) -> &[Edge] {
        // Of an instruction with two holds the first may have become no concern of others: the second counts then.
        let mut holds = self.threads[thread].holds.iter();
        let here = holds.find(|hold| !hold.is_dead()).filter(|hold| hold.position <= position);
        here.map_or(&[], |hold| &hold.edges)
    }

    /// True once a thread stands before nothing up to this rank, which was taken.
    pub(super) fn has_passed(&self, edge: &Edge) -> bool {
        self.threads[edge.thread].holds.front().is_none_or(|hold| hold.rank > edge.rank)
    }

    /// How many instructions of a thread are kept.
    #[cfg(test)]
    pub(super) fn held(&self, thread: usize) -> usize {
        self.threads[thread].holds.len()
    }

    /// Takes the lowest ticket of all.
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

    /// What an acquire of this thread waits for.
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

    /// Finds the ends of threads at which the system may have cleared one of these bytes, without those that the thread has
    /// waited for: a thread that joins many looks at each end once.
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

    /// The edges that were found, without those that an earlier wait of the thread has answered.
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

    /// The hold that was taken last is a release.
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

    /// From here on the system clears this word when a thread ends.
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

/// Calls `visit` with each granule of these bytes, and which of its bytes they are.
fn each_granule(addr: u64, bytes: u16, mut visit: impl FnMut(u64, u8)) {
    let end = u128::from(addr) + u128::from(bytes.max(1));
    let last = u64::try_from((end - 1) / u128::from(GRANULE)).unwrap_or(u64::MAX);
    for granule in addr / GRANULE..=last {
        let begin = u128::from(granule) * u128::from(GRANULE);
        let of = |n: &u32| (u128::from(addr)..end).contains(&(begin + u128::from(*n)));
        visit(granule, (0..GRANULE as u32).filter(of).map(|n| 1u8 << n).sum());
    }
}

/// The numbers of the bytes of a granule that are set in `bytes`.
fn each_byte(bytes: u8) -> impl Iterator<Item = usize> {
    (0..GRANULE as usize).filter(move |n| bytes >> n & 1 != 0)
}

#[cfg(test)]
mod tests;
