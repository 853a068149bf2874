//! The whole text of each form, for two threads: `main` calls `step`, `idle` has no name.

use serde_json::{Value, json};

use super::{Stack, StackFrame, StackSample, Stacks, Track};
use super::{firefox, folded, speedscope};
use crate::Symbols;
use crate::perf_data::overflow::{OverflowEvent, OverflowProfile, OverflowSample};
use crate::perf_data::records::Sample;
use crate::symbols::Function;

fn overflow(thread: usize, time: u64, ip: u64, callers: &[u64]) -> OverflowSample {
    let sample = Sample { ip, is_kernel: false, period: 100, callers: callers.to_vec() };
    OverflowSample { event: 0, thread, time, sample }
}

fn profile(tids: &[u32], samples: Vec<OverflowSample>) -> OverflowProfile {
    let event = OverflowEvent { name: "cycles".to_owned(), period: 100, ..Default::default() };
    OverflowProfile {
        events: vec![event],
        comm: "demo".to_owned(),
        tids: tids.to_vec(),
        times: (1_000_000_000, 1_000_000_500),
        samples,
        ..OverflowProfile::default()
    }
}

/// The call is the last instruction of `main`, so that its return address is in `step`.
fn symbols() -> Symbols {
    let function = |name: &str, addr| Function { name: name.to_owned(), addr, size: 0x10 };
    Symbols::from_functions(vec![function("main", 0x1000), function("step;1", 0x1010)])
}

fn two_threads() -> Stacks {
    let samples = vec![
        overflow(0, 1_000_000_100, 0x1014, &[0x1010]),
        overflow(1, 1_000_000_200, 0x2000, &[]),
        overflow(0, 1_000_000_300, 0x1018, &[0x1010]),
        overflow(0, 1_000_000_400, 0x1014, &[0x1010]),
    ];
    Stacks::new(&profile(&[7, 8], samples), &symbols())
}

/// One thread, with a function of a source file inlined into another of it.
fn inlined() -> Stacks {
    let frame = |name: &str, line, inline_depth| StackFrame {
        name: name.to_owned(),
        file: Some("a.c".to_owned()),
        line: Some(line),
        address: 0x1000,
        inline_depth,
    };
    let samples = vec![StackSample { time: 1_000_250_000, stack: 1, weight: 5_000_000_000 }];
    Stacks {
        program: "demo".to_owned(),
        pid: 7,
        times: (1_000_000_000, 1_001_000_000),
        frames: vec![frame("main", 3, 0), frame("step", 9, 1)],
        stacks: vec![Stack { parent: None, frame: 0 }, Stack { parent: Some(0), frame: 1 }],
        tracks: vec![Track { event: "l1d_cache".to_owned(), tid: 7, samples }],
    }
}

#[test]
fn a_caller_is_named_by_its_call_and_equal_stacks_are_shared() {
    let stacks = two_threads();
    let names: Vec<&str> = stacks.frames.iter().map(|frame| &*frame.name).collect();
    assert_eq!(names, ["main", "step;1", "0x2000", "step;1"]);
    assert_eq!(stacks.frames[0].address, 0x100c);
    let of_first: Vec<usize> = stacks.tracks[0].samples.iter().map(|sample| sample.stack).collect();
    assert_eq!(of_first, [1, 3, 1]);
    assert_eq!((stacks.path(3), stacks.path(2)), (vec![0, 3], vec![2]));
    assert_eq!(stacks.track_name(&stacks.tracks[1]), "cycles, thread 8");
}

#[test]
fn folded_stacks_have_the_sum_of_their_events() {
    let mut out = Vec::new();
    folded::write(&mut out, &two_threads()).expect("room");
    let text = String::from_utf8(out).expect("text");
    assert_eq!(text, "demo;thread 7;main;step:1 300\ndemo;thread 8;0x2000 100\n");
    let mut out = Vec::new();
    folded::write(&mut out, &inlined()).expect("room");
    assert_eq!(String::from_utf8(out).expect("text"), "demo;main;step 5000000000\n");
}

#[test]
fn speedscope_has_a_profile_of_each_thread_with_functions_once() {
    let mut out = Vec::new();
    speedscope::write(&mut out, &two_threads(), "0.1").expect("room");
    let read: Value = serde_json::from_slice(&out).expect("JSON");
    let profile = |name: &str, end: u64, samples: Value, weights: Value| {
        json!({
            "type": "sampled", "name": name, "unit": "none", "startValue": 0, "endValue": end,
            "samples": samples, "weights": weights,
        })
    };
    let expected = json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": "demo",
        "exporter": "n2sim 0.1",
        "activeProfileIndex": 0,
        "shared": {"frames": [{"name": "main"}, {"name": "step;1"}, {"name": "0x2000"}]},
        "profiles": [
            profile("cycles, thread 7", 300, json!([[0, 1], [0, 1], [0, 1]]), json!([100, 100, 100])),
            profile("cycles, thread 8", 100, json!([[2]]), json!([100])),
        ],
    });
    assert_eq!(read, expected);
}

#[test]
fn speedscope_names_the_source_file() {
    let mut out = Vec::new();
    speedscope::write(&mut out, &inlined(), "0.1").expect("room");
    let read: Value = serde_json::from_slice(&out).expect("JSON");
    let frames = json!([{"name": "main", "file": "a.c"}, {"name": "step", "file": "a.c"}]);
    assert_eq!(read["shared"]["frames"], frames);
}

#[test]
fn firefox_has_shared_tables_with_lines_and_inlined_functions() {
    let read = in_firefox(&inlined());
    let nothing = json!({"length": 0, "lib": [], "name": [], "host": [], "type": []});
    let expected = json!({
        "stringArray": ["main", "a.c", "step"],
        "sources": {
            "length": 1, "id": [null], "filename": [1], "startLine": [1], "startColumn": [1],
            "sourceMapURL": [null],
        },
        "funcTable": {
            "length": 2, "name": [0, 2], "isJS": [false, false], "relevantForJS": [false, false],
            "resource": [-1, -1], "source": [0, 0], "lineNumber": [null, null],
            "columnNumber": [null, null],
        },
        "frameTable": {
            "length": 2, "address": [-1, -1], "inlineDepth": [0, 1], "category": [1, 1],
            "subcategory": [0, 0], "func": [0, 1], "nativeSymbol": [null, null],
            "innerWindowID": [null, null], "line": [3, 9], "column": [null, null],
        },
        "stackTable": {"length": 2, "frame": [0, 1], "prefix": [null, 0]},
        "resourceTable": nothing,
        "nativeSymbols":
            {"length": 0, "libIndex": [], "address": [], "name": [], "functionSize": []},
    });
    assert_eq!(read["shared"], expected);
    assert_eq!(read["meta"]["interval"], json!(1.0), "one sample in a millisecond");
}

#[test]
fn firefox_has_a_thread_for_each_event_of_a_thread() {
    let read = in_firefox(&inlined());
    let markers = json!({
        "length": 0, "data": [], "name": [], "startTime": [], "endTime": [], "phase": [],
        "category": [],
    });
    let expected = json!([{
        "name": "l1d_cache", "processName": "demo", "processType": "default",
        "isMainThread": true, "pid": "7", "tid": "7", "processStartupTime": 1000.0,
        "processShutdownTime": 1001.0, "registerTime": 1000.0, "unregisterTime": 1001.0,
        "pausedRanges": [],
        "samples": {
            "length": 1, "stack": [1], "time": [1000.25], "weight": [5_000_000_000_u64],
            "weightType": "samples",
        },
        "markers": markers,
    }]);
    assert_eq!(read["threads"], expected);
    let mut two = inlined();
    two.tracks.push(Track { event: "cycles".to_owned(), ..two.tracks[0].clone() });
    let read = in_firefox(&two);
    assert_eq!(
        (&read["threads"][1]["name"], &read["threads"][1]["tid"]),
        (&json!("cycles"), &json!("7.1"))
    );
    assert_eq!(read["meta"]["initialVisibleThreads"], json!([0, 1]));
}

fn in_firefox(stacks: &Stacks) -> Value {
    let mut out = Vec::new();
    firefox::write(&mut out, stacks, "Neoverse-N2", "0.1").expect("room");
    serde_json::from_slice(&out).expect("JSON")
}

#[test]
fn addresses_of_the_kernel_have_its_category() {
    let samples = vec![overflow(0, 1_000_000_100, 0xffff_8000_0000_1000, &[0x1004])];
    let stacks = Stacks::new(&profile(&[7], samples), &symbols());
    let read = in_firefox(&stacks);
    assert_eq!(read["shared"]["frameTable"]["category"], json!([1, 2]));
    assert_eq!(read["shared"]["stringArray"], json!(["main", "0xffff800000001000"]));
}
