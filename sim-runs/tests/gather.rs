//! Journals of several machines.

use std::fs;
use std::path::Path;

use sim_runs::{Grid, Journal, Rows, RunsError, Shard, Table, gather};

use super::{GRID, grid, row};

fn shard(text: &str) -> Shard {
    text.parse().expect("a share")
}

/// Writes the journal of a share without making its runs.
fn write(grid: &Grid, directory: &Path, text: &str) {
    let path = directory.join(shard(text).file_name());
    let (mut journal, rows) = Journal::open(&path, grid, Some(shard(text)), false).expect("room");
    for point in grid.missing(&grid.share(shard(text)), &rows) {
        journal.add(&grid.key(&point), &row(500 + point.number as u64)).expect("room");
    }
}

fn refused(grid: &Grid, directory: &Path) -> String {
    gather(grid, directory).expect_err("a fault").sentence()
}

#[test]
fn shares_of_any_number_make_one_table() {
    let (grid, folder) = (grid(GRID), tempfile::tempdir().expect("a directory"));
    let mut rows = Rows::default();
    for point in grid.points() {
        rows.insert(grid.key(&point), row(500 + point.number as u64));
    }
    let whole = Table::new(&grid, &rows).expect("all rows");
    for text in ["1/2", "4/4", "3/4", "1/3"] {
        write(&grid, folder.path(), text);
    }
    let gathered = gather(&grid, folder.path()).expect("good journals");
    assert_eq!(Table::new(&grid, &gathered.rows), Some(whole));
    assert_eq!((gathered.missing, gathered.lacking, gathered.others), (vec![], vec![], vec![]));
    let csv = Table::new(&grid, &rows).expect("all rows").write_csv(Vec::new()).expect("room");
    let csv = String::from_utf8(csv).expect("text");
    assert!(csv.lines().nth(2).is_some_and(|line| line.ends_with(",501,1000,1.996007984031936")));
}

#[test]
fn missing_runs_and_their_shares_are_known() {
    let (grid, folder) = (grid(GRID), tempfile::tempdir().expect("a directory"));
    write(&grid, folder.path(), "1/3");
    write(&grid, folder.path(), "3/3");
    let path = folder.path().join("3-of-3.runs");
    let text = fs::read_to_string(&path).expect("a journal");
    // A process that was killed inside its last line.
    fs::write(&path, &text[..text.len() - 5]).expect("room");
    let gathered = gather(&grid, folder.path()).expect("good journals");
    let missing: Vec<usize> = gathered.missing.iter().map(|point| point.number).collect();
    assert_eq!(missing, [2, 3, 5]);
    let lacking = gathered.lacking.iter();
    let lacking: Vec<_> = lacking.map(|own| (own.shard, own.missing, own.has_journal)).collect();
    assert_eq!(lacking, [(shard("2/3"), 2, false), (shard("3/3"), 1, true)]);
    assert_eq!(Table::new(&grid, &gathered.rows), None);
    write(&grid, folder.path(), "2/3");
    write(&grid, folder.path(), "3/3");
    assert_eq!(fs::read_to_string(&path).expect("a journal"), text, "only the cut run is added");
    assert!(gather(&grid, folder.path()).expect("good journals").missing.is_empty());
}

#[test]
fn rows_that_disagree_are_refused_with_both_files() {
    let (grid, folder) = (grid(GRID), tempfile::tempdir().expect("a directory"));
    write(&grid, folder.path(), "1/1");
    write(&grid, folder.path(), "1/2");
    let path = folder.path().join("1-of-2.runs");
    let text = fs::read_to_string(&path).expect("a journal");
    fs::write(&path, text.replace("501", "777")).expect("room");
    let message = refused(&grid, folder.path());
    for piece in ["1-of-1.runs", "1-of-2.runs", "aes_sha.n2t pipeline.window.rob=96"] {
        assert!(message.contains(piece), "{piece}: {message}");
    }
}

#[test]
fn rows_of_other_grids_and_versions_are_ignored_and_named() {
    let (small, folder) = (grid(GRID), tempfile::tempdir().expect("a directory"));
    let larger = grid(&GRID.replace("[64,", "[48, 64,"));
    write(&larger, folder.path(), "2/2");
    let version = env!("CARGO_PKG_VERSION");
    let path = folder.path().join("old.runs");
    let (mut journal, _) = Journal::open(&path, &larger, None, false).expect("room");
    journal.add("0123", &row(1)).expect("room");
    let text = fs::read_to_string(&path).expect("a journal");
    let old = text.replace(&format!("\"n2sim\":\"{version}\""), "\"n2sim\":\"0.0.0\"");
    fs::write(&path, old).expect("room");
    let gathered = gather(&small, folder.path()).expect("good journals");
    // Runs 48, 64, 96 and 160 of the second trace: three are of both grids.
    assert_eq!((gathered.rows.len(), gathered.missing.len()), (3, 3));
    assert!(gathered.shards.is_empty(), "its shares are those of another grid");
    let others: Vec<_> =
        gathered.others.iter().map(|own| (own.rows, own.version.as_deref())).collect();
    assert_eq!(others, [(1, None), (1, Some("0.0.0"))]);
}

#[test]
fn damaged_and_absent_files_are_refused() {
    let (grid, folder) = (grid(GRID), tempfile::tempdir().expect("a directory"));
    write(&grid, folder.path(), "1/2");
    let path = folder.path().join("1-of-2.runs");
    let text = fs::read_to_string(&path).expect("a journal");
    for (from, to, message) in [
        ("\"cores\":1", "\"cores\":-1", "line 2 is damaged"),
        (",1000,", ",", "line 2 is damaged"),
        ("\"grid\"", "\"\0rid\"", "not a journal"),
        ("\"shard\":[1,2]", "\"shard\":[3,2]", "line 1 is damaged: there is no share 3 of 2"),
    ] {
        assert!(text.contains(from), "{from}");
        fs::write(&path, text.replacen(from, to, 1)).expect("room");
        let error = refused(&grid, folder.path());
        assert!(error.contains("1-of-2.runs") && error.contains(message), "{from}: {error}");
    }
    let error = refused(&grid, &folder.path().join("absent"));
    assert!(error.contains("cannot read the directory") && error.contains("absent"), "{error}");
}

#[test]
fn a_journal_of_another_grid_or_in_use_is_not_continued() {
    let (first, folder) = (grid(GRID), tempfile::tempdir().expect("a directory"));
    let path = folder.path().join("1-of-1.runs");
    let open = |grid: &Grid, restart| -> Result<(Journal, Rows), RunsError> {
        Journal::open(&path, grid, Some(shard("1/1")), restart)
    };
    let (mut journal, _) = open(&first, false).expect("room");
    let point = first.points().next().expect("a run");
    journal.add(&first.key(&point), &row(7)).expect("room");
    assert!(open(&first, false).expect_err("a lock").sentence().contains("is in use"));
    drop(journal);
    let (journal, rows) = open(&first, false).expect("its own journal");
    assert_eq!(rows.get(&first.key(&point)), Some(&row(7)));
    drop(journal);
    let second = grid(&GRID.replace("1000", "2000"));
    let error = open(&second, false).expect_err("another grid").sentence();
    assert!(error.contains("another grid") && error.contains("give another --runs"), "{error}");
    assert_eq!(open(&second, true).expect("restarted").1, Rows::default());
}
