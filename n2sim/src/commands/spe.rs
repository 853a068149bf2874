//! `n2sim spe`: reads sample records of this model or of a real machine, and summarizes them.

mod accuracy;
mod names;
#[cfg(feature = "parquet")]
mod parquet;
mod profile_file;
mod tables;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args as ClapArgs;
use sim_pmu::spe::{Damage, Found, Item, Records, SpeRecord};
use sim_report::spe::input::{self, Buffer, Input};
use sim_report::spe::profile::Profile;
use sim_report::spe::text::Report;
use sim_report::spe::truth::{self, Sampled};
use sim_report::spe::{figure, json, text};
use sim_report::symbols::Symbols;
use sim_trace::TraceFile;

use profile_file::read;
use tables::RecordFiles;

use crate::files::output::Output;
use crate::host::memory;
use crate::shared_args::{MachineArgs, PartArgs};
use crate::verdict::Verdict;
use sim_core::Shown;

/// Read sample records (SPE) and summarize them
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples: n2sim spe perf.data --trace traces/chase.n2t\n          \
    n2sim spe buffer.bin --csv samples\n          \
    n2sim spe --compare-with traces/chase.n2t --intervals 1024,4096")]
pub(crate) struct SpeArgs {
    /// A perf.data file, or raw bytes of a profiling buffer; of any Arm machine
    #[arg(required_unless_present = "compare_with")]
    pub(crate) file: Option<PathBuf>,
    /// The profiled trace, for the names of its functions
    ///
    /// By default the names come from the programs that the file maps.
    #[arg(long, value_name = "TRACE")]
    pub(crate) trace: Option<PathBuf>,
    /// The profiled program's ELF file, or a library's: names and source lines (repeat for more)
    #[arg(long, value_name = "FILE", conflicts_with = "compare_with")]
    pub(crate) elf: Vec<PathBuf>,
    /// Rows of the tables of instructions and lines
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    /// Print one JSON object
    #[arg(short, long)]
    pub(crate) json: bool,
    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write every record to PREFIX-ldst.csv, PREFIX-br.csv and PREFIX-other.csv
    #[arg(long, value_name = "PREFIX", help_heading = "Records")]
    pub(crate) csv: Option<PathBuf>,
    /// Write every record to PREFIX-ldst.parquet, PREFIX-br.parquet and PREFIX-other.parquet
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "PREFIX", help_heading = "Records")]
    #[arg(conflicts_with_all = ["packets", "compare_with"])]
    pub(crate) parquet: Option<PathBuf>,
    /// Print every packet with its offset in the file
    #[arg(long, conflicts_with_all = ["json", "csv"], help_heading = "Records")]
    pub(crate) packets: bool,
    #[command(flatten)]
    pub(crate) comparison: ComparisonArgs,
}

/// The samples that are compared with every operation of a run.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "How long to sample")]
pub(crate) struct ComparisonArgs {
    /// Run this trace, and compare samples with all of its operations
    ///
    /// The samples are those of FILE, if it is given, and those of several intervals.
    #[arg(long, alias = "against", value_name = "TRACE", conflicts_with_all = ["trace", "packets", "csv"])]
    pub(crate) compare_with: Option<PathBuf>,
    /// Operations from one sample to the next: multiples of 256
    #[arg(long, value_name = "N,...", value_delimiter = ',', requires = "compare_with")]
    #[arg(default_values_t = [256, 1024, 4096, 16384, 65536])]
    pub(crate) intervals: Vec<u64>,
    #[command(flatten)]
    part: PartArgs,
    /// Draw figures of the unit and its accuracy into DIRECTORY (SVG)
    ///
    /// The figures show one record, the path through the unit, and the accuracy over the interval.
    #[arg(long, value_name = "DIRECTORY", requires = "compare_with")]
    pub(crate) figures: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

/// Reads the file and writes the requested reports.
pub(crate) fn run(args: &SpeArgs) -> anyhow::Result<Verdict> {
    if args.comparison.compare_with.is_none() && args.comparison.part.is_given() {
        anyhow::bail!("--warmup and --limit need --compare-with TRACE");
    }
    let mut out = Output::create(args.output.as_deref())?;
    match (&args.comparison.compare_with, &args.file) {
        (Some(trace), file) => compare(&mut out, args, trace, file.as_deref())?,
        (None, Some(file)) => print(&mut out, args, file)?,
        (None, None) => anyhow::bail!("give a file of sample records, or --compare-with TRACE"),
    }
    out.finish()?;
    Ok(Verdict::Good)
}

/// Summarizes a file.
fn print(out: &mut Output, args: &SpeArgs, file: &Path) -> anyhow::Result<()> {
    let place = || file.shown().to_string();
    let bytes = read(file).with_context(place)?;
    let input = input::find(&bytes).with_context(place)?;
    if args.packets {
        return tables::write_packets(out, &bytes, &input);
    }
    let symbols = match &args.trace {
        Some(trace) => symbols(Some(trace), &args.elf)?,
        None => names::find(&input, &args.elf)?,
    };
    let files = record_files(args)?;
    let read = sum_up(file, &bytes, &input, &symbols, files)?;
    let report = Report {
        input: &input,
        damage: &read.damage,
        profile: &read.profile,
        name: &|pc| name(&symbols, pc),
        data: &|address| symbols.data_name(address),
        top: args.top,
    };
    if args.json {
        writeln!(out, "{:#}", json::of(&report))?;
    } else {
        text::write(out, &report)?;
    }
    Ok(())
}

/// Opens the requested files of records.
fn record_files(args: &SpeArgs) -> anyhow::Result<RecordFiles> {
    let files = RecordFiles::with_csv(args.csv.as_deref())?;
    #[cfg(feature = "parquet")]
    let files = files.with_parquet(args.parquet.as_deref())?;
    Ok(files)
}

/// Compares samples with all operations of a run.
fn compare(
    out: &mut Output,
    args: &SpeArgs,
    trace: &Path,
    file: Option<&Path>,
) -> anyhow::Result<()> {
    // A missing directory is refused before the run, which takes long.
    if let Some(directory) = args.comparison.figures.as_deref().filter(|path| !path.is_dir()) {
        anyhow::bail!("--figures {}: not a directory; create it first", directory.shown());
    }
    let mut sampled = Vec::new();
    if let Some(file) = file {
        let place = || file.shown().to_string();
        let bytes = read(file).with_context(place)?;
        let input = input::find(&bytes).with_context(place)?;
        let read = sum_up(file, &bytes, &input, &Symbols::default(), RecordFiles::default())?;
        sampled.push(Sampled { profile: read.profile, ..Sampled::default() });
    }
    let observed = accuracy::run(trace, &args.comparison)?;
    sampled.extend(observed.sampled);
    if let Some(directory) = &args.comparison.figures {
        let record = observed.example;
        draw(directory, trace, &observed.exact, &sampled, record.as_ref())?;
    }
    if args.json {
        writeln!(out, "{:#}", truth::to_json(&observed.exact, &sampled))?;
    } else {
        truth::write(out, &observed.exact, &sampled, observed.seconds)?;
    }
    Ok(())
}

/// Draws the figures.
fn draw(
    directory: &Path,
    trace: &Path,
    exact: &Profile,
    sampled: &[Sampled],
    example: Option<&SpeRecord>,
) -> anyhow::Result<()> {
    let mut figures = Vec::new();
    if let Some(record) = example {
        figures.push(("spe-record.svg", figure::record(record)));
    }
    let mut funnels = sampled.iter().filter_map(|it| Some((it.interval?, it.funnel?)));
    let funnel = funnels.clone().find(|(interval, _)| *interval == 1024).or(funnels.next());
    if let Some((interval, funnel)) = funnel {
        figures.push(("spe-funnel.svg", figure::funnel(interval, &funnel)));
    }
    let name = trace.file_name().unwrap_or_default().to_string_lossy();
    figures.push(("spe-interval.svg", figure::accuracy(&name, exact, sampled)));
    for (name, figure) in figures {
        let mut file = Output::create(Some(&directory.join(name)))?;
        file.write_all(figure.as_bytes())?;
        file.finish()?;
    }
    Ok(())
}

/// Returns the names of the code of a trace, and of the ELF files that were recorded.
pub(crate) fn symbols(trace: Option<&Path>, files: &[PathBuf]) -> anyhow::Result<Symbols> {
    let Some(path) = trace else { return Ok(Symbols::default()) };
    let trace = TraceFile::open_within(path, &memory::budget())?;
    crate::files::symbols::load(&trace, files)
}

/// Returns the function with its offset, and the file and line of the innermost call that was
/// inlined there.
fn name(symbols: &Symbols, pc: u64) -> String {
    let Some(place) = symbols.function(pc) else { return String::new() };
    let mut name = format!("{}+{:#x}", place.function.name, place.offset);
    let frames = symbols.frames(pc);
    if let Some(line) = frames.first().and_then(|frame| frame.line.as_ref()) {
        name.push_str(&format!(" {}:{}", line.file, line.line));
    }
    if let [inner, _, ..] = &frames[..] {
        name.push_str(&format!(" ({} inlined)", inner.function));
    }
    name
}

/// The content of all buffers of a file.
struct Content {
    profile: Profile,
    damage: Vec<(usize, Damage)>,
}

fn sum_up(
    file: &Path,
    bytes: &[u8],
    input: &Input,
    symbols: &Symbols,
    mut files: RecordFiles,
) -> anyhow::Result<Content> {
    let mut read = Content { profile: Profile::default(), damage: Vec::new() };
    for Buffer { cpu, bytes: range, address } in &input.buffers {
        for item in Records::at_address(&bytes[range.clone()], *address) {
            let Found { record, unknown, .. } = match item {
                Item::Record(found) => found,
                Item::Damage(damage) => {
                    read.damage.push((range.start, damage));
                    continue;
                }
            };
            read.profile.add(&record);
            read.profile.unknown_packets += u64::from(unknown);
            files.write(&record, *cpu, symbols)?;
        }
    }
    if let ([(_, damage), ..], 0) = (&read.damage[..], read.profile.records) {
        anyhow::bail!(
            "{}: no sample record is in it ({damage}); give a perf.data file recorded with \
             arm_spe_0, or the raw bytes of a profiling buffer",
            file.shown()
        );
    }
    files.finish()?;
    Ok(read)
}

#[cfg(test)]
mod tests;
