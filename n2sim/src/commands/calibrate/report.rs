//! The result of a fit in words, and for programs.

use std::fmt::Write;

use serde::Serialize;
use sim_calibrate::{Calibration, Cause, Errors, Key, Points, Tie};
use sim_core::Shown;
use sim_core::config::Steps;
use sim_litmus::MachineFacts;

use super::counted::Source;
use crate::plural::number_of;

/// Counts without an explanation that are named.
const NAMED: usize = 12;
/// Names of causes.
const STRUCTURE: &str = "structure";
const FEW_EVENTS: &str = "few-events";
const HASHED_SIZES: &str = "hashed-sizes";
const TAKES: &str = "a String takes all text";

/// Result of a fit.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// Files of counts, with the machine if it is known.
    pub(super) counts: Vec<String>,
    /// Kernels that were fitted.
    pub(super) fitted: Vec<String>,
    /// Kernels that were held out.
    pub(super) held_out: Vec<String>,
    /// Runs of the model.
    pub(super) runs: usize,
    /// Before the fit.
    pub(super) before: ErrorShares,
    /// After it.
    pub(super) after: ErrorShares,
    /// Noise alone explains the fitted counts; otherwise the intervals may be too narrow.
    pub(super) is_noise: bool,
    /// Two searches from different places ended alike; absent if there was one.
    pub(super) agrees: Option<bool>,
    /// Keys that change the fitted counts.
    pub(super) keys: Vec<KeyReport>,
    /// Keys that change no fitted count.
    pub(super) unseen: Vec<String>,
    /// Keys that the counts do not distinguish.
    pub(super) ties: Vec<TieReport>,
    /// Counts that no value explains.
    pub(super) unexplained: Vec<UnexplainedReport>,
}

/// Errors as shares.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct ErrorShares {
    fitted: f64,
    held_out: Option<f64>,
    noise: Option<f64>,
    cycles: Option<f64>,
    held_out_cycles: Option<f64>,
}

/// A key after the fit.
#[derive(Debug, Serialize)]
pub(super) struct KeyReport {
    pub(super) key: String,
    /// Value before the fit.
    pub(super) start: i64,
    pub(super) value: i64,
    /// Values that the counts do not exclude.
    pub(super) low: i64,
    pub(super) high: i64,
    /// The range of the search.
    pub(super) range: (i64, i64),
    /// It is not fitted, because counts follow it by chance.
    pub(super) by_chance: bool,
}

impl KeyReport {
    /// Returns true if the counts exclude no value of the range.
    pub(super) fn is_open(&self) -> bool {
        (self.low, self.high) == self.range
    }
}

/// A tie of keys.
#[derive(Debug, Serialize)]
pub(super) struct TieReport {
    pub(super) keys: Vec<String>,
    /// In words.
    pub(super) sentence: String,
}

/// A count without an explanation.
#[derive(Debug, Serialize)]
pub(super) struct UnexplainedReport {
    pub(super) kernel: String,
    pub(super) event: String,
    pub(super) counted: f64,
    pub(super) model: f64,
    pub(super) deviations: f64,
    pub(super) held_out: bool,
    /// `structure`, `few-events` or `hashed-sizes`.
    pub(super) cause: &'static str,
}

impl Report {
    /// Collects the result.
    pub(super) fn new(
        sources: &[Source],
        keys: &[Key],
        points: &Points,
        found: &Calibration,
        runs: usize,
    ) -> Report {
        let pairs = || keys.iter().zip(&found.keys);
        let key = |(key, fitted): (&Key, &sim_calibrate::FittedKey)| {
            let interval = fitted.interval?;
            Some(KeyReport {
                key: key.name.clone(),
                start: key.value(key.start),
                value: key.value(fitted.position),
                low: key.value(interval.low),
                high: key.value(interval.high),
                range: (key.range.low, key.range.high),
                by_chance: key.range.steps == Steps::ByChance,
            })
        };
        let unseen = pairs().filter(|(_, fitted)| fitted.interval.is_none());
        let unexplained = found.unexplained.iter().map(|count| UnexplainedReport {
            kernel: points.kernels[count.kernel].clone(),
            event: count.event.clone(),
            counted: count.counted,
            model: count.predicted,
            deviations: count.deviations,
            held_out: count.held_out,
            cause: match count.cause {
                Cause::Structure => STRUCTURE,
                Cause::FewEvents => FEW_EVENTS,
                Cause::HashedSizes => HASHED_SIZES,
            },
        });
        Report {
            counts: sources.iter().map(source).collect(),
            fitted: kernels(points, false),
            held_out: kernels(points, true),
            runs,
            before: found.before.into(),
            after: found.after.into(),
            is_noise: found.is_noise,
            agrees: found.agrees,
            keys: pairs().filter_map(key).collect(),
            unseen: unseen.map(|(key, _)| key.name.clone()).collect(),
            ties: found.ties.iter().map(|tie| tie_report(tie, keys, points)).collect(),
            unexplained: unexplained.collect(),
        }
    }

    /// Returns the result for people.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for counts in &self.counts {
            writeln!(text, "counts: {counts}").expect(TAKES);
        }
        let (fitted, held_out) = (self.fitted.len(), self.held_out.len());
        writeln!(
            text,
            "kernels: {fitted} fitted, {held_out} held out; runs of the model: {}\n",
            self.runs
        )
        .expect(TAKES);
        self.write_errors(&mut text);
        self.write_keys(&mut text);
        self.write_ties(&mut text);
        self.write_unexplained(&mut text);
        text
    }

    fn write_errors(&self, text: &mut String) {
        writeln!(text, "{:<36} {:>9} {:>9}", "error", "before", "fitted").expect(TAKES);
        let mut row = |name: &str, of: &dyn Fn(ErrorShares) -> Option<f64>| {
            let (before, after) = (percent(of(self.before)), percent(of(self.after)));
            writeln!(text, "{name:<36} {before:>9} {after:>9}").expect(TAKES);
        };
        row("all counts, fitted kernels", &|errors| Some(errors.fitted));
        row("CPU_CYCLES (median), fitted kernels", &|errors| errors.cycles);
        if !self.held_out.is_empty() {
            row("all counts, held-out kernels", &|errors| errors.held_out);
            row("CPU_CYCLES (median), held out", &|errors| errors.held_out_cycles);
            writeln!(text, "{:<36} {:>9} {:>9}", "a perfect model", "", percent(self.after.noise))
                .expect(TAKES);
        }
    }

    fn write_keys(&self, text: &mut String) {
        let width = self.keys.iter().map(|key| key.key.len()).max().unwrap_or(3);
        writeln!(text, "\n{:<width$} {:>7} {:>7}  counts allow", "key", "was", "fitted")
            .expect(TAKES);
        for key in &self.keys {
            let KeyReport { key: name, start, value, low, high, .. } = key;
            let interval = match low == high {
                true => format!("{low}"),
                false => format!("{low} to {high}"),
            };
            let open = match (key.by_chance, key.is_open()) {
                (true, _) => ", not fitted: its counts follow chance",
                (false, true) => ", all of the range",
                (false, false) => "",
            };
            writeln!(text, "{name:<width$} {start:>7} {value:>7}  {interval}{open}").expect(TAKES);
        }
        if !self.is_noise {
            let what = "the fitted counts differ by more than noise, so these values may be wrong";
            let apart = match self.agrees {
                Some(false) => ", and two searches from different places ended apart",
                _ => "",
            };
            writeln!(text, "{what}{apart} (docs/calibrate.md, Limits)").expect(TAKES);
        }
        if !self.unseen.is_empty() {
            writeln!(text, "\nnot seen by these counts: {}", self.unseen.join(", ")).expect(TAKES);
        }
    }

    fn write_ties(&self, text: &mut String) {
        if !self.ties.is_empty() {
            writeln!(text, "\nnot distinguished by these counts:").expect(TAKES);
        }
        for tie in &self.ties {
            writeln!(text, "  {}", tie.sentence).expect(TAKES);
        }
    }

    /// Returns whether counts contradict every value by more than a few events, and not by chance.
    pub(super) fn is_refuted(&self) -> bool {
        self.unexplained.iter().any(|count| count.cause == STRUCTURE)
    }

    fn write_unexplained(&self, text: &mut String) {
        let of = |cause: &str| {
            let counts = self.unexplained.iter().filter(|count| count.cause == cause);
            counts.collect::<Vec<_>>()
        };
        let [large, small, by_chance] = [STRUCTURE, FEW_EVENTS, HASHED_SIZES].map(of);
        match large.len() {
            0 => writeln!(text, "\nno count contradicts the model"),
            all => writeln!(
                text,
                "\nno value was found that explains these counts ({all}): {}",
                self.reason()
            ),
        }
        .expect(TAKES);
        Report::write_counts(text, &large);
        if !small.is_empty() {
            let all = small.len();
            let few = "at most 16 events or cycles in all rounds of the recording";
            writeln!(text, "\ncounts that differ by a few events ({all}): {few}").expect(TAKES);
            Report::write_counts(text, &small);
        }
        if !by_chance.is_empty() {
            let all = by_chance.len();
            let sizes = "other sizes of hashed tables can make these counts";
            writeln!(text, "\ncounts that differ by chance ({all}): {sizes}").expect(TAKES);
            Report::write_counts(text, &by_chance);
        }
    }

    fn write_counts(text: &mut String, counts: &[&UnexplainedReport]) {
        let all = counts.len();
        for count in counts.iter().take(NAMED) {
            let UnexplainedReport { kernel, event, counted, model, deviations, .. } = count;
            let held_out = if count.held_out { ", held out" } else { "" };
            let deviations = deviations.abs();
            let both = format!("counted {counted:.3}, model {model:.3}");
            writeln!(
                text,
                "  {kernel} {event}: {both} ({deviations:.0} standard deviations{held_out})"
            )
            .expect(TAKES);
        }
        if all > NAMED {
            writeln!(text, "  and {} more (--json has all)", all - NAMED).expect(TAKES);
        }
    }

    /// Returns the reason why counts are left without an explanation.
    fn reason(&self) -> &'static str {
        match (self.is_noise, self.agrees) {
            (false, Some(true)) => {
                "two searches from different places ended alike, so there the structure of the model differs from the \
                 machine, unless both missed the best place"
            }
            (false, Some(false)) => {
                "two searches from different places ended apart, so that one at least ended too early, or the \
                 structure of the model differs from the machine there"
            }
            (true, _) => {
                "they are few, so there the structure of the model differs from the machine"
            }
            (false, None) => {
                "the structure of the model differs from the machine there, or the search ended too early"
            }
        }
    }
}

/// Returns the file and the machine of counts, or how many of them are scaled.
fn source(source: &Source) -> String {
    let Some(MachineFacts { name, midr, kernel, .. }) = &source.machine else {
        return match source.scaled {
            0 => source.name.clone(),
            scaled => {
                let counts = number_of(scaled, "scaled count");
                format!("{} ({counts}, which may be wrong by more than noise)", source.name)
            }
        };
    };
    let facts = [("", name), ("MIDR ", midr), ("Linux ", kernel)];
    let known = facts.iter().filter(|(_, fact)| !fact.is_empty());
    let facts: Vec<String> = known.map(|(what, fact)| format!("{what}{}", fact.shown())).collect();
    format!("{} ({})", source.name, facts.join(", "))
}

/// Returns the counted kernels that were fitted, or those that were held out.
fn kernels(points: &Points, held_out: bool) -> Vec<String> {
    let mut numbers: Vec<usize> = points
        .all
        .iter()
        .filter(|point| point.counted.is_some() && point.held_out == held_out)
        .map(|point| point.kernel)
        .collect();
    numbers.dedup();
    numbers.into_iter().map(|number| points.kernels[number].clone()).collect()
}

fn tie_report(tie: &Tie, keys: &[Key], points: &Points) -> TieReport {
    let names: Vec<String> = tie.moves.iter().map(|(key, _)| keys[*key].name.clone()).collect();
    let mut sentence = match tie.known {
        Some(known) => {
            let factor = match known.factor {
                1.0 => String::new(),
                factor => format!("{factor} x "),
            };
            let sum = format!("{} + {factor}{}", names[0], names[1]).replace("+ -", "- ");
            let deviation = known.deviation.ceil().max(1.0);
            format!("only {sum} is known: {:.0} +- {deviation:.0}", known.value)
        }
        None => {
            let step = |(key, steps): &(usize, f64)| format!("{} {steps:+.0}", keys[*key].name);
            let moves: Vec<String> = tie.moves.iter().map(step).collect();
            format!("together they change nothing: {}", moves.join(", "))
        }
    };
    if let Some((kernel, event, change)) = &tie.separated_by {
        let change = match change * 100.0 {
            // A slope over so many steps says no more than this.
            much if much > 900.0 => "more than tenfold".to_owned(),
            percent => format!("{percent:+.0} %"),
        };
        write!(sentence, "; {} would separate them ({event} {change})", points.kernels[*kernel])
            .expect(TAKES);
    }
    TieReport { keys: names, sentence }
}

impl From<Errors> for ErrorShares {
    fn from(errors: Errors) -> ErrorShares {
        let Errors { fitted, held_out, noise, cycles, held_out_cycles } = errors;
        ErrorShares { fitted, held_out, noise, cycles, held_out_cycles }
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.2} %", share * 100.0))
}

#[cfg(test)]
mod tests {
    use sim_calibrate::Unexplained;
    use sim_core::config::{Range, Steps};

    use super::*;

    /// Returns the report of a fit that noise does not explain.
    fn report(agrees: Option<bool>, unexplained: Vec<Unexplained>) -> Report {
        let range = Range { low: 1, high: 9, steps: Steps::Ones };
        let keys = [Key { name: "memory.key".to_owned(), range, start: 2 }];
        let points = Points { kernels: vec!["hash".to_owned()], ..Points::default() };
        let found = Calibration {
            keys: vec![sim_calibrate::FittedKey { position: 3, interval: None }],
            ties: Vec::new(),
            unexplained,
            before: Errors::default(),
            after: Errors::default(),
            is_noise: false,
            agrees,
            predicted: Vec::new(),
        };
        Report::new(&[], &keys, &points, &found, 7)
    }

    #[test]
    fn separating_count_changes_by_a_number_that_says_something() {
        let points = Points { kernels: vec!["hash".to_owned()], ..Points::default() };
        let range = Range { low: 1, high: 9, steps: Steps::Ones };
        let key = |name: &str| Key { name: name.to_owned(), range, start: 2 };
        let sentence = |change: f64| {
            let separated_by = Some((0, "BUS_ACCESS".to_owned(), change));
            let tie = Tie { moves: vec![(0, 1.0), (1, -2.0)], known: None, separated_by };
            tie_report(&tie, &[key("a"), key("b")], &points).sentence
        };
        assert!(sentence(-0.12).ends_with("; hash would separate them (BUS_ACCESS -12 %)"));
        assert!(sentence(1e30).ends_with("(BUS_ACCESS more than tenfold)"));
    }

    /// Counts that differ by a few events are shown, but do not say that the machine has another
    /// structure.
    #[test]
    fn small_differences_are_shown_apart() {
        let count = |cause| Unexplained {
            kernel: 0,
            event: "STALL_FRONTEND".to_owned(),
            counted: 0.016,
            predicted: 0.021,
            deviations: 5.2,
            held_out: false,
            cause,
        };
        let small = report(Some(true), vec![count(Cause::FewEvents)]);
        let text = small.text();
        assert!(!small.is_refuted() && text.contains("no count contradicts the model"), "{text}");
        assert!(text.contains("differ by a few events (1)") && text.contains("0.016"), "{text}");
        let both = report(Some(true), vec![count(Cause::Structure), count(Cause::HashedSizes)]);
        let text = both.text();
        assert!(both.is_refuted() && text.contains("explains these counts (1)"), "{text}");
        assert!(text.contains("differ by chance (1)"), "{text}");
    }

    /// Two searches that ended apart are named whether single counts are left unexplained or not.
    #[test]
    fn searches_that_end_apart_are_named() {
        let count = Unexplained {
            kernel: 0,
            event: "CPU_CYCLES".to_owned(),
            counted: 9.0,
            predicted: 3.0,
            deviations: 12.0,
            held_out: false,
            cause: Cause::Structure,
        };
        for unexplained in [Vec::new(), vec![count]] {
            let text = |agrees| report(agrees, unexplained.clone()).text();
            let apart = "two searches from different places ended apart";
            assert!(text(Some(false)).contains(apart), "{}", text(Some(false)));
            assert!(!text(Some(true)).contains(apart) && !text(None).contains(apart));
            assert!(text(None).contains("differ by more than noise"));
        }
    }
}
