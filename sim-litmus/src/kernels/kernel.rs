//! A kernel, and the steps of making one.

use crate::pages::Pages;

/// Cycles that a counted call takes on the modeled machine, about: 10 ms.
const CYCLES_OF_CALL: f64 = 25e6;
/// Distance of the touched groups of 32 lines, if they touch all lines.
pub(super) const LINES: u64 = 2048;

/// A loop of known behavior.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Name.
    pub id: String,
    /// Expected behavior in a sentence, with the unit of a round.
    pub what: String,
    /// Pages of its memory.
    pub pages: Pages,
    /// Rounds of a call in a recording.
    pub rounds: u64,
    /// Rounds of a call on a machine that counts.
    pub counted_rounds: u64,
    /// Bytes of its memory.
    pub bytes: u64,
    pub(super) layout: Layout,
    /// Distance of the loads that bring its memory into the caches or TLBs; 0 if it needs none.
    pub(super) touch: u64,
    pub(super) code: Code,
}

/// Content of the memory of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Zeros.
    Empty,
    /// Pointers in a random cycle, one every so many bytes. Pointers of different pages are in
    /// different lines of their pages.
    Cycle { distance: u64 },
    /// Random bytes of 0 and 1.
    Bits,
}

/// Instructions of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Code {
    /// Before the loop.
    pub(super) enter: String,
    /// Part of the loop that is repeated.
    pub(super) body: String,
    /// Number of times that the loop has it.
    pub(super) repeats: u64,
    /// Rounds of one body.
    pub(super) rounds: u64,
    /// After the loop.
    pub(super) leave: String,
    /// Function of the other core; empty if the kernel has one core.
    pub(super) peer: String,
    /// Functions that the body calls.
    pub(super) callees: String,
}

impl Kernel {
    /// Returns a kernel without memory whose loop has `repeats` times this body, each of them one
    /// round that takes about `cycles`.
    pub(super) fn new(
        id: impl Into<String>,
        what: impl Into<String>,
        body: &str,
        repeats: u64,
    ) -> Kernel {
        let code = Code { body: body.to_owned(), repeats, rounds: 1, ..Code::default() };
        Kernel {
            id: id.into(),
            what: what.into(),
            pages: Pages::Small,
            rounds: 0,
            counted_rounds: 0,
            bytes: 4096,
            layout: Layout::Empty,
            touch: 0,
            code,
        }
        .timed(2048, 1.0)
    }

    /// Returns the kernel with so many rounds of a recorded call, or the next number that its loop
    /// can make, and enough counted rounds for their cycles.
    pub(super) fn timed(mut self, rounds: u64, cycles: f64) -> Kernel {
        let of_loop = self.code.repeats * self.code.rounds;
        self.rounds = rounds.next_multiple_of(of_loop);
        self.counted_rounds = ((CYCLES_OF_CALL / cycles) as u64).next_multiple_of(of_loop);
        self
    }

    pub(super) fn entered_by(mut self, enter: &str) -> Kernel {
        self.code.enter = enter.to_owned();
        self
    }

    pub(super) fn left_by(mut self, leave: &str) -> Kernel {
        self.code.leave = leave.to_owned();
        self
    }

    pub(super) fn with_peer(mut self, peer: &str) -> Kernel {
        self.code.peer = peer.to_owned();
        self
    }

    /// Returns the kernel with a body of several rounds.
    pub(super) fn of_rounds(mut self, rounds: u64) -> Kernel {
        self.code.rounds = rounds;
        self
    }

    pub(super) fn with_memory(mut self, bytes: u64, layout: Layout, pages: Pages) -> Kernel {
        (self.bytes, self.layout, self.pages) = (bytes, layout, pages);
        self
    }

    pub(super) fn touched(mut self, distance: u64) -> Kernel {
        self.touch = distance;
        self
    }
}
