//! Front end: fetches lines in the order of the stream and fills the instruction queue.

use crate::config::{MAX_QUEUE, PipelineConfig};
use crate::event::A53Sink;
use crate::memory::ClusterMemory;
use crate::slots::LostTo;

/// Bits of an address within a line.
const LINE_SHIFT: u32 = 6;
/// Line number that no address has.
const NO_LINE: u64 = u64::MAX;

/// Cycles of a fetch that missed.
#[derive(Clone, Copy, Debug, Default)]
struct Miss {
    begin: u64,
    /// End of the micro-TLB's miss.
    translated: u64,
    /// End of the cache's miss.
    end: u64,
}

/// An empty queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EmptyQueue {
    pub(crate) cause: LostTo,
    /// The cycle after the last one with this cause.
    pub(crate) until: u64,
    /// The cause is being processed, so that its event counts. After it, the line is being decoded.
    pub(crate) is_counted: bool,
}

/// Front end of one core.
#[derive(Clone, Debug)]
pub(crate) struct FrontEnd {
    width: u64,
    /// Neither width, lines nor taken branches delay anything.
    is_ideal: bool,
    decode_cycles: u64,
    entries: usize,
    /// Cycle of the current fetch, and the instructions that it already has.
    cycle: u64,
    used: u64,
    /// Line of the current fetch.
    line: u64,
    /// The last instruction missed, and the cycles of that.
    has_missed: bool,
    miss: Miss,
    /// Issue cycles of the last instructions, in a ring: an entry of the queue is free when its
    /// instruction has issued.
    issued: [u64; MAX_QUEUE],
    /// Instructions so far.
    fetched: usize,
}

impl FrontEnd {
    pub(crate) fn new(config: &PipelineConfig) -> FrontEnd {
        FrontEnd {
            width: if config.ideal.fetch { u64::MAX } else { config.fetch_width },
            is_ideal: config.ideal.fetch,
            decode_cycles: config.decode_cycles,
            entries: config.queue_entries,
            cycle: 0,
            used: 0,
            line: NO_LINE,
            has_missed: false,
            miss: Miss::default(),
            issued: [0; MAX_QUEUE],
            fetched: 0,
        }
    }

    /// Returns the instructions that it fetches in a cycle.
    pub(crate) fn width(&self) -> u64 {
        self.width
    }

    /// Fetches the next instruction of the stream, at `pc`. Returns its earliest issue.
    #[inline]
    pub(crate) fn fetch<S: A53Sink>(
        &mut self,
        core: usize,
        pc: u64,
        memory: &mut ClusterMemory,
        sink: &mut S,
    ) -> u64 {
        if self.used == self.width {
            self.advance_to(self.cycle + 1);
        }
        let room = self.issued[self.fetched.wrapping_sub(self.entries) % MAX_QUEUE];
        self.advance_to(room);
        self.has_missed = false;
        if pc >> LINE_SHIFT != self.line {
            self.line = pc >> LINE_SHIFT;
            self.fetch_line(core, pc, memory, sink);
        }
        self.used += 1;
        self.cycle + self.decode_cycles
    }

    /// Returns whether the fetch of the last instruction missed.
    #[inline]
    pub(crate) fn has_missed(&self) -> bool {
        self.has_missed
    }

    /// Returns why the queue is empty in the cycle `at`, before the arrival of the instruction that
    /// was fetched last, in the cycle `arrival`.
    pub(crate) fn empty_at(&self, at: u64, arrival: u64) -> EmptyQueue {
        let Miss { begin, translated, end } = self.miss;
        let cause = if end > translated { LostTo::InstCache } else { LostTo::InstTlb };
        let (cause, until, is_counted) = match () {
            () if !self.has_missed => (LostTo::FrontEnd, arrival, true),
            () if at < begin => (LostTo::FrontEnd, begin, true),
            () if at < translated => (LostTo::InstTlb, translated, true),
            () if at < end => (LostTo::InstCache, end, true),
            () => (cause, arrival, false),
        };
        EmptyQueue { cause, until: until.min(arrival), is_counted }
    }

    #[inline(never)]
    fn fetch_line<S: A53Sink>(
        &mut self,
        core: usize,
        pc: u64,
        memory: &mut ClusterMemory,
        sink: &mut S,
    ) {
        let begin = self.cycle;
        let reply = memory.fetch(core, pc, begin, sink);
        if reply.ready <= begin || self.is_ideal {
            return;
        }
        self.advance_to(reply.ready);
        let translated = reply.micro_tlb_ready.clamp(begin, reply.ready);
        self.has_missed = true;
        self.miss = Miss { begin, translated, end: reply.ready };
    }

    /// Returns the first cycle of the fetch of an arrival, and the cycle in which it is fetched.
    #[inline]
    pub(crate) fn fetched(&self, arrival: u64) -> (u64, u64) {
        let fetched = arrival - self.decode_cycles;
        (if self.has_missed { self.miss.begin } else { fetched }, fetched)
    }

    /// Notes the cycle in which the fetched instruction issued.
    #[inline]
    pub(crate) fn note_issue(&mut self, cycle: u64) {
        self.issued[self.fetched % MAX_QUEUE] = cycle;
        self.fetched = self.fetched.wrapping_add(1);
    }

    /// Ends the current fetch at a taken branch; the target is fetched after `bubble` cycles.
    #[inline]
    pub(crate) fn follow_taken(&mut self, bubble: u64) {
        if !self.is_ideal {
            self.advance_to(self.cycle + 1 + bubble);
        }
        self.line = NO_LINE;
    }

    /// Discards the queue, and fetches again from `cycle`.
    pub(crate) fn restart(&mut self, cycle: u64) {
        self.advance_to(cycle);
        self.line = NO_LINE;
    }

    /// Fetches the lines of a wrong path that begins at `pc`, in the cycles up to `until`. Returns
    /// the earliest issue of its first instruction, without the bubble of a taken branch.
    pub(crate) fn fetch_wrong_path<S: A53Sink>(
        &mut self,
        core: usize,
        pc: u64,
        until: u64,
        memory: &mut ClusterMemory,
        sink: &mut S,
    ) -> Option<u64> {
        let cycles = until.saturating_sub(self.cycle);
        let insts = cycles.saturating_mul(self.width).min(self.entries as u64);
        let more = insts.checked_sub(1)?;
        let last = pc.wrapping_add(4 * more) >> LINE_SHIFT;
        let mut now = self.cycle;
        let mut first = self.cycle + u64::from(self.used == self.width);
        for line in pc >> LINE_SHIFT..=last {
            if now >= until || line == self.line {
                continue;
            }
            let ready = memory.fetch(core, line << LINE_SHIFT, now, sink).ready;
            if line == pc >> LINE_SHIFT {
                first = first.max(ready);
            }
            now = ready.max(now + 1);
        }
        self.line = NO_LINE;
        Some(first + self.decode_cycles)
    }

    #[inline]
    fn advance_to(&mut self, cycle: u64) {
        if cycle > self.cycle {
            self.cycle = cycle;
            self.used = 0;
        }
    }
}
