//! Makes every condition of the model wrong, one at a time, and checks whether a test notices.
//!
//! Each condition in a copy of the sources is wrapped in a call that can change it: always true,
//! always false, or, for an ordered comparison, with the other boundary. So the copy is built once.
//! Conditions of model crates run with the directed cases below `tests/scenarios`. Those of other
//! crates, and all that no case notices, run with the tests of their own crate and of the crates
//! above it. The page is written incrementally.

mod page;
mod programs;
mod rewrite;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context, bail};

use crate::bench_compare::root_and_target;
use programs::Programs;
use rewrite::{Kind, Site, rewrite};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Source files, by the beginning of their path
    #[arg(default_values_t = WHERE.map(String::from))]
    files: Vec<String>,
    /// Write the table of survivors to this file
    #[arg(short, long, default_value = "condition-mutants.md")]
    output: PathBuf,
    /// Test only the survivors of an earlier page again
    #[arg(long, value_name = "FILE")]
    only: Option<PathBuf>,
    /// Run only the tests of each crate itself and no case, which is fast
    #[arg(long)]
    own: bool,
    /// Number of mutants to test at a time
    #[arg(short = 'j', long, default_value_t = 2)]
    threads: usize,
    /// Skip test programs that take longer without a fault
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    longest: f64,
}

/// Code that raises events, decides causes or validates formulas.
const WHERE: [&str; 4] = [
    "sim-cache/src/",
    "sim-pipeline/src/",
    "sim-metrics/src/validator",
    "sim-metrics/src/identities",
];
/// File that declares the module of the switches. It is written once, so that a second run compiles
/// nothing again.
const SWITCHED: &str = "sim-core/src/lib.rs";
/// Longest time of a mutant. One that takes longer hangs, which counts as noticed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A wrong condition.
struct Mutant<'a> {
    file: &'a str,
    site: &'a Site,
    number: usize,
    fault: usize,
    state: State,
    /// Set if a directed case evaluates the condition.
    is_in_a_case: bool,
}

/// Result for a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// Not tested yet, or not by all tests.
    Waits,
    /// A case or test fails with it.
    Noticed,
    /// Nothing fails, although the condition is evaluated.
    Survives,
    /// No case and no test evaluates the condition.
    Unasked,
}

impl Mutant<'_> {
    fn code(&self) -> usize {
        self.number * 4 + self.fault
    }

    fn fault_name(&self) -> &'static str {
        ["always true", "always false", "other border"][self.fault]
    }

    fn folder(&self) -> &str {
        self.file.split('/').next().unwrap_or_default()
    }
}

/// Runs all mutants and writes the survivors.
pub(crate) fn run(args: &Args) -> anyhow::Result<bool> {
    let (root, target) = root_and_target()?;
    let copy = target.join("condition-mutants");
    let files = copy_sources(&root, &copy, &args.files)?;
    let mut mutants = mutants_of(&files);
    if let Some(earlier) = &args.only {
        page::keep_survivors(earlier, &mut mutants)?;
    }
    let open = mutants.iter().filter(|mutant| mutant.state == State::Waits).count();
    println!("{open} wrong conditions in {} files; building", files.len());
    let programs = programs::build(&copy, &mutants, args.own)?;
    if !args.own {
        by_cases(&programs.runner, &copy, &mut mutants, args.threads)?;
    }
    page::write(&args.output, &mutants)?;
    let programs = programs.timed(&copy, args.longest)?;
    by_tests(&programs, &copy, mutants, args)?;
    Ok(true)
}

type Wrapped = Vec<(String, Vec<Site>)>;

/// Copies the files that git tracks, with the conditions of the wanted files wrapped.
fn copy_sources(root: &Path, copy: &Path, wanted: &[String]) -> anyhow::Result<Wrapped> {
    let mut list = Command::new("git");
    list.args(["ls-files", "-co", "--exclude-standard"]).current_dir(root);
    let listed = list.output().context("git ls-files")?;
    let listed = String::from_utf8(listed.stdout)?;
    let (mut files, mut first) = (Wrapped::new(), 1);
    for name in listed.lines().filter(|name| root.join(name).is_file()) {
        let to = copy.join(name);
        std::fs::create_dir_all(to.parent().context("a file has a directory")?)?;
        if name == SWITCHED {
            continue;
        }
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
    add_switches(root, copy, first)?;
    Ok(files)
}

/// Adds the module that the wrapped conditions call, and the program that runs the cases.
fn add_switches(root: &Path, copy: &Path, count: usize) -> anyhow::Result<()> {
    let switches = include_str!("condition_mutants/mutant.rs.txt");
    let switches = switches.replace("@COUNT@", &count.to_string());
    write_if_new(&copy.join("sim-core/src/mutant.rs"), switches.as_bytes())?;
    let lib = copy.join(SWITCHED);
    let text = std::fs::read_to_string(root.join(SWITCHED))?
        + "\n#[allow(missing_docs)]\npub mod mutant;\n";
    write_if_new(&lib, text.as_bytes())?;
    let runner = include_str!("condition_mutants/runner.rs.txt");
    let folder = copy.join("tests/src/bin");
    std::fs::create_dir_all(&folder)?;
    write_if_new(&folder.join("condition-runner.rs"), runner.as_bytes())
}

/// Writes a file unless it already has this content, so that it is not recompiled.
fn write_if_new(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    if std::fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    std::fs::write(path, content).with_context(|| path.display().to_string())
}

fn mutants_of(files: &Wrapped) -> Vec<Mutant<'_>> {
    let sites = files.iter().flat_map(|(file, sites)| sites.iter().map(move |site| (file, site)));
    let mut all = Vec::new();
    for (number, (file, site)) in (1..).zip(sites) {
        let faults = if site.kind == Kind::Order { 3 } else { 2 };
        let mutant =
            |fault| Mutant { file, site, number, fault, state: State::Waits, is_in_a_case: false };
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

    /// Returns the result for a mutant, `None` if the process died or hangs.
    fn ask(&mut self, code: usize) -> Option<String> {
        writeln!(self.input, "{code}").ok()?;
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => line.split_once(' ').map(|(_, result)| result.to_owned()),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        }
    }

    fn end(mut self) {
        // The process may have died by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the mutants of model crates with the directed cases, in several processes.
fn by_cases(
    program: &Path,
    copy: &Path,
    mutants: &mut [Mutant<'_>],
    threads: usize,
) -> anyhow::Result<()> {
    let mut open: Vec<&mut Mutant<'_>> = mutants
        .iter_mut()
        .filter(|one| one.state == State::Waits && programs::CASES_ASK.contains(&one.folder()))
        .collect();
    let part = open.len().div_ceil(threads.max(1)).max(1);
    std::thread::scope(|scope| {
        let ask = |part| scope.spawn(|| ask_all(program, copy, part));
        let running: Vec<_> = open.chunks_mut(part).map(ask).collect();
        running
            .into_iter()
            .try_for_each(|one| one.join().map_err(|_| anyhow::anyhow!("a thread panicked"))?)
    })
}

fn ask_all(program: &Path, copy: &Path, mutants: &mut [&mut Mutant<'_>]) -> anyhow::Result<()> {
    let mut runner = Runner::start(program, copy)?;
    for mutant in mutants {
        match runner.ask(mutant.code()).as_deref() {
            Some("-") => mutant.is_in_a_case = true,
            Some("?") => {}
            Some(_) => mutant.state = State::Noticed,
            None => {
                mutant.state = State::Noticed;
                std::mem::replace(&mut runner, Runner::start(program, copy)?).end();
            }
        }
    }
    runner.end();
    Ok(())
}

/// Runs the remaining mutants with the test programs, and writes the page after each.
fn by_tests(
    programs: &Programs,
    copy: &Path,
    mutants: Vec<Mutant<'_>>,
    args: &Args,
) -> anyhow::Result<()> {
    let open: Vec<usize> =
        (0..mutants.len()).filter(|at| mutants[*at].state != State::Noticed).collect();
    let asked: Vec<(usize, String)> =
        open.iter().map(|at| (mutants[*at].number, mutants[*at].folder().to_owned())).collect();
    let codes: Vec<usize> = open.iter().map(|at| mutants[*at].code()).collect();
    let (next, mutants) = (AtomicUsize::new(0), Mutex::new(mutants));
    let work = || -> anyhow::Result<()> {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some((number, folder)) = asked.get(i) else { return Ok(()) };
            let state = programs.ask(copy, folder, *number, codes[i])?;
            let mut all = mutants.lock().map_err(|_| anyhow::anyhow!("a thread panicked"))?;
            let one = &mut all[open[i]];
            let is_asked = state == State::Unasked && one.is_in_a_case;
            one.state = if is_asked { State::Survives } else { state };
            page::write(&args.output, &all)?;
        }
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..args.threads.max(1)).map(|_| scope.spawn(work)).collect();
        running
            .into_iter()
            .try_for_each(|one| one.join().map_err(|_| anyhow::anyhow!("a thread panicked"))?)
    })
}
