//! Events that are counted for each instruction and for each interval: a selection.

use sim_core::PmuEvent;
use sim_core::pmu_event::{COUNT, RelationKind};

/// Selected event. Its finer events count towards it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Column {
    /// `INST_RETIRED`.
    Instructions,
    /// `BR_MIS_PRED_RETIRED`.
    BranchMisses,
    /// `L1I_CACHE_REFILL`.
    L1iRefills,
    /// `L1D_CACHE_REFILL`.
    L1dRefills,
    /// `L2D_CACHE_REFILL`.
    L2Refills,
    /// `LL_CACHE_MISS_RD`.
    LlMisses,
    /// `DTLB_WALK`.
    DtlbWalks,
    /// `ITLB_WALK`.
    ItlbWalks,
}

impl Column {
    /// Number of columns.
    pub const COUNT: usize = Column::ALL.len();

    /// Every column.
    pub const ALL: [Column; 8] = [
        Column::Instructions,
        Column::BranchMisses,
        Column::L1iRefills,
        Column::L1dRefills,
        Column::L2Refills,
        Column::LlMisses,
        Column::DtlbWalks,
        Column::ItlbWalks,
    ];

    /// Returns the event of this column.
    pub fn event(self) -> PmuEvent {
        match self {
            Column::Instructions => PmuEvent::INST_RETIRED,
            Column::BranchMisses => PmuEvent::BR_MIS_PRED_RETIRED,
            Column::L1iRefills => PmuEvent::L1I_CACHE_REFILL,
            Column::L1dRefills => PmuEvent::L1D_CACHE_REFILL,
            Column::L2Refills => PmuEvent::L2D_CACHE_REFILL,
            Column::LlMisses => PmuEvent::LL_CACHE_MISS_RD,
            Column::DtlbWalks => PmuEvent::DTLB_WALK,
            Column::ItlbWalks => PmuEvent::ITLB_WALK,
        }
    }
}

/// Column of each event as the model raises it.
#[derive(Clone, Debug)]
pub(crate) struct Columns([Option<Column>; COUNT]);

impl Default for Columns {
    fn default() -> Self {
        let mut columns = Columns([None; COUNT]);
        for column in Column::ALL {
            columns.enter(column.event(), column);
        }
        columns
    }
}

impl Columns {
    /// Returns the column to which occurrences of `event` belong.
    #[inline]
    pub(crate) fn of(&self, event: PmuEvent) -> Option<Column> {
        self.0[event as usize]
    }

    fn enter(&mut self, event: PmuEvent, column: Column) {
        let parts = [RelationKind::AliasOf, RelationKind::SumOf, RelationKind::ImpliedSumOf];
        let parts = parts.into_iter().find_map(|kind| event.relation(kind));
        self.0[event as usize] = Some(column);
        for part in parts.unwrap_or_default() {
            self.enter(*part, column);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::{Counts, EventSink};

    #[test]
    fn each_column_adds_up_to_its_event() {
        let columns = Columns::default();
        let mut counts = Counts::default();
        let mut sums = [0; Column::COUNT];
        for (event, n) in PmuEvent::ALL.into_iter().zip(1..) {
            counts.count(event, n);
            if let Some(column) = columns.of(event) {
                sums[column as usize] += n;
            }
        }
        for column in Column::ALL {
            assert_eq!(sums[column as usize], counts.value(column.event()), "{column:?}");
        }
    }
}
