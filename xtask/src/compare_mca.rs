//! Assembles the kernels, runs `llvm-mca` on each, saves its figures and prints where this model
//! differs.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use sim_tests::kernels::corpus;
use sim_tests::kernels::llvm::{self, A53Figures, Core, N2Figures};
use sim_tests::read;

use crate::accuracy::check_causes;

/// Iterations of the short and the long run. Their difference excludes filling and draining.
const SHORT: u32 = 400;
const LONG: u32 = 1000;

/// Output of `llvm-mca -json`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Report {
    code_regions: Vec<Region>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Region {
    name: String,
    instructions: Vec<String>,
    instruction_info_view: InfoView,
    summary_view: Summary,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct InfoView {
    instruction_list: Vec<Info>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Info {
    num_micro_opcodes: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Summary {
    total_cycles: u64,
}

/// Options of `cargo xtask compare-mca`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run LLVM's model of this core alone
    #[arg(long, value_parser = ["neoverse-n2", "cortex-a53"])]
    core: Option<String>,
}

/// Updates the words and figures below `tests/kernels`. Returns false when a difference has no
/// cause.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let assembler = llvm::tool("llvm-mc").context("no llvm-mc found; install Debian's llvm-19")?;
    let mca = llvm::tool("llvm-mca").context("no llvm-mca found; install Debian's llvm-19")?;
    let mut files = Vec::new();
    for path in corpus::sources() {
        let words = llvm::assemble(&assembler, &read(&path)).map_err(anyhow::Error::msg)?;
        std::fs::write(path.with_extension("words"), corpus::write_words(&words))?;
        files.push(words);
    }
    let version = version(&mca)?;
    let is_wanted = |name| args.core.as_deref().is_none_or(|core| core == name);
    let mut are_explained = true;
    if is_wanted("neoverse-n2") {
        let mut figures = Vec::new();
        for words in &files {
            figures.extend(of_file(&mca, words)?);
        }
        llvm::write_kept(&version, &figures)?;
        println!("wrote the figures of {} kernels, Neoverse N2", figures.len());
        are_explained &= check_causes(Core::NeoverseN2);
    }
    if is_wanted("cortex-a53") {
        let mut figures = Vec::new();
        for kernel in files.iter().flatten() {
            figures.push((kernel.0.clone(), of_a53(&mca, kernel)?));
        }
        llvm::write_kept(&version, &figures)?;
        println!("wrote the figures of {} kernels, Cortex-A53", figures.len());
        are_explained &= check_causes(Core::CortexA53);
    }
    std::fs::remove_file(tempfile("")?)?;
    Ok(are_explained)
}

/// Returns the figures of a kernel on the Cortex-A53. LLVM's assembler rejects a kernel with an
/// instruction that the core does not have, and the file that it is in.
fn of_a53(mca: &str, kernel: &(String, Vec<corpus::Word>)) -> Result<Option<A53Figures>> {
    let (name, words) = kernel;
    let asked = tempfile(&corpus::write_regions(std::slice::from_ref(kernel)))?;
    let mut runs = Vec::new();
    for iterations in [SHORT, LONG] {
        let Some(report) = report(mca, Core::CortexA53, &asked, iterations, &[])? else {
            return Ok(None);
        };
        runs.push(report);
    }
    Ok(match (runs[0].region(name), runs[1].region(name)) {
        (Some(short), Some(long)) if short.instructions.len() == words.len() => {
            Some(A53Figures(cycles(short, long)))
        }
        _ => None,
    })
}

/// Returns the figures of all kernels of a file on the Neoverse N2.
fn of_file(
    mca: &str,
    words: &[(String, Vec<corpus::Word>)],
) -> Result<Vec<(String, Option<N2Figures>)>> {
    // llvm-mca distinguishes regions by the line number in the file. Lines of a repeated block have
    // none, so the blocks are written out.
    let source = corpus::write_regions(words);
    let asked = tempfile(&source)?;
    let run = |iterations, options: &[&str]| {
        let report = report(mca, Core::NeoverseN2, &asked, iterations, options)?;
        report.with_context(|| format!("{mca} rejects the kernel {}", words[0].0))
    };
    let wide = [run(SHORT, &[])?, run(LONG, &[])?];
    let narrow = [run(SHORT, &["-dispatch=5"])?, run(LONG, &["-dispatch=5"])?];
    let mut figures = Vec::new();
    for (name, words) in words {
        let [w0, w1, n0, n1] =
            [&wide[0], &wide[1], &narrow[0], &narrow[1]].map(|report| report.region(name));
        let found = match (w0, w1, n0, n1) {
            (Some(w0), Some(w1), Some(n0), Some(n1)) if w0.instructions.len() == words.len() => {
                Some(N2Figures { wide: cycles(w0, w1), narrow: cycles(n0, n1), mops: mops(w0) })
            }
            // llvm-mca omits instructions, or whole regions, that it does not model.
            _ => None,
        };
        figures.push((name.clone(), found));
    }
    Ok(figures)
}

/// Writes the input of `llvm-mca` to a file. Returns its path.
fn tempfile(source: &str) -> Result<std::path::PathBuf> {
    let path = std::env::temp_dir().join(format!("n2sim-kernels-{}.s", std::process::id()));
    std::fs::write(&path, source).with_context(|| format!("writing {}", path.display()))?;
    Ok(path)
}

impl Report {
    fn region(&self, name: &str) -> Option<&Region> {
        self.code_regions.iter().find(|region| region.name == name)
    }
}

fn cycles(short: &Region, long: &Region) -> f64 {
    let cycles = long.summary_view.total_cycles - short.summary_view.total_cycles;
    cycles as f64 / f64::from(LONG - SHORT)
}

fn mops(region: &Region) -> u32 {
    let list = &region.instruction_info_view.instruction_list;
    list.iter().map(|info| info.num_micro_opcodes.div_ceil(2).max(1)).sum()
}

/// Runs `llvm-mca` on a file. Returns `None` if its assembler rejects an instruction of it.
fn report(
    mca: &str,
    core: Core,
    path: &Path,
    iterations: u32,
    options: &[&str],
) -> Result<Option<Report>> {
    let mut command = Command::new(mca);
    command.arg("-mtriple=aarch64").args(core.options()).args(options).arg(path);
    command.arg(format!("-iterations={iterations}"));
    // A call is a branch here: its body does not belong to the kernel.
    command.args(["-json", "-call-latency=1", "-skip-unsupported-instructions=lack-sched"]);
    let output = command.output().with_context(|| format!("running {mca}"))?;
    let printed = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() && printed.contains(": error: ") {
        return Ok(None);
    }
    if !output.status.success() {
        bail!("{mca} on {}: {printed}", path.display());
    }
    let report = serde_json::from_slice(&output.stdout);
    report.map(Some).with_context(|| format!("{mca} on {}", path.display()))
}

fn version(mca: &str) -> Result<String> {
    let output = Command::new(mca).arg("--version").output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|line| line.contains("LLVM version"));
    Ok(format!("llvm-mca, {}", line.context("llvm-mca prints no version")?.trim()))
}
