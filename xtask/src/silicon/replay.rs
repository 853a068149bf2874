//! The model's result for the work that a row measured.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use rayon::prelude::*;
use sim_core::PmuEvent;
use sim_machine::region::{Marker, Roi};
use sim_machine::{ConfigSource, MachineConfig, Profile, RunHeader, RunOptions, Session};

use super::rows::{Row, Unit};

/// Numbers of the hints that enclose the counted part of a recording.
pub(super) const BEGIN: u32 = 40;
pub(super) const END: u32 = 41;

/// A row with the model's result for it.
pub(super) struct Compared<'a> {
    pub(super) row: &'a Row,
    /// Result in the unit of the row.
    pub(super) model: f64,
    clock_hz: f64,
}

impl Compared<'_> {
    /// Returns the additional time of the model, as a part of silicon's time.
    pub(super) fn error(&self) -> f64 {
        self.model_ns() / self.silicon_ns() - 1.0
    }

    /// Returns silicon's time for a byte, a node or a round.
    pub(super) fn silicon_ns(&self) -> f64 {
        self.nanoseconds(self.row.silicon)
    }

    /// Returns the model's time for a byte, a node or a round.
    pub(super) fn model_ns(&self) -> f64 {
        self.nanoseconds(self.model)
    }

    fn nanoseconds(&self, value: f64) -> f64 {
        match self.row.unit {
            Unit::BytesPerSecond => 1e9 / value,
            Unit::NanosecondsPerNode => value,
            Unit::CyclesPerRound => value * 1e9 / self.clock_hz,
        }
    }
}

/// Replays every row that a replay can repeat, several at a time, and prints each when it is done.
pub(super) fn replay<'a>(
    rows: &'a [Row],
    folder: &Path,
    set: &[String],
) -> Result<Vec<Compared<'a>>> {
    let reached: Vec<&Row> = rows.iter().filter(|row| row.out_of_reach.is_none()).collect();
    let one = |row: &&'a Row| {
        let compared = compare(row, folder, set).with_context(|| row.name.clone())?;
        let (silicon, model) = (compared.silicon_ns(), compared.model_ns());
        println!(
            "{:10} {:34} silicon {silicon:9.4} ns  model {model:9.4} ns  {:+6.1} %",
            row.machine.name(),
            row.name,
            100.0 * compared.error()
        );
        Ok(compared)
    };
    reached.par_iter().map(one).collect()
}

fn compare<'a>(row: &'a Row, folder: &Path, set: &[String]) -> Result<Compared<'a>> {
    let source = ConfigSource {
        profile: Profile::Silicon,
        machine: row.machine,
        overrides: set,
        ..ConfigSource::default()
    };
    let config = MachineConfig::from_document(&source.document()?)?;
    let clock_hz = config.core.clock_hz as f64;
    let path = folder.join(format!("{}.n2t", row.trace));
    let rate = rate(row, &path, config)?;
    let model = match row.unit {
        Unit::BytesPerSecond => rate * clock_hz,
        Unit::NanosecondsPerNode => 1e9 / (rate * clock_hz),
        Unit::CyclesPerRound => 1.0 / rate,
    };
    Ok(Compared { row, model, clock_hz })
}

/// Returns the bytes, nodes or rounds of a cycle in the counted part of a recording.
pub(super) fn rate(row: &Row, path: &Path, config: MachineConfig) -> Result<f64> {
    let header = RunHeader { trace: path.display().to_string(), ..RunHeader::default() };
    let session = Session::open(path, config, header)?.without_roots();
    let roi = Roi { begin: Marker::Hint(BEGIN), end: Marker::Hint(END) };
    let options = RunOptions { roi: Some(roi), ..RunOptions::default() };
    let outcome = session.run(&options, &mut |_| {})?;
    let cycles = outcome.cores.iter().map(|core| core.counts.value(PmuEvent::CPU_CYCLES));
    let cycles: Vec<f64> =
        cycles.filter(|cycles| *cycles > 0).map(|cycles| cycles as f64).collect();
    ensure!(cycles.len() == row.threads as usize, "{} threads counted", cycles.len());
    // Each thread has its own rate; the benchmarks add the rates of all.
    Ok(cycles.iter().map(|cycles| row.work as f64 / cycles).sum::<f64>() / cycles.len() as f64)
}
