//! Page of results: machines, every case with its claim and counts, and the matrix of several
//! machines.

mod cases;
mod matrix;
mod repeats;

use maud::{Markup, PreEscaped, html};
use sim_litmus::Answer;
use sim_litmus::judge::Totals;
use sim_report::page::{Cell, Page, Section, Table};

use super::judged::{Judged, word};
use crate::plural::form_for;

const STYLE: &str = include_str!("page/litmus.css");

/// Returns the file of a page of these results.
pub(super) fn html(machines: &[Judged]) -> String {
    let title = match machines {
        [one] => format!("PMU litmus: {}", one.name),
        several => format!("PMU litmus: {} machines", several.len()),
    };
    let sections = vec![
        section(
            "machines",
            if machines.len() == 1 { "The machine" } else { "Machines" },
            facts(machines),
        ),
        section("clauses", "Claims and counts", clauses(machines)),
    ];
    Page { title, lead: lead(machines), sections }.html()
}

fn section(id: &str, heading: &str, body: Markup) -> Section {
    Section { id: id.to_owned(), heading: heading.to_owned(), body }
}

fn lead(machines: &[Judged]) -> Markup {
    html! {
        style { (PreEscaped(STYLE)) }
        p { "What the performance counters of real machines count for small cases, beside what the PMU guide of the Neoverse N2 says \
            they count. A case agrees if all of its events do." }
        @if let [one] = machines { (sums(one.totals())) }
    }
}

/// Returns the number of cases of each answer.
fn sums(totals: Totals) -> Markup {
    html! { ul.sums {
        @for (answer, count) in [
            (Answer::Agrees, totals.agree),
            (Answer::Differs { deviations: 0.0 }, totals.differ),
            (Answer::Unclear, totals.unclear),
            (Answer::NotCounted, totals.not_counted),
        ] {
            li { (marked(answer)) ": " strong { (count) } " " (form_for(count, "case", "cases")) }
        }
    } }
}

/// Returns an answer as a symbol and a word.
fn marked(answer: Answer) -> Markup {
    let (class, symbol) = match answer {
        Answer::Agrees => ("agrees", "✓"),
        Answer::Differs { .. } => ("differs", "✗"),
        Answer::Unclear => ("varies", "≈"),
        Answer::NotCounted => ("missing", "–"),
    };
    html! { span.answer.(class) { span aria-hidden="true" { (symbol) } " " (word(answer)) } }
}

/// Returns what is known of each machine.
fn facts(machines: &[Judged]) -> Markup {
    let mut table = Table::new("machine-facts", "Machines as their results describe them")
        .text("Machine")
        .text("Core")
        .text("Linux")
        .number("Counters")
        .number("Bytes of a page")
        .text("Huge pages")
        .text("Licence");
    for answer in ["Agree", "Differ", "Vary", "Not countable"] {
        table = table.number(answer);
    }
    for one in machines {
        let machine = &one.counted.machine;
        let totals = one.totals();
        let text = |text: &str| if text.is_empty() { Cell::None } else { Cell::from(text) };
        let counted = [totals.agree, totals.differ, totals.unclear, totals.not_counted]
            .map(|n| Cell::Count(n as u64));
        let facts = [
            Cell::from(one.name.as_str()),
            one.core().map_or_else(|| text(&machine.midr), Cell::from),
            text(&machine.kernel),
            if machine.counters > 0 { Cell::Count(machine.counters.into()) } else { Cell::None },
            if machine.page_bytes > 0 { Cell::Count(machine.page_bytes) } else { Cell::None },
            Cell::from(if machine.huge_pages { "yes" } else { "no" }),
            text(&machine.licence),
        ];
        table.push(facts.into_iter().chain(counted));
    }
    html! {
        (table.html())
        @for one in machines { (notes(one)) }
    }
}

fn notes(one: &Judged) -> Markup {
    let zero = one.always_zero();
    html! {
        @if let Some(whose) = one.whose_claims() { p.note { strong { (one.name) } ": " (whose) "." } }
        @if !zero.is_empty() {
            p.note { strong { (one.name) } " counted 0 in every case, and may not have: " (zero.join(", ")) "." }
        }
    }
}

/// Returns the choice of cases, the matrix of several machines, and the cases by their answer.
fn clauses(machines: &[Judged]) -> Markup {
    html! {
        (legend())
        div.choice data-facets="answer section event" {
            @if machines.len() > 1 { (matrix::matrix(machines)) }
            (cases::groups(machines))
        }
    }
}

fn legend() -> Markup {
    html! {
        dl.facts {
            dt { "guide" } dd { "count that the guide gives for the steps" }
            dt { "model" } dd { "count of the model, which includes what the preparation of the next round adds" }
            dt { "machine" } dd { "mean of the repetitions with the standard deviation of the mean, in counts for one round" }
            dt { "σ" } dd { "distance between machine and model in such deviations" }
            dt { "repetitions" } dd { (repeats::legend()) }
        }
    }
}
