//! Page of `n2sim report` about one run. Every number comes from the [`RunReport`]; the page lays
//! it out and links each event to its glossary entry.

mod branches;
mod code;
mod counters;
mod curves;
mod flows;
mod latencies;
mod memory;
mod parts;
mod run;
mod slots;
mod time;

use maud::Markup;
use sim_core::PmuEvent;
use sim_pmu::other_core::CORTEX_A53;

use crate::page::{Page, Section, glossary, glossary_of};
use crate::run_report::RunReport;

/// Returns the whole file.
pub fn html(report: &RunReport) -> String {
    let section = |id: &str, heading: &str, body: Markup| Section {
        id: id.to_owned(),
        heading: heading.to_owned(),
        body,
    };
    let is_n2 = report.core.is_none();
    let slots = report.slots_heading();
    let glossary = match &report.core {
        None => glossary(&PmuEvent::ALL),
        Some(_) => glossary_of(&CORTEX_A53),
    };
    // A section without data is one that the core does not have.
    let latencies = (is_n2 || !report.load_latencies.is_empty())
        .then(|| section("latencies", "Load latencies", latencies::body(&report.load_latencies)));
    let curves = (is_n2 || !report.miss_curves.is_empty())
        .then(|| section("curves", "Miss-ratio curves", curves::body(&report.miss_curves)));
    let flows = (is_n2 || !report.flows.is_empty())
        .then(|| section("flows", "Flows of the PMU guide", flows::body(&report.flows)));
    let counters = if is_n2 { "Events and metrics" } else { "Events" };
    let sections = [
        Some(section("run", "The run", run::body(report))),
        Some(section("slots", slots, slots::body(&report.top_down))),
        Some(section("time", "Over time", time::body(&report.timeline, slots))),
        Some(section("caches", "Caches and TLBs", memory::body(report))),
        latencies,
        curves,
        flows,
        Some(section("code", "Hot code", code::body(report))),
        Some(section("branches", "Branches", branches::body(report))),
        Some(section("counters", counters, counters::body(report))),
        Some(section("glossary", "Event glossary", glossary)),
    ];
    let sections = sections.into_iter().flatten().collect();
    let title = format!("n2sim report: {}", file_name(&report.run.trace));
    Page { title, lead: run::lead(report), sections }.html_on(report.core_name())
}

/// Returns the last component of a path.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_cut_to_its_file_name() {
        assert_eq!(file_name("traces/hash.n2t"), "hash.n2t");
        assert_eq!(file_name("hash.n2t"), "hash.n2t");
        assert_eq!(file_name("odd/"), "odd/");
    }
}
