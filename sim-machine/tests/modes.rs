//! A partial machine counts what the whole machine counts, within its stated limits.

use std::path::Path;

use sim_core::{Counts, PmuEvent};
use sim_machine::{
    ConfigSource, MachineConfig, Marker, Mode, Outcome, Roi, RunHeader, RunOptions, Session,
};
use sim_trace::{Access, Meta, StreamEvent, TraceWriter};

use PmuEvent::*;

/// Events that depend on the program alone, not on cache contents.
const ACCESSES: [PmuEvent; 10] = [
    INST_RETIRED,
    MEM_ACCESS_RD,
    MEM_ACCESS_WR,
    L1D_TLB_RD,
    L1D_TLB_WR,
    L1D_CACHE_RD,
    L1D_CACHE_WR,
    LD_ALIGN_LAT,
    ST_ALIGN_LAT,
    MEM_ACCESS_CHECKED,
];

fn open(path: &Path, overrides: &[&str]) -> Session {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
    let document = source.document().expect("known keys");
    let config = MachineConfig::from_document(&document).expect("a machine");
    Session::open(path, config, RunHeader::default()).expect("a good trace")
}

fn committed(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces").join(name)
}

fn run(session: &Session, options: &RunOptions) -> Outcome {
    session.run(options, &mut |_| {}).expect("a run")
}

fn limit(limit: u64) -> RunOptions {
    RunOptions { limit: Some(limit), ..RunOptions::default() }
}

#[test]
fn accesses_of_the_correct_path_equal_those_of_the_whole_machine() {
    let traces = ["aes_sha", "btree", "interp", "lz", "matrix", "search", "system", "vector"];
    for name in traces {
        let path = committed(&format!("{name}.n2t"));
        let whole = run(&open(&path, &["pipeline.wrong-path.enabled=false"]), &limit(300_000));
        let part = run(&open(&path, &[]).in_mode(Mode::Memory), &limit(300_000));
        for event in ACCESSES {
            let (expected, found) = (whole.total().value(event), part.total().value(event));
            assert_eq!(found, expected, "{name}: {}", event.mnemonic());
        }
        assert!(part.total().value(MEM_ACCESS) > 1_000, "{name} does access memory");
    }
}

#[test]
fn fetches_without_mispredictions_equal_those_of_the_whole_machine() {
    let perfect = ["pipeline.wrong-path.enabled=false", "pipeline.branch.direction=perfect"];
    // Programs without system calls and without loads that pass older stores.
    for name in ["lz", "matrix", "search"] {
        let path = committed(&format!("{name}.n2t"));
        let whole = run(&open(&path, &perfect), &limit(300_000)).total();
        let part = run(&open(&path, &[]).in_mode(Mode::Memory), &limit(300_000)).total();
        for event in [L1I_CACHE, L1I_TLB, L1I_CACHE_REFILL, L1I_TLB_REFILL, ITLB_WALK] {
            let (expected, found) = (whole.value(event), part.value(event));
            assert_eq!(found, expected, "{name}: {}", event.mnemonic());
        }
        assert!(part.value(L1I_CACHE) > 10_000, "{name} does fetch");
    }
}

/// Twelve rounds that scatter 1003 doubles each, with one access per element
/// (`traces/src/vector.c`).
#[test]
fn scatters_write_one_access_per_element() {
    let session = open(&committed("vector.n2t"), &[]).in_mode(Mode::Memory);
    let roi = Some(Roi { begin: Marker::Hint(40), end: Marker::Hint(41) });
    let counts = run(&session, &RunOptions { roi, ..RunOptions::default() }).total();
    assert_eq!(counts.value(L1D_CACHE_WR), 12 * 1003);
}

#[test]
fn instructions_of_a_system_count_at_the_level_of_their_execution() {
    let path = committed("system.n2t");
    let by_level = |session: &Session| -> Vec<(String, u64)> {
        let levels = run(session, &limit(1_000_000)).levels();
        let of = |part: &sim_machine::LevelCounts| part.counts.value(INST_RETIRED);
        levels.iter().map(|part| (part.level.to_string(), of(part))).collect()
    };
    let whole = by_level(&open(&path, &[]));
    assert_eq!(by_level(&open(&path, &[]).in_mode(Mode::Memory)), whole);
    assert!(whole.len() > 1, "the recording has a kernel and programs: {whole:?}");
}

#[test]
fn parts_of_a_stream_count_what_they_count_in_the_whole() {
    // No stream of stores is open at the cut: the end of a run would complete it.
    let session = open(&committed("lz.n2t"), &[]).in_mode(Mode::Memory);
    let part = |warmup, limit| run(&session, &RunOptions { warmup, limit, roi: None }).total();
    let (both, first, second) =
        (part(0, Some(40_001)), part(0, Some(15_000)), part(15_000, Some(25_001)));
    for event in PmuEvent::ALL.into_iter().filter(|event| Mode::Memory.gives(*event)) {
        let sum = first.value(event) + second.value(event);
        assert_eq!(both.value(event), sum, "{}", event.mnemonic());
    }
    assert_eq!(both.value(INST_RETIRED), 40_001);
}

#[test]
fn threads_share_lines_and_runs_are_repeatable() {
    let session = open(&committed("atomics.n2t"), &[]).in_mode(Mode::Memory);
    let (one, other) = (run(&session, &limit(200_000)), run(&session, &limit(200_000)));
    assert_eq!(one.total(), other.total());
    let invalidated = one.total().value(L1D_CACHE_INVAL);
    assert!(invalidated > 100, "each takes lines from the other: {invalidated}");
    assert_eq!(one.cores.len(), 2);
}

#[test]
fn predictions_equal_those_of_the_whole_machine_without_wrong_paths() {
    let none = ["pipeline.wrong-path.enabled=false"];
    for name in ["btree", "interp", "lz", "sort", "system", "vector"] {
        let path = committed(&format!("{name}.n2t"));
        let whole = run(&open(&path, &none), &limit(300_000)).total();
        let part = run(&open(&path, &[]).in_mode(Mode::Frontend), &limit(300_000)).total();
        let branches = [BR_RETIRED, BR_MIS_PRED_RETIRED, BR_PRED, BR_MIS_PRED];
        let kinds = [BR_IMMED_SPEC, BR_RETURN_SPEC, BR_INDIRECT_SPEC];
        for event in branches.into_iter().chain(kinds).chain([INST_RETIRED, L1I_TLB_REFILL]) {
            let (expected, found) = (whole.value(event), part.value(event));
            assert_eq!(found, expected, "{name}: {}", event.mnemonic());
        }
        assert!(part.value(BR_RETIRED) > 1_000, "{name} has branches");
        assert_eq!(part.value(MEM_ACCESS), 0, "{name}: no data is touched");
    }
}

#[test]
fn lines_are_fetched_as_in_the_whole_machine_after_any_prediction() {
    let none = ["pipeline.wrong-path.enabled=false"];
    for name in ["matrix", "search"] {
        let path = committed(&format!("{name}.n2t"));
        let whole = run(&open(&path, &none), &limit(300_000)).total();
        let part = run(&open(&path, &[]).in_mode(Mode::Frontend), &limit(300_000)).total();
        for event in [L1I_CACHE, L1I_TLB, L1I_CACHE_REFILL, ITLB_WALK] {
            let (expected, found) = (whole.value(event), part.value(event));
            assert_eq!(found, expected, "{name}: {}", event.mnemonic());
        }
    }
}

const LDR: u32 = 0xf940_0041; // ldr x1, [x2]
const STR: u32 = 0xf900_0041; // str x1, [x2]
const STXR: u32 = 0xc800_7c41; // stxr w0, x1, [x2]
const ZVA: u32 = 0xd50b_7422; // dc zva, x2
const PRFM: u32 = 0xf980_0040; // prfm pldl1keep, [x2]
const RET: u32 = 0xd65f_03c0;
const CODE: u64 = 0x40_0000;

/// Returns the counts of a block that runs once for each list of accesses.
fn counts_of(words: &[u32], runs: &[&[(u16, u64)]], event: Option<StreamEvent>) -> Counts {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("block.n2t");
    let mut writer = TraceWriter::create(&path, Meta::default()).expect("a new file");
    let block = writer.define_block(CODE, words).expect("a block");
    for accesses in runs {
        let accesses: Vec<Access> =
            accesses.iter().map(|&(index, addr)| Access { index, addr }).collect();
        let length = words.len() as u16;
        writer.push_block(0, block, length, &accesses, event).expect("a known block");
    }
    writer.finish().expect("a whole trace");
    let off = ["memory.prefetch.l1i-next-line=false", "memory.prefetch.l2-stream=false"];
    run(&open(&path, &off).in_mode(Mode::Memory), &RunOptions::default()).total()
}

fn check(counts: &Counts, expected: &[(PmuEvent, u64)]) {
    for (event, count) in expected {
        assert_eq!(counts.value(*event), *count, "{}", event.mnemonic());
    }
}

/// PMU guide 4.1.4, 4.2.1, 4.4.1: the first load walks and refills, the second hits both.
#[test]
fn a_line_is_loaded_once() {
    let counts = counts_of(&[LDR, LDR, RET], &[&[(0, 0x8000), (1, 0x8008)]], None);
    let once = [L1D_TLB_REFILL_RD, DTLB_WALK, L1D_CACHE_REFILL_RD, L1D_CACHE_REFILL_OUTER];
    check(&counts, &once.map(|event| (event, 1)));
    check(&counts, &[(MEM_ACCESS_RD, 2), (L1D_CACHE_RD, 2), (L1D_TLB_RD, 2), (INST_RETIRED, 3)]);
    // One line of code, one of data; reads of the walk do not count as L2 events.
    check(&counts, &[(L1I_CACHE, 1), (L1I_CACHE_REFILL, 1), (L2D_CACHE_REFILL_RD, 2)]);
}

/// PMU guide 4.6.10: an access of two lines is two memory operations.
#[test]
fn a_load_across_two_lines_is_two_accesses() {
    let counts = counts_of(&[LDR, RET], &[&[(0, 0x803c)]], None);
    check(&counts, &[(MEM_ACCESS_RD, 2), (L1D_CACHE_REFILL_RD, 2), (LD_ALIGN_LAT, 1)]);
}

/// PMU guide 4.3.2: every jump is a fetch, even into the same line.
#[test]
fn a_jump_fetches_its_line_again() {
    let counts = counts_of(&[LDR, RET], &[&[(0, 0x8000)], &[(0, 0x8000)], &[(0, 0x8000)]], None);
    check(&counts, &[(L1I_CACHE, 3), (L1I_CACHE_REFILL, 1), (L1I_TLB, 3)]);
}

/// PMU guide 4.2.6: a store that misses refills its line, one that hits does not.
#[test]
fn a_store_miss_refills_its_line() {
    let counts = counts_of(&[STR, STR, RET], &[&[(0, 0x8000), (1, 0x8000)]], None);
    check(&counts, &[(L1D_CACHE_WR, 2), (L1D_CACHE_REFILL_WR, 1), (L1D_TLB_WR, 2)]);
}

/// A store-exclusive without an access has failed, so it looks up nothing.
#[test]
fn a_failed_store_exclusive_writes_nothing() {
    let counts = counts_of(&[STXR, RET], &[&[]], None);
    check(&counts, &[(MEM_ACCESS_WR, 0), (L1D_CACHE_WR, 0), (INST_RETIRED, 2)]);
}

/// PMU guide 4.2.6 and decision A36: `DC ZVA` writes a line without reading it; a preload is not an
/// access.
#[test]
fn zeroing_reads_nothing_and_a_preload_is_not_an_access() {
    let zero = counts_of(&[ZVA, RET], &[&[(0, 0x8000)]], None);
    check(&zero, &[(L1D_CACHE_WR, 1), (L1D_CACHE_REFILL, 0), (MEM_ACCESS_WR, 1)]);
    let preload = counts_of(&[PRFM, RET], &[&[(0, 0x8000)]], None);
    check(&preload, &[(MEM_ACCESS, 0), (L1D_CACHE, 0), (DTLB_WALK, 1)]);
}

/// An instruction cut off by a signal has performed its access and does not retire.
#[test]
fn an_abandoned_load_accesses_and_does_not_retire() {
    let exception =
        StreamEvent::Exception { vector: 0x400, abandoned: true, level: 0, syndrome: 0, state: 0 };
    let counts = counts_of(&[LDR], &[&[(0, 0x8000)]], Some(exception));
    check(&counts, &[(MEM_ACCESS_RD, 1), (INST_RETIRED, 0)]);
}
