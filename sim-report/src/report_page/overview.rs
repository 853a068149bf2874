//! Beginning of the report: the picture of the slots, and the findings with their places.

use maud::{Markup, html};

use crate::perf_stat::grouped;
use crate::run_report::{Finding, RunReport};

use super::parts::listed;
use super::picture;
use super::slots::element_id;

/// Most findings in words; the others are only named.
const IN_WORDS: usize = 3;

/// Returns the picture and the findings.
pub(super) fn body(report: &RunReport) -> Markup {
    let slots = report.slots();
    html! {
        (picture::figure(report))
        @if report.findings.is_empty() { (none(report)) } @else {
            ol.findings { @for finding in report.findings.iter().take(IN_WORDS) {
                li { (one(finding, report)) }
            } }
            (others(&report.findings))
        }
        p.quiet {
            "A loss is a finding if its share of all " (slots) " reaches the threshold of its cause, which is low for "
            "waits that programs can avoid and high for limits that remain in good code."
        }
    }
}

/// Says that nothing is over its threshold.
fn none(report: &RunReport) -> Markup {
    let slots = report.slots();
    html! {
        p.first { strong { "No finding." } " No cause lost as large a share of the " (slots)
            " as its threshold, which is " (format!("{:.0}%", Finding::least_threshold())) " at least."
            @if let Some(largest) = report.top_down.worst().last() {
                " The largest loss is " a href={ "#" (element_id(&largest.id)) } { (largest.name) } ", "
                (format!("{:.1}%", largest.percent)) "."
            } @else { " No slot was lost." }
        }
    }
}

fn one(finding: &Finding, report: &RunReport) -> Markup {
    html! {
        strong { a href={ "#" (element_id(&finding.node)) } { (finding.title) } }
        ": " strong { (format!("{:.1}%", finding.percent)) } " of all " (report.slots()) ", "
        (grouped(finding.slots)) ". "
        span.threshold { "Threshold: " (format!("{:.0}%", finding.threshold_percent)) "." }
        " " (finding.meaning)
        @if let Some(hot) = &finding.place {
            " The largest part, " strong { (format!("{:.1}%", hot.percent)) } " of it, is charged to "
            (listed(&hot.place, &report.listings))
            @if let Some(line) = &hot.place.line { " (" (line) ")" }
            "."
        } @else { " It belongs to no instruction." }
        span.next { strong { "Next: " } (finding.next) }
    }
}

/// Names the findings after the first ones.
fn others(findings: &[Finding]) -> Markup {
    let rest = findings.get(IN_WORDS..).unwrap_or_default();
    html! { @if !rest.is_empty() { p { "Also over their thresholds: "
        @for (i, finding) in rest.iter().enumerate() {
            @if i > 0 { ", " }
            a href={ "#" (element_id(&finding.node)) } { (finding.title) }
            (format!(" {:.1}%", finding.percent))
        } "."
    } } }
}
