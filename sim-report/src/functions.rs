//! Costs of the functions of a program as a table. The shares of all functions add up to the run.

use std::io::{self, Write};

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

/// Events that are shown per thousand instructions, with their column headings.
const PER_THOUSAND: [(&str, PmuEvent); 4] = [
    ("br-miss", PmuEvent::BR_MIS_PRED_RETIRED),
    ("l1i-refill", PmuEvent::L1I_CACHE_REFILL),
    ("l1d-refill", PmuEvent::L1D_CACHE_REFILL),
    ("l2-refill", PmuEvent::L2D_CACHE_REFILL),
];

/// Writes a line for each function: cycles, instructions, and events per thousand instructions.
///
/// # Errors
/// The output cannot be written.
pub fn write_table(out: &mut impl Write, trace: &str, rows: &[FunctionRow]) -> io::Result<()> {
    let cycles_of = |row: &FunctionRow| row.counts.value(PmuEvent::CPU_CYCLES);
    let all: u64 = rows.iter().map(cycles_of).sum();
    writeln!(out, "\n Exact counts by function for '{trace}':\n")?;
    write!(out, "{:>8} {:>16} {:>16} {:>6}", "time", "cycles", "instructions", "IPC")?;
    for (name, _) in PER_THOUSAND {
        write!(out, " {name:>10}")?;
    }
    writeln!(out, "  function")?;
    for row in rows {
        let (cycles, retired) = (cycles_of(row), row.counts.value(PmuEvent::INST_RETIRED));
        let share = percent(cycles, all);
        write!(out, "{share:>7.2}% {:>16} {:>16} ", grouped(cycles), grouped(retired))?;
        write!(out, "{:>6}", ratio(retired, cycles, 1.0))?;
        for (_, event) in PER_THOUSAND {
            write!(out, " {:>10}", ratio(row.counts.value(event), retired, 1000.0))?;
        }
        writeln!(out, "  {}", row.name)?;
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
            FunctionRow { name: name.to_owned(), counts }
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
