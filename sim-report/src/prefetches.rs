//! Outcome of prefetched lines, as a table or as JSON: statistics in addition to the PMU events.

use std::io::{self, Write};

use serde_json::json;
use sim_machine::{Outcome, PrefetchCounts};

use crate::perf_stat::grouped;

/// Writes the table. Accuracy is the used share of the lines with a known outcome. Coverage is the
/// share of the needed lines that were prefetched.
///
/// # Errors
/// The output cannot be written.
pub fn write_text(out: &mut impl Write, outcome: &Outcome) -> io::Result<()> {
    writeln!(
        out,
        " {:<12} {:>14} {:>14} {:>14} {:>14} {:>14} {:>9} {:>9}",
        "Prefetches", "issued", "useful", "late", "useless", "uncovered", "accuracy", "coverage"
    )?;
    for (name, counts) in outcome.prefetches().named() {
        let PrefetchCounts { issued, useful, late, useless, missed } = counts;
        let [issued, useful, late, useless, missed] =
            [issued, useful, late, useless, missed].map(grouped);
        let (accuracy, coverage) = (percent(counts.accuracy()), percent(counts.coverage()));
        writeln!(
            out,
            " {name:<12} {issued:>14} {useful:>14} {late:>14} {useless:>14} {missed:>14} \
             {accuracy:>9} {coverage:>9}"
        )?;
    }
    writeln!(out)
}

/// Writes one JSON object per prefetcher, one on each line.
///
/// # Errors
/// The output cannot be written.
pub fn write_json(out: &mut impl Write, outcome: &Outcome) -> io::Result<()> {
    for (name, counts) in outcome.prefetches().named() {
        let object = json!({
            "prefetcher": name,
            "issued": counts.issued,
            "useful": counts.useful,
            "late": counts.late,
            "useless": counts.useless,
            "not-foreseen": counts.missed,
            "accuracy": counts.accuracy(),
            "coverage": counts.coverage(),
        });
        writeln!(out, "{object}")?;
    }
    Ok(())
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| String::from("-"), |share| format!("{:.1}%", share * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_machine::{CoreOutcome, PrefetchStats};

    fn outcome() -> Outcome {
        let l2 = PrefetchCounts { issued: 1000, useful: 600, late: 150, useless: 250, missed: 250 };
        let core = CoreOutcome {
            is_counted: true,
            prefetches: PrefetchStats { l2, ..PrefetchStats::default() },
            ..CoreOutcome::default()
        };
        let cores = vec![core.clone(), core];
        Outcome { cores, clock_hz: 1, ..Outcome::default() }
    }

    fn lines(write: fn(&mut Vec<u8>, &Outcome) -> io::Result<()>) -> Vec<String> {
        let mut out = Vec::new();
        write(&mut out, &outcome()).expect("memory can be written");
        String::from_utf8(out).expect("text").lines().map(str::to_owned).collect()
    }

    #[test]
    fn counts_of_cores_are_summed_before_ratios() {
        let lines = lines(write_text);
        let fields: Vec<&str> = lines[3].split_whitespace().collect();
        assert_eq!(fields, ["L2", "2,000", "1,200", "300", "500", "500", "75.0%", "75.0%"]);
        assert!(lines[1].ends_with("-         -"), "no line was prefetched: {}", lines[1]);
    }

    #[test]
    fn json_has_the_same_counts() {
        let lines = lines(write_json);
        let l2: serde_json::Value = serde_json::from_str(&lines[2]).expect("an object");
        assert_eq!((&l2["late"], &l2["accuracy"]), (&json!(300), &json!(0.75)));
    }
}
