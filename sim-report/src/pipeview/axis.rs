//! The cycles of a window as positions: stretches in which no operation changes its stage are shortened.

use std::ops::Range;

use sim_core::Cycle;

/// A stretch of cycles, and how much room it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The cycles.
    pub cycles: Range<Cycle>,
    /// Position of its first cycle, in cells.
    pub at: u64,
    /// Its cells: as many as it has cycles, or fewer.
    pub cells: u64,
}

impl Piece {
    /// True for a stretch that has less room than cycles.
    pub fn is_shortened(&self) -> bool {
        self.cells < self.cycles.end - self.cycles.start
    }
}

/// Where the cycles of a window are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Axis {
    pieces: Vec<Piece>,
}

impl Axis {
    /// An axis on which stretches between two of the `changes` have at most `longest` cells.
    pub fn new(mut changes: Vec<Cycle>, longest: u64) -> Axis {
        changes.sort_unstable();
        changes.dedup();
        let mut at = 0;
        let piece = |pair: &[Cycle]| {
            let cells = (pair[1] - pair[0]).min(longest.max(1));
            at += cells;
            Piece { cycles: pair[0]..pair[1], at: at - cells, cells }
        };
        Axis { pieces: changes.windows(2).map(piece).collect() }
    }

    /// Cells of the whole axis.
    pub fn cells(&self) -> u64 {
        self.pieces.last().map_or(0, |last| last.at + last.cells)
    }

    /// The stretches.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Position of a cycle in cells; the ends of the axis for one outside it.
    pub fn position(&self, cycle: Cycle) -> u64 {
        let behind = self.pieces.partition_point(|piece| piece.cycles.start <= cycle);
        let Some(piece) = behind.checked_sub(1).and_then(|last| self.pieces.get(last)) else {
            return 0;
        };
        piece.at + (cycle - piece.cycles.start).min(piece.cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_stretches_are_shortened_and_nothing_else() {
        let axis = Axis::new(vec![110, 10, 12, 10, 14], 20);
        assert_eq!(axis.cells(), 24);
        let at = |cycle| axis.position(cycle);
        assert_eq!([at(0), at(10), at(11), at(12), at(14)], [0, 0, 1, 2, 4]);
        assert_eq!([at(20), at(109), at(110), at(500)], [10, 24, 24, 24]);
        let shortened: Vec<_> = axis.pieces().iter().filter(|piece| piece.is_shortened()).collect();
        assert_eq!(shortened.len(), 1);
        assert_eq!(shortened[0].cycles, 14..110);
    }

    #[test]
    fn an_axis_without_cycles_has_no_room() {
        for changes in [vec![], vec![7], vec![7, 7]] {
            let axis = Axis::new(changes, 20);
            assert_eq!((axis.cells(), axis.position(7)), (0, 0));
        }
    }
}
