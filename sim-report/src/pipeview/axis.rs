//! Horizontal axis of a window: intervals in which no operation changes its stage are shortened.

use std::ops::Range;

use sim_core::Cycle;

/// Interval of cycles with its width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Cycles.
    pub cycles: Range<Cycle>,
    /// Position of its first cycle, in cells.
    pub at: u64,
    /// Width in cells: at most its number of cycles.
    pub cells: u64,
}

impl Piece {
    /// Returns whether it has fewer cells than cycles.
    pub fn is_shortened(&self) -> bool {
        self.cells < self.cycles.end - self.cycles.start
    }
}

/// Positions of the cycles of a window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Axis {
    pieces: Vec<Piece>,
}

impl Axis {
    /// Creates an axis on which an interval between two of the `changes` has at most `longest`
    /// cells.
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

    /// Returns the cells of the whole axis.
    pub fn cells(&self) -> u64 {
        self.pieces.last().map_or(0, |last| last.at + last.cells)
    }

    /// Returns the intervals.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Returns the position of a cycle in cells, or the nearest end of the axis for a cycle outside
    /// it.
    pub fn position(&self, cycle: Cycle) -> u64 {
        let after = self.pieces.partition_point(|piece| piece.cycles.start <= cycle);
        let Some(piece) = after.checked_sub(1).and_then(|last| self.pieces.get(last)) else {
            return 0;
        };
        piece.at + (cycle - piece.cycles.start).min(piece.cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_intervals_are_shortened() {
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
    fn an_axis_without_cycles_has_no_width() {
        for changes in [vec![], vec![7], vec![7, 7]] {
            let axis = Axis::new(changes, 20);
            assert_eq!((axis.cells(), axis.position(7)), (0, 0));
        }
    }
}
