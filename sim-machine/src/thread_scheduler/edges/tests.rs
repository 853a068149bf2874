//! The kept data of many threads grow with their number, not with its square.

use std::vec::IntoIter;

use super::*;

const THREADS: u64 = 2_000;
const LOCK: Scope = Scope::Bytes(0x8000, 4);

/// Returns the word that the kernel clears when this thread ends.
fn ending(made: u64) -> u64 {
    0x9000 + 0x1000 * made
}

/// Threads whose tickets are taken in the order of the list.
#[derive(Default)]
struct Program {
    threads: Vec<Vec<Arrival>>,
    order: u64,
}

impl Program {
    fn add(&mut self, thread: u64, acquires: Scope, releases: Scope) {
        let thread = thread as usize;
        self.threads.resize_with(self.threads.len().max(thread + 1), Vec::new);
        let position = self.threads[thread].len() as u64;
        self.threads[thread].push(Arrival { position, order: self.order, acquires, releases });
        self.order += 1;
    }

    fn make(&mut self, maker: u64, made: u64) {
        self.add(maker, Scope::Nowhere, Scope::Creation(Some(ending(made))));
        self.add(made, Scope::Creation(None), Scope::Nowhere);
    }

    fn end(&mut self, thread: u64) {
        self.add(thread, Scope::Nowhere, Scope::Exit);
    }

    fn join(&mut self, maker: u64, made: u64) {
        self.add(maker, Scope::Bytes(ending(made), 4), Scope::Nowhere);
    }
}

/// Sizes of the kept data.
#[derive(Debug)]
struct Kept {
    /// Most edges of one hold.
    edges: usize,
    /// Wait entries of all threads.
    waited: usize,
    /// Most releases to one location.
    releases: usize,
    /// Releases to all locations.
    all_releases: usize,
}

/// Returns what is kept of a program that makes threads.
fn kept(program: Program, is_whole: bool) -> Kept {
    let threads: Vec<IntoIter<Arrival>> = program.threads.into_iter().map(Vec::into_iter).collect();
    let count = threads.len();
    let mut edges = Edges::new(threads, is_whole).expect("scripts do not fail");
    let mut most = 0;
    for thread in 0..count {
        while let Some(hold) = edges.next_hold(thread).expect("scripts do not fail") {
            most = most.max(hold.edges.len());
            edges.pass(thread);
        }
    }
    Kept {
        edges: most,
        waited: edges.threads.iter().map(|thread| thread.waited.len()).sum(),
        releases: edges.locations.values().map(|one| one.list.len()).max().unwrap_or(0),
        all_releases: edges.locations.values().map(|one| one.list.len()).sum(),
    }
}

fn made_and_joined() -> Program {
    let mut program = Program::default();
    for made in 1..=THREADS {
        program.make(0, made);
        program.end(made);
        program.join(0, made);
    }
    program
}

#[test]
fn a_made_and_joined_thread_leaves_one_entry() {
    let kept = kept(made_and_joined(), true);
    assert!(kept.edges <= 2, "{kept:?}");
    assert!(kept.waited <= THREADS as usize, "its maker has waited for its end: {kept:?}");
    assert!(kept.releases <= FEW, "{kept:?}");
}

#[test]
fn concurrent_threads_leave_an_entry_each() {
    let mut program = Program::default();
    (1..=THREADS).for_each(|made| program.make(0, made));
    (1..=THREADS).for_each(|made| program.end(made));
    (1..=THREADS).for_each(|made| program.join(0, made));
    let kept = kept(program, true);
    assert!(kept.waited <= THREADS as usize, "{kept:?}");
    assert!(kept.all_releases <= 3 * THREADS as usize, "not one for each of their words: {kept:?}");
}

#[test]
fn a_release_replaces_an_earlier_one_of_its_thread() {
    let mut program = Program::default();
    for _ in 0..3 {
        (0..THREADS).for_each(|thread| program.add(thread, Scope::Nowhere, LOCK));
    }
    assert_eq!(kept(program, true).releases, THREADS as usize);
}

#[test]
fn threads_that_may_stop_early_wait_for_each_release_themselves() {
    let kept = kept(made_and_joined(), false);
    assert!(kept.releases >= THREADS as usize, "{kept:?}");
}

#[test]
fn a_lock_that_is_handed_on_is_waited_for_once() {
    let mut program = Program::default();
    for made in 1..=THREADS {
        program.make(0, made);
        program.add(made, LOCK, Scope::Nowhere);
        program.add(made, Scope::Nowhere, LOCK);
        program.end(made);
    }
    let kept = kept(program, true);
    assert!(kept.edges <= 2, "{kept:?}");
    assert_eq!(kept.waited, 0, "none of those that have ended made another one: {kept:?}");
}

#[test]
fn a_chain_of_makers_may_have_any_length() {
    let mut program = Program::default();
    for made in 1..=THREADS {
        program.make(made - 1, made);
        program.end(made - 1);
    }
    let kept = kept(program, true);
    assert!(kept.edges <= 2, "{kept:?}");
    assert!(kept.waited <= THREADS as usize, "each has waited for its maker: {kept:?}");
}
