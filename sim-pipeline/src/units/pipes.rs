//! Reservations of the thirteen issue pipes: the busy pipes of each cycle (PMU guide 3.2.2).
//!
//! Operations take their cycles in program order. A younger operation may take an earlier free
//! cycle, so that the schedule equals that of an oldest-first scheduler. A cycle is one `u16`: bits
//! 0 to 12 are the pipes, bits 13 to 15 the three flag-writing ports of the integer pipes.

use sim_core::Cycle;
use sim_isa::PipeMask;

/// Cycles after the rename clock that can be reserved.
const HORIZON: u64 = 1 << 12;
const MASK: u64 = HORIZON - 1;
/// Three flag writers a cycle (LLVM N2 model).
const FLAG_PORTS: u16 = 0b111 << PipeMask::COUNT;
/// A port that is never busy, because it is no bit of a cycle.
const NO_PORT: u32 = 1 << u16::BITS;

const _: () = assert!(PipeMask::COUNT + 3 == 16, "pipes and flag ports fill a u16");

/// Pipe request of one micro-operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PipeRequest {
    /// Pipes that can execute it; it needs one of them.
    pub pipes: PipeMask,
    /// Cycles for which the pipe is blocked.
    pub occupancy: u64,
    /// Set if it needs one of the three flag ports.
    pub flag_port: bool,
}

impl PipeRequest {
    /// Returns a request for one cycle of one of these pipes.
    #[inline(always)]
    pub(crate) fn cycle_of(pipes: PipeMask) -> PipeRequest {
        PipeRequest { pipes, occupancy: 1, flag_port: false }
    }

    /// Returns the ports of which it needs one.
    #[inline(always)]
    fn ports(self) -> u32 {
        if self.flag_port { FLAG_PORTS.into() } else { NO_PORT }
    }
}

/// Reservations of all pipes, from the rename clock on.
#[derive(Clone, Debug)]
pub(crate) struct PipeReservations {
    busy: Box<[u16; HORIZON as usize]>,
    /// First cycle that may still be reserved; older reservations are dropped.
    base: Cycle,
    /// Cycles from `base` on in which pipes can be busy; 0 if pipes are unlimited.
    reach: Cycle,
}

impl Default for PipeReservations {
    fn default() -> Self {
        PipeReservations::new(false)
    }
}

impl PipeReservations {
    /// Returns pipes without reservations. With `unlimited`, pipes are never busy.
    pub(crate) fn new(unlimited: bool) -> PipeReservations {
        let reach = if unlimited { 0 } else { HORIZON };
        PipeReservations { busy: Box::new([0; HORIZON as usize]), base: 0, reach }
    }

    /// Drops the cycles before `now`: no operation can issue there any more.
    #[inline(always)]
    pub(crate) fn advance(&mut self, now: Cycle) {
        if now == self.base {
            return;
        }
        if now == self.base + 1 {
            self.busy[(self.base & MASK) as usize] = 0;
        } else {
            self.drop_before(now);
        }
        self.base = now;
    }

    /// Drops many cycles at once.
    #[inline(never)]
    fn drop_before(&mut self, now: Cycle) {
        if now - self.base >= HORIZON {
            self.busy.fill(0);
            return;
        }
        let (from, to) = ((self.base & MASK) as usize, (now & MASK) as usize);
        if from < to {
            self.busy[from..to].fill(0);
        } else {
            self.busy[from..].fill(0);
            self.busy[..to].fill(0);
        }
    }

    /// Reserves the first cycle from `earliest` on in which the request fits, and returns it. A
    /// cycle after `last` (the squash of a wrong path) is returned but not reserved.
    #[inline(always)]
    pub(crate) fn reserve(&mut self, request: PipeRequest, earliest: Cycle, last: Cycle) -> Cycle {
        let (cycle, bits) = self.first_free(request, earliest);
        if cycle <= last && bits != 0 {
            self.mark(bits, request.occupancy, cycle);
        }
        cycle
    }

    /// Returns the first cycle from `earliest` on in which the request fits, and the bits to set
    /// there.
    #[inline(always)]
    pub(crate) fn first_free(&self, request: PipeRequest, earliest: Cycle) -> (Cycle, u16) {
        if request.occupancy > 1 {
            return self.first_free_run(request, earliest);
        }
        let mut cycle = earliest.max(self.base);
        // Only a chain of misses to memory reaches further ahead, where no other operation
        // competes.
        let end = self.end_for(request);
        while cycle < end {
            if let Some(bits) = self.free_in(request, cycle) {
                return (cycle, bits);
            }
            cycle += 1;
        }
        (cycle, 0)
    }

    /// Returns the bits to set for a request of one cycle, if it fits in this one.
    #[inline(always)]
    fn free_in(&self, request: PipeRequest, cycle: Cycle) -> Option<u16> {
        let free = !u32::from(self.busy[(cycle & MASK) as usize]);
        let (pipes, ports) = (free & u32::from(request.pipes.0), free & request.ports());
        (pipes != 0 && ports != 0).then(|| (lowest_bit(pipes) | lowest_bit(ports)) as u16)
    }

    /// Returns the first cycle in which a request cannot begin, because it would reach too far.
    #[inline(always)]
    fn end_for(&self, request: PipeRequest) -> Cycle {
        (self.base + self.reach).saturating_sub(request.occupancy)
    }

    /// Does the same as [`PipeReservations::first_free`] for a request that blocks its pipe for
    /// several cycles. The search continues after the last cycle that rules out all pipes, because
    /// each earlier start includes that cycle.
    #[inline(never)]
    fn first_free_run(&self, request: PipeRequest, earliest: Cycle) -> (Cycle, u16) {
        let mut cycle = earliest.max(self.base);
        let end = self.end_for(request);
        while cycle < end {
            let (mut pipes, mut at) = (u32::from(request.pipes.0), cycle + request.occupancy);
            while pipes != 0 && at > cycle {
                at -= 1;
                pipes &= !u32::from(self.busy[(at & MASK) as usize]);
            }
            let ports = !u32::from(self.busy[(cycle & MASK) as usize]) & request.ports();
            if pipes != 0 && ports != 0 {
                return (cycle, (lowest_bit(pipes) | lowest_bit(ports)) as u16);
            }
            cycle = if pipes == 0 { end.min(at + 1) } else { cycle + 1 };
        }
        (cycle, 0)
    }

    #[inline(always)]
    fn mark(&mut self, bits: u16, occupancy: u64, cycle: Cycle) {
        self.busy[(cycle & MASK) as usize] |= bits;
        if occupancy > 1 {
            self.mark_after(bits & !FLAG_PORTS, occupancy, cycle);
        }
    }

    /// Reserves the pipe in all further cycles of a request that begins in `cycle`.
    #[inline(never)]
    fn mark_after(&mut self, pipe: u16, occupancy: u64, cycle: Cycle) {
        for later in 1..occupancy {
            self.busy[((cycle + later) & MASK) as usize] |= pipe;
        }
    }
}

#[inline]
fn lowest_bit(bits: u32) -> u32 {
    bits & bits.wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::time::NEVER;

    fn one(pipes: PipeMask) -> PipeRequest {
        PipeRequest { pipes, occupancy: 1, flag_port: false }
    }

    #[test]
    fn four_integer_operations_issue_in_one_cycle_and_the_fifth_waits() {
        let mut pipes = PipeReservations::default();
        let cycles: Vec<Cycle> =
            (0..5).map(|_| pipes.reserve(one(PipeMask::I), 10, NEVER)).collect();
        assert_eq!(cycles, [10, 10, 10, 10, 11]);
    }

    #[test]
    fn three_flag_writers_issue_in_one_cycle() {
        let mut pipes = PipeReservations::default();
        let request = PipeRequest { flag_port: true, ..one(PipeMask::I) };
        let cycles: Vec<Cycle> = (0..4).map(|_| pipes.reserve(request, 0, NEVER)).collect();
        assert_eq!(cycles, [0, 0, 0, 1]);
    }

    #[test]
    fn unlimited_pipes_never_delay_an_operation() {
        let mut pipes = PipeReservations::new(true);
        let divide = PipeRequest { occupancy: 12, flag_port: true, ..one(PipeMask::M0) };
        let cycles: Vec<Cycle> = (0..40).map(|_| pipes.reserve(divide, 5, NEVER)).collect();
        assert_eq!(cycles, [5; 40]);
    }

    #[test]
    fn a_divide_blocks_its_pipe_and_a_younger_operation_fills_an_earlier_gap() {
        let mut pipes = PipeReservations::default();
        let divide = PipeRequest { occupancy: 12, ..one(PipeMask::M0) };
        assert_eq!(pipes.reserve(divide, 5, NEVER), 5);
        assert_eq!(pipes.reserve(divide, 5, NEVER), 17);
        assert_eq!(pipes.reserve(one(PipeMask::M0), 2, NEVER), 2);
        assert_eq!(pipes.reserve(one(PipeMask::M0), 6, NEVER), 29);
    }

    #[test]
    fn an_operation_that_would_issue_after_the_squash_takes_no_pipe() {
        let mut pipes = PipeReservations::default();
        assert_eq!(pipes.reserve(one(PipeMask::M0), 8, 7), 8);
        assert_eq!(pipes.reserve(one(PipeMask::M0), 8, NEVER), 8);
    }

    /// Returns the first cycle in which a request fits, found cycle by cycle, and whether it is
    /// near enough to be reserved.
    fn first_by_steps(
        pipes: &PipeReservations,
        request: PipeRequest,
        earliest: Cycle,
    ) -> (Cycle, bool) {
        let mut cycle = earliest.max(pipes.base);
        while cycle + request.occupancy < pipes.base + HORIZON {
            let busy = |later| pipes.busy[((cycle + later) & MASK) as usize];
            let free = (0..request.occupancy).fold(request.pipes.0, |all, at| all & !busy(at));
            let has_port = !request.flag_port || !busy(0) & FLAG_PORTS != 0;
            if free != 0 && has_port {
                return (cycle, true);
            }
            cycle += 1;
        }
        (cycle, false)
    }

    #[test]
    fn the_search_agrees_with_one_that_goes_cycle_by_cycle() {
        let (mut pipes, mut state, mut now) = (PipeReservations::default(), 1_u64, 0);
        let masks = [PipeMask::M0, PipeMask::M, PipeMask::V0, PipeMask::V, PipeMask::I];
        for round in 0..60_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let random = |bits: u32| state >> 40 >> bits;
            // Phases of few and of many requests, the latter with full pipes up to the horizon.
            let is_crowded = round / 6_000 % 2 == 1;
            now += if is_crowded { random(3) % 64 / 60 } else { random(3) % 16 };
            pipes.advance(now);
            let occupancy = [1, 1, 1, 5, 12, 27][random(0) as usize % 6];
            let (pipe, flag_port) = (masks[random(7) as usize % 5], random(10) & 1 == 1);
            let request = PipeRequest { pipes: pipe, occupancy, flag_port };
            let earliest = now + random(12) % 40;
            let expected = first_by_steps(&pipes, request, earliest);
            let (cycle, bits) = pipes.first_free(request, earliest);
            assert_eq!((cycle, bits != 0), expected, "{request:?}");
            assert_eq!(pipes.reserve(request, earliest, NEVER), cycle);
        }
    }

    #[test]
    fn past_cycles_are_dropped_and_reused() {
        let mut pipes = PipeReservations::default();
        pipes.reserve(one(PipeMask::M0), 3, NEVER);
        pipes.advance(HORIZON + 3);
        assert_eq!(pipes.reserve(one(PipeMask::M0), HORIZON + 3, NEVER), HORIZON + 3);
    }
}
