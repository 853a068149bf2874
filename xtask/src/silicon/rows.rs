//! The measurements: one row of `xtask/silicon/*.tsv` on one machine, and the recording that
//! repeats it.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use sim_machine::Machine;

/// The machines, in the order of columns.
pub(super) const MACHINES: [Machine; 2] = [Machine::Cobalt100, Machine::Yitian710];

/// Part of the machine that determines a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Core,
    L1,
    L2,
    Slc,
    Dram,
}

/// Unit in which a row was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Bytes per second, of one thread.
    BytesPerSecond,
    /// Nanoseconds per node.
    NanosecondsPerNode,
    /// Cycles per round.
    CyclesPerRound,
}

/// One measurement on one machine.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// `FILE/NAME`, the same on every machine.
    pub(super) name: String,
    pub(super) machine: Machine,
    pub(super) class: Class,
    pub(super) unit: Unit,
    /// Result of the machine, in this unit.
    pub(super) silicon: f64,
    /// Threads that ran at the same time.
    pub(super) threads: u32,
    /// Bytes, nodes or rounds of each thread in the counted part of the recording.
    pub(super) work: u64,
    /// Name of the recording.
    pub(super) trace: String,
    /// Recipe of the recording: the rest of a line for `record.sh`.
    pub(super) recipe: String,
    /// Reason why no replay can repeat it, if there is one.
    pub(super) out_of_reach: Option<&'static str>,
}

impl Row {
    /// Returns true for the held-out rows, whose 64-bit FNV-1a hash of the name is divisible by
    /// three. No value of the configuration may be chosen with them.
    pub(super) fn is_held_out(&self) -> bool {
        fnv1a(self.name.as_bytes()).is_multiple_of(3)
    }
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Reads all rows of the files in `folder`.
pub(super) fn read(folder: &Path) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (file, columns, make) in [
        ("openssl.tsv", 4, openssl as fn(&[&str]) -> Option<Vec<Row>>),
        ("membench.tsv", 7, membench),
        ("bw_mem.tsv", 4, bw_mem),
        ("barrier.tsv", 3, barrier),
    ] {
        let path = folder.join(file);
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("reading {}", path.display()))?;
        let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
        for line in lines {
            let fields: Vec<&str> = line.split('\t').collect();
            ensure!(fields.len() == columns, "{file}: '{line}' has not {columns} fields");
            let made = make(&fields);
            rows.extend(made.with_context(|| format!("{file}: '{line}' cannot be read"))?);
        }
    }
    Ok(rows)
}

/// Ratio of the two clocks; cores of one kind at two clocks may differ by no other factor.
const CLOCKS: f64 = 3.4 / 2.98;
const CLOCKS_APART: f64 = 0.05;
const OTHER_LIBRARY: &str = "the two machines do not differ by the ratio of their clocks: their libraries (OpenSSL 3.3.0 and 3.4.0) \
    run different code around the kernel, or one run was disturbed";

fn openssl(fields: &[&str]) -> Option<Vec<Row>> {
    let [algorithm, bytes, silicon @ ..] = fields else { return None };
    let block: u64 = bytes.parse().ok()?;
    let silicon: Vec<f64> = silicon.iter().filter_map(|text| text.parse().ok()).collect();
    let [first, second] = silicon[..] else { return None };
    // As many calls as make 64 KiB, but at least 4 and at most 64.
    let calls = (65_536 / block).clamp(4, 64);
    let library = match *algorithm {
        "blake2b512" => "BLAKE2B-512".to_owned(),
        other => other.to_uppercase(),
    };
    let is_other = (first / second / CLOCKS - 1.0).abs() > CLOCKS_APART;
    let row = |(machine, silicon): (Machine, f64)| Row {
        name: format!("openssl.tsv/{algorithm}/{block}"),
        machine,
        class: Class::Core,
        unit: Unit::BytesPerSecond,
        silicon,
        threads: 1,
        work: block * calls,
        trace: format!("ssl-{library}-{block}"),
        recipe: format!("crypto {library} {block} {calls}"),
        out_of_reach: is_other.then_some(OTHER_LIBRARY),
    };
    Some(MACHINES.into_iter().zip([first, second]).map(row).collect())
}

/// Largest counted part, as in `memory.c`.
const PART_MAX: u64 = 4 << 20;
const PART_MIN: u64 = 256 << 10;
const NODES_MAX: u64 = 1 << 17;
const NODES_MIN: u64 = 1 << 15;
const NODE_BYTES: u64 = 16;

/// Returns the number of repetitions of `part` that make at least `least`.
fn laps(part: u64, least: u64) -> u64 {
    part * least.div_ceil(part).max(1)
}

fn stream_bytes(size: u64) -> u64 {
    laps(if size < 2 * PART_MAX { size } else { PART_MAX }, PART_MIN)
}

fn chase_nodes(size: u64) -> u64 {
    laps((size / NODE_BYTES).min(NODES_MAX), NODES_MIN)
}

/// Returns the level that holds the data of a loop.
fn level(machine: Machine, threads: u32, bytes: u64) -> Class {
    let slc: u64 = if machine == Machine::Cobalt100 { 128 << 20 } else { 64 << 20 };
    if bytes <= 64 << 10 {
        Class::L1
    } else if bytes <= 1 << 20 {
        Class::L2
    } else if bytes * u64::from(threads) <= slc {
        Class::Slc
    } else {
        Class::Dram
    }
}

/// Relative deviation of a latency above which the value is not meaningful.
const DEVIATION_MAX: f64 = 0.1;
const NOISY: &str = "its standard deviation is above a tenth of the value";
/// Size from which a node's page is seldom in the L2 TLB.
const FAR_CHASE: u64 = 16 << 20;

fn membench(fields: &[&str]) -> Option<Vec<Row>> {
    let &[machine, size, operation, threads, bandwidth, latency, deviation] = fields else {
        return None;
    };
    let machine = Machine::from_name(machine).ok()?;
    let size = size.parse::<u64>().ok()? << 10;
    let threads: u32 = threads.parse().ok()?;
    let (latency, deviation): (f64, f64) = (latency.parse().ok()?, deviation.parse().ok()?);
    let bandwidth: f64 = bandwidth.parse().ok()?;
    let kib = size >> 10;
    let alone = if threads == 1 { "-one" } else { "" };
    let row = Row {
        name: format!("membench.tsv/{operation}/{kib}"),
        machine,
        class: level(machine, threads, if operation == "copy" { 2 * size } else { size }),
        unit: Unit::BytesPerSecond,
        silicon: bandwidth * 1_048_576.0 / f64::from(threads),
        threads,
        work: stream_bytes(size),
        trace: format!("{operation}-{kib}{alone}"),
        recipe: format!("memory {} {size} {threads}", operation.to_uppercase()),
        out_of_reach: None,
    };
    if operation != "latency" {
        return Some(vec![row]);
    }
    let is_noisy = size >= FAR_CHASE && deviation > DEVIATION_MAX * latency;
    Some(vec![Row {
        unit: Unit::NanosecondsPerNode,
        silicon: latency,
        work: chase_nodes(size),
        trace: format!("chase-{kib}"),
        recipe: format!("memory CHASE {size} 1"),
        out_of_reach: is_noisy.then_some(NOISY),
        ..row
    }])
}

fn bw_mem(fields: &[&str]) -> Option<Vec<Row>> {
    let &[machine, operation, size, rate] = fields else { return None };
    let machine = Machine::from_name(machine).ok()?;
    let bytes = (size.parse::<f64>().ok()? * 1e6).round() as u64;
    let compiled = match operation {
        "rd" => "BW_READ",
        "wr" => "BW_WRITE",
        "rdwr" => "BW_READ_WRITE",
        _ => return None,
    };
    Some(vec![Row {
        name: format!("bw_mem.tsv/{operation}/{size}"),
        machine,
        class: level(machine, 2, bytes),
        unit: Unit::BytesPerSecond,
        silicon: rate.parse::<f64>().ok()? * 1e6 / 2.0,
        threads: 2,
        work: stream_bytes(bytes),
        trace: format!("bw-{operation}-{bytes}"),
        recipe: format!("memory {compiled} {bytes} 2"),
        out_of_reach: None,
    }])
}

/// Rounds of `barrier.c`.
const ROUNDS: u64 = 4096;

fn barrier(fields: &[&str]) -> Option<Vec<Row>> {
    let &[machine, sequence, cycles] = fields else { return None };
    Some(vec![Row {
        name: format!("barrier.tsv/{sequence}"),
        machine: Machine::from_name(machine).ok()?,
        class: Class::Core,
        unit: Unit::CyclesPerRound,
        silicon: cycles.parse().ok()?,
        threads: 1,
        work: ROUNDS,
        trace: "barrier".to_owned(),
        recipe: "barrier".to_owned(),
        out_of_reach: None,
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_have_every_measurement() {
        let rows = read(&sim_tests::repository().join("xtask/silicon")).expect("they are tables");
        let count = |file: &str| rows.iter().filter(|row| row.name.starts_with(file)).count();
        assert_eq!([count("openssl"), count("bw_mem"), count("barrier")], [132, 66, 1]);
        assert_eq!(count("membench"), 80);
        assert!(rows.iter().all(|row| row.silicon > 0.0 && row.work > 0));
    }

    #[test]
    fn a_third_of_the_rows_is_held_out() {
        // 64-bit FNV-1a of "a" is 0xaf63dc4c8601ec8c.
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        let rows = read(&sim_tests::repository().join("xtask/silicon")).expect("they are tables");
        let held = rows.iter().filter(|row| row.is_held_out()).count() as f64 / rows.len() as f64;
        assert!((0.25..0.45).contains(&held), "{held}");
    }

    #[test]
    fn a_row_belongs_to_the_level_that_holds_its_data() {
        let class = |machine, threads, bytes| level(machine, threads, bytes);
        assert_eq!(class(Machine::Cobalt100, 1, 64 << 10), Class::L1);
        assert_eq!(class(Machine::Cobalt100, 2, 1_000_000), Class::L2);
        assert_eq!(class(Machine::Cobalt100, 2, 64 << 20), Class::Slc);
        assert_eq!(class(Machine::Yitian710, 2, 64 << 20), Class::Dram);
    }

    #[test]
    fn the_counted_part_is_the_work_of_the_program() {
        assert_eq!(stream_bytes(16_384), 262_144);
        assert_eq!(stream_bytes(8_000_000), 8_000_000);
        assert_eq!(stream_bytes(64 << 20), 4 << 20);
        assert_eq!((chase_nodes(32 << 10), chase_nodes(64 << 20)), (32_768, 131_072));
    }
}
