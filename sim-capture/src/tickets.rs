//! Numbers for what threads do to synchronize, from one counter, so that their order is known afterwards
//! (docs/trace-format.md, Ticket).
//!
//! A program has them from its first thread on that shares its memory; one thread alone has no use for them.

use crate::wire::Word;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// The next number.
static NEXT: AtomicU64 = AtomicU64::new(0);
/// Threads that run.
static LIVE: AtomicU64 = AtomicU64::new(0);
/// [`ALONE`], [`SHARED`] or [`LEFT`].
static COMPANY: AtomicU8 = AtomicU8::new(ALONE);
/// There is one thread.
const ALONE: u8 = 0;
/// There are several, or will be at once.
const SHARED: u8 = 1;
/// One is left, and has not yet taken the number that puts it behind the others' last.
const LEFT: u8 = 2;

/// System call that makes a thread, or a process.
const CLONE: i64 = 220;
/// Flag of its first argument: a thread.
const CLONE_THREAD: u64 = 0x1_0000;

/// A thread runs its first block.
pub(crate) fn thread_begins() {
    if LIVE.fetch_add(1, Ordering::SeqCst) > 0 {
        COMPANY.store(SHARED, Ordering::SeqCst);
    }
}

/// A thread has ended.
pub(crate) fn thread_ends() {
    if LIVE.fetch_sub(1, Ordering::SeqCst) == 2 {
        COMPANY.store(LEFT, Ordering::SeqCst);
        // Another one may have begun between the two.
        if LIVE.load(Ordering::SeqCst) > 1 {
            COMPANY.store(SHARED, Ordering::SeqCst);
        }
    }
}

/// A system call begins.
pub(crate) fn note_syscall(number: i64, x0: u64) {
    if number == CLONE && x0 & CLONE_THREAD != 0 {
        COMPANY.store(SHARED, Ordering::Relaxed);
    }
}

/// The words for a number taken now, of instruction `index` of the running block or of
/// [`NEXT_BLOCK`](crate::wire::NEXT_BLOCK); `None` while there is one thread.
#[inline]
pub(crate) fn take(index: u32) -> Option<[u64; 2]> {
    match COMPANY.load(Ordering::Relaxed) {
        ALONE => return None,
        LEFT => {
            // Fails if another thread has begun meanwhile.
            let (from, to, order) = (LEFT, ALONE, Ordering::Relaxed);
            let _ = COMPANY.compare_exchange(from, to, order, order);
        }
        _ => {}
    }
    // Between this and the access that it orders nothing may be moved.
    let number = NEXT.fetch_add(1, Ordering::SeqCst);
    Some([Word::Ticket(index).encode(), number])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire;

    #[test]
    fn only_threads_of_several_have_numbers() {
        thread_begins();
        assert_eq!(take(3), None);
        note_syscall(CLONE, 0x11);
        assert_eq!(take(3), None, "a process");
        note_syscall(CLONE, CLONE_THREAD);
        assert_eq!(take(3), Some([Word::Ticket(3).encode(), 0]));
        thread_begins();
        assert_eq!(take(wire::NEXT_BLOCK), Some([Word::Ticket(wire::NEXT_BLOCK).encode(), 1]));
        thread_ends();
        assert!(take(3).is_some(), "one is left, behind what the other did");
        assert_eq!(take(3), None);
    }
}
