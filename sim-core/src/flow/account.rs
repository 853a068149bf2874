//! Comparison of the box visits of the flows with the event counts.
//!
//! Most events of the flows are raised only at their boxes, so visits and count are equal. [`TIES`]
//! lists the others: events that are raised elsewhere too, or once for two visits.

use super::{Flow, FlowCounts, FlowGraph};
use crate::counts::Counts;
use crate::pmu_event::PmuEvent;

/// Relation between the count of an event and the visits of its boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tie {
    /// The count equals the visits of all boxes of the event.
    Visits,
    /// The count equals the visits of the box in this flow. Another flow prints the same occurrence
    /// again.
    VisitsIn(Flow),
    /// The count is per instruction and the visits are per access, so neither bounds the other.
    Apart,
    /// The count is not less than the visits.
    AtLeast,
}

/// Events whose count differs from the visits of their boxes, with the reason.
pub const TIES: [(PmuEvent, Tie, &str); 9] = [
    (
        PmuEvent::LD_SPEC,
        Tie::Apart,
        "once a load, even if squashed early; split ones visit more often (A11)",
    ),
    (
        PmuEvent::ST_SPEC,
        Tie::Apart,
        "once a store, even if squashed early; split ones visit more often (A11)",
    ),
    (
        PmuEvent::MEM_ACCESS_RD,
        Tie::VisitsIn(Flow::LoadTlb),
        "5.1 and 5.4 print the same occurrence",
    ),
    (
        PmuEvent::MEM_ACCESS_WR,
        Tie::VisitsIn(Flow::StoreTlb),
        "5.2 and 5.5 print the same occurrence",
    ),
    (
        PmuEvent::L2D_TLB_REFILL_RD,
        Tie::AtLeast,
        "addresses of tables may be kept and counted too (A14)",
    ),
    (
        PmuEvent::L2D_TLB_REFILL_WR,
        Tie::AtLeast,
        "addresses of tables may be kept and counted too (A14)",
    ),
    (
        PmuEvent::BUS_ACCESS_RD,
        Tie::AtLeast,
        "uncached reads and prefetches use the bus too (4.6.5)",
    ),
    (
        PmuEvent::BUS_ACCESS_WR,
        Tie::AtLeast,
        "uncached writes, evictions and cleans use the bus too (4.6.6, A48)",
    ),
    (PmuEvent::REMOTE_ACCESS, Tie::AtLeast, "uncached reads have data of another chip too (4.6.4)"),
];

/// Visits and count of one event of the flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// Event that the visits and the count belong to.
    pub event: PmuEvent,
    /// Visits of the boxes that account for it.
    pub visits: u64,
    /// Count of the event.
    pub counted: u64,
    /// Expected relation between visits and count.
    pub tie: Tie,
    /// Reason why visits and count may differ; empty if they must be equal.
    pub reason: &'static str,
}

impl Account {
    /// Returns true if visits and count have the expected relation.
    pub fn holds(&self) -> bool {
        match self.tie {
            Tie::Visits | Tie::VisitsIn(_) => self.counted == self.visits,
            Tie::Apart => true,
            Tie::AtLeast => self.counted >= self.visits,
        }
    }
}

/// Returns the account of every event of the flows, in the order in which the flows name them.
pub fn account(flows: &FlowCounts, counts: &Counts) -> Vec<Account> {
    let mut accounts: Vec<Account> = Vec::new();
    for graph in Flow::ALL.map(FlowGraph::new) {
        for (event, visits) in flows.events(&graph) {
            let tied = TIES.iter().find(|(known, ..)| *known == event);
            let (tie, reason) = tied.map_or((Tie::Visits, ""), |(_, tie, reason)| (*tie, *reason));
            let is_same_again = matches!(tie, Tie::VisitsIn(flow) if flow != graph.flow());
            let visits = if is_same_again { 0 } else { visits };
            match accounts.iter_mut().find(|known| known.event == event) {
                Some(known) => known.visits = known.visits.saturating_add(visits),
                None => {
                    let counted = counts.raised(event);
                    accounts.push(Account { event, visits, counted, tie, reason });
                }
            }
        }
    }
    accounts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::FlowEdge;
    use crate::sink::EventSink;

    fn of(accounts: &[Account], event: PmuEvent) -> Account {
        *accounts.iter().find(|account| account.event == event).expect("an event of the flows")
    }

    #[test]
    fn a_surplus_or_missing_event_is_detected() {
        let mut flows = FlowCounts::default();
        flows.add(FlowEdge::LoadTlbHit, 3);
        flows.add(FlowEdge::L1dReadHit, 3);
        let mut counts = Counts::default();
        counts.count(PmuEvent::LD_SPEC, 2);
        counts.count(PmuEvent::MEM_ACCESS_RD, 3);
        counts.count(PmuEvent::L1D_TLB_RD, 3);
        counts.count(PmuEvent::L1D_CACHE_RD, 3);
        let accounts = account(&flows, &counts);
        assert!(accounts.iter().all(Account::holds), "{accounts:?}");
        let (reads, accesses) =
            (of(&accounts, PmuEvent::LD_SPEC), of(&accounts, PmuEvent::MEM_ACCESS_RD));
        assert_eq!((reads.visits, reads.counted), (3, 2));
        assert_eq!((accesses.visits, accesses.counted), (3, 3), "printed twice, counted once");
        counts.raise(PmuEvent::L1D_CACHE_RD);
        counts.raise(PmuEvent::MEM_ACCESS_RD);
        let accounts = account(&flows, &counts);
        let wrong: Vec<PmuEvent> =
            accounts.iter().filter(|one| !one.holds()).map(|one| one.event).collect();
        assert_eq!(wrong, [PmuEvent::MEM_ACCESS_RD, PmuEvent::L1D_CACHE_RD]);
        counts.count(PmuEvent::BUS_ACCESS_RD, 5);
        flows.add(FlowEdge::L2ReadMiss, 1);
        flows.add(FlowEdge::L2ReadLocal, 1);
        let bus = of(&account(&flows, &counts), PmuEvent::BUS_ACCESS_RD);
        assert!(bus.visits == 1 && bus.counted == 5 && bus.holds(), "{bus:?}");
    }
}
