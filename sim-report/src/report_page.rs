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

use crate::page::{Page, Section, glossary};
use crate::run_report::RunReport;

/// Returns the whole file.
pub fn html(report: &RunReport) -> String {
    let section = |id: &str, heading: &str, body: Markup| Section {
        id: id.to_owned(),
        heading: heading.to_owned(),
        body,
    };
    let sections = vec![
        section("run", "The run", run::body(report)),
        section("slots", "Rename slots (top-down)", slots::body(&report.top_down)),
        section("time", "Over time", time::body(&report.timeline)),
        section("caches", "Caches and TLBs", memory::body(report)),
        section("latencies", "Load latencies", latencies::body(&report.load_latencies)),
        section("curves", "Miss-ratio curves", curves::body(&report.miss_curves)),
        section("flows", "Flows of the PMU guide", flows::body(&report.flows)),
        section("code", "Hot code", code::body(&report.code)),
        section("branches", "Branches", branches::body(&report.branches)),
        section("counters", "Events and metrics", counters::body(report)),
        section("glossary", "Event glossary", glossary(&PmuEvent::ALL)),
    ];
    let title = format!("n2sim report: {}", file_name(&report.run.trace));
    Page { title, lead: run::lead(report), sections }.html()
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
