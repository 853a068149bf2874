//! The test programs that evaluate a condition, cheapest first.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use super::{Mutant, State};

/// Crates whose conditions run with directed cases.
pub(super) const CASES_ASK: [&str; 2] = ["sim-cache", "sim-pipeline"];

/// Modules of a crate's integration tests; none named: all of them, and the unit tests.
type Tests = (&'static str, &'static [&'static str]);

const OF_METRICS: &[Tests] = &[
    ("sim-metrics", &[]),
    ("sim-tests", &["formulas"]),
    ("n2sim", &["counts", "metrics", "validate"]),
];
const OF_PIPELINE: &[Tests] = &[
    ("sim-pipeline", &[]),
    ("sim-machine", &[]),
    ("sim-scenario", &[]),
    ("sim-lab", &[]),
    (
        "sim-tests",
        &[
            "conformance",
            "flows",
            "formulas",
            "kernels",
            "multiplex",
            "recorded_counts",
            "spe_totals",
            "threads",
            "truth",
        ],
    ),
    ("n2sim", &["counterfactual", "modes", "pipeline"]),
];
const OF_CACHE: &[Tests] = &[
    ("sim-cache", &[]),
    OF_PIPELINE[0],
    OF_PIPELINE[1],
    OF_PIPELINE[2],
    OF_PIPELINE[3],
    OF_PIPELINE[4],
    OF_PIPELINE[5],
];

/// Returns the tests for a condition of a crate: its own, and those of the crates above that use
/// it.
fn asked_about(folder: &str) -> &'static [Tests] {
    match folder {
        "sim-cache" => OF_CACHE,
        "sim-pipeline" => OF_PIPELINE,
        "sim-metrics" => OF_METRICS,
        _ => &[],
    }
}

/// Returns the directory of a package.
fn folder_of(package: &str) -> &str {
    if package == "sim-tests" { "tests" } else { package }
}

/// Name of the target with all integration tests of a crate.
const INTEGRATION: &str = "all";

/// Time for a program beside ten times its own: one that takes longer hangs, which is noticed.
const PATIENCE: Duration = Duration::from_secs(10);

/// A test program, or one module of its tests.
struct Program {
    package: String,
    path: PathBuf,
    /// Module that is run; none: the whole program.
    module: Option<String>,
    /// Without a fault.
    time: Duration,
    /// Numbers of the conditions that it evaluates.
    asks: BTreeSet<usize>,
}

/// The built test programs.
pub(super) struct Programs {
    /// The program that runs directed cases.
    pub(super) runner: PathBuf,
    tests: Vec<Program>,
}

/// Builds the tests of the untested mutants: the cases and all tests, or only the tests of their
/// `own` crates.
///
/// # Errors
/// The copy does not build.
pub(super) fn build(copy: &Path, mutants: &[Mutant<'_>], own: bool) -> anyhow::Result<Programs> {
    let target = copy.join("target");
    let cargo = |arguments: &[&str]| {
        let mut command = Command::new("cargo");
        command.args(arguments).args(["--locked", "--message-format", "json"]).current_dir(copy);
        command.env("CARGO_TARGET_DIR", &target);
        command.stderr(Stdio::inherit()).output()
    };
    let waiting = mutants.iter().filter(|mutant| mutant.state == State::Waits);
    let folders: BTreeSet<&str> = waiting.map(Mutant::folder).collect();
    if !own && folders.iter().any(|folder| CASES_ASK.contains(folder)) {
        let runner = ["build", "--profile", "test", "-p", "sim-tests", "--bin", "condition-runner"];
        ensure!(
            cargo(&runner)?.status.success(),
            "the copy with wrapped conditions does not build"
        );
    }
    let of_all = folders.iter().flat_map(|folder| asked_about(folder));
    let wanted: BTreeSet<Tests> =
        of_all.filter(|(package, _)| !own || folders.contains(package)).copied().collect();
    // One build for all packages: each set of packages has its own features and thus its own
    // dependencies.
    let mut arguments = vec!["test", "--no-run", "--lib", "--test", INTEGRATION];
    arguments.extend(wanted.iter().flat_map(|(package, _)| ["-p", package]));
    let built = cargo(&arguments)?;
    ensure!(built.status.success(), "the tests of the copy do not build");
    let mut tests = Vec::new();
    for line in String::from_utf8(built.stdout)?.lines() {
        tests.extend(programs(&serde_json::from_str(line)?, &wanted)?);
    }
    Ok(Programs { runner: target.join("debug/condition-runner"), tests })
}

/// Returns the modules of a crate's integration tests.
fn modules(folder: &Path) -> anyhow::Result<Vec<String>> {
    let text = std::fs::read_to_string(folder.join("tests/main.rs"))?;
    let names = text.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
    Ok(names.map(String::from).collect())
}

/// Returns the programs in the test executable that a message of cargo announces: one for each
/// wanted module of integration tests, one for the unit tests of a crate.
fn programs(message: &serde_json::Value, wanted: &BTreeSet<Tests>) -> anyhow::Result<Vec<Program>> {
    let text = |value: &serde_json::Value| value.as_str().map(PathBuf::from);
    let (Some(path), Some(manifest)) =
        (text(&message["executable"]), text(&message["manifest_path"]))
    else {
        return Ok(Vec::new());
    };
    let folder = manifest.parent().unwrap_or(&manifest);
    let is_here = |package: &str| folder.ends_with(folder_of(package));
    let Some((package, names)) = wanted.iter().find(|(package, _)| is_here(package)) else {
        return Ok(Vec::new());
    };
    let chosen: Vec<Option<String>> = if message["target"]["name"] == INTEGRATION {
        let named = names.iter().map(|name| String::from(*name)).collect();
        let modules = if names.is_empty() { modules(folder)? } else { named };
        modules.into_iter().map(Some).collect()
    } else if names.is_empty() && message["profile"]["test"] == true {
        vec![None]
    } else {
        Vec::new()
    };
    let program = |module| Program {
        package: (*package).to_owned(),
        path: path.clone(),
        module,
        time: Duration::ZERO,
        asks: BTreeSet::new(),
    };
    Ok(chosen.into_iter().map(program).collect())
}

impl Programs {
    /// Runs each program once without a fault, to measure its time and find the conditions that it
    /// evaluates, and puts the cheapest first. A program that fails by itself, or takes longer than
    /// `longest` seconds, is left out.
    ///
    /// # Errors
    /// A program cannot be run.
    pub(super) fn timed(mut self, copy: &Path, longest: f64) -> anyhow::Result<Programs> {
        let asked = copy.join("target/asked");
        for program in &mut self.tests {
            std::fs::write(&asked, "")?;
            let start = Instant::now();
            let limit = Duration::from_secs_f64(longest);
            let status = program.run(copy, 1, limit, Some(&asked))?;
            program.time = start.elapsed();
            let text = std::fs::read_to_string(&asked)?;
            program.asks = text.lines().filter_map(|line| line.parse().ok()).collect();
            let (seconds, asks) = (program.time.as_secs_f64(), program.asks.len());
            let left_out =
                if status.success() { "" } else { ": left out, it fails or is too slow" };
            println!("{seconds:6.2} s, {asks:5} conditions, {}{left_out}", program.name());
            if !status.success() {
                program.asks.clear();
            }
        }
        self.tests.sort_by_key(|program| program.time);
        Ok(self)
    }

    /// Runs the programs that evaluate the condition, until one fails.
    ///
    /// # Errors
    /// A program cannot be run.
    pub(super) fn ask(
        &self,
        copy: &Path,
        folder: &str,
        number: usize,
        code: usize,
    ) -> anyhow::Result<State> {
        let mut state = State::Unasked;
        let packages = asked_about(folder);
        let about = |one: &&Program| packages.iter().any(|(package, _)| one.package == *package);
        for program in self.tests.iter().filter(about).filter(|one| one.asks.contains(&number)) {
            if !program.run(copy, code, 10 * program.time + PATIENCE, None)?.success() {
                return Ok(State::Noticed);
            }
            state = State::Survives;
        }
        Ok(state)
    }
}

impl Program {
    fn name(&self) -> String {
        let name = self.path.file_stem().unwrap_or_default().to_string_lossy();
        let name = name.rsplit_once('-').map_or(&*name, |(name, _)| name);
        format!("{} of {}", self.module.as_deref().unwrap_or(name), self.package)
    }

    fn run(
        &self,
        copy: &Path,
        code: usize,
        limit: Duration,
        asked: Option<&Path>,
    ) -> anyhow::Result<ExitStatus> {
        let mut command = Command::new("timeout");
        command.arg(limit.as_secs_f64().to_string()).arg(&self.path);
        command.args(self.module.as_ref().map(|module| format!("{module}::")));
        command.current_dir(copy.join(folder_of(&self.package)));
        command.env("CONDITION", code.to_string()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(asked) = asked {
            command.env("CONDITIONS_ASKED", asked);
        }
        command.status().context("timeout, of coreutils")
    }
}
