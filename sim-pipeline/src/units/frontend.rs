//! The front end: prediction runs ahead, fetch follows out of the MOP cache or L1I, decode delivers
//! to rename (HC33; PMU guide 4.3 and 4.7).
//!
//! Two clocks: `predict` is the cycle in which the address of the current window was known, `fetch`
//! the cycle in which its words are read. A window is what is left of 32 aligned bytes, up to a
//! taken branch. The L1 I-cache is asked when the address is known, so prediction that runs ahead
//! hides misses. Not modeled: the fetch of both directions, what is fetched behind a branch until
//! decode finds it, and maintenance broadcast by other cores in the MOP cache.

mod mop_cache;

use crate::config::{BranchConfig, FrontEndConfig};
use crate::units::branch::{Pairing, Prediction, btb::BtbHit};
use crate::units::resource::Ring;
use mop_cache::MopCache;
use sim_core::{AbortCause, Cycle, EventSink, Happened, InstId, MemoryPort, StallCause, VirtAddr};

/// No window and no line is the current one.
const NOWHERE: u64 = u64::MAX;
/// log2 of the bytes of a window: eight instructions (HC33).
const WINDOW_SHIFT: u32 = 5;
/// Windows that prediction names in one cycle (HC33). Both may end in a taken branch if one BTB entry has the two.
const WINDOWS_PER_CYCLE: u32 = 2;

/// When one instruction came through the front end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FetchTiming {
    /// Cycle in which its word was fetched.
    pub fetch: Cycle,
    /// First cycle in which rename can take it.
    pub at: Cycle,
    /// Why it did not come earlier.
    pub late: StallCause,
    /// Its page cannot be fetched from: if it is reached, it aborts.
    pub fault: Option<AbortCause>,
    /// It shares the MOP of the instruction before it.
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
    /// Windows named in the cycle `predict`.
    windows: u32,
    /// Cycles that the taken branch at the end of the window costs, and what they are.
    gap: Cycle,
    gap_cause: StallCause,
    /// Cycles of the prediction of a pair whose second branch has not come yet.
    owed: Cycle,
    window: u64,
    line: u64,
    /// The fetch of the current line ended in a fault.
    fault: Option<AbortCause>,
    /// Cycle in which L1I has the current line, and why not earlier.
    line_ready: Cycle,
    line_late: StallCause,
    fetch: Cycle,
    fetched: u32,
    from_mop_cache: bool,
    /// Fetch cycles of the windows by which prediction is ahead.
    targets: Ring,
    /// Rename cycles of the operations between decode and rename.
    queue: Ring,
    last_arrival: Cycle,
    late: StallCause,
    /// Nothing but prediction keeps an instruction waiting. Asked once for each window.
    is_ideal: bool,
}

impl FrontEnd {
    /// An empty front end at cycle 0. An ideal one delivers every instruction as soon as prediction
    /// has named it: all of them are in the MOP cache.
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
            owed: 0,
            window: NOWHERE,
            line: NOWHERE,
            fault: None,
            line_ready: 0,
            line_late: StallCause::FetchL1iMiss,
            fetch: 0,
            fetched: 0,
            from_mop_cache: is_ideal,
            targets: Ring::new(config.target_queue),
            queue: Ring::new(config.fetch_queue),
            last_arrival: 0,
            late: StallCause::FetchEnd,
            is_ideal,
            config: config.clone(),
        }
    }

    /// Brings one instruction to rename; `pairs` when it makes a pair with the one before it. Raises
    /// the events of the I-side (flows 5.3 and 5.6) when a new line is entered.
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
            // The entry of its partner holds it: what its own window waits for holds those behind it.
            let at = self.last_arrival;
            let fetch = self.fetch.min(at.saturating_sub(self.config.mop_to_rename_cycles));
            return FetchTiming {
                fetch,
                at,
                late: StallCause::FetchWidth,
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

    /// Decode is done with the instruction placed last: it builds an entry of the MOP cache.
    #[inline]
    pub(crate) fn decoded(&mut self, pc: u64, id: InstId, mops: u8) {
        if !self.from_mop_cache {
            self.mop_cache.build(pc, id, mops);
        }
    }

    /// Decode hands over when the fetch queue has room; a full queue holds fetch back.
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
        let late = std::mem::replace(&mut self.late, StallCause::FetchWidth);
        FetchTiming { fetch: self.fetch, at, late, fault: self.fault, fused: false }
    }

    /// The operation that was placed last has left the fetch queue in this cycle.
    #[inline]
    pub(crate) fn renamed(&mut self, cycle: Cycle) {
        self.queue.take(cycle);
    }

    /// Fetch goes on behind a predicted branch.
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
                // Prediction had gone straight on; decode sets it back.
                self.predict = self.fetch;
                (self.resteer_cycles, StallCause::FetchResteer)
            }
        };
        let owed = std::mem::take(&mut self.owed);
        (self.gap, self.gap_cause) = match prediction.pairing {
            Pairing::Alone => (owed + cycles, cause),
            // The window at its target is named in the same cycle; the one after the second branch pays for both.
            Pairing::First => {
                self.owed = cycles;
                (owed, StallCause::FetchPredictWidth)
            }
            Pairing::Second => (cycles, cause),
            Pairing::Free => (0, StallCause::FetchPredictWidth),
        };
    }

    /// Fetch starts anew in cycle `at`, because of `cause`; everything on the outcome is thrown away.
    pub(crate) fn redirect(&mut self, at: Cycle, cause: StallCause) {
        self.predict = at;
        self.windows = 0;
        (self.gap, self.owed) = (0, 0);
        self.fetch = at;
        self.fetched = 0;
        (self.window, self.line) = (NOWHERE, NOWHERE);
        self.targets.clear();
        self.last_arrival = self.last_arrival.min(at);
        self.late = cause;
    }

    /// Instructions or translations were changed: decoded instructions are built anew.
    pub(crate) fn forget_words(&mut self) {
        self.mop_cache.clear();
        (self.window, self.line) = (NOWHERE, NOWHERE);
    }

    /// No arrival before this cycle (a counting window starts there).
    pub(crate) fn not_before(&mut self, cycle: Cycle) {
        self.last_arrival = self.last_arrival.max(cycle);
    }

    /// A new window: prediction names it in `predict`, and it can be fetched.
    #[inline(never)]
    fn enter_window<M: MemoryPort, S: EventSink>(&mut self, pc: u64, memory: &mut M, sink: &mut S) {
        if self.is_ideal {
            return self.enter_ideal_window(pc, memory, sink);
        }
        // Without branches: where a taken branch ends a window nobody can predict.
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
        if self.line_late == StallCause::FetchItlbMiss {
            // MOPs too are read only where the page may be executed.
            self.wait_for_line();
        }
        self.targets.take(self.fetch);
    }

    /// A new window of an ideal front end. Only branches that are found late cost time:
    /// that is prediction. The L1 I-cache is asked, and its answer is not waited for.
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
            self.fault = reply.happened.abort();
        }
    }

    /// A new line: the L1 I-cache is asked for it.
    fn enter_line<M: MemoryPort, S: EventSink>(&mut self, pc: u64, memory: &mut M, sink: &mut S) {
        let reply = memory.fetch(VirtAddr(pc), self.predict, sink);
        self.fault = reply.happened.abort();
        (self.line_ready, self.line_late) = if reply.happened.has(Happened::L1_TLB_MISS) {
            (reply.done, StallCause::FetchItlbMiss)
        } else if reply.happened.has(Happened::L1_MISS) {
            (reply.done, StallCause::FetchL1iMiss)
        } else {
            (0, StallCause::FetchL1iMiss)
        };
        if !self.from_mop_cache && self.fetched > 0 {
            // One L1I read does not reach over the end of its line.
            self.next_read();
        }
    }

    /// Words that are to be decoded need their line, MOPs do not.
    #[inline]
    fn wait_for_line(&mut self) {
        if self.line_ready > self.fetch {
            self.fetch_from(self.line_ready, self.line_late);
        }
    }

    /// Nothing is fetched before `start`. A restart stays the cause unless a miss comes on top.
    #[inline]
    fn fetch_from(&mut self, start: Cycle, cause: StallCause) {
        let is_later = start > self.fetch;
        self.fetch = self.fetch.max(start);
        self.fetched = if is_later { 0 } else { self.fetched };
        let is_miss = matches!(cause, StallCause::FetchItlbMiss | StallCause::FetchL1iMiss);
        let is_cause = is_later & (is_miss | (self.late == StallCause::FetchWidth));
        self.late = if is_cause { cause } else { self.late };
    }

    /// The other source of operations: one cycle reads only one of the two.
    #[cold]
    fn switch(&mut self, to_mop_cache: bool) {
        self.from_mop_cache = to_mop_cache;
        if self.fetched > 0 {
            self.next_read();
        }
        if !to_mop_cache && self.late == StallCause::FetchWidth {
            self.late = StallCause::FetchMopSwitch;
        }
    }

    fn next_read(&mut self) {
        self.fetch += 1;
        self.fetched = 0;
    }
}
