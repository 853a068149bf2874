//! `n2sim check COUNTS`: checks the rules between the counts of one window, of any machine, and
//! prints the usual cause of a violation.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use sim_core::PmuEvent;
use sim_machine::Revision;
use sim_metrics::identities::{self, Assumptions};
use sim_metrics::{Cause, Check, Count, Violation, cause, lint};
use sim_report::count_table::{self, CountTable, Tolerance};

use super::CheckArgs;
use crate::files::input;
use crate::verdict::Verdict;
use sim_core::Shown;

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
    let revision = args.revision.map(Revision::from);
    let assumptions = Assumptions {
        has_stall_slot_erratum: revision.map(Revision::has_stall_slot_erratum),
        has_external_llc: args.extllc,
        ..Assumptions::default()
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut verdict = Verdict::Good;
    let mut unreadable = Vec::new();
    for file in &args.files {
        match tables(file, tolerance) {
            Ok(tables) => match write_tables(&mut out, file, &tables, &assumptions)? {
                Standing::Refuted => verdict = Verdict::Refuted,
                Standing::Good => {}
                Standing::Untested => unreadable.push(untested(file, &tables, &assumptions)),
            },
            Err(error) => unreadable.push(crate::failure::message(&error)),
        }
    }
    out.flush()?;
    if !unreadable.is_empty() {
        anyhow::bail!("{}", unreadable.join("\nn2sim: "));
    }
    Ok(verdict)
}

fn tolerance(args: &CheckArgs) -> anyhow::Result<Tolerance> {
    match args.tolerance {
        None => Ok(Tolerance::Usual),
        Some(percent) if (0.0..=100.0).contains(&percent) => Ok(Tolerance::Given(percent / 100.0)),
        Some(percent) => anyhow::bail!("--tolerance {percent}: give percent, from 0 to 100"),
    }
}

fn tables(file: &Path, tolerance: Tolerance) -> anyhow::Result<Vec<CountTable>> {
    let text =
        input::text(file).with_context(|| format!("cannot read the counts {}", file.shown()))?;
    count_table::read(&text, tolerance).map_err(|error| match error.line() {
        Some(line) => anyhow::anyhow!("{}:{line}: {error}", file.shown()),
        None => anyhow::anyhow!("{}: {error}", file.shown()),
    })
}

/// Writes the results of a file's tables. Returns their combined result.
fn write_tables(
    out: &mut impl Write,
    file: &Path,
    tables: &[CountTable],
    assumptions: &Assumptions,
) -> io::Result<Standing> {
    let mut all = Standing::Untested;
    for table in tables {
        let assumptions = Assumptions { is_part_of_code: table.is_function, ..*assumptions };
        match write_table(out, file, table, &assumptions)? {
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
    Ok(all)
}

/// Returns the reason why nothing could be checked, and what to count for a check.
fn untested(file: &Path, tables: &[CountTable], assumptions: &Assumptions) -> String {
    let near = tables.iter().find_map(|table| {
        let count = |event: PmuEvent| table.counts.get(&event).copied();
        let assumptions = Assumptions { is_part_of_code: table.is_function, ..*assumptions };
        identities::nearest(count, &assumptions)
    });
    let remedy = match near {
        Some((rule, missing)) => {
            let names: Vec<String> = missing.iter().map(|event| event.perf_name()).collect();
            format!("count {} together with them, for {rule}", names.join(","))
        }
        None => String::from(
            "count the events of a sum together, such as l1d_cache,l1d_cache_rd,l1d_cache_wr",
        ),
    };
    format!(
        "{}: nothing could be checked: no rule has all of its events in one table; {remedy}",
        file.shown()
    )
}

/// Writes the result of one table.
fn write_table(
    out: &mut impl Write,
    file: &Path,
    table: &CountTable,
    assumptions: &Assumptions,
) -> io::Result<Standing> {
    let count = |event: PmuEvent| -> Option<Count> { table.counts.get(&event).copied() };
    let check = identities::check(count, assumptions);
    let doubts = lint::doubts(count, assumptions);
    write_summary(out, file, table, &check, doubts.len())?;
    for violation in &check.violations {
        let cause = cause::usual_cause(violation, count, assumptions);
        write_violation(out, violation, cause)?;
    }
    for two in &table.two_names {
        let ((first_name, first), (second_name, second)) = (&two.first, &two.second);
        writeln!(
            out,
            "  {first_name} = {second_name} does not hold: {first} against {second} (one event)"
        )?;
        writeln!(out, "    usual cause: {}", Cause::Windows)?;
    }
    for doubt in &doubts {
        writeln!(out, "  doubtful: {doubt}")?;
        writeln!(out, "    usual cause: {}", doubt.cause)?;
    }
    write_remarks(out, table)?;
    if let Some(has_erratum) = check.found_erratum {
        write_revision(out, has_erratum)?;
    }
    let is_good = check.violations.is_empty() && doubts.is_empty() && table.two_names.is_empty();
    Ok(match check.tested {
        _ if !is_good => Standing::Refuted,
        0 => Standing::Untested,
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

fn write_summary(
    out: &mut impl Write,
    file: &Path,
    table: &CountTable,
    check: &Check,
    doubts: usize,
) -> io::Result<()> {
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
    match doubts {
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
    writeln!(out, "    usual cause: {cause}")
}

/// Writes remarks that are not faults but explain what was left out.
fn write_remarks(out: &mut impl Write, table: &CountTable) -> io::Result<()> {
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
    Ok(())
}
