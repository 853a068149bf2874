//! Differences of counts between two configurations with their causes, as text, CSV and JSON, or
//! over many traces as Markdown.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::json;
use sim_core::PmuEvent;
use sim_lab::diff::{Cause, Diff, EventDiff, Evidence};

use crate::perf_stat::grouped;

/// Most causes named after an event in text; each of the rest has a few percent.
const CAUSES_SHOWN: usize = 3;

/// Smallest change that is printed as a factor.
const FACTOR_LEAST: f64 = 9.0;

/// Names of the compared runs, for headings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The trace.
    pub trace: String,
    /// The first configuration.
    pub from: String,
    /// The second configuration.
    pub to: String,
}

/// Writes a human-readable table.
///
/// # Errors
/// The output cannot be written.
pub fn write_text(out: &mut impl Write, names: &Names, diff: &Diff) -> io::Result<()> {
    let Names { trace, from, to } = names;
    writeln!(
        out,
        "\n '{trace}': from {from} to {to}, {} instructions\n",
        grouped(diff.instructions)
    )?;
    let (event, from, to, change) = ("event", "from", "to", "change");
    writeln!(out, " {event:<28} {from:>14} {to:>14} {change:>9}  because of")?;
    for event in &diff.events {
        let (name, from, to) = (event.event.perf_name(), grouped(event.from), grouped(event.to));
        let (change, causes) = (change_text(event), causes_text(diff, event));
        writeln!(out, " {name:<28} {from:>14} {to:>14} {change:>9}  {causes}")?;
    }
    writeln!(out, "\n {} events differ, {} do not. Keys:\n", diff.events.len(), diff.unchanged)?;
    for change in diff.causes.iter().flat_map(|cause| &cause.changes) {
        writeln!(out, "  {}: {} -> {}  {}", change.key, change.from, change.to, change.source)?;
    }
    writeln!(out)
}

/// Writes one line for each differing event and trace. The caller writes the column names first.
///
/// # Errors
/// The output cannot be written.
pub fn write_csv(
    out: &mut impl Write,
    names: &Names,
    diff: &Diff,
    separator: &str,
) -> io::Result<()> {
    for event in &diff.events {
        let change = event.change().map(|change| format!("{:.3}", change * 100.0));
        let fields = [
            names.trace.clone(),
            event.event.perf_name(),
            event.from.to_string(),
            event.to.to_string(),
            change.unwrap_or_default(),
            causes_of(diff, event).map(Cause::name).collect::<Vec<_>>().join(" "),
            how(event).to_owned(),
        ];
        writeln!(out, "{}", fields.join(separator))?;
    }
    Ok(())
}

/// Writes one JSON object for each trace, on one line.
///
/// # Errors
/// The output cannot be written.
pub fn write_json(out: &mut impl Write, names: &Names, diff: &Diff) -> io::Result<()> {
    let keys = diff.causes.iter().flat_map(|cause| &cause.changes).map(|change| {
        json!({"key": change.key, "from": change.from, "to": change.to, "source": change.source})
    });
    let events = diff.events.iter().map(|event| {
        json!({
            "event": event.event.perf_name(),
            "from": event.from,
            "to": event.to,
            "change": event.change(),
            "because": causes_of(diff, event).map(Cause::name).collect::<Vec<_>>(),
            "how": how(event),
        })
    });
    let object = json!({
        "trace": names.trace,
        "from": names.from,
        "to": names.to,
        "instructions": diff.instructions,
        "unchanged": diff.unchanged,
        "keys": keys.collect::<Vec<_>>(),
        "events": events.collect::<Vec<_>>(),
    });
    writeln!(out, "{object}")
}

/// Changes of one event over all traces.
#[derive(Default)]
struct Span {
    traces: usize,
    low: Option<f64>,
    high: Option<f64>,
    /// Traces in which the count was zero in the first configuration.
    from_zero: usize,
    timing: usize,
    /// Number of traces in which each cause (by its index) changed the event.
    causes: BTreeMap<usize, usize>,
}

/// Writes one table over all traces: the range of changes of each event, and the keys.
///
/// # Errors
/// The output cannot be written.
pub fn write_markdown(out: &mut impl Write, diffs: &[(Names, Diff)]) -> io::Result<()> {
    let Some((names, first)) = diffs.first() else { return Ok(()) };
    writeln!(out, "From `{}` to `{}`, over {} traces:\n", names.from, names.to, diffs.len())?;
    for (names, diff) in diffs {
        let (events, instructions) = (diff.events.len(), grouped(diff.instructions));
        writeln!(out, "* `{}`: {instructions} instructions, {events} events differ", names.trace)?;
    }
    writeln!(out, "\n| key | from | to | source |\n| --- | --- | --- | --- |")?;
    for change in first.causes.iter().flat_map(|cause| &cause.changes) {
        let (key, source) = (&change.key, &change.source);
        writeln!(out, "| `{key}` | {} | {} | {source} |", change.from, change.to)?;
    }
    writeln!(out, "\n| event | differs in | change | because of |\n| --- | --- | --- | --- |")?;
    for (event, span) in spans(diffs) {
        let causes = span
            .causes
            .iter()
            .map(|(cause, traces)| format!("`{}` ({traces})", first.causes[*cause].name()));
        let mut causes = causes.collect::<Vec<_>>().join(", ");
        if span.timing > 0 {
            causes.push_str(&format!("; timing alone in {}", span.timing));
        }
        let traces = format!("{} of {}", span.traces, diffs.len());
        writeln!(out, "| `{}` | {traces} | {} | {causes} |", event.perf_name(), span.range())?;
    }
    Ok(())
}

fn spans(diffs: &[(Names, Diff)]) -> Vec<(PmuEvent, Span)> {
    let mut spans: Vec<(PmuEvent, Span)> = Vec::new();
    for event in PmuEvent::ALL {
        let mut span = Span::default();
        let found = diffs.iter().flat_map(|(_, diff)| &diff.events).filter(|e| e.event == event);
        for diff in found {
            span.add(diff);
        }
        if span.traces > 0 {
            spans.push((event, span));
        }
    }
    spans
}

impl Span {
    fn add(&mut self, event: &EventDiff) {
        self.traces += 1;
        self.timing += usize::from(event.is_timing);
        match event.change() {
            Some(change) => {
                self.low = Some(self.low.map_or(change, |low| low.min(change)));
                self.high = Some(self.high.map_or(change, |high| high.max(change)));
            }
            None => self.from_zero += 1,
        }
        for cause in &event.causes {
            *self.causes.entry(*cause).or_default() += 1;
        }
    }

    fn range(&self) -> String {
        let mut parts = Vec::new();
        if let (Some(low), Some(high)) = (self.low, self.high) {
            let (low, high) = (percent(low), percent(high));
            parts.push(if low == high { low } else { format!("{low} to {high}") });
        }
        if self.from_zero > 0 {
            parts.push(format!("from 0 in {}", self.from_zero));
        }
        parts.join(", ")
    }
}

fn causes_of<'a>(diff: &'a Diff, event: &'a EventDiff) -> impl Iterator<Item = &'a Cause> {
    event.causes.iter().map(|&cause| &diff.causes[cause])
}

fn how(event: &EventDiff) -> &'static str {
    match (event.is_timing, event.evidence) {
        (true, _) => "timing",
        (false, Evidence::Alone) => "alone",
        (false, Evidence::Together) => "together",
    }
}

fn causes_text(diff: &Diff, event: &EventDiff) -> String {
    let names: Vec<String> = causes_of(diff, event).map(Cause::name).collect();
    if names.is_empty() {
        return String::from("no key alone, with or without the others");
    }
    let mut text = names.iter().take(CAUSES_SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > CAUSES_SHOWN {
        text.push_str(&format!(" and {} more", names.len() - CAUSES_SHOWN));
    }
    match how(event) {
        "alone" => text,
        how => format!("{text} ({how})"),
    }
}

fn change_text(event: &EventDiff) -> String {
    event.change().map_or_else(|| String::from("from 0"), percent)
}

/// Formats a change in percent, or as a factor if it is large.
fn percent(change: f64) -> String {
    let percent = change * 100.0;
    if change >= FACTOR_LEAST {
        return format!("x{:.1}", change + 1.0);
    }
    if percent.abs() < 0.005 { format!("{percent:+.4}%") } else { format!("{percent:+.2}%") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_lab::diff::Change;

    fn diff() -> Diff {
        let change = |key: &str, from: &str, to: &str| Cause {
            changes: vec![Change {
                key: key.to_owned(),
                from: from.to_owned(),
                to: to.to_owned(),
                source: "[measured]".to_owned(),
            }],
        };
        let event = |event, from, to, causes: &[usize], is_timing| EventDiff {
            event,
            from,
            to,
            causes: causes.to_vec(),
            evidence: Evidence::Alone,
            is_timing,
        };
        Diff {
            causes: vec![change("semantics.bus-unit", "\"a\"", "\"b\""), change("x.y", "1", "2")],
            events: vec![
                event(PmuEvent::CPU_CYCLES, 1000, 1001, &[1], true),
                event(PmuEvent::BUS_ACCESS_RD, 0, 20, &[0, 1], false),
            ],
            unchanged: 150,
            instructions: 1234,
        }
    }

    fn names(trace: &str) -> Names {
        Names { trace: trace.to_owned(), from: "guide".to_owned(), to: "silicon".to_owned() }
    }

    fn text(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).expect("memory can be written");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn each_event_is_followed_by_its_causes() {
        let text = text(|out| write_text(out, &names("a.n2t"), &diff()));
        let line =
            |name: &str| text.lines().find(|line| line.contains(name)).expect(name).to_owned();
        assert!(line("cpu_cycles").ends_with("+0.10%  x.y (timing)"), "{text}");
        assert!(line("bus_access_rd").ends_with("from 0  semantics.bus-unit, x.y"), "{text}");
        assert!(text.contains("  x.y: 1 -> 2  [measured]\n"), "{text}");
    }

    #[test]
    fn csv_and_json_hold_the_same_data() {
        let csv = text(|out| write_csv(out, &names("a.n2t"), &diff(), ","));
        assert!(csv.ends_with(",0,20,,semantics.bus-unit x.y,alone\n"), "{csv}");
        let json = text(|out| write_json(out, &names("a.n2t"), &diff()));
        let object: serde_json::Value = serde_json::from_str(&json).expect("an object");
        assert_eq!(object["events"][0]["how"], json!("timing"));
        assert_eq!(object["events"][1]["because"], json!(["semantics.bus-unit", "x.y"]));
    }

    #[test]
    fn markdown_shows_the_range_over_all_traces() {
        let mut second = diff();
        second.events[0].to = 1100;
        second.events[0].is_timing = false;
        let diffs = [(names("a.n2t"), diff()), (names("b.n2t"), second)];
        let text = text(|out| write_markdown(out, &diffs));
        let line =
            |name: &str| text.lines().find(|line| line.contains(name)).expect(name).to_owned();
        assert!(
            line("cpu_cycles")
                .contains(" | 2 of 2 | +0.10% to +10.00% | `x.y` (2); timing alone in 1 |"),
            "{text}"
        );
        assert!(line("bus_access_rd").contains("from 0 in 2"), "{text}");
    }
}
