//! Cases of the page, those that differ first, each with its claim, steps and counts.

use maud::{Markup, html};
use sim_litmus::{Answer, JudgedCase, JudgedClaim};
use sim_report::page::event_link;

use super::super::judged::{Judged, deviations, model, number, says_more, word};
use super::{marked, repeats};

/// Groups by the worst answer of any machine: its name, and its heading.
const GROUPS: [(&str, &str); 4] = [
    ("differs", "Cases that differ"),
    ("varies", "Cases that vary too much for an answer"),
    ("not countable", "Cases that could not be counted"),
    ("agrees", "Cases that agree"),
];

/// A case on all machines.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    machines: &'a [Judged],
    at: usize,
}

/// Returns every case on all machines.
pub(super) fn rows(machines: &[Judged]) -> Vec<Row<'_>> {
    let count = machines.first().map_or(0, |one| one.cases.len());
    (0..count).map(|at| Row { machines, at }).collect()
}

impl<'a> Row<'a> {
    /// Returns the case on the first machine, for what all share.
    pub(super) fn case(self) -> &'a JudgedCase {
        &self.machines[0].cases[self.at]
    }

    /// Returns the answer of each machine.
    pub(super) fn answers(self) -> impl Iterator<Item = Answer> + 'a {
        self.machines.iter().map(move |one| one.cases[self.at].answer())
    }

    /// Returns the id of the case in the page.
    pub(super) fn id(self) -> String {
        format!("case-{}", self.case().id.replace(' ', "_"))
    }

    fn worst(self) -> &'static str {
        let has = |name: &str| self.answers().any(|answer| word(answer) == name);
        GROUPS.iter().map(|(name, _)| *name).find(|name| has(name)).unwrap_or("agrees")
    }

    /// Returns the claims about one event, of each machine.
    fn claims(self, number: usize) -> impl Iterator<Item = &'a JudgedClaim> {
        self.machines.iter().map(move |one| &one.cases[self.at].claims[number])
    }

    /// Returns the numbers of the claims to show: those that say or count more than 0, and first
    /// those that do not agree.
    fn shown(self) -> impl Iterator<Item = usize> {
        let all = 0..self.case().claims.len();
        let mut shown: Vec<usize> =
            all.filter(|number| self.claims(*number).any(says_more)).collect();
        shown.sort_by_key(|number| {
            let has = |name| self.claims(*number).any(|claim| word(claim.answer) == name);
            GROUPS.iter().position(|(name, _)| has(*name))
        });
        shown.into_iter()
    }

    /// Returns the answers, the section, and the events of the case, by which the script chooses.
    pub(super) fn facets(self) -> [String; 3] {
        let mut answers: Vec<&str> = self.answers().map(word).collect();
        answers.sort_unstable();
        answers.dedup();
        let events = self.shown().map(|number| self.case().claims[number].event.mnemonic());
        [answers.join("|"), self.case().guide.clone(), events.collect::<Vec<_>>().join("|")]
    }
}

/// Returns the cases in groups, the worst first.
pub(super) fn groups(machines: &[Judged]) -> Markup {
    let rows = rows(machines);
    html! { @for (name, heading) in GROUPS {
        @let of_group: Vec<Row<'_>> = rows.iter().copied().filter(|row| row.worst() == name).collect();
        @if !of_group.is_empty() {
            div data-group {
                h3 { (heading) " " span.quiet { "(" (of_group.len()) ")" } }
                @for row in of_group { (article(row, name != "agrees")) }
            }
        }
    } }
}

fn article(row: Row<'_>, is_open: bool) -> Markup {
    let case = row.case();
    let [answer, section, event] = row.facets();
    html! {
        details.fold.case id=(row.id()) open[is_open] data-item data-answer=(answer) data-section=(section) data-event=(event) {
            summary {
                @if let [_] = row.machines { (marked(case.answer())) } @else {
                    @for (one, answer) in row.machines.iter().zip(row.answers()) {
                        span.of-machine { (one.name) ": " (marked(answer)) }
                    }
                }
                " " span.claim { (case.claim) }
            }
            p { (case.guide) ", case " code { (case.id) } ": " code { (case.steps) } }
            (counts(row))
        }
    }
}

fn counts(row: Row<'_>) -> Markup {
    let label = format!("Counts of {}", row.case().id);
    html! { div.wide tabindex="0" role="region" aria-label=(label) { table {
        thead { tr {
            th scope="col" { "Event" }
            th.number scope="col" { "Guide" }
            th.number scope="col" { "Model" }
            @for one in row.machines { th scope="col" {
                @if let [_] = row.machines { "Machine" } @else { (one.name) }
            } }
        } }
        tbody { @for number in row.shown() {
            @let first = &row.case().claims[number];
            tr {
                th scope="row" { (event_link(first.event)) }
                td.number { (first.claim) }
                td.number { (model(first)) }
                @for claim in row.claims(number) { td { (cell(claim)) } }
            }
        } }
    } } }
}

/// Returns the count of a machine with its answer, and the repetitions where it does not agree.
fn cell(claim: &JudgedClaim) -> Markup {
    let has_drawing = matches!(claim.answer, Answer::Differs { .. } | Answer::Unclear);
    html! {
        (marked(claim.answer))
        @if let Some(sample) = claim.counted { " " span.count { (number(sample)) } }
        @if let Some(far) = deviations(claim.answer) { " " span.quiet { "(" (format!("{far:.0}")) " σ)" } }
        @if let Some((on, bound)) = &claim.exception {
            " " span.quiet { "expected " (bound) " on " (on) }
        }
        @if has_drawing { (repeats::drawing(claim)) }
    }
}
