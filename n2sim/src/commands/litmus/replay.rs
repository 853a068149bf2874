//! `n2sim litmus replay`: the result that the model gives for a recorded program.

use std::io::Write;
use std::path::PathBuf;

use clap::Args as ClapArgs;
use sim_core::Shown;
use sim_litmus::counts::FORMAT;
use sim_litmus::program::mark_of;
use sim_litmus::replay::{self, CaseCode, Pages};
use sim_litmus::{Counted, Litmus, MachineFacts, kernels, noise};
use sim_machine::{RunOptions, Session};

use super::all_cases::AllCases;
use crate::files::open_trace;
use crate::files::output::Output;
use crate::host::progress::with_progress;
use crate::host::signals;
use crate::shared_args::MachineArgs;
use crate::verdict::Verdict;

/// Count the cases or kernels of a recorded program on the model
#[derive(Debug, ClapArgs)]
pub(crate) struct ReplayArgs {
    /// Recording of the program: `n2sim capture -o cases.n2t -- ./litmus --replay`
    trace: PathBuf,
    /// File to write, in the format of the program (default: standard output)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Add noise with this standard deviation to each count: a stand-in for a machine
    ///
    /// Counts of cases that are below 1 vary as 1 does. Each count then has at least five
    /// repetitions.
    #[arg(long, value_name = "PERCENT", value_parser = percent, allow_negative_numbers = true)]
    noise: Option<f64>,
    /// Begin of the random numbers of --noise
    #[arg(long, value_name = "N", default_value_t = 1, requires = "noise")]
    draw: u64,
    #[command(flatten)]
    machine: MachineArgs,
}

/// Largest noise in percent.
const MOST_NOISE: f64 = 100.0;

fn percent(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|percent| (0.0..=MOST_NOISE).contains(percent));
    number.ok_or_else(|| format!("give a percentage from 0 to {MOST_NOISE}"))
}

/// Replays the recording with each size of pages, and writes the result.
pub(crate) fn run(args: &ReplayArgs) -> anyhow::Result<Verdict> {
    let all = AllCases::read()?;
    let mut out = Output::create(args.output.as_deref())?;
    let mut counted = Counted {
        format: FORMAT.to_owned(),
        program: mark_of(&all.user.admitted()),
        kernel_program: kernels::mark(),
        ..Counted::default()
    };
    let mut midr = 0;
    for pages in Pages::BOTH {
        midr = replay_with(args, &all, pages, &mut counted)?;
    }
    if let Some(percent) = args.noise {
        noise::add(&mut counted, percent, args.draw);
    }
    counted.machine = MachineFacts {
        midr: format!("{midr:#018x}"),
        name: format!("n2sim {}", env!("CARGO_PKG_VERSION")),
        page_bytes: 4096,
        huge_pages: true,
        ..MachineFacts::default()
    };
    serde_json::to_writer_pretty(&mut out, &counted)?;
    writeln!(out)?;
    out.finish()?;
    Ok(Verdict::Good)
}

/// Adds the counts of the cases and kernels with such pages, and returns MIDR_EL1 of the model.
fn replay_with(
    args: &ReplayArgs,
    all: &AllCases,
    pages: Pages,
    counted: &mut Counted,
) -> anyhow::Result<u64> {
    let mut machine = args.machine.clone();
    machine.set.extend(pages.overrides().map(str::to_owned));
    let session = open_trace::with(&args.trace, &machine)?.stopped_by(signals::flag());
    let meta = session.trace().meta();
    let (of_cases, of_kernels) = (code(&session, all), kernels::code(meta));
    let of_pairs = kernels::pair_code(meta);
    // The program has all of them, and a recording those that ran.
    let of_cases = of_cases.filter(|(_, code)| {
        code.iter().any(|case| ran(&session, case.with) || ran(&session, case.without))
    });
    let any_ran = |code: &Vec<(u64, u64)>| code.iter().any(|range| ran(&session, *range));
    let (of_kernels, of_pairs) = (of_kernels.filter(any_ran), of_pairs.filter(any_ran));
    anyhow::ensure!(
        of_cases.is_some() || of_kernels.is_some() || of_pairs.is_some(),
        "{}: this is not a recording of the cases or kernels of this n2sim; export the program again, and record it \
         with --replay",
        args.trace.shown()
    );
    let options = RunOptions::default();
    if let Some((cases, code)) = of_cases {
        let (more, _) = with_progress(&session, &options, |progress| {
            Ok(replay::replay(&session, pages, &cases, &code, progress)?)
        })?;
        counted.program = mark_of(&cases);
        counted.cases.extend(more);
    }
    if let Some(code) = of_kernels {
        let (more, _) = with_progress(&session, &options, |progress| {
            Ok(kernels::replay(&session, pages, &code, None, progress)?)
        })?;
        counted.kernels.extend(more);
    }
    if let Some(code) = of_pairs.filter(|_| pages == Pages::Small) {
        let (more, _) = with_progress(&session, &options, |progress| {
            Ok(kernels::replay_pairs(&session, &code, progress)?)
        })?;
        counted.kernels.extend(more);
    }
    Ok(session.config().core.revision.midr())
}

/// Returns true if the recording has an instruction of a function, `[first, end)`.
fn ran(session: &Session, (first, end): (u64, u64)) -> bool {
    session.trace().statics().insts().iter().any(|inst| (first..end).contains(&inst.pc))
}

/// Returns the cases that the recorded program or payload has: the admitted ones, or all.
fn code(session: &Session, all: &AllCases) -> Option<(Vec<Litmus>, Vec<CaseCode>)> {
    let meta = session.trace().meta();
    let sets = [&all.user, &all.el1].into_iter();
    sets.flat_map(|set| [set.admitted(), set.candidates.clone()]).find_map(|cases| {
        let code = replay::code(meta, &cases)?;
        Some((cases, code))
    })
}
