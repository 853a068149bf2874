//! Reader for the lists of Linux `tools/perf/pmu-events`: arrays of events and metrics.
//!
//! An entry with `ArchStdEvent` takes missing fields from the entry of that name in the lists for
//! all Arm cores. These lists define nothing themselves, unless they are the only ones given.
//!
//! Entries of the `Unit` `arm_cmn` are of the mesh: their formulas name its events alone, without
//! the PMU.

use serde_json::{Map, Value};

use super::contents::{DeclaredEvent, MetricFile};
use crate::formula::event_use::TIMES;
use crate::formula::{Formula, MetricFormula, Scale};

type Entry = Map<String, Value>;

/// Unit of the entries of the mesh, and its PMU in the name of an event.
const MESH_UNIT: &str = "arm_cmn";
const MESH_PMU: &str = "arm_cmn_0";

/// Lists for all Arm cores, stored next to the directories of the cores.
pub const STANDARD: [&str; 3] = ["common-and-microarch.json", "recommended.json", "sbsa.json"];

/// Reads lists that belong together.
pub(super) fn read(lists: &[(&str, Vec<Value>)]) -> MetricFile {
    let mut file = MetricFile::default();
    let standard: Vec<&Entry> =
        lists.iter().flat_map(|(_, list)| list).filter_map(Value::as_object).collect();
    let is_standard = |name: &str| STANDARD.iter().any(|standard| name.ends_with(standard));
    let has_core = lists.iter().any(|(name, _)| !is_standard(name));
    for (name, list) in lists.iter().filter(|(name, _)| !has_core || !is_standard(name)) {
        for (number, value) in list.iter().enumerate() {
            let place = format!("{name}: entry {}", number + 1);
            match value.as_object() {
                Some(entry) => read_entry(&mut file, name, &place, entry, &standard),
                None => file.faults.push(format!("{place}: expected an object")),
            }
        }
    }
    file
}

fn read_entry(file: &mut MetricFile, name: &str, place: &str, own: &Entry, all: &[&Entry]) {
    let wanted = text(own, "ArchStdEvent");
    let base = wanted.and_then(|wanted| all.iter().find(|entry| defines(entry, wanted)).copied());
    let fields = Fields { own, base };
    let field = |key| fields.get(key);
    let metric = field("MetricName").or(wanted.filter(|_| own.contains_key("MetricExpr")));
    if let Some(metric) = metric {
        let missing = missing_unit(&fields, wanted);
        if let Some(missing) = &missing {
            file.faults.push(format!("{place}: {metric} {missing}"));
        }
        return match field("MetricExpr") {
            Some(expression) => {
                let metric = metric_of(metric, expression, name, &fields);
                let metric = MetricFormula { missing, ..metric };
                let is_of_mesh = field("Unit") == Some(MESH_UNIT);
                file.metrics.push(if is_of_mesh { on_mesh(metric, all) } else { metric });
            }
            None => file.faults.push(format!("{place}: the metric {metric} has no MetricExpr")),
        };
    }
    let Some(event) = field("EventName").or(wanted) else {
        // Lists of other kinds, such as the core's aliases, are stored in the same directories.
        return;
    };
    if field("Unit") == Some(MESH_UNIT) {
        // The PMU of the mesh knows its events itself.
        return;
    }
    let code = match field("EventCode").or_else(|| field("ConfigCode")).map(number) {
        Some(None) => {
            let given = field("EventCode").unwrap_or_default();
            file.faults.push(format!("{place}: '{given}' is not an event number"));
            return;
        }
        Some(code) => code,
        None => None,
    };
    file.events.push(DeclaredEvent { name: event.to_owned(), code, source: name.to_owned() });
}

/// Returns what must be provided so that the unit of a metric is known. The lists have moved a
/// factor of 100 from the unit into the formula over the years, so no unit is assumed.
fn missing_unit(fields: &Fields<'_>, wanted: Option<&str>) -> Option<String> {
    let is_known = fields.base.is_some() || fields.get("ScaleUnit").is_some();
    (wanted.is_some() && !is_known).then(|| {
        format!(
            "takes its unit from the lists for all Arm cores, which are not given: name their \
             folder too ({})",
            STANDARD.join(", ")
        )
    })
}

/// Fields of an entry, with those of the entry that it is based on.
struct Fields<'a> {
    own: &'a Entry,
    base: Option<&'a Entry>,
}

impl<'a> Fields<'a> {
    fn get(&self, key: &str) -> Option<&'a str> {
        text(self.own, key).or_else(|| text(self.base?, key))
    }
}

fn metric_of(metric: &str, expression: &str, source: &str, fields: &Fields<'_>) -> MetricFormula {
    let field = |key| fields.get(key);
    let groups = field("MetricGroup").unwrap_or_default().split(';').map(str::trim);
    MetricFormula {
        scale: field("ScaleUnit").and_then(Scale::parse).unwrap_or_default(),
        description: field("BriefDescription").unwrap_or_default().to_owned(),
        groups: groups.filter(|group| !group.is_empty()).map(str::to_owned).collect(),
        threshold: field("MetricThreshold").map(Formula::parse),
        claims: field("Claims").map(str::to_owned),
        ..MetricFormula::new(metric, expression, source)
    }
}

/// Returns a metric of the mesh with the PMU in the names of its events.
fn on_mesh(metric: MetricFormula, all: &[&Entry]) -> MetricFormula {
    let is_metric = |name: &str| all.iter().any(|entry| text(entry, "MetricName") == Some(name));
    let with_pmu = |name: &str| {
        let is_time = TIMES.iter().any(|(time, _)| *time == name);
        let is_event = !is_time && !name.contains('/') && !is_metric(name);
        is_event.then(|| format!("{MESH_PMU}/{name}/"))
    };
    let rename = |formula: Formula| formula.renamed(with_pmu);
    let threshold = metric.threshold.map(|threshold| threshold.map(rename));
    MetricFormula { formula: metric.formula.map(rename), threshold, ..metric }
}

/// Returns whether this is the entry that `ArchStdEvent` names.
fn defines(entry: &Entry, name: &str) -> bool {
    let is_named = |key| text(entry, key).is_some_and(|own| own.eq_ignore_ascii_case(name));
    is_named("EventName") || is_named("MetricName")
}

fn text<'a>(entry: &'a Entry, key: &str) -> Option<&'a str> {
    entry.get(key).and_then(Value::as_str)
}

fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NamedText, read};
    use super::*;

    const CORE: &str = r#"[
        {"ArchStdEvent": "bound", "MetricExpr": "100 * STALL_SLOT / (CPU_CYCLES * #slots)"},
        {"ArchStdEvent": "LD_SPEC", "PublicDescription": "loads"},
        {"MetricName": "ipc", "MetricExpr": "INST_RETIRED / CPU_CYCLES", "MetricGroup": "A;B",
         "ScaleUnit": "1per cycle", "MetricThreshold": "ipc < 1"}
    ]"#;
    const STANDARD_LIST: &str = r#"[
        {"MetricName": "bound", "MetricExpr": "1", "ScaleUnit": "1percent of slots"},
        {"EventName": "LD_SPEC", "EventCode": "0x70"}
    ]"#;

    fn both(core: &str) -> MetricFile {
        let files = [
            NamedText { name: "core.json", text: core },
            NamedText { name: "sbsa.json", text: STANDARD_LIST },
        ];
        read(&files).expect("two lists")
    }

    #[test]
    fn entries_take_missing_fields_from_the_standard_lists() {
        let file = both(CORE);
        assert_eq!(file.faults, Vec::<String>::new());
        let [bound, ipc] = &file.metrics[..] else { panic!("{:?}", file.metrics) };
        assert_eq!((bound.name.as_str(), bound.scale.unit.as_str()), ("bound", "percent of slots"));
        assert!(bound.formula.as_ref().expect("good").text().contains("#slots"));
        assert_eq!(ipc.groups, ["A", "B"]);
        assert!(matches!(ipc.threshold, Some(Ok(_))));
        let codes: Vec<Option<u32>> = file.events.iter().map(|event| event.code).collect();
        assert_eq!(codes, [Some(0x70)]);
    }

    #[test]
    fn a_metric_without_its_standard_list_is_reported() {
        let alone = read(&[NamedText { name: "core.json", text: CORE }]).expect("a list");
        assert_eq!(alone.metrics.len(), 2);
        let [fault] = &alone.faults[..] else { panic!("{:?}", alone.faults) };
        assert!(fault.starts_with("core.json: entry 1: bound takes its unit"), "{fault}");
        let missing = |metric: &MetricFormula| metric.missing.is_some();
        assert_eq!(alone.metrics.iter().map(missing).collect::<Vec<_>>(), [true, false]);
        assert!(!both(CORE).metrics.iter().any(missing));
        let own_unit = CORE.replacen("},", ", \"ScaleUnit\": \"1percent of slots\"},", 1);
        let alone = read(&[NamedText { name: "core.json", text: &own_unit }]).expect("a list");
        assert_eq!(alone.faults, Vec::<String>::new(), "the entry has its own unit");
        assert!(!alone.metrics.iter().any(missing));
    }

    #[test]
    fn metrics_of_the_mesh_name_events_of_its_pmu() {
        let file = both(
            r#"[{"MetricName": "miss", "MetricExpr": "hnf_cache_miss / look_ups / duration_time",
                 "ScaleUnit": "100%", "Unit": "arm_cmn"},
                {"MetricName": "look_ups", "MetricExpr": "hnf_slc_sf_cache_access", "Unit": "arm_cmn"},
                {"EventName": "hnf_cache_miss", "EventIdCode": "0x1", "NodeType": "0x5", "Unit": "arm_cmn"}]"#,
        );
        assert_eq!((file.faults.len(), file.events.len()), (0, 0), "{file:?}");
        let formula = file.metrics[0].formula.as_ref().expect("a formula");
        assert_eq!(formula.names(), ["arm_cmn_0/hnf_cache_miss/", "look_ups", "duration_time"]);
        assert_eq!(formula.text(), "hnf_cache_miss / look_ups / duration_time", "as written");
    }

    #[test]
    fn missing_fields_are_reported_and_the_rest_is_read() {
        let file = both(
            r#"[3, {"MetricName": "a"}, {"EventName": "X", "EventCode": "zz"}, {"Alias": "y"},
                {"MetricName": "b", "MetricExpr": "1 +"}]"#,
        );
        assert_eq!(file.faults.len(), 3, "{:?}", file.faults);
        assert!(file.faults[1].starts_with("core.json: entry 2"));
        assert!(file.metrics.iter().any(|metric| metric.name == "b" && metric.formula.is_err()));
    }
}
