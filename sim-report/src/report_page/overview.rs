//! Beginning of the report: the findings with their places, and the picture of the slots.

use maud::{Markup, html};

use crate::perf_stat::grouped;
use crate::run_report::{Finding, RunReport, SlotPlace};

use super::parts::{listed, listed_line};
use super::picture;
use super::sharing;
use super::slots::element_id;

/// Most findings in words; the others are only named.
const IN_WORDS: usize = 3;

/// Returns the findings and the picture.
pub(super) fn body(report: &RunReport) -> Markup {
    let slots = report.slots();
    html! {
        div.overview {
            div {
                @if report.findings.is_empty() { (none(report)) } @else {
                    ol.findings { @for at in 0..report.findings.len().min(IN_WORDS) {
                        li { (one(at, report)) }
                    } }
                    (others(&report.findings))
                }
                p.quiet {
                    "A loss is a finding if its share of all " (slots) " reaches the threshold of its cause, which is "
                    "low for waits that programs can avoid and high for limits that remain in good code."
                }
            }
            (picture::figure(report))
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

fn one(at: usize, report: &RunReport) -> Markup {
    let finding = &report.findings[at];
    let line = line_of(finding);
    let is_shown = report.findings[..at].iter().any(|earlier| line_of(earlier) == line);
    html! {
        strong { a href={ "#" (element_id(&finding.node)) } { (finding.title) } }
        ": " strong { (format!("{:.1}%", finding.percent)) } " of all " (report.slots()) " ("
        (grouped(finding.slots)) "). " (finding.meaning)
        @match &finding.place {
            Some(hot) => (place(hot, report)),
            None => " It belongs to no instruction.",
        }
        @if finding.node.ends_with(".load_peer") { (shared_line(report)) }
        @if let Some(line) = line.filter(|_| !is_shown) { (excerpt(line, report)) }
        span.next {
            strong { "Next: " } (finding.next)
            span.threshold { " Threshold: " (format!("{:.0}%", finding.threshold_percent)) "." }
        }
    }
}

/// Returns the line and the instruction of a finding.
fn place(hot: &SlotPlace, report: &RunReport) -> Markup {
    let line = hot.place.line.as_deref();
    html! {
        span.place {
            strong { "Where: " }
            @if let Some(line) = line { (listed_line(line, &hot.place, &report.listings)) ", " }
            @if let Some(function) = &hot.place.inlined { "in " code { (function) } ", " }
            (listed(&hot.place, &report.listings)) ": "
            strong { (format!("{:.1}%", hot.percent)) } " of these slots."
        }
    }
}

/// Returns the line that loads got from another core for most cycles.
fn shared_line(report: &RunReport) -> Markup {
    let Some(most) = report.shared_lines.first() else { return html! {} };
    html! {
        span.place {
            strong { "Line: " } a href="#sharing" { (sharing::name(most)) } ", "
            strong { (format!("{:.1}%", most.percent)) }
            " of the cycles of all such lines: " strong { (sharing::kind(most)) } "."
        }
    }
}

/// Returns the source line of a finding.
fn line_of(finding: &Finding) -> Option<&str> {
    finding.place.as_ref()?.place.line.as_deref()
}

/// Returns the text around a source line, with the cost of each line.
fn excerpt(line: &str, report: &RunReport) -> Markup {
    let around = report.source_around(line);
    let is_own = |number: u32| line.ends_with(&format!(":{number}"));
    let blanks = |text: &str| text.len() - text.trim_start().len();
    let texts = around.iter().filter(|(_, text, _)| !text.is_empty());
    let indent = texts.map(|(_, text, _)| blanks(text)).min().unwrap_or(0);
    html! { @if !around.is_empty() {
        div.wide tabindex="0" role="region" aria-label={ "Source around " (line) } { table.excerpt {
            caption { span { (line) ", and the share of all slots that each line has" } }
            tbody { @for (number, text, share) in around {
                tr.own[is_own(number)] {
                    td.number { @if is_own(number) { "▸ " } (number) }
                    td { code { (text.get(indent..).unwrap_or_default()) } }
                    td.number { @if share >= 0.05 { (format!("{share:.1}%")) } }
                }
            } }
        } }
    } }
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
