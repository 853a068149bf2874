//! Time of a program over the number of its cores, as a table.

use std::io::{self, Write};

use serde_json::json;
use sim_lab::scaling::{Scaling, ScalingRow};

use crate::perf_stat::grouped;

/// Names of the columns of machine-readable rows.
const COLUMNS: [&str; 13] = [
    "cores",
    "cycles",
    "seconds",
    "speed-up",
    "efficiency-percent",
    "work-percent",
    "slower-percent",
    "waiting-percent",
    "switching-percent",
    "idle-percent",
    "queued-cycles",
    "switches",
    "migrations",
];

/// Writes a human-readable table. `clock_hz` is the clock of the cores.
///
/// # Errors
/// The output cannot be written.
pub fn write_text(out: &mut impl Write, scaling: &Scaling, clock_hz: u64) -> io::Result<()> {
    writeln!(out, " {:<58} of the time of all cores, in %", "")?;
    writeln!(
        out,
        " {:>5} {:>16} {:>12} {:>9} {:>11}  {:>7} {:>7} {:>8} {:>7} {:>6} {:>10} {:>11}",
        "cores",
        "cycles",
        "ms (modeled)",
        "speed-up",
        "efficiency",
        "work",
        "slower",
        "waiting",
        "switch",
        "idle",
        "switches",
        "migrations"
    )?;
    for row in &scaling.rows {
        let time = scaling.core_time(row);
        let percent = |part: f64| format!("{:.1}", clean(part * 100.0, 0.05));
        writeln!(
            out,
            " {:>5} {:>16} {:>12.3} {:>9.2} {:>9.1} %  {:>7} {:>7} {:>8} {:>7} {:>6} {:>10} {:>11}",
            row.cores,
            grouped(row.cycles),
            seconds(row, clock_hz) * 1e3,
            scaling.speed_up(row),
            scaling.efficiency(row) * 100.0,
            percent(time.work),
            percent(time.slower),
            percent(time.waiting),
            percent(time.switching),
            percent(time.idle),
            grouped(row.switches),
            grouped(row.migrations)
        )?;
    }
    let first = scaling.rows.first().map_or(1, |row| row.cores);
    let cores = if first == 1 { "1 core".to_owned() } else { format!("{first} cores") };
    writeln!(
        out,
        "\n work: the cycles that the threads need on {cores}; slower: further cycles of the same"
    )?;
    writeln!(
        out,
        " instructions; waiting: for another thread, on a core; idle: no thread on a core\n"
    )
}

/// Writes one JSON object for each number of cores.
///
/// # Errors
/// The output cannot be written.
pub fn write_json(out: &mut impl Write, scaling: &Scaling, clock_hz: u64) -> io::Result<()> {
    for row in &scaling.rows {
        let time = scaling.core_time(row);
        let object = json!({
            "cores": row.cores,
            "cycles": row.cycles,
            "seconds": seconds(row, clock_hz),
            "speed-up": scaling.speed_up(row),
            "efficiency-percent": scaling.efficiency(row) * 100.0,
            "work-percent": time.work * 100.0,
            "slower-percent": time.slower * 100.0,
            "waiting-percent": time.waiting * 100.0,
            "switching-percent": time.switching * 100.0,
            "idle-percent": time.idle * 100.0,
            "queued-cycles": row.queued,
            "switches": row.switches,
            "migrations": row.migrations,
        });
        writeln!(out, "{object}")?;
    }
    Ok(())
}

/// Writes the names of the columns, then a line of fields for each number of cores.
///
/// # Errors
/// The output cannot be written.
pub fn write_csv(
    out: &mut impl Write,
    scaling: &Scaling,
    clock_hz: u64,
    separator: &str,
) -> io::Result<()> {
    writeln!(out, "{}", COLUMNS.join(separator))?;
    for row in &scaling.rows {
        let time = scaling.core_time(row);
        let percent = |part: f64| format!("{:.2}", clean(part * 100.0, 0.005));
        let fields = [
            row.cores.to_string(),
            row.cycles.to_string(),
            format!("{:.9}", seconds(row, clock_hz)),
            format!("{:.4}", scaling.speed_up(row)),
            percent(scaling.efficiency(row)),
            percent(time.work),
            percent(time.slower),
            percent(time.waiting),
            percent(time.switching),
            percent(time.idle),
            row.queued.to_string(),
            row.switches.to_string(),
            row.migrations.to_string(),
        ];
        writeln!(out, "{}", fields.join(separator))?;
    }
    Ok(())
}

fn seconds(row: &ScalingRow, clock_hz: u64) -> f64 {
    row.cycles as f64 / clock_hz.max(1) as f64
}

/// Returns 0 for a value that would be printed as -0.
fn clean(value: f64, smallest: f64) -> f64 {
    if value.abs() < smallest { 0.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaling() -> Scaling {
        let row = |cores, cycles, busy| ScalingRow {
            cores,
            cycles,
            busy,
            waiting: 0,
            queued: 7,
            switches: 1234,
            switching: 0,
            migrations: 5,
        };
        Scaling { rows: vec![row(1, 4_000_000, 4_000_000), row(2, 2_500_000, 4_400_000)] }
    }

    #[test]
    fn every_form_has_the_same_values() {
        let written = |write: &dyn Fn(&mut Vec<u8>) -> io::Result<()>| {
            let mut out = Vec::new();
            write(&mut out).expect("memory takes it");
            String::from_utf8(out).expect("text")
        };
        let text = written(&|out| write_text(out, &scaling(), 2_000_000_000));
        let second = text.lines().nth(3).expect("a row for two cores");
        let words: Vec<&str> = second.split_whitespace().collect();
        let parts = ["80.0", "8.0", "0.0", "0.0", "12.0"];
        assert_eq!(words[..6], ["2", "2,500,000", "1.250", "1.60", "80.0", "%"]);
        assert_eq!(words[6..11], parts);
        assert_eq!(words[11..], ["1,234", "5"]);
        let csv = written(&|out| write_csv(out, &scaling(), 2_000_000_000, ","));
        let line = "2,2500000,0.001250000,1.6000,80.00,80.00,8.00,0.00,0.00,12.00,7,1234,5";
        assert_eq!(csv.lines().nth(2), Some(line));
        let json = written(&|out| write_json(out, &scaling(), 2_000_000_000));
        let last: serde_json::Value =
            serde_json::from_str(json.lines().last().expect("a line")).expect("JSON");
        assert_eq!(last.as_object().map(|one| one.len()), Some(COLUMNS.len()));
        assert_eq!((&last["cores"], &last["seconds"]), (&json!(2), &json!(0.00125)));
        assert!(COLUMNS.iter().all(|column| last.get(column).is_some()));
    }
}
