//! Lookup of a name that a reader types: an event, a metric, a section of the guide or a stall
//! cause.

use sim_core::StallCause;
use sim_core::pmu_event::{EventNameError, PmuEvent};
use sim_metrics::formula::Catalog;

use super::search::mentions;
use super::{Explanation, cause, event, metric, section};

/// Subject that a name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topic {
    /// Event.
    Event(PmuEvent),
    /// Metric of the catalog, by its name there.
    Metric(String),
    /// Group of events or flow, by its section.
    Section(String),
    /// Cause of an empty slot.
    Cause(StallCause),
}

/// Error for a name without a subject.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// Section that the guide does not have, or that has no events.
    #[error(
        "the guide's section {0} has no events and no flow; sections are 4.1 to 4.14 (events, such as 4.2.1) \
         and 5.1 to 5.8 (flows)"
    )]
    Section(String),
    /// Words that are not a name, but that some subjects mention.
    #[error("{unknown}; `n2sim explain NAME` explains these, which mention it:{found}")]
    Words {
        /// Message on the name, with the closest one.
        unknown: EventNameError,
        /// A line for each subject.
        found: String,
    },
    /// Any other name.
    #[error(
        "{0}; it is not a metric (n2sim list metrics), a section of the guide (4.2, 5.4) or a stall cause (n2sim stat --stalls)"
    )]
    Name(EventNameError),
}

/// Returns the subject of a name. Events come first, then metrics, sections and causes.
///
/// # Errors
/// Fails if no subject has this name. The error lists subjects that mention the words of the name.
pub fn find(name: &str, catalog: &Catalog) -> Result<Topic, FindError> {
    let unknown = match PmuEvent::from_name(name) {
        Ok(event) => return Ok(Topic::Event(event)),
        Err(error) => error,
    };
    if let Some(metric) = catalog.get(name) {
        return Ok(Topic::Metric(metric.name.clone()));
    }
    let number = name.trim_start_matches("section").trim();
    if number.starts_with(|c: char| c.is_ascii_digit()) && !number.starts_with("0x") {
        return of_section(number).ok_or_else(|| FindError::Section(number.to_owned()));
    }
    let of_cause = StallCause::ALL
        .into_iter()
        .find(|cause| [plain(cause.label()), plain(&format!("{cause:?}"))].contains(&plain(name)));
    of_cause.map(Topic::Cause).ok_or_else(|| match mentions(name, catalog) {
        found if found.is_empty() => FindError::Name(unknown),
        found => FindError::Words { unknown, found },
    })
}

fn of_section(number: &str) -> Option<Topic> {
    if section(number).is_some() {
        return Some(Topic::Section(number.to_owned()));
    }
    let own = PmuEvent::ALL.into_iter().find(|event| event.info().section == number);
    own.map(Topic::Event)
}

/// Returns only the letters and digits: `L1I miss`, `l1i-miss` and `L1I_MISS` are the same.
fn plain(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

impl Topic {
    /// Returns the explanation of the subject.
    ///
    /// # Panics
    /// Panics for a metric or a section that [`find`] did not return.
    pub fn explain(&self, catalog: &Catalog) -> Explanation {
        match self {
            Topic::Event(event) => self::event(*event),
            Topic::Metric(name) => {
                metric(catalog.get(name).expect("the catalog named the metric"), catalog)
            }
            Topic::Section(number) => section(number).expect("the section was found"),
            Topic::Cause(cause) => self::cause(*cause),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_kinds_are_found_in_any_spelling() {
        let catalog = sim_metrics::builtin::catalog();
        let found = |name: &str| find(name, &catalog).expect(name);
        assert_eq!(found("r03"), Topic::Event(PmuEvent::L1D_CACHE_REFILL));
        assert_eq!(found("4.2.1"), Topic::Event(PmuEvent::L1D_CACHE_REFILL));
        assert_eq!(found("L1D_MPKI"), Topic::Metric(String::from("l1d_mpki")));
        assert_eq!(found("section 5.4"), Topic::Section(String::from("5.4")));
        for name in ["L1I miss", "l1i-miss", "FetchL1iMiss"] {
            assert_eq!(found(name), Topic::Cause(StallCause::FetchL1iMiss));
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        let catalog = sim_metrics::builtin::catalog();
        let refused = |name: &str| find(name, &catalog).expect_err(name).to_string();
        assert!(refused("5.9").contains("5.1 to 5.8"));
        assert!(refused("l1d_cach").contains("the closest name is L1D_CACHE"));
        assert!(refused("").contains("unknown event ''"));
        assert!(refused("0x7fff").contains("no event has the number 0x7FFF"));
    }

    /// Covers every section and every cause: each has a meaning and a relation.
    #[test]
    fn every_section_and_every_cause_is_explained() {
        let catalog = sim_metrics::builtin::catalog();
        let sections = (1..=14).map(|n| format!("4.{n}")).chain((1..=8).map(|n| format!("5.{n}")));
        let causes = StallCause::ALL.iter().map(|cause| cause.label().to_owned());
        for name in sections.chain(causes) {
            let explained = find(&name, &catalog).expect(&name).explain(&catalog);
            assert!(!explained.counts.is_empty() && !explained.relations.is_empty(), "{name}");
        }
    }
}
