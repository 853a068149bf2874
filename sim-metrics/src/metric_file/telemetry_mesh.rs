//! Reader for Arm's telemetry JSON of a mesh: metrics of the whole mesh, and those of each kind of
//! node below `components`. A metric may filter its events, such as the kind of request whose time
//! in a queue counts.

use serde_json::Value;

use super::contents::{DeclaredCore, MetricFile};
use super::telemetry::{metric_of, number};
use crate::formula::{Formula, MetricFormula};

/// Returns whether a document of Arm's telemetry is of a mesh.
pub(super) fn is_of_mesh(value: &Value) -> bool {
    value.get("components").is_some_and(Value::is_object)
}

/// Reads one document.
pub(super) fn read(name: &str, value: &Value) -> MetricFile {
    let product = value.pointer("/product_configuration/product_name").and_then(Value::as_str);
    let core = DeclaredCore { name: product.map(str::to_owned), ..DeclaredCore::default() };
    let mut file = MetricFile { core, ..MetricFile::default() };
    read_part(&mut file, name, value, value);
    let components = value.get("components").and_then(Value::as_object);
    for component in components.into_iter().flat_map(|all| all.values()) {
        read_part(&mut file, name, value, component);
    }
    let parts = components.into_iter().flat_map(|all| all.values()).chain([value]);
    for (group, names) in parts.flat_map(groups_of) {
        let is_read =
            |name: &Value| file.metrics.iter().any(|own| Some(&*own.name) == name.as_str());
        if !names
            .pointer("/metrics")
            .and_then(Value::as_array)
            .is_some_and(|all| all.iter().all(is_read))
        {
            file.partial_groups.push(group.clone());
        }
    }
    if file.metrics.is_empty() && file.faults.is_empty() {
        file.faults.push(format!("{name}: there are no metrics"));
    }
    file
}

/// Returns the groups of a part of the document.
fn groups_of(part: &Value) -> impl Iterator<Item = (&String, &Value)> {
    part.pointer("/groups/metrics").and_then(Value::as_object).into_iter().flatten()
}

/// Reads the metrics of the whole mesh or of a kind of node.
fn read_part(file: &mut MetricFile, source: &str, whole: &Value, part: &Value) {
    // Groups of the whole mesh have metrics of nodes as well.
    let groups =
        |value: &Value| value.pointer("/groups/metrics").and_then(Value::as_object).cloned();
    let mut all = groups(part).unwrap_or_default();
    if !std::ptr::eq(whole, part) {
        all.extend(groups(whole).unwrap_or_default());
    }
    for (name, entry) in part.get("metrics").and_then(Value::as_object).into_iter().flatten() {
        let Some(text) = entry.get("formula").and_then(Value::as_str) else {
            file.faults.push(format!("{source}: the metric {name} has no formula"));
            continue;
        };
        let filters = match filters(part, entry) {
            Ok(filters) => filters,
            Err(why) => {
                file.faults.push(format!("{source}: the metric {name} {why}"));
                continue;
            }
        };
        let filtered = |name: &str| {
            let (_, code) = filters.iter().find(|(event, _)| event == name)?;
            Some(format!("{name},occupid={code}"))
        };
        let formula = Formula::parse_with_shifts(text).map(|formula| formula.renamed(filtered));
        let metric = metric_of(name, text, entry, source, Some(&all));
        file.metrics.push(MetricFormula { formula, ..metric });
    }
}

/// Returns the events of a metric that a filter selects, with its number. Filters that select all
/// are left out.
fn filters(part: &Value, entry: &Value) -> Result<Vec<(String, u32)>, String> {
    let text = |value: &Value, key: &str| {
        value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let (mut filters, mut seen) = (Vec::new(), Vec::new());
    for filter in entry.get("filters").and_then(Value::as_array).into_iter().flatten() {
        let (event, name) = (text(filter, "event"), text(filter, "filter_name"));
        let chosen = filter.get("encodings").and_then(Value::as_array);
        let [Value::String(encoding)] = chosen.map(Vec::as_slice).unwrap_or_default() else {
            return Err(format!("does not name one encoding of the filter {name}"));
        };
        let known = part
            .get("filter_specification")
            .and_then(|specification| specification.get("filters")?.get(&name))
            .and_then(|filter| filter.get("encodings")?.get(encoding)?.get("encoding"));
        match known.and_then(number) {
            Some(_) if seen.contains(&event) => {
                return Err(format!("has a second filter on {event}; an event takes one"));
            }
            Some(0) => seen.push(event),
            Some(code) => {
                seen.push(event.clone());
                filters.push((event, code));
            }
            None => return Err(format!("names {name}.{encoding}, which no filter has")),
        }
    }
    Ok(filters)
}

#[cfg(test)]
mod tests {
    use super::super::{NamedText, read};
    use super::*;

    fn one(text: &str) -> MetricFile {
        read(&[NamedText { name: "mesh.json", text }]).expect("a document")
    }

    const MESH: &str = r#"{"product_configuration": {"product_name": "A mesh", "minor_revision": "0"},
        "events": {"SYS_FREQUENCY": {"title": "Clock"}},
        "metrics": {"bytes": {"formula": "rate * 64 * SYS_FREQUENCY", "units": "Bytes per second"}},
        "groups": {"metrics": {"Whole": {"metrics": ["bytes", "rate"]}}},
        "components": {"HNF": {
            "events": {"PMU_HNF_POCQ_OCCUPANCY": {"code": "0x000F"}},
            "filter_specification": {"filters": {"kind": {"encodings":
                {"all": {"encoding": 0}, "reads": {"encoding": 1}}}}},
            "groups": {"metrics": {"Node": {"metrics": ["rate"]}}},
            "metrics": {
                "rate": {"formula": "PMU_HNF_MC_REQS / SYS_CMN_CYCLES * 1000"},
                "all": {"formula": "(PMU_HNF_POCQ_OCCUPANCY << 12) / SYS_CMN_CYCLES",
                    "filters": [{"event": "PMU_HNF_POCQ_OCCUPANCY", "filter_name": "kind", "encodings": ["all"]}]},
                "reads": {"formula": "(PMU_HNF_POCQ_OCCUPANCY + 1 << 12) / SYS_CMN_CYCLES",
                    "filters": [{"event": "PMU_HNF_POCQ_OCCUPANCY", "filter_name": "kind", "encodings": ["reads"]}]},
                "odd": {"formula": "1",
                    "filters": [{"event": "X", "filter_name": "kind", "encodings": ["writes"]}]}}}}}"#;

    #[test]
    fn metrics_of_the_mesh_and_of_its_nodes_are_read() {
        let file = one(MESH);
        let names: Vec<&str> = file.metrics.iter().map(|metric| metric.name.as_str()).collect();
        assert_eq!(names, ["bytes", "all", "rate", "reads"]);
        assert_eq!(
            file.faults,
            ["mesh.json: the metric odd names kind.writes, which no filter has"]
        );
        let of = |name: &str| file.metrics.iter().find(|own| own.name == name).expect("read");
        let names = |name: &str| of(name).formula.as_ref().expect("a formula").names().to_vec();
        assert_eq!(names("all")[0], "PMU_HNF_POCQ_OCCUPANCY");
        assert_eq!(names("reads")[0], "PMU_HNF_POCQ_OCCUPANCY,occupid=1");
        let mut groups = of("rate").groups.clone();
        groups.sort_unstable();
        assert_eq!(groups, ["Node", "Whole"]);
        assert_eq!((file.core.patch, file.events.len()), (None, 0), "not those of a core");
    }

    #[test]
    fn a_shift_is_a_power_of_two_and_binds_looser_than_a_sum() {
        let file = one(MESH);
        let reads = file.metrics.iter().find(|metric| metric.name == "reads").expect("read");
        let catalog = crate::formula::Catalog::default();
        let linked = crate::formula::Linked::new(reads.formula.as_ref().expect("good"), &catalog);
        let machine = crate::formula::Machine::neoverse_n2(3, 1);
        let value = linked.expect("links").evaluate(&machine, |_| Some(2.0)).value;
        assert_eq!(value, 3.0 * 4096.0 / 2.0);
        assert!(Formula::parse("A << 2").is_err(), "perf has no shifts");
        let error = Formula::parse_with_shifts("A << B").expect_err("not a number").to_string();
        assert_eq!(error, "column 6: 'B' where a number of bits below 64 is expected");
    }

    #[test]
    fn a_second_filter_on_an_event_is_refused() {
        let one_filter =
            r#"{"event": "PMU_HNF_POCQ_OCCUPANCY", "filter_name": "kind", "encodings": ["reads"]}"#;
        let text = MESH.replace(one_filter, &format!("{one_filter}, {one_filter}"));
        let fault = "mesh.json: the metric reads has a second filter on PMU_HNF_POCQ_OCCUPANCY; an \
            event takes one";
        assert!(one(&text).faults.iter().any(|own| own == fault));
    }

    #[test]
    fn a_group_with_a_metric_that_was_not_read_is_partial() {
        assert_eq!(one(MESH).partial_groups, Vec::<String>::new());
        let text = MESH.replace(r#"["rate"]"#, r#"["rate", "odd"]"#);
        assert_eq!(one(&text).partial_groups, ["Node"]);
    }

    #[test]
    fn a_mesh_without_metrics_is_reported() {
        assert_eq!(one(r#"{"components": {}}"#).faults, ["mesh.json: there are no metrics"]);
        let broken = r#"{"components": {"HNF": {"metrics": {"a": {}}}}}"#;
        assert_eq!(one(broken).faults, ["mesh.json: the metric a has no formula"]);
    }
}
