//! Copies of guest memory that other threads of the guest may write at the same time.

use std::sync::atomic::{AtomicU64, Ordering};

/// Copies `words` words from `from`. Each word has a value that it held at some time during the
/// copy.
///
/// # Safety
/// The words must be mapped, readable and aligned while this function runs.
pub(crate) unsafe fn copy(from: *const u64, words: usize) -> Vec<u64> {
    let word = |index| {
        // SAFETY: as promised by the caller. The load is atomic because another thread may write
        // code meanwhile (a JIT).
        unsafe { AtomicU64::from_ptr(from.add(index).cast_mut()) }.load(Ordering::Relaxed)
    };
    (0..words).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_can_be_copied_while_another_thread_writes_it() {
        let page: Vec<AtomicU64> = (0..512).map(|_| AtomicU64::new(1)).collect();
        std::thread::scope(|scope| {
            scope.spawn(|| page.iter().for_each(|word| word.store(2, Ordering::Relaxed)));
            // SAFETY: the words live as long as the scope.
            let copied = unsafe { copy(page.as_ptr().cast(), page.len()) };
            assert!(copied.iter().all(|word| matches!(word, 1 | 2)));
        });
    }
}
