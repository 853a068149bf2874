//! Counted system calls, so that a test can make each one fail in turn.
//!
//! A build with debug assertions reads three environment variables; a release build counts no calls
//! and reads none of them.
//!
//! * `N2SIM_FAIL_CALL`: with `17` the 17th call fails, with `17+` the 17th call and all later ones,
//!   with `Rename 2` the second rename.
//! * `N2SIM_REFUSE_MEMORY`: with `17` each `sim_core::MemoryBudget` refuses its 17th reservation.
//! * `N2SIM_COUNT_CALLS`: the program prints the number of its calls and reservations.

use std::io;

/// Kind of a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Open or create a file.
    Open,
    /// Read bytes.
    Read,
    /// Write bytes.
    Write,
    /// Sync a file or directory to the disk.
    Sync,
    /// Rename a file.
    Rename,
    /// Start a process.
    Spawn,
    /// Create shared memory.
    Memory,
}

/// Counts a call that is about to be made.
///
/// # Errors
/// Returns EIO if the environment selects this call to fail.
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

/// Returns the number of calls so far and the kind of the first failed call. A release build
/// returns `(0, None)`.
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

    /// Number of `EIO` on Linux.
    const EIO: i32 = 5;

    /// Selection of the calls that fail.
    struct Fails {
        /// Kind of the counted calls; all kinds if `None`.
        kind: Option<String>,
        first: u64,
        /// True if all later calls fail too.
        goes_on: bool,
    }

    static MADE: AtomicU64 = AtomicU64::new(0);
    /// Number of calls of the selected kind.
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
