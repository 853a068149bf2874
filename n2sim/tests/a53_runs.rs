//! Commands that run a Cortex-A53 several times or in parts, and the program's own use of its PMU.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::Path;

use sim_pmu::Register;
use sim_trace::{Meta, StreamEvent, TraceWriter};

use crate::a53_commands::{n2sim, printed, refused, trace};

/// Writes a trace of a driver at EL1 that counts twenty instructions and reads the counter.
fn record_driver(path: &Path) {
    let mut meta = Meta::default();
    meta.machine.full_system = true;
    let mut writer = TraceWriter::create(path, meta).unwrap();
    let mut pc = 0xffff_8000_0001_0000;
    let mut run = |word: u32, event: Option<StreamEvent>| {
        let block = writer.define_block(pc, &[word]).unwrap();
        pc += 4;
        writer.push_block(0, block, 1, &[], event).unwrap();
    };
    let access = |register: Register, is_write: bool, value: u64| {
        let encoding = register.encoding().bits();
        let base: u32 = if is_write { 0xD500_0001 } else { 0xD520_0000 };
        let event = StreamEvent::Register { encoding, value, is_write };
        (base | u32::from(encoding) << 5, Some(event))
    };
    for (register, value) in [
        (Register::PMEVTYPER_EL0(2), 0x08),
        (Register::PMEVTYPER_EL0(3), 0xE7),
        (Register::PMCNTENSET_EL0, 0b1100),
        (Register::PMCR_EL0, 1),
    ] {
        let (word, event) = access(register, true, value);
        run(word, event);
    }
    (0..20).for_each(|_| run(0xd503_201f, None));
    let (word, event) = access(Register::PMEVCNTR_EL0(2), false, 21);
    run(word, event);
    writer.finish().unwrap();
}

/// The counter has the twenty instructions and its own read.
#[test]
fn a_program_reads_the_counters_that_it_programs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("driver.n2t");
    record_driver(&path);
    let args = ["program-pmu", path.to_str().unwrap(), "--core", "cortex-a53"];
    let text = printed(&args);
    for line in [
        "   0              1  EL1        MSR PMEVTYPER2_EL0 = 0x8\n",
        "   0             25  EL1        MRS PMEVCNTR2_EL0 gives 21, as recorded\n",
        "\ncore 0, at the end:\n",
        "  counter 2  0x0008 INST_RETIRED                               21\n",
        "  counter 3  0x00e7 LD_DEP_STALL                                0\n",
        "  overflow interrupts requested: 0\n",
    ] {
        assert!(text.contains(line), "{line:?} is not in\n{text}");
    }
    let short = printed(&[&args[..], &["--limit", "10"]].concat());
    assert!(short.contains("INST_RETIRED                                6\n"), "{short}");
    for option in [&["--warmup", "5"][..], &["--roi", "40,41"]] {
        let message = refused(&[&args[..], option].concat());
        let expected = format!("{} works with --core neoverse-n2 only", option[0]);
        assert!(message.contains(&expected), "{message}");
    }
}

/// Returns the cycles of the first instructions of a pointer chase with these overrides.
fn cycles(limit: &str, overrides: &[&str]) -> u64 {
    let trace = trace("chase.n2t");
    let mut args = vec!["stat", &trace, "--core", "cortex-a53", "--limit", limit, "-x;"];
    args.extend(["-e", "cpu_cycles"]);
    overrides.iter().for_each(|text| args.extend(["--set", text]));
    printed(&args).split(';').next().unwrap().parse().unwrap()
}

/// Configuration key of each row.
const KEYS: [(&str, &str); 8] = [
    ("beyond-l1", "memory.ideal.data=beyond-l1"),
    ("beyond-l2", "memory.ideal.data=beyond-l2"),
    ("translation", "memory.ideal.translation=true"),
    ("prediction", "pipeline.ideal.prediction=true"),
    ("fetch", "pipeline.ideal.fetch=true"),
    ("latency", "pipeline.ideal.latency=true"),
    ("issue", "pipeline.ideal.issue=true"),
    ("store-buffer", "memory.ideal.store-buffer=true"),
];

/// Every row, those of two costs among them, is the run that the configuration keys give.
#[test]
fn each_row_is_the_run_that_its_keys_give() {
    let trace = trace("chase.n2t");
    let args = ["counterfactual", &trace, "--core", "cortex-a53", "--limit", "100k"];
    let text = printed(&[&args[..], &["-x;"]].concat());
    let key = |name: &str| KEYS.iter().find(|(own, _)| *own == name).unwrap().1;
    let mut pairs = 0;
    let mut found = std::collections::BTreeMap::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split(';').collect();
        assert_eq!(fields.len(), 7, "{line}");
        let cycles_of_row: u64 = fields[1].parse().unwrap();
        found.insert(fields[0], cycles_of_row);
        let keys: Vec<&str> = match fields[0] {
            "none" => Vec::new(),
            "all" => KEYS.iter().map(|(_, key)| *key).filter(|key| *key != KEYS[1].1).collect(),
            names => names.split('+').map(key).collect(),
        };
        pairs += u32::from(fields[0].contains('+'));
        assert_eq!(cycles_of_row, cycles("100k", &keys), "{line}");
    }
    assert!(pairs > 0 && found.len() == 10 + pairs as usize, "{text}");
    assert!(found["beyond-l1"] * 2 < found["none"] && found["all"] < found["beyond-l1"], "{text}");
    let json = printed(&[&args[..], &["-j"]].concat());
    let rows: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows[0]["cycles"], found["none"]);
    assert!(rows[1]["ledger-percent"].as_f64().unwrap() > 70.0, "{json}");
    assert!(rows[2]["ledger-percent"].is_null(), "the ledger does not split load misses");
    let table = printed(&args);
    assert!(table.contains("(Cortex-A53)") && table.contains("memory beyond the L1"), "{table}");
    let message = refused(&[&args[..], &["--roi", "40,41"]].concat());
    assert!(message.contains("--roi works with --core neoverse-n2 only"), "{message}");
}

/// A pointer chase waits for data and for translations: without both it takes a tenth of its
/// cycles, as the lost slots of load misses and stores say.
#[test]
fn ideal_data_gives_a_pointer_chase_its_cycles_back() {
    let modeled = cycles("5G", &[]);
    let ideal = cycles("5G", &[KEYS[0].1, KEYS[2].1]);
    let trace = trace("chase.n2t");
    let text = printed(&["stat", &trace, "--core", "cortex-a53", "--stalls"]);
    let row = |title: &str| {
        let line = text.lines().find(|line| line.contains(title)).unwrap();
        line.split_whitespace().rev().nth(1).unwrap().parse::<f64>().unwrap()
    };
    let ledger = row("stalled by a load miss") + row("stalled by a store or barrier");
    let saved = 100.0 * (modeled - ideal) as f64 / modeled as f64;
    assert!(saved > 90.0 && (saved - ledger).abs() < 1.0, "{saved} % saved, {ledger} % lost");
}

/// Counts of a trace in four parts at the same time, each after a warm-up: instructions are exact,
/// and the others lie near those of the whole run.
#[test]
fn chunks_add_up_to_the_run() {
    // Measured: +1.5 and +1.8 %, +2.3 and -0.4 %, 0.0 %.
    let errors = [2.5, 3.0, 0.5];
    for name in ["lz.n2t", "btree.n2t"] {
        let trace = trace(name);
        let events = "instructions,ld_retired,br_immed_retired,cycles,l1d_cache_refill,br_mis_pred";
        let form = ["--core", "cortex-a53", "-x;", "-e", events];
        let values = |args: &[&str]| -> Vec<f64> {
            let text = printed(&[args, &form].concat());
            text.lines().map(|line| line.split(';').next().unwrap().parse().unwrap()).collect()
        };
        let whole = values(&["stat", &trace]);
        let parts = values(&["estimate", &trace, "--jobs", "4"]);
        assert_eq!(parts[..3], whole[..3], "{name}: what does not depend on time");
        for (at, error) in errors.into_iter().enumerate() {
            let off = 100.0 * (parts[3 + at] / whole[3 + at] - 1.0);
            assert!(off.abs() < error, "{name}, event {at}: {off} %");
        }
    }
}

#[test]
fn an_estimate_prints_as_stat_does() {
    let trace = trace("lz.n2t");
    let args = ["estimate", &trace, "--core", "cortex-a53", "--jobs", "4"];
    let output = n2sim(&[&args[..], &["--stalls", "-M", "ipc"]].concat());
    let (text, note) = (String::from_utf8(output.stdout).unwrap(), output.stderr);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("(Cortex-A53)") && text.contains("ipc"), "{text}");
    assert!(String::from_utf8(note).unwrap().contains("counted in 4 parts at the same time"));
    let number = |title: &str| -> u64 {
        let line = text.lines().find(|line| line.trim_start().starts_with(title)).unwrap();
        let digits = line.split_whitespace().rev().nth(2).unwrap();
        digits.replace(',', "").parse().unwrap()
    };
    let slots = number("Issue slots");
    let parts = text.lines().skip_while(|line| !line.contains("Issue slots")).skip(1);
    let sum: u64 = parts
        .filter_map(|line| line.split_whitespace().rev().nth(2))
        .map(|digits| digits.replace(',', "").parse::<u64>().unwrap())
        .sum();
    assert_eq!(sum, slots, "the slots tile the cycles of all parts");
    let one = printed(&["estimate", &trace, "--core", "cortex-a53", "--jobs", "1", "-x;"]);
    let stat = printed(&["stat", &trace, "--core", "cortex-a53", "-x;"]);
    assert_eq!(one, stat, "one part is the run");
    let message = refused(&[&args[..4], &["--regions", "windows.toml"]].concat());
    assert!(message.contains("--regions works with --core neoverse-n2 only"), "{message}");
    let message = refused(&[&args[..], &["-j", "--header"]].concat());
    assert!(message.contains("--header works with --core neoverse-n2 only"), "{message}");
}
