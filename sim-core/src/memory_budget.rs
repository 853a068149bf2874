//! The account of host memory: one limit for everything that a replay, or all runs of a sweep, keep, checked before memory
//! is taken.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of host memory that may be taken by one replay, or by several that share the account: one limit, and what of it is
/// in use. Clones share the account.
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
    /// Reservations so far, and the one that is refused whatever its size: tests make each fail in turn.
    #[cfg(debug_assertions)]
    asked: AtomicU64,
    #[cfg(debug_assertions)]
    refused: u64,
}

/// More memory is needed than the limit allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{what} need at least {} of memory in all, the limit is {}; raise it with --max-memory",
    Size(*.needed), Size(*.limit)
)]
pub struct OverBudget {
    /// Use of the memory, in the plural.
    pub what: &'static str,
    /// Bytes that would be in use, all uses together.
    pub needed: u64,
    /// Bytes that may be in use.
    pub limit: u64,
}

/// Bytes, in the largest unit that leaves a digit before the point.
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

    /// An account of which nothing is used, with a limit in bytes.
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

    /// A new account, which refuses the reservation with this number, counted from 1, as if the limit were
    /// exceeded. For tests of what follows; only builds with debug assertions have it.
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

    /// Returns the number of reservations so far, granted or not. For tests; only builds with debug assertions have it.
    #[cfg(debug_assertions)]
    pub fn asked(&self) -> u64 {
        self.account.asked.load(Ordering::Relaxed)
    }

    /// Reserves memory before it is taken; dropping the result gives it back. `what` names its use in the plural.
    ///
    /// # Errors
    /// If the limit would be exceeded; nothing is reserved then.
    pub fn reserve(&self, bytes: u64, what: &'static str) -> Result<Reserved, OverBudget> {
        let mut reserved = Reserved { budget: self.clone(), bytes: 0, what };
        reserved.grow(bytes)?;
        Ok(reserved)
    }
}

impl Account {
    /// True if the reservation that is asked for is the one that a test has refused.
    #[inline]
    fn is_refused(&self) -> bool {
        #[cfg(debug_assertions)]
        return self.asked.fetch_add(1, Ordering::Relaxed) + 1 == self.refused;
        #[cfg(not(debug_assertions))]
        false
    }
}

impl Default for MemoryBudget {
    /// An account with a limit that does not depend on the host: [`MemoryBudget::DEFAULT`].
    fn default() -> MemoryBudget {
        MemoryBudget::new(MemoryBudget::DEFAULT)
    }
}

/// Memory that is reserved in a [`MemoryBudget`] until this is dropped.
#[derive(Debug)]
pub struct Reserved {
    budget: MemoryBudget,
    bytes: u64,
    what: &'static str,
}

impl Reserved {
    /// Reserves more.
    ///
    /// # Errors
    /// If the limit would be exceeded; what was reserved before stays so.
    #[inline]
    pub fn grow(&mut self, bytes: u64) -> Result<(), OverBudget> {
        let Account { limit, used, .. } = &*self.budget.account;
        let is_refused = self.budget.account.is_refused();
        let fits =
            |before: u64| before.checked_add(bytes).filter(|needed| needed <= limit && !is_refused);
        // In one step: what is refused here must not be in the way of what another thread asks for.
        used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).map_err(|before| {
            let needed = before.saturating_add(bytes);
            OverBudget { what: self.what, needed, limit: *limit }
        })?;
        self.bytes += bytes;
        Ok(())
    }

    /// Gives some of it back, at most all.
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
    fn what_is_dropped_is_given_back_and_what_is_refused_was_not_taken() {
        let budget = MemoryBudget::new(10 << 20);
        let mut kept = budget.reserve(6 << 20, "cores").expect("it fits");
        let told = budget.reserve(5 << 20, "threads").expect_err("it does not fit").to_string();
        assert_eq!(
            told,
            "threads need at least 11.0 MiB of memory in all, the limit is 10.0 MiB; raise it with --max-memory"
        );
        kept.grow(4 << 20).expect("to the last byte");
        kept.shrink(1 << 20);
        assert_eq!(budget.used(), 9 << 20);
        drop(kept);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    #[cfg(debug_assertions)]
    fn the_refused_reservation_takes_nothing_and_the_next_is_granted() {
        let budget = MemoryBudget::refusing(1000, 2);
        let mut kept = budget.reserve(1, "cores").expect("the first");
        assert!(kept.grow(1).is_err());
        kept.grow(1).expect("the third");
        assert_eq!(budget.used(), 2);
    }
}
