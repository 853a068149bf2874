//! Requests that the events of a metric of the mesh count more or less than its claim, in the
//! numbers of a run.

use super::evidence::MeshEvidence;
use super::reason::MeshReason;
use crate::truth::{Truth, TruthUnit};
use crate::validator::reason::Reason;

/// Returns the reason of a difference from a truth: what other requests count, if they make it up.
pub(super) fn difference(
    truth: Truth,
    difference: f64,
    tolerance: f64,
    run: &MeshEvidence,
) -> Reason {
    let count = |truth| run.truths.value(truth).unwrap_or(0.0);
    let base = truth.quotient().map_or(truth, |quotient| quotient.part);
    let lines = in_lines(truth, run);
    let terms = match base {
        Truth::MeshMovedLines | Truth::MeshCoreBytes => moved(&count),
        Truth::MeshSlcBytes | Truth::MeshSlcLines => return Reason::InMesh(slc(&count)),
        Truth::MeshPeerLines => return Reason::InMesh(peers(&count)),
        _ => return Reason::Unexplained,
    };
    let sum: f64 = terms.iter().map(|(amount, _)| amount).sum();
    if lines == 0.0 || (difference - sum * lines).abs() > tolerance {
        return Reason::Unexplained;
    }
    let text = terms.into_iter().filter(|(amount, _)| *amount != 0.0).map(|(_, text)| text);
    Reason::InMesh(MeshReason::Counts(text.collect::<Vec<_>>().join("; ")))
}

/// Returns the value of one line in the unit of a truth.
fn in_lines(truth: Truth, run: &MeshEvidence) -> f64 {
    let Some(quotient) = truth.quotient() else { return 1.0 };
    let whole = run.truths.value(quotient.whole).unwrap_or(0.0);
    let line = if truth.unit() == TruthUnit::BytesPerSecond { 64.0 } else { 1.0 };
    if whole > 0.0 { quotient.per * line / whole } else { 0.0 }
}

/// Returns the requests that count beside the lines that move, and lines without a counted
/// request: signed numbers of lines.
fn moved(count: &dyn Fn(Truth) -> f64) -> Vec<(f64, String)> {
    let asked = count(Truth::MeshReads) + count(Truth::MeshReadUniques);
    // Lines that came for MakeReadUnique, because the core had lost its copy.
    let with_line = (count(Truth::MeshLines) - asked).max(0.0);
    let without = (count(Truth::MeshMakeReadUniques) - with_line).max(0.0);
    let evicts = count(Truth::MeshWriteEvicts);
    vec![
        (-evicts, format!("{evicts} WriteEvictOrEvict move a clean line and are not in the sum")),
        (without, format!("{without} MakeReadUnique move no line, because the core has a copy")),
    ]
}

/// Returns the hits of the system level cache that supply no line.
fn slc(count: &dyn Fn(Truth) -> f64) -> MeshReason {
    let [hits, lines, peers] =
        [Truth::MeshSlcHits, Truth::MeshSlcLines, Truth::MeshPeerLines].map(count);
    let writes = count(Truth::MeshWriteBacks) + count(Truth::MeshWriteEvicts);
    let owner = count(Truth::MeshMakeReadUniques) + count(Truth::MeshMakeUniques);
    MeshReason::Counts(format!(
        "{hits} look-ups hit the system level cache, which supplied {lines} lines: hits include \
         look-ups that need no line ({writes} copy-backs and {owner} requests for ownership in \
         all) and those whose line another core supplied ({peers} lines in all)"
    ))
}

/// Returns how lines of other cores overlap with look-ups.
fn peers(count: &dyn Fn(Truth) -> f64) -> MeshReason {
    let [peers, lines] = [Truth::MeshPeerLines, Truth::MeshLines].map(count);
    MeshReason::Counts(format!(
        "{peers} of {lines} lines came from other cores; each of them is a hit or a miss of the \
         system level cache as well"
    ))
}
