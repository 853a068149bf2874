//! The space as some events see it: both forms, over these events alone.

use sim_core::pmu_event::PmuEvent;

use crate::cone::{self, TooMany, Weights, combined, product};
use crate::generator::Generator;
use crate::inequality::{Inequality, gcd};
use crate::space::Space;

/// Possible counts of some events, whatever the others are.
#[derive(Clone, Debug)]
pub struct Projection {
    events: Vec<PmuEvent>,
    rays: Vec<Ray>,
    half_spaces: Vec<Inequality>,
}

/// A generator of a projection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ray {
    /// Path or paths that it counts.
    pub name: String,
    /// Count of each event of the projection.
    pub counts: Vec<u64>,
}

/// The projection has more half-spaces or generators than can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the possible counts of these events have too many half-spaces; give fewer events")]
pub struct ProjectionTooLarge;

impl From<TooMany> for ProjectionTooLarge {
    fn from(_: TooMany) -> ProjectionTooLarge {
        ProjectionTooLarge
    }
}

/// Largest number of generators while rules are applied.
const RAYS_MAX: usize = 4000;

impl Projection {
    /// Returns the events, in the order of the counts.
    pub fn events(&self) -> &[PmuEvent] {
        &self.events
    }

    /// Returns the generators; none is a sum of others.
    pub fn rays(&self) -> &[Ray] {
        &self.rays
    }

    /// Returns the half-spaces without those that say that a count is not negative: equalities
    /// first.
    pub fn half_spaces(&self) -> &[Inequality] {
        &self.half_spaces
    }
}

/// A ray while rules are applied: counts of the events, then sums of the rules.
#[derive(Clone, Debug)]
struct Column {
    name: String,
    parts: Vec<i128>,
}

impl Space {
    /// Returns the possible counts of some events. Counts of these events can occur together if the
    /// other counts can be chosen so that all are in the space.
    ///
    /// # Errors
    /// Too many events for a list.
    pub fn project(&self, events: &[PmuEvent]) -> Result<Projection, ProjectionTooLarge> {
        let rules = crate::table::rules_that_limit(self, events);
        let column = |generator: &Generator| Column {
            name: generator.name().to_owned(),
            parts: events
                .iter()
                .map(|event| i128::from(generator.count(*event)))
                .chain(rules.iter().map(|rule| self.own_rules()[*rule].sum(generator)))
                .collect(),
        };
        let mut columns: Vec<Column> = self.generators().iter().map(column).collect();
        columns.iter_mut().for_each(|column| shorten(&mut column.parts));
        keep_different(&mut columns);
        for rule in rules.iter().rev() {
            columns = ruled(columns, self.own_rules()[*rule].is_equality)?;
        }
        let rays: Vec<Vec<i128>> = columns.iter().map(|column| column.parts.clone()).collect();
        let found = cone::half_spaces(&rays, events.len())?;
        keep_extreme(&mut columns, &found)?;
        Ok(Projection {
            events: events.to_vec(),
            half_spaces: in_words(found, events),
            rays: columns.into_iter().map(ray).collect(),
        })
    }
}

fn ray(column: Column) -> Ray {
    let counts = column.parts.iter().map(|part| u64::try_from(*part).unwrap_or(0)).collect();
    Ray { name: column.name, counts }
}

/// Divides by the common divisor: the direction is what matters.
fn shorten(parts: &mut [i128]) {
    let divisor = parts.iter().fold(0, |known, part| gcd(known, *part));
    if divisor > 1 {
        parts.iter_mut().for_each(|part| *part /= divisor);
    }
}

/// Keeps each column that is not 0 once.
fn keep_different(columns: &mut Vec<Column>) {
    let mut known = std::collections::BTreeSet::new();
    columns.retain(|column| {
        column.parts.iter().any(|part| *part != 0) && known.insert(column.parts.clone())
    });
}

/// Applies the rule of the last coordinate, which must be 0 or at most 0, and drops it.
fn ruled(columns: Vec<Column>, is_equality: bool) -> Result<Vec<Column>, ProjectionTooLarge> {
    let last = |column: &Column| column.parts.last().copied().unwrap_or_default();
    let mut kept: Vec<Column> = Vec::new();
    for high in columns.iter().filter(|column| last(column) > 0) {
        for low in columns.iter().filter(|column| last(column) < 0) {
            let parts = combined(&high.parts, -last(low), &low.parts, last(high))?;
            kept.push(Column { name: format!("{} + {}", high.name, low.name), parts });
        }
    }
    let holds = |column: &Column| last(column) == 0 || last(column) < 0 && !is_equality;
    let mut all: Vec<Column> = columns.into_iter().filter(holds).collect();
    all.append(&mut kept);
    for column in &mut all {
        column.parts.pop();
        shorten(&mut column.parts);
    }
    keep_different(&mut all);
    if all.len() > RAYS_MAX {
        return Err(ProjectionTooLarge);
    }
    Ok(all)
}

/// Drops the columns that are sums of others: those whose half-spaces without room another column
/// has too, among more.
fn keep_extreme(columns: &mut Vec<Column>, found: &cone::HalfSpaces) -> Result<(), TooMany> {
    let mut tight: Vec<Vec<bool>> = Vec::new();
    for column in columns.iter() {
        let sums = found.inequalities.iter().map(|own| product(own, &column.parts));
        tight.push(sums.map(|sum| Ok(sum? == 0)).collect::<Result<_, TooMany>>()?);
    }
    let includes = |more: &[bool], less: &[bool]| less.iter().zip(more).all(|(a, b)| !a || *b);
    let is_sum = |own: usize| {
        let others = tight.iter().enumerate().filter(|(other, _)| *other != own);
        // Of columns in the same direction, the first is kept.
        others.into_iter().any(|(other, more)| {
            includes(more, &tight[own]) && (!includes(&tight[own], more) || other < own)
        })
    };
    let kept: Vec<bool> = (0..columns.len()).map(|own| !is_sum(own)).collect();
    let mut kept = kept.into_iter();
    columns.retain(|_| kept.next().unwrap_or(true));
    Ok(())
}

/// Returns the half-spaces as inequalities, with few terms each, without those of a single event.
fn in_words(found: cone::HalfSpaces, events: &[PmuEvent]) -> Vec<Inequality> {
    let equalities = shortened_lines(found.equalities);
    let named = |weights: &Weights, is_equality: bool| {
        let terms = weights.iter().copied().zip(events.iter().copied()).collect();
        Inequality::new(terms, is_equality)
    };
    let mut all: Vec<Inequality> = equalities.iter().map(|line| named(line, true)).collect();
    let mut rest: Vec<Inequality> = Vec::new();
    for weights in found.inequalities {
        let weights = shortened(weights, &equalities);
        let is_sign = weights.iter().filter(|weight| **weight != 0).count() == 1;
        if !is_sign {
            rest.push(named(&weights, false));
        }
    }
    rest.sort_by_key(|own| (own.events().count(), own.to_string()));
    all.extend(rest);
    all
}

fn terms(weights: &[i128]) -> (usize, u128) {
    let used = weights.iter().filter(|weight| **weight != 0).count();
    (used, weights.iter().map(|weight| weight.unsigned_abs()).sum())
}

/// Shortens equalities by one another.
fn shortened_lines(mut lines: Vec<Weights>) -> Vec<Weights> {
    for own in 0..lines.len() {
        let line = std::mem::take(&mut lines[own]);
        let others: Vec<Weights> =
            lines.iter().filter(|other| !other.is_empty()).cloned().collect();
        lines[own] = shortened(line, &others);
    }
    lines
}

/// Adds equalities to a sum while that leaves fewer terms.
fn shortened(mut weights: Weights, lines: &[Weights]) -> Weights {
    loop {
        let mut best: Option<Weights> = None;
        for line in lines {
            for (own, other) in weights.iter().zip(line).filter(|(a, b)| **a != 0 && **b != 0) {
                let factor = -own * other.signum();
                let Ok(sum) = combined(&weights, other.abs(), line, factor) else { continue };
                if terms(&sum) < terms(best.as_ref().unwrap_or(&weights)) {
                    best = Some(sum);
                }
            }
        }
        match best {
            Some(better) => weights = better,
            None => return weights,
        }
    }
}
