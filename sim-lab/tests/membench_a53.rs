//! The memory of the Cortex-A53, measured as silicon is.

use sim_a53::A53Config;
use sim_a53::cluster::EMBEDDED;
use sim_core::config::Document;
use sim_lab::membench::a53::{self, A53Level, TARGETS};

fn config(overrides: &[&str]) -> A53Config {
    let document = Document::from_embedded(EMBEDDED[0].name, &EMBEDDED).expect("embedded");
    let set = |document: Document, text: &&str| document.set(text).expect("a key");
    let document = overrides.iter().fold(document, set);
    A53Config::from_document(&document).expect("a core")
}

#[test]
fn a_chase_takes_as_long_as_published() {
    for (target, footprint) in TARGETS {
        let cycles = a53::latency(&config(&[]), footprint).cycles[0];
        assert!(target.is_met_by(cycles), "{}: {cycles:.2}", target.quantity);
    }
}

/// A chain of loads on more pages than a TLB holds refills it for every load.
#[test]
fn translation_costs_more_from_one_page_above_the_entries_of_a_tlb() {
    for entries in [6, 10] {
        let config = config(&[&format!("memory.micro-tlb.data-entries={entries}")]);
        let [within, beyond] = [entries, entries + 1].map(|pages| a53::knee(&config, pages));
        assert_eq!((within.micro_tlb_refills, beyond.micro_tlb_refills), (0.0, 1.0));
        let refill = beyond.cycles - within.cycles;
        assert!((2.9..3.1).contains(&refill), "refill-cycles is 3: {refill}");
    }
    for entries in [64, 128] {
        // An L1 cache with room for the tables beside the data.
        let entries_key = format!("memory.main-tlb.entries={entries}");
        let config = config(&[&entries_key, "memory.l1d.size-bytes=64K"]);
        let pages = [entries, 2 * entries];
        let [within, beyond] = pages.map(|pages| a53::knee(&config, pages).cycles);
        // The page of the loop is the fifth of its set, so that a few loads walk. A walk reads one
        // descriptor from the L1 cache, in three cycles. Victims are random, so that some pages of
        // a set with too many stay.
        assert!(within < 6.3, "{entries} entries: {within} cycles");
        assert!((8.0..9.1).contains(&beyond), "{entries} entries: {beyond} cycles");
    }
}

#[test]
fn latency_rises_at_the_size_of_each_cache() {
    for kb in [16, 32] {
        let config = config(&[&format!("memory.l1d.size-bytes={kb}K")]);
        let [within, beyond] =
            [kb << 10, (kb + kb / 2) << 10].map(|bytes| a53::latency(&config, bytes).cycles[1]);
        assert!(within < 3.1 && beyond > 7.0, "{kb} KB: {within} and {beyond}");
    }
}

#[test]
fn the_prefetcher_speeds_up_streams_and_no_random_chase() {
    let config = config(&[]);
    for level in A53Level::ALL {
        let [on, off] = [true, false].map(|prefetch| a53::read_rate(&config, level, prefetch));
        let factor = on.bytes_per_cycle / off.bytes_per_cycle;
        match level {
            A53Level::L1 => assert!((0.99..1.01).contains(&factor), "{factor}"),
            _ => assert!(factor > 1.5, "{}: {factor}", level.label()),
        }
    }
    let [_, with, without] = a53::latency(&config, 256 << 10).cycles;
    assert!((with - without).abs() < 0.3, "{with} and {without}");
}
