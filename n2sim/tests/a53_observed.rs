//! `record`, `report` and `pipeline` on a Cortex-A53: what they show of single instructions agrees
//! with the counts of `stat`, and what this core lacks is refused.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use linux_perf_data::linux_perf_event_reader::EventRecord;
use linux_perf_data::{PerfFileReader, PerfFileRecord};
use serde_json::Value;
use sim_trace::TraceFile;

fn trace(name: &str) -> String {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces");
    traces.join(name).to_str().unwrap().to_owned()
}

fn n2sim(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_n2sim")).args(args).output().unwrap()
}

fn run(args: &[&str]) -> (String, String) {
    let output = n2sim(args);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {message}");
    (String::from_utf8(output.stdout).unwrap(), message)
}

fn refused(args: &[&str]) -> String {
    let output = n2sim(args);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Returns the exact count of each event, by its mnemonic.
fn counts(trace: &str, limit: &str) -> BTreeMap<String, u64> {
    let args = ["stat", trace, "--core", "cortex-a53", "--all", "-x,", "--limit", limit];
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        (fields[2].to_uppercase(), fields[0].parse().unwrap())
    };
    run(&args).0.lines().map(row).collect()
}

/// Returns the number of samples and the chains of callers, as an independent reader takes them.
fn chains(path: &Path) -> Vec<Vec<u64>> {
    let file = std::fs::File::open(path).unwrap();
    let PerfFileReader { mut perf_file, mut record_iter } =
        PerfFileReader::parse_file(file).unwrap();
    let mut chains = Vec::new();
    while let Some(record) = record_iter.next_record(&mut perf_file).unwrap() {
        let PerfFileRecord::EventRecord { record, .. } = record else { continue };
        if let EventRecord::Sample(sample) = record.parse().unwrap() {
            let chain = sample.callchain.unwrap();
            chains.push((0..chain.len()).filter_map(|at| chain.get(at)).collect());
        }
    }
    chains
}

#[test]
fn every_overflow_is_a_sample_with_its_callers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("perf.data");
    let trace = trace("hash.n2t");
    let events = "cycles,inst_retired,ld_dep_stall,br_mis_pred,rE5";
    let args = ["record", &trace, "--core", "cortex-a53", "--limit", "300k", "-c", "1000"];
    let (_, noted) = run(&[&args[..], &["-e", events, "-o", file.to_str().unwrap()]].concat());
    let exact = counts(&trace, "300k");
    let mut all = 0;
    for (name, event) in [
        ("cycles", "CPU_CYCLES"),
        ("inst_retired", "INST_RETIRED"),
        ("ld_dep_stall", "LD_DEP_STALL"),
        ("br_mis_pred", "BR_MIS_PRED"),
        ("rE5", "AGU_DEP_STALL"),
    ] {
        let samples = exact[event] / 1000;
        assert!(noted.contains(&format!("{samples} samples of {name}, one in 1,000")), "{noted}");
        all += samples;
    }
    let chains = chains(&file);
    assert_eq!(chains.len() as u64, all);
    let code = TraceFile::open(Path::new(&trace)).unwrap();
    let mut callers = 0;
    for caller in chains.iter().flat_map(|chain| &chain[2..]) {
        let word = code.image().word_at(caller - 4).unwrap();
        let is_call = word >> 26 == 0b10_0101 || word & 0xffff_fc1f == 0xd63f_0000;
        assert!(is_call, "{caller:#x} does not follow a call but {word:08x}");
        callers += 1;
    }
    assert!(callers > 100, "{callers}");
}

/// Without perf there is nothing to ask; CI requires it.
#[test]
fn stock_perf_reads_the_profile() {
    let is_there = Command::new("perf").arg("--version").output().is_ok_and(|o| o.status.success());
    let required = std::env::var("N2SIM_TOOLS").is_ok_and(|value| value == "required");
    assert!(is_there || !required, "perf is missing: apt-get install linux-perf");
    if !is_there {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("perf.data");
    let trace = trace("threads/plain_padded.n2t");
    let output = file.to_str().unwrap();
    let args = ["record", &trace, "--core", "cortex-a53", "-c", "50", "-o", output];
    run(&[&args[..], &["-e", "l1d_cache:u,cycles"]].concat());
    let perf = |words: &[&str]| {
        let args = [words, &["-i", output]].concat();
        let done = Command::new("perf").args(args).env("HOME", folder.path()).output().unwrap();
        assert!(done.status.success(), "{words:?}");
        let complaints = String::from_utf8(done.stderr).unwrap();
        let complaints = complaints.lines().filter(|line| !line.starts_with("unwind: "));
        assert_eq!(complaints.filter(|line| !line.is_empty()).count(), 0, "{words:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    let script = perf(&["script", "-F", "tid,event,ip,sym,period"]);
    let exact = counts(&trace, "1G");
    let lines = |event: &str| script.lines().filter(|line| line.contains(event)).count() as u64;
    // Each thread has a counter of its own, so that each may keep a part of a period.
    for (name, event) in [("l1d_cache:u:", "L1D_CACHE"), ("cycles:", "CPU_CYCLES")] {
        let most = exact[event] / 50;
        assert!((most - 2..=most).contains(&lines(name)), "{name}: {} of {most}", lines(name));
    }
    let report = perf(&["report", "--stdio", "--no-children"]);
    assert!(report.contains('%') && report.contains("[.]"), "{report}");
    let header = perf(&["report", "--header-only"]);
    assert!(header.contains("cpudesc : Cortex-A53"), "{header}");
    assert!(header.contains("armv8_cortex_a53 = 8") && !header.contains("arm_spe"), "{header}");
}

#[test]
fn a_request_that_this_core_cannot_serve_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("perf.data");
    let (trace, file) = (trace("hash.n2t"), file.to_str().unwrap().to_owned());
    let args = ["record", &trace, "--core", "cortex-a53", "-o", &file, "--limit", "1k"];
    for (more, message) in [
        (&["-e", "arm_spe_0//"][..], "a Cortex-A53 has no Statistical Profiling Extension"),
        (&["-e", "stall_slot"], "-e stall_slot: the Cortex-A53 has no such event"),
        (&["-e", "cycles:z"], "unknown modifier 'z'"),
        (&["-e", "sw_incr"], "-e sw_incr: it never overflows"),
        (&["-e", "r01,r02,r03,r04,r05,r06,r07"], "7 events need a counter each"),
        (&["--raw"], "--raw works with --core neoverse-n2 only"),
        (&["--metadata", "v2"], "--metadata works with"),
        (&["--aux-buffer", "1M"], "--aux-buffer works with"),
        (&["--warmup", "10"], "--warmup works with"),
        (&["--machine", "cobalt-100"], "--machine and --profile work"),
    ] {
        let error = refused(&[&args[..], more].concat());
        assert!(error.contains(message), "{more:?}: {error}");
        assert_eq!(folder.path().read_dir().unwrap().count(), 0, "{more:?}");
    }
    let error = refused(&["record", "absent.n2t", "--core", "cortex-a53", "-o", &file]);
    assert!(error.contains("absent.n2t"), "{error}");
    let error = refused(&["record", &trace, "--core", "neoverse-v2", "-o", &file]);
    assert!(error.contains("no timing model"), "{error}");
}

fn report(trace: &str, more: &[&str]) -> Value {
    let args = ["report", trace, "--core", "cortex-a53", "--json"];
    serde_json::from_str(&run(&[&args[..], more].concat()).0).unwrap()
}

/// Checks that the children of every node add up to it, and returns the slots of each node.
fn add_up(node: &Value, found: &mut BTreeMap<String, u64>) {
    let slots = node["slots"].as_u64().unwrap();
    let children = node["children"].as_array().unwrap();
    if !children.is_empty() {
        let sum: u64 = children.iter().map(|child| child["slots"].as_u64().unwrap()).sum();
        assert_eq!(sum, slots, "{}", node["id"]);
    }
    found.insert(node["id"].as_str().unwrap().to_owned(), slots);
    children.iter().for_each(|child| add_up(child, found));
}

#[test]
fn the_report_agrees_with_the_counts() {
    let trace = trace("btree.n2t");
    let report = report(&trace, &["--limit", "200k"]);
    let exact = counts(&trace, "200k");
    assert_eq!(report["core"]["name"], "Cortex-A53");
    assert_eq!(report["core"]["slots_per_cycle"], 2);
    for event in report["events"].as_array().unwrap() {
        assert_eq!(event["count"], exact[event["event"].as_str().unwrap()], "{event}");
    }
    assert_eq!(report["events"].as_array().unwrap().len(), exact.len());
    let mut nodes = BTreeMap::new();
    add_up(&report["top_down"], &mut nodes);
    assert_eq!(nodes["slots"], 2 * exact["CPU_CYCLES"]);
    assert_eq!(nodes["slots.issued"], exact["INST_RETIRED"]);
    assert!(nodes["slots.backend.interlock.address_interlock"] >= 2 * exact["AGU_DEP_STALL"]);
    let total = &report["code"]["total"];
    assert_eq!(total["cycles"], exact["CPU_CYCLES"]);
    assert_eq!(total["l1d_tlb_refills"], exact["L1D_TLB_REFILL"]);
    assert!(total.get("dtlb_walks").is_none(), "the core has no such event");
    let functions = report["code"]["functions"].as_array().unwrap();
    let sum = |of: &str| functions.iter().map(|own| own["cost"][of].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum("instructions"), 200_000);
    let elsewhere = report["code"]["elsewhere"]["cycles"].as_u64().unwrap();
    assert_eq!(sum("cycles") + elsewhere, exact["CPU_CYCLES"]);
    assert_eq!(report["branches"]["mispredicted"], exact["BR_MIS_PRED"]);
    // BR_PRED also counts branches of wrong paths. This part has no other indirect branches.
    let branches = exact["BR_IMMED_RETIRED"] + exact["BR_RETURN_RETIRED"];
    assert_eq!(report["branches"]["retired"], branches);
    assert!(branches < exact["BR_PRED"]);
    let ends = report["timeline"]["threads"][0]["ends"].as_array().unwrap();
    assert_eq!(*ends.last().unwrap(), exact["CPU_CYCLES"]);
    assert_eq!(report["caches"][0]["misses"]["count"], exact["L1D_CACHE_REFILL"]);
    let metrics = report["metrics"].as_array().unwrap();
    let ipc = metrics.iter().find(|metric| metric["metric"] == "ipc").unwrap();
    let expected = exact["INST_RETIRED"] as f64 / exact["CPU_CYCLES"] as f64;
    assert!((ipc["value"].as_f64().unwrap() - expected).abs() < 1e-9, "{ipc}");
    for absent in ["flows", "miss_curves", "load_latencies", "prefetchers"] {
        assert_eq!(report[absent], Value::Array(Vec::new()), "{absent}");
    }
}

/// Returns what `n2sim functions` gives as cycles of each function.
#[test]
fn the_functions_have_the_cycles_of_the_command_functions() {
    let trace = trace("hash.n2t");
    let report = report(&trace, &["--limit", "50k"]);
    let args = ["functions", &trace, "--core", "cortex-a53", "--limit", "50k"];
    let (csv, _) = run(&[&args[..], &["-x,", "-e", "cycles"]].concat());
    let functions = report["code"]["functions"].as_array().unwrap();
    let cycles = |name: &str| {
        let own = functions.iter().find(|own| own["name"] == name);
        own.unwrap_or_else(|| panic!("no {name}"))["cost"]["cycles"].as_u64().unwrap()
    };
    let elsewhere = report["code"]["elsewhere"]["cycles"].as_u64().unwrap();
    let mut differences = 0;
    for line in csv.lines() {
        let fields: Vec<&str> = line.split(',').collect();
        let exact: u64 = fields[1].parse().unwrap();
        differences += exact - cycles(fields[0]);
    }
    assert_eq!(differences, elsewhere, "the last function has the cycles after its last issue");
}

#[test]
fn the_page_has_no_row_about_units_that_the_core_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("a.html");
    let trace = trace("sort.n2t");
    let args = ["report", &trace, "--core", "cortex-a53", "--limit", "50k"];
    run(&[&args[..], &["-o", page.to_str().unwrap()]].concat());
    let html = std::fs::read_to_string(&page).unwrap();
    for there in ["Issue slots", "Cortex-A53 r0p4", "micro-TLB", "a model of the Arm Cortex-A53"] {
        assert!(html.contains(there), "{there}");
    }
    for absent in [
        "ename slot",
        "mesh",
        "system level",
        "Neoverse",
        "PMU guide",
        "Squashed",
        "Multiplexed",
        "reorder buffer",
        "table walk",
    ] {
        assert!(!html.contains(absent), "{absent}");
    }
    let hrefs = html.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next());
    for href in hrefs {
        assert_eq!(html.matches(&format!("id=\"{href}\"")).count(), 1, "{href}");
    }
    for (more, message) in [
        (&["--mux-interval", "1ms"][..], "--mux-interval works with --core neoverse-n2 only"),
        (&["--roi", "1,2"], "--roi works with"),
        (&["--profile", "silicon"], "--machine and --profile work"),
    ] {
        let error = refused(&[&args[..], more].concat());
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn reports_of_one_core_are_compared_and_of_two_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let trace = trace("hash.n2t");
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (small, large, other) = (file("small.json"), file("large.json"), file("other.json"));
    let args = ["report", &trace, "--limit", "20k", "--json", "-o"];
    let a53 = ["--core", "cortex-a53", "--set"];
    run(&[&args[..], &[&small], &a53, &["memory.l1d.size-bytes=8K"]].concat());
    run(&[&args[..], &[&large], &a53, &["memory.l1d.size-bytes=64K"]].concat());
    run(&[&args[..], &[&other]].concat());
    let (text, _) = run(&["diff", &large, &small]);
    assert!(text.contains("It loses more issue slots"), "{text}");
    assert!(text.contains("Issue slots") && !text.contains("ename slots"), "{text}");
    let error = refused(&["diff", &small, &other]);
    assert!(error.contains("the reports are of a Cortex-A53 and of a Neoverse N2"), "{error}");
}

/// An instruction of the text form: its number, stages and notes.
fn instructions(text: &str) -> Vec<(u64, String, String)> {
    let mut found: Vec<(u64, String, String)> = Vec::new();
    for line in text.lines() {
        let is_row = line.as_bytes().get(11) == Some(&b' ');
        let field = line.get(1..11).filter(|_| is_row);
        let number = field.and_then(|field| field.trim().parse::<u64>().ok());
        match (number, found.last_mut()) {
            (Some(number), _) => {
                let stages = line.get(40..).unwrap_or_default().trim().to_owned();
                found.push((number, stages, String::new()));
            }
            (None, Some((.., notes))) if line.starts_with("              ") => {
                notes.push_str(line.trim());
                notes.push(' ');
            }
            _ => {}
        }
    }
    found
}

#[test]
fn both_instructions_of_a_pair_issue_in_one_cycle() {
    let trace = trace("btree.n2t");
    let args = ["pipeline", &trace, "--core", "cortex-a53", "--window", "1000..1100"];
    let (text, _) = run(&args);
    let found = instructions(&text);
    assert_eq!(found.len(), 100);
    assert!(found.iter().enumerate().all(|(at, own)| own.0 == 1000 + at as u64));
    let letters = |own: &(u64, String, String), letter| own.1.matches(letter).count();
    let both: usize = found.iter().map(|own| letters(own, '0') + letters(own, '1')).sum();
    assert_eq!(both, 100, "each issues once");
    assert!(found.iter().any(|own| letters(own, '1') == 1), "there are pairs: {text}");
    for word in ["x squashed", "wrong path", "rename", "on wrong paths"] {
        assert!(!text.contains(word), "{word}: {text}");
    }
    let (log, _) = run(&[&args[..], &["--kanata"]].concat());
    let (mut cycle, mut issues): (u64, BTreeMap<u64, Vec<&str>>) = (0, BTreeMap::new());
    for line in log.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields[..] {
            ["C=", begin] => cycle = begin.parse().unwrap(),
            ["C", more] => cycle += more.parse::<u64>().unwrap(),
            ["S", _, "0", stage @ ("I0" | "I1")] => issues.entry(cycle).or_default().push(stage),
            _ => {}
        }
    }
    let stages: Vec<&str> = issues.values().flatten().copied().collect();
    assert_eq!(stages.len(), 100);
    for (cycle, own) in &issues {
        let mut own = own.clone();
        own.sort_unstable();
        assert!(own == ["I0"] || own == ["I0", "I1"], "cycle {cycle}: {own:?}");
    }
}

/// The slots that the notes name are those of the whole run, if the window is the whole run.
#[test]
fn the_notes_name_every_lost_slot() {
    let trace = trace("hash.n2t");
    let args = ["pipeline", &trace, "--core", "cortex-a53", "--window", "0..3000"];
    let (text, _) = run(&args);
    let args = ["report", &trace, "--core", "cortex-a53", "--limit", "3000", "--json"];
    let report: Value = serde_json::from_str(&run(&args).0).unwrap();
    let mut nodes = BTreeMap::new();
    add_up(&report["top_down"], &mut nodes);
    let lost: u64 = instructions(&text)
        .iter()
        .flat_map(|(.., notes)| notes.split("; "))
        .filter_map(|note| {
            let (slots, rest) = note.split_once(' ')?;
            let is_lost = rest.starts_with("slots lost:") || rest.starts_with("slot lost:");
            is_lost.then(|| slots.parse::<u64>().unwrap())
        })
        .sum();
    let end = nodes.get("slots.end").copied().unwrap_or(0);
    assert_eq!(lost, nodes["slots"] - nodes["slots.issued"] - end);
}

#[test]
fn every_form_shows_the_window_and_what_is_wrong_is_said() {
    let trace = trace("chase.n2t");
    let args = ["pipeline", &trace, "--core", "cortex-a53", "--window", "2000..2020"];
    let (o3, _) = run(&[&args[..], &["--o3"]].concat());
    assert_eq!(o3.lines().count(), 7 * 20);
    for group in o3.lines().collect::<Vec<_>>().chunks(7) {
        let tick = |line: &str| line.split(':').nth(2).unwrap().parse::<u64>().unwrap();
        let ticks: Vec<u64> = group.iter().map(|line| tick(line)).collect();
        assert!(ticks.is_sorted() && ticks[0] > 0, "{group:?}");
        assert!(ticks[5] >= ticks[4] + 2000, "two stages of execution: {group:?}");
    }
    let (svg, _) = run(&[&args[..], &["--svg"]].concat());
    assert!(svg.starts_with("<svg") && svg.contains("held in write-back"), "{svg}");
    assert!(!svg.contains("wrong path") && !svg.contains("rename"), "{svg}");
    let (text, _) = run(&args);
    assert!(text.contains("slots lost: write-back stalled by a store or barrier"), "{text}");
    let args = ["pipeline", &trace, "--core", "cortex-a53"];
    for (more, message) in [
        (&["--thread", "7"][..], "--thread 7: its threads are 0"),
        (&["--window", "100000k..100001k"], "--window 100000000..100001000: thread 0 has"),
        (&["--machine", "cobalt-100"], "--machine and --profile work"),
    ] {
        let error = refused(&[&args[..], more].concat());
        assert!(error.contains(message), "{more:?}: {error}");
    }
    let error = refused(&["pipeline", "absent.n2t", "--core", "cortex-a53"]);
    assert!(error.contains("absent.n2t"), "{error}");
}
