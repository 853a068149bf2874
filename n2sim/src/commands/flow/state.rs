//! States before an access, by common names. Each name is short for a `given` of the scenarios.

use sim_core::LINE_BYTES;
use sim_machine::MachineConfig;

/// Names of the usual states, with their meanings.
const WORDS: [(&str, &str); 9] = [
    ("cold", "K0"),
    ("TLB warm", "K1"),
    ("L2 hit", "K2"),
    ("L1 hit", "K3"),
    ("L1 hit dirty", "K3d"),
    ("TLB miss", "K3, TLBs empty"),
    ("L1 TLB miss", "K3, pages in L2 TLB"),
    ("SLC hit", "K1, lines in SLC"),
    ("peer", "K1, lines in peer"),
];
/// Every way of the line's set in the L1 D-cache holds a dirty line of another address.
const DIRTY_VICTIM: &str = "dirty victim";

/// Returns a state in the language of scenarios. Names at its start are replaced; clauses may
/// follow them.
pub(super) fn given(state: &str, first: Option<u64>, config: &MachineConfig) -> String {
    let (head, clauses) = match state.find([',', ';']) {
        Some(at) => state.split_at(at),
        None => (state, ""),
    };
    let head = head.trim();
    if head.eq_ignore_ascii_case(DIRTY_VICTIM) {
        return dirty_victim(first.unwrap_or(0), config) + clauses;
    }
    let known = WORDS.iter().find(|(words, _)| words.eq_ignore_ascii_case(head));
    known.map_or_else(|| state.to_owned(), |(_, given)| (*given).to_owned() + clauses)
}

/// Returns a `given` with as many dirty lines as the set of the address has ways.
fn dirty_victim(first: u64, config: &MachineConfig) -> String {
    let shape = &config.memory.l1d;
    let apart = shape.size_bytes / u64::from(shape.ways);
    let line = first / LINE_BYTES * LINE_BYTES;
    let others = (1..=u64::from(shape.ways)).map(|way| line.wrapping_add(way * apart));
    let listed: Vec<String> = others.map(|addr| format!("0x{addr:x}")).collect();
    format!("K1, {} dirty in L1D", listed.join(" "))
}

/// Returns all names, for messages.
pub(super) fn words() -> String {
    let words = WORDS.iter().map(|(words, _)| *words).chain([DIRTY_VICTIM]);
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_machine::ConfigSource;
    use sim_scenario::parse_steps;

    fn config() -> MachineConfig {
        let document = ConfigSource::default().document().expect("built in");
        MachineConfig::from_document(&document).expect("a machine")
    }

    #[test]
    fn every_word_is_a_state_of_the_scenarios() {
        let config = config();
        for words in words().split(", ") {
            let given = given(words, Some(0x8000), &config);
            parse_steps(("", &given), ("", "LD8 0x8000"))
                .unwrap_or_else(|e| panic!("{given}: {e}"));
            assert_ne!(given, words);
        }
    }

    #[test]
    fn clauses_follow_words_and_anything_else_is_the_language_itself() {
        let config = config();
        assert_eq!(given("Cold, 0x8000 in SLC", None, &config), "K0, 0x8000 in SLC");
        assert_eq!(given("K2; TLBs empty", None, &config), "K2; TLBs empty");
        assert_eq!(
            given("dirty victim", Some(0x8008), &config),
            "K1, 0xc000 0x10000 0x14000 0x18000 dirty in L1D"
        );
    }
}
