//! Wrong paths: what issues after a mispredicted branch before it resolves.
//!
//! Cortex-A53 manual, table 12.28: L1D_CACHE and MEM_ACCESS count accesses, BR_PRED branches that
//! execute speculatively, and LD_RETIRED those that complete.

use sim_a53::bench::{Cluster, Executed};
use sim_a53::cluster::EMBEDDED;
use sim_a53::{A53Config, A53Counts, A53Event};
use sim_core::config::Document;

/// `CBZ X0, +64`, taken, which a new predictor takes for untaken.
const BRANCH: u32 = 0xB400_0200;
/// `LDR X1, [X2]` and `LDR X3, [X1]`.
const LOAD: u32 = 0xF940_0041;
const DEPENDENT_LOAD: u32 = 0xF940_0023;
/// `STR X1, [X2]`, `NOP` and `B -4`.
const STORE: u32 = 0xF900_0041;
const NOP: u32 = 0xD503_201F;
const BRANCH_BACK: u32 = 0x17FF_FFFF;

const PC: u64 = 0x10_0000;
const DATA: u64 = 0x20_0000;

fn config(settings: &[&str]) -> A53Config {
    let mut document = Document::from_embedded(EMBEDDED[0].name, &EMBEDDED).expect("the defaults");
    for setting in settings {
        document = document.set(setting).expect("a key");
    }
    A53Config::from_document(&document).expect("valid values")
}

/// Runs the mispredicted branch with these words after it.
fn after_the_branch(words: &[u32], settings: &[&str]) -> A53Counts {
    let mut cluster = Cluster::new(&config(settings), vec![A53Counts::default()]);
    for (pc, word) in (PC + 4..).step_by(4).zip(words) {
        cluster.place(0, pc, *word, DATA);
    }
    let executed = Executed {
        pc: PC,
        word: BRANCH,
        operand: None,
        exclusive_fails: false,
        is_abandoned: false,
        next: Some(PC + 64),
    };
    cluster.execute(0, &executed);
    cluster.execute(0, &Executed { pc: PC + 64, word: NOP, next: None, ..executed });
    cluster.finish().swap_remove(0).1
}

/// Given a load after a mispredicted branch, when the branch resolves, then the load has accessed
/// the cache and its line is coming, but it does not retire.
#[test]
fn a_load_after_a_mispredicted_branch_accesses_the_cache() {
    let counts = after_the_branch(&[LOAD], &[]);
    let value = |event| counts.value(event);
    assert_eq!([value(A53Event::BR_MIS_PRED), value(A53Event::INST_RETIRED)], [1, 2]);
    assert_eq!([value(A53Event::MEM_ACCESS), value(A53Event::LD_RETIRED)], [1, 0]);
    // The line of the data, and that of its page's descriptor; the other descriptors are there.
    let others = after_the_branch(&[], &[]).value(A53Event::L1D_CACHE_REFILL);
    assert_eq!(value(A53Event::L1D_CACHE_REFILL) - others, 2);
}

/// Given the same with wrong paths off, then nothing is accessed.
#[test]
fn wrong_paths_can_be_turned_off() {
    let counts = after_the_branch(&[LOAD], &["pipeline.wrong-paths=false"]);
    assert_eq!(counts.value(A53Event::MEM_ACCESS), 0);
}

/// Given a load that needs the result of another one, then only the other one issues in time.
#[test]
fn a_load_that_waits_for_its_address_comes_too_late() {
    let counts = after_the_branch(&[LOAD, DEPENDENT_LOAD], &[]);
    assert_eq!(counts.value(A53Event::MEM_ACCESS), 1);
}

/// Given three instructions, of which the last is a load, then it issues in the cycle after the
/// branch; a fourth one would issue too late.
#[test]
fn three_instructions_issue_before_the_branch_resolves() {
    assert_eq!(after_the_branch(&[NOP, NOP, LOAD], &[]).value(A53Event::MEM_ACCESS), 1);
    assert_eq!(after_the_branch(&[NOP, NOP, NOP, LOAD], &[]).value(A53Event::MEM_ACCESS), 0);
}

/// Given a store, then it never reaches the store buffer.
#[test]
fn a_store_of_a_wrong_path_does_not_happen() {
    let counts = after_the_branch(&[STORE], &[]);
    assert_eq!([counts.value(A53Event::MEM_ACCESS), counts.value(A53Event::ST_RETIRED)], [0, 0]);
}

/// Given a branch, then it is predicted, and what follows it is not executed.
#[test]
fn a_branch_of_a_wrong_path_is_predicted() {
    let counts = after_the_branch(&[BRANCH_BACK, LOAD], &[]);
    let value = |event| counts.value(event);
    assert_eq!([value(A53Event::BR_PRED), value(A53Event::BR_MIS_PRED)], [2, 1]);
    assert_eq!([value(A53Event::PC_WRITE_RETIRED), value(A53Event::MEM_ACCESS)], [1, 0]);
}
