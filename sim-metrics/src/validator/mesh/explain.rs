//! Requests that the events of a metric of the mesh count more or less than its claim, in the
//! numbers of a run.

use super::evidence::MeshEvidence;
use super::reason::MeshReason;
use crate::truth::{Truth, TruthUnit};

/// Returns whether a name is the event of look-ups at home nodes, as Arm or Linux calls it.
pub(super) fn is_look_up(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("slcsf_cache_access") || name.contains("slc_sf_cache_access")
}

/// Returns the reason why a value is not a truth: what other requests count, if their numbers make
/// up the value within the tolerance. `uses_look_ups` says whether the formula depends on them.
pub(super) fn difference(
    truth: Truth,
    value: f64,
    tolerance: f64,
    uses_look_ups: bool,
    run: &MeshEvidence,
) -> Option<MeshReason> {
    let count = |truth| run.truths.value(truth).unwrap_or(0.0);
    let part = truth.quotient().map_or(truth, |quotient| quotient.part);
    let is = |lines: f64, whole: Option<f64>| {
        let line = in_lines(truth, whole.unwrap_or_else(|| whole_of(truth, run)));
        line > 0.0 && (value - lines * line).abs() <= tolerance
    };
    // Level three of Arm's telemetry divides by the hits and the requests to memory.
    let targets = Some(count(Truth::MeshSlcHits) + count(Truth::MeshMemoryRequests))
        .filter(|_| truth.unit() == TruthUnit::Share);
    match part {
        Truth::MeshMovedLines | Truth::MeshCoreBytes => {
            let terms = moved(&count);
            let sum: f64 = terms.iter().map(|(amount, _)| amount).sum();
            let text = terms.into_iter().filter(|(amount, _)| *amount != 0.0).map(|(_, text)| text);
            let text = MeshReason::Counts(text.collect::<Vec<_>>().join("; "));
            is(count(Truth::MeshMovedLines) + sum, None).then_some(text)
        }
        Truth::MeshSlcBytes | Truth::MeshSlcLines => {
            let hits = count(Truth::MeshSlcHits);
            let is_hits = uses_look_ups && (is(hits, None) || is(hits, targets));
            is_hits.then(|| slc(&count))
        }
        Truth::MeshPeerLines => {
            let is_peers = uses_look_ups && is(count(Truth::MeshPeerLines), targets);
            is_peers.then(|| peers(&count))
        }
        _ => None,
    }
}

/// Returns the divisor of a truth in a run, or 1.
fn whole_of(truth: Truth, run: &MeshEvidence) -> f64 {
    truth.quotient().map_or(1.0, |own| run.truths.value(own.whole).unwrap_or(0.0))
}

/// Returns the value of one line in the unit of a truth, with a divisor.
fn in_lines(truth: Truth, whole: f64) -> f64 {
    let is_bytes = matches!(truth.unit(), TruthUnit::BytesPerSecond | TruthUnit::Bytes);
    let line = if is_bytes { 64.0 } else { 1.0 };
    let per = truth.quotient().map_or(1.0, |quotient| quotient.per);
    if whole > 0.0 { per * line / whole } else { 0.0 }
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
