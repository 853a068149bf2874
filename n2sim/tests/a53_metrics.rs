//! Metrics of the Cortex-A53: their values, their checks, and the reasons of `n2sim validate`.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const A53: [&str; 2] = ["--core", "cortex-a53"];

fn repository(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    root.join(name).to_str().unwrap().to_owned()
}

fn trace(name: &str) -> String {
    repository(&format!("traces/{name}.n2t"))
}

fn n2sim(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_n2sim")).args(args).args(A53).output().unwrap()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

fn printed(args: &[&str], code: i32) -> String {
    let output = n2sim(args);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
    text(output.stdout)
}

fn refused(args: &[&str]) -> String {
    let output = n2sim(args);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}");
    text(output.stderr)
}

fn objects(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the values of metrics on the first 50,000 instructions, by the last word of their unit
/// and name, and the counts beside them.
fn values(trace: &str, metrics: &str) -> (BTreeMap<String, f64>, BTreeMap<String, f64>) {
    let args = ["stat", trace, "-M", metrics, "--limit", "50k", "-j"];
    let (mut values, mut counts) = (BTreeMap::new(), BTreeMap::new());
    for row in objects(&printed(&args, 0)) {
        let number = |name: &str| row[name].as_str().map(|text| text.parse::<f64>().unwrap());
        match (number("metric-value"), number("counter-value")) {
            (Some(value), _) => {
                let unit = row["metric-unit"].as_str().unwrap();
                values.insert(unit.split_whitespace().last().unwrap().to_owned(), value);
            }
            (None, count) => {
                counts.insert(row["event"].as_str().unwrap().to_uppercase(), count.unwrap());
            }
        }
    }
    (values, counts)
}

#[test]
fn a_metric_is_its_formula_over_exact_counts() {
    let (values, counts) = values(&trace("hash"), "General,l1d_miss_ratio,load_miss_cycles");
    let of = |name: &str| counts[name];
    let cycles = of("CPU_CYCLES");
    for (metric, expected) in [
        ("ipc", of("INST_RETIRED") / cycles),
        ("cpi", cycles / of("INST_RETIRED")),
        ("slot_use", 100.0 * of("INST_RETIRED") / (2.0 * cycles)),
        ("l1d_miss_ratio", 100.0 * of("L1D_CACHE_REFILL") / of("L1D_CACHE")),
        ("load_miss_cycles", 100.0 * of("LD_DEP_STALL") / cycles),
    ] {
        let value = values[metric];
        assert!((value / expected - 1.0).abs() < 1e-12, "{metric}: {value} and {expected}");
    }
    assert_eq!(of("INST_RETIRED"), 50_000.0);
}

#[test]
fn metrics_have_text_fields_and_threads() {
    let hash = trace("hash");
    let args = ["stat", hash.as_str(), "-M", "ipc", "--limit", "10k"];
    let table = printed(&args, 0);
    assert!(table.contains(" Metrics:") && table.contains("per cycle"), "{table}");
    let csv = printed(&[&args[..], &["-x,"]].concat(), 0);
    let fields: Vec<&str> = csv.lines().last().unwrap().split(',').collect();
    assert_eq!(fields.len(), 7, "{csv}");
    assert_eq!((fields[6], fields[..5].concat().as_str()), ("per cycle  ipc", ""));
    let threads = printed(&[&args[..], &["--per-thread"]].concat(), 0);
    assert!(threads.contains("hash-0"), "{threads}");
}

#[test]
fn names_that_the_core_does_not_have_are_refused() {
    let hash = trace("hash");
    let stat = |metric: &str| refused(&["stat", &hash, "-M", metric, "--limit", "1k"]);
    let other = stat("retiring");
    assert!(other.contains("'retiring' is a metric or group of the Neoverse N2"), "{other}");
    let unknown = stat("luck");
    assert!(unknown.contains("no metric or group is called 'luck'"), "{unknown}");
    assert!(unknown.contains("n2sim list metrics --core cortex-a53"), "{unknown}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("m.toml");
    for (formula, message) in [
        ("STALL_SLOT / CPU_CYCLES", "STALL_SLOT (0x3F) is an event of the Neoverse N2"),
        ("LUCK / CPU_CYCLES", "LUCK is not an event of the Cortex-A53"),
        ("INST_RETIRED:k / CPU_CYCLES", "counts all exception levels together"),
        ("user_time", "use duration_time"),
    ] {
        std::fs::write(&file, format!("[metric.own]\nformula = \"{formula}\"\n")).unwrap();
        let path = file.to_str().unwrap();
        let error = refused(&["stat", &hash, "-M", "own", "--metrics", path, "--limit", "1k"]);
        assert!(error.contains(message) && error.contains("m.toml:1: own"), "{error}");
    }
}

/// The names that perf gives its default metrics, and its generic events, are read.
#[test]
fn a_file_of_linux_perf_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("metrics.json");
    let entries = r#"[{"MetricName": "insn_per_cycle", "MetricExpr": "instructions / cpu\\-cycles"},
        {"MetricName": "branch_miss_rate", "MetricExpr": "branch\\-misses / branches",
         "ScaleUnit": "100%"}]"#;
    std::fs::write(&file, entries).unwrap();
    let path = file.to_str().unwrap();
    let hash = trace("hash");
    let args = ["validate", &hash, "--metrics", path, "--limit", "50k", "-j"];
    let rows = objects(&printed(&args, 0));
    assert_eq!((&rows[0]["claims"], &rows[0]["standing"]), (&"ipc".into(), &"right".into()));
    let misses = &rows[1];
    assert_eq!(misses["claims"], "branch.miss_ratio");
    assert_eq!(misses["reasons"][0]["reason"], "subset");
    let words = misses["reasons"][0]["words"].as_str().unwrap();
    assert!(words.contains("PC_WRITE_RETIRED counts only a part"), "{words}");
}

#[test]
fn metrics_are_listed_checked_and_explained() {
    let list = printed(&["list", "metrics"], 0);
    assert!(list.contains("LD_DEP_STALL / CPU_CYCLES") && !list.contains("STALL_SLOT"), "{list}");
    let lint = printed(&["lint"], 0);
    assert!(lint.ends_with("0 errors, 0 warnings, 0 notes\n"), "{lint}");
    let check = |formula, claims| printed(&["lint", "--formula", formula, "--claims", claims], 1);
    let wrong = check("STALL_SLOT / (2 * CPU_CYCLES)", "share.issued");
    assert!(wrong.contains("[other-core]") && wrong.contains("does not have"), "{wrong}");
    let part = check("BR_MIS_PRED / PC_WRITE_RETIRED", "branch.miss_ratio");
    assert!(part.contains("right is BR_MIS_PRED / BR_PRED"), "{part}");
    let luck = check("INST_RETIRED / CPU_CYCLES", "slots.frontend");
    assert!(luck.contains("only of the Neoverse N2"), "{luck}");
    let explained = printed(&["explain", "load_miss_cycles"], 0);
    for words in ["LD_DEP_STALL / CPU_CYCLES", "claims to be share.idle.load_miss", "0xE7"] {
        assert!(explained.contains(words), "{words} in {explained}");
    }
    let truths = printed(&["validate", "--list-truths"], 0);
    assert!(truths.contains("cycles.idle.l1i") && !truths.contains("slots.frontend"), "{truths}");
}

/// The rest of a difference after its reasons, in the unit of the truth.
fn rest(row: &Value) -> Option<f64> {
    let reasons = row["reasons"].as_array().unwrap();
    let shifts: Option<Vec<f64>> = reasons.iter().map(|own| own["shift"].as_f64()).collect();
    Some(row["value"].as_f64()? + shifts?.iter().sum::<f64>() - row["truth"].as_f64()?)
}

fn validated(metrics: &str) -> Vec<Value> {
    let traces = ["aes_sha", "atomics", "chase", "hash", "interp", "matrix", "sort", "system"];
    let traces: Vec<String> = traces.iter().map(|name| trace(name)).collect();
    let threads = trace("threads/atomic_padded");
    let mut args = vec!["validate", "--metrics", metrics, "--limit", "200k", "-j"];
    args.extend(["--tolerance", "0.01", "--points", "0.01", &threads]);
    args.extend(traces.iter().map(String::as_str));
    objects(&printed(&args, 1))
}

/// On real programs, the events of each built-in metric differ from the ground truth only by what
/// the reasons say.
#[test]
fn every_difference_of_the_built_in_metrics_is_explained() {
    let rows = validated(&repository("configs/cortex-a53/metrics.toml"));
    let off: Vec<&Value> = rows.iter().filter(|row| row["standing"] == "off").collect();
    assert!(off.len() > 50, "{}", off.len());
    for row in off {
        let (left, truth) = (rest(row).unwrap(), row["truth"].as_f64().unwrap());
        // One in 20,000 instructions is the least that a rate can be off.
        let least = if row["unit"] == "share" { 1e-4 } else { 0.05 };
        let tolerance = f64::max(1e-4 * truth.abs(), least) * 1.000_001;
        assert!(left.abs() <= tolerance, "{} in {}: {left}", row["metric"], row["run"]);
    }
}

/// Each reason is found for a formula, on a trace, that has it, with the right correction.
#[test]
fn seeded_formulas_are_off_for_their_reason() {
    let path = repository("tests/formulas/a53-seeded.toml");
    let rows = validated(&path);
    let file: toml::Table = toml::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let metrics = file["metric"].as_table().unwrap();
    assert!(metrics.len() >= 31, "{}", metrics.len());
    for (name, entry) in metrics {
        let groups = entry["groups"].as_array().unwrap();
        let groups: Vec<&str> = groups.iter().map(|own| own.as_str().unwrap()).collect();
        let is_it = |row: &&Value| {
            let run = row["run"].as_str().unwrap();
            row["metric"] == name.as_str() && run.ends_with(&format!("/{}.n2t", groups[1]))
        };
        let row = rows.iter().find(is_it).unwrap();
        let reasons = row["reasons"].as_array().unwrap();
        assert!(reasons.iter().any(|own| own["reason"] == groups[0]), "{name}: {row}");
        if let Some(right) = groups.get(2) {
            assert_eq!(row["corrected"], *right, "{name}");
        }
    }
    let unexplained = rows.iter().filter(|row| row.to_string().contains("unexplained"));
    assert_eq!(unexplained.count(), 0);
}

#[test]
fn options_of_the_other_core_are_refused() {
    let hash = trace("hash");
    for (option, value) in [("--revision", "r0p3"), ("--truth", "counterfactual")] {
        let error = refused(&["validate", &hash, option, value]);
        assert!(error.contains("works with --core neoverse-n2 only"), "{error}");
    }
    let error = refused(&["validate", &hash, "--formula", "1", "--claims", "slots.frontend"]);
    assert!(error.contains("not a ground truth of the Cortex-A53"), "{error}");
    let none = printed(
        &["validate", &hash, "--formula", "ipc / 2", "--claims", "ipc", "--limit", "1k"],
        0,
    );
    assert!(none.contains("no verdict: ipc is the name of a metric"), "{none}");
}

#[test]
fn scenarios_print_events_of_the_core() {
    let file = repository("tests/scenarios-a53");
    let path = std::fs::read_dir(&file).unwrap().next().unwrap().unwrap().path();
    let check = |event: &str| {
        let path = path.to_str().unwrap();
        let args = ["check", path, "-e", event];
        Command::new(env!("CARGO_BIN_EXE_n2sim")).args(args).output().unwrap()
    };
    let counted = check("BUS_ACCESS_LD,cpu_cycles");
    assert_eq!(counted.status.code(), Some(0), "{}", text(counted.stderr));
    let table = text(counted.stdout);
    assert!(table.contains("BUS_ACCESS_LD") && !table.contains("L1D_CACHE "), "{table}");
    let absent = check("STALL_SLOT");
    assert_eq!(absent.status.code(), Some(2));
    let error = text(absent.stderr);
    assert!(error.contains("-e STALL_SLOT: the Cortex-A53 has no such event"), "{error}");
}

/// A sweep evaluates metrics with two issue slots in a cycle.
#[test]
fn a_sweep_knows_the_slots_of_the_core() {
    let folder = tempfile::tempdir().unwrap();
    let (grid, table) = (folder.path().join("g.toml"), folder.path().join("t.csv"));
    let traces = trace("hash");
    let text = format!(
        "core = 'cortex-a53'\ntraces = ['{traces}']\nlimit = '20k'\nmetrics = ['ipc', 'slot_use']\n\
         events = ['cpu_cycles']\n[[vary]]\nkey = 'memory.l1d.size-bytes'\nvalues = [16384, 32768]\n"
    );
    std::fs::write(&grid, text).unwrap();
    let args = ["sweep", grid.to_str().unwrap(), "-o", table.to_str().unwrap()];
    let output = Command::new(env!("CARGO_BIN_EXE_n2sim")).args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text_of(&output));
    let csv = std::fs::read_to_string(&table).unwrap();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 3, "{csv}");
    let column = |name: &str| rows[0].iter().position(|own| *own == name).unwrap();
    for row in &rows[1..] {
        let value = |name: &str| row[column(name)].parse::<f64>().unwrap();
        assert!((value("ipc") - 20_000.0 / value("cpu_cycles")).abs() < 1e-12, "{csv}");
        assert!((value("slot_use") - 50.0 * value("ipc")).abs() < 1e-9, "{csv}");
    }
}

fn text_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
