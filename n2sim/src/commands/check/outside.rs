//! Text about counts that the flows of the guide rule out.

use std::io::{self, Write};

use sim_core::PmuEvent;
use sim_metrics::Cause;
use sim_space::Inequality;

/// Largest share by which counts differ that were read at different moments of one run.
const MOMENTS_SHARE: f64 = 0.01;

/// Writes an inequality, the values of its events, why it must hold, and the usual cause.
pub(super) fn write(
    out: &mut impl Write,
    inequality: &Inequality,
    count: impl Fn(PmuEvent) -> Option<u64>,
) -> io::Result<()> {
    let [left, right] = inequality.values(&count).unwrap_or_default();
    let apart = left.abs_diff(right);
    let share = apart as f64 / left.max(right).max(1) as f64;
    writeln!(
        out,
        "  {inequality} does not hold: {left} against {right} (guide {}), {apart} apart ({:.2} %)",
        inequality.sections().join(", "),
        share * 100.0
    )?;
    let values: Vec<String> = inequality
        .events()
        .filter_map(|event| Some(format!("{} {}", event.mnemonic(), count(event)?)))
        .collect();
    writeln!(out, "    counted: {}", values.join(", "))?;
    let is_of_flows = inequality.sections().iter().any(|section| section.starts_with('5'));
    let reason = match inequality.rules() {
        [] => String::from("no path of an access through the flows counts so (docs/space.md)"),
        rules if is_of_flows => format!("by the flows and {}", rules.join("; ")),
        rules => format!("because {}", rules.join("; ")),
    };
    writeln!(out, "    {reason}")?;
    let cause = if share < MOMENTS_SHARE { Cause::Moments } else { Cause::Windows };
    writeln!(out, "    usual cause: {cause}")
}
