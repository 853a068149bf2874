//! Limits of the configuration: a value at a limit is accepted, and a value beyond it is refused
//! with its key.

use sim_pipeline::PipelineConfig;
use toml::{Table, Value};

fn committed() -> Table {
    let text = include_str!("../../configs/neoverse-n2/machine.toml");
    let mut document: Table = text.parse().expect("the committed configuration parses");
    match document.remove("pipeline") {
        Some(Value::Table(pipeline)) => pipeline,
        other => panic!("[pipeline] is a table, not {other:?}"),
    }
}

/// Returns the keys that are refused if this one has this value.
fn refused(key: &str, value: impl Into<Value>) -> Vec<String> {
    let mut pipeline = committed();
    let (table, name) = key.split_once('.').expect("a table and a key");
    let table = pipeline[table].as_table_mut().expect("a table");
    assert!(table.insert(name.into(), value.into()).is_some(), "{key} is a key");
    let config: PipelineConfig = Value::Table(pipeline).try_into().expect("a machine");
    config.problems().into_iter().map(|problem| problem.key).collect()
}

/// Asserts that the key accepts each of the values `taken`, and refuses each of `others`.
fn assert_limits(key: &str, taken: &[i64], others: &[i64]) {
    for value in taken {
        assert_eq!(refused(key, *value), [""; 0], "{key} = {value}");
    }
    for value in others {
        assert_eq!(refused(key, *value), [format!("pipeline.{key}")], "{key} = {value}");
    }
}

#[test]
fn sizes_and_widths_have_limits() {
    for (key, most) in [
        ("front-end.fetch-width", 16),
        ("front-end.mop-width", 16),
        ("front-end.fetch-queue", 256),
        ("branch.return-stack", 64),
        ("window.retire-width", 32),
        ("dispatch.uops", 64),
        ("execute.dependence-entries", 1024),
    ] {
        assert_limits(key, &[1, most], &[0, most + 1]);
    }
}

#[test]
fn delays_may_be_zero_and_have_a_maximum() {
    for key in ["branch.redirect-cycles", "execute.barrier-cycles"] {
        assert_limits(key, &[0, 100_000], &[100_001]);
    }
    assert_limits("execute.hash-forward-cycles", &[0, 32], &[33]);
}

#[test]
fn table_sizes_are_powers_of_two() {
    let most = 1 << 20;
    assert_limits("front-end.mop-cache-sets", &[1, 2, most], &[0, 3, 2 * most]);
    for (key, least) in [
        ("branch.nano-btb-entries", 4),
        ("branch.btb-regions", 4),
        ("branch.btb-entries", 8),
        ("branch.indirect-targets", 64),
    ] {
        assert_limits(key, &[least, 2 * least, most], &[least / 2, least + 1, 2 * most]);
    }
    for (key, most) in [
        ("branch.bimodal-bits", 20),
        ("branch.tagged-bits", 13),
        ("branch.folded-bits", 15),
        ("branch.gshare-bits", 20),
        ("branch.indirect-path-bits", 20),
    ] {
        assert_limits(key, &[4, most], &[3, most + 1]);
    }
    assert_limits("execute.load-banks", &[0, 1, 2, 64], &[3, 128]);
    assert_limits("execute.store-drain-bytes", &[16, 32, 64], &[8, 24, 128]);
}

#[test]
fn history_lengths_ascend() {
    let key = "branch.history-lengths";
    let lengths = |lengths: &[i64]| lengths.iter().copied().map(Value::Integer).collect::<Vec<_>>();
    for taken in [&[1][..], &[1024], &[4, 8], &[1, 2, 3, 4, 5, 6, 7, 8]] {
        assert_eq!(refused(key, lengths(taken)), [""; 0], "{taken:?}");
    }
    for other in [
        &[][..],
        &[0],
        &[1025],
        &[8, 8],
        &[8, 4],
        &[1, 2, 3, 4, 5, 6, 7, 8, 9],
        &[0, 8],
        &[8, 1025],
    ] {
        assert_eq!(refused(key, lengths(other)), [format!("pipeline.{key}")], "{other:?}");
    }
}
