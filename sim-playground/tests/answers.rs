//! Answers to the requests of the page.

use serde_json::{Value, json};
use sim_core::PmuEvent;
use sim_machine::ConfigSource;
use sim_playground::Playground;
use sim_scenario::{parse, parse_steps, run_case};
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository").to_owned()
}

fn ask(playground: &mut Playground, request: &Value) -> Result<Value, String> {
    let answer: Value =
        serde_json::from_str(&playground.answer(&request.to_string())).expect("an answer is JSON");
    match answer.get("error") {
        Some(error) => Err(error.as_str().expect("a sentence").to_owned()),
        None => Ok(answer["ok"].clone()),
    }
}

fn ok(request: &Value) -> Value {
    ask(&mut Playground::default(), request).unwrap_or_else(|error| panic!("{request}: {error}"))
}

fn error(request: &Value) -> String {
    ask(&mut Playground::default(), request).expect_err("the request is wrong")
}

fn with_trace(name: &str) -> Playground {
    let mut playground = Playground::default();
    let path = repository().join("traces").join(name);
    playground.set_trace(std::fs::read(path).expect("a committed trace"));
    playground
}

/// Files of a directory of scenarios.
fn scenario_files() -> Vec<PathBuf> {
    let folder = repository().join("tests/scenarios");
    let entries = std::fs::read_dir(folder).expect("scenarios");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    assert!(files.len() > 50);
    files
}

#[test]
fn watched_steps_count_what_the_runner_counts() {
    let steps = [
        ("K0", "LD8 0x8000 ; LD8 0x8008 & ST4 0x8040 ; [LD8 0x9000] ; IF 0x400000"),
        ("K1, lines in peer", "LD8 0x8000 ; SNP-U 0x8000 ; ST8 0x8000"),
        ("K3, TLBs empty", "LD8 0x8000 step 4096 x 40 ; DC CIVAC 0x8000"),
    ];
    for (given, done) in steps {
        let case = parse_steps(("given", given), ("do", done)).expect("steps");
        let counts = run_case(&case, &ConfigSource::default()).expect("it runs").counts;
        let watched = ok(&json!({"ask": "watch", "given": given, "do": done}));
        for event in PmuEvent::ALL {
            let shown = watched["counts"].get(event.mnemonic()).and_then(Value::as_u64);
            assert_eq!(shown.unwrap_or(0), counts.value(event), "{done}: {event:?}");
        }
    }
}

#[test]
fn the_log_of_all_steps_adds_up_to_the_counts() {
    let done = "LD8 0x8000 ; ST8 0x8040 ; LD8 0x8000 step 64 x 8";
    let watched = ok(&json!({"ask": "watch", "given": "K0", "do": done}));
    let steps = watched["steps"].as_array().expect("steps");
    let logged = |event: &str| -> u64 {
        let entries = steps.iter().flat_map(|step| step["log"].as_array().expect("a log"));
        let counts = entries.filter(|entry| entry[1] == event).map(|entry| entry[2].as_u64());
        counts.map(|count| count.expect("a number")).sum()
    };
    for event in ["L1D_CACHE_RD", "L1D_CACHE_REFILL_RD", "DTLB_WALK", "BUS_ACCESS_RD", "ST_SPEC"] {
        assert_eq!(logged(event), watched["counts"][event].as_u64().expect("a count"), "{event}");
    }
}

#[test]
fn the_state_after_a_refill_has_the_line() {
    let watched = ok(&json!({"ask": "watch", "given": "K0", "do": "LD8 0x8000 ; ST8 0x8000"}));
    assert_eq!(watched["before"]["l1d"][0]["ways"], json!([null, null, null, null]));
    let way = &watched["steps"][0]["state"]["l1d"][0]["ways"][0];
    assert_eq!((&way["addr"], &way["dirty"]), (&json!(0x8000), &json!(false)));
    assert_eq!(way["ready"], watched["steps"][0]["end"]);
    assert_eq!(watched["steps"][1]["state"]["l1d"][0]["ways"][0]["dirty"], json!(true));
    assert_eq!(watched["steps"][0]["state"]["l1d_tlb"][0]["page"], json!(0x8000));
    // A set that a step leaves alone is not sent again.
    assert_eq!(watched["steps"][1]["state"]["l2"], json!([]));
}

#[test]
fn every_committed_scenario_holds_and_counts_as_in_the_runner() {
    for file in scenario_files() {
        let text = std::fs::read_to_string(&file).expect("text");
        if text.contains("\ncore = ") {
            continue;
        }
        let name = file.display().to_string();
        let checked = ok(&json!({"ask": "check", "file": name, "text": text}));
        let cases = parse(&name, &text).expect("cases");
        assert_eq!(checked.as_array().map(Vec::len), Some(cases.len()), "{name}");
        for (case, shown) in cases.iter().zip(checked.as_array().expect("cases")) {
            assert_eq!(shown["holds"], json!(true), "{name}: {}: {}", case.test, shown["why"]);
            let counts = run_case(case, &ConfigSource::default()).expect("it runs").counts;
            for event in PmuEvent::ALL {
                let count = shown["counts"].get(event.mnemonic()).and_then(Value::as_u64);
                assert_eq!(count.unwrap_or(0), counts.value(event), "{name}: {}", case.test);
            }
        }
    }
}

#[test]
fn a_machine_of_other_sizes_counts_otherwise() {
    let request = |set: &[&str]| {
        let done = "LD8 0x8000 step 16384 x 4 ; LD8 0x8000 step 16384 x 4";
        ok(&json!({"ask": "watch", "given": "K1", "do": done, "machine": {"set": set}}))
    };
    assert_eq!(request(&[])["counts"]["L1D_CACHE_REFILL"], json!(4));
    let narrow = ["memory.l1d.ways=2", "memory.l1d.size-bytes=32768"];
    assert_eq!(request(&narrow)["counts"]["L1D_CACHE_REFILL"], json!(8));
}

#[test]
fn prefetchers_that_the_reader_switches_on_run() {
    let request = |set: &[&str]| {
        let done = "LD8 0x10000 step 64 x 32";
        ok(&json!({"ask": "watch", "given": "K1", "do": done, "machine": {"set": set}}))
    };
    let on = ["memory.prefetch.l1d=true", "memory.prefetch.l2-stream=true"];
    assert_eq!(request(&[])["counts"]["BUS_ACCESS_RD"], json!(32));
    assert_ne!(request(&on)["counts"]["BUS_ACCESS_RD"], json!(32));
}

#[test]
fn a_program_runs_on_the_model() {
    let text = ".text\nmov x0, #3\nloop: subs x0, x0, #1\nb.ne loop\nret\n";
    let run = ok(&json!({"ask": "assemble", "text": text}));
    assert_eq!(run["executed"], json!(8));
    assert_eq!(run["lines"]["4"], json!(3));
    let watched = ok(&json!({"ask": "watch", "given": "K0", "do": text}));
    assert_eq!(watched["counts"]["INST_RETIRED"], json!(8));
    assert_eq!(watched["counts"]["BR_RETIRED"], json!(4));
    // The second subtraction reads the result of the first.
    assert_eq!(watched["steps"][3]["ops"][0]["needs"], json!([1]));
}

#[test]
fn branches_to_registers_go_where_the_program_goes() {
    let text = ".text\nmov x19, x30\nldr x1, =g\nbl f\nblr x1\nldr x2, =end\nbr x2\nnop\nnop\n\
                end: mov x30, x19\nret\nf: ret\ng: nop\nret\n";
    let run = ok(&json!({"ask": "assemble", "text": text}));
    assert_eq!(run["stopped"], json!("at the return of the program"));
    let watched = ok(&json!({"ask": "watch", "given": "K0", "do": text}));
    let steps = watched["steps"].as_array().expect("steps");
    let pcs: Vec<u64> =
        steps.iter().map(|step| step["ops"][0]["pc"].as_u64().expect("an address")).collect();
    let at = |instruction: u64| pcs[0] + 4 * instruction;
    // The address of a label is two instructions.
    let order = [0, 1, 2, 3, 12, 4, 13, 14, 5, 6, 7, 10, 11];
    assert_eq!(pcs, order.map(at));
    // Calls and returns fit each other, so that the return stack foresees the returns within.
    for step in [4, 7] {
        assert_eq!(steps[step]["ops"][0]["mispredicted"], json!(false), "step {step}");
    }
    assert_eq!(watched["counts"]["BR_RETIRED"], json!(6));
}

#[test]
fn a_loop_of_calls_is_longer_than_its_text() {
    let text = ".text\nmov x19, x30\nmov x0, #5\nl: bl f\nsubs x0, x0, #1\nb.ne l\nmov x30, x19\nret\nf: ret\n";
    let watched = ok(&json!({"ask": "watch", "given": "K0", "do": text}));
    assert_eq!(watched["counts"]["INST_RETIRED"], json!(24));
    let steps = watched["steps"].as_array().expect("steps");
    let pc = |step: usize| steps[step]["ops"][0]["pc"].clone();
    assert_eq!((pc(2), pc(3)), (pc(6), pc(7)), "the second call and return are the first again");
}

#[test]
fn each_access_of_a_program_shows_what_caches_hold_after_it() {
    let text = ".text\nmov x1, #0x8000\nldr x2, [x1]\nadd x2, x2, #1\nstr x2, [x1, #64]\nnop\n";
    let watched = ok(&json!({"ask": "watch", "given": "K1", "do": text}));
    let steps = watched["steps"].as_array().expect("steps");
    let has: Vec<bool> = steps.iter().map(|step| step.get("state").is_some()).collect();
    assert_eq!(has, [false, true, false, true, true]);
    let lines = |step: usize| -> Vec<(u64, bool)> {
        let sets = steps[step]["state"]["l1d"].as_array().expect("sets");
        let ways = sets.iter().flat_map(|set| set["ways"].as_array().expect("ways"));
        let held = ways.filter(|way| !way.is_null());
        held.map(|way| (way["addr"].as_u64().expect("it"), way["dirty"] == json!(true))).collect()
    };
    assert_eq!(lines(1), [(0x8000, false)]);
    assert_eq!(lines(3), [(0x8040, true)]);
    assert_eq!(steps[1]["state"]["l1d_tlb"][0]["page"], json!(0x8000));
}

#[test]
fn contents_inside_a_group_change_no_count() {
    let done = "LD8 0x8000 & ST8 0x8040 & LD8 0x9000 & LD8 0x8000";
    let case = parse_steps(("given", "K0"), ("do", done)).expect("steps");
    let counts = run_case(&case, &ConfigSource::default()).expect("it runs").counts;
    let watched = ok(&json!({"ask": "watch", "given": "K0", "do": done}));
    assert!(watched["steps"][0].get("state").is_some());
    for event in PmuEvent::ALL {
        let shown = watched["counts"].get(event.mnemonic()).and_then(Value::as_u64);
        assert_eq!(shown.unwrap_or(0), counts.value(event), "{event:?}");
    }
}

/// Returns the places of the operations that the operation of an instruction reads.
fn needs_of(watched: &Value, step: usize) -> &Value {
    &watched["steps"][step]["ops"][0]["needs"]
}

#[test]
fn results_are_followed_through_the_store_queue_and_through_eliminated_moves() {
    let text =
        "mov x1, #0x8000\nmov x2, #7\nstr x2, [x1]\nldr x3, [x1]\nmov x4, x3\nadd x5, x4, #1\n";
    let done = format!(".text\n{text}");
    let watched = ok(&json!({"ask": "watch", "given": "K3", "do": done}));
    assert_eq!(watched["steps"][3]["ops"][0]["source"], json!("older store"));
    assert_eq!(needs_of(&watched, 3), &json!([0, 2]), "the address and the store");
    assert_eq!(needs_of(&watched, 5), &json!([3]), "the load, not the move");
}

#[test]
fn stages_of_an_operation_have_no_gaps() {
    let mut page = with_trace("matrix.n2t");
    let window = json!({"ask": "pipeline", "from": 1000, "count": 50});
    let window = ask(&mut page, &window).expect("operations");
    for op in window["ops"].as_array().expect("operations") {
        let stages = op["stages"].as_array().expect("stages");
        assert_eq!((&stages[0][0], &stages[0][1]), (&json!("F"), &op["fetch"]));
        assert!(stages.windows(2).all(|pair| pair[0][2] == pair[1][1]), "{op}");
        assert!(op["wrong"] == json!(true) || stages.iter().any(|stage| stage[0] == "C"), "{op}");
    }
}

#[test]
fn a_trace_has_a_pipeline_turns_and_samples() {
    let mut page = with_trace("matrix.n2t");
    let window = json!({"ask": "pipeline", "from": 1000, "count": 20});
    let window = ask(&mut page, &window).expect("operations");
    assert!(window["ops"].as_array().is_some_and(|ops| ops.len() >= 20));
    let events = ["L1D_CACHE", "BR_RETIRED", "LD_SPEC", "ST_SPEC", "INST_RETIRED", "DP_SPEC"];
    let turns =
        json!({"ask": "turns", "events": events, "counters": 6, "turn": 5000, "limit": 50_000});
    let turns = ask(&mut page, &turns).expect("turns");
    let last = turns["points"].as_array().and_then(|points| points.last()).expect("points");
    // Six events fit six counters: nothing is scaled.
    assert_eq!(last["scaled"], last["exact"]);
    let samples = json!({"ask": "samples", "interval": 1024, "limit": 50_000});
    let samples = ask(&mut page, &samples).expect("samples");
    assert_eq!(samples["operations"], json!(50_000));
    assert!(samples["written"].as_u64().is_some_and(|written| (40..=50).contains(&written)));
}

#[test]
fn exact_counts_beside_the_turns_are_those_of_the_run() {
    let mut page = with_trace("atomics.n2t");
    let events = [
        "INST_RETIRED",
        "L1D_CACHE",
        "L1D_CACHE_REFILL",
        "LD_SPEC",
        "ST_SPEC",
        "BR_RETIRED",
        "DP_SPEC",
    ];
    let part = json!({"warmup": 5000, "limit": 20_000});
    let with = |mut request: Value| {
        request["warmup"] = part["warmup"].clone();
        request["limit"] = part["limit"].clone();
        request
    };
    let turns = with(json!({"ask": "turns", "events": events, "counters": 6, "turn": 5000}));
    let turns = ask(&mut page, &turns).expect("turns");
    let counts = ask(&mut page, &with(json!({"ask": "trace"}))).expect("counts");
    let last = turns["points"].as_array().and_then(|points| points.last()).expect("points");
    for (event, exact) in events.iter().zip(last["exact"].as_array().expect("counts")) {
        assert_eq!(exact.as_u64(), Some(counts["counts"][event].as_u64().unwrap_or(0)), "{event}");
    }
    let none = with(json!({"ask": "turns", "events": events, "counters": 6, "turn": 0}));
    assert!(ask(&mut page, &none).is_err());
    let samples = with(json!({"ask": "samples", "interval": 1024}));
    assert_eq!(ask(&mut page, &samples).expect("samples")["operations"], json!(20_000));
}

#[test]
fn guesses_are_judged_by_the_model() {
    let mut page = Playground::default();
    let lessons = ask(&mut page, &json!({"ask": "lessons"})).expect("lessons");
    assert!(lessons.as_array().is_some_and(|all| all.len() >= 10));
    let name = lessons[0]["name"].clone();
    let guess = |typed: Value| json!({"ask": "guess", "name": name, "question": 0, "typed": typed});
    let wrong = ask(&mut page, &guess(json!("1000"))).expect("judged");
    assert_eq!((&wrong["right"], wrong.get("truth")), (&json!(false), None), "it stays open");
    let given_up = ask(&mut page, &guess(Value::Null)).expect("the answer");
    let right = ask(&mut page, &guess(given_up["truth"].clone())).expect("judged");
    assert_eq!(right["right"], json!(true));
}

#[test]
fn wrong_requests_get_a_sentence() {
    for (request, part) in [
        (json!({"ask": "watch", "given": "K9", "do": "LD8 0x8000"}), "expected K0, K1"),
        (json!({"ask": "watch", "given": "K0", "do": "LD8 0x8000 x 30000"}), "at most 20000"),
        (json!({"ask": "settings", "machine": {"set": ["memory.l1d.ways=3"]}}), "memory.l1d"),
        (json!({"ask": "settings", "machine": {"profile": "gold"}}), "guide or silicon"),
        (json!({"ask": "trace"}), "there is no trace yet"),
        (json!({"ask": "assemble", "text": ".text\nfrob x0\n"}), "frob"),
        (json!({"ask": "lesson", "name": "none"}), "no lesson 'none'"),
        (json!({"ask": "assemble", "text": ".text\nl: b l\n"}), "branch to itself"),
        (json!({"ask": "fly"}), "not understood"),
    ] {
        let error = error(&request);
        assert!(error.contains(part), "{request}: {error}");
    }
    let mut page = Playground::default();
    page.set_trace(b"N2T is not this".to_vec());
    assert!(ask(&mut page, &json!({"ask": "trace"})).is_err());
    for request in [
        json!({"ask": "samples", "interval": 100}),
        json!({"ask": "pipeline", "from": 0, "count": 0}),
    ] {
        assert!(ask(&mut with_trace("matrix.n2t"), &request).is_err(), "{request}");
    }
}

#[test]
fn a_refused_request_names_its_field() {
    let mut page = with_trace("matrix.n2t");
    let mut refused = |request: Value| -> (Value, String) {
        let answer: Value =
            serde_json::from_str(&page.answer(&request.to_string())).expect("an answer is JSON");
        let text = answer["error"].as_str().expect("a sentence").to_owned();
        (answer["field"].clone(), text)
    };
    let turns = |key: &str, value: Value| {
        let mut turns = json!({"ask": "turns", "events": ["L1D_CACHE"], "counters": 6, "turn": 5000, "limit": 1000});
        turns[key] = value;
        turns
    };
    for (request, field) in [
        (turns("counters", json!(300)), "counters"),
        (turns("counters", json!(1)), "counters"),
        (turns("turn", json!(0)), "turn"),
        (turns("events", json!(["L1D_CASH"])), "events"),
        (turns("warmup", json!(1_000_000_000)), "warmup"),
        (json!({"ask": "samples", "interval": 1000}), "interval"),
        (json!({"ask": "trace", "warmup": 1_000_000_000}), "warmup"),
        (json!({"ask": "trace", "machine": {"set": ["memory.l1d.ways=99"]}}), "machine"),
        (json!({"ask": "pipeline", "from": 0, "count": 5000}), "count"),
        (json!({"ask": "pipeline", "from": 1_000_000_000, "count": 5}), "from"),
    ] {
        let (named, text) = refused(request.clone());
        assert_eq!(named, json!(field), "{request}: {text}");
    }
    page.set_trace(vec![1, 2, 3]);
    let answer: Value =
        serde_json::from_str(&page.answer("{\"ask\": \"trace\"}")).expect("an answer is JSON");
    assert_eq!(answer["field"], json!("trace"), "{answer}");
}

#[test]
fn a_repeated_step_has_its_own_address() {
    let texts = |done: &str| -> Vec<String> {
        let watched = ok(&json!({"ask": "watch", "given": "K1", "do": done}));
        let steps = watched["steps"].as_array().expect("steps").iter();
        steps.map(|step| step["text"].as_str().expect("a text").to_owned()).collect()
    };
    assert_eq!(
        texts("LD8 0x8000 step 64 x 3"),
        ["LD8 0x8000 (1 of 3)", "LD8 0x8040 (2 of 3)", "LD8 0x8080 (3 of 3)"]
    );
    assert_eq!(texts("ST8 a0 step 64 &x 2")[1], "ST8 a0 at 0x100040 (2 of 2)");
    assert_eq!(texts("ADD x 2 ; LD8 0x8000"), ["ADD (1 of 2)", "ADD (2 of 2)", "LD8 0x8000"]);
    let watched = ok(&json!({"ask": "watch", "given": "K1", "do": "LD8 0x8000 step 64 x 2"}));
    assert_eq!(watched["steps"][1]["ops"][0]["text"], json!("LD8 0x8040 (2 of 2)"), "{watched}");
}

#[test]
fn a_lesson_has_its_notation_and_the_options_of_its_questions() {
    let lesson = ok(&json!({"ask": "lesson", "name": "01-first-touch"}));
    let signs: Vec<&Value> =
        lesson["notation"].as_array().expect("terms").iter().map(|term| &term["sign"]).collect();
    assert_eq!(signs, ["K0", "LD8 A", "s ; t", "0x8000"]);
    let options = lesson["questions"][3]["answer"]["options"].as_array().expect("sources");
    assert!(options.contains(&json!("L1")) && options.contains(&json!("DRAM")), "{options:?}");
}

/// A lesson file that is solved when it is loaded.
const OWN: &str = r#"
title   = "T"
minutes = 10
level   = "beginner"
text    = """
Steps:

1. *one*
2. two

```
a < b
```
"""

[[setup]]
name  = "near"
given = "K1"
do    = "LD8 0x8000 ; LD8 0x8008"

[[setup]]
name  = "far"
given = "K1"
do    = "LD8 0x8000"

[[question]]
ask    = "Which `one`?"
choice = ["`near`", "`far`"]
right  = 1
holds  = "near.L1D_CACHE == 2"
hint   = "Count."
why    = "- {near.L1D_CACHE}"

[[question]]
ask   = "How many?"
setup = "far"
count = "L1D_CACHE"
why   = "{answer}"
"#;

#[test]
fn a_lesson_file_is_solved_at_once_and_its_texts_come_in_blocks() {
    let mut page = Playground::default();
    let solve = |text: &str| json!({"ask": "solve", "name": "l.toml", "text": text});
    assert_eq!(ask(&mut page, &solve(OWN)), Ok(Value::Null));
    let wrong = ask(&mut page, &solve(&OWN.replace("== 2", "== 3"))).expect_err("it is false");
    assert!(wrong.starts_with("l.toml:30:10: the model does not confirm holds"), "{wrong}");
    assert!(wrong.contains("near.L1D_CACHE = 2"), "{wrong}");
    let traced = OWN.replace(
        "given = \"K1\"\ndo    = \"LD8 0x8000\"\n",
        "trace = \"none.n2t\"\ninstructions = 9\n",
    );
    let missing = ask(&mut page, &solve(&traced)).expect_err("the trace is missing");
    assert!(missing.contains("the lesson needs the trace none.n2t"), "{missing}");

    let lesson = ok(&json!({"ask": "lesson", "name": "l.toml", "text": OWN}));
    let texts = &lesson["texts"];
    let kinds: Vec<&Value> =
        texts["text"].as_array().expect("blocks").iter().map(|block| &block["kind"]).collect();
    assert_eq!(kinds, ["paragraph", "numbered", "code"]);
    assert_eq!(texts["text"][1]["content"][0], json!([{"kind": "italic", "text": "one"}]));
    assert_eq!(texts["questions"][0]["ask"][1], json!({"kind": "code", "text": "one"}));
    assert_eq!(texts["questions"][0]["options"], json!(["near", "far"]));
    let names: Vec<&Value> =
        (0..2).map(|number| &lesson["questions"][number]["names_setup"]).collect();
    assert_eq!(names, [&json!(false), &json!(true)]);
    let guess =
        json!({"ask": "guess", "name": "l.toml", "text": OWN, "question": 0, "typed": "near"});
    let judged = ask(&mut page, &guess).expect("judged");
    assert_eq!((&judged["right"], &judged["truth"]), (&json!(true), &json!("near")));
    assert_eq!(judged["blocks"][0]["kind"], json!("list"));
}
