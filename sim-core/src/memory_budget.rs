//! Account of host memory: one limit for all memory of a replay, or of all runs of a sweep, checked
//! before each allocation.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Limit on the host memory of one replay, or of several replays that share the account, and the
/// bytes in use. Clones share the account.
///
/// ```
/// use sim_core::MemoryBudget;
/// let budget = MemoryBudget::new(1000);
/// let kept = budget.reserve(600, "caches")?;
/// assert!(budget.reserve(600, "code").is_err());
/// drop(kept);
/// assert!(budget.reserve(600, "code").is_ok());
/// # Ok::<(), sim_core::OverBudget>(())
/// ```
#[derive(Clone, Debug)]
pub struct MemoryBudget {
    account: Arc<Account>,
}

#[derive(Debug)]
struct Account {
    limit: u64,
    used: AtomicU64,
    /// Number of reservations so far.
    #[cfg(debug_assertions)]
    asked: AtomicU64,
    /// Number of the reservation to refuse, whatever its size, so that tests can make each one
    /// fail.
    #[cfg(debug_assertions)]
    refused: u64,
}

/// Error of a reservation that exceeds the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{what} need at least {} of memory in total, the limit is {}; raise it with --max-memory",
    Size(*.needed), Size(*.limit)
)]
pub struct OverBudget {
    /// Use of the memory, in the plural.
    pub what: &'static str,
    /// Bytes that would be in use in total.
    pub needed: u64,
    /// Limit on the bytes in use.
    pub limit: u64,
}

/// A size in bytes, printed in the largest unit that leaves a nonzero digit before the point.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n >= 1 << 30 => write!(f, "{:.1} GiB", n as f64 / f64::from(1 << 30)),
            n if n >= 1 << 20 => write!(f, "{:.1} MiB", n as f64 / f64::from(1 << 20)),
            n => write!(f, "{n} bytes"),
        }
    }
}

impl MemoryBudget {
    /// Limit of [`MemoryBudget::default`] in bytes.
    pub const DEFAULT: u64 = 8 << 30;

    /// Creates an account with a limit in bytes and nothing in use.
    pub fn new(limit: u64) -> MemoryBudget {
        MemoryBudget::with(Account {
            limit,
            used: AtomicU64::new(0),
            #[cfg(debug_assertions)]
            asked: AtomicU64::new(0),
            #[cfg(debug_assertions)]
            refused: 0,
        })
    }

    /// Creates an account that refuses reservation `number`, counted from 1, as if it exceeded the
    /// limit. Used by tests of the error path; present only with debug assertions.
    #[cfg(debug_assertions)]
    pub fn refusing(limit: u64, number: u64) -> MemoryBudget {
        let (used, asked) = (AtomicU64::new(0), AtomicU64::new(0));
        MemoryBudget::with(Account { limit, used, asked, refused: number })
    }

    fn with(account: Account) -> MemoryBudget {
        MemoryBudget { account: Arc::new(account) }
    }

    /// Returns the limit in bytes.
    pub fn limit(&self) -> u64 {
        self.account.limit
    }

    /// Returns the bytes in use.
    pub fn used(&self) -> u64 {
        self.account.used.load(Ordering::Relaxed)
    }

    /// Returns the number of reservations so far, granted or not. Used by tests; present only with
    /// debug assertions.
    #[cfg(debug_assertions)]
    pub fn asked(&self) -> u64 {
        self.account.asked.load(Ordering::Relaxed)
    }

    /// Reserves memory before it is allocated. Dropping the result releases it. `what` names the
    /// use in the plural.
    ///
    /// # Errors
    /// The limit would be exceeded. Nothing is reserved then.
    pub fn reserve(&self, bytes: u64, what: &'static str) -> Result<Reserved, OverBudget> {
        let mut reserved = Reserved { budget: self.clone(), bytes: 0, what };
        reserved.grow(bytes)?;
        Ok(reserved)
    }
}

impl Account {
    /// Counts a reservation. Returns true if a test requires its refusal.
    #[inline]
    fn is_refused(&self) -> bool {
        #[cfg(debug_assertions)]
        return self.asked.fetch_add(1, Ordering::Relaxed) + 1 == self.refused;
        #[cfg(not(debug_assertions))]
        false
    }
}

impl Default for MemoryBudget {
    /// Returns an account with a limit that does not depend on the host, [`MemoryBudget::DEFAULT`].
    fn default() -> MemoryBudget {
        MemoryBudget::new(MemoryBudget::DEFAULT)
    }
}

/// Memory reserved in a [`MemoryBudget`] until this value is dropped.
#[derive(Debug)]
pub struct Reserved {
    budget: MemoryBudget,
    bytes: u64,
    what: &'static str,
}

impl Reserved {
    /// Reserves more memory.
    ///
    /// # Errors
    /// The limit would be exceeded. Earlier reservations stay.
    #[inline]
    pub fn grow(&mut self, bytes: u64) -> Result<(), OverBudget> {
        let Account { limit, used, .. } = &*self.budget.account;
        let is_refused = self.budget.account.is_refused();
        let fits =
            |before: u64| before.checked_add(bytes).filter(|needed| needed <= limit && !is_refused);
        // One atomic step: a refused reservation must not block one of another thread.
        used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).map_err(|before| {
            let needed = before.saturating_add(bytes);
            OverBudget { what: self.what, needed, limit: *limit }
        })?;
        self.bytes += bytes;
        Ok(())
    }

    /// Releases `bytes` of the reserved memory, at most all of it.
    pub fn shrink(&mut self, bytes: u64) {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        self.budget.account.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.shrink(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_memory_is_released_and_refused_memory_is_not_reserved() {
        let budget = MemoryBudget::new(10 << 20);
        let mut kept = budget.reserve(6 << 20, "cores").expect("it fits");
        let message = budget.reserve(5 << 20, "threads").expect_err("it does not fit").to_string();
        assert_eq!(
            message,
            "threads need at least 11.0 MiB of memory in total, the limit is 10.0 MiB; raise it with --max-memory"
        );
        kept.grow(4 << 20).expect("to the last byte");
        kept.shrink(1 << 20);
        assert_eq!(budget.used(), 9 << 20);
        drop(kept);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    #[cfg(debug_assertions)]
    fn a_refused_reservation_reserves_nothing_and_the_next_is_granted() {
        let budget = MemoryBudget::refusing(1000, 2);
        let mut kept = budget.reserve(1, "cores").expect("the first");
        assert!(kept.grow(1).is_err());
        kept.grow(1).expect("the third");
        assert_eq!(budget.used(), 2);
    }
}
