//! The kernels below `tests/kernels` match their sources and reach every cost of the instruction
//! tables, and the pages have the figures of both cores for them.

use std::sync::OnceLock;

use sim_isa::{Special, cost_rows, decode};
use sim_tests::accuracy::{default_config, page_of, part_three};
use sim_tests::kernels::a53::{self, A53Table};
use sim_tests::kernels::corpus::{corpus, parse_words, regions, sources};
use sim_tests::kernels::llvm::{A53Figures, Figures, N2Figures, assemble, kept, tool};
use sim_tests::kernels::measure::{self, N2Table};
use sim_tests::kernels::page::a53_page;
use sim_tests::kernels::table::{Row, Table, summary};
use sim_tests::{read, repository};

/// Least number of kernels that are compared with LLVM.
const COMPARED: usize = 300;
/// Least part of them that must agree after the causes, and the largest mean distance.
const AGREEING: f64 = 0.95;
const MEAN: f64 = 0.05;

fn table() -> &'static N2Table {
    static TABLE: OnceLock<N2Table> = OnceLock::new();
    TABLE.get_or_init(|| measure::table(&default_config().pipeline))
}

fn a53_table() -> &'static A53Table {
    static TABLE: OnceLock<A53Table> = OnceLock::new();
    TABLE.get_or_init(a53::table)
}

/// Returns the number of instructions of a kernel's source, its repeated blocks written out.
fn instructions(lines: &[&str]) -> usize {
    let (mut count, mut times) = (0, 1);
    for line in lines.iter().map(|line| line.trim()) {
        if let Some(list) = line.strip_prefix(".irp r,") {
            times = list.split(',').count();
        } else if let Some(number) = line.strip_prefix(".rept ") {
            times = number.parse().expect(".rept has a number");
        } else if line == ".endr" {
            times = 1;
        } else if !line.is_empty() && !line.starts_with('#') {
            count += times;
        }
    }
    count
}

#[test]
fn a_kernel_has_as_many_words_as_its_source_has_instructions() {
    let mut seen = 0;
    for path in sources() {
        let words = parse_words(&read(&path.with_extension("words")));
        for (name, lines) in regions(&read(&path)) {
            assert_eq!(words.get(&name).map_or(0, Vec::len), instructions(&lines), "{name}");
            seen += 1;
        }
    }
    assert_eq!(seen, corpus().len());
}

#[test]
fn the_words_equal_the_assembled_source() {
    // Without LLVM the count above and the decoder below still check the words.
    let Some(tool) = tool("llvm-mc") else { return };
    for path in sources() {
        let kept = parse_words(&read(&path.with_extension("words")));
        for (name, words) in assemble(&tool, &read(&path)).unwrap_or_else(|error| panic!("{error}"))
        {
            let hex = |words: &[sim_tests::kernels::corpus::Word]| -> Vec<String> {
                words.iter().map(|word| format!("{:08x}", word.word)).collect()
            };
            let kept = kept.get(&name).map_or_else(Vec::new, |words| hex(words));
            assert_eq!(hex(&words), kept, "{name}: run `cargo xtask compare-mca`");
        }
    }
}

#[test]
fn every_word_is_an_instruction_of_the_core() {
    for kernel in corpus() {
        for word in &kernel.words {
            let inst = decode(word.word);
            assert_ne!(inst.special, Special::Unknown, "{}: {}", kernel.name, word.text);
        }
    }
}

#[test]
fn every_cost_of_the_instruction_tables_is_reached_by_a_kernel() {
    let insts: Vec<_> =
        corpus().iter().flat_map(|kernel| &kernel.words).map(|word| decode(word.word)).collect();
    let rows = cost_rows();
    let missing: Vec<_> =
        rows.iter().filter(|row| !insts.iter().any(|inst| row.is_of(inst))).collect();
    assert!(rows.len() > 100, "the tables have {} costs", rows.len());
    assert!(missing.is_empty(), "no kernel has: {missing:#?}");
}

#[test]
fn names_are_unique_and_every_kernel_has_its_figures() {
    let mut names: Vec<String> = corpus().into_iter().map(|kernel| kernel.name).collect();
    names.sort();
    let n2: Vec<String> = kept::<N2Figures>().into_keys().collect();
    let a53: Vec<String> = kept::<A53Figures>().into_keys().collect();
    assert_eq!(names, n2, "run `cargo xtask compare-mca`");
    assert_eq!(names, a53, "run `cargo xtask compare-mca`");
}

#[test]
fn every_difference_from_llvm_has_a_cause_and_no_agreement_has_one() {
    for (core, problems) in [("n2", table().problems()), ("a53", a53_table().problems())] {
        assert!(problems.is_empty(), "{core}, causes.toml:\n{}", problems.join("\n"));
    }
}

#[test]
fn a_kernel_of_the_cortex_a53_needs_each_of_its_causes() {
    let unneeded = a53::unneeded(a53_table());
    assert!(unneeded.is_empty(), "tests/kernels/cortex-a53:\n{}", unneeded.join("\n"));
    for cause in &a53_table().causes {
        assert!(!cause.kernels.is_empty() && !cause.view.is_empty(), "{}", cause.id);
    }
}

#[test]
fn the_models_agree_after_the_listed_causes() {
    check_agreement("n2", table());
    check_agreement("a53", a53_table());
}

/// A cause that is LLVM's timing of an instruction is so in every kernel.
#[test]
fn the_causes_of_the_cortex_a53_hold_in_all_kernels() {
    let agreeing = a53::agreement_with_every_view(a53_table());
    assert!(agreeing >= AGREEING, "{:.1} % of the kernels agree", 100.0 * agreeing);
}

fn check_agreement<F: Figures, V>(core: &str, table: &Table<F, V>) {
    let (n, close, mean) = summary(table.compared().filter_map(Row::ratio_after));
    assert!(n >= COMPARED, "{core}: {n} kernels are compared");
    assert!(close >= AGREEING, "{core}: {:.1} % of the kernels agree", 100.0 * close);
    assert!(mean <= MEAN, "{core}: the mean distance is {:.1} %", 100.0 * mean);
}

#[test]
fn the_page_has_the_current_figures() {
    let kept = read(&repository().join("docs/accuracy.md"));
    let page = page_of(&default_config(), table(), part_three(&kept));
    let differs = page.lines().zip(kept.lines()).find(|(now, then)| now != then);
    assert!(
        page == kept,
        "run `cargo xtask accuracy --quick`: the first difference is {differs:#?}"
    );
}

#[test]
fn the_page_of_the_cortex_a53_has_the_current_figures() {
    let kept = read(&repository().join("docs/cortex-a53.md"));
    let page = a53_page(&kept, a53_table());
    let differs = page.lines().zip(kept.lines()).find(|(now, then)| now != then);
    assert!(
        page == kept,
        "run `cargo xtask accuracy --quick`: the first difference is {differs:#?}"
    );
}
