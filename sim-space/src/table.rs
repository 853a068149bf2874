//! Whether a table of counts is in the space, with the inequality that it violates if not.

use std::collections::BTreeMap;

use sim_core::pmu_event::PmuEvent;
use sim_metrics::Count;

use crate::generator::Generator;
use crate::inequality::Inequality;
use crate::simplex::{self, Answer, Bound, Row};
use crate::space::Space;

/// Counts of one window. Events without a count are open.
#[derive(Clone, Debug, Default)]
pub struct Table {
    ranges: BTreeMap<PmuEvent, Range>,
}

/// The values that a count may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) value: u64,
    pub(crate) low: i128,
    pub(crate) high: i128,
}

impl Table {
    /// Creates a table. Each count may differ by its own tolerance or by `tolerance`, whichever is
    /// larger (both are shares of the count), and by its rounding.
    pub fn new(counts: impl IntoIterator<Item = (PmuEvent, Count)>, tolerance: f64) -> Table {
        let range = |count: Count| {
            let share = tolerance.max(count.tolerance);
            let slack = (count.value as f64 * share) as i128 + i128::from(count.rounding);
            let value = i128::from(count.value);
            Range { value: count.value, low: (value - slack).max(0), high: value + slack }
        };
        let ranges = counts.into_iter().map(|(event, count)| (event, range(count))).collect();
        Table { ranges }
    }

    /// Returns the count of an event.
    pub fn value(&self, event: PmuEvent) -> Option<u64> {
        self.ranges.get(&event).map(|range| range.value)
    }

    pub(crate) fn range(&self, event: PmuEvent) -> Option<Range> {
        self.ranges.get(&event).copied()
    }

    /// Returns the table without some events.
    #[must_use]
    pub fn without(&self, left_out: impl Fn(PmuEvent) -> bool) -> Table {
        let kept = self.ranges.iter().filter(|(event, _)| !left_out(**event));
        Table { ranges: kept.map(|(event, range)| (*event, *range)).collect() }
    }

    fn only(&self, events: &[PmuEvent]) -> Table {
        self.without(|event| !events.contains(&event))
    }
}

/// Result of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Membership {
    /// The counts can occur together.
    Inside,
    /// They cannot: they violate this inequality, which holds for everything in the space.
    Outside(Inequality),
    /// The numbers are too large for an answer.
    Undecided,
}

/// A weight that an event or a rule has in a proof.
struct Weights {
    events: Vec<(i128, PmuEvent)>,
    rules: Vec<i128>,
}

impl Space {
    /// Tests a table. The inequality of a table outside names as few events as it can: without any
    /// of them the others would be possible.
    pub fn test(&self, table: &Table) -> Membership {
        let mut weights = match self.prove(table) {
            Ok(None) => return Membership::Inside,
            Ok(Some(weights)) => weights,
            Err(TooLarge) => return Membership::Undecided,
        };
        // Sums first: an inequality between parts says more.
        let mut candidates: Vec<PmuEvent> = weights.named();
        candidates.sort_by_key(|event| crate::generator::parts(*event).is_empty());
        for candidate in candidates {
            let named = weights.named();
            if !named.contains(&candidate) {
                continue;
            }
            let fewer: Vec<PmuEvent> =
                named.into_iter().filter(|event| *event != candidate).collect();
            if let Ok(Some(shorter)) = self.prove(&table.only(&fewer)) {
                weights = shorter;
            }
        }
        Inequality::proven(self, table, &weights.events, &weights.rules)
            .map_or(Membership::Undecided, Membership::Outside)
    }

    /// Returns every inequality that a table violates, no two with an event in common, and whether
    /// the rest of the table is known to be possible.
    pub fn violations(&self, table: &Table) -> (Vec<Inequality>, bool) {
        let mut found: Vec<Inequality> = Vec::new();
        let mut rest = table.clone();
        loop {
            match self.test(&rest) {
                Membership::Outside(inequality) => {
                    rest = rest.without(|event| inequality.names(event));
                    found.push(inequality);
                }
                Membership::Inside => return (found, true),
                Membership::Undecided => return (found, false),
            }
        }
    }

    /// Returns weights that prove a table impossible, or `None` if it is possible.
    fn prove(&self, table: &Table) -> Result<Option<Weights>, TooLarge> {
        let problem = Problem::new(self, table);
        match simplex::solve(&problem.rows) {
            Answer::Possible => Ok(None),
            Answer::TooLarge => Err(TooLarge),
            Answer::Impossible(weights) => Ok(Some(problem.weights(self, &weights))),
        }
    }
}

/// The numbers grew too large.
struct TooLarge;

impl Weights {
    fn named(&self) -> Vec<PmuEvent> {
        self.events.iter().map(|(_, event)| *event).collect()
    }
}

/// The linear program of a table.
struct Problem {
    rows: Vec<Row>,
    /// Event of each of the first rows.
    events: Vec<PmuEvent>,
    /// Number of the rule of each further row.
    rules: Vec<usize>,
}

impl Problem {
    fn new(space: &Space, table: &Table) -> Problem {
        let observed: Vec<(PmuEvent, Range)> =
            table.ranges.iter().map(|(event, range)| (*event, *range)).collect();
        let (columns, rules) = reduced(space, &observed);
        let mut problem = Problem { rows: Vec::new(), events: Vec::new(), rules };
        for (place, (event, range)) in observed.iter().enumerate() {
            let parts: Vec<i128> = columns.iter().map(|column| column[place]).collect();
            let bounds: &[(Bound, i128)] = match range.low == range.high {
                true => &[(Bound::Equal, range.low)],
                false => &[(Bound::AtLeast, range.low), (Bound::AtMost, range.high)],
            };
            for (bound, value) in bounds {
                problem.events.push(*event);
                problem.rows.push(Row { parts: parts.clone(), bound: *bound, value: *value });
            }
        }
        for (place, rule) in problem.rules.iter().enumerate() {
            let own = observed.len() + place;
            let parts = columns.iter().map(|column| column[own]).collect();
            let is_equality = space.own_rules()[*rule].is_equality;
            let bound = if is_equality { Bound::Equal } else { Bound::AtMost };
            problem.rows.push(Row { parts, bound, value: 0 });
        }
        problem
    }

    /// Returns the weights of events and rules from those of the rows.
    fn weights(&self, space: &Space, weights: &[i128]) -> Weights {
        let mut events: BTreeMap<PmuEvent, i128> = BTreeMap::new();
        for (event, weight) in self.events.iter().zip(weights) {
            *events.entry(*event).or_default() += weight;
        }
        let mut rules = vec![0; space.own_rules().len()];
        for (rule, weight) in self.rules.iter().zip(&weights[self.events.len()..]) {
            rules[*rule] = *weight;
        }
        let events = events.into_iter().filter(|(_, weight)| *weight != 0);
        Weights { events: events.map(|(event, weight)| (weight, event)).collect(), rules }
    }
}

/// Returns the different columns, each with its part of every observed event and of every rule that
/// can matter, and the numbers of these rules.
fn reduced(space: &Space, observed: &[(PmuEvent, Range)]) -> (Vec<Vec<i128>>, Vec<usize>) {
    let events: Vec<PmuEvent> = observed.iter().map(|(event, _)| *event).collect();
    let rules = rules_that_limit(space, &events);
    let column = |generator: &Generator| -> Vec<i128> {
        let own = events.iter().map(|event| i128::from(generator.count(*event)));
        own.chain(rules.iter().map(|rule| space.own_rules()[*rule].sum(generator))).collect()
    };
    let mut columns: Vec<Vec<i128>> = space.generators().iter().map(column).collect();
    columns.retain(|column| column.iter().any(|part| *part != 0));
    columns.sort_unstable();
    columns.dedup();
    (columns, rules)
}

/// Returns the numbers of the rules that can limit the counts of these events.
///
/// A generator that counts none of them, and that no rule limits, can be added until it meets every
/// rule that it helps; such a rule limits nothing.
pub(crate) fn rules_that_limit(space: &Space, events: &[PmuEvent]) -> Vec<usize> {
    let rules = space.own_rules();
    let is_other = |own: &&Generator| events.iter().all(|event| own.count(*event) == 0);
    let others: Vec<&Generator> = space.generators().iter().filter(is_other).collect();
    let sums: Vec<Vec<i128>> =
        others.iter().map(|own| rules.iter().map(|rule| rule.sum(own)).collect()).collect();
    let mut limiting: Vec<usize> = (0..rules.len()).collect();
    loop {
        let before = limiting.len();
        let is_limited = |sums: &[i128]| {
            limiting
                .iter()
                .any(|rule| sums[*rule] > 0 || sums[*rule] < 0 && rules[*rule].is_equality)
        };
        let free: Vec<&Vec<i128>> = sums.iter().filter(|sums| !is_limited(sums)).collect();
        limiting.retain(|rule| !free.iter().any(|sums| sums[*rule] < 0));
        if limiting.len() == before {
            return limiting;
        }
    }
}
