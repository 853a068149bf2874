//! Traces of other tools. Output of independent writers for real programs reads back instruction by
//! instruction and runs like the native trace, and arbitrary bytes never do harm.

#![allow(missing_docs, clippy::unwrap_used)]

#[path = "foreign/writers.rs"]
mod writers;

use std::collections::BTreeSet;
use std::path::Path;

use sim_core::PmuEvent;
use sim_machine::{ConfigSource, MachineConfig, Outcome, RunHeader, RunOptions, Session, caveats};
use sim_tests::{read, repository};
use sim_trace::foreign::{Format, ImportOptions, import_bytes};
use sim_trace::{MissingData, TraceFile};
use writers::{Dialect, Step, committed, elf, steps};

/// A written trace and its expected properties.
struct Sample {
    /// Name for messages and the table.
    name: &'static str,
    format: Format,
    bytes: Vec<u8>,
    /// Set if the program's file is given.
    has_elf: bool,
    /// Set if words read back, not stand-ins.
    has_words: bool,
    /// Set if threads read back.
    has_threads: bool,
}

/// Returns `steps` in every format.
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
fn a_written_trace_reads_back_instruction_by_instruction() {
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
            assert_eq!(lacks.contains(&MissingData::Words), !sample.has_words, "{name}");
            assert_eq!(lacks.contains(&MissingData::Image), !sample.has_elf, "{name}");
            assert_eq!(lacks.contains(&MissingData::Threads), !sample.has_threads, "{name}");
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
        // Every branch goes where its stand-in says, so no event was needed.
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
        let is_doubtful = |event: &PmuEvent| caveats::doubt(*event, lacks).is_some();
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
    let mut errors = BTreeSet::new();
    for sample in samples(&steps) {
        let options = ImportOptions { from: Some(sample.format), ..ImportOptions::default() };
        for cut in 0..sample.bytes.len().min(1500) {
            try_import(&sample.bytes[..cut], &elf, &options, &mut errors);
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
            try_import(&bytes, &elf, &options, &mut errors);
            try_import(&bytes, &elf, &ImportOptions::default(), &mut errors);
        }
    }
    for what in [
        "the trace ends inside",
        "neither the trace nor a program file",
        "a multiple of 4",
        "no executed instruction",
    ] {
        assert!(
            errors.iter().any(|error| error.contains(what)),
            "{what}: in none of {}",
            errors.len()
        );
    }
}

/// Imports the bytes. Collects the error message, if any, which must be one line.
fn try_import(bytes: &[u8], elf: &[u8], options: &ImportOptions, errors: &mut BTreeSet<String>) {
    if let Err(error) = import_bytes(bytes, Some(elf), options) {
        let error = error.to_string();
        assert!(!error.contains('\n'), "one sentence: {error}");
        errors.insert(error);
    }
}

#[test]
fn missing_words_are_an_error_that_asks_for_the_program() {
    let native = committed("sort");
    let steps = steps(&native, 40);
    for bytes in [writers::lackey(&steps), writers::gem5_exec(&steps)] {
        let error = import_bytes(&bytes, None, &ImportOptions::default()).unwrap_err().to_string();
        assert!(error.contains("--elf PROGRAM"), "{error}");
    }
}

/// Returns a ChampSim record: address, branch (`None`, or taken), written and read registers,
/// stores and loads.
fn record(
    ip: u64,
    branch: Option<bool>,
    (writes, reads): (&[u8], &[u8]),
    (stores, loads): (&[u64], &[u64]),
) -> Vec<u8> {
    fn filled<T: Copy + Default, const N: usize>(values: &[T]) -> [T; N] {
        std::array::from_fn(|n| values.get(n).copied().unwrap_or_default())
    }
    let mut out = ip.to_le_bytes().to_vec();
    out.extend([u8::from(branch.is_some()), u8::from(branch == Some(true))]);
    out.extend(filled::<u8, 2>(writes));
    out.extend(filled::<u8, 4>(reads));
    out.extend(filled::<u64, 2>(stores).into_iter().flat_map(u64::to_le_bytes));
    out.extend(filled::<u64, 4>(loads).into_iter().flat_map(u64::to_le_bytes));
    out
}

/// A whole loop of x86 code: instructions of odd lengths, one that loads and stores, a backward
/// branch.
#[test]
fn an_x86_trace_gets_a_new_layout_and_runs() {
    const TURNS: u64 = 500;
    let bytes: Vec<u8> = (0..TURNS)
        .flat_map(|turn| {
            let data = 0x10_0000 + 8 * turn;
            [
                record(0x1001, None, (&[1], &[2]), (&[], &[data])),
                record(0x1004, None, (&[3, 25], &[1, 3]), (&[], &[])),
                record(0x1006, None, (&[25], &[4, 3]), (&[0x20_0000], &[0x20_0000])),
                record(0x100a, Some(turn + 1 < TURNS), (&[26], &[26, 25]), (&[], &[])),
            ]
            .concat()
        })
        .collect();
    let options = ImportOptions { from: Some(Format::Champsim), ..ImportOptions::default() };
    let (_, trace) = import_bytes(&bytes, None, &options).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x86.n2t");
    std::fs::write(&path, trace).unwrap();
    let file = TraceFile::open(&path).unwrap();
    assert!(sim_trace::verify(&path).unwrap().is_good());
    assert!(file.meta().lacks.contains(&MissingData::InstructionSet));
    // A load, an operation, a load and a store, a branch.
    assert_eq!(file.instructions(), 5 * TURNS);
    let found = writers::steps(&file, usize::MAX);
    let turn: Vec<u64> = found[..5].iter().map(|step| step.pc - found[0].pc).collect();
    assert_eq!(turn, [0, 4, 8, 12, 16]);
    for (turn, parts) in (0u64..).zip(found.chunks(5)) {
        let addresses: Vec<Option<u64>> = parts.iter().map(|step| step.addr).collect();
        let (data, sum) = (Some(0x10_0000 + 8 * turn), Some(0x20_0000));
        assert_eq!(addresses, [data, None, sum, sum, None]);
    }
    assert_eq!(found[5].pc, found[0].pc, "the branch goes back");
    let outcome = run(&path, u64::MAX);
    assert_eq!(outcome.total().value(PmuEvent::BR_RETIRED), TURNS);
    assert!(outcome.total().value(PmuEvent::BR_MIS_PRED_RETIRED) < 20);
    let doubts =
        PmuEvent::ALL.iter().filter(|event| caveats::doubt(**event, &file.meta().lacks).is_some());
    assert_eq!(doubts.count(), PmuEvent::ALL.len(), "every count is doubtful");
}

/// A position-independent program at the address that `--elf FILE@ADDRESS` gives.
#[test]
fn a_program_is_moved_to_its_load_address() {
    const MOVED: u64 = 0x5500_0000_0000;
    let native = committed("sort");
    let mut elf = elf(&native);
    elf[16] = 3; // ET_DYN
    let fixed = steps(&native, 2000);
    let moved: Vec<Step> = fixed.iter().map(|step| Step { pc: step.pc + MOVED, ..*step }).collect();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("program"), &elf).unwrap();
    std::fs::write(at("text"), writers::lackey(&moved)).unwrap();
    let import = |bias: u64| {
        let options =
            ImportOptions { elf: Some((at("program"), bias)), ..ImportOptions::default() };
        sim_trace::foreign::import(&at("text"), &at("moved.n2t"), &options)
    };
    let error = import(0).unwrap_err().to_string();
    assert!(error.contains("(--elf FILE@ADDRESS)"), "{error}");
    import(MOVED).unwrap();
    let found = writers::steps(&TraceFile::open(&at("moved.n2t")).unwrap(), usize::MAX);
    assert_eq!(found.len(), moved.len());
    for (found, wanted) in found.iter().zip(&moved) {
        assert_eq!((found.pc, found.word, found.addr), (wanted.pc, wanted.word, wanted.addr));
    }
    elf[16] = 2;
    std::fs::write(at("program"), &elf).unwrap();
    let error = import(MOVED).unwrap_err().to_string();
    assert!(error.contains("fixed addresses"), "{error}");
}

/// QEMU in system mode prints physical addresses, the device of each access, and other lines
/// between.
#[test]
fn execlog_of_a_whole_system_has_physical_addresses() {
    let native = committed("sort");
    let steps = steps(&native, 5000);
    let text = String::from_utf8(writers::execlog(&steps)).unwrap();
    let mut system = String::from("Trace 0: 0x7f0000 [0000/ffff800010000000/00000051/ff000000]\n");
    for (n, line) in text.lines().enumerate() {
        let with_device = |line: &str| {
            let mut parts = line.split("\", ");
            let head = parts.next().unwrap().to_owned();
            parts.fold(head + "\"", |all, accesses| {
                let words: Vec<&str> = accesses.split(", ").collect();
                let named = words.chunks(2).map(|pair| format!(", {}, {}, RAM", pair[0], pair[1]));
                all + &named.collect::<String>()
            })
        };
        let has_access = line.contains(", load, ") || line.contains(", store, ");
        system += &if has_access { with_device(line) } else { line.to_owned() };
        system += if n % 100 == 7 { "\nTaking exception 5 [IRQ] on CPU 0\n" } else { "\n" };
    }
    let (imported, trace) =
        import_bytes(system.as_bytes(), None, &ImportOptions::default()).unwrap();
    assert_eq!((imported.format, imported.summary.instructions), (Format::Execlog, 5000));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("system.n2t");
    std::fs::write(&path, trace).unwrap();
    let file = TraceFile::open(&path).unwrap();
    let meta = file.meta();
    assert!(
        meta.machine.full_system && meta.lacks.contains(&MissingData::VirtualAddresses),
        "{meta:?}"
    );
    for (found, wanted) in writers::steps(&file, usize::MAX).iter().zip(&steps) {
        assert_eq!((found.pc, found.word, found.addr), (wanted.pc, wanted.word, wanted.addr));
    }
    let doubt = |event| caveats::doubt(event, &[MissingData::VirtualAddresses]);
    assert!(doubt(PmuEvent::DTLB_WALK).is_some() && doubt(PmuEvent::L1D_CACHE).is_none());
}

/// Exceptions that a Tarmac text names are in the trace, with their vector, and count.
#[test]
fn exceptions_of_tarmac_are_taken() {
    const TAKEN: u64 = 40;
    let mut text = String::new();
    for n in 0..TAKEN {
        let pc = 0x40_0000 + 8 * n;
        let lines = [
            format!("{n} clk cpu0 IT ({n}) {pc:08x} d503201f O EL0t_n : NOP"),
            format!("{n} clk cpu0 E {:08x} 00000081 CoreEvent_LOWER_64_IRQ", pc + 4),
            format!("{n} clk cpu0 IT ({n}) ffff800010000480 d503201f O EL1h_ns : NOP"),
            format!("{n} clk cpu0 IT ({n}) ffff800010000484 d69f03e0 O EL1h_ns : ERET"),
            format!("{n} clk cpu0 IT ({n}) {:08x} d503201f O EL0t_n : NOP", pc + 4),
        ];
        text += &(lines.join("\n") + "\n");
    }
    let (imported, trace) = import_bytes(text.as_bytes(), None, &ImportOptions::default()).unwrap();
    assert_eq!((imported.format, imported.summary.instructions), (Format::Tarmac, 4 * TAKEN));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tarmac.n2t");
    std::fs::write(&path, trace).unwrap();
    let file = TraceFile::open(&path).unwrap();
    assert!(sim_trace::verify(&path).unwrap().is_good() && file.meta().machine.full_system);
    let outcome = run(&path, u64::MAX);
    assert_eq!(outcome.total().value(PmuEvent::EXC_TAKEN), TAKEN);
    assert_eq!(outcome.total().value(PmuEvent::EXC_RETURN), TAKEN);
    assert_eq!(outcome.total().value(PmuEvent::EXC_IRQ), TAKEN);
}
