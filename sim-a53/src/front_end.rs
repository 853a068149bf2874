//! Front end: fetches lines in the order of the stream and fills the instruction queue.

use crate::config::{MAX_QUEUE, PipelineConfig};
use crate::event::A53Sink;
use crate::memory::ClusterMemory;
use crate::slots::LostTo;

/// Bits of an address within a line.
const LINE_SHIFT: u32 = 6;
/// Line number that no address has.
const NO_LINE: u64 = u64::MAX;

/// Arrival of one instruction in the queue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrival {
    /// Earliest cycle of its issue.
    pub(crate) cycle: u64,
    /// The misses of its fetch.
    miss: Miss,
}

/// Cycles of a fetch that missed; all zero for a hit.
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

impl Arrival {
    /// Returns why the queue is empty in the cycle `at`, before the arrival.
    pub(crate) fn empty_at(&self, at: u64) -> EmptyQueue {
        let Miss { begin, translated, end } = self.miss;
        let cause = if end > translated { LostTo::InstCache } else { LostTo::InstTlb };
        let (cause, until, is_counted) = match () {
            () if end == 0 => (LostTo::FrontEnd, self.cycle, true),
            () if at < begin => (LostTo::FrontEnd, begin, true),
            () if at < translated => (LostTo::InstTlb, translated, true),
            () if at < end => (LostTo::InstCache, end, true),
            () => (cause, self.cycle, false),
        };
        EmptyQueue { cause, until: until.min(self.cycle), is_counted }
    }
}

/// Front end of one core.
#[derive(Clone, Debug)]
pub(crate) struct FrontEnd {
    width: u64,
    decode_cycles: u64,
    entries: usize,
    /// Cycle of the current fetch, and the instructions that it already has.
    cycle: u64,
    used: u64,
    /// Line of the current fetch.
    line: u64,
    /// Issue cycles of the last instructions, in a ring: an entry of the queue is free when its
    /// instruction has issued.
    issued: [u64; MAX_QUEUE],
    at: usize,
}

impl FrontEnd {
    pub(crate) fn new(config: &PipelineConfig) -> FrontEnd {
        FrontEnd {
            width: config.fetch_width,
            decode_cycles: config.decode_cycles,
            entries: config.queue_entries,
            cycle: 0,
            used: 0,
            line: NO_LINE,
            issued: [0; MAX_QUEUE],
            at: 0,
        }
    }

    /// Fetches the next instruction of the stream, at `pc`.
    #[inline]
    pub(crate) fn fetch<S: A53Sink>(
        &mut self,
        core: usize,
        pc: u64,
        memory: &mut ClusterMemory,
        sink: &mut S,
    ) -> Arrival {
        if self.used == self.width {
            self.advance_to(self.cycle + 1);
        }
        let room = self.issued[self.at];
        self.advance_to(room);
        let miss = if pc >> LINE_SHIFT != self.line {
            self.line = pc >> LINE_SHIFT;
            self.fetch_line(core, pc, memory, sink)
        } else {
            Miss::default()
        };
        self.used += 1;
        Arrival { cycle: self.cycle + self.decode_cycles, miss }
    }

    #[inline(never)]
    fn fetch_line<S: A53Sink>(
        &mut self,
        core: usize,
        pc: u64,
        memory: &mut ClusterMemory,
        sink: &mut S,
    ) -> Miss {
        let begin = self.cycle;
        let reply = memory.fetch(core, pc, begin, sink);
        if reply.ready <= begin {
            return Miss::default();
        }
        self.advance_to(reply.ready);
        Miss {
            begin,
            translated: reply.micro_tlb_ready.clamp(begin, reply.ready),
            end: reply.ready,
        }
    }

    /// Returns the first cycle of the fetch of an arrival, and the cycle in which it is fetched.
    #[inline]
    pub(crate) fn fetched(&self, arrival: &Arrival) -> (u64, u64) {
        let fetched = arrival.cycle - self.decode_cycles;
        (if arrival.miss.end > 0 { arrival.miss.begin } else { fetched }, fetched)
    }

    /// Notes the cycle in which the fetched instruction issued.
    #[inline]
    pub(crate) fn note_issue(&mut self, cycle: u64) {
        self.issued[self.at] = cycle;
        self.at += 1;
        if self.at == self.entries {
            self.at = 0;
        }
    }

    /// Ends the current fetch at a taken branch; the target is fetched after `bubble` cycles.
    #[inline]
    pub(crate) fn follow_taken(&mut self, bubble: u64) {
        self.advance_to(self.cycle + 1 + bubble);
        self.line = NO_LINE;
    }

    /// Discards the queue, and fetches again from `cycle`.
    pub(crate) fn restart(&mut self, cycle: u64) {
        self.advance_to(cycle);
        self.line = NO_LINE;
    }

    /// Fetches the lines of a wrong path that begins at `pc`, in the cycles up to `until`.
    pub(crate) fn fetch_wrong_path<S: A53Sink>(
        &mut self,
        core: usize,
        pc: u64,
        until: u64,
        memory: &mut ClusterMemory,
        sink: &mut S,
    ) {
        let cycles = until.saturating_sub(self.cycle);
        let insts = (cycles * self.width).min(self.entries as u64);
        let Some(more) = insts.checked_sub(1) else { return };
        let last = pc.wrapping_add(4 * more) >> LINE_SHIFT;
        let mut now = self.cycle;
        for line in pc >> LINE_SHIFT..=last {
            if now >= until || line == self.line {
                continue;
            }
            now = memory.fetch(core, line << LINE_SHIFT, now, sink).ready.max(now + 1);
        }
        self.line = NO_LINE;
    }

    #[inline]
    fn advance_to(&mut self, cycle: u64) {
        if cycle > self.cycle {
            self.cycle = cycle;
            self.used = 0;
        }
    }
}
