//! Traces of other tools: what independent writers wrote of real programs comes back instruction by
//! instruction, runs as the native trace does, and never harms whatever its bytes are.

#![allow(missing_docs, clippy::unwrap_used)]

#[path = "foreign/writers.rs"]
mod writers;

use std::collections::BTreeSet;
use std::path::Path;

use sim_core::PmuEvent;
use sim_machine::{ConfigSource, MachineConfig, Outcome, RunHeader, RunOptions, Session, trust};
use sim_tests::{read, repository};
use sim_trace::foreign::{Format, ImportOptions, import_bytes};
use sim_trace::{Lack, TraceFile};
use writers::{Dialect, Step, committed, elf, steps};

/// A written trace and what is expected of it.
struct Sample {
    /// For messages and the table.
    name: &'static str,
    format: Format,
    bytes: Vec<u8>,
    /// The program's file is given.
    has_elf: bool,
    /// Words come back, not stand-ins.
    has_words: bool,
    /// Threads come back.
    has_threads: bool,
}

/// `steps` in every format.
fn samples(steps: &[Step]) -> Vec<Sample> {
    let sample = |name, format, bytes| Sample {
        name,
        format,
        bytes,
        has_elf: false,
        has_words: true,
        has_threads: true,
    };
    let of_elf = |sample| Sample { has_elf: true, ..sample };
    let of_classes = |sample| Sample { has_words: false, has_threads: false, ..sample };
    vec![
        of_elf(sample("execlog", Format::Execlog, writers::execlog(steps))),
        sample("execlog without the program", Format::Execlog, writers::execlog(steps)),
        of_elf(sample("drmemtrace", Format::Drmemtrace, writers::drmemtrace(steps, true))),
        Sample {
            has_words: false,
            ..sample(
                "drmemtrace without words",
                Format::Drmemtrace,
                writers::drmemtrace(steps, false),
            )
        },
        of_elf(sample("tarmac of a model", Format::Tarmac, writers::tarmac(steps, Dialect::Model))),
        of_elf(sample(
            "tarmac, accesses first",
            Format::Tarmac,
            writers::tarmac(steps, Dialect::ModelBefore),
        )),
        of_elf(sample("tarmac of RTL", Format::Tarmac, writers::tarmac(steps, Dialect::Rtl))),
        of_elf(sample("gem5-inst", Format::Gem5Inst, writers::gem5_inst(steps))),
        of_elf(sample("gem5-exec", Format::Gem5Exec, writers::gem5_exec(steps))),
        Sample {
            has_threads: false,
            ..of_elf(sample("lackey", Format::Lackey, writers::lackey(steps)))
        },
        of_classes(sample("cvp1", Format::Cvp1, writers::cvp1(steps))),
        of_classes(sample("champsim", Format::Champsim, writers::champsim(steps, false))),
        of_classes(sample("cloudsuite", Format::Cloudsuite, writers::champsim(steps, true))),
    ]
}

/// Imports a sample into a file.
fn imported(sample: &Sample, elf: &[u8], folder: &Path) -> TraceFile {
    let elf = sample.has_elf.then_some(elf);
    let (imported, bytes) = import_bytes(&sample.bytes, elf, &ImportOptions::default())
        .unwrap_or_else(|error| panic!("{}: {error}", sample.name));
    assert_eq!(imported.format, sample.format, "{}: recognized", sample.name);
    let path = folder.join(sample.name.replace(' ', "-")).with_extension("n2t");
    std::fs::write(&path, bytes).unwrap();
    assert!(sim_trace::verify(&path).unwrap().is_good(), "{}", sample.name);
    TraceFile::open(&path).unwrap()
}

#[test]
fn what_was_written_comes_back_instruction_by_instruction() {
    let folder = tempfile::tempdir().unwrap();
    for (trace, limit) in
        [("sort", 20_000), ("atomics", 10_000), ("btree", 20_000), ("interp", 20_000)]
    {
        let native = committed(trace);
        let (steps, elf) = (steps(&native, limit), elf(&native));
        let threads = native.streams().len();
        for sample in samples(&steps).iter().filter(|sample| sample.has_threads || threads == 1) {
            let (name, file) = (sample.name, imported(sample, &elf, folder.path()));
            let found = writers::steps(&file, usize::MAX);
            assert_eq!(found.len(), steps.len(), "{trace}: {name}");
            for (found, wanted) in found.iter().zip(&steps) {
                assert_eq!((found.stream, found.pc), (wanted.stream, wanted.pc), "{trace}: {name}");
                if sample.has_words {
                    assert_eq!(found.word, wanted.word, "{trace}: {name} at {:#x}", wanted.pc);
                }
                assert_eq!(
                    found.addr, wanted.addr,
                    "{trace}: {name} at {:#x}: {:08x}",
                    wanted.pc, wanted.word
                );
            }
            let lacks = &file.meta().lacks;
            assert_eq!(lacks.contains(&Lack::Words), !sample.has_words, "{name}");
            assert_eq!(lacks.contains(&Lack::Image), !sample.has_elf, "{name}");
            assert_eq!(lacks.contains(&Lack::Threads), !sample.has_threads, "{name}");
        }
    }
}

#[test]
fn branches_of_class_traces_stay_branches() {
    let folder = tempfile::tempdir().unwrap();
    let native = committed("interp");
    let (steps, elf) = (steps(&native, 20_000), elf(&native));
    for sample in samples(&steps).iter().filter(|sample| !sample.has_words) {
        let file = imported(sample, &elf, folder.path());
        let found = writers::steps(&file, usize::MAX);
        for (found, wanted) in found.iter().zip(&steps) {
            let (is, was) = (found.inst().branch, wanted.inst().branch);
            assert_eq!(
                is, was,
                "{}: {:08x} for {:08x} at {:#x}",
                sample.name, found.word, wanted.word, wanted.pc
            );
        }
        // Every branch goes where its stand-in says: nothing had to be explained.
        let events: u64 = file.streams().iter().map(|info| info.events).sum();
        assert_eq!(events, 0, "{}", sample.name);
    }
}

fn run(path: &Path, limit: u64) -> Outcome {
    let document = ConfigSource::default().document().unwrap();
    let config = MachineConfig::from_document(&document).unwrap();
    let session = Session::open(path, config, RunHeader::default()).unwrap();
    session.run(&RunOptions { limit: Some(limit), ..RunOptions::default() }, &mut |_| {}).unwrap()
}

/// Instructions of each run of the table.
const TABLE_INSTRUCTIONS: u64 = 200_000;
/// Events whose counts the table shows.
const SHOWN: [PmuEvent; 5] = [
    PmuEvent::INST_RETIRED,
    PmuEvent::CPU_CYCLES,
    PmuEvent::L1D_CACHE,
    PmuEvent::L1D_CACHE_REFILL,
    PmuEvent::BR_MIS_PRED_RETIRED,
];

#[test]
fn the_document_has_the_differences_from_the_native_trace() {
    let folder = tempfile::tempdir().unwrap();
    let native = committed("interp");
    let (steps, elf) = (steps(&native, TABLE_INSTRUCTIONS as usize), elf(&native));
    let row = |name: &str, counts: &Outcome, same: String, doubtful: String| {
        let shown = SHOWN.map(|event| counts.total().value(event).to_string()).join(" | ");
        format!("| {name} | {same} | {doubtful} | {shown} |\n")
    };
    let truth = run(native.path(), TABLE_INSTRUCTIONS);
    let mut table = row("native", &truth, "-".into(), "0".into());
    for sample in samples(&steps) {
        let file = imported(&sample, &elf, folder.path());
        let outcome = run(file.path(), TABLE_INSTRUCTIONS);
        let lacks = &file.meta().lacks;
        let is_same =
            |event: &PmuEvent| outcome.total().value(*event) == truth.total().value(*event);
        let is_doubtful = |event: &PmuEvent| trust::doubt(*event, lacks).is_some();
        let same = PmuEvent::ALL.iter().filter(|event| is_same(event)).count();
        let doubtful = PmuEvent::ALL.iter().filter(|event| is_doubtful(event)).count();
        if sample.has_words && sample.has_elf {
            assert_eq!(same, PmuEvent::ALL.len(), "{}: a trace that has everything", sample.name);
        }
        assert!(is_same(&PmuEvent::INST_RETIRED), "{}", sample.name);
        table += &row(sample.name, &outcome, same.to_string(), doubtful.to_string());
    }
    let document = read(&repository().join("docs/foreign-traces.md"));
    assert!(
        document.contains(&table),
        "docs/foreign-traces.md has another table than this:\n{table}"
    );
}

#[test]
fn any_bytes_are_refused_or_read() {
    let native = committed("sort");
    let (steps, elf) = (steps(&native, 40), elf(&native));
    let mut told = BTreeSet::new();
    for sample in samples(&steps) {
        let options = ImportOptions { from: Some(sample.format), ..ImportOptions::default() };
        for cut in 0..sample.bytes.len().min(1500) {
            try_import(&sample.bytes[..cut], &elf, &options, &mut told);
        }
        // A generator of small numbers, the same in every run.
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        for _ in 0..400 {
            let mut bytes = sample.bytes.clone();
            for _ in 0..3 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let at = (state >> 33) as usize % bytes.len();
                bytes[at] = [state as u8, 0xff, 0, bytes[at] ^ 1, b' '][(state >> 20) as usize % 5];
            }
            try_import(&bytes, &elf, &options, &mut told);
            try_import(&bytes, &elf, &ImportOptions::default(), &mut told);
        }
    }
    for what in
        ["the trace ends inside", "no word here", "a multiple of 4", "no executed instruction"]
    {
        assert!(told.iter().any(|error| error.contains(what)), "{what}: in none of {}", told.len());
    }
}

/// Reads it with every other way to hand it over; what is wrong is told in a sentence.
fn try_import(bytes: &[u8], elf: &[u8], options: &ImportOptions, told: &mut BTreeSet<String>) {
    if let Err(error) = import_bytes(bytes, Some(elf), options) {
        let error = error.to_string();
        assert!(!error.contains('\n'), "one sentence: {error}");
        told.insert(error);
    }
}

#[test]
fn words_are_asked_for_where_there_are_none() {
    let native = committed("sort");
    let steps = steps(&native, 40);
    for bytes in [writers::lackey(&steps), writers::gem5_exec(&steps)] {
        let error = import_bytes(&bytes, None, &ImportOptions::default()).unwrap_err().to_string();
        assert!(error.contains("--elf PROGRAM"), "{error}");
    }
}
