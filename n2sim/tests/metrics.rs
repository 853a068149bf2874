//! Metrics as a user meets them: computed by `stat -M`, checked by `lint`, listed by `list
//! metrics`.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::Path;
use std::process::Command;

/// Runs the program; gives its exit code, what it printed and what it said.
fn run(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_n2sim")).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap();
    let (printed, said) = (text(output.stdout), text(output.stderr));
    assert!(!said.contains("panicked"), "{said}");
    (code, printed, said)
}

fn trace() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/hash.n2t").display().to_string()
}

fn file_with(folder: &tempfile::TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// The JSON lines of a run, for which nothing but metrics was asked.
fn json(args: &[&str]) -> Vec<serde_json::Value> {
    let (code, printed, said) = run(args);
    assert_eq!(code, 0, "{said}");
    printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn number(value: &serde_json::Value) -> f64 {
    value.as_str().unwrap().parse().unwrap()
}

#[test]
fn a_metric_is_its_formula_over_the_printed_counts() {
    let lines = json(&["stat", &trace(), "--limit", "50k", "-M", "ipc", "-j"]);
    let count = |event: &str| {
        let row = lines.iter().find(|row| row["event"] == event).unwrap();
        number(&row["counter-value"])
    };
    let metric = lines.iter().find(|row| row["metric-unit"] == "per cycle  ipc").unwrap();
    let expected = count("INST_RETIRED") / count("CPU_CYCLES");
    assert!((number(&metric["metric-value"]) - expected).abs() < 1e-5, "{metric}: {expected}");
}

/// Their events fit on six counters, so the four shares of the slots make up the whole, on a
/// revision with the surplus slot and on one without.
#[test]
fn top_down_level_1_makes_up_the_whole() {
    let shares = |revision: &str| -> Vec<f64> {
        let set = format!("core.revision={revision}");
        let args = [
            "stat",
            &trace(),
            "--limit",
            "50k",
            "-M",
            "topdownl1",
            "--no-multiplex",
            "-j",
            "--set",
            &set,
        ];
        let lines = json(&args);
        let values = lines.iter().filter(|row| {
            row["metric-unit"].as_str().is_some_and(|unit| unit.contains("percent of slots"))
        });
        values.map(|row| number(&row["metric-value"])).collect()
    };
    let (with, without) = (shares("r0p2"), shares("r0p3"));
    assert_eq!(without.len(), 4);
    assert!((without.iter().sum::<f64>() - 100.0).abs() < 1e-4, "{without:?}");
    assert_eq!(with, without, "the correction takes out what the revision adds");
}

#[test]
fn own_formulas_and_thresholds_are_understood() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[metric.slow]\nformula = \"CPU_CYCLES:u / INST_RETIRED:u\"\nscale = \"10x\"\n\
                threshold = \"slow > 0\"\n[metric.none]\nformula = \"1 / L3D_CACHE\"\n";
    let file = file_with(&folder, "own.toml", text);
    let trace = trace();
    let args = ["stat", &trace, "--limit", "20k", "-M", "slow,none", "--metrics", &file];
    let (code, printed, said) = run(&args);
    assert_eq!(code, 0, "{said}");
    let line = printed.lines().find(|line| line.contains("slow")).unwrap();
    assert!(line.contains("  x ") && line.ends_with("exceeds its threshold"), "{line}");
    assert!(
        printed.lines().any(|line| line.trim_start().starts_with("nan ") && line.contains("none"))
    );
    assert!(
        said.contains("none has no value: column 1: division by zero: the divisor L3D_CACHE is 0"),
        "{said}"
    );
    let csv =
        run(&["stat", &trace, "--limit", "20k", "-M", "slow", "--metrics", &file, "-x", ";"]).1;
    assert!(
        csv.lines().last().unwrap().starts_with(";;;;;") && csv.ends_with(";x  slow\n"),
        "{csv}"
    );
}

/// 50,000 instructions take some microseconds; nothing is counted for that.
#[test]
fn a_metric_may_be_of_times_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[metric.ms]\nformula = \"1000 * duration_time\"\n";
    let file = file_with(&folder, "own.toml", text);
    let lines = json(&["stat", &trace(), "--limit", "50k", "-M", "ms", "--metrics", &file, "-j"]);
    assert_eq!(lines.len(), 1, "{lines:?}");
    let ms = number(&lines[0]["metric-value"]);
    assert!(ms > 0.005 && ms < 0.1, "{ms}");
}

#[test]
fn wrong_use_is_refused_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let broken = file_with(&folder, "broken.toml", "[metric.a]\nformula = \"1 +\"\n");
    let binary = file_with(&folder, "x.json", "{\"events\": ");
    let trace = trace();
    for (args, message) in [
        (vec!["stat", &trace, "-M", "ipcc"], "no metric or group is called 'ipcc'"),
        (vec!["stat", &trace, "-M", "a", "--metrics", &broken], "column 4: the formula ends"),
        (vec!["stat", &trace, "--metrics", &broken], "--metric"),
        (
            vec!["stat", &trace, "-M", "ipc", "--metrics", "/nowhere"],
            "cannot read the metrics /nowhere",
        ),
        (vec!["lint", &binary], "x.json: EOF"),
        (vec!["lint", &trace], "it is not text"),
        (vec!["list", "metrics", "--metrics", "/dev/null"], "/dev/null is not a metric file"),
    ] {
        let (code, printed, said) = run(&args);
        assert_eq!((code, printed.as_str()), (2, ""), "{args:?}: {said}");
        assert!(said.contains(message), "{args:?}: {said}");
    }
}

#[test]
fn lint_finds_what_is_wrong_and_lets_the_rest_pass() {
    let (code, printed, _) = run(&["lint", "-q"]);
    assert_eq!(code, 0, "our own metrics raise no alarm: {printed}");
    let wrong =
        ["lint", "--formula", "100 * OP_RETIRED / CPU_CYCLES", "--unit", "percent of slots"];
    let (code, printed, _) = run(&wrong);
    assert!(code == 1 && printed.contains("error [unit]"), "{printed}");
    let (code, printed, _) = run(&["lint", "-f", "LDST_SPEC", "-f", "1", "-j"]);
    assert_eq!((code, printed.lines().count()), (1, 1), "{printed}");
    let finding: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(
        (&finding["kind"], &finding["metric"]),
        (&"never-counts".into(), &"formula 1".into())
    );
}

#[test]
fn a_folder_is_read_with_the_lists_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let core = folder.path().join("arm/core");
    std::fs::create_dir_all(&core).unwrap();
    let std_list = "[{\"MetricName\": \"share\", \"MetricExpr\": \"1\", \"ScaleUnit\": \"100percent of slots\"}]";
    std::fs::write(folder.path().join("sbsa.json"), std_list).unwrap();
    let own =
        "[{\"ArchStdEvent\": \"share\", \"MetricExpr\": \"OP_SPEC / (CPU_CYCLES * #slots)\"}]";
    std::fs::write(core.join("metrics.json"), own).unwrap();
    let (code, printed, said) = run(&["lint", &core.display().to_string()]);
    assert_eq!(
        (code, printed.as_str()),
        (0, "1 metrics, 0 events: 0 errors, 0 warnings, 0 notes\n"),
        "{said}"
    );
    let (_, printed, _) = run(&["list", "metrics", "--metrics", &core.display().to_string()]);
    assert!(
        printed.contains("OP_SPEC / (CPU_CYCLES * #slots)")
            && printed.contains("times 100, percent of slots")
    );
}
