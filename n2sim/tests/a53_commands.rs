//! The commands beside `stat` that know the Cortex-A53: each agrees with the exact counts.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

pub(crate) fn trace(name: &str) -> String {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces");
    traces.join(name).to_str().unwrap().to_owned()
}

pub(crate) fn n2sim(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_n2sim")).args(args).output().unwrap()
}

pub(crate) fn printed(args: &[&str]) -> String {
    let output = n2sim(args);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {message}");
    String::from_utf8(output.stdout).unwrap()
}

pub(crate) fn refused(args: &[&str]) -> String {
    let output = n2sim(args);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Returns the exact count of each event, by its mnemonic, of the first 50,000 instructions.
fn counts(trace: &str) -> BTreeMap<String, u64> {
    let args = ["stat", trace, "--core", "cortex-a53", "--all", "-x,", "--limit", "50k"];
    let csv = printed(&args);
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        (fields[2].to_uppercase(), fields[0].parse().unwrap())
    };
    csv.lines().map(row).collect()
}

#[test]
fn the_functions_add_up_to_the_run() {
    let trace = trace("btree.n2t");
    let args = ["functions", &trace, "--core", "cortex-a53", "--limit", "50k"];
    let csv = printed(&[&args[..], &["-x,"]].concat());
    let mut sums = BTreeMap::new();
    for line in csv.lines() {
        let fields: Vec<&str> = line.split(',').collect();
        *sums.entry(fields[3].to_uppercase()).or_insert(0) += fields[1].parse::<u64>().unwrap();
    }
    assert_eq!(sums, counts(&trace));
    let table = printed(&args);
    let first = table.lines().nth(4).unwrap();
    assert!(table.contains("br-miss") && first.contains('%'), "{table}");
    let json = printed(&[&args[..], &["-j", "-e", "ld_dep_stall"]].concat());
    let row: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!(row["event"], "ld_dep_stall");
    assert!(row["function"].is_string(), "{row}");
    let message = refused(&[&args[..], &["--warmup", "10"]].concat());
    assert!(message.contains("--warmup works with --core neoverse-n2 only"), "{message}");
}

#[test]
fn the_bus_gives_back_every_counter_that_has_a_bit() {
    let trace = trace("sort.n2t");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sort.n2bus");
    printed(&["event-bus", &trace, "--limit", "50k", "-o", file.to_str().unwrap()]);
    let content = zstd::stream::decode_all(std::fs::File::open(&file).unwrap()).unwrap();
    let end = content.iter().position(|byte| *byte == b'\n').unwrap();
    let header: serde_json::Value = serde_json::from_slice(&content[..end]).unwrap();
    let mut rest = &content[end + 1..];
    let mut number = || {
        let (mut value, mut shift) = (0_u64, 0);
        loop {
            let (byte, more) = rest.split_first()?;
            rest = more;
            value |= u64::from(byte & 0x7F) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
    };
    let mut cycles = [0_u64; 32];
    while let Some(_delta) = number() {
        assert_eq!(number(), Some(0), "one core");
        let bits = number().unwrap();
        cycles.iter_mut().enumerate().for_each(|(bit, count)| *count += bits >> bit & 1);
    }
    let exact = counts(&trace);
    let table = printed(&["event-bus", &trace, "--limit", "50k", "--counts"]);
    for bit in header["bits"].as_array().unwrap() {
        let (name, number) = (bit["event"].as_str().unwrap(), bit["bit"].as_u64().unwrap());
        let mut count = cycles[number as usize];
        let row = table.lines().find(|line| line.split_whitespace().nth(1) == Some(name)).unwrap();
        assert!(row.replace(',', "").ends_with(&format!(" {count}")), "{row}: {count}");
        if name == "INST_RETIRED" {
            // Bit 8: a second instruction in the same cycle.
            count += cycles[8];
        }
        if let Some(exact) = exact.get(name) {
            assert_eq!(count, *exact, "{name}");
        }
    }
    let table = printed(&["event-bus", &trace, "--limit", "1k", "--counts", "--trace-bus"]);
    assert!(table.contains("TLB_ERR") && !table.contains("L2_CACHE_ERR"), "26 bits: {table}");
    let message = refused(&["event-bus", &trace, "--counts", "-o", "x.vcd"]);
    assert!(message.contains("--counts prints a table"), "{message}");
}

#[test]
fn one_trace_is_compared_on_two_cores() {
    let trace = trace("hash.n2t");
    let args = ["diff", "--core", "cortex-a53,neoverse-n2", &trace, "--limit", "50k"];
    let args_of_text = args;
    let object: serde_json::Value =
        serde_json::from_str(&printed(&[&args[..], &["-j"]].concat())).unwrap();
    let exact = counts(&trace);
    assert_eq!(object["runs"][0]["cycles"], exact["CPU_CYCLES"]);
    for event in object["events"].as_array().unwrap() {
        assert_eq!(event["counts"][0], exact[event["name"].as_str().unwrap()], "{event}");
    }
    for run in object["runs"].as_array().unwrap() {
        let stack = run["cycles_per_instruction"].as_object().unwrap();
        let sum: f64 = stack.values().map(|part| part.as_f64().unwrap()).sum();
        let cycles = run["cycles"].as_f64().unwrap() / run["instructions"].as_f64().unwrap();
        assert!((sum / cycles - 1.0).abs() < 1e-9, "{run}");
    }
    let trace = self::trace("threads/plain_padded.n2t");
    let args = ["diff", "--core", "neoverse-n2,cortex-a53", &trace, "--limit", "20k", "-j"];
    let object: serde_json::Value = serde_json::from_str(&printed(&args)).unwrap();
    for run in object["runs"].as_array().unwrap() {
        let (all, longest) = (run["cycles"].as_u64().unwrap(), run["longest"].as_u64().unwrap());
        assert!(longest < all && 4 * longest >= all, "several threads at a time: {run}");
        let stack = run["cycles_per_instruction"].as_object().unwrap();
        let sum: f64 = stack.values().map(|part| part.as_f64().unwrap()).sum();
        let cycles = all as f64 / run["instructions"].as_f64().unwrap();
        assert!((sum / cycles - 1.0).abs() < 1e-9, "{run}");
    }
    let text = printed(&args_of_text);
    assert!(text.contains(" cortex-a53 ") && text.contains("r60  BUS_ACCESS_LD, BUS_ACCESS_RD"));
    for (more, message) in [
        (&["--from", "silicon"][..], "--from is for the comparison of two configurations"),
        (&["--min-change", "5"], "--min-change is for"),
    ] {
        let error = refused(&[&args_of_text[..], more].concat());
        assert!(error.contains(message), "{error}");
    }
    let error = refused(&["diff", "--core", "cortex-a53", &trace]);
    assert!(error.contains("give two different cores"), "{error}");
}

#[test]
fn the_memory_is_measured_on_this_core() {
    let csv = printed(&["membench", "tlb", "--core", "cortex-a53", "--csv"]);
    let cycles = |pages: &str| -> f64 {
        let line = csv.lines().find(|line| line.starts_with(pages)).unwrap();
        line.split(',').nth(1).unwrap().parse().unwrap()
    };
    assert!(cycles("10,") < 3.1 && cycles("11,") > 5.9, "{csv}");
    let folder = tempfile::tempdir().unwrap();
    let figure = folder.path().join("rates.svg");
    let args = ["membench", "bandwidth", "--core", "cortex-a53", "-o", figure.to_str().unwrap()];
    assert!(printed(&args).contains("memory"));
    assert!(std::fs::read_to_string(figure).unwrap().starts_with("<svg"));
    let args = ["membench", "bandwidth", "--core", "cortex-a53", "--csv"];
    let csv = printed(&[&args[..], &["--set", "memory.l2.size-bytes=0"]].concat());
    let levels: Vec<&str> =
        csv.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(levels, ["L1D", "L1D", "memory", "memory"], "a cluster without L2 cache");
    let message = refused(&["membench", "core-to-core", "--core", "cortex-a53"]);
    assert!(message.contains("core-to-core works with --core neoverse-n2 only"), "{message}");
    let config = printed(&["list", "config", "--core", "cortex-a53", "--seed", "9"]);
    assert!(config.contains("[memory.main-tlb]") && config.contains("seed = 9"), "{config}");
}

#[test]
fn events_without_a_mnemonic_are_explained_by_their_names_of_linux() {
    let explained = |name| printed(&["explain", name, "--core", "cortex-a53"]);
    let text = explained("ld_dep_stall");
    assert!(
        text.contains("on cortex-a53: LD_DEP_STALL, 0xE7, cycle stalled at write-back"),
        "{text}"
    );
    assert_eq!(text, explained("rE7"));
    let text = explained("pre_decode_err");
    assert!(text.contains("0 in every run of n2sim: A64 has one size"), "{text}");
    let text = explained("l1d_cache_refill");
    assert!(text.contains("l1d_cache_refill") && !text.contains("0 in every run"), "{text}");
}

#[test]
fn a_sweep_runs_on_this_core() {
    let folder = tempfile::tempdir().unwrap();
    let grid = folder.path().join("grid.toml");
    let table = folder.path().join("grid.csv");
    let text = format!(
        "traces = ['{}']\ncore = 'cortex-a53'\nlimit = '50k'\nevents = ['l1d_cache_refill', 'rE7']\n\
         metrics = ['ipc']\n[[vary]]\nkey = 'memory.l1d.size-bytes'\nvalues = ['32K', '8K']\n",
        trace("hash.n2t")
    );
    std::fs::write(&grid, &text).unwrap();
    let (grid, output) = (grid.to_str().unwrap(), table.to_str().unwrap());
    printed(&["sweep", grid, "-o", output]);
    let csv = std::fs::read_to_string(&table).unwrap();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(
        rows[0][1..],
        ["memory.l1d.size-bytes", "config-hash", "l1d_cache_refill", "ld_dep_stall", "ipc"]
    );
    let exact = counts(&trace("hash.n2t"));
    assert_eq!(rows[1][3].parse::<u64>().unwrap(), exact["L1D_CACHE_REFILL"]);
    assert!(rows[2][3].parse::<u64>().unwrap() > exact["L1D_CACHE_REFILL"], "a smaller cache");
    let ipc = exact["INST_RETIRED"] as f64 / exact["CPU_CYCLES"] as f64;
    assert!((rows[1][5].parse::<f64>().unwrap() - ipc).abs() < 1e-12);
    for (from, to, message) in [
        ("['ipc']", "['backend_bound']", "which the Cortex-A53 does not have"),
        ("'rE7'", "'stall_slot'", "stall_slot: the Cortex-A53 has no such event"),
        ("limit = '50k'", "profile = 'guide'", "profile: works with core = \"neoverse-n2\" only"),
        ("'8K'", "'7K'", "memory.l1d.size-bytes"),
    ] {
        std::fs::write(grid, text.replace(from, to)).unwrap();
        let error = refused(&["sweep", grid, "-o", output]);
        assert!(error.contains(message), "{error}");
    }
}
