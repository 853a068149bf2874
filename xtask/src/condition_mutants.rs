//! Makes every condition of the model wrong, one at a time, and asks whether a test notices.
//!
//! The sources are copied with each condition wrapped in a call that can turn it: always true, always false,
//! or, for a comparison by order, with the other border. So the copy is built once. Conditions of model crates
//! are held against the directed cases below `tests/scenarios`; those of other crates, and all that no case
//! notices, against the tests of their own crate.

mod rewrite;

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context, bail, ensure};

use crate::bench_compare::root_and_target;
use rewrite::{Kind, Site, rewrite};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Source files, by the beginning of their path
    #[arg(default_values_t = WHERE.map(String::from))]
    files: Vec<String>,
    /// Write the table of survivors to this file
    #[arg(short, long, default_value = "condition-mutants.md")]
    output: PathBuf,
}

/// What raises events, decides causes or judges formulas.
const WHERE: [&str; 4] =
    ["sim-cache/src/", "sim-pipeline/src/", "sim-metrics/src/judge", "sim-metrics/src/identities"];
/// Longest time that a mutant may take: one that takes longer hangs, which is noticed.
const PATIENCE: Duration = Duration::from_secs(60);

/// One wrong condition.
struct Mutant<'a> {
    file: &'a str,
    site: &'a Site,
    number: usize,
    fault: usize,
    /// What noticed it.
    noticed: Option<String>,
    /// No directed case asks the condition.
    unasked: bool,
}

impl Mutant<'_> {
    fn code(&self) -> usize {
        self.number * 4 + self.fault
    }

    fn fault_name(&self) -> &'static str {
        ["always true", "always false", "other border"][self.fault]
    }
}

/// Runs all mutants and writes those that nothing notices.
pub(crate) fn run(args: &Args) -> anyhow::Result<bool> {
    let (root, target) = root_and_target()?;
    let copy = target.join("condition-mutants");
    let files = copy_sources(&root, &copy, &args.files)?;
    let sites: usize = files.iter().map(|(_, sites)| sites.len()).sum();
    println!("{sites} conditions in {} files; building", files.len());
    let programs = build(&copy, &files)?;
    let mut mutants = mutants_of(&files);
    by_cases(&programs.runner, &copy, &mut mutants)?;
    by_tests(&programs.tests, &copy, &mut mutants)?;
    let page = page(&mutants);
    std::fs::write(&args.output, &page).with_context(|| args.output.display().to_string())?;
    println!("{}", page.lines().nth(2).unwrap_or_default());
    Ok(true)
}

type Wrapped = Vec<(String, Vec<Site>)>;

/// Copies what git knows, with the conditions of the wanted files wrapped.
fn copy_sources(root: &Path, copy: &Path, wanted: &[String]) -> anyhow::Result<Wrapped> {
    let mut list = Command::new("git");
    list.args(["ls-files", "-co", "--exclude-standard"]).current_dir(root);
    let listed = list.output().context("git ls-files")?;
    let listed = String::from_utf8(listed.stdout)?;
    let (mut files, mut first) = (Wrapped::new(), 1);
    for name in listed.lines().filter(|name| root.join(name).is_file()) {
        let to = copy.join(name);
        std::fs::create_dir_all(to.parent().context("a file has a folder")?)?;
        if !name.ends_with(".rs") || !wanted.iter().any(|start| name.starts_with(start.as_str())) {
            write_if_new(&to, &std::fs::read(root.join(name))?)?;
            continue;
        }
        let text = std::fs::read_to_string(root.join(name))?;
        let rewritten = if name.contains("/tests") {
            rewrite::Rewritten { text, sites: Vec::new() }
        } else {
            rewrite(&text, first).with_context(|| name.to_owned())?
        };
        first += rewritten.sites.len();
        write_if_new(&to, rewritten.text.as_bytes())?;
        files.push((name.to_owned(), rewritten.sites));
    }
    add_switches(copy, first)?;
    Ok(files)
}

/// What the wrapped conditions call, and the program that runs the cases.
fn add_switches(copy: &Path, count: usize) -> anyhow::Result<()> {
    let switches = include_str!("condition_mutants/mutant.rs.txt");
    let switches = switches.replace("@COUNT@", &count.to_string());
    write_if_new(&copy.join("sim-core/src/mutant.rs"), switches.as_bytes())?;
    let lib = copy.join("sim-core/src/lib.rs");
    let text = std::fs::read_to_string(&lib)? + "\n#[allow(missing_docs)]\npub mod mutant;\n";
    write_if_new(&lib, text.as_bytes())?;
    let runner = include_str!("condition_mutants/runner.rs.txt");
    let folder = copy.join("tests/src/bin");
    std::fs::create_dir_all(&folder)?;
    write_if_new(&folder.join("condition-runner.rs"), runner.as_bytes())
}

/// Leaves a file alone that is as it should be, so that it is not compiled again.
fn write_if_new(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    if std::fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    std::fs::write(path, content).with_context(|| path.display().to_string())
}

/// The programs that were built.
struct Programs {
    runner: PathBuf,
    /// Crate and test program.
    tests: Vec<(String, PathBuf)>,
}

fn build(copy: &Path, files: &Wrapped) -> anyhow::Result<Programs> {
    let target = copy.join("target");
    let cargo = |arguments: &[&str]| {
        let mut command = Command::new("cargo");
        command.args(arguments).args(["--locked", "--message-format", "json"]).current_dir(copy);
        command.env("CARGO_TARGET_DIR", &target);
        command.stderr(Stdio::inherit()).output()
    };
    let runner = ["build", "--profile", "test", "-p", "sim-tests", "--bin", "condition-runner"];
    ensure!(cargo(&runner)?.status.success(), "the copy with wrapped conditions does not build");
    let mut crates: Vec<&str> =
        files.iter().filter_map(|(name, _)| name.split('/').next()).collect();
    crates.dedup();
    let mut arguments = vec!["test", "--no-run"];
    crates.iter().for_each(|name| arguments.extend(["-p", name]));
    let built = cargo(&arguments)?;
    ensure!(built.status.success(), "the tests of the copy do not build");
    let mut tests = Vec::new();
    for line in String::from_utf8(built.stdout)?.lines() {
        let message: serde_json::Value = serde_json::from_str(line)?;
        let manifest = message["manifest_path"].as_str().unwrap_or_default();
        let folder = Path::new(manifest).parent().and_then(Path::file_name);
        if let (Some(program), Some(folder)) = (message["executable"].as_str(), folder) {
            tests.push((folder.to_string_lossy().into_owned(), PathBuf::from(program)));
        }
    }
    Ok(Programs { runner: target.join("debug/condition-runner"), tests })
}

fn mutants_of(files: &Wrapped) -> Vec<Mutant<'_>> {
    let sites = files.iter().flat_map(|(file, sites)| sites.iter().map(move |site| (file, site)));
    let mut all = Vec::new();
    for (number, (file, site)) in (1..).zip(sites) {
        let faults = if site.kind == Kind::Order { 3 } else { 2 };
        let mutant = |fault| Mutant { file, site, number, fault, noticed: None, unasked: false };
        all.extend((0..faults).map(mutant));
    }
    all
}

/// A process that runs the directed cases.
struct Runner {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Runner {
    fn start(program: &Path, copy: &Path) -> anyhow::Result<Runner> {
        let mut command = Command::new(program);
        command.current_dir(copy).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().with_context(|| program.display().to_string())?;
        let input = child.stdin.take().context("its input is a pipe")?;
        let output = BufReader::new(child.stdout.take().context("its output is a pipe")?);
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let runner = Runner { child, input, lines };
        match runner.lines.recv_timeout(20 * PATIENCE) {
            Ok(line) if line == "ready" => Ok(runner),
            other => bail!("the runner of the cases does not begin: {other:?}"),
        }
    }

    /// What came of a mutant; `None` if the process died or hangs.
    fn ask(&mut self, code: usize) -> Option<String> {
        writeln!(self.input, "{code}").ok()?;
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => line.split_once(' ').map(|(_, result)| result.to_owned()),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        }
    }

    fn end(mut self) {
        // It may have died by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the mutants of model crates against the directed cases, on two processes.
fn by_cases(program: &Path, copy: &Path, mutants: &mut [Mutant<'_>]) -> anyhow::Result<()> {
    let middle = mutants.len() / 2;
    let (first, second) = mutants.split_at_mut(middle);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| ask_all(program, copy, second));
        ask_all(program, copy, first)?;
        other.join().map_err(|_| anyhow::anyhow!("a thread panicked"))?
    })
}

fn ask_all(program: &Path, copy: &Path, mutants: &mut [Mutant<'_>]) -> anyhow::Result<()> {
    let mut runner = Runner::start(program, copy)?;
    for mutant in mutants {
        match runner.ask(mutant.code()).as_deref() {
            Some("-") => {}
            Some("?") => mutant.unasked = true,
            Some(case) => mutant.noticed = Some(case.to_owned()),
            None => {
                mutant.noticed = Some(String::from("hangs or aborts"));
                std::mem::replace(&mut runner, Runner::start(program, copy)?).end();
            }
        }
    }
    runner.end();
    Ok(())
}

/// Runs what is left against the tests of its own crate.
fn by_tests(
    programs: &[(String, PathBuf)],
    copy: &Path,
    mutants: &mut [Mutant<'_>],
) -> anyhow::Result<()> {
    for mutant in mutants.iter_mut().filter(|mutant| mutant.noticed.is_none()) {
        let folder = mutant.file.split('/').next().unwrap_or_default();
        for (_, program) in programs.iter().filter(|(name, _)| name == folder) {
            if fails(program, &copy.join(folder), mutant.code())? {
                let name = program.file_stem().unwrap_or_default().to_string_lossy();
                let name = name.rsplit_once('-').map_or(&*name, |(name, _)| name);
                mutant.noticed = Some(format!("tests of {folder}: {name}"));
                break;
            }
        }
    }
    Ok(())
}

fn fails(program: &Path, folder: &Path, code: usize) -> anyhow::Result<bool> {
    let mut command = Command::new("timeout");
    command.arg(PATIENCE.as_secs().to_string()).arg(program).current_dir(folder);
    command.env("CONDITION", code.to_string()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(!command.status().context("timeout, of coreutils")?.success())
}

fn page(mutants: &[Mutant<'_>]) -> String {
    let noticed = mutants.iter().filter(|mutant| mutant.noticed.is_some()).count();
    let mut page = String::from("# Wrong conditions\n\n");
    let all = mutants.len();
    let _ = writeln!(page, "{all} tried, {noticed} noticed, {} survive.\n", all - noticed);
    page.push_str("| File | Line | Condition | Fault | Asked by a case |\n|-|-|-|-|-|\n");
    for mutant in mutants.iter().filter(|mutant| mutant.noticed.is_none()) {
        let Site { line, text, .. } = mutant.site;
        let (asked, text) = (if mutant.unasked { "no" } else { "yes" }, text.replace('|', "\\|"));
        let _ = writeln!(
            page,
            "| {} | {line} | `{text}` | {} | {asked} |",
            mutant.file,
            mutant.fault_name()
        );
    }
    page
}
