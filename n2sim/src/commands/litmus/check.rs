//! `n2sim litmus check`: what machines counted beside the claims.

mod contribution;
mod text;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args as ClapArgs;
use sim_core::Shown;
use sim_litmus::Counted;
use sim_litmus::program::mark_of;

use super::all_cases::{AllCases, Cases};
use super::judged::Judged;
use super::page;
use crate::files::output::Output;
use crate::verdict::Verdict;

/// Compare what machines counted with the claims
#[derive(Debug, ClapArgs)]
pub(crate) struct CheckArgs {
    /// Results: of the program, `./litmus -o result.json`, or of the module, `/proc/n2sim_litmus`
    #[arg(required = true, value_name = "RESULT")]
    results: Vec<PathBuf>,
    /// File to write (default: standard output)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Name every case that varies too much or could not be counted, not only some
    #[arg(long)]
    all: bool,
    /// Write a Markdown document with every case, not only those that differ
    #[arg(long)]
    markdown: bool,
    /// Also write a page: every case with its claim and counts, and several machines side by side
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Only say whether the results are fit for a collection of results (counts/README.md)
    #[arg(long, conflicts_with_all = ["all", "markdown", "html"])]
    contribution: bool,
}

/// Compares, and prints the cases that do not agree.
pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<Verdict> {
    let all = AllCases::read()?;
    if args.contribution {
        return contribution::run(&args.results, args.output.as_deref(), &all);
    }
    let mut out = Output::create(args.output.as_deref())?;
    let mut page_file = args.html.as_deref().map(|path| Output::create(Some(path))).transpose()?;
    let judged: Vec<Judged> =
        args.results.iter().map(|path| judge_file(path, &all)).collect::<anyhow::Result<_>>()?;
    if let Some(mut page_file) = page_file.take() {
        expect_same_cases(&judged)?;
        page_file.write_all(page::html(&judged).as_bytes())?;
        page_file.finish()?;
    }
    let text = judged.iter().map(|one| match args.markdown {
        true => text::markdown(one),
        false => text::plain(one, args.all),
    });
    out.write_all(text.collect::<Vec<String>>().join("\n").as_bytes())?;
    out.finish()?;
    let differs = judged.iter().any(|one| one.totals().differ > 0);
    Ok(if differs { Verdict::Refuted } else { Verdict::Good })
}

/// Reads a result of this n2sim's program and compares it.
fn judge_file(path: &Path, all: &AllCases) -> anyhow::Result<Judged> {
    let counted = read(path)?;
    let own = own_cases(path, &counted, all)?;
    anyhow::ensure!(
        !counted.cases.is_empty() || counted.kernels.is_empty(),
        "{}: it has kernels alone, which claim nothing; `n2sim calibrate` fits the model to them, and the program counts \
         cases too without --kernels",
        path.shown()
    );
    let judged = Judged::new(path, counted, own);
    let reason = match own.in_module {
        true => "the log of the kernel (dmesg)",
        false => "what the program printed",
    };
    anyhow::ensure!(
        judged.totals().not_counted < judged.cases.len(),
        "{}: nothing was counted; {reason} says why",
        path.shown()
    );
    Ok(judged)
}

fn read(path: &Path) -> anyhow::Result<Counted> {
    let text =
        sim_files::read_to_string(path).with_context(|| format!("cannot read {}", path.shown()))?;
    Counted::read(&text).with_context(|| path.shown().to_string())
}

/// Refuses a page of results of the program and of the module, which have no case in common.
fn expect_same_cases(judged: &[Judged]) -> anyhow::Result<()> {
    let of = |in_module: bool| judged.iter().find(|one| one.of_module == in_module);
    let (Some(program), Some(module)) = (of(false), of(true)) else { return Ok(()) };
    anyhow::bail!(
        "--html: {} is of the program, {} of the module; write a page for each",
        program.file.shown(),
        module.file.shown()
    )
}

/// Returns the cases of a result. Refuses other cases, whose claims this n2sim does not know.
fn own_cases<'a>(path: &Path, counted: &Counted, all: &'a AllCases) -> anyhow::Result<&'a Cases> {
    all.of_program(&counted.program).with_context(|| {
        format!(
            "{}: this was counted by the program of another n2sim ({}; that of n2sim {} is {}); export it again, or \
             check it with the n2sim that exported it",
            path.shown(),
            counted.program.shown(),
            env!("CARGO_PKG_VERSION"),
            mark_of(&all.user.admitted())
        )
    })
}
