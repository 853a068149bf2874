//! Sampled distributions against the exact distribution: their distance, the distance expected by
//! chance, and the sampling time for a given accuracy.

use std::collections::HashMap;
use std::f64::consts::PI;
use std::hash::Hash;
use std::io::{self, Write};

use serde_json::{Value, json};

use crate::perf_stat::grouped;

use super::profile::{Group, Latencies, Profile};

/// Standard errors that cover 95 percent of the estimates.
const TWO_SIDED_95: f64 = 1.96;
/// Error of a share that the advice is for: one percentage point.
const WANTED: f64 = 0.01;

/// Steps of operations through the sampling unit, each with its losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Funnel {
    /// Operations that the unit counted while profiling was on.
    pub population: u64,
    /// Operations that were selected.
    pub due: u64,
    /// Selected operations that collided with another sample in flight.
    pub collided: u64,
    /// Samples on a wrong path.
    pub abandoned: u64,
    /// Samples removed by a filter.
    pub filtered: u64,
    /// Samples without room in the buffer.
    pub dropped: u64,
    /// Samples that left a record.
    pub written: u64,
}

impl Funnel {
    /// Returns the sum with another core's counts.
    #[must_use]
    pub fn plus(&self, other: &Funnel) -> Funnel {
        Funnel {
            population: self.population + other.population,
            due: self.due + other.due,
            collided: self.collided + other.collided,
            abandoned: self.abandoned + other.abandoned,
            filtered: self.filtered + other.filtered,
            dropped: self.dropped + other.dropped,
            written: self.written + other.written,
        }
    }
}

/// Samples with one interval.
#[derive(Clone, Debug, Default)]
pub struct Sampled {
    /// Operations between two samples; `None` for the records of a file.
    pub interval: Option<u64>,
    /// Outcome of the selected operations; `None` for the records of a file.
    pub funnel: Option<Funnel>,
    /// Sums over the records.
    pub profile: Profile,
}

/// Distance of a sampled distribution from the exact one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distance {
    /// Share of the samples that differs from the exact distribution (total variation distance).
    pub measured: f64,
    /// Mean distance of random samples of the same number.
    pub expected: f64,
}

/// Returns the distance between two sets of counts.
pub fn distance<K: Eq + Hash>(exact: &HashMap<K, u64>, sampled: &HashMap<K, u64>) -> Distance {
    let total: f64 = exact.values().sum::<u64>() as f64;
    let samples: f64 = sampled.values().sum::<u64>() as f64;
    if total == 0.0 || samples == 0.0 {
        return Distance { measured: if total == samples { 0.0 } else { 1.0 }, expected: 0.0 };
    }
    // Samples of a finite population vary less, and not at all if everything is sampled.
    let left = (1.0 - samples / total).max(0.0);
    let (mut measured, mut expected) = (0.0, 0.0);
    for (key, count) in exact {
        let share = *count as f64 / total;
        let estimate = sampled.get(key).copied().unwrap_or(0) as f64 / samples;
        measured += (estimate - share).abs();
        expected += (2.0 * share * (1.0 - share) * left / (PI * samples)).sqrt();
    }
    let unknown: u64 =
        sampled.iter().filter(|(key, _)| !exact.contains_key(key)).map(|(_, count)| count).sum();
    measured += unknown as f64 / samples;
    Distance { measured: measured / 2.0, expected: expected / 2.0 }
}

/// Mean number of operations that a random byte adds to an interval, plus the sampled one.
const JITTER_MEAN: f64 = 128.5;

/// Returns the number of samples with which a share is within `error` of the true share, with a
/// probability of 95 %.
pub fn samples_needed(share: f64, error: f64) -> u64 {
    (share * (1.0 - share) * (TWO_SIDED_95 / error).powi(2)).ceil() as u64
}

/// Returns the samples of a profile by group.
fn groups(profile: &Profile) -> HashMap<Group, u64> {
    profile.total.iter().map(|(group, total)| (*group, total.samples())).collect()
}

/// Returns the samples of a profile by instruction.
fn places(profile: &Profile) -> HashMap<u64, u64> {
    profile.places.iter().map(|(pc, place)| (*pc, place.samples)).collect()
}

/// Returns mean and standard deviation of the latency of all loads.
fn load_latency(profile: &Profile) -> (f64, f64) {
    let loads = |group: &Group| matches!(group, Group::Load(_));
    let (mut samples, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for (_, total) in profile.total.iter().filter(|(group, _)| loads(group)) {
        samples += total.samples() as f64;
        sum += total.cycles() as f64;
        squares += Latencies::squares(total);
    }
    if samples == 0.0 {
        return (0.0, 0.0);
    }
    let mean = sum / samples;
    (mean, (squares / samples - mean * mean).max(0.0).sqrt())
}

/// Row of the comparison.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// Operations between two samples.
    pub interval: Option<u64>,
    /// Number of records.
    pub samples: u64,
    /// Collided share of the selected operations.
    pub collided: Option<f64>,
    /// Distance over groups: data sources of loads, stores, branches, others.
    pub groups: Distance,
    /// Distance over instructions.
    pub places: Distance,
    /// Relative error of the mean latency of loads.
    pub latency_error: f64,
    /// Relative error that 95 of 100 random samples of this number do not exceed.
    pub latency_bound: f64,
}

/// Compares a sampled profile with the exact one.
pub fn compare(exact: &Profile, sampled: &Sampled) -> Comparison {
    let profile = &sampled.profile;
    let ((truth, deviation), (mean, _)) = (load_latency(exact), load_latency(profile));
    let loads: u64 = loads(profile);
    let left = (1.0 - loads as f64 / self::loads(exact).max(1) as f64).max(0.0);
    let relative = |value: f64| if truth == 0.0 { 0.0 } else { value / truth };
    Comparison {
        interval: sampled.interval,
        samples: profile.records,
        collided: sampled.funnel.map(|it| it.collided as f64 / it.due.max(1) as f64),
        groups: distance(&groups(exact), &groups(profile)),
        places: distance(&places(exact), &places(profile)),
        latency_error: relative(if loads == 0 { 0.0 } else { mean - truth }),
        latency_bound: relative(
            TWO_SIDED_95 * deviation * left.sqrt() / (loads.max(1) as f64).sqrt(),
        ),
    }
}

fn loads(profile: &Profile) -> u64 {
    let is_load = |group: &Group| matches!(group, Group::Load(_));
    profile.total.iter().filter(|(group, _)| is_load(group)).map(|(_, it)| it.samples()).sum()
}

/// Writes the samples of each interval, their distance from the exact profile, and advice on
/// sampling time.
///
/// # Errors
/// Fails if `out` cannot be written.
pub fn write(
    out: &mut impl Write,
    exact: &Profile,
    sampled: &[Sampled],
    seconds: f64,
) -> io::Result<()> {
    write_funnels(out, sampled)?;
    writeln!(
        out,
        "\n{:>9}{:>11}{:>10}  {:>8}{:>8}  {:>8}{:>8}  {:>9}{:>8}",
        "interval",
        "samples",
        "collided",
        "groups",
        "chance",
        "places",
        "chance",
        "latency",
        "95 %"
    )?;
    for row in sampled.iter().map(|sampled| compare(exact, sampled)) {
        let interval = row.interval.map_or(String::from("file"), grouped);
        let collided = row.collided.map_or(String::from("-"), percent);
        writeln!(
            out,
            "{interval:>9}{:>11}{collided:>10}  {:>8}{:>8}  {:>8}{:>8}  {:>8.2}%{:>8}",
            grouped(row.samples),
            percent(row.groups.measured),
            percent(row.groups.expected),
            percent(row.places.measured),
            percent(row.places.expected),
            100.0 * row.latency_error,
            percent(row.latency_bound)
        )?;
    }
    write_advice(out, exact, seconds)
}

fn write_funnels(out: &mut impl Write, sampled: &[Sampled]) -> io::Result<()> {
    writeln!(
        out,
        "{:>9}{:>14}{:>11}{:>10}{:>11}{:>10}{:>9}{:>11}",
        "interval",
        "population",
        "selected",
        "collided",
        "wrong path",
        "filtered",
        "no room",
        "recorded"
    )?;
    for Sampled { interval, funnel, .. } in sampled {
        let (Some(interval), Some(funnel)) = (interval, funnel) else { continue };
        writeln!(
            out,
            "{:>9}{:>14}{:>11}{:>10}{:>11}{:>10}{:>9}{:>11}",
            grouped(*interval),
            grouped(funnel.population),
            grouped(funnel.due),
            grouped(funnel.collided),
            grouped(funnel.abandoned),
            grouped(funnel.filtered),
            grouped(funnel.dropped),
            grouped(funnel.written)
        )?;
    }
    Ok(())
}

/// Writes the sampling time with which a share is within one percentage point of the true share.
fn write_advice(out: &mut impl Write, exact: &Profile, seconds: f64) -> io::Result<()> {
    writeln!(
        out,
        "\nsamples and time for a share within one percentage point of the true share, with a \
         probability of 95 %"
    )?;
    writeln!(out, "{:<24}{:>9}{:>10}{:>14}{:>14}", "", "share", "samples", "at 1,024", "at 4,096")?;
    let rate = exact.records as f64 / seconds;
    for (group, total) in &exact.total {
        let share = total.samples() as f64 / exact.records.max(1) as f64;
        let samples = samples_needed(share, WANTED);
        let time = |interval: f64| milliseconds(samples as f64 * (interval + JITTER_MEAN) / rate);
        writeln!(
            out,
            "{:<24}{:>9}{:>10}{:>14}{:>14}",
            group.name(),
            percent(share),
            grouped(samples),
            time(1024.0),
            time(4096.0)
        )?;
    }
    Ok(())
}

/// Returns the comparison as JSON.
pub fn to_json(exact: &Profile, sampled: &[Sampled]) -> Value {
    let rows = sampled.iter().map(|sampled| {
        let row = compare(exact, sampled);
        let both = |distance: Distance| {
            json!({ "measured": distance.measured, "by_chance": distance.expected })
        };
        let funnel = sampled.funnel.map(|funnel| {
            json!({
                "population": funnel.population,
                "due": funnel.due,
                "collided": funnel.collided,
                "wrong_path": funnel.abandoned,
                "filtered": funnel.filtered,
                "no_room": funnel.dropped,
                "recorded": funnel.written,
            })
        });
        json!({
            "interval": row.interval,
            "samples": row.samples,
            "funnel": funnel,
            "groups": both(row.groups),
            "instructions": both(row.places),
            "load_latency_error": row.latency_error,
            "load_latency_bound_95": row.latency_bound,
        })
    });
    let shares: serde_json::Map<String, Value> = exact
        .total
        .iter()
        .map(|(group, total)| {
            (group.name(), json!(total.samples() as f64 / exact.records.max(1) as f64))
        })
        .collect();
    json!({ "operations": exact.records, "shares": shares, "sampled": rows.collect::<Vec<_>>() })
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.3} ms", seconds * 1e3)
}

fn percent(share: f64) -> String {
    format!("{:.2}%", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(values: &[u64]) -> HashMap<usize, u64> {
        values.iter().copied().enumerate().collect()
    }

    #[test]
    fn the_distance_is_the_differing_share() {
        let exact = counts(&[500, 300, 200]);
        let same = distance(&exact, &counts(&[50, 30, 20]));
        assert!(same.measured < 1e-12 && same.expected > 0.02);
        assert!((distance(&exact, &counts(&[40, 40, 20])).measured - 0.1).abs() < 1e-12);
        assert_eq!(distance(&exact, &HashMap::from([(9, 5)])).measured, 1.0);
        let whole = distance(&exact, &exact);
        assert_eq!(
            (whole.measured, whole.expected),
            (0.0, 0.0),
            "a complete sample leaves nothing to chance"
        );
    }

    /// Repeats a random experiment: the mean measured distance is the expected one.
    #[test]
    fn the_mean_distance_by_chance_is_the_expected_one() {
        let exact = counts(&[1_000_000, 1_000_000, 2_000_000]);
        let (mut state, mut sum) = (1_u64, 0.0);
        let (experiments, samples) = (400, 250);
        let mut expected = 0.0;
        for _ in 0..experiments {
            let mut sampled = HashMap::new();
            for _ in 0..samples {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040);
                let key = [0, 1, 2, 2][(state >> 62) as usize];
                *sampled.entry(key).or_default() += 1;
            }
            let distance = distance(&exact, &sampled);
            sum += distance.measured;
            expected = distance.expected;
        }
        let mean = sum / f64::from(experiments);
        assert!((mean / expected - 1.0).abs() < 0.1, "{mean} {expected}");
    }

    #[test]
    fn a_share_of_one_half_needs_most_samples() {
        assert_eq!(samples_needed(0.5, 0.01), 9604);
        assert!(samples_needed(0.01, 0.01) < 400);
    }
}
