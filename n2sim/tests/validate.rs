//! `n2sim validate` and `n2sim lint` as a project's CI uses them: exit codes, tables that programs
//! read.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

fn n2sim(args: &[&str]) -> Output {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_n2sim"));
    command.current_dir(root).args(args).output().expect("the program runs")
}

fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

fn objects(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("an object per line")).collect()
}

/// A validation of one formula on the start of a trace.
fn judged(formula: &str, claims: &str, more: &[&str]) -> Output {
    let base = ["validate", "traces/sort.n2t", "--limit", "50k", "--formula", formula];
    n2sim(&[&base[..], &["--claims", claims], more].concat())
}

/// A file of this test's own, gone when the test is.
struct OwnFile(PathBuf);

impl OwnFile {
    fn new(name: &str, text: &str) -> OwnFile {
        let path = std::env::temp_dir().join(format!("n2sim-{}-{name}", std::process::id()));
        fs::write(&path, text).expect("a temporary file");
        OwnFile(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("a plain path")
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn a_right_formula_passes_and_a_wrong_one_fails() {
    let right = judged("INST_RETIRED / CPU_CYCLES", "ipc", &["--tolerance", "0.1"]);
    assert_eq!(code(&right), Some(0), "{right:?}");
    let wrong = judged("CPU_CYCLES / INST_RETIRED", "ipc", &["--tolerance", "0.1", "-j"]);
    assert_eq!(code(&wrong), Some(1), "{wrong:?}");
    let rows = objects(&wrong);
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["standing"], "off");
    assert_eq!(rows[0]["reasons"][0]["reason"], "dimension");
}

#[test]
fn the_tolerance_decides_and_only_if_it_is_stated() {
    let formula = "L1D_CACHE_REFILL / INST_RETIRED * 1000";
    let exit = |more: &[&str]| code(&judged(formula, "l1d.mpki", more));
    assert_eq!(exit(&[]), Some(0));
    assert_eq!(exit(&["--tolerance", "0.1"]), Some(1));
    assert_eq!(exit(&["--tolerance", "1000"]), Some(0));
}

#[test]
fn wrong_input_is_reported_with_its_place() {
    for (output, message) in [
        (judged("1 +", "ipc", &[]), "--formula"),
        (judged("INST_RETIRED", "luck", &[]), "luck"),
        (n2sim(&["validate", "/dev/null"]), "/dev/null"),
        (n2sim(&["validate", "traces/sort.n2t", "-M", "luck"]), "luck"),
        (n2sim(&["validate", "traces/sort.n2t", "--tolerance", "-1"]), "--tolerance"),
        (n2sim(&["validate", "traces/sort.n2t", "--metrics", "no-such-file"]), "no-such-file"),
        (n2sim(&["lint", "no-such-file"]), "no-such-file"),
    ] {
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(code(&output), Some(2), "{words}");
        assert!(words.contains(message), "{words}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn lint_finds_without_a_run_what_is_wrong() {
    let good = n2sim(&["lint", "--formula", "INST_RETIRED / CPU_CYCLES", "-j"]);
    assert_eq!(code(&good), Some(0), "{good:?}");
    let wrong = n2sim(&["lint", "--formula", "INST_RETIRED / UOPS_ISSUED", "-j"]);
    assert_eq!(code(&wrong), Some(1), "{wrong:?}");
    let findings = objects(&wrong);
    assert!(findings.iter().any(|finding| finding["severity"] == "error"), "{findings:?}");
    assert!(findings.iter().all(|finding| finding["message"].is_string()));
}

#[test]
fn both_take_a_file_and_every_form_of_table_is_complete() {
    let file = OwnFile::new(
        "own.json",
        r#"[{"MetricName": "ipc", "MetricExpr": "INST_RETIRED / CPU_CYCLES", "ScaleUnit": "1per cycle"},
            {"MetricName": "loads", "MetricExpr": "LD_SPEC / INST_SPEC", "ScaleUnit": "100%"}]"#,
    );
    assert_eq!(code(&n2sim(&["lint", "--quiet", file.path()])), Some(0));
    let base = ["validate", "traces/hash.n2t", "--limit", "20k", "--metrics", file.path()];
    for form in [&["-j"][..], &["-x", ";"], &["--markdown"], &["--runs"]] {
        let output = n2sim(&[&base[..], form].concat());
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(code(&output), Some(0), "{output:?}");
        assert!(text.contains("ipc") && text.contains("loads"), "{form:?}: {text}");
    }
}

/// A list whose units stand in another file, as the lists of Linux have them.
const WITHOUT_UNIT: &str = r#"[{"ArchStdEvent": "retiring",
    "MetricExpr": "100 * OP_RETIRED / (CPU_CYCLES * #slots)"},
   {"MetricName": "ipc", "MetricExpr": "INST_RETIRED / CPU_CYCLES", "ScaleUnit": "1per cycle"}]"#;

#[test]
fn a_metric_without_its_unit_gets_no_verdict_but_what_is_missing() {
    let file = OwnFile::new("unitless.json", WITHOUT_UNIT);
    let base = ["validate", "traces/hash.n2t", "--limit", "20k", "--metrics", file.path()];
    let rows = objects(&n2sim(&[&base[..], &["-j"]].concat()));
    let [retiring, ipc] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((&retiring["standing"], &ipc["standing"]), (&"no verdict".into(), &"right".into()));
    assert_eq!(retiring["reasons"].as_array().map(Vec::len), Some(0));
    assert!(retiring["value"].is_null());
    let missing = retiring["missing"].as_str().expect("what is missing");
    assert!(missing.contains("sbsa.json"), "{missing}");
    // Nothing was shown, so a stated tolerance is not met.
    assert_eq!(code(&n2sim(&[&base[..], &["--tolerance", "5"]].concat())), Some(1));
    let unnamed = "OP_RETIRED / (CPU_CYCLES * slots_of_this_core)";
    let row = &objects(&judged(unnamed, "share.retiring", &["-j"]))[0];
    assert_eq!((&row["standing"], &row["value"]), (&"no verdict".into(), &Value::Null));
    assert!(row["missing"].as_str().is_some_and(|text| text.starts_with("slots_of_this_core")));
}

#[test]
fn a_verdict_can_be_pasted_into_a_bug_report() {
    let formula = "OP_RETIRED / (8 * CPU_CYCLES)";
    let row = &objects(&judged(formula, "share.retiring", &["-j"]))[0];
    assert_eq!(row["reasons"][0]["reason"], "slot-width");
    assert_eq!(row["corrected"], "OP_RETIRED / (5 * CPU_CYCLES)");
    assert!((row["relative"].as_f64().expect("a number") + 0.375).abs() < 1e-9);
    assert!(row["counts"]["CPU_CYCLES"].as_f64().is_some_and(|count| count > 10_000.0));
    let hash = row["trace_hash"].as_str().expect("a hash");
    let text = judged(formula, "share.retiring", &["--markdown"]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    for part in [
        "    OP_RETIRED / (8 * CPU_CYCLES)",
        "0.625 = 5/8 of what it claims, in every run; this core has 5 slots in a cycle, not 8",
        "* **Right is** `OP_RETIRED / (5 * CPU_CYCLES)`",
        "--formula 'OP_RETIRED / (8 * CPU_CYCLES)' --claims share.retiring --markdown",
        hash,
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn a_region_is_judged_alone_and_any_number_of_jobs_gives_the_same() {
    let of = |more: &[&str]| {
        let base = ["validate", "traces/hash.n2t", "traces/sort.n2t", "--limit", "20k", "-j"];
        let output = n2sim(&[&base[..], &["-M", "ipc"], more].concat());
        (
            code(&output),
            objects(&output).iter().map(|row| row["value"].to_string()).collect::<Vec<_>>(),
        )
    };
    assert_eq!(of(&["--jobs", "1"]), of(&["--jobs", "2"]));
    let bad = n2sim(&["validate", "traces/hash.n2t", "--roi", "40"]);
    assert_eq!(code(&bad), Some(2));
    assert!(String::from_utf8_lossy(&bad.stderr).contains("--roi 40"));
}

#[test]
fn lint_holds_a_formula_against_its_claim() {
    let wrong = n2sim(&[
        "lint",
        "-j",
        "--formula",
        "BR_MIS_PRED_RETIRED / INST_RETIRED",
        "--claims",
        "branch.miss_ratio",
    ]);
    assert_eq!(code(&wrong), Some(1));
    let findings = objects(&wrong);
    let found = findings.iter().find(|finding| finding["kind"] == "wrong-denominator");
    let message = found.expect("the kind")["message"].as_str().expect("text");
    assert!(message.ends_with("right is BR_MIS_PRED_RETIRED / BR_RETIRED"), "{message}");
}

/// The cases of tests/formulas/forms.toml: formulas with one fault each, and right ones.
fn forms(kind: &str) -> Vec<toml::Table> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/formulas/forms.toml");
    let text = fs::read_to_string(path).expect("the file of forms");
    let file: toml::Table = text.parse().expect("TOML");
    let list = file[kind].as_array().expect("a list of tables");
    list.iter().map(|case| case.as_table().expect("a table").clone()).collect()
}

fn field<'a>(case: &'a toml::Table, key: &str) -> Option<&'a str> {
    case.get(key).and_then(toml::Value::as_str)
}

/// The cases of a revision as a metric file: names of wrong ones begin with `w`, of right ones with
/// `r`, of what is right in the place of a wrong one with `c`.
fn metric_file(revision: &str) -> String {
    let mut file = String::new();
    for kind in ["wrong", "right"] {
        for (number, case) in forms(kind).iter().enumerate() {
            if field(case, "revision").unwrap_or("r0p3") == revision {
                let text = |key| format!("{key} = {:?}\n", field(case, key).expect("a text"));
                let scale = field(case, "scale").map(|scale| format!("scale = {scale:?}\n"));
                let head = format!("[metric.{}{number:02}]\n", &kind[..1]);
                let rest = text("claims") + &scale.unwrap_or_default();
                file += &[head, text("formula"), rest.clone()].concat();
                if let Some(right) = field(case, "right").filter(|_| kind == "wrong") {
                    file += &format!("[metric.c{number:02}]\nformula = {right:?}\n{rest}");
                }
            }
        }
    }
    file
}

/// The verdicts on all cases, on every committed trace: warm and from its cold start.
fn verdicts_on_forms() -> Vec<Value> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces");
    let entries =
        fs::read_dir(folder).expect("the traces").map(|entry| entry.expect("a file").path());
    let traces: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "n2t")).collect();
    assert!(traces.len() >= 12);
    let traces: Vec<&str> =
        traces.iter().map(|path| path.to_str().expect("a plain path")).collect();
    let mut rows = Vec::new();
    for revision in ["r0p3", "r0p2"] {
        let file = OwnFile::new(&format!("{revision}.toml"), &metric_file(revision));
        let base = ["--metrics", file.path(), "--revision", revision, "--limit", "200k", "-j"];
        for part in [&["--warmup", "300k"][..], &[]] {
            let output = n2sim(&[&["validate"], &traces[..], &base, part].concat());
            assert_eq!(code(&output), Some(0), "{output:?}");
            rows.extend(objects(&output));
        }
    }
    rows
}

fn reasons(row: &Value) -> Vec<&str> {
    let list = row["reasons"].as_array().expect("a list");
    list.iter().map(|reason| reason["reason"].as_str().expect("a word")).collect()
}

/// Returns the distance of a value from the ground-truth value of its row.
fn distance(row: &Value, key: &str) -> Option<f64> {
    Some((row[key].as_f64()? - row["truth"].as_f64()?).abs())
}

/// True if what would be right is farther from the truth on this run, so that it is not offered.
fn is_farther(right: Option<&&Value>, row: &Value) -> bool {
    let distances =
        right.and_then(|right| Some((distance(right, "value")?, distance(row, "value")?)));
    distances.is_some_and(|(right, own)| right > own)
}

/// Returns complaints about the verdicts on a wrong formula. `rights` are those on the correct
/// formula in its place, whose reasons may follow the fault.
fn complaints(case: &toml::Table, rows: &[&Value], rights: &[&Value]) -> Vec<String> {
    let (name, wanted) = (field(case, "name"), field(case, "reason").expect("a reason"));
    let also = case.get("also").and_then(toml::Value::as_array).cloned().unwrap_or_default();
    let mut complaints = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let (found, right) = (reasons(row), rights.get(number));
        let own_reasons = right.map(|right| reasons(right)).unwrap_or_default();
        // A fault that makes no difference is none on this run.
        let is_idle = right.is_some_and(|right| right["value"] == row["value"]);
        let is_reported_or_idle = found.contains(&wanted) || is_idle;
        let is_allowed = |code: &&str| {
            let is_listed = *code == wanted || also.iter().any(|own| own.as_str() == Some(code));
            is_listed || (is_reported_or_idle && own_reasons.contains(code))
        };
        if !found.iter().all(is_allowed) {
            let (value, truth) = (&row["value"], &row["truth"]);
            complaints.push(format!("{name:?}, {}: {found:?} ({value} of {truth})", row["run"]));
        }
        let is_offered = row["corrected"].as_str() == field(case, "right");
        let is_withheld = row["corrected"].is_null() && is_farther(right, row);
        if found.contains(&wanted) && !is_offered && !is_withheld {
            complaints.push(format!("{name:?}, {}: offers {}", row["run"], row["corrected"]));
        }
    }
    if !rows.iter().any(|row| reasons(row).contains(&wanted)) {
        complaints.push(format!("{name:?}: {wanted} is found on no trace"));
    }
    complaints
}

#[test]
fn twenty_faults_are_found_on_all_traces_and_twenty_right_forms_raise_no_alarm() {
    let (wrong, right) = (forms("wrong"), forms("right"));
    let codes: std::collections::BTreeSet<&str> =
        wrong.iter().filter_map(|case| field(case, "reason")).collect();
    assert_eq!((wrong.len(), right.len(), codes.len()), (20, 20, 20));
    let rows = verdicts_on_forms();
    let of = |name: String| rows.iter().filter(|row| row["metric"] == *name).collect::<Vec<_>>();
    let mut found: Vec<String> = Vec::new();
    for (number, case) in wrong.iter().enumerate() {
        let (rows, rights) = (of(format!("w{number:02}")), of(format!("c{number:02}")));
        assert!(rights.is_empty() || rights.len() == rows.len());
        found.extend(complaints(case, &rows, &rights));
    }
    for (number, case) in right.iter().enumerate() {
        let alarms = of(format!("r{number:02}")).into_iter().filter(|row| row["alarm"] == true);
        found.extend(alarms.map(|row| format!("{:?}: {row}", field(case, "formula"))));
    }
    // Whatever is offered, on whatever run: it is not farther from the truth.
    for row in &rows {
        let distances = distance(row, "corrected_value").zip(distance(row, "value"));
        let is_farther = distances.is_some_and(|(offered, own)| offered > own + 1e-9);
        found.extend(is_farther.then(|| format!("farther: {row}")));
    }
    assert!(rows.iter().any(|row| row["corrected_value"].is_number()));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The verdicts on the start of several traces.
fn on_traces(names: &[&str], more: &[&str]) -> Vec<Value> {
    let traces: Vec<String> = names.iter().map(|name| format!("traces/{name}.n2t")).collect();
    let traces: Vec<&str> = traces.iter().map(String::as_str).collect();
    objects(&n2sim(&[&["validate"], &traces[..], &["--limit", "100k", "-j"], more].concat()))
}

/// Slots of memory from a ratio of whole cycles: off on most traces, and on every one for known
/// reasons.
#[test]
fn memory_bound_from_whole_cycles_has_its_reason_on_every_trace() {
    let names = [
        "btree", "hash", "aes_sha", "sort", "matrix", "search", "lz", "interp", "vector", "atomics",
    ];
    let rows = on_traces(&names, &["-M", "backend_memory_bound,backend_core_bound"]);
    assert_eq!(rows.len(), 20);
    assert!(rows.iter().all(|row| !reasons(row).contains(&"unexplained")), "{rows:?}");
    let with_slots = rows.iter().filter(|row| reasons(row).contains(&"cycles-for-slots")).count();
    assert!(with_slots >= 10, "{with_slots}");
}

#[test]
fn a_part_is_a_fault_only_where_the_whole_is_nearer_to_the_truth() {
    for (formula, claims) in [
        ("L2D_CACHE_REFILL/L2D_CACHE_RD", "l2.miss_ratio"),
        ("L2D_CACHE_REFILL_RD/L2D_CACHE_RD", "l2.miss_ratio"),
        ("L2D_CACHE_REFILL_RD / INST_RETIRED * 1000", "l2.mpki"),
    ] {
        let names = ["btree", "hash", "sort", "vector"];
        for row in on_traces(&names, &["--formula", formula, "--claims", claims]) {
            let (own, offered) = (distance(&row, "value"), distance(&row, "corrected_value"));
            let is_nearer = offered.is_some_and(|offered| Some(offered) < own);
            assert_eq!(reasons(&row).contains(&"subset"), is_nearer, "{row}");
        }
    }
}

#[test]
fn a_fault_and_its_counting_biases_are_both_reported() {
    let of = |formula| {
        let more = ["--formula", formula, "--claims", "l1d.miss_ratio"];
        on_traces(&["search"], &more).remove(0)
    };
    let right = of("L1D_CACHE_REFILL/L1D_CACHE");
    assert!(reasons(&right).contains(&"in-flight"), "{right}");
    let parts = of("(L1D_CACHE_REFILL_INNER+L1D_CACHE_REFILL_OUTER)/L1D_CACHE");
    assert_eq!(reasons(&parts), reasons(&right));
    let double = of("2*L1D_CACHE_REFILL/L1D_CACHE");
    assert_eq!(reasons(&double), [&["factor"], reasons(&right).as_slice()].concat());
    assert!(double["corrected"].is_null(), "a half is farther from the truth: {double}");
}

#[test]
fn simple_factors_are_found_where_no_formula_is_known() {
    for (formula, claims, right) in [
        ("BUS_ACCESS*32", "bytes.moved", "BUS_ACCESS*64"),
        ("L2D_CACHE_REFILL*2", "slc.reads", "L2D_CACHE_REFILL"),
        ("DTLB_WALK*2", "dtlb.walks", "DTLB_WALK"),
        ("LD_SPEC*2", "inst.loads", "LD_SPEC"),
    ] {
        let row = on_traces(&["hash"], &["--formula", formula, "--claims", claims]).remove(0);
        assert_eq!(reasons(&row)[0], "factor", "{row}");
        assert_eq!(row["corrected"].as_str(), Some(right), "{row}");
    }
    let more = ["--formula", "STALL_SLOT/(5*CPU_CYCLES)", "--claims", "share.retiring"];
    let rows = on_traces(&["btree", "hash", "sort"], &more);
    assert!(rows.iter().all(|row| reasons(row)[0] == "complement"), "{rows:?}");
}

#[test]
fn unreadable_metrics_and_metrics_without_a_claim_are_reported() {
    let circle = "[metric.a]\nformula = \"b + 1\"\nclaims = \"ipc\"\n\n\
                  [metric.b]\nformula = \"a\"\nclaims = \"ipc\"\n";
    let file = OwnFile::new("circle.toml", circle);
    let base = ["validate", "traces/hash.n2t", "--limit", "20k"];
    let output = n2sim(&[&base[..], &["--metrics", file.path()]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("Formulas that cannot be read:") && text.contains("in a cycle"),
        "{text}"
    );
    assert!(!text.contains("that are off"), "{text}");
    let output = n2sim(&[&base[..], &["--formula", "LD_SPEC / ST_SPEC"]].concat());
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(words.contains("--claims"), "{words}");
}

/// A trace without opcodes: nothing that follows from them can be judged.
#[test]
fn doubtful_counts_are_marked_in_every_form_and_meet_no_tolerance() {
    let file = OwnFile::new("doubtful", "");
    let native = "traces/vector.n2t";
    let exported = n2sim(&["trace", "export", "--to", "champsim", native, "-o", file.path()]);
    assert_eq!(code(&exported), Some(0), "{exported:?}");
    let base = ["validate", file.path(), "-M", "l1d_mpki,ipc", "--limit", "5k"];
    for form in [&["-j"][..], &["-x", ";"], &["--markdown"], &["--runs"]] {
        let output = n2sim(&[&base[..], form].concat());
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(code(&output), Some(0), "{output:?}");
        assert!(text.contains("doubtful") && text.contains("no opcodes"), "{form:?}: {text}");
    }
    assert_eq!(code(&n2sim(&[&base[..], &["--tolerance", "5"]].concat())), Some(1));
    let native = n2sim(&["validate", native, "-M", "l1d_mpki,ipc", "--limit", "5k"]);
    assert!(!String::from_utf8_lossy(&native.stdout).contains("doubtful"), "{native:?}");
}
