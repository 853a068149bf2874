//! Reader for Arm's telemetry JSON of a core (one object with `events`, `metrics`, `groups`), and
//! for Arm's plain event lists, which contain only the events, as an array.

use serde_json::{Map, Value};

use super::contents::{DeclaredCore, DeclaredEvent, MetricFile};
use crate::formula::{MetricFormula, Scale};

type Object = Map<String, Value>;

/// Reads one document.
pub(super) fn read(name: &str, value: &Value) -> MetricFile {
    let mut file = MetricFile { core: core(value), ..MetricFile::default() };
    match value.get("events") {
        Some(Value::Object(events)) => {
            for (event, entry) in events {
                declare(&mut file, name, event, entry);
            }
        }
        Some(Value::Array(events)) => {
            for entry in events {
                let event = entry.get("name").and_then(Value::as_str).unwrap_or_default();
                declare(&mut file, name, event, entry);
            }
        }
        _ => file.faults.push(format!("{name}: there are no events")),
    }
    let groups = value.pointer("/groups/metrics").and_then(Value::as_object);
    for (metric, entry) in value.get("metrics").and_then(Value::as_object).into_iter().flatten() {
        match entry.get("formula").and_then(Value::as_str) {
            Some(formula) => file.metrics.push(metric_of(metric, formula, entry, name, groups)),
            None => file.faults.push(format!("{name}: the metric {metric} has no formula")),
        }
    }
    file
}

fn core(value: &Value) -> DeclaredCore {
    let product = value.get("product_configuration");
    let field = |key: &str| product?.get(key);
    let number = |key: &str| number(field(key)?);
    DeclaredCore {
        name: field("product_name").or(value.get("cpu")).and_then(Value::as_str).map(str::to_owned),
        part: number("part_num"),
        slots: number("num_slots").filter(|slots| *slots > 0),
        patch: number("minor_revision").and_then(|patch| u8::try_from(patch).ok()),
    }
}

fn declare(file: &mut MetricFile, source: &str, event: &str, entry: &Value) {
    match entry.get("code").and_then(number) {
        Some(code) if !event.is_empty() => file.events.push(DeclaredEvent {
            name: event.to_owned(),
            code: Some(code),
            source: source.to_owned(),
        }),
        _ => file.faults.push(format!("{source}: the event '{event}' has no name or no number")),
    }
}

pub(super) fn metric_of(
    metric: &str,
    formula: &str,
    entry: &Value,
    source: &str,
    groups: Option<&Object>,
) -> MetricFormula {
    let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let contains = |group: &Value| {
        let members = group.get("metrics").and_then(Value::as_array);
        members.is_some_and(|members| members.iter().any(|member| member == metric))
    };
    let groups = groups.into_iter().flatten().filter(|(_, group)| contains(group));
    MetricFormula {
        scale: Scale { factor: 1.0, unit: text("units") },
        description: text("description"),
        groups: groups.map(|(name, _)| name.clone()).collect(),
        claims: entry.get("claims").and_then(Value::as_str).map(str::to_owned),
        ..MetricFormula::new(metric, formula, source)
    }
}

/// Parses a number given as such, or as text in decimal or with `0x`.
pub(super) fn number(value: &Value) -> Option<u32> {
    if let Some(number) = value.as_u64() {
        return u32::try_from(number).ok();
    }
    let text = value.as_str()?;
    match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NamedText, read};
    use super::*;

    fn one(text: &str) -> MetricFile {
        read(&[NamedText { name: "t.json", text }]).expect("a document")
    }

    #[test]
    fn a_document_gives_metrics_events_and_the_core() {
        let file = one(
            r#"{"product_configuration": {"product_name": "Core", "part_num": "0xd49", "num_slots": 5,
                "minor_revision": "3"},
                "events": {"CPU_CYCLES": {"code": "0x0011"}, "BAD": {}},
                "metrics": {"ipc": {"formula": "A / B", "units": "per cycle"}, "none": {}},
                "groups": {"metrics": {"General": {"metrics": ["ipc"]}}}}"#,
        );
        let core = DeclaredCore {
            name: Some("Core".to_owned()),
            part: Some(0xd49),
            slots: Some(5),
            patch: Some(3),
        };
        assert_eq!(file.core, core);
        assert_eq!(
            (file.metrics[0].groups.as_slice(), file.faults.len()),
            (&["General".to_owned()][..], 2)
        );
        assert_eq!(
            (file.metrics[0].scale.unit.as_str(), file.events[0].code),
            ("per cycle", Some(0x11))
        );
    }

    #[test]
    fn a_plain_list_gives_events() {
        let file = one(r#"{"cpu": "Core", "events": [{"code": 17, "name": "CPU_CYCLES"}]}"#);
        assert_eq!((file.events.len(), file.core.name.as_deref()), (1, Some("Core")));
        assert_eq!(one("{}").faults, ["t.json: there are no events"]);
        assert_eq!(one(r#"{"events": {"A": {"code": 99999999999}}}"#).faults.len(), 1);
    }
}
