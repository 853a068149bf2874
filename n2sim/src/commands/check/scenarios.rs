//! `n2sim check FILE...`: runs scenario files, or all below a directory, and prints which cases
//! hold.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use sim_core::PmuEvent;
use sim_machine::ConfigSource;
use sim_metrics::builtin;
use sim_report::explain::metrics;
use sim_report::{case_counts, case_tables};
use sim_scenario::a53::Case as A53Case;
use sim_scenario::{self as scenario, Case, Verdict as CaseVerdict, run_case};

use super::{CheckArgs, a53, remedies};
use crate::host::call;
use crate::verdict::Verdict;
use sim_core::Shown as _;

/// Numbers of files, cases and failed cases.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    files: usize,
    cases: usize,
    failed: usize,
}

/// The printed part of a case besides its failure.
enum Shown {
    Nothing,
    /// All events that counted, or only these.
    Counts(Option<Vec<PmuEvent>>),
}

/// Returns what is printed of each case on a Neoverse N2.
fn shown(args: &CheckArgs) -> anyhow::Result<Shown> {
    Ok(match &args.event[..] {
        [] if !args.show => Shown::Nothing,
        [] => Shown::Counts(None),
        _ => Shown::Counts(Some(args.n2_events()?)),
    })
}

/// Runs every case of every file. Errors of files that cannot be read are printed at the end, after
/// all other cases.
pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<Verdict> {
    if args.revision.is_some() || args.extllc.is_some() || args.tolerance.is_some() {
        anyhow::bail!(
            "--revision, --extllc and --tolerance are about count tables; give scenarios (*.toml) \
             and count tables in two calls"
        );
    }
    let overrides = args.machine.overrides();
    let source = args.machine.source(&overrides);
    let mut out = io::BufWriter::new(call::stdout());
    if !args.case.is_empty() {
        return run_named(&mut out, args, &source);
    }
    let mut tally = Tally::default();
    let mut unreadable = Vec::new();
    for file in scenario_files(&args.files)? {
        match read(&file) {
            Ok(cases) => match run_file(&file, &cases, args, &source) {
                Ok(report) => write_file(&mut out, &file, &report, &mut tally)?,
                Err(error) => unreadable.push(crate::failure::message(&error)),
            },
            Err(error) => unreadable.push(crate::failure::message(&error)),
        }
        out.flush()?;
    }
    if tally.files > 0 {
        let held = tally.cases - tally.failed;
        writeln!(out, "{held} of {} cases hold in {} files", tally.cases, tally.files)?;
        out.flush()?;
    }
    if !unreadable.is_empty() {
        anyhow::bail!("{}", unreadable.join("\nn2sim: "));
    }
    Ok(if tally.failed == 0 { Verdict::Good } else { Verdict::Refuted })
}

/// Runs the cases that were named, and prints what each counts.
fn run_named(
    out: &mut impl Write,
    args: &CheckArgs,
    source: &ConfigSource<'_>,
) -> anyhow::Result<Verdict> {
    let catalog = builtin::catalog();
    let mut chosen = Vec::new();
    for name in &args.metric {
        let metric = catalog.get(name);
        chosen.push(metric.with_context(|| {
            format!("no metric is called '{name}' (all names: n2sim list metrics)")
        })?);
    }
    let mut events = Vec::new();
    events.extend(chosen.iter().flat_map(|metric| metrics::events(metric, &catalog)));
    let (mut met, mut refuted) = (vec![false; args.case.len()], false);
    for file in scenario_files(&args.files)? {
        let cases = match read(&file)? {
            Cases::N2(cases) => cases,
            Cases::A53(cases) => {
                refuted |= !run_named_a53(out, &file, &cases, args, &mut met)?;
                continue;
            }
        };
        for case in cases {
            let Some(named) = args.case.iter().position(|name| *name == case.test) else {
                continue;
            };
            let name = file.shown().to_string();
            let verdict =
                run_case(&case, source).map_err(|error| remedies::placed(&name, &case, error))?;
            if std::mem::replace(&mut met[named], true) {
                writeln!(out)?;
            }
            let own = [args.n2_events()?, events.clone()].concat();
            case_counts::write(out, &case, &verdict, &own)?;
            case_counts::write_metrics(out, &verdict, &chosen, &catalog)?;
            if !verdict.holds() {
                out.write_all(explanation(&verdict, &name, &case).as_bytes())?;
            }
            refuted |= !verdict.holds();
        }
    }
    out.flush()?;
    match args.case.iter().zip(met).find(|(_, met)| !met) {
        Some((name, _)) => anyhow::bail!("no case of these files is called '{name}'"),
        None => Ok(if refuted { Verdict::Refuted } else { Verdict::Good }),
    }
}

/// Runs the cases of a file for the Cortex-A53 that were named, and prints what each counts.
/// Returns whether all of them hold.
fn run_named_a53(
    out: &mut impl Write,
    file: &Path,
    cases: &[A53Case],
    args: &CheckArgs,
    met: &mut [bool],
) -> anyhow::Result<bool> {
    let (name, mut hold) = (file.shown().to_string(), true);
    refuse_n2_options(&name, args)?;
    let events = args.a53_events()?;
    for case in cases {
        let Some(named) = args.case.iter().position(|name| *name == case.test) else { continue };
        let verdict = a53::run(&name, case, &args.machine)?;
        if std::mem::replace(&mut met[named], true) {
            writeln!(out)?;
        }
        a53::write(out, case, &verdict, &events)?;
        if !verdict.holds() {
            out.write_all(verdict.explain(&name, case).as_bytes())?;
            hold = false;
        }
    }
    Ok(hold)
}

/// Returns the named files, and for each directory the `.toml` files below it, in order.
fn scenario_files(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let before = files.len();
        collect(path, &mut files)?;
        if files.len() == before {
            anyhow::bail!("{}: no scenario files (*.toml) in this directory", path.shown());
        }
        files[before..].sort();
    }
    Ok(files)
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let place = || format!("cannot read the directory {}", directory.shown());
    for entry in std::fs::read_dir(directory).with_context(place)? {
        let path = entry.with_context(place)?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    Ok(())
}

/// Refuses options that a file for the Cortex-A53 does not know.
fn refuse_n2_options(file: &str, args: &CheckArgs) -> anyhow::Result<()> {
    if args.metric.is_empty() {
        return Ok(());
    }
    anyhow::bail!(
        "{file}: --metric is about the Neoverse N2, and these scenarios are for the Cortex-A53; \
         --event prints counts"
    )
}

/// The cases of a file, by the core that it names.
enum Cases {
    N2(Vec<Case>),
    A53(Vec<A53Case>),
}

fn read(file: &Path) -> anyhow::Result<Cases> {
    let name = file.shown().to_string();
    let text = sim_files::text(file).with_context(|| format!("cannot read the scenario {name}"))?;
    Ok(match scenario::a53::is_a53(&text) {
        true => Cases::A53(scenario::a53::parse(&name, &text)?),
        false => Cases::N2(scenario::parse(&name, &text).map_err(remedies::of_file)?),
    })
}

/// The report on the cases of a file.
#[derive(Default)]
struct Report {
    cases: usize,
    failed: usize,
    text: Vec<u8>,
}

/// Runs the cases of one file, on the core that it names.
fn run_file(
    file: &Path,
    cases: &Cases,
    args: &CheckArgs,
    source: &ConfigSource<'_>,
) -> anyhow::Result<Report> {
    let cases = match cases {
        Cases::N2(cases) => return run_cases(file, cases, source, &shown(args)?),
        Cases::A53(cases) => cases,
    };
    let name = file.shown().to_string();
    refuse_n2_options(&name, args)?;
    let events = args.a53_events()?;
    let mut report = Report { cases: cases.len(), ..Report::default() };
    for case in cases {
        let verdict = a53::run(&name, case, &args.machine)?;
        if args.show || !events.is_empty() {
            writeln!(report.text)?;
            a53::write(&mut report.text, case, &verdict, &events)?;
        }
        if !verdict.holds() {
            report.failed += 1;
            report.text.extend(verdict.explain(&name, case).into_bytes());
        }
    }
    Ok(report)
}

/// Runs the cases of one file. Shows their counts if that is requested, and explains failures.
fn run_cases(
    file: &Path,
    cases: &[Case],
    source: &ConfigSource<'_>,
    shown: &Shown,
) -> anyhow::Result<Report> {
    let name = file.shown().to_string();
    let run = |case| run_case(case, source).map_err(|error| remedies::placed(&name, case, error));
    let verdicts = cases.iter().map(run).collect::<anyhow::Result<Vec<CaseVerdict>>>()?;
    let judged: Vec<(&Case, &CaseVerdict)> = cases.iter().zip(&verdicts).collect();
    let mut report = Report { cases: cases.len(), ..Report::default() };
    if let Shown::Counts(events) = shown {
        case_tables::write(&mut report.text, &judged, events.as_deref())?;
    }
    for (case, verdict) in judged.iter().filter(|(_, verdict)| !verdict.holds()) {
        report.failed += 1;
        report.text.extend(explanation(verdict, &name, case).into_bytes());
    }
    Ok(report)
}

/// Returns the reasons why a case fails, and how to state what it counts.
fn explanation(verdict: &CaseVerdict, file: &str, case: &Case) -> String {
    let hint = remedies::others(verdict).unwrap_or_default();
    verdict.explain(file, case) + &hint
}

/// Prints one line for a file, followed by the lines of its cases.
fn write_file(
    out: &mut impl Write,
    file: &Path,
    report: &Report,
    tally: &mut Tally,
) -> io::Result<()> {
    let (name, Report { cases, failed, text }) = (file.shown(), report);
    tally.files += 1;
    tally.cases += cases;
    tally.failed += failed;
    match failed {
        0 => writeln!(out, "pass  {name}: {cases} cases")?,
        failed => writeln!(out, "FAIL  {name}: {failed} of {cases} cases")?,
    }
    out.write_all(text)
}
