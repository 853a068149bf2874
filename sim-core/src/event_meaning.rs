//! Events by the meaning of a name, for names that Arm does not use: `L1D_CACHE_MISS` means
//! [`PmuEvent::L1D_CACHE_REFILL`] or [`PmuEvent::L1D_CACHE_LMISS_RD`].
//!
//! The words are data: each row of the table has words of other tools and books, and the words that
//! Arm's mnemonics have in their place.

use crate::PmuEvent;

/// Words of a reader, and of Arm for the same.
struct Meaning {
    /// Words of a reader, in capital letters.
    words: &'static [&'static str],
    /// Parts of Arm's mnemonics, each one meaning; the usual one first. An empty part is a word
    /// that Arm leaves out.
    arm: &'static [&'static str],
    /// Remark that a message adds, without a period.
    remark: &'static str,
}

const fn row(words: &'static [&'static str], arm: &'static [&'static str]) -> Meaning {
    Meaning { words, arm, remark: "" }
}

/// All words. A word that is not here means itself.
const MEANINGS: [Meaning; 27] = [
    row(&["MISS", "MISSES", "MISSED"], &["REFILL", "LMISS", "MISS"]),
    Meaning {
        words: &["HIT", "HITS"],
        arm: &[""],
        remark: "no event counts hits: subtract the refills from the accesses",
    },
    row(&["REFILLS", "FILL", "FILLS"], &["REFILL"]),
    row(&["ACCESSES", "REFERENCES", "LOOKUP", "LOOKUPS"], &[""]),
    row(&["READ", "READS", "LOAD", "LOADS", "LD"], &["RD", "LD"]),
    row(&["WRITE", "WRITES", "STORE", "STORES", "ST"], &["WR", "ST"]),
    row(&["WRITEBACK", "WRITEBACKS", "EVICT", "EVICTS", "EVICTION", "EVICTIONS"], &["WB"]),
    row(&["VICTIM", "VICTIMS", "DIRTY"], &["WB_VICTIM"]),
    row(&["INVALIDATE", "INVALIDATION", "INVALIDATIONS"], &["INVAL"]),
    row(&["L1"], &["L1D", "L1I"]),
    row(&["L2"], &["L2D"]),
    row(&["L3", "SLC", "LLC", "LL"], &["LL_CACHE"]),
    row(&["DTLB"], &["L1D_TLB", "DTLB"]),
    row(&["ITLB"], &["L1I_TLB", "ITLB"]),
    row(&["DCACHE"], &["L1D_CACHE"]),
    row(&["ICACHE"], &["L1I_CACHE"]),
    row(&["TLB"], &["TLB", "L1D_TLB"]),
    row(&["PAGE"], &[""]),
    row(&["PAGEWALK", "PAGEWALKS", "WALKS"], &["WALK"]),
    row(&["MISPREDICT", "MISPREDICTS", "MISPREDICTED", "MISPREDICTION"], &["MIS_PRED"]),
    row(&["MISPREDICTIONS", "MISPRED"], &["MIS_PRED"]),
    row(&["BRANCH", "BRANCHES"], &["BR"]),
    row(&["CYCLE", "CYCLES", "CLOCKS"], &["CPU_CYCLES"]),
    row(&["INSTRUCTIONS", "INSTRUCTION", "INSTS", "INSNS"], &["INST_RETIRED", "INST"]),
    row(&["EXECUTED", "SPECULATIVE"], &["SPEC"]),
    row(&["EXCEPTION", "EXCEPTIONS"], &["EXC_TAKEN"]),
    row(&["STALLS", "STALLED"], &["STALL"]),
];

/// Largest number of events that a message names.
const SHOWN: usize = 3;
/// Largest number of words of a name; longer ones are not looked up.
const WORDS_MAX: usize = 6;

/// Events that a name may mean.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meant {
    /// The events, the likeliest first.
    pub events: Vec<PmuEvent>,
    /// Remark about the words, empty for most.
    pub remark: &'static str,
}

impl Meant {
    /// Returns true if no event was found.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Returns the events with their titles, as a part of a message.
    pub fn list(&self) -> String {
        let title = |event: &PmuEvent| format!("{} ({})", event.mnemonic(), event.info().title);
        let events = self.events.iter().map(title).collect::<Vec<_>>().join(", ");
        match self.remark {
            "" => events,
            remark => format!("{events}; {remark}"),
        }
    }
}

/// Returns the events that `name` means by its words. Empty if no word of it is in the table, or no
/// event has all its words.
pub fn meant(name: &str) -> Meant {
    let upper = name.to_ascii_uppercase();
    let words: Vec<&str> =
        upper.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let rows: Vec<Option<&Meaning>> = words.iter().map(|word| of(word)).collect();
    if words.len() > WORDS_MAX || rows.iter().all(Option::is_none) {
        return Meant::default();
    }
    let remark = rows.iter().flatten().map(|row| row.remark).find(|own| !own.is_empty());
    let mut readings = vec![String::new()];
    for (word, row) in words.iter().zip(&rows) {
        let own = [*word];
        let parts = row.map_or(&own[..], |row| row.arm);
        let joined = |head: &String| {
            let head = head.clone();
            parts.iter().map(move |part| format!("{head}_{part}"))
        };
        readings = readings.iter().flat_map(joined).collect();
    }
    let mut events = Vec::new();
    for event in readings.iter().filter_map(|reading| best(reading)) {
        if !events.contains(&event) {
            events.push(event);
        }
    }
    events.truncate(SHOWN);
    Meant { remark: remark.filter(|_| !events.is_empty()).unwrap_or_default(), events }
}

fn of(word: &str) -> Option<&'static Meaning> {
    MEANINGS.iter().find(|row| row.words.contains(&word))
}

/// Returns the event that has all words of `reading` and the fewest others.
fn best(reading: &str) -> Option<PmuEvent> {
    let words: Vec<&str> = reading.split('_').filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        return None;
    }
    let has_all = |event: &PmuEvent| {
        words.iter().all(|word| event.mnemonic().split('_').any(|own| own == *word))
    };
    let length = |event: &PmuEvent| event.mnemonic().split('_').count();
    PmuEvent::ALL.into_iter().filter(has_all).min_by_key(length)
}

/// Events that an unknown name may mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nearest {
    /// No event resembles the name.
    Nothing,
    /// The mnemonic with nearly the same letters.
    Name(&'static str),
    /// Events that the words of the name mean.
    Meaning(Meant),
}

impl Nearest {
    /// Returns the mnemonic of the likeliest event.
    pub fn first(&self) -> Option<&'static str> {
        match self {
            Nearest::Nothing => None,
            Nearest::Name(name) => Some(name),
            Nearest::Meaning(meant) => meant.events.first().map(|event| event.mnemonic()),
        }
    }
}

/// Returns the part of a message that names them.
pub(crate) fn hint(nearest: &Nearest) -> String {
    match nearest {
        Nearest::Nothing => String::new(),
        Nearest::Name(name) => format!("; the closest name is {name}"),
        Nearest::Meaning(meant) => format!("; the nearest in meaning: {}", meant.list()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<&'static str> {
        meant(text).events.into_iter().map(PmuEvent::mnemonic).collect()
    }

    #[test]
    fn words_of_other_tools_mean_events() {
        for (text, expected) in [
            ("L1D_CACHE_MISS", &["L1D_CACHE_REFILL", "L1D_CACHE_LMISS_RD"][..]),
            ("l1d cache miss", &["L1D_CACHE_REFILL", "L1D_CACHE_LMISS_RD"]),
            ("L1I_MISSES", &["L1I_CACHE_REFILL", "L1I_CACHE_LMISS"]),
            ("L2_CACHE_WRITEBACK", &["L2D_CACHE_WB"]),
            ("L1D_CACHE_HIT", &["L1D_CACHE"]),
            ("DTLB_MISS", &["L1D_TLB_REFILL"]),
            ("L2_TLB_MISS", &["L2D_TLB_REFILL"]),
            ("LLC_MISS", &["LL_CACHE_MISS_RD"]),
            ("BRANCH_MISPREDICTS", &["BR_MIS_PRED"]),
            ("DTLB_PAGE_WALKS", &["DTLB_WALK"]),
        ] {
            let found = names(text);
            assert!(found.starts_with(expected), "{text}: {found:?}");
        }
    }

    #[test]
    fn hits_have_a_remark_and_unknown_words_mean_nothing() {
        assert!(meant("L1D_CACHE_HITS").list().contains("no event counts hits"));
        for text in ["", "XYZZY", "SLOTS_OF_THIS_CORE", "L1D_CACHE_REFIL", "XYZZY_MISS"] {
            assert_eq!(meant(text), Meant::default(), "{text}");
        }
    }

    #[test]
    fn each_word_is_in_one_row_and_each_part_in_an_event() {
        let words: Vec<&str> = MEANINGS.iter().flat_map(|row| row.words).copied().collect();
        for (i, word) in words.iter().enumerate() {
            assert!(!words[i + 1..].contains(word), "{word} twice");
        }
        for part in MEANINGS.iter().flat_map(|row| row.arm).filter(|part| !part.is_empty()) {
            assert!(best(part).is_some(), "{part} is not a part of a mnemonic");
        }
    }
}
