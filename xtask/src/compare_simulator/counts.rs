//! The counts that ChampSim and n2sim both have, side by side.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context, ensure};
use serde_json::Value;

use super::champsim;

/// Known causes of differences, for below the tables.
pub(super) const CAUSES: &str = "\
Known causes of differences:
* Wrong paths: n2sim executes them, so that its counts of caches, TLBs and predictors include their
  accesses. ChampSim has no wrong path.
* Joined misses: ChampSim counts a request that joins an outstanding miss as a miss. They are taken
  off above (MISS less MSHR_MERGE), as n2sim counts refills.
* Prefetches: a line that a prefetcher fetched in time is a hit in both; the prefetchers differ.
* Latencies: ChampSim gives each instruction the same execution latency, divisions and vectors too.
* Branches: the predictors of directions and of indirect targets differ. Both count the target of a
  return or an indirect branch; n2sim also counts wrongly predicted targets that decode corrects.
* Pages: ChampSim places each page in a random frame, which changes the sets of the L2 and the LLC.
* Accesses: a record of ChampSim has no sizes, and at most four loads and two stores.";

/// A row of the table: its name, ChampSim's unit and kinds of requests, and n2sim's event.
type Row = (&'static str, &'static str, &'static [&'static str], &'static str);

const LOADS: &[&str] = &["LOAD"];
const STORES: &[&str] = &["RFO"];
const DEMANDS: &[&str] = &["LOAD", "RFO"];

/// Misses of both. In ChampSim, an instruction fetch is a load of the L1I.
const MISSES: [Row; 8] = [
    ("L1I misses", "cpu0_L1I", LOADS, "l1i_cache_refill"),
    ("L1D load misses", "cpu0_L1D", LOADS, "l1d_cache_refill_rd"),
    ("L1D store misses", "cpu0_L1D", STORES, "l1d_cache_refill_wr"),
    ("L2 misses, demands", "cpu0_L2C", DEMANDS, "l2d_cache_refill"),
    ("LLC load misses", "LLC", LOADS, "ll_cache_miss_rd"),
    ("ITLB misses", "cpu0_ITLB", LOADS, "l1i_tlb_refill"),
    ("DTLB misses", "cpu0_DTLB", DEMANDS, "l1d_tlb_refill"),
    ("STLB misses", "cpu0_STLB", DEMANDS, "l2d_tlb_refill"),
];

/// Returns the table of one trace.
///
/// # Errors
/// If the output of n2sim lacks a count.
pub(super) fn table(theirs: &str, ours: &str) -> anyhow::Result<String> {
    let ours = counts(ours)?;
    let own = |event: &str| ours.get(event).copied().with_context(|| format!("n2sim: no {event}"));
    let (instructions, cycles) = (own("inst_retired")?, own("cpu_cycles")?);
    ensure!(instructions > 0.0 && cycles > 0.0, "n2sim counted no instructions");
    let core =
        champsim::core(theirs).map(|(instructions, cycles)| (instructions as f64, cycles as f64));
    let mut table = String::from("| count | ChampSim | n2sim |\n| --- | ---: | ---: |\n");
    let mut row = |name: &str, theirs: Option<f64>, ours: f64, digits: usize| {
        let theirs = theirs.map_or("not printed".to_owned(), |value| format!("{value:.digits$}"));
        // A string does not fail.
        let _ = writeln!(table, "| {name} | {theirs} | {ours:.digits$} |");
    };
    row("instructions", core.map(|core| core.0), instructions, 0);
    row("IPC", core.map(|core| core.0 / core.1), instructions / cycles, 3);
    let mpki = 1000.0 * own("br_mis_pred_retired")? / instructions;
    row("branch mispredictions per 1000", champsim::branch_mpki(theirs), mpki, 2);
    for (name, unit, kinds, event) in MISSES {
        let requests = kinds.iter().map(|kind| champsim::requests(theirs, unit, kind));
        let misses: Option<u64> = requests.map(|one| Some(one?.misses)).sum();
        row(name, misses.map(|misses| misses as f64), own(event)?, 0);
    }
    let loads = champsim::requests(theirs, "cpu0_L1D", "LOAD").map(|one| one.accesses as f64);
    row("L1D loads", loads, own("l1d_cache_rd")?, 0);
    Ok(table)
}

/// Reads the output of `n2sim stat -j`.
fn counts(text: &str) -> anyhow::Result<BTreeMap<String, f64>> {
    let mut counts = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with('{')) {
        let object: Value = serde_json::from_str(line).context("the output of n2sim")?;
        let value = object["counter-value"].as_str().and_then(|value| value.parse().ok());
        if let (Some(event), Some(value)) = (object["event"].as_str(), value) {
            counts.insert(event.to_owned(), value);
        }
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(without: &str) -> String {
        let events = MISSES.iter().map(|row| row.3);
        let others = ["inst_retired", "cpu_cycles", "br_mis_pred_retired", "l1d_cache_rd"];
        let all = events.chain(others).filter(|event| *event != without);
        all.map(|event| format!("{{\"counter-value\": \"40.0\", \"event\": \"{event}\"}}\n"))
            .collect()
    }

    #[test]
    fn a_table_has_the_counts_of_both() {
        let table = table(champsim::REPORT, &output("")).expect("all counts");
        for row in [
            "| instructions | 1000 | 40 |",
            "| IPC | 2.000 | 1.000 |",
            "| branch mispredictions per 1000 | 3.50 | 1000.00 |",
            "| L1D load misses | 30 | 40 |",
            "| L2 misses, demands | 3 | 40 |",
            "| LLC load misses | not printed | 40 |",
            "| L1D loads | 200 | 40 |",
        ] {
            assert!(table.contains(row), "{row} in {table}");
        }
    }

    #[test]
    fn a_missing_count_of_n2sim_is_an_error() {
        let problem =
            table(champsim::REPORT, &output("l1i_tlb_refill")).expect_err("a count lacks");
        assert_eq!(problem.to_string(), "n2sim: no l1i_tlb_refill");
    }
}
