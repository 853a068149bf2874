//! `n2sim record --format`: samples of overflows, as a perf.data file or for another viewer.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::ValueEnum;
use sim_report::Symbols;
use sim_report::perf_data::Machine;
use sim_report::perf_data::overflow::OverflowProfile;
use sim_report::stacks::{Stacks, firefox, folded, speedscope};
use sim_trace::TraceFile;

use super::args::{AUX_BUFFER, MetadataName, RecordArgs};
use super::{file, program};
use crate::files::output::Output;

/// Path that means standard output.
const STDOUT: &str = "-";

/// Form of a profile, as the command line names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// perf.data, for Linux' perf
    #[default]
    Perf,
    /// JSON for the Firefox Profiler
    Firefox,
    /// JSON for speedscope
    Speedscope,
    /// Folded stacks for flamegraph.pl and inferno
    Folded,
}

impl Form {
    /// Returns the name on the command line.
    fn name(self) -> &'static str {
        match self {
            Form::Perf => "perf",
            Form::Firefox => "firefox",
            Form::Speedscope => "speedscope",
            Form::Folded => "folded",
        }
    }

    /// Returns the file without `--output`.
    fn default_file(self) -> &'static str {
        match self {
            Form::Perf => "perf.data",
            Form::Firefox => "profile.firefox.json",
            Form::Speedscope => "profile.speedscope.json",
            Form::Folded => "profile.folded",
        }
    }
}

/// Returns the file of the profile.
pub(super) fn path(args: &RecordArgs) -> PathBuf {
    args.output.clone().unwrap_or_else(|| PathBuf::from(args.format.default_file()))
}

/// Refuses what the form cannot hold.
pub(super) fn check(args: &RecordArgs) -> anyhow::Result<()> {
    let form = args.format.name();
    if args.format == Form::Perf {
        if path(args).as_os_str() == STDOUT {
            bail!("--output -: perf reads a profile in many places at once; give a file");
        }
        return Ok(());
    }
    let refused = [
        (args.raw, "--raw"),
        (args.metadata != MetadataName::V1, "--metadata"),
        (args.aux_buffer != AUX_BUFFER, "--aux-buffer"),
    ];
    match refused.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => {
            bail!("{option} concerns SPE, which --format {form} does not hold; leave it out")
        }
        None => Ok(()),
    }
}

/// Refuses samples of operations in a form for samples of overflows.
pub(super) fn refuse_spe(args: &RecordArgs) -> anyhow::Result<()> {
    match args.format {
        Form::Perf => Ok(()),
        other => bail!(
            "--format {}: records of SPE have no callers; name events that overflow, such as -e \
             cycles, or leave --format out",
            other.name()
        ),
    }
}

/// The place of a profile of overflows. It is opened before the run, so that errors come at once.
pub(super) struct Destination<'a> {
    args: &'a RecordArgs,
    path: PathBuf,
    output: Output,
    symbols: Symbols,
}

impl<'a> Destination<'a> {
    /// Opens the file for a profile of this number of events.
    pub(super) fn open(
        args: &'a RecordArgs,
        trace: &TraceFile,
        events: usize,
    ) -> anyhow::Result<Destination<'a>> {
        if args.format == Form::Folded && events > 1 {
            bail!(
                "--format folded: {events} events do not fit, because a line has one count; name \
                 one event, such as -e cycles"
            );
        }
        let symbols = match args.format {
            // perf takes the names from the files of the program.
            Form::Perf => Symbols::default(),
            _ => program::symbols(trace, &args.elf)?,
        };
        let path = path(args);
        let file = Some(&*path).filter(|path| *path != Path::new(STDOUT));
        let output = Output::create(file)?;
        Ok(Destination { args, path, output, symbols })
    }

    /// Writes the profile and moves it to its place. Returns notes for the user.
    pub(super) fn write(
        self,
        mut profile: OverflowProfile,
        trace: &TraceFile,
        machine: &Machine,
    ) -> anyhow::Result<Vec<String>> {
        let Destination { args, path, mut output, symbols } = self;
        let mut notes = file::notes_of(&profile);
        let stacks = |profile: &OverflowProfile| Stacks::new(profile, &symbols);
        let (cpu, version) = (machine.cpu.name, &*machine.version);
        match args.format {
            Form::Perf => {
                let program = program::find(trace, &args.elf, &path)?;
                profile.mappings = program.mappings;
                notes.extend(program.notes);
                file::write(output, program.beside, &profile.perf_data(machine))?;
                return Ok(notes);
            }
            Form::Firefox => firefox::write(&mut output, &stacks(&profile), cpu, version)?,
            Form::Speedscope => speedscope::write(&mut output, &stacks(&profile), version)?,
            Form::Folded => folded::write(&mut output, &stacks(&profile))?,
        }
        output.finish()?;
        Ok(notes)
    }
}
