//! Generators: the smallest combinations of counts. Every possible table is a sum of them.

use std::collections::HashSet;
use std::sync::LazyLock;

use sim_core::flow::{TIES, Tie};
use sim_core::pmu_event::{COUNT, PmuEvent, RelationKind};

use crate::other_counts::{OUTSIDE, UP_TO};
use crate::paths::{self, Tally, Trail};

/// Counts of one occurrence: of a path through the flows, or of an event outside of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generator {
    name: String,
    counts: [u64; COUNT],
}

impl Generator {
    /// Creates a generator from the events that the model raises. Sums and aliases follow from
    /// them.
    fn new(name: String, raised: &Tally) -> Generator {
        let mut counts = [0; COUNT];
        for event in PmuEvent::ALL {
            counts[event as usize] = value(event, raised);
        }
        Generator { name, counts }
    }

    /// Returns the flows and decisions of the path, such as `5.1 hit; 5.4 miss, L2 hit`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the count of an event.
    pub fn count(&self, event: PmuEvent) -> u64 {
        self.counts[event as usize]
    }
}

/// Returns the count of an event, of its parts if it is a sum.
fn value(event: PmuEvent, raised: &Tally) -> u64 {
    let own = raised.get(&event).copied().unwrap_or_default();
    own + parts(event).iter().map(|part| value(*part, raised)).sum::<u64>()
}

/// Returns the events that an event adds up, or its other name.
pub(crate) fn parts(event: PmuEvent) -> &'static [PmuEvent] {
    [RelationKind::AliasOf, RelationKind::SumOf, RelationKind::ImpliedSumOf]
        .into_iter()
        .find_map(|kind| event.relation(kind))
        .unwrap_or_default()
}

/// Generators of the core, and the number of paths that they come from.
pub(crate) struct Generators {
    pub(crate) all: Vec<Generator>,
    pub(crate) paths: usize,
}

/// Returns the generators. They are the same for every table.
pub(crate) fn generators() -> &'static Generators {
    static FOUND: LazyLock<Generators> = LazyLock::new(|| {
        let trails = paths::trails();
        Generators { paths: trails.len(), all: without_sums(different(trails)) }
    });
    &FOUND
}

/// Drops the generators that are the sum of two others.
fn without_sums(found: Vec<Generator>) -> Vec<Generator> {
    let known: HashSet<[u64; COUNT]> = found.iter().map(|own| own.counts).collect();
    let is_sum = |whole: &Generator| {
        found.iter().any(|part| {
            let rest = part.counts.iter().zip(&whole.counts);
            part.counts != whole.counts && rest.clone().all(|(part, whole)| part <= whole) && {
                let mut counts = [0; COUNT];
                counts.iter_mut().zip(rest).for_each(|(own, (part, whole))| *own = whole - part);
                known.contains(&counts)
            }
        })
    };
    let kept: Vec<bool> = found.iter().map(|own| !is_sum(own)).collect();
    found.into_iter().zip(kept).filter(|(_, is_kept)| *is_kept).map(|(own, _)| own).collect()
}

/// Returns every generator once: paths of the flows, what the model counts beside them, and every
/// other event by itself.
fn different(trails: Vec<Trail>) -> Vec<Generator> {
    let mut found: Vec<Generator> = Vec::new();
    let mut add = |generator: Generator| {
        let is_known = found.iter().any(|known| known.counts == generator.counts);
        if !is_known && generator.counts.iter().any(|n| *n > 0) {
            found.push(generator);
        }
    };
    let mut in_flows: Vec<PmuEvent> = Vec::new();
    for trail in trails {
        in_flows.extend(trail.events.keys());
        add(Generator::new(trail.name, &trail.events));
    }
    for (events, reason) in OUTSIDE {
        add(Generator::new(reason.to_owned(), &events.iter().map(|event| (*event, 1)).collect()));
    }
    for event in PmuEvent::ALL {
        let is_derived = !parts(event).is_empty() || event.relation(RelationKind::Never).is_some();
        let tie = TIES.iter().find(|(tied, ..)| *tied == event);
        let is_bounded = UP_TO.iter().any(|(_, _, bounded, _)| *bounded == event);
        let reason = match tie {
            _ if is_bounded => continue,
            Some((_, Tie::AtLeast | Tie::Apart, reason)) => *reason,
            _ if is_derived || in_flows.contains(&event) => continue,
            _ => "by itself",
        };
        let name = format!("{}: {reason}", event.mnemonic());
        add(Generator::new(name, &[(event, 1)].into()));
    }
    found
}
