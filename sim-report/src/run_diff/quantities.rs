//! The numbers of a report as a list with names.

use sim_core::PmuEvent;

use super::Number;
use crate::run_report::{Code, LookupRow, MissCurve, RunReport, SlotNode};

/// Number with its name.
pub(super) struct Quantity {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) unit: String,
    pub(super) event: Option<String>,
    pub(super) value: Option<Number>,
    /// Data missing from the trace that makes it doubtful.
    pub(super) doubt: Option<String>,
}

/// Numbers of one part of a report.
pub(super) struct Group {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    /// Value of a number that a report leaves out.
    pub(super) missing: Option<Number>,
    /// All slots of the run, if the numbers are parts of them.
    pub(super) whole: Option<u64>,
    pub(super) quantities: Vec<Quantity>,
}

fn count(id: impl Into<String>, name: impl Into<String>, unit: &str, count: u64) -> Quantity {
    let (value, unit) = (Some(Number::Count(count)), unit.to_owned());
    Quantity { id: id.into(), name: name.into(), unit, event: None, value, doubt: None }
}

fn value(
    id: impl Into<String>,
    name: impl Into<String>,
    unit: &str,
    value: Option<f64>,
) -> Quantity {
    let value = value.filter(|value| value.is_finite()).map(Number::Value);
    let unit = unit.to_owned();
    Quantity { id: id.into(), name: name.into(), unit, event: None, value, doubt: None }
}

/// Returns the parts of a report, the same for every report. Multiplexed estimates are left out:
/// they differ with every change of timing.
pub(super) fn groups(report: &RunReport) -> Vec<Group> {
    let group = |id, title, quantities| {
        let (missing, whole) = (None, None);
        Group { id, title, missing, whole, quantities }
    };
    let whole = Some(report.top_down.slots);
    let of_slots = |group: Group| Group { whole, ..group };
    // The tree leaves out causes without slots.
    let missing = Some(Number::Count(0));
    vec![
        group("run", "The run", run(report)),
        Group { missing, whole, ..group("slots", report.slots_heading(), slots(&report.top_down)) },
        group("metrics", "Metrics", metrics(report)),
        group("caches", "Caches", lookups(&report.caches)),
        group("tlbs", "TLBs", lookups(&report.tlbs)),
        group("latencies", "Load latencies", latencies(report)),
        group("prefetchers", "Prefetchers", prefetchers(report)),
        group("branches", "Branches", branches(report)),
        of_slots(group("functions", "Functions", functions(&report.code))),
        of_slots(group("lines", "Source lines", lines(&report.code))),
        of_slots(group("instructions", "Instructions", instructions(&report.code))),
        group("curves", "Footprints and miss-ratio curves", curves(&report.miss_curves)),
        group("flows", "Flows of the guide", flows(report)),
        group("events", "Events", events(report)),
    ]
}

fn run(report: &RunReport) -> Vec<Quantity> {
    let run = &report.run;
    let cycles = report.events.iter().find(|own| own.event == PmuEvent::CPU_CYCLES.mnemonic());
    let of_cycles =
        |quantity| Quantity { doubt: cycles.and_then(|own| own.doubt.clone()), ..quantity };
    vec![
        of_cycles(value("seconds", "modeled time", "seconds", Some(run.seconds))),
        of_cycles(count("cycles", "cycles", "cycles", run.cycles)),
        count("instructions", "instructions retired", "instructions", run.instructions),
        of_cycles(value("ipc", "instructions per cycle", "per cycle", run.ipc)),
        count("threads", "threads", "threads", report.threads.len() as u64),
    ]
}

/// Returns the nodes in the order of the tree, each after its parent.
fn slots(root: &SlotNode) -> Vec<Quantity> {
    let mut quantities = Vec::new();
    let mut open = vec![(root, 0)];
    while let Some((node, depth)) = open.pop() {
        let name = format!("{}{}", "\u{a0}\u{a0}".repeat(depth), node.name);
        quantities.push(count(node.id.as_str(), name, "slots", node.slots));
        open.extend(node.children.iter().rev().map(|child| (child, depth + 1)));
    }
    quantities
}

fn metrics(report: &RunReport) -> Vec<Quantity> {
    let metric = |metric: &crate::run_report::MetricValue| {
        value(metric.metric.as_str(), metric.metric.as_str(), &metric.unit, metric.value)
    };
    report.metrics.iter().map(metric).collect()
}

fn lookups(rows: &[LookupRow]) -> Vec<Quantity> {
    let row = |row: &LookupRow| {
        let (id, name) =
            (format!("{}.{}", row.structure, row.kind), format!("{}, {}", row.structure, row.kind));
        [
            value(
                format!("{id}.miss_percent"),
                format!("{name}: misses"),
                "percent",
                row.miss_percent,
            ),
            value(
                format!("{id}.mpki"),
                format!("{name}: misses"),
                "per 1000 instructions",
                row.mpki,
            ),
        ]
    };
    rows.iter().flat_map(row).collect()
}

fn latencies(report: &RunReport) -> Vec<Quantity> {
    let of_source = |row: &crate::run_report::LatencyHistogram| {
        let source = &row.source;
        let cycles = |id: &str, name: &str, cycles: Option<u64>| Quantity {
            value: cycles.map(Number::Count),
            ..count(format!("{source}.{id}"), format!("{source}: {name}"), "cycles", 0)
        };
        [
            count(format!("{source}.loads"), format!("{source}: loads"), "loads", row.loads),
            value(format!("{source}.mean"), format!("{source}: mean"), "cycles", row.mean),
            value(
                format!("{source}.mean_buffer_wait"),
                format!("{source}: mean wait for a free buffer"),
                "cycles",
                row.mean_buffer_wait,
            ),
            value(
                format!("{source}.mean_line_wait"),
                format!("{source}: mean wait for a pending line"),
                "cycles",
                row.mean_line_wait,
            ),
            cycles("median", "median", row.median),
            cycles("p90", "p90", row.p90),
            cycles("p99", "p99", row.p99),
        ]
    };
    report.load_latencies.iter().flat_map(of_source).collect()
}

fn prefetchers(report: &RunReport) -> Vec<Quantity> {
    let of_one = |row: &crate::run_report::PrefetcherRow| {
        let of = &row.prefetcher;
        let line =
            |id: &str, lines| count(format!("{of}.{id}"), format!("{of}: {id}"), "lines", lines);
        [
            line("issued", row.issued),
            line("useful", row.useful),
            line("late", row.late),
            line("useless", row.useless),
            line("missed", row.missed),
        ]
    };
    report.prefetchers.iter().flat_map(of_one).collect()
}

fn branches(report: &RunReport) -> Vec<Quantity> {
    let branches = &report.branches;
    let kinds = branches.kinds.iter().flat_map(|kind| {
        let name = &kind.kind;
        [
            count(
                format!("kind.{name}.retired"),
                format!("{name}: retired"),
                "branches",
                kind.retired,
            ),
            count(
                format!("kind.{name}.mispredicted"),
                format!("{name}: mispredicted"),
                "branches",
                kind.mispredicted,
            ),
        ]
    });
    let sites = branches.sites.iter().map(|site| {
        let symbol = &site.place.symbol;
        let name = format!("{symbol}: mispredicted");
        count(format!("site.{symbol}"), name, "branches", site.mispredicted)
    });
    kinds.chain(sites).collect()
}

fn functions(code: &Code) -> Vec<Quantity> {
    let of_one = |function: &crate::run_report::HotFunction| {
        count(function.name.as_str(), function.name.as_str(), "slots", function.cost.slots)
    };
    code.functions.iter().map(of_one).collect()
}

fn lines(code: &Code) -> Vec<Quantity> {
    let of_one = |line: &crate::run_report::HotLine| {
        let name = format!("{}:{}", line.file, line.line);
        count(name.clone(), name, "slots", line.cost.slots)
    };
    code.lines.iter().map(of_one).collect()
}

fn instructions(code: &Code) -> Vec<Quantity> {
    let of_one = |instruction: &crate::run_report::HotInstruction| {
        let symbol = &instruction.place.symbol;
        count(symbol.as_str(), symbol.as_str(), "slots", instruction.cost.slots)
    };
    code.instructions.iter().map(of_one).collect()
}

fn curves(curves: &[MissCurve]) -> Vec<Quantity> {
    let of_one = |curve: &MissCurve| {
        let (id, name) = (&curve.id, &curve.name);
        let footprint = count(
            format!("{id}.footprint"),
            format!("{name}: footprint"),
            "lines or pages",
            curve.footprint_units,
        );
        let marks = curve.marks.iter().map(|mark| {
            let structure = &mark.structure;
            count(
                format!("{id}.{structure}"),
                format!("{name}: misses at the size of {structure}"),
                "accesses",
                mark.misses,
            )
        });
        std::iter::once(footprint).chain(marks).collect::<Vec<_>>()
    };
    curves.iter().flat_map(of_one).collect()
}

fn flows(report: &RunReport) -> Vec<Quantity> {
    let edges = report.flows.iter().flat_map(|flow| {
        let section = &flow.section;
        flow.edges.iter().map(move |edge| {
            let (from, to) = (&edge.from, &edge.to);
            let name = format!("{section} {from} \u{2192} {to}");
            count(format!("{section}.{from}.{to}.{}", edge.label), name, "times", edge.taken)
        })
    });
    edges.collect()
}

fn events(report: &RunReport) -> Vec<Quantity> {
    let of_one = |event: &crate::run_report::EventCount| Quantity {
        event: Some(event.event.clone()),
        doubt: event.doubt.clone(),
        ..count(event.event.as_str(), event.event.as_str(), "events", event.count)
    };
    report.events.iter().map(of_one).collect()
}
