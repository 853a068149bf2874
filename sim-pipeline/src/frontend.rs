//! The front end: prediction runs ahead, fetch follows out of the MOP cache or L1I, decode delivers
//! to rename (HC33; PMU guide 4.3 and 4.7).
//!
//! Two clocks: `predict` is the cycle in which the address of the current fetch block was known,
//! `fetch` the cycle in which its words are read. The L1 I-cache is asked when the address is known,
//! so prediction that runs ahead hides misses. Not modeled: instructions fetched behind a branch
//! that decode re-steers, and the fetch of both directions.

mod mop_cache;

use crate::branch::{Prediction, btb::BtbHit};
use crate::config::{BranchConfig, FrontEndConfig};
use crate::resource::Ring;
use mop_cache::MopCache;
use sim_core::{Cycle, EventSink, Happened, MemoryPort, StallCause, VirtAddr};

/// No line is being fetched from.
const NO_LINE: u64 = u64::MAX;
/// Taken branches that the nano BTB predicts in one cycle (HC33).
const TAKEN_PER_CYCLE: u8 = 2;

/// When one instruction came through the front end.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Cycle in which its word was fetched.
    pub fetch: Cycle,
    /// First cycle in which rename can take it.
    pub at: Cycle,
    /// Why it did not come earlier.
    pub late: StallCause,
    /// Its page cannot be fetched from: if it is reached, it aborts.
    pub faulted: bool,
}

/// State of prediction, fetch and decode.
#[derive(Clone, Debug)]
pub struct FrontEnd {
    config: FrontEndConfig,
    btb_bubble_cycles: Cycle,
    resteer_cycles: Cycle,
    mop_cache: MopCache,
    predict: Cycle,
    /// Cycles from the current block's prediction to the next one's.
    step: Cycle,
    taken_in_cycle: u8,
    fetch: Cycle,
    fetched: u32,
    line: u64,
    /// The fetch of the current line ended in a fault.
    faulted: bool,
    from_mop_cache: bool,
    /// Fetch cycles of the blocks by which prediction is ahead.
    targets: Ring,
    /// Rename cycles of the instructions between decode and rename.
    queue: Ring,
    last_arrival: Cycle,
    late: StallCause,
}

impl FrontEnd {
    /// An empty front end at cycle 0.
    pub fn new(config: &FrontEndConfig, branch: &BranchConfig) -> FrontEnd {
        FrontEnd {
            config: config.clone(),
            btb_bubble_cycles: branch.btb_bubble_cycles,
            resteer_cycles: branch.resteer_cycles,
            mop_cache: MopCache::new(config.mop_cache_sets, config.mop_cache_ways),
            predict: 0,
            step: 0,
            taken_in_cycle: 0,
            fetch: 0,
            fetched: 0,
            line: NO_LINE,
            faulted: false,
            from_mop_cache: false,
            targets: Ring::new(config.target_queue),
            queue: Ring::new(config.fetch_queue),
            last_arrival: 0,
            late: StallCause::FetchRedirect,
        }
    }

    /// Brings one instruction to rename. Raises the events of the I-side (flows 5.3 and 5.6) when a
    /// new block is entered.
    #[inline]
    pub fn place<M: MemoryPort, S: EventSink>(
        &mut self,
        pc: u64,
        memory: &mut M,
        sink: &mut S,
    ) -> Arrival {
        if self.mop_cache.enter(pc) {
            self.from_mop_cache = self.mop_cache.hit();
        }
        let line = VirtAddr(pc).line();
        if line != self.line {
            self.line = line;
            self.enter_block(pc, memory, sink);
        }
        let width =
            if self.from_mop_cache { self.config.mop_width } else { self.config.fetch_width };
        if self.fetched >= width {
            self.fetch += 1;
            self.fetched = 0;
        }
        self.fetched += 1;
        let depth = if self.from_mop_cache {
            self.config.mop_to_rename_cycles
        } else {
            self.config.fetch_to_rename_cycles
        };
        self.arrive(depth)
    }

    /// Decode hands over when the fetch queue has room; a full queue holds fetch back.
    #[inline]
    fn arrive(&mut self, depth: Cycle) -> Arrival {
        let mut at = (self.fetch + depth).max(self.last_arrival);
        let room = self.queue.free_at();
        if room > at {
            at = room;
            self.fetch = room - depth;
            self.fetched = 1;
        }
        self.last_arrival = at;
        let late = std::mem::replace(&mut self.late, StallCause::FetchWidth);
        Arrival { fetch: self.fetch, at, late, faulted: self.faulted }
    }

    /// The instruction that was placed last has left the fetch queue in this cycle.
    #[inline]
    pub fn renamed(&mut self, cycle: Cycle) {
        self.queue.take(cycle);
    }

    /// Fetch goes on behind a predicted branch.
    #[inline]
    pub fn follow(&mut self, prediction: &Prediction) {
        if !prediction.taken {
            return;
        }
        self.line = NO_LINE;
        self.mop_cache.leave();
        match prediction.btb {
            _ if prediction.resteered => {
                self.predict = self.fetch + self.resteer_cycles;
                self.step = 0;
                self.taken_in_cycle = 0;
            }
            BtbHit::Nano => {
                self.taken_in_cycle += 1;
                self.step = Cycle::from(self.taken_in_cycle >= TAKEN_PER_CYCLE);
                if self.step > 0 {
                    self.taken_in_cycle = 0;
                }
            }
            BtbHit::Main | BtbHit::Miss => {
                self.taken_in_cycle = 0;
                self.step = 1 + self.btb_bubble_cycles;
            }
        }
    }

    /// Fetch starts anew in cycle `at`, because of `cause`; everything on the way is thrown away.
    pub fn redirect(&mut self, at: Cycle, cause: StallCause) {
        self.predict = at;
        self.step = 0;
        self.taken_in_cycle = 0;
        self.fetch = at;
        self.fetched = 0;
        self.line = NO_LINE;
        self.mop_cache.leave();
        self.targets.clear();
        self.last_arrival = self.last_arrival.min(at);
        self.late = cause;
    }

    /// Instructions were changed: decoded ones are built anew.
    pub fn forget_words(&mut self) {
        self.mop_cache.clear();
        self.line = NO_LINE;
    }

    /// No arrival before this cycle (a counting window starts there).
    pub fn not_before(&mut self, cycle: Cycle) {
        self.last_arrival = self.last_arrival.max(cycle);
    }

    /// A new fetch block: its address is known in `predict`, its words when L1I has them.
    fn enter_block<M: MemoryPort, S: EventSink>(&mut self, pc: u64, memory: &mut M, sink: &mut S) {
        self.predict = (self.predict + self.step).max(self.targets.free_at());
        self.step = 1;
        let reply = memory.fetch(VirtAddr(pc), self.predict, sink);
        self.faulted = reply.happened.has(Happened::FAULT);
        let mut start = self.predict + self.config.predict_to_fetch_cycles;
        let mut late = StallCause::FetchBubble;
        if reply.happened.has(Happened::L1_TLB_MISS) && reply.done > start {
            (start, late) = (reply.done, StallCause::FetchItlbMiss);
        } else if reply.happened.has(Happened::L1_MISS)
            && !self.from_mop_cache
            && reply.done > start
        {
            (start, late) = (reply.done, StallCause::FetchL1iMiss);
        }
        if start > self.fetch {
            self.fetch = start;
            self.fetched = 0;
            if self.late != StallCause::FetchRedirect && self.late != StallCause::FetchSerialise
                || late != StallCause::FetchBubble
            {
                self.late = late;
            }
        } else if !self.from_mop_cache && self.fetched > 0 {
            // One L1I read does not reach over the end of its line.
            self.fetch += 1;
            self.fetched = 0;
        }
        self.targets.take(self.fetch);
    }
}
