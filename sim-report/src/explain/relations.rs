//! Relations of an event to other events, from the event table, with their labels.

use serde::Serialize;
use sim_core::PmuEvent;
use sim_core::pmu_event::RelationKind;

/// Source of a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The guide states it.
    Printed,
    /// It follows from the definitions.
    Inferred,
    /// The formula states it.
    Formula,
}

/// Relation of an event or metric to others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EventRelation {
    /// Label of the relation: `sum of`, `at most`.
    pub label: String,
    /// Source of the relation.
    pub origin: Origin,
    /// Related events or metrics, by mnemonic or name.
    pub others: Vec<String>,
}

/// Returns the relations of an event to others. Relations that other events state come last.
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

/// Returns the events whose places raise this one: itself, the parts of a sum, or the events of an
/// alias.
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
        // These relate to no other event: they are pitfalls (`super::pitfalls`).
        RelationKind::Never
        | RelationKind::RequiresExtllc
        | RelationKind::RequiresMte
        | RelationKind::RequiresSpe
        | RelationKind::RequiresOddCounter => ("", Origin::Printed),
    }
}
