//! Parts of a trace, each a run of its own, and the row that they add up to.

use std::fs;
use std::path::Path;

use sim_a53::{A53Config, A53Event};
use sim_core::{MemoryBudget, PmuEvent};
use sim_lab::{RegionOptions, Regions};
use sim_machine::{ConfigSource, MachineConfig, RunHeader, Session};
use sim_runs::{Counts, Grid, Journal, Row, Rows, Shard, Table, Values, gather};
use sim_trace::{StatesReader, TraceFile};

use super::{grid, grid_in, keys, traces};

/// Returns the rows of all runs.
fn rows(grid: &Grid) -> Rows {
    let (mut rows, memory) = (Rows::default(), MemoryBudget::default());
    for point in grid.points() {
        rows.insert(grid.key(&point), grid.run(&point, &memory).expect("a row"));
    }
    rows
}

/// Returns the counts in a row of the table, in the order of the events.
fn counts(grid: &Grid, rows: &Rows, row: usize) -> Vec<u64> {
    let table = Table::new(grid, rows).expect("all rows");
    let count = |values: &Values| match values {
        Values::Count(values) => values[row],
        _ => None,
    };
    table.columns().iter().filter_map(|column| count(&column.values)).collect()
}

fn session(trace: &str) -> Session {
    let document = ConfigSource::default().document().expect("the default");
    let config = MachineConfig::from_document(&document).expect("a machine");
    Session::open(&traces().join(trace), config, RunHeader::default()).expect("a committed trace")
}

/// Writes windows of a trace, and their states if wanted, and returns them.
fn windows(session: &Session, folder: &Path, has_states: bool) -> Regions {
    let options = RegionOptions {
        interval: Some(10_000),
        windows: 12,
        clusters: 4,
        warmup: Some(5_000),
        functional_warmup: Some(50_000),
        seed: 1,
    };
    let (mut regions, _) = Regions::find(session, &options, &mut |_| {}).expect("windows");
    if has_states {
        let states = fs::File::create(folder.join("w.states")).expect("room");
        regions.write_states(session, states, "w.states", &mut |_| {}).expect("room");
        regions.states = Some(String::from("w.states"));
    }
    fs::write(folder.join("w.toml"), regions.to_string()).expect("room");
    regions
}

/// Returns a grid of one trace with the windows of a directory.
fn windows_grid(folder: &Path, trace: &str, more: &str) -> Grid {
    let trace = traces().join(trace);
    let text = format!("traces = [{trace:?}]\nregions = [\"w.toml\"]\n{more}");
    grid_in(folder, &text).expect("a good grid")
}

/// Given a trace in three chunks, then their sum is that of `n2sim estimate --jobs 3`.
#[test]
fn chunks_add_up_to_the_counts_of_the_same_chunks_in_one_process() {
    let grid = grid("traces = [\"aes_sha.n2t\"]\nparts = 3\nmetrics = [\"ipc\"]\n");
    assert_eq!((grid.len(), grid.rows()), (3, 1));
    let outcome = sim_lab::run_chunks(&session("aes_sha.n2t"), 3, &mut |_| {}).expect("a run");
    let total = outcome.total();
    let expected = PmuEvent::ALL.map(|event| total.value(event));
    let rows = rows(&grid);
    assert_eq!(counts(&grid, &rows, 0), expected);
    let table = Table::new(&grid, &rows).expect("all rows");
    let cycles = total.value(PmuEvent::CPU_CYCLES) as f64;
    let ipc = total.value(PmuEvent::INST_RETIRED) as f64 / cycles;
    assert_eq!(table.metric(0), Some(&[Some(ipc)][..]));
}

/// Given a row with a part that is missing, then there is no table; given one with a part that
/// failed, then the row failed.
#[test]
fn a_row_needs_all_of_its_parts() {
    let text = "traces = [\"system.n2t\"]\nparts = 2\nset = [\"memory.pages.page-bytes=65536\"]\n";
    let grid = grid(text);
    let mut failed = rows(&grid);
    let table = Table::new(&grid, &failed).expect("all rows");
    assert_eq!((table.rows(), table.failed()), (1, 1));
    let second = grid.point(1).expect("two parts");
    let counts = Counts { cores: 1, longest: 1, counts: vec![1; PmuEvent::ALL.len()] };
    failed.insert(grid.key(&second), Row::Counted(counts));
    assert_eq!(Table::new(&grid, &failed).expect("all rows").failed(), 1, "the first part did");
    let mut one = Rows::default();
    let row = failed.get(&grid.key(&second)).expect("a row").clone();
    one.insert(grid.key(&second), row);
    assert_eq!(Table::new(&grid, &one), None);
}

#[test]
fn chunks_of_a_cortex_a53_add_up_too() {
    let grid = grid("traces = [\"aes_sha.n2t\"]\ncore = \"cortex-a53\"\nparts = 4\n");
    assert_eq!((grid.len(), grid.rows()), (4, 1));
    let file = TraceFile::open(&traces().join("aes_sha.n2t")).expect("a committed trace");
    let document = A53Config::document(None, &[]).expect("the default");
    let config = A53Config::from_document(&document).expect("a cluster");
    let thread = file.streams()[0].clone();
    let thread = (thread.stream, thread.instructions);
    let chunks = sim_lab::run_a53_chunks(&file, &config, thread, 4).expect("a run");
    let expected = A53Event::ALL.map(|event| chunks.core.counts.value(event));
    assert_eq!(counts(&grid, &rows(&grid), 0), expected);
}

/// Given windows in one part, then the row is the estimate of `n2sim estimate --regions`, with
/// states and without.
#[test]
fn windows_of_one_part_give_the_estimate() {
    for has_states in [true, false] {
        let (session, folder) = (session("aes_sha.n2t"), tempfile::tempdir().expect("a directory"));
        let regions = windows(&session, folder.path(), has_states);
        let grid = windows_grid(folder.path(), "aes_sha.n2t", "");
        assert_eq!((grid.len(), grid.rows()), (1, 1));
        let mut states = has_states.then(|| {
            let file = fs::File::open(folder.path().join("w.states")).expect("written");
            StatesReader::new(file, "w.states").expect("states")
        });
        let estimate = regions.run(&session, states.as_mut(), &mut |_| {}).expect("a run");
        let total = estimate.expect("windows").outcome.total();
        let expected = PmuEvent::ALL.map(|event| total.value(event));
        assert_eq!(counts(&grid, &rows(&grid), 0), expected, "states: {has_states}");
    }
}

/// Writes the journals of two machines, one of which made a run of the other, too.
fn write_shares(grid: &Grid, rows: &Rows, directory: &Path) {
    for text in ["1/2", "2/2", "3/4"] {
        let shard: Shard = text.parse().expect("a share");
        let path = directory.join(shard.file_name());
        let (mut journal, _) = Journal::open(&path, grid, Some(shard), false).expect("room");
        for key in grid.share(shard).iter().map(|point| grid.key(point)) {
            journal.add(&key, rows.get(&key).expect("a row")).expect("room");
        }
    }
}

/// Given the same windows in four parts, then each run counts its own windows, and the row is near
/// the estimate of one part: a part begins without the MOP cache of the window before it.
#[test]
fn windows_of_several_parts_are_one_estimate() {
    let (session, folder) = (session("lz.n2t"), tempfile::tempdir().expect("a directory"));
    let regions = windows(&session, folder.path(), true);
    let (one, four) = (
        windows_grid(folder.path(), "lz.n2t", ""),
        windows_grid(folder.path(), "lz.n2t", "parts = 4\n"),
    );
    assert_eq!((four.len(), four.rows()), (4, 1));
    let four_rows = rows(&four);
    let windows_of = |number: usize| {
        let row = four_rows.get(&four.key(&four.point(number).expect("a run")));
        let Some(Row::Counted(Counts { counts, .. })) = row else { panic!("a run") };
        counts.len() / PmuEvent::ALL.len()
    };
    assert_eq!((0..4).map(windows_of).sum::<usize>(), regions.windows.len());
    let journals = tempfile::tempdir().expect("a directory");
    write_shares(&four, &four_rows, journals.path());
    let gathered = gather(&four, journals.path()).expect("good journals");
    assert_eq!((gathered.missing.len(), &gathered.rows), (0, &four_rows));
    let (one, four) = (counts(&one, &rows(&one), 0), counts(&four, &four_rows, 0));
    for event in [PmuEvent::INST_RETIRED, PmuEvent::BR_MIS_PRED_RETIRED] {
        assert_eq!(four[event as usize], one[event as usize], "{event:?} is known");
    }
    for event in [PmuEvent::CPU_CYCLES, PmuEvent::L1D_CACHE, PmuEvent::OP_SPEC] {
        let off = four[event as usize] as f64 / one[event as usize] as f64 - 1.0;
        assert!(off.abs() < 0.01, "{event:?}: {off}");
    }
}

#[test]
fn a_part_belongs_to_the_key_and_its_file_names_do_not() {
    // `vector` is too short for parts.
    let short = |more: &str| keys(&grid(&format!("traces = [\"vector.n2t\"]\n{more}")));
    assert_eq!(short("parts = 3\n"), short(""));
    let whole = keys(&grid("traces = [\"aes_sha.n2t\"]\n"));
    assert_eq!(keys(&grid("traces = [\"aes_sha.n2t\"]\nparts = 1\n")), whole);
    let two = keys(&grid("traces = [\"aes_sha.n2t\"]\nparts = 2\n"));
    let three = keys(&grid("traces = [\"aes_sha.n2t\"]\nparts = 3\n"));
    let (session, folder) = (session("aes_sha.n2t"), tempfile::tempdir().expect("a directory"));
    windows(&session, folder.path(), true);
    let windowed = keys(&windows_grid(folder.path(), "aes_sha.n2t", "parts = 2\n"));
    // Another machine begins its windows elsewhere, and so do windows without states.
    let set = "set = [\"memory.l2.size-bytes=512K\"]\n";
    let other = keys(&windows_grid(folder.path(), "aes_sha.n2t", set));
    let same = keys(&windows_grid(folder.path(), "aes_sha.n2t", ""));
    let text = fs::read_to_string(folder.path().join("w.toml")).expect("written");
    // States replace functional warming, whose length is `lesson`.
    let longer = text.replace("lesson = 50000", "lesson = 60000");
    assert_ne!(longer, text);
    fs::write(folder.path().join("w.toml"), longer).expect("room");
    assert_eq!(keys(&windows_grid(folder.path(), "aes_sha.n2t", "")), same);
    let without: String = text
        .lines()
        .filter(|line| !line.starts_with("states"))
        .map(|line| format!("{line}\n"))
        .collect();
    fs::write(folder.path().join("w.toml"), without).expect("room");
    let no_states = keys(&windows_grid(folder.path(), "aes_sha.n2t", ""));
    let all = [whole, two, three, windowed, other, same.clone(), no_states].concat();
    let different: std::collections::BTreeSet<&String> = all.iter().collect();
    assert_eq!(different.len(), all.len());
    fs::write(folder.path().join("w.toml"), text).expect("room");
    fs::rename(folder.path().join("w.toml"), folder.path().join("v.toml")).expect("a file");
    let trace = traces().join("aes_sha.n2t");
    let renamed = format!("traces = [{trace:?}]\nregions = [\"v.toml\"]\n");
    assert_eq!(keys(&grid_in(folder.path(), &renamed).expect("a good grid")), same);
}

#[test]
fn runs_of_parts_are_numbered_within_the_rows_of_the_table() {
    let grid = grid(
        "traces = [\"vector.n2t\", \"aes_sha.n2t\"]\nparts = 3\n\
         [[vary]]\nkey = \"pipeline.window.rob\"\nvalues = [64, 160]\n",
    );
    // `vector` is too short for parts.
    assert_eq!((grid.len(), grid.rows()), (2 + 2 * 3, 4));
    let places: Vec<(usize, usize)> = grid.points().map(|point| (point.row, point.trace)).collect();
    assert_eq!(places, [(0, 0), (1, 0), (2, 1), (2, 1), (2, 1), (3, 1), (3, 1), (3, 1)]);
    let name = grid.name(&grid.point(6).expect("a run"));
    assert_eq!(name, "aes_sha.n2t part 2 of 3 pipeline.window.rob=160");
    assert_eq!(grid.point(8), None);
    assert!(grid.traces()[1].notes.iter().any(|note| note.starts_with("counted in 3 parts")));
}

#[test]
fn wrong_parts_and_windows_are_refused() {
    let folder = tempfile::tempdir().expect("a directory");
    windows(&session("aes_sha.n2t"), folder.path(), true);
    let trace = |name: &str| format!("{:?}", traces().join(name));
    let refused = |text: String| grid_in(folder.path(), &text).expect_err("refused").sentence();
    let (aes, lz, threads) = (trace("aes_sha.n2t"), trace("lz.n2t"), trace("atomics.n2t"));
    for (text, message) in [
        (format!("traces = [{aes}]\nparts = 0\n"), "parts: 0 is not from 1 to 256"),
        (format!("traces = [{aes}]\nparts = 2\nlimit = 9\n"), "limit: does not work with parts"),
        (format!("traces = [{aes}]\nparts = 2\nwarmup = 9\n"), "warmup: does not work with parts"),
        (
            format!("traces = [{aes}]\nregions = [\"w.toml\"]\nlimit = 9\n"),
            "limit: does not work with regions",
        ),
        (format!("traces = [{threads}]\nparts = 2\n"), "atomics.n2t"),
        (format!("traces = [{aes}]\nregions = [\"no.toml\"]\n"), "cannot read the windows"),
        (format!("traces = [{lz}]\nregions = [\"w.toml\"]\n"), "no file has the windows of"),
        (format!("traces = [{aes}]\nregions = []\n"), "no file has the windows of"),
        (
            format!("traces = [{aes}]\ncore = \"cortex-a53\"\nregions = [\"w.toml\"]\n"),
            "regions: works with core = \"neoverse-n2\" only",
        ),
    ] {
        let error = refused(text);
        assert!(error.contains(message), "{message}: {error}");
    }
    let windowed = format!("traces = [{aes}]\nregions = [\"w.toml\"]\n");
    let other = "[[vary]]\nkey = \"memory.l2.size-bytes\"\nvalues = [\"512K\", \"1M\"]\n";
    let error = refused(format!("{windowed}parts = 2\n{other}"));
    assert!(error.contains("1 of 2 configurations") && error.contains("without parts"), "{error}");
    fs::copy(folder.path().join("w.toml"), folder.path().join("v.toml")).expect("room");
    let error = refused(windowed.replace("w.toml\"", "w.toml\", \"v.toml\""));
    assert!(error.contains("w.toml and ") && error.contains("v.toml both have"), "{error}");
    fs::write(folder.path().join("w.states"), "no states").expect("room");
    let error = refused(windowed.clone());
    assert!(error.contains("w.states") && error.contains("find the windows again"), "{error}");
    let text = fs::read_to_string(folder.path().join("w.toml")).expect("written");
    let lines = text.lines().filter(|line| !line.starts_with("states"));
    let without: String = lines.map(|line| format!("{line}\n")).collect();
    fs::write(folder.path().join("w.toml"), without).expect("room");
    let error = refused(format!("{windowed}parts = 2\n"));
    assert!(error.contains("has no states"), "{error}");
}

/// Given states that are of another machine in one of two configurations, then a note says so; when
/// the states change after the grid was read, then the runs that begin in them have no row.
#[test]
fn states_are_those_that_the_grid_has_read() {
    let (session, folder) = (session("aes_sha.n2t"), tempfile::tempdir().expect("a directory"));
    windows(&session, folder.path(), true);
    let grid = windows_grid(
        folder.path(),
        "aes_sha.n2t",
        "[[vary]]\nkey = \"memory.l2.size-bytes\"\nvalues = [\"1M\", \"512K\"]\n",
    );
    let notes = &grid.traces()[0].notes;
    assert!(notes.iter().any(|note| note.starts_with("estimated from 12 windows")), "{notes:?}");
    assert!(notes.iter().any(|note| note.starts_with("1 of 2 configurations")), "{notes:?}");
    let states = folder.path().join("w.states");
    let mut bytes = fs::read(&states).expect("written");
    *bytes.last_mut().expect("states") ^= 1;
    fs::write(&states, bytes).expect("room");
    let memory = MemoryBudget::default();
    let run = |number| grid.run(&grid.point(number).expect("a run"), &memory);
    let error = run(0).expect_err("other states").sentence();
    assert!(error.contains("w.states changed after the grid was read"), "{error}");
    assert!(matches!(run(1), Ok(Row::Counted(_))), "it begins after functional warming");
}
