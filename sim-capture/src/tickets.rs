//! Tickets: numbers from one counter that order the synchronizing instructions of all threads
//! (docs/trace-format.md, Ticket).
//!
//! Threads take tickets only once a second thread shares the memory of the program.

use crate::wire::Word;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Number of the next ticket.
static NEXT: AtomicU64 = AtomicU64::new(0);
/// Number of running threads.
static LIVE: AtomicU64 = AtomicU64::new(0);
/// State of the process: [`ONE`], [`SEVERAL`] or [`LAST`].
static THREADS: AtomicU8 = AtomicU8::new(ONE);
/// State: one thread, which takes no tickets.
const ONE: u8 = 0;
/// State: several threads, or a second one about to begin.
const SEVERAL: u8 = 1;
/// State: one thread remains, which has yet to take a ticket after the last one of the others.
const LAST: u8 = 2;

/// Number of the system call that creates a thread or process.
const CLONE: i64 = 220;
/// Flag in the first argument of `clone` that requests a thread.
const CLONE_THREAD: u64 = 0x1_0000;

/// Records that a thread runs its first block.
pub(crate) fn thread_begins() {
    if LIVE.fetch_add(1, Ordering::SeqCst) > 0 {
        THREADS.store(SEVERAL, Ordering::SeqCst);
    }
}

/// Records that a thread has ended.
pub(crate) fn thread_ends() {
    if LIVE.fetch_sub(1, Ordering::SeqCst) == 2 {
        THREADS.store(LAST, Ordering::SeqCst);
        // Another thread may have begun between the two.
        if LIVE.load(Ordering::SeqCst) > 1 {
            THREADS.store(SEVERAL, Ordering::SeqCst);
        }
    }
}

/// Records that a system call begins.
pub(crate) fn note_syscall(number: i64, x0: u64) {
    if number == CLONE && x0 & CLONE_THREAD != 0 {
        THREADS.store(SEVERAL, Ordering::Relaxed);
    }
}

/// Takes a ticket for instruction `index` of the running block, or for the next block
/// ([`NEXT_BLOCK`](crate::wire::NEXT_BLOCK)). Returns its words, or `None` while there is one
/// thread.
#[inline]
pub(crate) fn take(index: u32) -> Option<[u64; 2]> {
    match THREADS.load(Ordering::Relaxed) {
        ONE => return None,
        LAST => {
            // Fails if another thread has begun meanwhile.
            let (from, to, order) = (LAST, ONE, Ordering::Relaxed);
            let _ = THREADS.compare_exchange(from, to, order, order);
        }
        _ => {}
    }
    // Nothing may be reordered between this number and the access that it orders.
    let number = NEXT.fetch_add(1, Ordering::SeqCst);
    Some([Word::Ticket(index).encode(), number])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire;

    #[test]
    fn threads_take_tickets_only_while_there_are_several() {
        thread_begins();
        assert_eq!(take(3), None);
        note_syscall(CLONE, 0x11);
        assert_eq!(take(3), None, "a process");
        note_syscall(CLONE, CLONE_THREAD);
        assert_eq!(take(3), Some([Word::Ticket(3).encode(), 0]));
        thread_begins();
        assert_eq!(take(wire::NEXT_BLOCK), Some([Word::Ticket(wire::NEXT_BLOCK).encode(), 1]));
        thread_ends();
        assert!(take(3).is_some(), "the last thread is ordered after the other one");
        assert_eq!(take(3), None);
    }
}
