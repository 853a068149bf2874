//! Linux' own perf, unmodified, reads what `n2sim record` writes: every sample as the model meant
//! it.
//!
//! Without perf these tests have nothing to ask and pass; with `N2SIM_TOOLS=required`, as in CI,
//! they fail. `apt-get install linux-perf` gives it on Debian.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use linux_perf_data::{PerfFileReader, PerfFileRecord};
use sim_pmu::spe::{Item, OperationClass, Records, SpeRecord};
use sim_report::Symbols;
use sim_trace::TraceFile;

/// Messages of perf on itself rather than on the file: it was built without an unwinder for Arm.
const HARMLESS: [&str; 1] = ["unwind: target platform=arm64 is not supported"];
/// Traces and the part of each that is profiled: its work comes after its set-up.
const TRACES: [(&str, &str); 6] = [
    ("hash", "300k"),
    ("chase", "3800k"),
    ("btree", "300k"),
    ("atomics", "300k"),
    ("sort", "300k"),
    ("vector", "300k"),
];

/// Bit of an operation's payload: it is of SVE.
const SVE: u8 = 1 << 3;

struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    /// Returns `None` where perf is missing and not required.
    fn new() -> Option<Bench> {
        let is_there =
            Command::new("perf").arg("--version").output().is_ok_and(|o| o.status.success());
        let required = std::env::var("N2SIM_TOOLS").is_ok_and(|value| value == "required");
        assert!(is_there || !required, "perf is missing: apt-get install linux-perf");
        is_there.then(|| Bench { folder: tempfile::tempdir().expect("a folder") })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Records a part of a trace; what was said.
    fn record(&self, trace: &str, warmup: &str, output: &str, more: &[&str]) -> String {
        let output = self.path(output).display().to_string();
        let trace = trace_path(trace).display().to_string();
        let part = ["--warmup", warmup, "--limit", "400k"];
        let args = [&["record", &trace, "-o", &output], &part[..], more].concat();
        let done = Command::new(env!("CARGO_BIN_EXE_n2sim")).args(&args).output().expect("n2sim");
        let message = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{args:?}: {message}");
        message
    }

    /// Runs perf on a file; what it printed. It may complain of nothing.
    fn perf(&self, words: &str, file: &str) -> String {
        let words: Vec<&str> = words.split(' ').collect();
        let Output { status, stdout, stderr } = Command::new("perf")
            .args(&words)
            .arg("-i")
            .arg(self.path(file))
            .env("HOME", self.folder.path())
            .output()
            .expect("perf runs");
        let complaints: Vec<String> = String::from_utf8_lossy(&stderr)
            .lines()
            .filter(|line| !line.is_empty() && !HARMLESS.contains(line))
            .map(str::to_owned)
            .collect();
        assert!(status.success() && complaints.is_empty(), "{words:?}: {status}, {complaints:#?}");
        String::from_utf8_lossy(&stdout).into_owned()
    }
}

fn trace_path(name: &str) -> PathBuf {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    top.join("traces").join(name).with_extension("n2t")
}

/// The number in front of these words.
fn number_before(message: &str, words: &str) -> usize {
    let line = message.lines().find(|line| line.contains(words)).expect("the note is there");
    let before = line.split(words).next().and_then(|head| head.split_whitespace().last());
    before.and_then(|digits| digits.replace(',', "").parse().ok()).expect("a number")
}

/// The records of the raw bytes of each thread.
fn raw_records(bench: &Bench, threads: usize) -> BTreeMap<u32, Vec<SpeRecord>> {
    let of = |core: usize| {
        let name = if threads == 1 { "raw".to_owned() } else { format!("raw.{core}") };
        let bytes = std::fs::read(bench.path(&name)).expect("the raw file");
        let records = Records::new(&bytes).map(|item| match item {
            Item::Record(found) => found.record,
            Item::Damage(damage) => panic!("{damage}"),
        });
        (1000 + core as u32, records.collect())
    };
    (0..threads).map(of).collect()
}

/// Returns the output of `perf script` for a record with the fields that are requested below.
fn expected(record: &SpeRecord, symbols: &Symbols) -> String {
    let pc = record.pc.expect("every record has it").canonical();
    let addr = record.virtual_address.unwrap_or(0);
    let physical = record.physical_address.map_or(0, |physical| physical.address);
    let latency = record.total_latency.unwrap_or(0);
    let name = match symbols.function(pc) {
        Some(place) => format!("{}+{:#x}", place.function.name, place.offset),
        None => "[unknown]".to_owned(),
    };
    format!("{addr:x} {} {latency} {pc:x} {name} {physical:x}", level(record))
}

/// perf's word for where a load got its data.
fn level(record: &SpeRecord) -> &'static str {
    let Some(OperationClass::Access) = record.operation.map(|operation| operation.class) else {
        return "-";
    };
    match record.data_source {
        None => "N/A or N/A",
        Some(0x0) => "L1 or L1 hit",
        Some(0x8) => "L2 or L2 hit",
        Some(0xb | 0xc) => "L3 or L3 hit",
        Some(0xd) => "Remote",
        Some(0xe) => "Local RAM or RAM hit",
        Some(other) => panic!("{other:#x} is not a data source of this core"),
    }
}

/// Returns whether perf 6.1 misreads a record: an SVE operation that is not an access counts as a
/// load of the L1, though its dump is right, because both share one bit. Later versions are right.
fn is_misread(record: &SpeRecord) -> bool {
    record.operation.is_some_and(|operation| {
        operation.class == OperationClass::Other && operation.payload & SVE != 0
    })
}

fn as_misread(ours: &str) -> String {
    ours.replacen(" - ", " L1 or L1 hit ", 1)
}

/// A line of `perf script` brought into the form of [`expected`], and its thread.
fn message(line: &str) -> (u32, String) {
    let (head, rest) = line.split_once('|').expect("a data source");
    let head: Vec<&str> = head.split_whitespace().collect();
    let level = rest.split("|LVL ").nth(1).and_then(|rest| rest.split('|').next());
    let is_access = !rest.starts_with("OP No");
    let level = if is_access { level.expect("a level") } else { "-" };
    let tail = rest.split("|BLK  N/A").nth(1).expect("the end of the data source");
    let tail: Vec<&str> = tail.split_whitespace().collect();
    let [latency, ip, name, physical] = tail[..] else { panic!("{line}") };
    let tid = head[0].parse().expect("a thread");
    (tid, format!("{} {level} {latency} {ip} {name} {physical}", head[1]))
}

#[test]
fn stock_perf_decodes_every_sample_as_the_unit_meant_it() {
    let Some(bench) = Bench::new() else { return };
    for (trace, warmup) in TRACES {
        let warmup = if trace == "vector" { "0" } else { warmup };
        let event = ["-e", "arm_spe_0/pa_enable=1,jitter=1/", "-c", "1024"];
        let noted = bench.record(trace, warmup, "spe.data", &event);
        let kept = number_before(&noted, " passed the filters");
        assert!(kept > 100, "{trace}: {noted}");
        bench.record(trace, warmup, "raw", &[&event[..], &["--raw"]].concat());

        let file = TraceFile::open(&trace_path(trace)).expect("a committed trace");
        let symbols = Symbols::from_trace(&file);
        let threads = file.streams().len();
        let records = raw_records(&bench, threads);
        assert_eq!(records.values().map(Vec::len).sum::<usize>(), kept, "{trace}");

        let dump = bench.perf("report -D", "spe.data");
        let packets = dump.lines().filter(|line| line.contains(" TS ")).count();
        assert_eq!(packets, kept, "{trace}: report -D");
        assert!(!dump.contains("Bad packet"), "{trace}");

        let fields = "script --itrace=i1i -F tid,addr,data_src,weight,ip,sym,symoff,phys_addr";
        let mut lines: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for (tid, line) in bench.perf(fields, "spe.data").lines().map(message) {
            lines.entry(tid).or_default().push(line);
        }
        for (tid, records) in &records {
            let message = lines.remove(tid).unwrap_or_default();
            assert_eq!(message.len(), records.len(), "{trace}, thread {tid}");
            for (message, record) in message.iter().zip(records) {
                let ours = expected(record, &symbols);
                let is_same =
                    *message == ours || is_misread(record) && *message == as_misread(&ours);
                assert!(is_same, "{trace}, thread {tid}: perf says {message}, the unit {ours}");
            }
        }
        assert!(lines.is_empty(), "{trace}: threads without a recording");
        reports(&bench, trace, &records);
    }
}

/// The reports for people, and their split by data source.
fn reports(bench: &Bench, trace: &str, records: &BTreeMap<u32, Vec<SpeRecord>>) {
    let report = bench.perf("report --stdio --itrace=i1i", "spe.data");
    assert!(report.contains('%'), "{trace}: {report}");
    let top = report.lines().find(|line| line.contains("[.]")).expect("a hot function");
    let top = top.split("[.]").nth(1).expect("its name").trim();
    let annotated = bench.perf(&format!("annotate --stdio --itrace=i1i -s {top}"), "spe.data");
    assert!(annotated.contains(top), "{trace}: {annotated}");

    let mut levels: BTreeMap<&str, usize> = BTreeMap::new();
    for record in records.values().flatten().filter(|record| level(record) != "-") {
        *levels.entry(level(record)).or_default() += 1;
    }
    let misread = records.values().flatten().filter(|record| is_misread(record)).count();
    let report = bench.perf("mem report --stdio --itrace=M -s mem -F sample,mem", "spe.data");
    for (level, count) in &levels {
        let line = report.lines().find(|line| line.contains(level)).unwrap_or_default();
        let message = line.split_whitespace().next().and_then(|number| number.parse().ok());
        let more = if level.starts_with("L1") { misread } else { 0 };
        let is_same = message == Some(*count) || message == Some(count + more);
        assert!(is_same, "{trace}: {count} of {level} in\n{report}");
    }
    let loads = |source: &[u16]| {
        let is_from = |r: &&SpeRecord| r.data_source.is_some_and(|s| source.contains(&s));
        records.values().flatten().filter(is_from).count()
    };
    let report = bench.perf("c2c report --stdio", "spe.data");
    for (words, sources) in [("Load L1D hit", [0].as_slice()), ("Load Local DRAM", &[0xe])] {
        let line = report.lines().find(|line| line.contains(words)).expect("a line of the table");
        let message = line.split(':').nth(1).and_then(|number| number.trim().parse().ok());
        let more = if sources == [0] { misread } else { 0 };
        let is_same = message == Some(loads(sources)) || message == Some(loads(sources) + more);
        assert!(is_same, "{trace}: {} loads, {line}", loads(sources));
    }
}

/// For two threads that count in words of their own, stock perf finds the line with both words, and
/// none where they are apart.
#[test]
fn perf_c2c_finds_the_line_that_threads_share_by_default() {
    let Some(bench) = Bench::new() else { return };
    for (trace, lines) in [("threads/atomic_adjacent", 1), ("threads/atomic_padded", 0)] {
        bench.record(trace, "100", "spe.data", &["-e", "arm_spe_0//"]);
        let report = bench.perf("c2c report --stdio", "spe.data");
        let number = |words: &str| {
            let line = report.lines().find(|line| line.contains(words)).expect("in the table");
            line.split(':').nth(1).and_then(|text| text.trim().parse::<u64>().ok())
        };
        assert_eq!(number("Total Shared Cache Lines"), Some(lines), "{trace}:\n{report}");
        let peers = number("Load HIT Local Peer").expect("a number");
        assert_eq!(peers > 5, lines > 0, "{trace}: {peers} loads from the other core");
    }
}

/// For eight threads that read a table, stock perf names the source line that loads what others
/// invalidate, and the variable; and neither where the counters have lines of their own.
#[test]
fn perf_names_the_variable_and_source_line_of_false_sharing() {
    let Some(bench) = Bench::new() else { return };
    for (name, is_shared) in [("readers_adjacent", true), ("readers_padded", false)] {
        let trace = format!("parallel/{name}");
        let program = trace_path(&trace).with_extension("elf").display().to_string();
        let event = ["-e", "arm_spe_0/load_filter=1,store_filter=1/", "-c", "1024"];
        bench.record(&trace, "0", "spe.data", &[&event[..], &["--elf", &program]].concat());
        let report = bench.perf("c2c report --stdio", "spe.data");
        let loads = report.lines().filter(|line| line.contains("readers.c:25"));
        let loads: Vec<&str> = loads.filter(|line| line.contains("[.] look_up")).collect();
        assert_eq!(!loads.is_empty(), is_shared, "{name}:\n{report}");
        let report = bench.perf("mem report --stdio --itrace=M -s symbol_daddr,mem", "spe.data");
        let line = |row: &&str| row.contains("table+0x0") || row.contains("table+0x8");
        let rows: Vec<&str> = report.lines().filter(line).collect();
        assert!(!rows.is_empty(), "{name}:\n{report}");
        let from_peer = rows.iter().any(|row| row.contains("L3"));
        assert_eq!(from_peer, is_shared, "{name}:\n{report}");
    }
}

#[test]
fn every_overflow_is_a_sample_with_its_callers() {
    let Some(bench) = Bench::new() else { return };
    for trace in ["interp", "btree", "sort"] {
        let events = ["-e", "inst_retired:u,br_retired", "-c", "5000"];
        bench.record(trace, "100k", "overflow.data", &events);
        let script = bench.perf("script -F event,ip,sym,period", "overflow.data");
        let samples = |event: &str| script.lines().filter(|line| line.contains(event)).count();
        assert_eq!(samples("inst_retired:u:"), 400_000 / 5000, "{trace}");
        assert!(samples("br_retired:") > 0, "{trace}");
        let report = bench.perf("report --stdio -g caller --no-children", "overflow.data");
        assert!(report.contains("---"), "{trace}: no call graph in\n{report}");
        callers_precede_return_addresses(&bench, trace);
    }
}

/// Each return address follows a `BL` or `BLR` of the traced code, whoever reads the file.
fn callers_precede_return_addresses(bench: &Bench, trace: &str) {
    let file = TraceFile::open(&trace_path(trace)).expect("a committed trace");
    let mut seen = 0;
    for chain in chains(&bench.path("overflow.data")) {
        for caller in &chain[2..] {
            let word = file.image().word_at(caller - 4).expect("code of the trace");
            let is_call = word >> 26 == 0b10_0101 || word & 0xffff_fc1f == 0xd63f_0000;
            assert!(is_call, "{trace}: {caller:#x} does not follow a call but {word:08x}");
            seen += 1;
        }
    }
    assert!(seen > 0, "{trace}: no sample has a caller");
}

/// The chains of all samples, as an independent reader takes them: context, address, callers.
fn chains(path: &Path) -> Vec<Vec<u64>> {
    use linux_perf_data::linux_perf_event_reader::EventRecord;
    let file = std::fs::File::open(path).expect("the profile");
    let PerfFileReader { mut perf_file, mut record_iter } =
        PerfFileReader::parse_file(file).expect("a perf.data file");
    let mut chains = Vec::new();
    while let Some(record) = record_iter.next_record(&mut perf_file).expect("a record") {
        let PerfFileRecord::EventRecord { record, .. } = record else { continue };
        if let EventRecord::Sample(sample) = record.parse().expect("a record of the kernel") {
            let chain = sample.callchain.expect("every sample has one");
            chains.push((0..chain.len()).filter_map(|at| chain.get(at)).collect());
        }
    }
    chains
}

/// Needs no perf: the crate reads every file.
#[test]
fn an_independent_reader_takes_every_file() {
    let bench = Bench { folder: tempfile::tempdir().expect("a folder") };
    for (trace, warmup) in TRACES {
        let warmup = if trace == "vector" { "0" } else { warmup };
        for more in [["--metadata", "v1"], ["--metadata", "v2"]] {
            bench.record(trace, warmup, "spe.data", &more);
            assert!(chains(&bench.path("spe.data")).is_empty(), "samples are in the AUX data");
        }
        bench.record(trace, warmup, "overflow.data", &["-e", "cycles", "-c", "10k"]);
        assert!(!chains(&bench.path("overflow.data")).is_empty(), "{trace}");
    }
}

#[test]
fn wrong_requests_are_refused_with_the_remedy() {
    let trace = trace_path("hash").display().to_string();
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("perf.data").display().to_string();
    for (args, remedy) in [
        (&["-e", "arm_spe_0/min_latency=9999/"][..], "up to 4095"),
        (&["-e", "arm_spe_0//", "-e", "cycles"], "a run of its own"),
        (&["-e", "cycles", "--raw"], "leave --raw out"),
        (&["-e", "r01,r02,r03,r04,r05,r08,r09"], "record fewer"),
        (&["-c", "0"], "give a number from 1"),
        (&["--elf", "/nowhere/program"], "cannot read /nowhere/program"),
        (&["--elf", "/dev/zero"], "/dev/zero: this is not a file"),
        (&["--elf", env!("CARGO_BIN_EXE_n2sim")], "is not a 64-bit ELF program for AArch64"),
        (&["--aux-buffer", "-1"], "give a number of bytes"),
    ] {
        let all = [&["record", &trace, "-o", &output, "--limit", "1k"], args].concat();
        let done = Command::new(env!("CARGO_BIN_EXE_n2sim")).args(&all).output().expect("n2sim");
        let message = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{args:?}: {message}");
        assert!(message.contains(remedy), "{args:?}: {message}");
        assert_eq!(folder.path().read_dir().expect("readable").count(), 0, "{args:?}");
    }
}

/// A profile without the program maps a file that was made from the trace.
#[test]
fn a_program_that_is_not_the_mapped_file_needs_the_trace() {
    let bench = Bench { folder: tempfile::tempdir().expect("a folder") };
    bench.record("hash", "0", "spe.data", &["-e", "arm_spe_0//", "-c", "1024"]);
    let program = trace_path("parallel/queue").with_extension("elf");
    let mut spe = Command::new(env!("CARGO_BIN_EXE_n2sim"));
    spe.arg("spe").arg(bench.path("spe.data")).arg("--elf").arg(program);
    let done = spe.output().expect("n2sim");
    let message = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(2), "{message}");
    assert!(message.contains("queue.elf loads nothing from offset 0x1000"), "{message}");
    assert!(message.contains("or the trace too (--trace)"), "{message}");
}
