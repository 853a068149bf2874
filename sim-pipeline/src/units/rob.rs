//! Resources that operations hold until they retire: one log in program order, and one word that
//! counts the free entries. The word covers the reorder buffer, the registers, the load queue and
//! the branch queue.
//!
//! An operation takes the entry that has been held longest. Only the oldest operations are
//! therefore searched, and only if the counts show that an entry is missing.

use crate::config::WindowConfig;
use crate::units::stamp::Stamp;
use sim_core::Cycle;
use sim_isa::{RenameResources, ResourceKind};

/// One operation in the log.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    entries: RenameResources,
    /// First cycle in which the next user may have them, and the operation that retirement waits
    /// for.
    free: Stamp,
}

/// Entries taken and given back in program order.
#[derive(Clone, Debug)]
pub(crate) struct AllocationLog {
    sizes: RenameResources,
    /// Free entries, without those that are free but not yet added back.
    left: RenameResources,
    held: Box<[Held]>,
    /// Number of operations that have given back all entries.
    oldest: usize,
    /// Number of operations so far.
    next: usize,
}

/// Position in the log, to return to after a wrong path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogMark(usize);

impl AllocationLog {
    /// Returns a log with all entries free.
    pub(crate) fn new(w: &WindowConfig) -> AllocationLog {
        let sizes = [
            (ResourceKind::Rob, w.rob),
            (ResourceKind::General, w.general_registers),
            (ResourceKind::Flags, w.flag_registers),
            (ResourceKind::Vector, w.vector_registers),
            (ResourceKind::Load, w.load_queue),
            (ResourceKind::Branch, w.branch_queue),
        ];
        let add =
            |all: RenameResources, (kind, size)| all.plus(RenameResources::of(kind, size as u32));
        let sizes = sizes.into_iter().fold(RenameResources::default(), add);
        // Each operation has a reorder buffer entry, or is the second half of a pair whose first
        // half has one.
        let most = (2 * w.rob + 2).next_power_of_two();
        let held = vec![Held::default(); most].into_boxed_slice();
        AllocationLog { sizes, left: sizes, held, oldest: 0, next: 0 }
    }

    /// Returns whether these entries are free, without first adding those freed since the last
    /// update.
    #[inline]
    pub(crate) fn has(&self, entries: RenameResources) -> bool {
        entries.within(self.left)
    }

    /// Returns whether fewer than `nth + 1` entries of a kind are known to be free.
    #[inline(always)]
    pub(crate) fn lacks(&self, kind: ResourceKind, nth: usize) -> bool {
        self.left.count(kind) <= nth as u32
    }

    /// Returns the first cycle in which an entry of a kind is free, `nth` positions after the next
    /// one, with the operation that retirement waits for. The cycle is 0 if the entry is not held.
    pub(crate) fn free_at_nth(&self, kind: ResourceKind, nth: usize) -> Stamp {
        let mut left = self.left.count(kind);
        if (nth as u32) < left {
            return Stamp::default();
        }
        let nth = nth as u32 % self.sizes.count(kind);
        for at in self.oldest..self.next {
            if nth < left {
                break;
            }
            let held = &self.held[at & (self.held.len() - 1)];
            left += held.entries.count(kind);
            if nth < left {
                return held.free;
            }
        }
        Stamp::default()
    }

    /// Takes entries in `now` until `free`.
    #[inline(always)]
    pub(crate) fn take(&mut self, entries: RenameResources, now: Cycle, free: Stamp) {
        let entries = if self.has(entries) { entries } else { self.make_room(entries, now) };
        self.take_free(entries, free);
    }

    /// Takes entries until `free`, which [`AllocationLog::has`] found to be free.
    #[inline(always)]
    pub(crate) fn take_free(&mut self, entries: RenameResources, free: Stamp) {
        self.left = self.left.minus(entries);
        let last = self.held.len() - 1;
        self.held[self.next & last] = Held { entries, free };
        self.next += 1;
    }

    /// Adds the entries that are free in `now` to the counts. An instruction that needs more
    /// entries than the core has uses its first entries again as its last ones. Returns the entries
    /// to take.
    #[inline(never)]
    fn make_room(&mut self, entries: RenameResources, now: Cycle) -> RenameResources {
        while self.oldest < self.next {
            let held = self.held[self.oldest & (self.held.len() - 1)];
            if held.free.cycle() > now && self.has(entries) {
                break;
            }
            self.left = self.left.plus(held.entries);
            self.oldest += 1;
        }
        if self.has(entries) { entries } else { entries.at_most(self.left) }
    }

    /// Returns how many entries are still held in `cycle`.
    pub(crate) fn held(&self, cycle: Cycle) -> usize {
        let held = (self.oldest..self.next).map(|at| &self.held[at & (self.held.len() - 1)]);
        held.filter(|held| held.free.cycle() > cycle).map(|held| held.entries.sum() as usize).sum()
    }

    /// Returns the current position in the log.
    #[inline]
    pub(crate) fn mark(&self) -> LogMark {
        LogMark(self.next)
    }

    /// Adds all entries taken since the mark to the counts, unless they are already counted. The
    /// entries become free at the squash at the earliest.
    pub(crate) fn rewind(&mut self, mark: LogMark) {
        while self.next > mark.0.max(self.oldest) {
            self.next -= 1;
            self.left = self.left.plus(self.held[self.next & (self.held.len() - 1)].entries);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::resource::Ring;
    use crate::units::stamp::OpRef;

    const KINDS: [ResourceKind; 2] = [ResourceKind::Rob, ResourceKind::General];

    fn at(cycle: Cycle) -> Stamp {
        Stamp::new(cycle, OpRef::NONE)
    }

    fn log(rob: usize, general: usize) -> AllocationLog {
        let text = include_str!("../../../configs/neoverse-n2/machine.toml");
        let document: toml::Table = text.parse().expect("the committed configuration parses");
        let window = document["pipeline"]["window"].clone();
        let window: WindowConfig = window.try_into().expect("it has a window");
        AllocationLog::new(&WindowConfig { rob, general_registers: general, ..window })
    }

    /// Returns a generator of pseudorandom numbers below a limit.
    fn random() -> impl FnMut(u64) -> u64 {
        let mut state = 1_u64;
        move |limit| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % limit
        }
    }

    #[test]
    fn the_log_agrees_with_a_ring_for_each_kind() {
        let (mut log, mut rings, mut random) = (log(9, 5), [Ring::new(9), Ring::new(5)], random());
        let (mut now, mut free) = (0, 0);
        for _ in 0..50_000 {
            now += random(4) / 3;
            let counts = [1, random(3) as u32];
            let wanted = KINDS.into_iter().zip(counts);
            let add = |all: RenameResources, (kind, n)| all.plus(RenameResources::of(kind, n));
            let entries = wanted.clone().fold(RenameResources::default(), add);
            for ((kind, count), ring) in wanted.clone().zip(&rings) {
                for nth in 0..count as usize {
                    let logged = log.free_at_nth(kind, nth).cycle();
                    let expected = ring.free_at_nth(nth);
                    assert_eq!(logged.max(now), expected.max(now), "{kind:?} {nth}");
                }
            }
            for ((_, count), ring) in wanted.zip(&rings) {
                now = (0..count as usize).fold(now, |now, nth| now.max(ring.free_at_nth(nth)));
            }
            free = (now + 1 + random(30)).max(free);
            log.take(entries, now, at(free));
            for (ring, count) in rings.iter_mut().zip(counts) {
                (0..count).for_each(|_| ring.take(free));
            }
            let held: usize = rings.iter().map(|ring| ring.held(now)).sum();
            assert_eq!(log.held(now), held);
        }
    }

    #[test]
    fn a_wrong_path_returns_all_its_entries() {
        let mut log = log(4, 4);
        log.take(RenameResources::of(ResourceKind::Rob, 3), 0, at(50));
        let mark = log.mark();
        log.take(RenameResources::of(ResourceKind::Rob, 1), 1, at(21));
        assert!(!log.has(RenameResources::of(ResourceKind::Rob, 1)));
        assert_eq!(log.free_at_nth(ResourceKind::Rob, 0), at(50));
        log.rewind(mark);
        assert!(log.has(RenameResources::of(ResourceKind::Rob, 1)));
        assert_eq!(log.held(30), 3);
    }

    #[test]
    fn an_operation_that_needs_more_entries_than_exist_takes_all() {
        let mut log = log(4, 1);
        log.take(RenameResources::of(ResourceKind::General, 2), 0, at(9));
        assert_eq!((log.free_at_nth(ResourceKind::General, 1), log.held(8)), (at(9), 1));
        log.take(RenameResources::of(ResourceKind::General, 2), 9, at(12));
        assert_eq!((log.free_at_nth(ResourceKind::General, 0), log.held(9)), (at(12), 1));
        // Five MOPs of one instruction in a buffer of four entries.
        let mark = log.mark();
        (20..25).for_each(|free| log.take(RenameResources::of(ResourceKind::Rob, 1), 10, at(free)));
        assert_eq!(log.free_at_nth(ResourceKind::Rob, 3), at(24));
        log.rewind(mark);
        assert_eq!(log.held(0), 0);
    }
}
