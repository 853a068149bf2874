//! Linear inequalities between counts, and their exact proof.

use std::fmt;

use sim_core::flow::{Flow, TIES, Tie};
use sim_core::pmu_event::PmuEvent;

use crate::generator::{Generator, parts};
use crate::space::Space;
use crate::table::Table;

/// An inequality, or an equality, between two weighted sums of counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inequality {
    /// Weights without a common divisor. Their sum with the counts is at most 0.
    terms: Vec<(i128, PmuEvent)>,
    is_equality: bool,
    /// Rules between counts that it follows from, besides the flows.
    rules: Vec<String>,
}

impl Inequality {
    /// Creates an inequality from weights whose sum with the counts is at most 0.
    pub(crate) fn new(terms: Vec<(i128, PmuEvent)>, is_equality: bool) -> Inequality {
        let divisor = terms.iter().fold(0, |known, (weight, _)| gcd(known, *weight)).max(1);
        let mut terms: Vec<(i128, PmuEvent)> = terms
            .into_iter()
            .filter(|(weight, _)| *weight != 0)
            .map(|(weight, event)| (weight / divisor, event))
            .collect();
        terms.sort_by_key(|(_, event)| *event);
        let left = terms.iter().filter(|(weight, _)| *weight > 0).count();
        let right = terms.len() - left;
        // The sum of an equality is written as one event and its parts.
        let is_turned = is_equality
            && (left == 0 || right > 0 && (left > right || left == right && terms[0].0 < 0));
        if is_turned {
            terms.iter_mut().for_each(|(weight, _)| *weight = -*weight);
        }
        Inequality { terms, is_equality, rules: Vec::new() }
    }

    /// Creates the inequality that weights of events and rules prove. Returns `None` unless every
    /// generator keeps it and the table violates it, both in whole numbers.
    pub(crate) fn proven(
        space: &Space,
        table: &Table,
        events: &[(i128, PmuEvent)],
        rules: &[i128],
    ) -> Option<Inequality> {
        let inequality = Inequality::new(events.to_vec(), false);
        let with_rules = |generator: &Generator| -> Option<i128> {
            let mut sum = weighted(events, |event| Some(i128::from(generator.count(event))))?;
            for (rule, weight) in space.own_rules().iter().zip(rules) {
                sum = sum.checked_add(weight.checked_mul(rule.sum(generator))?)?;
            }
            Some(sum)
        };
        let keeps = |generator: &Generator| with_rules(generator).is_some_and(|sum| sum <= 0);
        let has_sign =
            |(rule, weight): (&crate::space::SpaceRule, &i128)| rule.is_equality || *weight <= 0;
        let is_proven = space.own_rules().iter().zip(rules).all(has_sign)
            && space.generators().iter().all(keeps)
            && inequality.is_violated_by(table);
        is_proven.then(|| {
            let sum = |own: &Generator| weighted(events, |event| Some(own.count(event).into()));
            let is_equality = space.generators().iter().all(|own| sum(own) == Some(0));
            let used = space.own_rules().iter().zip(rules).filter(|(_, weight)| **weight != 0);
            let rules = used.map(|(own, _)| own.rule.to_string()).collect();
            Inequality { rules, ..Inequality::new(inequality.terms, is_equality) }
        })
    }

    /// Returns whether no counts within the ranges of the table keep it.
    pub fn is_violated_by(&self, table: &Table) -> bool {
        let least = |event, weight: i128| {
            table.range(event).map(|range| if weight > 0 { range.low } else { range.high })
        };
        let sum = |sign: i128| {
            self.terms.iter().try_fold(0i128, |sum, (weight, event)| {
                let weight = sign * weight;
                sum.checked_add(weight.checked_mul(least(*event, weight)?)?)
            })
        };
        let is_over = |sum: Option<i128>| sum.is_some_and(|sum| sum > 0);
        is_over(sum(1)) || self.is_equality && is_over(sum(-1))
    }

    /// Returns whether the inequality holds for counts. Events without a count make it hold.
    pub fn holds(&self, count: impl Fn(PmuEvent) -> Option<u64>) -> bool {
        match weighted(&self.terms, |event| count(event).map(i128::from)) {
            Some(sum) => sum == 0 || sum < 0 && !self.is_equality,
            None => true,
        }
    }

    /// Returns the events.
    pub fn events(&self) -> impl Iterator<Item = PmuEvent> {
        self.terms.iter().map(|(_, event)| *event)
    }

    /// Returns whether an event occurs in it.
    pub fn names(&self, event: PmuEvent) -> bool {
        self.events().any(|own| own == event)
    }

    /// Returns the weights and events of the smaller side, then those of the larger one.
    pub fn sides(&self) -> [Vec<(u128, PmuEvent)>; 2] {
        let side = |is_left: bool| {
            let own = self.terms.iter().filter(move |(weight, _)| (*weight > 0) == is_left);
            own.map(|(weight, event)| (weight.unsigned_abs(), *event)).collect()
        };
        [side(true), side(false)]
    }

    /// Returns whether both sides are equal, and not only ordered.
    pub fn is_equality(&self) -> bool {
        self.is_equality
    }

    /// Returns the rules between counts that it follows from, besides the flows.
    pub fn rules(&self) -> &[String] {
        &self.rules
    }

    /// Returns the values of both sides, or `None` if an event was not counted.
    pub fn values(&self, count: impl Fn(PmuEvent) -> Option<u64>) -> Option<[i128; 2]> {
        let value = |terms: &[(u128, PmuEvent)]| {
            terms.iter().try_fold(0i128, |sum, (weight, event)| {
                let term = i128::try_from(*weight).ok()?.checked_mul(count(*event)?.into())?;
                sum.checked_add(term)
            })
        };
        let [left, right] = self.sides();
        Some([value(&left)?, value(&right)?])
    }

    /// Returns the sections of the guide's flows that count its events, or those of chapter 4 if no
    /// flow does.
    pub fn sections(&self) -> Vec<&'static str> {
        let mut finest: Vec<PmuEvent> = Vec::new();
        self.events().for_each(|event| add_finest(event, &mut finest));
        // The flows print instructions, too, but do not count them.
        finest
            .retain(|event| !TIES.iter().any(|(tied, tie, _)| tied == event && *tie == Tie::Apart));
        let has = |flow: &Flow| {
            let mut boxes = flow.info().boxes.iter().flat_map(|part| part.events);
            boxes.any(|event| finest.contains(event))
        };
        let of_flows: Vec<&str> =
            Flow::ALL.into_iter().filter(has).map(|flow| flow.info().section).collect();
        if !of_flows.is_empty() {
            return of_flows;
        }
        let mut sections: Vec<&str> = self.events().map(|event| event.info().section).collect();
        sections.sort_unstable();
        sections.dedup();
        sections
    }
}

fn add_finest(event: PmuEvent, finest: &mut Vec<PmuEvent>) {
    match parts(event) {
        [] => finest.push(event),
        parts => parts.iter().for_each(|part| add_finest(*part, finest)),
    }
}

fn weighted(terms: &[(i128, PmuEvent)], count: impl Fn(PmuEvent) -> Option<i128>) -> Option<i128> {
    terms.iter().try_fold(0i128, |sum, (weight, event)| {
        sum.checked_add(weight.checked_mul(count(*event)?)?)
    })
}

/// Returns the greatest common divisor, not negative.
pub(crate) fn gcd(one: i128, other: i128) -> i128 {
    let (mut one, mut other) = (one.abs(), other.abs());
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

impl fmt::Display for Inequality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |terms: &[(u128, PmuEvent)]| {
            let term = |(weight, event): &(u128, PmuEvent)| match weight {
                1 => event.mnemonic().to_owned(),
                n => format!("{n} x {}", event.mnemonic()),
            };
            match terms.is_empty() {
                true => String::from("0"),
                false => terms.iter().map(term).collect::<Vec<_>>().join(" + "),
            }
        };
        let [left, right] = self.sides();
        let sign = if self.is_equality || right.is_empty() { "=" } else { "<=" };
        write!(f, "{} {sign} {}", side(&left), side(&right))
    }
}
