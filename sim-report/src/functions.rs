//! Costs of the functions of a program as a table. The shares of all functions add up to the run.

use std::io::{self, Write};

use sim_a53::{A53Counts, A53Event};
use sim_core::{Counts, PmuEvent};

use crate::perf_stat::grouped;
use crate::stat::{Owner, Row, Section, StatReport};

/// Function with the counts of its instructions.
#[derive(Clone, Debug)]
pub struct FunctionRow {
    /// Name.
    pub name: String,
    /// Counts.
    pub counts: Counts,
}

/// Column headings of the events that are shown per thousand instructions.
const PER_THOUSAND: [&str; 4] = ["br-miss", "l1i-refill", "l1d-refill", "l2-refill"];

/// Costs of a function, on any core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCosts {
    /// Name.
    pub name: String,
    /// Cycles.
    pub cycles: u64,
    /// Retired instructions.
    pub retired: u64,
    /// Mispredictions, and refills of the L1 I-cache, the L1 D-cache and the L2 cache.
    pub misses: [u64; 4],
}

impl FunctionCosts {
    /// Returns the costs on a Neoverse N2.
    pub fn of_n2(row: &FunctionRow) -> FunctionCosts {
        let value = |event| row.counts.value(event);
        FunctionCosts {
            name: row.name.clone(),
            cycles: value(PmuEvent::CPU_CYCLES),
            retired: value(PmuEvent::INST_RETIRED),
            misses: [
                value(PmuEvent::BR_MIS_PRED_RETIRED),
                value(PmuEvent::L1I_CACHE_REFILL),
                value(PmuEvent::L1D_CACHE_REFILL),
                value(PmuEvent::L2D_CACHE_REFILL),
            ],
        }
    }

    /// Returns the costs on a Cortex-A53.
    pub fn of_a53(name: &str, counts: &A53Counts) -> FunctionCosts {
        FunctionCosts {
            name: name.to_owned(),
            cycles: counts.value(A53Event::CPU_CYCLES),
            retired: counts.value(A53Event::INST_RETIRED),
            misses: [
                counts.value(A53Event::BR_MIS_PRED),
                counts.value(A53Event::L1I_CACHE_REFILL),
                counts.value(A53Event::L1D_CACHE_REFILL),
                counts.value(A53Event::L2D_CACHE_REFILL),
            ],
        }
    }
}

/// Writes a line for each function: cycles, instructions, and events per thousand instructions.
///
/// # Errors
/// The output cannot be written.
pub fn write_table(out: &mut impl Write, trace: &str, rows: &[FunctionCosts]) -> io::Result<()> {
    let all: u64 = rows.iter().map(|row| row.cycles).sum();
    writeln!(out, "\n Exact counts by function for '{trace}':\n")?;
    write!(out, "{:>8} {:>16} {:>16} {:>6}", "time", "cycles", "instructions", "IPC")?;
    for name in PER_THOUSAND {
        write!(out, " {name:>10}")?;
    }
    writeln!(out, "  function")?;
    for row in rows {
        let FunctionCosts { name, cycles, retired, misses } = row;
        let share = percent(*cycles, all);
        write!(out, "{share:>7.2}% {:>16} {:>16} ", grouped(*cycles), grouped(*retired))?;
        write!(out, "{:>6}", ratio(*retired, *cycles, 1.0))?;
        for count in misses {
            write!(out, " {:>10}", ratio(*count, *retired, 1000.0))?;
        }
        writeln!(out, "  {name}")?;
    }
    writeln!(out, "\n Events per thousand retired instructions from the fifth column on.\n")
}

fn percent(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 * 100.0 / all as f64 }
}

/// Returns one number over another, or a dash if the divisor is 0.
fn ratio(n: u64, d: u64, scale: f64) -> String {
    if d == 0 { String::from("-") } else { format!("{:.2}", n as f64 / d as f64 * scale) }
}

/// Returns the same report with a heading for each function.
#[must_use]
pub fn by_function(report: StatReport) -> StatReport {
    let mut sections: Vec<Section> = Vec::new();
    let rows: Vec<Row> = report.sections.into_iter().flat_map(|section| section.rows).collect();
    for row in rows {
        let title = match &row.owner {
            Some(Owner::Function(name)) => Some(name.clone()),
            _ => None,
        };
        match sections.last_mut() {
            Some(last) if last.title == title => last.rows.push(row),
            _ => sections.push(Section { title, rows: vec![row] }),
        }
    }
    StatReport { sections, ..report }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::EventSink;

    #[test]
    fn shares_add_up_and_a_ratio_to_zero_is_a_dash() {
        let row = |name: &str, counted: &[(PmuEvent, u64)]| {
            let mut counts = Counts::default();
            counted.iter().for_each(|&(event, n)| counts.count(event, n));
            FunctionCosts::of_n2(&FunctionRow { name: name.to_owned(), counts })
        };
        let rows = [
            row(
                "main",
                &[
                    (PmuEvent::CPU_CYCLES, 3000),
                    (PmuEvent::INST_RETIRED, 1500),
                    (PmuEvent::L1D_CACHE_REFILL_RD, 3),
                ],
            ),
            row("[unknown]", &[(PmuEvent::CPU_CYCLES, 1000)]),
        ];
        let mut out = Vec::new();
        write_table(&mut out, "x.n2t", &rows).expect("memory can be written");
        let text = String::from_utf8(out).expect("text");
        let expected = "
 Exact counts by function for 'x.n2t':

    time           cycles     instructions    IPC    br-miss l1i-refill l1d-refill  l2-refill  function
  75.00%            3,000            1,500   0.50       0.00       0.00       2.00       0.00  main
  25.00%            1,000                0   0.00          -          -          -          -  [unknown]

 Events per thousand retired instructions from the fifth column on.

";
        assert_eq!(text, expected);
    }
}
