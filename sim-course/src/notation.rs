//! The notation of setups: each term that a lesson uses, with its meaning.
//!
//! One table has all terms, for the pages of a course kit and for the playground. A scenario may
//! use others; `docs/scenarios.md` has all of them.

use serde::Serialize;

use crate::lesson::Lesson;
use crate::setup::{Run, Scenario};

/// A term of the notation, as a reader finds it in a setup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Term {
    /// The term, such as `K1` or `s &x 6`.
    pub sign: String,
    /// Its meaning.
    pub meaning: String,
}

/// Part of a text that makes a term occur.
#[derive(Clone, Copy)]
enum Mark {
    /// A word of the state.
    Base(&'static str),
    /// Words of the state.
    Clause(&'static str),
    /// A word of the steps.
    Word(&'static str),
    /// A word of the steps that ends in a number of bytes, such as `LD8`: its letters.
    Sized(&'static str),
    /// A word of the steps that begins so.
    Start(&'static str),
    /// A sign of the steps.
    Sign(&'static str),
    /// A changed key of the configuration.
    Key(&'static str),
}

use Mark::{Base, Clause, Key, Sign, Sized, Start, Word};

/// Mark, term, meaning. In a term of [`Mark::Sized`] `#` is the number of bytes.
const TABLE: [(Mark, &str, &str); 37] = [
    (Base("K0"), "K0", "nothing is in any cache or TLB"),
    (Base("K1"), "K1", "the pages of the steps are in the TLBs, their lines in DRAM only"),
    (Base("K2"), "K2", "the pages of the steps are in the TLBs, their lines in the L2"),
    (Base("K3"), "K3", "the pages of the steps are in the TLBs, their lines in the L1 and the L2"),
    (Base("K3d"), "K3d", "as K3, with lines that the L1 D-cache has to write back"),
    (Clause("TLBs empty"), "TLBs empty", "no translation is in a TLB"),
    (Clause("in a 2 MiB block"), "pages in a 2 MiB block", "one translation covers 2 MiB"),
    (Clause("contiguous"), "pages contiguous", "one TLB entry covers 16 pages"),
    (Clause("unmapped"), "pages unmapped", "no translation exists: a fault"),
    (Clause("in SLC"), "lines in SLC", "the lines are in the system level cache"),
    (Clause("in peer"), "lines in peer", "the lines are in another core's cache"),
    (Clause("shared"), "lines shared", "another core has a copy of the lines"),
    (Clause("trained"), "trained", "the branch predictor knows the branches of the steps"),
    (Clause("own fetches"), "own fetches", "the fetches of the steps are counted too"),
    (Sized("LD"), "LD# A", "a load of # bytes from address A"),
    (Sized("ST"), "ST# A", "a store of # bytes to address A"),
    (Sized("LDADD"), "LDADD# A", "an atomic addition to # bytes at address A"),
    (Word("PLD"), "PLD A", "a software prefetch of the line at address A"),
    (Word("IF"), "IF A", "an instruction fetch at address A"),
    (Word("SNP-U"), "SNP-U A", "another core takes the line at address A to write to it"),
    (Word("SNP-S"), "SNP-S A", "another core asks for the line at address A to read it"),
    (Word("UDIV"), "UDIV", "an integer division, which takes many cycles"),
    (Word("ADD"), "ADD", "an addition"),
    (Word("CBZ"), "CBZ X0 taken", "a branch that depends on register X0; here it is taken"),
    (Word("B.EQ"), "B.EQ taken", "a branch that depends on the flags; here it is taken"),
    (
        Sign("else"),
        "else { s }",
        "code in the direction that the branch does not take: a wrong path",
    ),
    (Sign("["), "[s]", "s runs on a wrong path and is squashed"),
    (Sign(";"), "s ; t", "t begins when s is complete"),
    (Sign("&"), "s & t", "t is issued while s may still wait"),
    (Sign("x"), "s x 8", "s eight times, each after the one before is complete"),
    (Sign("&x"), "s &x 8", "s eight times, each issued without waiting for the one before"),
    (Word("step"), "s step 64 x 8", "each repetition is at an address 64 bytes further"),
    (Start("0x"), "0x8000", "an address; a line has 0x40 bytes, a page 0x1000"),
    (Start("a"), "a0 ... a4", "five lines of one set of the L1 D-cache"),
    (Key("memory.l1d.ways"), "memory.l1d.ways", "lines in a set of the L1 D-cache"),
    (
        Key("memory.l1d.replacement"),
        "memory.l1d.replacement",
        "choice of the line that a refill replaces",
    ),
    (Key("memory.prefetch"), "memory.prefetch", "the prefetchers, which are off without it"),
];

impl Lesson {
    /// Returns the terms that the setups of the lesson use, each once, in the order of the table.
    pub fn notation(&self) -> Vec<Term> {
        let scenarios: Vec<&Scenario> = self.setups.iter().filter_map(scenario).collect();
        let terms = TABLE.iter().flat_map(|(mark, sign, meaning)| {
            let sizes = scenarios.iter().flat_map(|scenario| mark.sizes(scenario));
            let mut sizes: Vec<String> = sizes.collect();
            sizes.sort_by_key(|size| (size.len(), size.clone()));
            sizes.dedup();
            let term = |size: String| Term {
                sign: sign.replace('#', &size),
                meaning: meaning.replace('#', &size),
            };
            sizes.into_iter().map(term).collect::<Vec<_>>()
        });
        terms.collect()
    }
}

fn scenario(setup: &crate::setup::Setup) -> Option<&Scenario> {
    match &setup.run {
        Run::Scenario(scenario) => Some(scenario),
        Run::Trace(_) => None,
    }
}

impl Mark {
    /// Returns the sizes with which the mark occurs: an empty text for a mark without a size.
    fn sizes(self, scenario: &Scenario) -> Vec<String> {
        let words = words(&scenario.done);
        let occurs = match self {
            Base(name) => self::words(&scenario.given).first().is_some_and(|base| base == name),
            Clause(text) => scenario.given.contains(text),
            Word(name) | Sign(name) => words.iter().any(|word| word == name),
            Start(begin) => words.iter().any(|word| {
                let rest = word.strip_prefix(begin).unwrap_or_default();
                rest.starts_with(|letter: char| letter.is_ascii_hexdigit())
            }),
            Key(begin) => scenario.set.iter().any(|(key, _)| key.starts_with(begin)),
            Sized(name) => {
                let size = |word: &String| {
                    let digits = word.strip_prefix(name)?;
                    let is_size = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
                    is_size.then(|| digits.to_owned())
                };
                return words.iter().filter_map(size).collect();
            }
        };
        if occurs { vec![String::new()] } else { Vec::new() }
    }
}

/// Returns the words and signs of steps or of a state; `&x` is one sign.
fn words(text: &str) -> Vec<String> {
    let mut spaced = String::new();
    for letter in text.chars() {
        match ";&{}[],".contains(letter) {
            true => spaced.extend([' ', letter, ' ']),
            false => spaced.push(letter),
        }
    }
    let mut words: Vec<String> = Vec::new();
    for word in spaced.split_whitespace() {
        match words.last_mut().filter(|last| word == "x" && *last == "&") {
            Some(last) => last.push('x'),
            None => words.push(word.to_owned()),
        }
    }
    words
}
