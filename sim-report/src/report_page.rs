//! Page of `n2sim report` about one run. Every number comes from the [`RunReport`]; the page lays
//! it out and links each event to its card.

mod branches;
mod code;
mod counters;
mod curves;
mod drawings;
mod flows;
mod latencies;
mod listing;
mod memory;
mod mesh;
mod mesh_map;
mod overview;
mod parts;
mod picture;
mod run;
mod sharing;
mod slots;
mod time;
mod waits;

use maud::Markup;

use crate::page::{Page, Section};
use crate::run_report::RunReport;

pub use drawings::{map_file, waits_file};
use parts::file_name;

/// Returns the whole file.
pub fn html(report: &RunReport) -> String {
    let title = format!("n2sim report: {}", file_name(&report.run.trace));
    let sections = sections(report);
    Page { title, lead: run::lead(report), sections }.html_on(report.core_name())
}

/// Returns the sections. Those about what the core does not have are left out.
fn sections(report: &RunReport) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut add = |id: &str, heading: &str, body: Markup| {
        sections.push(Section { id: id.to_owned(), heading: heading.to_owned(), body });
    };
    let is_n2 = report.core.is_none();
    add("findings", "Findings", overview::body(report));
    add("time", "Over time", time::body(report));
    add("slots", report.slots_heading(), slots::body(&report.top_down));
    add("code", "Hot code", code::body(report));
    add("branches", "Branches", branches::body(report));
    add("caches", "Caches and TLBs", memory::body(report));
    if is_n2 {
        add("latencies", "Load latencies", latencies::body(&report.load_latencies));
        if sharing::has_any(report) {
            add("sharing", "Lines that cores share", sharing::body(report));
        }
        if let Some(mesh) = &report.mesh {
            add("mesh", "Traffic on the mesh", mesh::body(mesh));
        }
        add("curves", "Miss-ratio curves", curves::body(&report.miss_curves));
        add("flows", "Flows of the PMU guide", flows::body(&report.flows));
    }
    add("counters", "Events and metrics", counters::body(report));
    add("run", "The run", run::body(report));
    sections
}
