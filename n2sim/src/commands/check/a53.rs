//! Scenario files for the Cortex-A53.

use std::io::{self, Write};

use anyhow::Context;
use sim_core::A53Event;
use sim_scenario::a53::{self, Case, Measure, Verdict};

use crate::files::a53_config;
use crate::shared_args::MachineArgs;

/// Width of the column of event names.
const NAME_WIDTH: usize = 24;
/// Width of a column of counts.
const COUNT_WIDTH: usize = 10;

/// Runs a case of a file.
pub(super) fn run(file: &str, case: &Case, machine: &MachineArgs) -> anyhow::Result<Verdict> {
    let context = || format!("{file}: {}", case.test);
    let document = a53_config::document(machine)?;
    let config = a53::configure(case, document).with_context(context)?;
    a53::run_case(case, &config).with_context(|| file.to_owned())
}

/// Writes what each core counts in a case, with what the case expects: all that is not 0, or these
/// events.
pub(super) fn write(
    out: &mut impl Write,
    case: &Case,
    verdict: &Verdict,
    events: &[A53Event],
) -> io::Result<()> {
    let outcome = if verdict.holds() { "holds" } else { "FAILS" };
    writeln!(out, "{} {outcome}: {} ({})", case.test, case.claim, case.guide)?;
    for (core, result) in verdict.outcomes.iter().enumerate() {
        let heading = format!("core {core}");
        let (counted, expected) = ("counted", "expected");
        writeln!(out, "  {heading:<NAME_WIDTH$} {counted:>COUNT_WIDTH$} {expected:>COUNT_WIDTH$}")?;
        for measure in Measure::all() {
            let count = measure.of(result);
            let bound = case.expect.iter().find(|own| own.core == core && own.measure == measure);
            let is_asked = events.iter().any(|event| measure == Measure::Event(*event));
            if !events.is_empty() && !is_asked {
                continue;
            }
            if !is_asked && count == 0 && bound.is_none_or(|own| own.bound.holds(0)) {
                continue;
            }
            let bound = bound.map_or(String::from("any"), |own| own.bound.to_string());
            let name = measure.name();
            writeln!(out, "  {name:<NAME_WIDTH$} {count:>COUNT_WIDTH$} {bound:>COUNT_WIDTH$}")?;
        }
    }
    Ok(())
}
