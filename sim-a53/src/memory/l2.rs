//! The L2 cache of the cluster. TRM 7.6.
//!
//! Data enters when an L1 data cache evicts it, clean or dirty; instructions enter when fetched;
//! lines of non-temporal loads enter in place of the L1 cache. Lines of a store stream in
//! read-allocate mode enter until the stream is long (CPUACTLR.RADIS). A data linefill that hits
//! takes the line away, unless another core has it: neither inclusive nor strictly exclusive.
//! Assumed: that move, and pseudo-random replacement (the Cortex-A35 has pseudo-LRU).

use super::cache::{Cache, LineState, Victim};
use super::config::L2Config;
use super::slots::Rate;

/// L2 cache, or none.
#[derive(Clone, Debug)]
pub(crate) struct L2 {
    lines: Option<Cache>,
    hit_cycles: u64,
    miss_cycles: u64,
    rams: Rate,
}

impl L2 {
    /// Creates an empty cache; size 0 is none.
    pub(crate) fn new(config: &L2Config, seed: u64) -> L2 {
        let has_lines = config.size_bytes > 0;
        L2 {
            lines: has_lines.then(|| Cache::new(config.size_bytes, config.ways, seed)),
            hit_cycles: config.hit_cycles.into(),
            miss_cycles: config.miss_cycles.into(),
            rams: Rate::new(config.line_cycles),
        }
    }

    /// Returns whether the cluster has an L2 cache.
    #[inline]
    pub(crate) fn is_present(&self) -> bool {
        self.lines.is_some()
    }

    /// Books the RAMs for a line at or after `at`. Returns the cycle in which the access begins.
    pub(crate) fn begin(&mut self, at: u64) -> u64 {
        if self.is_present() { self.rams.book(at) } else { at }
    }

    /// Returns the cycle of the first beat of a hit that began at `begin`.
    pub(crate) fn first_beat(&self, begin: u64) -> u64 {
        begin + self.hit_cycles
    }

    /// Returns the cycle in which the request of a miss that began at `begin` leaves.
    pub(crate) fn leaves(&self, begin: u64) -> u64 {
        begin + self.miss_cycles
    }

    /// Returns the state of a line with the cycle from which it can be read.
    pub(crate) fn lookup(&self, line: u64) -> Option<(LineState, u64)> {
        let lines = self.lines.as_ref()?;
        let entry = lines.probe(line)?;
        Some((lines.state(entry), lines.ready(entry)))
    }

    /// Removes a line. Returns its state.
    pub(crate) fn remove(&mut self, line: u64) -> Option<LineState> {
        self.lines.as_mut()?.remove(line)
    }

    /// Removes the dirt of a line that is cleaned. Returns whether it was dirty.
    pub(crate) fn clean(&mut self, line: u64) -> bool {
        let Some(lines) = &mut self.lines else { return false };
        let Some(entry) = lines.probe(line) else { return false };
        let state = lines.state(entry);
        lines.set_state(entry, state.without(LineState::DIRTY));
        state.has(LineState::DIRTY)
    }

    /// Writes a line that is complete at `ready`, and enters it if it is not present. Returns the
    /// line that it replaces.
    pub(crate) fn write(&mut self, line: u64, dirty: bool, at: u64, ready: u64) -> Option<Victim> {
        let lines = self.lines.as_mut()?;
        if let Some(entry) = lines.probe(line) {
            let state = lines.state(entry).with_if(dirty, LineState::DIRTY);
            lines.set_state(entry, state);
            return None;
        }
        let state = LineState::CLEAN.with_if(dirty, LineState::DIRTY);
        lines.insert(line, state, at, ready)
    }

    /// Gives a line an error, if it is present. Returns whether it is.
    pub(crate) fn spoil(&mut self, line: u64) -> bool {
        self.lines.as_mut().is_some_and(|lines| lines.spoil(line, LineState::FAULTY))
    }

    /// Corrects the error of a line.
    pub(crate) fn correct(&mut self, line: u64) {
        let Some(lines) = &mut self.lines else { return };
        if let Some(entry) = lines.probe(line) {
            lines.set_state(entry, lines.state(entry).without(LineState::FAULTY));
        }
    }

    /// Returns the line of a set and way, for maintenance.
    pub(crate) fn line_at(&self, set: u64, way: u64) -> Option<u64> {
        self.lines.as_ref()?.line_at(set, way)
    }
}
