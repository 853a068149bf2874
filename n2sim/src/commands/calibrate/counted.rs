//! The counts of the machine: results of the litmus program, and output of `perf stat`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, bail, ensure};
use sim_calibrate::Sample;
use sim_core::{PmuEvent, Shown};
use sim_litmus::{Counted, MachineFacts, kernels, rules};
use sim_metrics::identities::{self, Assumptions};
use sim_report::count_table::{self, Tolerance};
use sim_trace::TraceFile;

/// Broken rules that are named.
const NAMED: usize = 5;
/// Unit of the counts of a trace, in instructions.
pub(super) const INSTRUCTIONS: f64 = 1000.0;

/// Standard deviation of a count of half of the time, as a share [assumed: programs change from
/// phase to phase].
const OF_HALF: f64 = 0.1;
/// Least share of the time, where perf prints 0.00 %.
const LEAST_SHARE: f64 = 1e-4;

/// A file of counts, as the command line names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CountsFile {
    /// A result of the litmus program.
    Result(PathBuf),
    /// Counts of the program of a trace.
    OfTrace {
        /// The trace.
        trace: PathBuf,
        /// Output of `perf stat`.
        counts: PathBuf,
    },
}

impl FromStr for CountsFile {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<CountsFile, Self::Err> {
        // A file may have such a name.
        let both = (!Path::new(text).exists()).then(|| text.split_once('=')).flatten();
        Ok(match both {
            Some((trace, counts)) => {
                CountsFile::OfTrace { trace: trace.into(), counts: counts.into() }
            }
            None => CountsFile::Result(text.into()),
        })
    }
}

/// Counts of a machine for some kernels.
#[derive(Debug)]
pub(super) struct Source {
    /// The file of the counts.
    pub(super) name: String,
    /// The machine, if the file says it.
    pub(super) machine: Option<MachineFacts>,
    /// The trace of the counts; `None` for the kernels of the litmus program.
    pub(super) trace: Option<PathBuf>,
    /// Number of counts of a part of the time, which perf has scaled.
    pub(super) scaled: usize,
    /// Counts of each kernel, by event.
    pub(super) kernels: BTreeMap<String, BTreeMap<PmuEvent, Sample>>,
}

impl Source {
    /// Reads a file and refuses counts that contradict each other. `assumptions` are those about
    /// output of `perf stat`; a result names its machine.
    pub(super) fn read(file: &CountsFile, assumptions: &Assumptions) -> anyhow::Result<Source> {
        match file {
            CountsFile::Result(path) => of_program(path),
            CountsFile::OfTrace { trace, counts } => of_trace(trace, counts, assumptions),
        }
    }
}

fn of_program(path: &Path) -> anyhow::Result<Source> {
    let name = path.shown().to_string();
    let text = sim_files::read_to_string(path)
        .with_context(|| format!("cannot read the counts {name}"))?;
    let counted = Counted::read(&text).with_context(|| {
        format!("{name}: counts of a program that is not the litmus program need its trace, as TRACE={name}")
    })?;
    ensure!(
        !counted.kernels.is_empty(),
        "{name}: it has no kernels; run the program without --cases, and see what it says about memory"
    );
    ensure!(
        counted.kernel_program == kernels::mark(),
        "{name}: its kernels are those of another n2sim; export the program again"
    );
    refuse_broken(&name, &counted)?;
    let samples = |kernel: &sim_litmus::CountedKernel| {
        let of = |event: PmuEvent| Some((event, relative(kernel.sample(event)?)));
        (kernel.kernel.clone(), kernels::counted_events().filter_map(of).collect())
    };
    let kernels = counted.kernels.iter().map(samples).collect();
    Ok(Source { name, machine: Some(counted.machine), trace: None, scaled: 0, kernels })
}

/// Returns a sample with its deviation as a share.
fn relative(sample: sim_litmus::counts::Sample) -> Sample {
    let mean = sample.mean.max(0.0);
    let deviation = if mean > 0.0 { sample.deviation / mean } else { 0.0 };
    Sample { mean, deviation }
}

fn refuse_broken(name: &str, counted: &Counted) -> anyhow::Result<()> {
    let midr = counted.machine.number();
    let broken = counted.kernels.iter().flat_map(|kernel| {
        let rules = rules::check(&kernel.counts, midr, false);
        rules.broken.into_iter().map(|broken| {
            format!(
                "{}: {} does not hold: {:.2} against {:.2}",
                kernel.kernel.shown(),
                broken.rule,
                broken.left,
                broken.right
            )
        })
    });
    refuse(name, broken.collect())
}

fn refuse(name: &str, mut broken: Vec<String>) -> anyhow::Result<()> {
    let more = broken.len().saturating_sub(NAMED);
    broken.truncate(NAMED);
    if more > 0 {
        broken.push(format!("and {more} more"));
    }
    match broken.is_empty() {
        true => Ok(()),
        false => bail!(
            "{name}: these counts contradict each other, so nothing can be fitted to them:\n  {}",
            broken.join("\n  ")
        ),
    }
}

fn of_trace(trace: &Path, counts: &Path, assumptions: &Assumptions) -> anyhow::Result<Source> {
    let name = counts.shown().to_string();
    let text = sim_files::text(counts).with_context(|| format!("cannot read the counts {name}"))?;
    let tables = count_table::read(&text, Tolerance::Usual).with_context(|| name.clone())?;
    let [table] = tables.as_slice() else {
        bail!(
            "{name}: it has {} tables; give counts of the whole program, without -I and --per-thread",
            tables.len()
        );
    };
    let check = identities::check(|event| table.counts.get(&event).copied(), assumptions);
    refuse(&name, check.violations.iter().map(ToString::to_string).collect())?;
    let file = TraceFile::open(trace).with_context(|| format!("cannot read {}", trace.shown()))?;
    let unit = INSTRUCTIONS / file.instructions().max(1) as f64;
    let sample = |(event, count): (&PmuEvent, &sim_metrics::Count)| {
        let of_runs = table.spread(*event).unwrap_or(0.0);
        let deviation = of_runs.hypot(table.share(*event).map_or(0.0, of_part));
        (*event, Sample { mean: count.value as f64 * unit, deviation })
    };
    let kernel = trace.file_stem().unwrap_or(trace.as_os_str()).to_string_lossy().into_owned();
    let samples = table.counts.iter().map(sample).collect();
    Ok(Source {
        name,
        machine: None,
        trace: Some(trace.to_owned()),
        scaled: table.estimates(),
        kernels: [(kernel, samples)].into(),
    })
}

/// Returns the standard deviation of a count of a part of the time, as a share. It is that of a sum
/// from a sample of all intervals: 10 % if half of them are counted.
fn of_part(share: f64) -> f64 {
    let share = share.max(LEAST_SHARE);
    OF_HALF * ((1.0 - share) / share).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces/hash.n2t");

    /// Returns the deviation of LD_SPEC in such output of perf.
    fn deviation(text: &str) -> f64 {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), text).expect("room");
        let source = of_trace(Path::new(TRACE), file.path(), &Assumptions::default());
        source.expect("counts of a trace").kernels["hash"][&PmuEvent::LD_SPEC].deviation
    }

    #[test]
    fn the_spread_of_several_runs_is_that_of_the_count() {
        assert_eq!(deviation("4000,,ld_spec,9,100.00,,\n"), 0.0);
        assert_eq!(deviation("4000,,ld_spec,2.00%,9,100.00,,\n"), 0.02);
        assert_eq!(deviation("   4,000   ld_spec   ( +-  3.00% )\n"), 0.03);
    }

    /// A count of a part of the time may be wrong by more than runs show.
    #[test]
    fn the_deviation_grows_as_the_counted_time_shrinks() {
        let scaled = |share: &str| deviation(&format!("4000,,ld_spec,2.00%,9,{share},,\n"));
        assert_eq!(scaled("50.00"), 0.1_f64.hypot(0.02));
        assert_eq!(scaled("20.00"), 0.2_f64.hypot(0.02));
        assert!(scaled("90.00") < 0.04 && scaled("99.99") > 0.02);
        assert!(scaled("0.00").is_finite() && scaled("0.00") > 1.0);
        assert_eq!(deviation("   4,000   ld_spec   (20.00%)\n"), 0.2);
    }
}
