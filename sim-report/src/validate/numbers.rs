//! Values and errors of verdicts, in the unit of their ground truth.

use sim_metrics::validator::Verdict;
use sim_metrics::{Truth, TruthUnit};

use crate::perf_stat::grouped;

/// Returns the error by which runs are compared: percentage points for shares, otherwise percent of
/// the true value.
pub fn error_of(verdict: &Verdict) -> Option<f64> {
    match verdict.truth?.unit() {
        TruthUnit::Share => verdict.difference().map(|difference| 100.0 * difference),
        _ => verdict.relative().map(|relative| 100.0 * relative),
    }
}

/// Formats the error with its unit: `+3.20 pp` or `-12.0 %`.
pub fn error_text(verdict: &Verdict) -> String {
    in_unit(verdict.truth, error_of(verdict))
}

/// Returns the error that multiplexing on six counters adds, in the unit of [`error_of`].
pub(super) fn multiplexing_error(verdict: &Verdict) -> Option<f64> {
    let added = verdict.multiplexing()?;
    match verdict.truth.map(Truth::unit) {
        Some(TruthUnit::Share) => Some(100.0 * added),
        _ => verdict.value.filter(|value| *value != 0.0).map(|value| 100.0 * added / value.abs()),
    }
}

/// Formats an error in the unit of the errors of a truth.
pub(super) fn in_unit(truth: Option<Truth>, error: Option<f64>) -> String {
    let is_share = truth.is_some_and(|truth| truth.unit() == TruthUnit::Share);
    match error {
        None => String::from("-"),
        Some(error) if is_share => format!("{:+.2} pp", rounded(error, 100.0)),
        Some(error) => format!("{:+.1} %", rounded(error, 10.0)),
    }
}

/// Rounds to a fraction of one and drops the sign of zero.
pub(super) fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts + 0.0
}

/// Formats a value in the unit of its truth.
pub fn value_text(truth: Option<Truth>, value: Option<f64>) -> String {
    let Some(value) = value else { return String::from("-") };
    match truth.map(Truth::unit) {
        Some(TruthUnit::Share) => format!("{:.2} %", rounded(100.0 * value, 100.0)),
        Some(
            TruthUnit::PerKiloInstruction
            | TruthUnit::PerCycle
            | TruthUnit::CyclesEach
            | TruthUnit::SlotsEach
            | TruthUnit::PerKiloMeshCycle
            | TruthUnit::PerRequest
            | TruthUnit::Seconds,
        )
        | None => number_text(value),
        Some(TruthUnit::BytesPerSecond) => bandwidth_text(value),
        Some(_) if value.fract() != 0.0 && value.abs() < WHOLE_MIN => number_text(value),
        Some(_) if (0.0..WIDE_MIN).contains(&value) => grouped(value.round() as u64),
        Some(_) if value.abs() < WIDE_MIN => format!("{value:.0}"),
        Some(_) => number_text(value),
    }
}

/// Returns the columns of both revisions and of six counters.
pub(super) fn more_columns(columns: [String; 4]) -> String {
    columns.iter().map(|column| format!(" {column:>10}")).collect()
}

/// Smallest count that is printed without decimals.
const WHOLE_MIN: f64 = 10.0;
/// Smallest number with too many digits for a column.
const WIDE_MIN: f64 = 1e12;
/// Smallest number below 1 whose leading zeros fit in a column.
const SMALL_MIN: f64 = 1e-4;

/// Formats bytes per second: `35.46 GB/s`.
fn bandwidth_text(value: f64) -> String {
    let units = [(1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s")];
    let (size, unit) =
        units.into_iter().find(|(size, _)| value.abs() >= *size).unwrap_or((1.0, "B/s"));
    format!("{:.2} {unit}", value / size)
}

/// Formats a number with three decimals, or a number below 1 with four significant digits.
pub(super) fn number_text(value: f64) -> String {
    match value.abs() {
        0.0 => String::from("0.000"),
        size if (1.0..1e7).contains(&size) => format!("{:.3}", rounded(value, 1000.0)),
        size if (1e7..WIDE_MIN).contains(&size) => format!("{value:.0}"),
        size if (SMALL_MIN..1.0).contains(&size) => {
            let zeros = (-size.log10()).floor() as usize;
            format!("{value:.*}", zeros + 4)
        }
        _ => format!("{value:.3e}"),
    }
}
