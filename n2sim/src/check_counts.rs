//! `n2sim check --counts`: holds counts of any machine to the identities of the event table.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use sim_machine::Revision;
use sim_metrics::identities::{self, Assumptions};

use crate::Verdict;
use crate::args::CheckArgs;
use crate::count_table::{self, CountTable};
use crate::input;

/// Checks every table of every file and prints what does not hold.
pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<Verdict> {
    if !(0.0..=100.0).contains(&args.tolerance) {
        anyhow::bail!("--tolerance {}: give percent, from 0 to 100", args.tolerance);
    }
    let revision = args.revision.map(Revision::from);
    let assumptions = Assumptions {
        has_stall_slot_erratum: revision.map(Revision::has_stall_slot_erratum),
        has_external_llc: args.extllc,
        tolerance: args.tolerance / 100.0,
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut verdict = Verdict::Good;
    for file in &args.files {
        for table in tables(file)? {
            if !write_check(&mut out, file, &table, &assumptions)? {
                verdict = Verdict::Refuted;
            }
        }
    }
    out.flush()?;
    Ok(verdict)
}

fn tables(file: &Path) -> anyhow::Result<Vec<CountTable>> {
    let text =
        input::text(file).with_context(|| format!("cannot read the counts {}", file.display()))?;
    count_table::read(&text).with_context(|| file.display().to_string())
}

/// Writes the result of one table; true if all holds.
fn write_check(
    out: &mut impl Write,
    file: &Path,
    table: &CountTable,
    assumptions: &Assumptions,
) -> io::Result<bool> {
    let check = identities::check(|event| table.counts.get(&event).copied(), assumptions);
    let whose = match table.whose.as_str() {
        "" => String::new(),
        whose => format!(" ({whose})"),
    };
    writeln!(
        out,
        "{}{whose}: {} events, {} rules tested, {} do not hold, {} left out (not counted)",
        file.display(),
        table.counts.len(),
        check.tested,
        check.violations.len(),
        check.left_out
    )?;
    for violation in &check.violations {
        writeln!(out, "  {violation}")?;
    }
    if table.scaled > 0 {
        writeln!(
            out,
            "  {} counts are estimates (counted for a part of the time); see --tolerance",
            table.scaled
        )?;
    }
    if !table.unknown.is_empty() {
        writeln!(out, "  no event of this core: {}", table.unknown.join(", "))?;
    }
    Ok(check.violations.is_empty())
}
