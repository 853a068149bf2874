//! Runs that succeed and runs that fail.

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use sim_core::MemoryBudget;
use sim_runs::{Grid, Row, Rows, Table, Values, run_all};
use sim_trace::TraceFile;

use super::{GRID, grid, grid_in, traces};

/// Makes all runs of a grid. Returns their rows, and the errors of those without a row.
fn rows(grid: &Grid, jobs: usize) -> (Rows, Vec<String>) {
    let rows = Mutex::new(Rows::default());
    let points: Vec<_> = grid.points().collect();
    let keep = |point, row| {
        rows.lock().expect("no panic").insert(grid.key(&point), row);
        Ok(())
    };
    let ended = run_all(grid, &points, jobs, &MemoryBudget::default(), &keep).expect("threads");
    let refused = ended.refused.iter().map(|(_, error)| error.sentence()).collect();
    (rows.into_inner().expect("no panic"), refused)
}

#[test]
fn the_table_is_the_same_for_any_number_of_jobs() {
    let grid = grid(GRID);
    let (one, refused) = rows(&grid, 1);
    assert_eq!((one.len(), refused.len()), (6, 0));
    assert_eq!(rows(&grid, 3).0, one);
    let table = Table::new(&grid, &one).expect("all rows");
    assert_eq!((table.rows(), table.failed(), table.columns().len()), (6, 0, 6));
    let ipc = table.metric(0).expect("a metric");
    assert!(ipc.iter().all(|value| value.is_some_and(|value| value > 0.0)));
}

/// A run that fails everywhere is a row. Its text is the same under every name of the trace, which
/// the table puts in front.
#[test]
fn a_failed_run_is_a_row() {
    for core in ["neoverse-n2", "cortex-a53"] {
        let text = format!(
            "traces = [\"vector.n2t\"]\ncore = \"{core}\"\nwarmup = \"1G\"\n\
             events = [\"cpu_cycles\"]\nmetrics = [\"ipc\"]\n"
        );
        let grid = grid(&text);
        let (rows, refused) = rows(&grid, 1);
        assert!(refused.is_empty(), "{refused:?}");
        for point in grid.points() {
            let Some(Row::Failed { error }) = rows.get(&grid.key(&point)) else {
                panic!("{core}: a warm-up longer than the trace")
            };
            assert!(error.contains("leaves nothing to count"), "{error}");
            assert!(!error.contains("vector") && !error.contains('/'), "no name: {error}");
        }
        let table = Table::new(&grid, &rows).expect("all rows");
        let last = table.columns().last().expect("columns");
        assert_eq!((table.failed(), last.name.as_str()), (1, "error"));
        let Values::Text(errors) = &last.values else { panic!("texts") };
        assert!(errors[0].starts_with("vector.n2t: "), "{errors:?}");
        let [.., cycles, ipc, _] = table.columns() else { panic!("columns") };
        assert_eq!(cycles.values, Values::Count(vec![None]));
        assert_eq!(ipc.values, Values::Number(vec![None]));
    }
}

/// Damages a byte of the first instructions of a trace, which is found when they are read.
fn damage(path: &Path) {
    let mut bytes = fs::read(path).expect("a trace");
    let found = (0..bytes.len()).rev().any(|place| {
        bytes[place] ^= 0xFF;
        fs::write(path, &bytes).expect("room");
        let opened = TraceFile::open(path);
        let is_found = opened.is_ok_and(|file| {
            let reader = file.reader(0);
            reader.and_then(|mut reader| reader.next_batch(&mut Vec::new())).is_err()
        });
        bytes[place] ^= 0xFF;
        is_found
    });
    assert!(found, "no byte of an instruction");
}

/// A damaged copy is not the fault of the run: another machine may have a good one.
#[test]
fn a_damaged_trace_gives_no_row_and_keeps_no_other_run_from_its_row() {
    let folder = tempfile::tempdir().expect("a directory");
    for name in ["aes_sha.n2t", "vector.n2t"] {
        fs::copy(traces().join(name), folder.path().join(name)).expect("room");
    }
    damage(&folder.path().join("vector.n2t"));
    let grid = grid_in(folder.path(), &GRID.replace("matrix", "vector")).expect("it opens");
    let (rows, refused) = rows(&grid, 2);
    assert_eq!((rows.len(), refused.len()), (3, 3), "{refused:?}");
    assert!(refused[0].starts_with("vector.n2t pipeline.window.rob=64: "), "{}", refused[0]);
    assert!(Table::new(&grid, &rows).is_none());
}

/// Given a grid that was read, when its trace or its configuration is another one at a run, then
/// the run has no row: the key of the row would be that of the first.
#[test]
fn a_file_that_changed_after_the_grid_was_read_gives_no_row() {
    for core in ["neoverse-n2", "cortex-a53"] {
        let folder = tempfile::tempdir().expect("a directory");
        let copy = |name: &str| fs::copy(traces().join(name), folder.path().join("a.n2t"));
        copy("vector.n2t").expect("room");
        let text = format!("traces = [\"a.n2t\"]\ncore = \"{core}\"\nlimit = \"1k\"\n");
        let grid = grid_in(folder.path(), &text).expect("it opens");
        assert_eq!(rows(&grid, 1).0.len(), 1);
        copy("aes_sha.n2t").expect("room");
        let (rows, refused) = rows(&grid, 1);
        assert!(rows.is_empty());
        assert!(refused[0].contains("the trace changed after the grid was read"), "{refused:?}");
    }
    let folder = tempfile::tempdir().expect("a directory");
    let config = folder.path().join("c.toml");
    let write = |rob: u32| {
        let text =
            format!("base = \"neoverse-n2.toml\"\n[pipeline.window]\nrob = {rob} # [assumed]\n");
        fs::write(&config, text).expect("room");
    };
    write(64);
    let trace = traces().join("vector.n2t");
    let text = format!("traces = [{trace:?}]\nconfig = \"c.toml\"\nlimit = \"1k\"\n");
    let grid = grid_in(folder.path(), &text).expect("it opens");
    assert_eq!(rows(&grid, 1).0.len(), 1);
    write(96);
    let (_, refused) = rows(&grid, 1);
    assert!(refused[0].contains("the configuration changed after"), "{refused:?}");
}

/// Given one trace under two names, when its runs fail, then both names have one row, and the table
/// names each.
#[test]
fn a_failed_run_has_one_row_under_every_name_of_its_trace() {
    let folder = tempfile::tempdir().expect("a directory");
    for name in ["a.n2t", "data_vector.n2t"] {
        fs::copy(traces().join("vector.n2t"), folder.path().join(name)).expect("room");
    }
    let text =
        "traces = [\"a.n2t\", \"data_vector.n2t\"]\nwarmup = \"900G\"\nmetrics = [\"ipc\"]\n";
    let grid = grid_in(folder.path(), text).expect("it opens");
    let points: Vec<_> = grid.points().collect();
    let memory = MemoryBudget::default();
    let row = |index: usize| grid.run(&points[index], &memory).expect("a row");
    assert_eq!(row(0), row(1));
    let table = Table::new(&grid, &rows(&grid, 1).0).expect("all rows");
    let Some(Values::Text(errors)) = table.columns().last().map(|column| &column.values) else {
        panic!("a column of texts")
    };
    assert!(errors[0].starts_with("a.n2t: ") && errors[1].starts_with("data_vector.n2t: "));
}
