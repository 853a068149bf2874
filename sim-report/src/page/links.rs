//! Events in a page: links at their names, and the glossary with their entries.

use std::collections::BTreeSet;

use maud::{Markup, html};
use sim_a53::event::never_raised;
use sim_core::PmuEvent;
use sim_core::a53_event::A53Event;
use sim_pmu::OtherEvent;
use sim_pmu::other_core::CORTEX_A53;

use crate::explain::{self, Explanation};

/// Returns the name of an event as a link to its entry in the page's glossary.
pub fn event_link(event: PmuEvent) -> Markup {
    let name = event.mnemonic();
    html! { a.event href=(event_href(event)) { (name) } }
}

/// Returns the name of an event of another core as a link to its entry in the page's glossary.
pub fn named_link(name: &str) -> Markup {
    html! { a.event href={ "#event-" (name) } { (name) } }
}

/// Returns a card for each event that a page links to and has no entry for: hidden until the reader
/// opens it at a link. `page` is the content of the page; `is_n2`: it is about a Neoverse N2.
pub(super) fn cards(page: &str, is_n2: bool) -> Markup {
    let after = |start: &'static str| -> BTreeSet<&str> {
        let found = page.split(start).skip(1);
        found.filter_map(|rest| rest.split('"').next()).collect()
    };
    let (links, entries) = (after("href=\"#event-"), after("id=\"event-"));
    html! { @for name in links.difference(&entries).copied() {
        @match (is_n2, PmuEvent::from_name(name), a53_event(name)) {
            (true, Ok(event), _) => (card(name, &explained(event))),
            (false, _, Some((event, own))) => (card(name, &titled(event, own))),
            _ => {}
        }
    } }
}

/// Returns a card. It is a popover: the browser closes it with Escape or a click beside it.
fn card(name: &str, body: &Markup) -> Markup {
    let id = format!("event-{name}");
    html! {
        article.card id=(id) popover aria-labelledby={ (id) "-name" } {
            button type="button" popovertarget=(id) popovertargetaction="hide" autofocus
                aria-label={ "Close " (name) } { "×" }
            (body)
        }
    }
}

/// Returns an event of a Cortex-A53 with what its manual has on it.
fn a53_event(name: &str) -> Option<(A53Event, &'static OtherEvent)> {
    let event = A53Event::from_mnemonic(name)?;
    let own = CORTEX_A53.events.iter().find(|own| own.code == Some(event.code()))?;
    Some((event, own))
}

fn titled(event: A53Event, own: &OtherEvent) -> Markup {
    let id = format!("event-{}", event.mnemonic());
    html! {
        h3 id={ (id) "-name" } { code { (event.mnemonic()) } }
        dl {
            dt { "Counts" } dd { (own.title) }
            dt { "Number" } dd { code { (format!("0x{:02X}", event.code())) } ", " (CORTEX_A53.source) }
            @if let Some(why) = never_raised(event) { dt { "In every run" } dd { "0: " (why) } }
            @if let Some(bit) = own.bus_bit { dt { "Event bus" } dd { "bit " (bit) } }
        }
    }
}

/// Returns the address of an event's entry in a page with a glossary, for links in drawings.
pub fn event_href(event: PmuEvent) -> String {
    format!("#event-{}", event.mnemonic())
}

/// Returns an entry for each of these events, in the order of their names. Entries link only to
/// entries on the same page.
pub fn glossary(events: &[PmuEvent]) -> Markup {
    let mut events = events.to_vec();
    events.sort_by_key(|event| event.mnemonic());
    events.dedup();
    html! { div.glossary { @for event in &events { (entry(*event, &events)) } } }
}

fn entry(event: PmuEvent, listed: &[PmuEvent]) -> Markup {
    let own = explain::event(event);
    let id = format!("event-{}", own.name);
    html! {
        article id=(id) aria-labelledby={ (id) "-name" } tabindex="-1" {
            (meaning(&own, |other| listed.contains(&other)))
            (proof(&own))
        }
    }
}

/// Returns the content of a card; its related events are names, because they may have no card.
fn explained(event: PmuEvent) -> Markup {
    meaning(&explain::event(event), |_| false)
}

fn meaning(own: &Explanation, is_link: impl Fn(PmuEvent) -> bool) -> Markup {
    let id = format!("event-{}", own.name);
    html! {
        h3 id={ (id) "-name" } { code { (own.name) } " " span.quiet { (own.title) } }
        dl {
            dt { "Counts" } (clauses(&own.counts))
            @if !own.excludes.is_empty() { dt { "Does not count" } (clauses(&own.excludes)) }
            @if !own.pitfalls.is_empty() {
                dt { "Pitfalls" }
                @for pitfall in &own.pitfalls { dd { strong { (pitfall.title) } ": " (pitfall.text) } }
            }
            @if !own.relations.is_empty() { dt { "Related events" } (relations(own, is_link)) }
            dt { "Number" }
            dd { @if let Some(code) = &own.code { code { (code) } ", " }
                (own.unit) ", PMU guide " (own.section) }
        }
    }
}

fn clauses(clauses: &[String]) -> Markup {
    html! { @for clause in clauses { dd { (clause) } } }
}

fn relations(own: &Explanation, is_link: impl Fn(PmuEvent) -> bool) -> Markup {
    html! { @for relation in &own.relations {
        dd { (relation.label) " "
            @for (i, name) in relation.others.iter().enumerate() {
                @if i > 0 { ", " }
                @match PmuEvent::from_name(name) {
                    Ok(other) if is_link(other) => (event_link(other)),
                    _ => code { (name) },
                }
            }
        }
    } }
}

/// Returns the evidence for the entry, initially closed.
fn proof(own: &Explanation) -> Markup {
    html! { @if !own.scenarios.is_empty() || !own.raised.is_empty() {
        details.aside {
            summary { "Where the model raises it, and what proves it" }
            ul {
                @for place in &own.raised { li { code { (place.file) } ", " code { (place.function) } } }
                @for proof in &own.scenarios { li { (proof.claim) " (" code { (proof.file) } ")" } }
            }
            @if let Some(example) = &own.example { pre { "$ " (example.command) "\n" (example.output) } }
        }
    } }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expect_no_dangling_links(events: &[PmuEvent]) -> usize {
        let html = glossary(events).into_string();
        let hrefs = html.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next());
        let hrefs: Vec<&str> = hrefs.collect();
        for href in &hrefs {
            assert_eq!(html.matches(&format!("id=\"{href}\"")).count(), 1, "{href}");
        }
        hrefs.len()
    }

    #[test]
    fn every_link_of_a_glossary_has_an_entry() {
        assert!(expect_no_dangling_links(&PmuEvent::ALL) > 100);
        let few = [PmuEvent::L1D_CACHE, PmuEvent::L1D_CACHE_RD, PmuEvent::L1D_CACHE];
        assert!(expect_no_dangling_links(&few) > 0);
    }

    #[test]
    fn a_page_gets_a_card_for_each_event_that_it_links_to() {
        let page = "<a href=\"#event-L1D_CACHE\"></a><a href=\"#event-L2D_CACHE\"></a>\
                    <a href=\"#event-L1D_CACHE\"></a><p id=\"event-L2D_CACHE\">";
        let html = cards(page, true).into_string();
        assert_eq!(html.matches("<article").count(), 1, "{html}");
        assert!(html.contains("id=\"event-L1D_CACHE\" popover"), "{html}");
        let html = cards(page, false).into_string();
        assert!(html.contains("id=\"event-L1D_CACHE-name\""), "{html}");
    }

    #[test]
    fn a_link_names_its_event() {
        let event = PmuEvent::L1D_CACHE_REFILL;
        let link = event_link(event).into_string();
        assert_eq!(
            link,
            r##"<a class="event" href="#event-L1D_CACHE_REFILL">L1D_CACHE_REFILL</a>"##
        );
        assert!(link.contains(&event_href(event)));
    }
}
