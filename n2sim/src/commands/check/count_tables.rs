//! `n2sim check COUNTS`: checks the rules between the counts of one window, of any machine, and
//! prints the usual cause of a violation.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use sim_core::{A53Event, CoreDescription, CoreEvent, EventName, Shown, cores};
use sim_machine::Revision;
use sim_metrics::identities::Assumptions;
use sim_metrics::{Cause, Violation};
use sim_report::count_table::{CountFile, CountTable, CountTableError, Tolerance};

use super::core_rules::{A53Rules, CoreRules, Judgment, NeoverseRules};
use super::{CheckArgs, outside};
use crate::host::call;
use crate::shared_args::CoreName;
use crate::verdict::Verdict;

/// The result of a file's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// Every rule holds.
    Good,
    /// A rule does not hold, or counts are doubtful.
    Refuted,
    /// No rule had all of its events.
    Untested,
}

/// Checks every table of every file and prints what does not hold. Errors of files that cannot be
/// read are printed at the end, after all other checks.
pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<Verdict> {
    if args.show || !args.event.is_empty() {
        anyhow::bail!("--show and --event are about scenarios (*.toml), not count tables");
    }
    let tolerance = tolerance(args)?;
    let mut out = io::BufWriter::new(call::stdout());
    let mut verdict = Verdict::Good;
    let mut unreadable = Vec::new();
    for file in &args.files {
        match check_file(&mut out, file, args, tolerance) {
            Ok(Standing::Refuted) => verdict = Verdict::Refuted,
            Ok(_) => {}
            Err(error) => unreadable.push(crate::failure::message(&error)),
        }
    }
    out.flush()?;
    if !unreadable.is_empty() {
        anyhow::bail!("{}", unreadable.join("\nn2sim: "));
    }
    Ok(verdict)
}

/// Checks the tables of one file with the rules of its core. Fails if nothing could be checked.
fn check_file(
    out: &mut impl Write,
    file: &Path,
    args: &CheckArgs,
    tolerance: Tolerance,
) -> anyhow::Result<Standing> {
    let text = sim_files::text(file)
        .with_context(|| format!("cannot read the counts {}", file.shown()))?;
    let counts = CountFile::parse(&text);
    let core = core_of(out, file, args.core, &counts.cores())?;
    let is_named = core != CoreName::NeoverseN2 && args.revision.is_some();
    if is_named || (core == CoreName::CortexA53 && args.extllc.is_some()) {
        let option = if is_named { "--revision" } else { "--extllc" };
        anyhow::bail!("{option}: a {} has no such setting; leave it out", core.name());
    }
    match core.related() {
        Some(core) => check_tables(out, file, counts, tolerance, &NeoverseRules(of(args, core))),
        None => check_tables(out, file, counts, tolerance, &A53Rules),
    }
}

/// Returns the assumptions that the options state.
fn of(args: &CheckArgs, core: &'static CoreDescription) -> Assumptions {
    Assumptions {
        core,
        has_stall_slot_erratum: args
            .revision
            .map(Revision::from)
            .map(Revision::has_stall_slot_erratum),
        has_external_llc: args.extllc,
        ..Assumptions::default()
    }
}

/// Returns the core that counted: the given one, or the one that the PMUs in the file are named
/// after, or a Neoverse N2.
fn core_of(
    out: &mut impl Write,
    file: &Path,
    given: Option<CoreName>,
    named: &[String],
) -> anyhow::Result<CoreName> {
    let core = match given {
        Some(core) => return check_given(file, core, named),
        None => recognized(file, named)?,
    };
    if core != CoreName::NeoverseN2 {
        let (file, name) = (file.shown(), core.name());
        writeln!(out, "{file}: the PMU in its names is that of a {name}, whose rules are used")?;
    }
    Ok(core)
}

/// Returns the given core, if there are rules for it and the PMUs in the file are not of others.
fn check_given(file: &Path, core: CoreName, named: &[String]) -> anyhow::Result<CoreName> {
    if !core.has_count_rules() {
        anyhow::bail!(
            "--core {}: n2sim has no rules for its counts; it has those of {}",
            core.name(),
            CoreName::names(CoreName::has_count_rules)
        );
    }
    if !named.is_empty() && !named.iter().any(|name| name == core.name()) {
        anyhow::bail!(
            "{}: the counts are of a {}, not of a {} (--core)",
            file.shown(),
            named.join(" and a ").shown(),
            core.name()
        );
    }
    Ok(core)
}

/// Returns the one core with rules among those that PMUs in the file are named after; the
/// Neoverse N2 if they are named after none.
fn recognized(file: &Path, named: &[String]) -> anyhow::Result<CoreName> {
    let cores = named.iter().filter_map(|name| CoreName::from_name(name));
    let known: Vec<CoreName> = cores.filter(|core| core.has_count_rules()).collect();
    match known.as_slice() {
        [core] => Ok(*core),
        [] if named.is_empty() => Ok(CoreName::NeoverseN2),
        [] => anyhow::bail!(
            "{}: the counts are of a {}, for which n2sim has no rules; it has those of {}",
            file.shown(),
            named.join(" and a ").shown(),
            CoreName::names(CoreName::has_count_rules)
        ),
        _ => anyhow::bail!(
            "{}: the counts are of a {}; choose one with --core",
            file.shown(),
            named.join(" and a ").shown()
        ),
    }
}

fn tolerance(args: &CheckArgs) -> anyhow::Result<Tolerance> {
    match args.tolerance {
        None => Ok(Tolerance::Usual),
        Some(percent) if (0.0..=100.0).contains(&percent) => Ok(Tolerance::Given(percent / 100.0)),
        Some(percent) => anyhow::bail!("--tolerance {percent}: give percent, from 0 to 100"),
    }
}

/// Writes the results of a file's tables. Returns their combined result.
fn check_tables<R: CoreRules>(
    out: &mut impl Write,
    file: &Path,
    counts: CountFile,
    tolerance: Tolerance,
    rules: &R,
) -> anyhow::Result<Standing> {
    let mut tables: Vec<CountTable<R::Event>> =
        counts.tables(rules.core(), tolerance).map_err(|error| located(file, &error))?;
    tables.iter_mut().for_each(|table| table.leave_out(|event| rules.has(event)));
    let mut all = Standing::Untested;
    for table in &tables {
        match write_table(out, file, table, rules)? {
            Standing::Refuted => all = Standing::Refuted,
            Standing::Good if all == Standing::Untested => all = Standing::Good,
            Standing::Good | Standing::Untested => {}
        }
    }
    if tables.iter().any(|table| table.is_function) {
        writeln!(
            out,
            "{}: functions share cycles, so rules on cycles were left out; check the counts of the run for them",
            file.shown()
        )?;
    }
    match all {
        Standing::Untested => anyhow::bail!("{}", untested(file, &tables, rules)),
        standing => Ok(standing),
    }
}

fn located(file: &Path, error: &CountTableError) -> anyhow::Error {
    match error.line() {
        Some(line) => anyhow::anyhow!("{}:{line}: {error}", file.shown()),
        None => anyhow::anyhow!("{}: {error}", file.shown()),
    }
}

/// Returns the reason why nothing could be checked, and what to count for a check.
fn untested<R: CoreRules>(file: &Path, tables: &[CountTable<R::Event>], rules: &R) -> String {
    let near = tables.iter().find_map(|table| rules.nearest(table));
    let remedy = match near {
        Some((rule, missing)) => {
            let names: Vec<String> = missing.iter().map(|event| event.perf_name()).collect();
            format!("count {} together with them, for {rule}", names.join(","))
        }
        None => rules.advice().to_owned(),
    };
    format!(
        "{}: nothing could be checked: no rule has all of its events in one table; {remedy}",
        file.shown()
    )
}

/// Writes the result of one table.
fn write_table<R: CoreRules>(
    out: &mut impl Write,
    file: &Path,
    table: &CountTable<R::Event>,
    rules: &R,
) -> io::Result<Standing> {
    let judgment = rules.judge(table);
    let Judgment { check, causes, doubts, outside, .. } = &judgment;
    write_summary(out, file, table, &judgment)?;
    for (violation, cause) in check.violations.iter().zip(causes) {
        write_violation(out, violation, *cause)?;
    }
    for two in &table.two_names {
        let ((first_name, first), (second_name, second)) = (&two.first, &two.second);
        writeln!(
            out,
            "  {first_name} = {second_name} does not hold: {first} against {second} (one event)"
        )?;
        writeln!(out, "    usual cause: {}", Cause::Windows)?;
    }
    for inequality in outside {
        outside::write(out, inequality, |event| rules.value(table, event))?;
    }
    for doubt in doubts {
        writeln!(out, "  doubtful: {doubt}")?;
        writeln!(out, "    usual cause: {}", doubt.cause)?;
    }
    write_remarks(out, table, rules)?;
    if let Some(has_erratum) = check.found_erratum {
        write_revision(out, has_erratum)?;
    }
    let is_good = check.violations.is_empty()
        && doubts.is_empty()
        && outside.is_empty()
        && table.two_names.is_empty();
    Ok(match check.tested {
        _ if !is_good => Standing::Refuted,
        0 if !judgment.is_limited_by_flows => Standing::Untested,
        _ => Standing::Good,
    })
}

/// Writes the revisions that the slots fit, if the revision is not given.
fn write_revision(out: &mut impl Write, has_erratum: bool) -> io::Result<()> {
    let fits = match has_erratum {
        true => {
            "OP_SPEC + STALL_SLOT = 6 x CPU_CYCLES fits r0p0 to r0p2 only, where STALL_SLOT counts one slot too \
             many per cycle; on r0p3 the counts are wrong"
        }
        false => {
            "OP_SPEC + STALL_SLOT = 5 x CPU_CYCLES fits r0p3 only; on r0p0 to r0p2 CPU_CYCLES was taken off"
        }
    };
    writeln!(out, "  {fits} (--revision says which core counted)")
}

fn write_summary<E: CoreEvent>(
    out: &mut impl Write,
    file: &Path,
    table: &CountTable<E>,
    judgment: &Judgment,
) -> io::Result<()> {
    let Judgment { check, doubts, outside, .. } = judgment;
    let whose = match table.owner.as_str() {
        "" => String::new(),
        whose => format!(" ({whose})"),
    };
    let broken = check.violations.len() + table.two_names.len();
    write!(
        out,
        "{}{whose}: {} events, {} rules tested, {broken} do not hold, {} left out (not counted)",
        file.shown(),
        table.counts.len(),
        check.tested,
        check.left_out
    )?;
    if judgment.is_limited_by_flows && outside.is_empty() {
        write!(out, ", possible by the flows")?;
    }
    if !outside.is_empty() {
        write!(out, ", {} impossible by the flows", outside.len())?;
    }
    match doubts.len() {
        0 => writeln!(out),
        n => writeln!(out, ", {n} doubtful"),
    }
}

fn write_violation(out: &mut impl Write, violation: &Violation, cause: Cause) -> io::Result<()> {
    writeln!(
        out,
        "  {violation}, {} apart ({:.2} %)",
        violation.difference(),
        violation.difference_share() * 100.0
    )?;
    if let Some(reason) = violation.reason {
        writeln!(out, "    reason of the rule: {reason}")?;
    }
    writeln!(out, "    usual cause: {cause}")
}

/// Writes remarks that are not faults but explain what was left out.
fn write_remarks<R: CoreRules>(
    out: &mut impl Write,
    table: &CountTable<R::Event>,
    rules: &R,
) -> io::Result<()> {
    let estimates = table.estimates();
    if estimates > 0 {
        writeln!(
            out,
            "  {estimates} counts are estimates (counted for a part of the time); see --tolerance"
        )?;
    }
    if !table.missing.is_empty() {
        writeln!(out, "  without a count: {}", table.missing.join(", "))?;
    }
    if !table.unknown.is_empty() {
        writeln!(out, "  not an event of this core: {}", table.unknown.join(", "))?;
    }
    let is_of_a53 = |name: &&String| {
        let name = EventName::split(name).ok().filter(EventName::is_of_core);
        name.is_some_and(|name| name.core().is_none() && A53Event::named(&name).is_some())
    };
    let is_n2 = rules.core().name == cores::neoverse_n2().name;
    if let Some(name) = table.unknown.iter().find(is_of_a53).filter(|_| is_n2) {
        writeln!(
            out,
            "  a Cortex-A53 has {name}: if one counted, check the table with --core cortex-a53"
        )?;
    }
    Ok(())
}
