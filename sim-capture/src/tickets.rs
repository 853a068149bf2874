//! Tickets: numbers from one counter that order the synchronizing instructions of all threads
//! (docs/trace-format.md, Ticket).
//!
//! Threads take tickets from the moment a second thread shares the memory of the program, to its
//! end; processors of a system that has several, from the start of the recording. A thread that is
//! left alone continues to take them: its acquires may read what a thread that has ended released,
//! and only their own tickets show which acquires follow that release.

use crate::wire::Word;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Number of the next ticket.
static NEXT: AtomicU64 = AtomicU64::new(0);
/// A thread has begun.
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
/// A second thread has begun, or is about to begin.
static IS_SHARED: AtomicBool = AtomicBool::new(false);

/// Number of the system call that creates a thread or process.
const CLONE: i64 = 220;
/// Flag in the first argument of `clone` that requests a thread.
const CLONE_THREAD: u64 = 0x1_0000;

/// Makes all threads take tickets from now on.
pub(crate) fn share() {
    IS_SHARED.store(true, Ordering::SeqCst);
}

/// Records that a thread runs its first block.
pub(crate) fn thread_begins() {
    if HAS_BEGUN.swap(true, Ordering::SeqCst) {
        share();
    }
}

/// Records that a system call begins.
pub(crate) fn note_syscall(number: i64, x0: u64) {
    if number == CLONE && x0 & CLONE_THREAD != 0 {
        IS_SHARED.store(true, Ordering::Relaxed);
    }
}

/// Takes a ticket for instruction `index` of the running block, or for the next block
/// ([`NEXT_BLOCK`](crate::wire::NEXT_BLOCK)). Returns its words, or `None` before there is a second
/// thread.
#[inline]
pub(crate) fn take(index: u32) -> Option<[u64; 2]> {
    if !IS_SHARED.load(Ordering::Relaxed) {
        return None;
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
    fn threads_take_tickets_from_the_second_thread_on() {
        thread_begins();
        assert_eq!(take(3), None);
        note_syscall(CLONE, 0x11);
        assert_eq!(take(3), None, "a process");
        note_syscall(CLONE, CLONE_THREAD);
        assert_eq!(take(3), Some([Word::Ticket(3).encode(), 0]));
        thread_begins();
        assert_eq!(take(wire::NEXT_BLOCK), Some([Word::Ticket(wire::NEXT_BLOCK).encode(), 1]));
    }
}
