//! The text of `docs/silicon-fit.md`.

use std::fmt::Write as _;

use sim_calibrate::{FittedKey, Key, Tie};
use sim_machine::Machine;

use super::super::rows::{Class, Row};
use super::cut::Use;
use super::keys::Start;
use super::{Fitted, Searched};

const TAKES: &str = "a String takes all text";

const HEAD: &str = "# Values fitted to two real machines

Written by `cargo xtask silicon --fit`. The public measurements of `silicon.md` go through the method of `n2sim calibrate`
(`calibrate.md`): values are fitted to two thirds of the rows of each machine, and the rows with a ° there measure the result. The
machine files that were made by hand are beside it. Nothing here is applied: the machine files keep their values.

* A row is one point: cycles for 1024 bytes, a node or a round. Its noise is taken as 2 %. No row has repetitions; the OpenSSL rows
  of the two machines spread by 1.0 % each around the ratio of the clocks, and streams and chases vary more.
* **Plain configuration**: profile `silicon` with what documents say about the machine: clock, size of the system level cache,
  mesh, memory channels and their rate. **Machine file**: the same with `--machine`. They differ in four values: bytes per cycle
  between core and mesh in both directions, and the times of home nodes and of memory. The machine files chose them with the rows
  of membench and bw_mem in view, those with a ° too, so the machine file has seen rows that a fit from plain has not.
* Nine keys are fitted: those four, the distance of the L2 prefetcher, and four with a range in their source that these loops can
  show. Each has one range for both searches.
* Rows whose recording has up to 600,000 instructions are fitted, because a search replays them hundreds of times. Those of up to
  2.5 million are shown as too long to be fitted; longer ones are left out, among them all chases and stores that reach memory.
  Of streams that read 256 MiB and more from memory a quarter of the counted part is replayed, without the long warm-up. The whole
  recording finds a tenth of its lines in the system level cache; the part finds none and is some 5 to 10 % slower.
* A row is replayed again only if a key moved that changes it at the start of the search. The errors below are of replays with all
  values.

A run takes 1.3 seconds of one CPU. Finished replays stay in `fit.runs` beside the recordings; delete it after a change of the model.
";
/// Title of the last section, which people write.
const CONCLUSION: &str = "\n## Which is better\n";

/// Returns the section of an existing page that people wrote.
pub(super) fn conclusion(page: &str) -> &str {
    page.find(CONCLUSION).map_or("", |at| &page[at..])
}

/// Name of a group of rows, and its members.
type Group = (&'static str, fn(&Row, Use) -> bool);

const GROUPS: [Group; 5] = [
    ("fitted", |_, used| used == Use::Fitted),
    ("held out (°)", |_, used| used == Use::HeldOut),
    ("held out: core", |row, used| used == Use::HeldOut && row.class == Class::Core),
    ("held out: caches and memory", |row, used| used == Use::HeldOut && row.class != Class::Core),
    ("too long to be fitted", |_, used| used == Use::TooLong),
];

/// Writes the page.
pub(super) fn page(machines: &[Fitted<'_>], conclusion: &str) -> String {
    let mut text = String::from(HEAD);
    for fitted in machines {
        let title = match fitted.machine {
            Machine::Yitian710 => "Alibaba Yitian 710",
            _ => "Azure Cobalt 100",
        };
        writeln!(text, "\n## {title}\n").expect(TAKES);
        write_errors(&mut text, fitted);
        write_values(&mut text, &fitted.searches);
        write_ties(&mut text, &fitted.searches);
        write_unexplained(&mut text, fitted);
    }
    text + conclusion
}

/// Writes the absolute errors of each group of rows at each place.
fn write_errors(text: &mut String, fitted: &Fitted<'_>) {
    let names: Vec<&str> = fitted.errors.iter().map(|(name, _)| *name).collect();
    writeln!(text, "Absolute errors: mean, median and largest.\n").expect(TAKES);
    writeln!(text, "| rows | number | {} |", names.join(" | ")).expect(TAKES);
    writeln!(text, "| --- | ---: |{}", " ---: |".repeat(names.len())).expect(TAKES);
    for (name, is_in) in GROUPS {
        let members = fitted.rows.iter().enumerate().filter(|(_, (row, used))| is_in(row, *used));
        let members: Vec<usize> = members.map(|(at, _)| at).collect();
        if members.is_empty() {
            continue;
        }
        write!(text, "| {name} | {} |", members.len()).expect(TAKES);
        for (_, errors) in &fitted.errors {
            let of_group = members.iter().map(|at| errors[*at].abs()).collect();
            let [mean, median, largest] = summary(of_group).map(|error| 100.0 * error);
            write!(text, " {mean:.1} %, {median:.1} %, {largest:.0} % |").expect(TAKES);
        }
        text.push('\n');
    }
    for Searched { start, runs, found, .. } in &fitted.searches {
        let noise = if found.is_noise { "" } else { " The rows differ by more than noise." };
        let from = start.fitted_name();
        write!(text, "\nThe search \"{from}\" made {runs} runs.{noise}").expect(TAKES);
    }
    text.push('\n');
}

/// Returns mean, median and largest of some errors, of which there is at least one.
fn summary(mut errors: Vec<f64>) -> [f64; 3] {
    errors.sort_by(f64::total_cmp);
    let number = errors.len();
    let mean = errors.iter().sum::<f64>() / number as f64;
    let median = (errors[(number - 1) / 2] + errors[number / 2]) / 2.0;
    [mean, median, errors[number - 1]]
}

/// Writes the values at all places, with what the rows allow.
fn write_values(text: &mut String, searches: &[Searched]) {
    let names = searches
        .iter()
        .map(|search| search.start.name())
        .chain(searches.iter().map(|search| search.start.fitted_name()));
    writeln!(text, "\n| key | range | {} |", names.collect::<Vec<_>>().join(" | ")).expect(TAKES);
    writeln!(text, "| --- | --- |{}", " --- |".repeat(2 * searches.len())).expect(TAKES);
    let keys = searches.first().map_or(&[][..], |search| &search.keys);
    for (at, Key { name, range, .. }) in keys.iter().enumerate() {
        write!(text, "| {name} | {} to {} |", range.low, range.high).expect(TAKES);
        for Searched { keys, .. } in searches {
            write!(text, " {} |", keys[at].value(keys[at].start)).expect(TAKES);
        }
        for Searched { keys, found, .. } in searches {
            write!(text, " {} |", allowed(&keys[at], &found.keys[at])).expect(TAKES);
        }
        text.push('\n');
    }
}

/// Writes a fitted value with the values that the rows allow.
fn allowed(key: &Key, found: &FittedKey) -> String {
    let value = key.value(found.position);
    let Some(interval) = found.interval else { return format!("{value} (not seen)") };
    let (low, high) = (key.value(interval.low), key.value(interval.high));
    match (low == high, (interval.low, interval.high) == (0, key.last())) {
        (true, _) => format!("{value}"),
        (_, true) => format!("{value} (all)"),
        _ => format!("{value} ({low} to {high})"),
    }
}

/// Writes the keys that the rows do not distinguish.
fn write_ties(text: &mut String, searches: &[Searched]) {
    for Searched { start, keys, found, .. } in searches {
        let names = |tie: &Tie| {
            let names = tie.moves.iter().map(|(key, _)| keys[*key].name.as_str());
            names.collect::<Vec<_>>().join(", ")
        };
        let ties: Vec<String> = found.ties.iter().map(names).collect();
        let ties = if ties.is_empty() { "none".to_owned() } else { ties.join("; ") };
        write!(text, "\nNot distinguished, {}: {ties}.\n", start.fitted_name()).expect(TAKES);
    }
}

/// Writes the fitted rows that no value explains.
fn write_unexplained(text: &mut String, fitted: &Fitted<'_>) {
    let errors = |name: &str| fitted.errors.iter().find(|(own, _)| *own == name);
    let names = Start::BOTH.map(Start::fitted_name);
    let is_unexplained = |row: &Row, found: &Searched| {
        let counts = &found.found.unexplained;
        counts.iter().any(|count| found.rows[count.kernel] == row.name)
    };
    let mut rows: Vec<(usize, f64)> = Vec::new();
    for (at, (row, _)) in fitted.rows.iter().enumerate() {
        if fitted.searches.iter().any(|search| is_unexplained(row, search)) {
            let largest = names.iter().filter_map(|name| Some(errors(name)?.1[at].abs()));
            rows.push((at, largest.fold(0.0, f64::max)));
        }
    }
    rows.sort_by(|one, other| other.1.total_cmp(&one.1));
    let all = rows.len();
    writeln!(text, "\nNo value explains {all} fitted rows (five standard deviations or more):\n")
        .expect(TAKES);
    let all: Vec<&str> = fitted.errors.iter().map(|(name, _)| *name).collect();
    writeln!(text, "| row | {} |", all.join(" | ")).expect(TAKES);
    writeln!(text, "| --- |{}", " ---: |".repeat(all.len())).expect(TAKES);
    for (at, _) in rows {
        write!(text, "| {} |", fitted.rows[at].0.name).expect(TAKES);
        for (_, errors) in &fitted.errors {
            write!(text, " {:+.1} % |", 100.0 * errors[at]).expect(TAKES);
        }
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use sim_calibrate::FittedKey;
    use sim_core::config::Range;

    use super::*;

    #[test]
    fn mean_median_and_largest() {
        assert_eq!(summary(vec![4.0, 1.0, 1.0, 2.0]), [2.0, 1.5, 4.0]);
        assert_eq!(summary(vec![3.0]), [3.0; 3]);
    }

    #[test]
    fn a_value_is_written_with_what_the_rows_allow() {
        let range = Range::parse("8 to 32").expect("a range");
        let key = Key { name: "a.b".to_owned(), range, start: 0 };
        let found = |interval| FittedKey { position: 5, interval };
        let interval = |low, high| Some(sim_calibrate::interval::Interval { low, high });
        assert_eq!(allowed(&key, &found(None)), "13 (not seen)");
        assert_eq!(allowed(&key, &found(interval(5, 5))), "13");
        assert_eq!(allowed(&key, &found(interval(4, 6))), "13 (12 to 14)");
        assert_eq!(allowed(&key, &found(interval(0, 24))), "13 (all)");
    }
}
