//! `cargo xtask counterfactual`: writes the ledger beside counterfactual runs, for the kernels and
//! the committed traces, into `docs/counterfactual.md`.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result};
use rayon::prelude::*;
use sim_lab::counterfactual::{CoreIdeal, CoreLoss, Counterfactual, Ideal, Pair, Slots};
use sim_lab::kernels::Kernel;
use sim_machine::{ConfigSource, MachineConfig, RunHeader, RunOptions, Session};
use sim_tests::{files_below, repository};

/// Line of the page after which the tables follow.
const MARK: &str = "<!-- written by `cargo run --release -p xtask -- counterfactual` -->\n";

/// Options of `cargo xtask counterfactual`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Number of instructions of each thread of the committed traces
    #[arg(long, default_value_t = 300_000)]
    limit: u64,
    /// Print the tables and write nothing
    #[arg(long)]
    print: bool,
}

/// Measures and writes the page.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let tables = tables(args)?;
    if args.print {
        print!("{tables}");
        return Ok(true);
    }
    let page = repository().join("docs/counterfactual.md");
    let text = std::fs::read_to_string(&page).context("reading docs/counterfactual.md")?;
    let (head, _) = text.split_once(MARK).context("docs/counterfactual.md lacks its marker")?;
    std::fs::write(&page, format!("{head}{MARK}{tables}")).context("writing the page")?;
    println!("wrote {}", page.display());
    Ok(true)
}

fn tables(args: &Args) -> Result<String> {
    let folder = tempfile::tempdir()?;
    let roi = RunOptions { roi: Some(Kernel::ROI), ..RunOptions::default() };
    let mut kernels = Vec::new();
    for kernel in Kernel::ALL {
        let path = folder.path().join(kernel.name());
        kernel.save(&path)?;
        kernels.push((kernel, experiment(&path, &roi)?));
    }
    let limit = RunOptions { limit: Some(args.limit), ..RunOptions::default() };
    let mut traces = Vec::new();
    for path in files_below(&repository().join("traces"), "n2t") {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        traces.push((name, experiment(&path, &limit)?));
    }
    let mut out = String::new();
    kernel_table(&mut out, &kernels)?;
    writeln!(out, "\n## Committed traces, {} instructions of each thread\n", args.limit)?;
    let rows = traces.iter().map(|(name, found)| (name.as_str(), found));
    ideal_table(&mut out, rows.clone())?;
    writeln!(
        out,
        "\nPairs that save at least 2 % more or less together than the sum of each alone:\n"
    )?;
    pair_table(&mut out, rows)?;
    writeln!(out, "\n## Kernels, all ideals\n")?;
    ideal_table(&mut out, kernels.iter().map(|(kernel, found)| (kernel.name(), found)))?;
    Ok(out)
}

fn experiment(path: &Path, options: &RunOptions) -> Result<Counterfactual> {
    let one = |ideals: &[Ideal]| -> Result<Slots> {
        let overrides: Vec<String> = ideals.iter().map(|own| own.setting().to_owned()).collect();
        let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
        let config = MachineConfig::from_document(&source.document()?)?;
        let session = Session::open(path, config, RunHeader::default())?;
        Ok(Slots::of(&session.run(options, &mut |_| {})?))
    };
    let several = |sets: &[Vec<Ideal>]| -> Result<Vec<Slots>> {
        sets.par_iter().map(|ideals| one(ideals)).collect()
    };
    Counterfactual::run(one(&[])?, several)
}

/// Writes the limit of each kernel: its share of the lost slots, and the saving of a run without
/// it.
fn kernel_table(out: &mut String, kernels: &[(Kernel, Counterfactual)]) -> Result<()> {
    writeln!(out, "\n## Kernels\n")?;
    writeln!(out, "| Kernel | Bound by | Share of lost slots | Ledger | Saved | Cycles | Ideal |")?;
    writeln!(out, "| --- | --- | ---: | ---: | ---: | ---: | ---: |")?;
    for (kernel, found) in kernels {
        let remedy = kernel.remedy();
        let lost = remedy.removes().iter().filter(|loss| loss.is_empty());
        let lost: u64 = lost.map(|loss| found.base.loss(*loss)).sum();
        let of_lost = lost as f64 / found.base.empty().max(1) as f64;
        let ideal = single(found, remedy);
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} |",
            kernel.name(),
            remedy.label(),
            percent(of_lost),
            percent(found.charged(remedy)),
            percent(found.saved(ideal)),
            found.base.cycles,
            ideal.cycles
        )?;
    }
    Ok(())
}

/// Writes ledger and saving of every ideal, as `ledger / saved`.
fn ideal_table<'a>(
    out: &mut String,
    rows: impl Iterator<Item = (&'a str, &'a Counterfactual)>,
) -> Result<()> {
    let names: Vec<&str> = Ideal::ALL.iter().map(|ideal| ideal.label()).collect();
    writeln!(
        out,
        "Each cell: percent of the slots in the ledger / percent of the cycles saved.\n"
    )?;
    writeln!(out, "| | Cycles | {} | all |", names.join(" | "))?;
    writeln!(out, "| --- |{}", " ---: |".repeat(names.len() + 2))?;
    for (name, found) in rows {
        write!(out, "| {name} | {} |", found.base.cycles)?;
        for (ideal, slots) in &found.singles {
            let (ledger, saved) = (found.charged(*ideal), found.saved(slots));
            write!(out, " {:.1} / {:.1} |", ledger * 100.0, saved * 100.0)?;
        }
        writeln!(out, " {:.1} |", found.saved(&found.all) * 100.0)?;
    }
    Ok(())
}

fn pair_table<'a>(
    out: &mut String,
    rows: impl Iterator<Item = (&'a str, &'a Counterfactual)>,
) -> Result<()> {
    writeln!(out, "| Trace | Pair | Saved by both | Beyond each alone |")?;
    writeln!(out, "| --- | --- | ---: | ---: |")?;
    for (name, found) in rows {
        let strong = |pair: &&Pair| found.interaction(pair).abs() >= 0.02;
        for pair in found.pairs.iter().filter(strong) {
            let [a, b] = pair.ideals.map(Ideal::label);
            let (both, more) = (found.saved(&pair.slots), found.interaction(pair) * 100.0);
            writeln!(out, "| {name} | {a} + {b} | {} | {more:+.1} % |", percent(both))?;
        }
    }
    Ok(())
}

fn single(found: &Counterfactual, ideal: Ideal) -> &Slots {
    let single = found.singles.iter().find(|(own, _)| *own == ideal);
    single.map_or(&found.base, |(_, slots)| slots)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
