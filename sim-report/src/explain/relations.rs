//! How an event is tied to others, for readers: the relations of the event table, each with its words.

use serde::Serialize;
use sim_core::PmuEvent;
use sim_core::pmu_event::RelationKind;

/// Who says that two things are tied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The guide says so.
    Printed,
    /// It follows from the definitions.
    Inferred,
    /// The formula says so.
    Formula,
}

/// One relation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EventRelation {
    /// How the two sides are tied: `sum of`, `at most`.
    pub label: String,
    /// Whether the guide says so.
    pub origin: Origin,
    /// The other side, by mnemonic or metric name.
    pub others: Vec<String>,
}

/// The relations of an event that name others, those that others state of it last.
pub(super) fn of_event(event: PmuEvent) -> Vec<EventRelation> {
    let mut relations = Vec::new();
    for relation in event.info().relations.iter().filter(|relation| !relation.others.is_empty()) {
        let (label, origin) = words(relation.kind);
        relations.push(EventRelation {
            label: label.to_owned(),
            origin,
            others: names(relation.others),
        });
    }
    let stated_of = |kind: RelationKind| -> Vec<PmuEvent> {
        let names_it =
            |other: &PmuEvent| other.relation(kind).is_some_and(|others| others.contains(&event));
        PmuEvent::ALL.into_iter().filter(names_it).collect()
    };
    for (kind, label) in [
        (RelationKind::AliasOf, "also counted as"),
        (RelationKind::SumOf, "a part of"),
        (RelationKind::ImpliedSumOf, "a part of"),
    ] {
        let others = stated_of(kind);
        if !others.is_empty() {
            let origin = words(kind).1;
            relations.push(EventRelation {
                label: label.to_owned(),
                origin,
                others: names(&others),
            });
        }
    }
    relations
}

/// The events whose places raise this one: itself, and the parts of a sum or what an alias stands for.
pub(super) fn parts(event: PmuEvent) -> Vec<PmuEvent> {
    let mut parts = vec![event];
    let derived = [RelationKind::AliasOf, RelationKind::SumOf, RelationKind::ImpliedSumOf];
    if let Some(others) = derived.into_iter().find_map(|kind| event.relation(kind)) {
        parts.extend(others.iter().flat_map(|other| self::parts(*other)));
    }
    parts
}

fn names(events: &[PmuEvent]) -> Vec<String> {
    events.iter().map(|event| event.mnemonic().to_owned()).collect()
}

fn words(kind: RelationKind) -> (&'static str, Origin) {
    match kind {
        RelationKind::SumOf => ("sum of", Origin::Printed),
        RelationKind::AliasOf => ("the same as", Origin::Printed),
        RelationKind::SubsetOf => ("at most", Origin::Printed),
        RelationKind::SupersetOf => ("at least each of", Origin::Printed),
        RelationKind::ImpliedSumOf => ("sum of", Origin::Inferred),
        RelationKind::ImpliedSubsetOf => ("at most", Origin::Inferred),
        RelationKind::ImpliedSupersetOf => ("at least each of", Origin::Inferred),
        // These name nobody: they are pitfalls (`super::pitfalls`).
        RelationKind::Never
        | RelationKind::RequiresExtllc
        | RelationKind::RequiresMte
        | RelationKind::RequiresSpe
        | RelationKind::RequiresOddCounter => ("", Origin::Printed),
    }
}
