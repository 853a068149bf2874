//! Front end: prediction runs ahead, fetch follows from the MOP cache or L1I, decode delivers to
//! rename (HC33; PMU guide 4.3 and 4.7).
//!
//! The front end has two clocks. `predict` is the cycle in which the address of the current fetch
//! window was known. `fetch` is the cycle in which its instructions are read. A fetch window is the
//! rest of 32 aligned bytes, up to a taken branch. The L1 I-cache is accessed when the address is
//! known, so prediction that runs ahead hides misses. Not modeled: fetch of both directions; fetch
//! past a branch until decode finds it; effects on the MOP cache of maintenance that other cores
//! broadcast.

mod mop_cache;

use crate::config::{BranchConfig, FrontEndConfig};
use crate::units::branch::{Pairing, Prediction, btb::BtbHit};
use crate::units::resource::ShortRing;
use mop_cache::MopCache;
use sim_core::{
    AbortCause, AccessOutcome, Cycle, EventSink, InstId, MemoryPort, StallCause, VirtAddr,
};

/// Marks that no fetch window or line is current.
const NOWHERE: u64 = u64::MAX;
/// log2 of the bytes of a fetch window: eight instructions (HC33).
const WINDOW_SHIFT: u32 = 5;
/// Fetch windows that are predicted per cycle (HC33). Both may end in a taken branch if one BTB
/// entry has the two.
const WINDOWS_PER_CYCLE: u32 = 2;

/// Timing of one instruction in the front end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FetchTiming {
    /// Cycle in which its word was fetched.
    pub fetch: Cycle,
    /// First cycle in which rename can take it.
    pub at: Cycle,
    /// Stall cause that delayed its arrival at rename.
    pub stall: StallCause,
    /// Fault of its fetch: the instruction aborts if it is on the correct path.
    pub fault: Option<AbortCause>,
    /// Set if it shares the MOP of the previous instruction.
    pub fused: bool,
}

/// State of prediction, fetch and decode.
#[derive(Clone, Debug)]
pub(crate) struct FrontEnd {
    config: FrontEndConfig,
    btb_cycles: Cycle,
    btb_bubble_cycles: Cycle,
    resteer_cycles: Cycle,
    mop_cache: MopCache,
    predict: Cycle,
    /// Fetch windows predicted in the cycle `predict`.
    windows: u32,
    /// Cycles that the taken branch at the end of the fetch window costs, and their stall cause.
    gap: Cycle,
    gap_cause: StallCause,
    /// Cycles for the prediction of a pair, charged after its second branch.
    deferred: Cycle,
    window: u64,
    line: u64,
    /// Fault of the fetch of the current line.
    fault: Option<AbortCause>,
    /// Cycle in which L1I has the current line, and the stall cause that delayed it.
    line_ready: Cycle,
    line_stall: StallCause,
    fetch: Cycle,
    fetched: u32,
    from_mop_cache: bool,
    /// Fetch cycles of the fetch windows by which prediction runs ahead.
    targets: ShortRing,
    /// Rename cycles of the operations between decode and rename.
    queue: ShortRing,
    last_arrival: Cycle,
    stall: StallCause,
    /// Set if only prediction delays instructions. Checked once for each fetch window.
    is_ideal: bool,
}

impl FrontEnd {
    /// Returns an empty front end at cycle 0. An ideal one delivers every instruction as soon as
    /// its fetch window is predicted, because the MOP cache then holds all instructions.
    pub(crate) fn new(config: &FrontEndConfig, branch: &BranchConfig, is_ideal: bool) -> FrontEnd {
        let (sets, ways) = (config.mop_cache_sets, config.mop_cache_ways);
        let mop_cache = MopCache::new(sets, ways, config.mop_cache_mops_per_way);
        FrontEnd {
            btb_cycles: branch.btb_cycles,
            btb_bubble_cycles: branch.btb_bubble_cycles,
            resteer_cycles: branch.resteer_cycles,
            mop_cache: if is_ideal { mop_cache.with_all() } else { mop_cache },
            predict: 0,
            windows: 0,
            gap: 0,
            gap_cause: StallCause::FetchPredictWidth,
            deferred: 0,
            window: NOWHERE,
            line: NOWHERE,
            fault: None,
            line_ready: 0,
            line_stall: StallCause::FetchL1iMiss,
            fetch: 0,
            fetched: 0,
            from_mop_cache: is_ideal,
            targets: ShortRing::new(config.target_queue),
            queue: ShortRing::new(config.fetch_queue),
            last_arrival: 0,
            stall: StallCause::FetchEnd,
            is_ideal,
            config: config.clone(),
        }
    }

    /// Delivers one instruction to rename. `pairs` is set if it can fuse with the previous
    /// instruction. Raises the events of the instruction side (flows 5.3 and 5.6) when a new line
    /// is entered.
    #[inline(always)]
    pub(crate) fn fetch<M: MemoryPort, S: EventSink>(
        &mut self,
        id: InstId,
        pc: u64,
        pairs: bool,
        memory: &mut M,
        sink: &mut S,
    ) -> FetchTiming {
        let window = pc >> WINDOW_SHIFT;
        if window != self.window {
            self.window = window;
            self.enter_window(pc, memory, sink);
        }
        let from_mop_cache = self.mop_cache.holds(pc, id);
        if from_mop_cache != self.from_mop_cache {
            self.switch(from_mop_cache);
        }
        if from_mop_cache && pairs {
            // The MOP cache entry of the partner contains this instruction. A wait for its own
            // fetch window delays only younger instructions.
            let at = self.last_arrival;
            let fetch = self.fetch.min(at.saturating_sub(self.config.mop_to_rename_cycles));
            return FetchTiming {
                fetch,
                at,
                stall: StallCause::FetchWidth,
                fault: self.fault,
                fused: true,
            };
        }
        let (width, depth) = if from_mop_cache {
            (self.config.mop_width, self.config.mop_to_rename_cycles)
        } else {
            self.wait_for_line();
            (self.config.fetch_width, self.config.fetch_to_rename_cycles)
        };
        let is_over = self.fetched >= width;
        self.fetch += u64::from(is_over);
        self.fetched = if is_over { 1 } else { self.fetched + 1 };
        self.arrive(depth)
    }

    /// Builds a MOP cache entry for the instruction fetched last, which is decoded.
    #[inline]
    pub(crate) fn decoded(&mut self, pc: u64, id: InstId, mops: u8) {
        if !self.from_mop_cache {
            self.mop_cache.build(pc, id, mops);
        }
    }

    /// Delivers the decoded instruction when the fetch queue has room. A full queue stalls fetch.
    #[inline]
    fn arrive(&mut self, depth: Cycle) -> FetchTiming {
        let mut at = (self.fetch + depth).max(self.last_arrival);
        let room = self.queue.free_at();
        if room > at {
            at = room;
            self.fetch = room - depth;
            self.fetched = 1;
        }
        self.last_arrival = at;
        let stall = std::mem::replace(&mut self.stall, StallCause::FetchWidth);
        FetchTiming { fetch: self.fetch, at, stall, fault: self.fault, fused: false }
    }

    /// Records that the operation fetched last left the fetch queue in this cycle.
    #[inline]
    pub(crate) fn renamed(&mut self, cycle: Cycle) {
        self.queue.take(cycle);
    }

    /// Continues fetch after a predicted branch.
    #[inline]
    pub(crate) fn follow(&mut self, prediction: &Prediction) {
        if !prediction.taken {
            return;
        }
        (self.window, self.line) = (NOWHERE, NOWHERE);
        let (cycles, cause) = match prediction.btb {
            BtbHit::Nano => (1, StallCause::FetchPredictWidth),
            BtbHit::First => (self.btb_cycles, StallCause::FetchPredictWidth),
            BtbHit::Main => (self.btb_cycles + self.btb_bubble_cycles, StallCause::FetchBtbBubble),
            BtbHit::Miss => {
                // Prediction had continued sequentially; decode redirects it.
                self.predict = self.fetch;
                (self.resteer_cycles, StallCause::FetchResteer)
            }
        };
        let deferred = std::mem::take(&mut self.deferred);
        (self.gap, self.gap_cause) = match prediction.pairing {
            Pairing::Alone => (deferred + cycles, cause),
            // The window at the target is predicted in the same cycle. One BTB entry has both
            // branches, so the window after the second branch pays once for both.
            Pairing::First => {
                self.deferred = cycles;
                (deferred, StallCause::FetchPredictWidth)
            }
            Pairing::Second => (cycles, cause),
            Pairing::Free => (0, StallCause::FetchPredictWidth),
        };
    }

    /// Restarts fetch in cycle `at`, because of `cause`. Younger instructions in the front end are
    /// squashed.
    pub(crate) fn redirect(&mut self, at: Cycle, cause: StallCause) {
        self.predict = at;
        self.windows = 0;
        (self.gap, self.deferred) = (0, 0);
        self.fetch = at;
        self.fetched = 0;
        (self.window, self.line) = (NOWHERE, NOWHERE);
        self.targets.clear();
        self.last_arrival = self.last_arrival.min(at);
        self.stall = cause;
    }

    /// Returns a cycle before which the next instruction does not arrive at rename.
    #[inline]
    pub(crate) fn last_arrival(&self) -> Cycle {
        self.last_arrival
    }

    /// Drops all decoded instructions, because instructions or translations changed.
    pub(crate) fn clear_mop_cache(&mut self) {
        self.mop_cache.clear();
        (self.window, self.line) = (NOWHERE, NOWHERE);
    }

    /// Delays arrivals until this cycle, in which a counting window starts.
    pub(crate) fn not_before(&mut self, cycle: Cycle) {
        self.last_arrival = self.last_arrival.max(cycle);
    }

    /// Enters a new fetch window: predicts it in `predict`, then makes it available to fetch.
    #[inline(never)]
    fn enter_window<M: MemoryPort, S: EventSink>(&mut self, pc: u64, memory: &mut M, sink: &mut S) {
        if self.is_ideal {
            return self.enter_ideal_window(pc, memory, sink);
        }
        // Branch-free: whether a taken branch ends a fetch window is hard for the host to predict.
        let (has_gap, is_full) = (self.gap > 0, self.windows >= WINDOWS_PER_CYCLE);
        let cause = if has_gap { self.gap_cause } else { StallCause::FetchPredictWidth };
        self.predict += if has_gap { self.gap } else { u64::from(is_full) };
        self.windows = if has_gap | is_full { 0 } else { self.windows };
        self.gap = 0;
        let room = self.targets.free_at();
        if room > self.predict {
            (self.predict, self.windows) = (room, 0);
        }
        self.windows += 1;
        let line = VirtAddr(pc).line();
        if line != self.line {
            self.line = line;
            self.enter_line(pc, memory, sink);
        }
        self.mop_cache.enter(pc);
        self.fetch_from(self.predict + self.config.predict_to_fetch_cycles, cause);
        if self.line_stall == StallCause::FetchItlbMiss {
            // MOPs too are read only if their page may be executed.
            self.wait_for_line();
        }
        self.targets.take(self.fetch);
    }

    /// Enters a new fetch window of an ideal front end. Only branches found late cost time, as part
    /// of prediction. The L1 I-cache is accessed, but fetch does not wait for it.
    #[cold]
    fn enter_ideal_window<M: MemoryPort, S: EventSink>(
        &mut self,
        pc: u64,
        memory: &mut M,
        sink: &mut S,
    ) {
        if self.gap_cause != StallCause::FetchPredictWidth {
            self.predict += self.gap;
        }
        self.gap = 0;
        self.fetch_from(self.predict + self.config.predict_to_fetch_cycles, self.gap_cause);
        let line = VirtAddr(pc).line();
        if line != self.line {
            self.line = line;
            let reply = memory.fetch(VirtAddr(pc), self.fetch, sink);
            self.fault = reply.outcome.abort();
        }
    }

    /// Enters a new line and accesses the L1 I-cache.
    fn enter_line<M: MemoryPort, S: EventSink>(&mut self, pc: u64, memory: &mut M, sink: &mut S) {
        let reply = memory.fetch(VirtAddr(pc), self.predict, sink);
        self.fault = reply.outcome.abort();
        (self.line_ready, self.line_stall) = if reply.outcome.has(AccessOutcome::L1_TLB_MISS) {
            (reply.done, StallCause::FetchItlbMiss)
        } else if reply.outcome.has(AccessOutcome::L1_MISS) {
            (reply.done, StallCause::FetchL1iMiss)
        } else {
            (0, StallCause::FetchL1iMiss)
        };
        if !self.from_mop_cache && self.fetched > 0 {
            // One L1I read does not cross the end of its line.
            self.next_read();
        }
    }

    /// Delays fetch for the line of an instruction that must be decoded. MOPs do not need their
    /// line.
    #[inline]
    fn wait_for_line(&mut self) {
        if self.line_ready > self.fetch {
            self.fetch_from(self.line_ready, self.line_stall);
        }
    }

    /// Delays fetch until `start`. The stall cause of a restart is kept unless a miss adds to it.
    #[inline]
    fn fetch_from(&mut self, start: Cycle, cause: StallCause) {
        let is_later = start > self.fetch;
        self.fetch = self.fetch.max(start);
        self.fetched = if is_later { 0 } else { self.fetched };
        let is_miss = matches!(cause, StallCause::FetchItlbMiss | StallCause::FetchL1iMiss);
        let is_cause = is_later & (is_miss | (self.stall == StallCause::FetchWidth));
        self.stall = if is_cause { cause } else { self.stall };
    }

    /// Switches between MOP cache and decode: one cycle reads only one of the two.
    #[cold]
    fn switch(&mut self, to_mop_cache: bool) {
        self.from_mop_cache = to_mop_cache;
        if self.fetched > 0 {
            self.next_read();
        }
        if !to_mop_cache && self.stall == StallCause::FetchWidth {
            self.stall = StallCause::FetchMopSwitch;
        }
    }

    fn next_read(&mut self) {
        self.fetch += 1;
        self.fetched = 0;
    }
}
