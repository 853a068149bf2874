//! Forms of the comparison of two cores.

use std::io::{self, Write};

use serde_json::json;

use super::{CoreDiff, CoreRun, SlotGroup};
use crate::perf_stat::grouped;

/// Width of the column of names.
const NAME: usize = 44;
/// Width of a column of counts.
const COUNT: usize = 16;

/// A row of the table before the events: its name, a number for each core, and its decimals.
type Row = (&'static str, [f64; 2], usize);

/// Returns the rows that are no events.
fn rows(runs: &[CoreRun; 2]) -> Vec<Row> {
    let of = |value: fn(&CoreRun) -> f64| [value(&runs[0]), value(&runs[1])];
    vec![
        ("instructions", of(|run| run.instructions as f64), 0),
        ("cycles of all threads", of(|run| run.cycles as f64), 0),
        ("instructions per cycle", of(CoreRun::ipc), 3),
        ("clock in GHz", of(|run| run.clock_hz as f64 / 1e9), 3),
        ("time in milliseconds", of(|run| run.seconds() * 1e3), 3),
    ]
}

/// Returns the rows of the stack of cycles per instruction; the last one is the sum.
fn stack(runs: &[CoreRun; 2]) -> Vec<Row> {
    let of = |group: SlotGroup| [0, 1].map(|run: usize| runs[run].cycles_per_instruction(group));
    let mut rows: Vec<Row> =
        SlotGroup::ALL.map(|group| (group.label(), of(group), 3)).into_iter().collect();
    let all = [0, 1].map(|run: usize| {
        SlotGroup::ALL.iter().map(|group| runs[run].cycles_per_instruction(*group)).sum()
    });
    rows.push(("all", all, 3));
    rows
}

/// Formats a number with its decimals; whole numbers in groups of three digits.
fn number(value: f64, decimals: usize) -> String {
    if decimals == 0 { grouped(value as u64) } else { format!("{value:.decimals$}") }
}

/// Returns the second number as a multiple of the first.
fn ratio([first, second]: [f64; 2]) -> String {
    if first == 0.0 { String::from("-") } else { format!("{:.3}", second / first) }
}

/// Writes the comparison for people.
///
/// # Errors
/// The output cannot be written.
pub fn write_text(out: &mut impl Write, diff: &CoreDiff) -> io::Result<()> {
    let names = diff.runs.each_ref().map(|run| run.core);
    let head = |out: &mut dyn Write, title: &str| {
        let [first, second] = names;
        writeln!(out, " {title:<NAME$} {first:>COUNT$} {second:>COUNT$} {:>9}", "ratio")
    };
    let row = |out: &mut dyn Write, name: &str, values: [f64; 2], decimals: usize| {
        let [first, second] = values.map(|value| number(value, decimals));
        let ratio = ratio(values);
        writeln!(out, " {name:<NAME$} {first:>COUNT$} {second:>COUNT$} {ratio:>9}")
    };
    writeln!(out, "\n {}\n", diff.trace)?;
    head(out, "")?;
    for (name, values, decimals) in rows(&diff.runs) {
        row(out, name, values, decimals)?;
    }
    writeln!(out)?;
    head(out, "cycles per instruction, by use of the slots")?;
    for (name, values, decimals) in stack(&diff.runs) {
        row(out, &format!("  {name}"), values, decimals)?;
    }
    writeln!(out)?;
    head(out, "events that both cores have")?;
    for event in &diff.events {
        let name = match event.other_name {
            Some(other) => format!("  r{:02x}  {}, {other}", event.number, event.name),
            None => format!("  r{:02x}  {}", event.number, event.name),
        };
        row(out, &name, event.counts.map(|count| count as f64), 0)?;
    }
    Ok(())
}

/// Writes one JSON object on one line.
///
/// # Errors
/// The output cannot be written.
pub fn write_json(out: &mut impl Write, diff: &CoreDiff) -> io::Result<()> {
    let run = |run: &CoreRun| {
        let stack: serde_json::Map<_, _> = SlotGroup::ALL
            .into_iter()
            .map(|group| (json!(group), json!(run.cycles_per_instruction(group))))
            .filter_map(|(name, cycles)| Some((name.as_str()?.to_owned(), cycles)))
            .collect();
        json!({
            "core": run.core,
            "clock_hz": run.clock_hz,
            "cycles": run.cycles,
            "longest": run.longest,
            "instructions": run.instructions,
            "slots_per_cycle": run.slots_per_cycle,
            "cycles_per_instruction": stack,
        })
    };
    let runs = diff.runs.each_ref().map(run);
    writeln!(out, "{}", json!({ "trace": diff.trace, "runs": runs, "events": diff.events }))
}

/// Writes a line with the names of the cores, then one line for each number of each trace.
///
/// # Errors
/// The output cannot be written.
pub fn write_csv(out: &mut impl Write, diffs: &[CoreDiff], separator: &str) -> io::Result<()> {
    if let Some([first, second]) =
        diffs.first().map(|diff| diff.runs.each_ref().map(|run| run.core))
    {
        writeln!(out, "trace{separator}quantity{separator}{first}{separator}{second}")?;
    }
    diffs.iter().try_for_each(|diff| write_lines(out, diff, separator))
}

fn write_lines(out: &mut impl Write, diff: &CoreDiff, separator: &str) -> io::Result<()> {
    let mut line = |name: &str, values: [String; 2]| {
        let [first, second] = values;
        writeln!(out, "{}{separator}{name}{separator}{first}{separator}{second}", diff.trace)
    };
    for (name, values, decimals) in rows(&diff.runs) {
        line(name, values.map(|value| format!("{value:.decimals$}")))?;
    }
    for (name, values, _) in stack(&diff.runs) {
        let name = format!("cycles per instruction: {}", name.replace(',', ""));
        line(&name, values.map(|value| format!("{value:.6}")))?;
    }
    for event in &diff.events {
        line(event.name, event.counts.map(|count| count.to_string()))?;
    }
    Ok(())
}

/// Writes one table over all traces, in Markdown: cycles and instructions per cycle.
///
/// # Errors
/// The output cannot be written.
pub fn write_markdown(out: &mut impl Write, diffs: &[CoreDiff]) -> io::Result<()> {
    let Some([first, second]) = diffs.first().map(|diff| diff.runs.each_ref().map(|run| run.core))
    else {
        return Ok(());
    };
    write!(out, "| trace | instructions | {first}: cycles | per cycle |")?;
    writeln!(out, " {second}: cycles | per cycle | ratio of cycles |")?;
    writeln!(out, "| --- | ---: | ---: | ---: | ---: | ---: | ---: |")?;
    for diff in diffs {
        let [a, b] = &diff.runs;
        let (instructions, cycles) = (grouped(a.instructions), [a, b].map(|run| run.cycles));
        let [a_cycles, b_cycles] = cycles.map(grouped);
        let ratio = ratio(cycles.map(|cycles| cycles as f64));
        writeln!(
            out,
            "| {} | {instructions} | {a_cycles} | {:.3} | {b_cycles} | {:.3} | {ratio} |",
            diff.trace,
            a.ipc(),
            b.ipc()
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(core: &'static str, events: &[(u16, &'static str, u64)]) -> CoreRun {
        CoreRun {
            core,
            clock_hz: 1_000_000_000,
            cycles: 1000,
            longest: 1000,
            instructions: 500,
            slots_per_cycle: 2,
            slots: [500, 100, 200, 700, 490, 10],
            events: events.to_vec(),
        }
    }

    fn diff() -> CoreDiff {
        let first = run(
            "cortex-a53",
            &[(0x03, "L1D_CACHE_REFILL", 4), (0x06, "LD_RETIRED", 9), (0x60, "BUS_ACCESS_LD", 0)],
        );
        let second =
            run("neoverse-n2", &[(0x03, "L1D_CACHE_REFILL", 6), (0x60, "BUS_ACCESS_RD", 3)]);
        CoreDiff::new(String::from("a.n2t"), [first, second])
    }

    fn text(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).expect("memory can be written");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn only_events_of_both_cores_are_compared() {
        let diff = diff();
        let numbers: Vec<u16> = diff.events.iter().map(|event| event.number).collect();
        assert_eq!(numbers, [0x03, 0x60]);
        assert_eq!(diff.events[1].other_name, Some("BUS_ACCESS_RD"));
        let text = text(|out| write_text(out, &diff));
        let row = text.lines().find(|line| line.contains("r03")).expect("a row");
        assert!(row.ends_with("                4                6     1.500"), "{row}");
        let row = text.lines().find(|line| line.contains("r60")).expect("a row");
        assert!(row.contains("BUS_ACCESS_LD, BUS_ACCESS_RD") && row.ends_with(" -"), "{row}");
    }

    #[test]
    fn the_stack_adds_up_to_the_cycles_per_instruction() {
        let diff = diff();
        let all = stack(&diff.runs).pop().expect("a sum");
        assert_eq!((all.0, all.1), ("all", [2.0, 2.0]));
        let csv = text(|out| write_csv(out, std::slice::from_ref(&diff), ","));
        assert!(csv.lines().all(|line| line.split(',').count() == 4), "{csv}");
        assert!(csv.contains("\na.n2t,cycles per instruction: all,2.000000,2.000000\n"), "{csv}");
        let object: serde_json::Value =
            serde_json::from_str(&text(|out| write_json(out, &diff))).expect("JSON");
        assert_eq!(object["runs"][0]["cycles_per_instruction"]["memory"], 0.7);
        let table = text(|out| write_markdown(out, &[diff]));
        assert!(table.ends_with("| a.n2t | 500 | 1,000 | 0.500 | 1,000 | 0.500 | 1.000 |\n"));
    }
}
