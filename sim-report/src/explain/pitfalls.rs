//! Common mistakes with events: those that follow from the event table, and those in
//! [`super::pitfall_table`].

use serde::Serialize;
use sim_core::PmuEvent;
use sim_core::pmu_event::{Group, RelationKind};

use super::pitfall_table::{INSTEAD, PITFALLS, SILICON};

/// Common mistake with an event, metric or cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pitfall {
    /// Short title, such as `never counts`.
    pub title: String,
    /// Explanation.
    pub text: String,
}

impl Pitfall {
    pub(super) fn new(title: &str, text: impl Into<String>) -> Pitfall {
        Pitfall { title: title.to_owned(), text: text.into() }
    }
}

/// Returns every pitfall of an event, the most serious first.
pub(super) fn of_event(event: PmuEvent) -> Vec<Pitfall> {
    let mut pitfalls: Vec<Pitfall> = never(event).into_iter().collect();
    pitfalls.extend(alias(event));
    pitfalls.extend(requirements(event));
    let about = |events: &[PmuEvent]| events.contains(&event);
    let own = PITFALLS.iter().filter(|row| about(row.events));
    pitfalls.extend(own.map(|row| Pitfall::new(row.title, row.text)));
    if counts_wrong_paths(event) {
        pitfalls.push(Pitfall::new(
            "wrong paths count",
            "work on a wrong path counts too, although it is squashed",
        ));
    }
    let differing = SILICON.iter().filter(|row| about(row.events));
    pitfalls.extend(differing.map(|row| Pitfall::new("silicon differs", row.text)));
    pitfalls
}

fn never(event: PmuEvent) -> Option<Pitfall> {
    let instead = INSTEAD.iter().find(|(never, _)| *never == event);
    let instead = instead.map_or("", |(_, instead)| *instead);
    let text = format!("the counter stays 0 for every program, as PMCEID states; {instead}");
    event.never_counts().then(|| Pitfall::new("never counts", text))
}

fn alias(event: PmuEvent) -> Option<Pitfall> {
    let of = event.relation(RelationKind::AliasOf)?.first()?;
    let text = format!(
        "another name of {}: both counters always show the same value, so a formula that subtracts or \
         compares them is meaningless",
        of.mnemonic()
    );
    Some(Pitfall::new("alias", text))
}

fn requirements(event: PmuEvent) -> impl Iterator<Item = Pitfall> {
    let text = |kind: RelationKind| match kind {
        RelationKind::RequiresExtllc => Some((
            "EXTLLC",
            "counts only while CPUECTLR.EXTLLC is 1, which firmware sets on chips that have a system \
             level cache; software at EL1 and EL0 cannot distinguish a clear bit from no reads",
        )),
        RelationKind::RequiresMte => Some((
            "needs tagging",
            "0 unless the accessed memory is tagged and tag checks are on (MTE)",
        )),
        RelationKind::RequiresSpe => Some((
            "needs profiling",
            "0 unless the statistical profiling unit is enabled at the level that runs",
        )),
        RelationKind::RequiresOddCounter => Some((
            "odd counters only",
            "works on counters 1, 3 and 5: it counts the overflows of the even counter just below, \
             which names the event; on an even counter it stays 0",
        )),
        _ => None,
    };
    let relations = event.info().relations.iter();
    relations
        .filter_map(move |relation| text(relation.kind))
        .map(|(title, text)| Pitfall::new(title, text))
}

/// Returns whether the event counts work that may be squashed.
fn counts_wrong_paths(event: PmuEvent) -> bool {
    use PmuEvent::*;
    // Work of a store after its retirement, and work that belongs to no instruction.
    const ARCHITECTURAL: &[PmuEvent] = &[
        TTBR_WRITE_RETIRED,
        L1D_CACHE_WR,
        L1D_CACHE_REFILL_WR,
        L1D_CACHE_INVAL,
        L1D_CACHE_WB_CLEAN,
        L2D_CACHE_INVAL,
        L2D_CACHE_WB_CLEAN,
        INST_RETIRED,
        OP_RETIRED,
        BR_RETIRED,
        BR_MIS_PRED_RETIRED,
    ];
    let of_work =
        !matches!(event.info().group, Group::Exception | Group::Cpu | Group::Pipeline | Group::Spe);
    of_work && !event.never_counts() && !ARCHITECTURAL.contains(&event)
}
