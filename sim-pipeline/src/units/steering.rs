//! Steering: the integer pipe of an operation that may use several, chosen when it is dispatched (key
//! `pipeline.dispatch.integer-pipe`).
//!
//! Each queue serves one pipe (Chips and Cheese, A710 and A725), so an operation that is dispatched to the wrong
//! queue waits although another pipe is idle. Which queue the core chooses is not published.

use crate::config::IntegerPipe;
use sim_isa::PipeMask;

/// Sets of integer pipes.
const SETS: usize = 1 << PipeMask::I.0.count_ones();

/// The pipe that comes next, for each set of integer pipes from which operations may choose.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steering {
    in_turn: bool,
    /// Pipes of each set that have not had their turn.
    left: [u16; SETS],
}

impl Steering {
    /// Before the first operation.
    pub(crate) fn new(integer: IntegerPipe) -> Steering {
        Steering { in_turn: integer == IntegerPipe::InTurn, left: [0; SETS] }
    }

    /// The pipes for an operation that may use any of `pipes`: one of them if dispatch decides, else all.
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
    fn each_set_of_pipes_takes_turns_of_its_own() {
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
    fn without_turns_any_pipe_is_enough() {
        let mut steering = Steering::new(IntegerPipe::Any);
        assert_eq!(steering.choose(PipeMask::I), PipeMask::I);
    }
}
