//! Events in a page: a link where one is named, and the glossary where the links lead.

use maud::{Markup, html};
use sim_core::PmuEvent;
use sim_core::pmu_event::{RelationKind, Unit};

/// The name of an event, as a link to its entry in the page's glossary.
pub fn event_link(event: PmuEvent) -> Markup {
    let name = event.mnemonic();
    html! { a.event href={ "#event-" (name) } { (name) } }
}

/// The address of an event's entry in a page that has a glossary; for links in drawings.
pub fn event_href(event: PmuEvent) -> String {
    format!("#event-{}", event.mnemonic())
}

/// An entry for each of these events, in the order of their names.
pub fn glossary(events: &[PmuEvent]) -> Markup {
    let mut events = events.to_vec();
    events.sort_by_key(|event| event.mnemonic());
    events.dedup();
    html! { div.glossary { @for event in events { (entry(event)) } } }
}

fn entry(event: PmuEvent) -> Markup {
    let info = event.info();
    let name = info.mnemonic;
    html! {
        article id={ "event-" (name) } aria-labelledby={ "name-" (name) } tabindex="-1" {
            h3 id={ "name-" (name) } { code { (name) } " " span.quiet { (info.title) } }
            dl {
                dt { "Counts" } dd { (info.counts) }
                @if !info.excludes.is_empty() { dt { "Does not count" } dd { (info.excludes) } }
                @for relation in info.relations {
                    dt { (relation_name(relation.kind)) }
                    dd { @for (i, other) in relation.others.iter().enumerate() {
                        @if i > 0 { ", " }
                        (event_link(*other))
                    } }
                }
                dt { "Number" }
                dd { code { (format!("0x{:04X}", info.code)) } ", " (unit_name(info.unit))
                    ", PMU guide " (info.section) }
            }
        }
    }
}

fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Event => "one for each occurrence",
        Unit::Cycle => "one for each cycle",
        Unit::Slot => "one for each rename slot",
    }
}

fn relation_name(kind: RelationKind) -> &'static str {
    match kind {
        RelationKind::SumOf | RelationKind::ImpliedSumOf => "Sum of",
        RelationKind::AliasOf => "Counts the same as",
        RelationKind::SubsetOf | RelationKind::ImpliedSubsetOf => "Part of",
        RelationKind::SupersetOf | RelationKind::ImpliedSupersetOf => "Contains",
        RelationKind::Never => "Stays 0 on this core",
        RelationKind::RequiresExtllc => "Counts only with CPUECTLR.EXTLLC",
        RelationKind::RequiresMte => "Counts only tag-checked accesses",
        RelationKind::RequiresSpe => "Counts only while SPE samples",
        RelationKind::RequiresOddCounter => "Needs an odd-numbered counter",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_of_the_full_glossary_leads_to_an_entry() {
        let html = glossary(&PmuEvent::ALL).into_string();
        let hrefs: Vec<&str> =
            html.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(hrefs.len() > 100, "{}", hrefs.len());
        for href in hrefs {
            assert_eq!(html.matches(&format!("id=\"{href}\"")).count(), 1, "{href}");
        }
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
