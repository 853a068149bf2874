//! Builds n2sim with a profile of itself. Taken branches and hot calls are counted on the committed
//! traces, and the compiler arranges the program accordingly. A plain build needs none of this.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use crate::bench_compare::{committed, root_and_target};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Program that merges profiles (default: that of rustup's llvm-tools, else one on the path)
    #[arg(long)]
    profdata: Option<PathBuf>,
    /// Number of instructions of each trace to count
    #[arg(long, default_value = "2M")]
    limit: String,
}

/// Work of the program during profiling. Code outside of it is optimized for size, not speed.
const WORK: [&[&str]; 7] = [
    &["stat"],
    &["stat", "-j", "-e", "cycles,instructions,stall_slot,l1d_cache_refill"],
    &["stat", "-e", "{cycles,instructions}", "--truth"],
    &["stat", "--mode", "memory"],
    &["stat", "--mode", "frontend"],
    &["record", "--raw", "-o", "/dev/null"],
    &["report", "--json", "-o", "/dev/null"],
];

/// Builds the program and prints its path.
pub(crate) fn run(args: &Args) -> anyhow::Result<bool> {
    let (root, target) = root_and_target()?;
    let target = target.join("pgo");
    let counts = target.join("counts");
    let profdata = match &args.profdata {
        Some(program) => program.clone(),
        None => find_profdata()?,
    };
    let gather = format!("-Cprofile-generate={}", counts.display());
    let counting = build(&root, &target.join("counting"), &gather)?;
    if counts.exists() {
        // The build itself ran instrumented code too.
        std::fs::remove_dir_all(&counts)?;
    }
    for trace in committed(&root)? {
        for work in WORK {
            count(&counting, work, &args.limit, &trace)?;
        }
    }
    let profile = target.join("n2sim.profdata");
    let mut merge = Command::new(&profdata);
    merge.args(["merge", "-o"]).arg(&profile).arg(&counts);
    let merged = merge.status().with_context(|| profdata.display().to_string())?;
    ensure!(merged.success(), "{} could not merge the profile", profdata.display());
    let program = build(&root, &target, &format!("-Cprofile-use={}", profile.display()))?;
    println!("{}", program.display());
    Ok(true)
}

/// Runs one command on one trace.
fn count(program: &Path, work: &[&str], limit: &str, trace: &Path) -> anyhow::Result<()> {
    let mut command = Command::new(program);
    command.args(work).args(["--limit", limit]).arg(trace);
    let ran = command
        .env_remove("LLVM_PROFILE_FILE")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    ensure!(ran.success(), "n2sim {} --limit {limit} {} failed", work.join(" "), trace.display());
    Ok(())
}

/// Returns the merging program of the compiler in use, if its tools are installed, else any other.
fn find_profdata() -> anyhow::Result<PathBuf> {
    let asked = Command::new("rustc").args(["--print", "target-libdir"]).output();
    let libraries = String::from_utf8(asked.context("rustc")?.stdout)?;
    let own = Path::new(libraries.trim()).join("../bin/llvm-profdata");
    let mut candidates = vec![own];
    candidates.extend(
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
            .map(|folder| folder.join("llvm-profdata")),
    );
    candidates.into_iter().find(|program| program.is_file()).context(
        "there is no llvm-profdata: `rustup component add llvm-tools`, or --profdata PROGRAM of an LLVM as \
         new as 19",
    )
}

/// Builds n2sim with additional compiler flags.
fn build(root: &Path, target: &Path, flags: &str) -> anyhow::Result<PathBuf> {
    let built = Command::new("cargo")
        .args(["build", "--release", "--locked", "-p", "n2sim", "--target-dir"])
        .arg(target)
        .env("CARGO_ENCODED_RUSTFLAGS", flags)
        .current_dir(root)
        .status()
        .context("cargo")?;
    ensure!(built.success(), "n2sim does not build with {flags}");
    Ok(target.join("release").join("n2sim"))
}
