//! Compares `sim-isa` with `fARM64`, an independent decoder, on every distinct word of real
//! libraries and on random words.
//!
//! A difference is either explained in [`known`] or a failure. The libraries are Debian's arm64
//! packages, fetched into `target/isa-check` without touching the system's package database.

mod compare;
mod fetch;
mod known;
mod words;

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use compare::{Difference, Verdict, compare};

/// Options of `cargo xtask isa-check`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Read words from an arm64 ELF file, instead of the Debian packages; may be repeated
    #[arg(long = "lib", value_name = "NAME=PATH")]
    libs: Vec<String>,
    /// Read words from a file, one hexadecimal number at the beginning of each line; may be
    /// repeated
    #[arg(long = "words", value_name = "NAME=PATH")]
    words: Vec<String>,
    /// Number of random words to decode as well; each is compared like the others
    #[arg(long, default_value_t = 1_000_000)]
    random: u64,
    /// Seed of the random words
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write up to this many agreed words of each mnemonic to this file, as a test corpus
    #[arg(long, value_name = "FILE")]
    corpus: Option<PathBuf>,
    /// Number of words of each mnemonic in the corpus
    #[arg(long, default_value_t = 6)]
    corpus_depth: usize,
}

/// Runs the check. Returns false when a difference stays unexplained.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let mut sources = Vec::new();
    for (name, path) in named_paths(&args.libs)? {
        sources.push((name, words::of_elf(&path)?));
    }
    for (name, path) in named_paths(&args.words)? {
        sources.push((name, words::of_list(&path)?));
    }
    if sources.is_empty() {
        for (name, path) in fetch::libraries()? {
            sources.push((name, words::of_elf(&path)?));
        }
    }
    sources.push((format!("random, seed {}", args.seed), random_words(args.random, args.seed)));
    let mut report = Report::default();
    println!("{}", Counts::HEADING);
    for (name, words) in &sources {
        report.add(name, words);
    }
    report.print_differences();
    if let Some(path) = &args.corpus {
        let text = compare::corpus(sources.iter().flat_map(|(_, words)| words), args.corpus_depth);
        std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(report.unexplained() == 0)
}

fn named_paths(args: &[String]) -> Result<Vec<(String, PathBuf)>> {
    args.iter()
        .map(|arg| match arg.split_once('=') {
            Some((name, path)) => Ok((name.to_owned(), PathBuf::from(path))),
            None => bail!("{arg}: write NAME=PATH"),
        })
        .collect()
}

fn random_words(count: u64, seed: u64) -> Vec<u32> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut words: Vec<u32> = (0..count).map(|_| rng.next_u32()).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// Numbers of distinct words of one source, by the answers of the two decoders.
#[derive(Default)]
struct Counts {
    agreeing: u64,
    explained: u64,
    unexplained: u64,
    /// `fARM64` rejects words that `sim-isa` knows: mostly unpredictable register choices.
    ours_alone: u64,
    /// Other extensions and unallocated words, by [`known`].
    not_of_the_core: u64,
    /// Words of the core that `sim-isa` does not know.
    missing: u64,
    no_instruction: u64,
}

impl Counts {
    const HEADING: &str = "words of              distinct  of the core  classified   agreeing  \
                           explained  other extension  no instruction";

    fn print(&self, name: &str, distinct: usize) {
        let both = self.agreeing + self.explained + self.unexplained;
        let of_core = both + self.missing;
        let percent = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
        println!(
            "{name:<20} {distinct:>9} {of_core:>12} {:>10.3}% {:>10.3}% {:>10} {:>16} {:>15}",
            percent(both, of_core),
            percent(self.agreeing, both),
            self.explained,
            self.not_of_the_core,
            self.no_instruction + self.ours_alone,
        );
    }
}

/// Differences seen so far: the number of words, and one of them.
#[derive(Default)]
struct Report {
    differences: BTreeMap<Difference, (u64, u32)>,
}

impl Report {
    /// Compares all words of one source and prints its line.
    fn add(&mut self, name: &str, words: &[u32]) {
        let mut counts = Counts::default();
        for &word in words {
            match compare(word) {
                Verdict::Agree => counts.agreeing += 1,
                Verdict::Differ(difference) => {
                    match known::explain(&difference) {
                        Some(_) => counts.explained += 1,
                        None => counts.unexplained += 1,
                    }
                    self.count(difference, word);
                }
                Verdict::OnlyOurs => counts.ours_alone += 1,
                Verdict::OnlyTheirs(difference) => {
                    match known::explain(&difference) {
                        Some(_) => counts.not_of_the_core += 1,
                        None => counts.missing += 1,
                    }
                    self.count(difference, word);
                }
                Verdict::NeitherKnows => counts.no_instruction += 1,
            }
        }
        counts.print(name, words.len());
    }

    fn count(&mut self, difference: Difference, word: u32) {
        let entry = self.differences.entry(difference).or_insert((0, word));
        entry.0 += 1;
    }

    fn unexplained(&self) -> usize {
        self.differences.keys().filter(|difference| known::explain(difference).is_none()).count()
    }

    fn print_differences(&self) {
        let mut by_reason: BTreeMap<&str, (u64, Vec<&str>)> = BTreeMap::new();
        for (difference, &(count, word)) in &self.differences {
            match known::explain(difference) {
                Some(reason) => {
                    let entry = by_reason.entry(reason).or_default();
                    entry.0 += count;
                    entry.1.push(&difference.mnemonic);
                }
                None => println!("unexplained: {difference} ({count} words, for one {word:08x})"),
            }
        }
        for (reason, (count, mnemonics)) in &mut by_reason {
            mnemonics.dedup();
            println!("{count:>8} words, {:>3} mnemonics: {reason}", mnemonics.len());
        }
        println!("{} differences unexplained", self.unexplained());
    }
}
