//! Slides of a lesson: text, setups, each question and then its answer, and a figure of the counts.

use maud::{Markup, html};
use sim_core::{Counts, PmuEvent};
use sim_course::text::shown;
use sim_course::{Answer, Run};
use sim_report::memory_path;
use sim_report::page::{Slide, Slides, drawing};

use super::lessons::Solution;
use super::{markup, page, texts};
use crate::plural::number_of;

/// Blocks of the text on one slide.
const BLOCKS: usize = 3;

/// Returns the file of the slides.
pub(super) fn html(one: &Solution<'_>) -> String {
    let lesson = one.lesson;
    let first = html! {
        p { (number_of(lesson.minutes, "minute")) ", " (lesson.level.name()) ", "
            (number_of(lesson.questions.len(), "question")) }
        p.quiet { "Guess first. Then run." }
    };
    let mut slides = vec![slide(&lesson.title, first)];
    for part in markup::parts(&lesson.text).chunks(BLOCKS) {
        slides.push(slide(&lesson.title, html! { @for block in part { (block) } }));
    }
    if has_memory(one) {
        let figure = memory_path::svg(None, "The way of an access from the core to memory");
        slides.push(slide("The way of an access", figure_of("path", &figure)));
    }
    for setups in lesson.setups.chunks(2) {
        slides.push(slide("What runs", page::setups(setups)));
    }
    for (at, (question, answer)) in lesson.questions.iter().zip(&one.answers).enumerate() {
        let asked = html! {
            p { (markup::line(&question.ask)) }
            @if let Answer::Choice { options, .. } = &question.answer {
                ol { @for option in options { li { (markup::line(option)) } } }
            }
            p.quiet { "Your guess: " (texts::wanted(question)) "." }
        };
        slides.push(slide(&format!("Question {}", at + 1), asked));
        let answered = html! {
            p { (markup::line(&question.ask)) }
            p.answer { (answer.shown) @if !question.unit.is_empty() { " " (question.unit) } }
            (markup::text(&answer.why))
        };
        slides.push(slide(&format!("Answer {}", at + 1), answered));
    }
    slides.extend(counted(one));
    Slides { title: lesson.title.clone(), slides }.html()
}

/// Returns a slide for each setup with what it counted.
fn counted(one: &Solution<'_>) -> Vec<Slide> {
    let mut slides = Vec::new();
    for (at, setup) in one.lesson.setups.iter().enumerate() {
        let counts = one.results.counts_of(at);
        let body = match &setup.run {
            Run::Trace(_) => slots(&counts),
            Run::Scenario(_) if counts.value(PmuEvent::L1D_CACHE_REFILL) > 0 => {
                let title = format!("Accesses and misses of {}", setup.name);
                figure_of(&format!("path-{at}"), &memory_path::svg(Some(&counts), &title))
            }
            Run::Scenario(_) => continue,
        };
        let name = if one.lesson.setups.len() == 1 { "the steps" } else { &setup.name };
        slides.push(slide(&format!("Counts of {name}"), body));
    }
    slides
}

/// Returns whether a scenario of the lesson goes below the L1 D-cache.
fn has_memory(one: &Solution<'_>) -> bool {
    let scenarios = one.lesson.setups.iter().enumerate();
    scenarios
        .filter(|(_, setup)| matches!(setup.run, Run::Scenario(_)))
        .any(|(at, _)| one.results.counts_of(at).value(PmuEvent::L1D_CACHE_REFILL) > 0)
}

/// Returns the use of the rename slots as bars with their numbers.
fn slots(counts: &Counts) -> Markup {
    let value = |event: PmuEvent| counts.value(event) as f64;
    let all = value(PmuEvent::OP_SPEC) + value(PmuEvent::STALL_SLOT);
    let squashed = (value(PmuEvent::OP_SPEC) - value(PmuEvent::OP_RETIRED)).max(0.0);
    let rows = [
        ("operations that retire", value(PmuEvent::OP_RETIRED), "green"),
        ("operations of wrong paths", squashed, "red"),
        ("lost to the front end", value(PmuEvent::STALL_SLOT_FRONTEND), "blue"),
        ("lost to the back end", value(PmuEvent::STALL_SLOT_BACKEND), "orange"),
    ];
    html! {
        p { (shown(all)) " rename slots, five in each of " (shown(value(PmuEvent::CPU_CYCLES))) " cycles:" }
        table {
            thead { tr { th { "slots" } th { "number" } th { "share" } } }
            tbody { @for (name, slots, color) in rows {
                @let share = if all > 0.0 { 100.0 * slots / all } else { 0.0 };
                tr {
                    th scope="row" { (name) } td { (shown(slots)) }
                    td {
                        svg viewBox="0 0 300 20" role="img" aria-label={ (format!("{share:.1}")) " percent" }
                            style="min-width:8rem;max-width:22rem;height:1.2em" preserveAspectRatio="none" {
                            rect class="fill-gray-tint" width="300" height="20" {}
                            rect class={ "fill-" (color) } width=(format!("{:.1}", share * 3.0)) height="20" {}
                        }
                        (format!("{share:.1}")) " %"
                    }
                }
            } }
        }
    }
}

fn figure_of(id: &str, svg: &str) -> Markup {
    let id = format!("{id}-words");
    html! {
        (drawing(&id, svg))
        p.quiet id=(id) { "Data: core, L1 D-cache, L2 cache, system level cache, memory. Translation: TLBs and table walk." }
    }
}

fn slide(heading: &str, body: Markup) -> Slide {
    Slide { heading: heading.to_owned(), body }
}
