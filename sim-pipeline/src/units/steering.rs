//! Steering: the integer pipe of an operation that may use several, selected at dispatch (key
//! `pipeline.dispatch.integer-pipe`).
//!
//! Each queue serves one pipe (Chips and Cheese, A710 and A725), so an operation in a busy queue
//! waits although another pipe is idle. The core's selection rule is not published.

use crate::config::IntegerPipe;
use sim_isa::PipeMask;

/// Number of sets of integer pipes.
const SETS: usize = 1 << PipeMask::I.0.count_ones();

/// Next pipe of each set of integer pipes that operations may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steering {
    in_turn: bool,
    /// Pipes of each set that have not been selected in this round.
    left: [u16; SETS],
}

impl Steering {
    /// Returns the state before the first operation.
    pub(crate) fn new(integer: IntegerPipe) -> Steering {
        Steering { in_turn: integer == IntegerPipe::InTurn, left: [0; SETS] }
    }

    /// Returns the pipes for an operation that may use any of `pipes`: a single one if dispatch
    /// selects the pipe, else all.
    #[inline(always)]
    pub(crate) fn choose(&mut self, pipes: PipeMask) -> PipeMask {
        if !self.in_turn || pipes.0 & !PipeMask::I.0 != 0 {
            return pipes;
        }
        let left = &mut self.left[usize::from(pipes.0 >> PipeMask::I.0.trailing_zeros()) % SETS];
        let candidates = if *left == 0 { pipes.0 } else { *left };
        *left = candidates & (candidates - 1);
        PipeMask(candidates ^ *left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_set_of_pipes_has_its_own_round_robin() {
        let mut steering = Steering::new(IntegerPipe::InTurn);
        let lowest: Vec<u32> = (0..5)
            .map(|_| {
                assert_eq!(steering.choose(PipeMask::M).0.count_ones(), 1);
                steering.choose(PipeMask::I).0.trailing_zeros()
            })
            .collect();
        assert_eq!(lowest, [2, 3, 4, 5, 2]);
        assert_eq!(steering.choose(PipeMask::M0), PipeMask::M0);
        assert_eq!(steering.choose(PipeMask::L), PipeMask::L, "no integer pipes");
    }

    #[test]
    fn without_steering_any_pipe_may_be_used() {
        let mut steering = Steering::new(IntegerPipe::Any);
        assert_eq!(steering.choose(PipeMask::I), PipeMask::I);
    }
}
