//! The key of a run: what changes it, and what does not.

use std::fs;

use super::{GRID, grid, grid_in, keys, traces};

#[test]
fn names_and_order_do_not_change_the_key() {
    let folder = tempfile::tempdir().expect("a directory");
    fs::create_dir(folder.path().join("b")).expect("room");
    for (from, to) in [("aes_sha.n2t", "b/one.n2t"), ("matrix.n2t", "two.n2t")] {
        fs::copy(traces().join(from), folder.path().join(to)).expect("room");
    }
    let other = GRID.replace("aes_sha.n2t", "b/one.n2t").replace("matrix.n2t", "two.n2t");
    let here = keys(&grid(GRID));
    assert_eq!(keys(&grid_in(folder.path(), &other).expect("a good grid")), here);
    assert_eq!(here.iter().collect::<std::collections::BTreeSet<_>>().len(), 6, "all differ");
    let turned = GRID.replace("[64, 96, 160]", "[160, 96, 64]");
    let turned = keys(&grid(&turned.replace("\"ipc\"", "\"branch_mpki\"")));
    assert_eq!([&turned[2], &turned[1], &turned[0]], [&here[0], &here[1], &here[2]]);
}

#[test]
fn a_value_that_is_the_default_does_not_change_the_key() {
    let plain = keys(&grid(GRID));
    for set in [
        "set = [\"memory.l1d.size-bytes=64K\"]",
        "set = [\"memory.l1d.size-bytes=65536\", \"run.seed=1\"]",
        "profile = \"guide\"\nmachine = \"generic\"",
        "warmup = 0",
    ] {
        assert_eq!(keys(&grid(&format!("{set}\n{GRID}"))), plain, "{set}");
    }
    let varied = GRID.replace("vary]]\n", "vary]]\nkey = \"run.seed\"\nvalues = [1]\n[[vary]]\n");
    assert_eq!(keys(&grid(&varied)), plain, "varied or set");
}

#[test]
fn what_changes_the_counts_changes_the_key() {
    let plain = keys(&grid(GRID));
    let folder = tempfile::tempdir().expect("a directory");
    for name in ["aes_sha.n2t", "matrix.n2t"] {
        // The same names, another content.
        fs::copy(traces().join("atomics.n2t"), folder.path().join(name)).expect("room");
    }
    let changed = grid_in(folder.path(), GRID).expect("a good grid");
    let mut others = vec![("content", keys(&changed))];
    for (what, text) in [
        ("limit", GRID.replace("1000", "1001")),
        ("no limit", GRID.replace("limit = 1000", "")),
        ("warm-up", format!("warmup = 1\n{GRID}")),
        ("seed", format!("set = [\"run.seed=2\"]\n{GRID}")),
        ("profile", format!("profile = \"silicon\"\n{GRID}")),
        ("value", format!("set = [\"memory.l1d.size-bytes=32K\"]\n{GRID}")),
    ] {
        others.push((what, keys(&grid(&text))));
    }
    for (what, keys) in others {
        assert!(plain.iter().all(|key| !keys.contains(key)), "{what}");
    }
}
