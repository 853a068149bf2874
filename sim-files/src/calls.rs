//! Calls of the operating system that can fail, counted, so that a test can make each of them fail in turn.
//!
//! A build with debug assertions reads the variable `N2SIM_FAIL_CALL`: with `17` the 17th call fails, with `17+`
//! that one and all after it. A release build counts nothing and reads no variable.

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

    static MADE: AtomicU64 = AtomicU64::new(0);
    static FAILED: OnceLock<Call> = OnceLock::new();
    /// The first call that fails, and whether all after it fail too.
    static FAILS: LazyLock<Option<(u64, bool)>> = LazyLock::new(|| {
        let text = std::env::var("N2SIM_FAIL_CALL").ok()?;
        let number = text.strip_suffix('+');
        Some((number.unwrap_or(&text).parse().ok()?, number.is_some()))
    });

    pub(super) fn before(call: Call) -> io::Result<()> {
        let number = MADE.fetch_add(1, Ordering::Relaxed) + 1;
        match *FAILS {
            Some((first, goes_on)) if number == first || goes_on && number > first => {
                FAILED.get_or_init(|| call);
                Err(io::Error::from_raw_os_error(EIO))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn made() -> (u64, Option<Call>) {
        (MADE.load(Ordering::Relaxed), FAILED.get().copied())
    }
}
