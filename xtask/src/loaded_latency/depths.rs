//! The table of `docs/loaded-latency.md` that shows how much the depths of queues matter to streams
//! that write.

use std::fmt::Write as _;

use anyhow::Result;
use sim_lab::membench::loaded::{self, Supply, Work};
use sim_machine::Machine;

use super::{LIMITS, SMALL_CACHES, config};

/// Depths: name of the row, and assignments in addition to the other limits.
const DEPTHS: [(&str, &[&str]); 8] = [
    ("no queue at memory", &["memory.dram.write-entries=0"]),
    ("16 writes", &["memory.dram.write-entries=16"]),
    ("64 writes", &[]),
    ("128 writes", &["memory.dram.write-entries=128"]),
    ("64 writes, 16 victims", &["memory.l2.write-back-entries=16"]),
    ("64 writes, 32 victims", &["memory.l2.write-back-entries=32"]),
    ("64 writes, 16 requests", &["memory.slc.queue-entries=16"]),
    ("64 writes, 96 requests", &["memory.slc.queue-entries=96"]),
];
/// Work of the columns.
const WORK: [Work; 3] = [Work::Update, Work::Write, Work::Copy];

/// Bandwidths of one machine by [`DEPTHS`] and [`WORK`].
pub(super) type Depths = Vec<[f64; WORK.len()]>;

/// Measures a machine with `cores` cores.
pub(super) fn measure(machine: Machine, cores: usize) -> Result<Depths> {
    let of = |(_, depth): &(&str, &[&str])| {
        let config = config(machine, &[&LIMITS[..], &SMALL_CACHES, depth].concat())?;
        Ok(WORK.map(|work| loaded::bandwidth(&config, cores, Supply::Dram, work)))
    };
    DEPTHS.iter().map(of).collect()
}

/// Writes the table of some machines: name and cores, and what was measured.
pub(super) fn table(machines: &[(String, &Depths)]) -> String {
    let titles = machines.iter().map(|(name, _)| format!(" {name}: update | write | copy |"));
    let mut table = format!("| depths |{}\n| --- |", titles.collect::<String>());
    table.push_str(&" ---: |".repeat(WORK.len() * machines.len()));
    table.push('\n');
    for (at, (name, _)) in DEPTHS.iter().enumerate() {
        let cells = machines.iter().flat_map(|(_, depths)| depths[at]);
        let cells: String = cells.map(|value| format!(" {value:.0} |")).collect();
        let _ = writeln!(table, "| {name} |{cells}");
    }
    table
}
