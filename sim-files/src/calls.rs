//! Calls of the operating system that can fail, counted, so that a test can make each of them fail in turn.
//!
//! A build with debug assertions reads the variable `N2SIM_FAIL_CALL`: with `17` the 17th call fails, with `17+`
//! that one and all after it, with `Rename 2` the second one of this kind. A release build counts nothing and reads
//! no variable. With `N2SIM_REFUSE_MEMORY=17` the 17th reservation of each account of memory is refused
//! (`sim_core::MemoryBudget`; a number alone). `N2SIM_COUNT_CALLS` has the program print how many calls and reservations it made.

use std::io;

/// What is asked of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Open a file, or make one.
    Open,
    /// Read bytes.
    Read,
    /// Write bytes.
    Write,
    /// Bring a file or a folder to the disk.
    Sync,
    /// Give a file its name.
    Rename,
    /// Start a process.
    Spawn,
    /// Make memory that processes share.
    Memory,
}

/// Counts a call that is about to be made.
///
/// # Errors
/// EIO if the environment says that this call is to fail.
#[inline]
pub(crate) fn before(call: Call) -> io::Result<()> {
    #[cfg(debug_assertions)]
    return counted::before(call);
    #[cfg(not(debug_assertions))]
    {
        let _ = call;
        Ok(())
    }
}

/// Returns the number of calls so far, and which of them was made to fail. Always 0 and none in a release build.
pub fn made() -> (u64, Option<Call>) {
    #[cfg(debug_assertions)]
    return counted::made();
    #[cfg(not(debug_assertions))]
    (0, None)
}

#[cfg(debug_assertions)]
mod counted {
    use super::Call;
    use std::io;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{LazyLock, OnceLock};

    /// EIO of Linux.
    const EIO: i32 = 5;

    /// Which calls fail.
    struct Fails {
        /// Of this kind alone.
        kind: Option<String>,
        first: u64,
        /// All after it fail too.
        goes_on: bool,
    }

    static MADE: AtomicU64 = AtomicU64::new(0);
    /// Calls of the kind that fails.
    static OF_KIND: AtomicU64 = AtomicU64::new(0);
    static FAILED: OnceLock<Call> = OnceLock::new();
    static FAILS: LazyLock<Option<Fails>> = LazyLock::new(|| {
        let text = std::env::var("N2SIM_FAIL_CALL").ok()?;
        let (kind, number) = match text.split_once(' ') {
            Some((kind, number)) => (Some(kind.to_owned()), number),
            None => (None, &*text),
        };
        let all_after = number.strip_suffix('+');
        let first = all_after.unwrap_or(number).parse().ok()?;
        Some(Fails { kind, first, goes_on: all_after.is_some() })
    });

    pub(super) fn before(call: Call) -> io::Result<()> {
        let mut number = MADE.fetch_add(1, Ordering::Relaxed) + 1;
        let Some(fails) = &*FAILS else { return Ok(()) };
        if let Some(kind) = &fails.kind {
            if *kind != format!("{call:?}") {
                return Ok(());
            }
            number = OF_KIND.fetch_add(1, Ordering::Relaxed) + 1;
        }
        if number == fails.first || fails.goes_on && number > fails.first {
            FAILED.get_or_init(|| call);
            return Err(io::Error::from_raw_os_error(EIO));
        }
        Ok(())
    }

    pub(super) fn made() -> (u64, Option<Call>) {
        (MADE.load(Ordering::Relaxed), FAILED.get().copied())
    }
}
