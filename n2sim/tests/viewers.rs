//! Profiles and pipeline traces for viewers other than perf hold what perf.data and the Kanata log
//! hold. `packaging/viewers-test` opens the same files with the viewers' own readers.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use linux_perf_data::linux_perf_event_reader::EventRecord;
use linux_perf_data::{PerfFileReader, PerfFileRecord};
use serde_json::Value;

use crate::recording::{Bench, COMPILER, HERE};

fn trace(name: &str) -> String {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces");
    traces.join(name).to_str().unwrap().to_owned()
}

fn n2sim(args: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_n2sim")).args(args).current_dir(folder).output().unwrap()
}

fn run(args: &[&str], folder: &Path) -> Vec<u8> {
    let output = n2sim(args, folder);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {message}");
    output.stdout
}

fn names(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().unwrap().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A sample: its time in nanoseconds and its number of callers.
type Sample = (u64, usize);

/// Returns the samples of each thread and event of a perf.data file.
fn of_perf(path: &Path) -> BTreeMap<(i32, usize), Vec<Sample>> {
    let file = std::fs::File::open(path).unwrap();
    let PerfFileReader { mut perf_file, mut record_iter } =
        PerfFileReader::parse_file(file).unwrap();
    let mut samples: BTreeMap<_, Vec<Sample>> = BTreeMap::new();
    while let Some(record) = record_iter.next_record(&mut perf_file).unwrap() {
        let PerfFileRecord::EventRecord { record, attr_index } = record else { continue };
        if let EventRecord::Sample(sample) = record.parse().unwrap() {
            // A mark of the level and the instruction itself are no callers.
            let callers = sample.callchain.unwrap().len() - 2;
            let own = samples.entry((sample.tid.unwrap(), attr_index)).or_default();
            own.push((sample.timestamp.unwrap(), callers));
        }
    }
    samples
}

fn numbers(list: &Value) -> Vec<u64> {
    list.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

/// Returns the samples of each thread and event of a profile for the Firefox Profiler. The callers
/// are the functions that are not inlined, but the innermost.
fn of_firefox(profile: &Value, events: usize) -> BTreeMap<(i32, usize), Vec<Sample>> {
    let stacks = &profile["shared"]["stackTable"];
    let (frames, prefixes) = (numbers(&stacks["frame"]), &stacks["prefix"]);
    let depths = numbers(&profile["shared"]["frameTable"]["inlineDepth"]);
    let callers = |stack: u64| {
        let next = |at: &u64| prefixes[*at as usize].as_u64();
        let path = std::iter::successors(Some(stack), next);
        path.filter(|at| depths[frames[*at as usize] as usize] == 0).count() - 1
    };
    let mut samples: BTreeMap<_, Vec<Sample>> = BTreeMap::new();
    for (place, thread) in profile["threads"].as_array().unwrap().iter().enumerate() {
        let tid = thread["tid"].as_str().unwrap().split('.').next().unwrap().parse().unwrap();
        let own = &thread["samples"];
        assert_eq!(own["weightType"], "samples");
        let times = own["time"].as_array().unwrap().iter();
        let times = times.map(|time| (time.as_f64().unwrap() * 1e6).round() as u64);
        let found: Vec<Sample> =
            times.zip(numbers(&own["stack"])).map(|(time, at)| (time, callers(at))).collect();
        assert_eq!(own["length"], found.len());
        if !found.is_empty() {
            samples.insert((tid, place % events), found);
        }
    }
    samples
}

/// A core and a trace: one with a stack, one with several threads.
const RUNS: [(&str, &str); 4] = [
    ("neoverse-n2", "hash.n2t"),
    ("cortex-a53", "hash.n2t"),
    ("neoverse-n2", "threads/plain_padded.n2t"),
    ("cortex-a53", "threads/plain_padded.n2t"),
];

#[test]
fn every_form_has_the_samples_of_perf() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (core, name) in RUNS {
        let trace = trace(name);
        let record = |more: &[&str]| {
            let args = ["record", &trace, "--core", core, "--limit", "200k", "-c", "500"];
            run(&[&args[..], &["-o", "p"], more].concat(), folder);
            std::fs::read(folder.join("p")).unwrap()
        };
        let events = ["-e", "inst_retired,l1d_cache"];
        record(&events);
        let expected = of_perf(&folder.join("p"));
        assert!(expected.values().map(Vec::len).sum::<usize>() > 40, "{core} {name}");
        let firefox = record(&[&events[..], &["--format", "firefox"]].concat());
        let firefox: Value = serde_json::from_slice(&firefox).unwrap();
        assert_eq!(of_firefox(&firefox, 2), expected, "{core} {name}");

        let speedscope = record(&[&events[..], &["--format", "speedscope"]].concat());
        let speedscope: Value = serde_json::from_slice(&speedscope).unwrap();
        let sizes = speedscope["profiles"].as_array().unwrap().iter().map(|profile| {
            let weights = numbers(&profile["weights"]);
            assert_eq!(profile["samples"].as_array().unwrap().len(), weights.len());
            assert_eq!(profile["endValue"], weights.iter().sum::<u64>());
            weights.len()
        });
        let sizes: Vec<usize> = sizes.filter(|samples| *samples > 0).collect();
        assert_eq!(sizes, expected.values().map(Vec::len).collect::<Vec<_>>(), "{core} {name}");

        let folded = record(&["-e", "l1d_cache", "--format", "folded"]);
        let folded = String::from_utf8(folded).unwrap();
        let counts = folded.lines().map(|line| line.rsplit_once(' ').unwrap().1);
        let sum: u64 = counts.map(|count| count.parse::<u64>().unwrap()).sum();
        let samples = expected.iter().filter(|((_, event), _)| *event == 1);
        let samples: usize = samples.map(|(_, samples)| samples.len()).sum();
        assert_eq!(sum, 500 * samples as u64, "{core} {name}");
    }
}

#[test]
fn stacks_have_the_names_of_the_program_and_its_threads() {
    let folder = tempfile::tempdir().unwrap();
    let folded = |name: &str| {
        let args = ["record", &trace(name), "--limit", "200k", "-c", "1k", "--format", "folded"];
        String::from_utf8(run(&[&args[..], &["-o", "-"]].concat(), folder.path())).unwrap()
    };
    let alone = folded("hash.n2t");
    assert!(alone.lines().all(|line| line.starts_with("hash;")), "{alone}");
    assert!(alone.contains(";run;insert ") && !alone.contains("thread "), "{alone}");
    let several = folded("threads/plain_padded.n2t");
    assert!(several.contains(";thread 1000;") && several.contains(";thread 1001;"), "{several}");
    assert!(names(folder.path()).is_empty(), "nothing but the output is written");
}

/// Compiles `inlined.c` with its lines.
fn compile_inlined(program: &Path) {
    let mut compiler = Command::new(COMPILER);
    compiler.args(["-O2", "-g", "-nostdlib", "-static", "-fno-stack-protector", "-o"]).arg(program);
    let source = Path::new(HERE).join("tests/programs/inlined.c");
    assert!(compiler.arg(source).status().unwrap().success(), "the program does not compile");
}

#[test]
fn inlined_functions_are_frames_with_their_lines() {
    let Some(bench) = Bench::made(compile_inlined) else { return };
    assert!(bench.capture(&[]).output().unwrap().status.success());
    let (folder, trace) = (bench.folder.path(), bench.trace());
    let program = folder.join("program");
    let [trace, program] = [&trace, &program].map(|path| path.to_str().unwrap());
    for core in ["neoverse-n2", "cortex-a53"] {
        let record = |form| {
            let args = ["record", trace, "--elf", program, "--core", core, "-c", "100", "-o", "-"];
            run(&[&args[..], &["--format", form]].concat(), folder)
        };
        let folded = String::from_utf8(record("folded")).unwrap();
        assert!(folded.contains("program;_start;walk;probe;mix "), "{core}: {folded}");
        let profile: Value = serde_json::from_slice(&record("firefox")).unwrap();
        let shared = &profile["shared"];
        let (funcs, frames) = (&shared["funcTable"], &shared["frameTable"]);
        let text = |at: &Value| shared["stringArray"][at.as_u64().unwrap() as usize].as_str();
        let mut lines = BTreeMap::new();
        for (at, func) in numbers(&frames["func"]).into_iter().enumerate() {
            let name = text(&funcs["name"][func as usize]).unwrap();
            let place = (frames["line"][at].as_u64().unwrap(), frames["inlineDepth"][at].as_u64());
            lines.entry(name).or_insert_with(Vec::new).push(place);
            let source = funcs["source"][func as usize].as_u64().unwrap();
            let file = text(&shared["sources"]["filename"][source as usize]).unwrap();
            assert!(file.ends_with("tests/programs/inlined.c"), "{file}");
        }
        // The body of each function, and its depth in `walk`.
        assert!(lines["mix"].iter().all(|place| matches!(place, (6..=8, Some(2)))), "{lines:?}");
        assert!(lines["probe"].iter().all(|place| *place == (13, Some(1))), "{lines:?}");
    }
}

#[test]
fn a_form_has_a_file_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    for form in ["firefox", "speedscope", "folded"] {
        run(&["record", &trace("hash.n2t"), "--limit", "20k", "--format", form], folder.path());
    }
    let expected = ["profile.firefox.json", "profile.folded", "profile.speedscope.json"];
    assert_eq!(names(folder.path()), expected);
}

#[test]
fn what_a_form_cannot_hold_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let trace = trace("hash.n2t");
    for core in ["neoverse-n2", "cortex-a53"] {
        for (args, message) in [
            (&["--format", "folded", "-e", "cycles,inst_retired"][..], "name one event"),
            (&["--format", "firefox", "--metadata", "v2"], "--metadata concerns SPE"),
            (&["--format", "folded", "--raw"], "--raw concerns SPE"),
            (&["--format", "folded", "--aux-buffer", "1M"], "--aux-buffer concerns SPE"),
            (&["--format", "speedscope", "-o", "/nowhere/p"], "no directory /nowhere"),
            (&["--format", "speedscope", "-o", &trace], "this command reads that file"),
            (&["--format", "firefox", "--elf", "/nowhere"], "cannot read /nowhere"),
            (&["--format", "pprof"], "[possible values: perf, firefox, speedscope, folded]"),
            (&["-e", "cycles", "-o", "-"], "give a file"),
        ] {
            let base = ["record", &trace, "--core", core, "--limit", "1k"];
            let output = n2sim(&[&base[..], args].concat(), folder.path());
            let text = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
            assert!(text.contains(message) && output.stdout.is_empty(), "{args:?}: {text}");
            assert!(names(folder.path()).is_empty(), "{args:?}");
        }
    }
    let args = ["record", &trace, "--limit", "1k", "--format", "firefox"];
    let output = n2sim(&[&args[..], &["-e", "arm_spe_0//"]].concat(), folder.path());
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("records of SPE have no callers"), "{text}");
}

/// Returns the fields of a protocol buffer: number, value, bytes of a message or text.
fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
    fn take<'a>(bytes: &mut &'a [u8], length: usize) -> &'a [u8] {
        let (head, rest) = bytes.split_at(length);
        *bytes = rest;
        head
    }
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for at in 0.. {
            let byte = take(bytes, 1)[0];
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte & 0x80 == 0 {
                break;
            }
        }
        value
    }
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let (value, text) = match key & 7 {
            0 => (varint(&mut bytes), &[][..]),
            1 => (u64::from_le_bytes(take(&mut bytes, 8).try_into().unwrap()), &[][..]),
            2 => {
                let length = varint(&mut bytes) as usize;
                (0, take(&mut bytes, length))
            }
            other => panic!("wire type {other}"),
        };
        fields.push((key >> 3, value, text));
    }
    fields
}

/// Returns the first field of this number.
fn field(message: &[u8], number: u64) -> Option<(u64, &[u8])> {
    let found = fields(message).into_iter().find(|(field, ..)| *field == number);
    found.map(|(_, value, text)| (value, text))
}

/// Returns the slices of a Perfetto trace: stage, first cycle, cycle after the last. Each track has
/// one at a time.
fn slices(trace: &[u8]) -> Vec<(String, u64, u64)> {
    let (mut stages, mut open, mut slices) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    for (number, _, packet) in fields(trace) {
        assert_eq!(number, 1);
        if let Some((_, track)) = field(packet, 60) {
            let name = String::from_utf8(field(track, 2).unwrap().1.to_owned()).unwrap();
            stages.insert(field(track, 1).unwrap().0, name);
            continue;
        }
        let ((cycle, _), (_, event)) = (field(packet, 8).unwrap(), field(packet, 11).unwrap());
        let (track, _) = field(event, 11).unwrap();
        match field(event, 9).unwrap().0 {
            1 => assert_eq!(open.insert(track, cycle), None, "track {track}"),
            2 => slices.push((stages[&track].clone(), open.remove(&track).unwrap(), cycle)),
            other => panic!("type {other}"),
        }
    }
    assert!(open.is_empty());
    slices
}

/// Returns the first cycles of the stages of a Kanata log, sorted.
fn begins(log: &str) -> Vec<u64> {
    let (mut cycle, mut begins) = (0, Vec::new());
    for line in log.lines() {
        match line.split('\t').collect::<Vec<_>>()[..] {
            ["C=", at] => cycle = at.parse().unwrap(),
            ["C", passed] => cycle += passed.parse::<u64>().unwrap(),
            ["S", _, "0", _] => begins.push(cycle),
            _ => {}
        }
    }
    begins
}

#[test]
fn perfetto_has_the_stages_of_every_operation() {
    let folder = tempfile::tempdir().unwrap();
    for core in ["neoverse-n2", "cortex-a53"] {
        let trace = trace("hash.n2t");
        let with = |form: &str| {
            let args = ["pipeline", &trace, "--core", core, "--window", "10000..10400", form];
            run(&args, folder.path())
        };
        let kanata = String::from_utf8(with("--kanata")).unwrap();
        let mut slices = slices(&with("--perfetto"));
        // The Kanata log does not show stores that drain.
        slices.retain(|(stage, ..)| stage != "store written");
        let mut found: Vec<u64> = slices.iter().map(|(_, from, _)| *from).collect();
        found.sort_unstable();
        assert_eq!(found, begins(&kanata), "{core}");
        assert!(slices.iter().all(|(_, from, to)| from < to));
        let retired = slices.iter().filter(|(stage, ..)| stage == "retire").count();
        assert_eq!(retired, 400, "{core}");
    }
}
