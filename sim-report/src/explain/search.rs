//! Search for the subjects that mention some words, for readers who do not know a name yet.

use std::fmt::Write;

use sim_core::StallCause;
use sim_core::pmu_event::PmuEvent;
use sim_metrics::formula::Catalog;

use super::{Explanation, cause, event, metric};

/// Most subjects that are listed.
const LISTED: usize = 12;
/// Words of readers for which the guide has another word.
const OTHER_WORDS: [(&str, &str); 7] = [
    ("miss", "refill"),
    ("misses", "refill"),
    ("l3", "ll"),
    ("llc", "ll"),
    ("slc", "ll"),
    ("eviction", "victim"),
    ("page", "table"),
];
/// Length of a word from which on it is found inside of other words.
const INNER: usize = 4;

/// Returns lines with the subjects that mention all words of `text`, best first: name and title of
/// each. The text is empty if no subject mentions them.
pub(super) fn mentions(text: &str, catalog: &Catalog) -> String {
    let words = words(text);
    if words.is_empty() {
        return String::new();
    }
    let events = PmuEvent::ALL.into_iter().map(event);
    let causes = StallCause::ALL.into_iter().map(cause);
    let metrics = catalog.metrics().iter().map(|one| metric(one, catalog));
    let scored =
        events.chain(causes).chain(metrics).map(|subject| (score(&subject, &words), subject));
    let mut found: Vec<(u32, Explanation)> = scored.filter(|(score, _)| *score > 0).collect();
    // A stable sort keeps events before causes and metrics.
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    list(&found)
}

fn list(found: &[(u32, Explanation)]) -> String {
    let mut lines = String::new();
    let names = found.iter().take(LISTED).map(|(_, subject)| subject.name.len());
    let width = names.max().unwrap_or(0);
    for (_, subject) in found.iter().take(LISTED) {
        let _ = write!(lines, "\n  {:width$}  {}", subject.name, subject.title);
    }
    if found.len() > LISTED {
        let _ = write!(lines, "\n  and {} more", found.len() - LISTED);
    }
    lines
}

/// Returns the words of a text in lower case.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect()
}

/// Returns how well a subject fits the words; 0 if it does not mention one of them.
fn score(subject: &Explanation, words: &[String]) -> u32 {
    let name = self::words(&subject.name);
    let title = self::words(&subject.title);
    let meaning: Vec<String> = subject.counts.iter().flat_map(|one| self::words(one)).collect();
    let score_of = |word: &str| {
        let is_in = |all: &[String]| all.iter().any(|other| is_like(other, word));
        // The name says more than the title, and that more than a sentence of the meaning.
        8 * u32::from(is_in(&name)) + 3 * u32::from(is_in(&title)) + u32::from(is_in(&meaning))
    };
    let best = |word: &String| {
        let others = OTHER_WORDS.iter().filter(|(theirs, _)| theirs == word);
        others.map(|(_, ours)| score_of(ours)).chain([score_of(word)]).max().unwrap_or(0)
    };
    let scores: Vec<u32> = words.iter().map(best).collect();
    if scores.contains(&0) { 0 } else { scores.iter().sum() }
}

/// Returns whether a word of a subject is the word searched for, or contains it.
fn is_like(other: &str, word: &str) -> bool {
    other == word || word.len() >= INNER && other.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(text: &str) -> Vec<String> {
        let catalog = sim_metrics::builtin::catalog();
        let lines = mentions(text, &catalog);
        let names = lines.lines().filter_map(|line| line.split_whitespace().next());
        names.map(str::to_owned).collect()
    }

    #[test]
    fn words_of_readers_find_the_events_of_the_guide() {
        assert!(first("cache miss").contains(&String::from("L1D_CACHE_REFILL")));
        let lmiss = first("lmiss");
        assert!(lmiss.len() > 3 && lmiss.iter().all(|name| name.contains("LMISS")), "{lmiss:?}");
        assert!(first("mispredicted branch").contains(&String::from("BR_MIS_PRED")));
        assert!(first("L3 miss").contains(&String::from("LL_CACHE_MISS_RD")));
        assert!(first("page walk").contains(&String::from("DTLB_WALK")));
    }

    #[test]
    fn long_lists_are_cut_and_unknown_words_find_nothing() {
        assert!(mentions("cache", &sim_metrics::builtin::catalog()).contains("more"));
        assert_eq!(first("cache").len(), LISTED + 1);
        assert_eq!(first("nothing_like_it"), Vec::<String>::new());
        assert_eq!(first("  "), Vec::<String>::new());
    }
}
