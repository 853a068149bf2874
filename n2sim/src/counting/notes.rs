//! Notes for the reader of counts.

use std::io::{self, Write};

use sim_core::PmuEvent;
use sim_machine::Outcome;
use sim_report::perf_stat::grouped;

/// Words unknown to the decoder that are listed by name.
const UNKNOWN_WORDS_SHOWN: usize = 8;

/// Lists the words that the decoder does not know, because counts are incomplete where they ran.
pub(crate) fn write_unknown_words(out: &mut impl Write, outcome: &Outcome) -> io::Result<()> {
    let mut words: Vec<_> = outcome.cores.iter().flat_map(|core| &core.unknown_words).collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.executions));
    let executions: u64 = words.iter().map(|word| word.executions).sum();
    if words.is_empty() {
        return Ok(());
    }
    let retired = outcome.total().value(PmuEvent::INST_RETIRED);
    writeln!(
        out,
        "n2sim: {} words are unknown to the decoder and ran as one-cycle operations, {} of {} \
         instructions:",
        words.len(),
        grouped(executions),
        grouped(retired)
    )?;
    for word in words.iter().take(UNKNOWN_WORDS_SHOWN) {
        let times = grouped(word.executions);
        writeln!(out, "  {:08x} at 0x{:x}, {times} times", word.word, word.pc)?;
    }
    if words.len() > UNKNOWN_WORDS_SHOWN {
        writeln!(out, "  and {} more", words.len() - UNKNOWN_WORDS_SHOWN)?;
    }
    Ok(())
}
