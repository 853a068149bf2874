//! `n2sim litmus`: the exported program compiles and runs, its recording reproduces the claims, and
//! wrong input is explained.
//!
//! The program needs a cross compiler and QEMU; with `N2SIM_TOOLS=required`, as in CI, their
//! absence is a failure.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::recording::{COMPILER, N2SIM, in_path, must_not_be_required};

/// Admitted cases of `400-reference-vectors.toml`.
const REFERENCE_CASES: usize = 26;

fn n2sim(arguments: &[&str], folder: &Path) -> Output {
    Command::new(N2SIM).args(arguments).current_dir(folder).output().expect("n2sim runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns a folder with the exported program, compiled if the compiler is there.
fn exported() -> (tempfile::TempDir, Option<PathBuf>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = n2sim(&["litmus", "export", "cases"], folder.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    if in_path(COMPILER).is_none() {
        must_not_be_required(COMPILER);
        return (folder, None);
    }
    let program = folder.path().join("litmus");
    let compiled = Command::new(COMPILER)
        .args(["-O1", "-static", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .arg(folder.path().join("cases/litmus.c"))
        .output()
        .expect("the compiler runs");
    assert!(compiled.status.success(), "{}", text(&compiled.stderr));
    (folder, Some(program))
}

/// Runs the program in QEMU.
fn run(program: &Path, arguments: &[&str]) -> Option<Output> {
    if in_path("qemu-aarch64").is_none() {
        must_not_be_required("qemu-aarch64");
        return None;
    }
    let mut engine = Command::new("qemu-aarch64");
    engine.args(["-cpu", "max"]).arg(program).args(arguments);
    Some(engine.output().expect("the engine runs"))
}

#[test]
fn the_program_says_that_an_emulator_cannot_count() {
    let (folder, Some(program)) = exported() else { return };
    let result = folder.path().join("result.json");
    let name = result.to_str().expect("UTF-8");
    let Some(output) = run(&program, &["-o", name]) else { return };
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("not countable"), "{}", text(&output.stderr));
    // It ran all cases to their end, and the result says that nothing was counted.
    let checked = n2sim(&["litmus", "check", name], folder.path());
    assert_eq!(checked.status.code(), Some(2), "{}", text(&checked.stdout));
    assert!(text(&checked.stderr).contains("nothing was counted"), "{}", text(&checked.stderr));
}

#[test]
fn the_program_refuses_wrong_options() {
    let (_folder, Some(program)) = exported() else { return };
    for arguments in [
        &["--rounds"][..],
        &["--repeats", "1"],
        &["--cpu", "x"],
        &["-o"],
        &["--cases", "--kernels"],
    ] {
        let Some(output) = run(&program, arguments) else { return };
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains("usage: litmus"), "{arguments:?}");
    }
    let Some(output) = run(&program, &["-o", "/nowhere/result.json"]) else { return };
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("cannot write /nowhere/result.json"));
}

#[test]
fn a_recording_of_some_cases_reproduces_their_claims() {
    let (folder, Some(program)) = exported() else { return };
    let here = folder.path();
    let name = program.to_str().expect("UTF-8");
    let capture = ["capture", "-o", "cases.n2t", "--", name, "--replay", "--repeats", "2"];
    let recorded = n2sim(&[&capture[..], &["--case", "400-reference-vectors"]].concat(), here);
    assert!(recorded.status.success(), "{}", text(&recorded.stderr));
    let replayed = n2sim(&["litmus", "replay", "cases.n2t", "-o", "model.json"], here);
    assert!(replayed.status.success(), "{}", text(&replayed.stderr));
    let checked = n2sim(&["litmus", "check", "model.json"], here);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stdout));
    let said = text(&checked.stdout);
    assert!(!said.contains("differ"), "{said}");
    assert!(said.contains(&format!("\n{REFERENCE_CASES} of ")), "{said}");
    // Another reading of store misses contradicts the claims. Only one case shows it, so the others
    // need no second replay.
    let capture = ["capture", "-o", "one.n2t", "--", name, "--replay", "--repeats", "2"];
    let recorded = n2sim(&[&capture[..], &["--case", "400-reference-vectors:V5"]].concat(), here);
    assert!(recorded.status.success(), "{}", text(&recorded.stderr));
    let set = ["--set", "semantics.store-miss-l2=read"];
    let other = [&["litmus", "replay", "one.n2t", "-o", "other.json"][..], &set].concat();
    assert!(n2sim(&other, here).status.success());
    let checked = n2sim(&["litmus", "check", "other.json"], here);
    assert_eq!(checked.status.code(), Some(1));
    let said = text(&checked.stdout);
    assert!(said.contains("400-reference-vectors:V5"), "{said}");
    assert!(said.contains("L2D_CACHE_RD: claimed 0"), "{said}");
    let markdown = n2sim(&["litmus", "check", "other.json", "--markdown"], here);
    assert!(text(&markdown.stdout).contains("| `L2D_CACHE_RD` | 0 |"));
    pages_have_every_case(here);
    a_stand_in_is_no_contribution(here);
    a_case_expects_its_own_counts_of_another_core(here);
}

/// A Neoverse N1, for whose L1 D-side TLB 48 entries are assumed.
fn a_case_expects_its_own_counts_of_another_core(here: &Path) {
    let result = fs::read_to_string(here.join("model.json")).expect("a result");
    let mut result: serde_json::Value = serde_json::from_str(&result).expect("JSON");
    result["machine"]["midr"] = "0x00000000413fd0c1".into();
    let counts = serde_json::json!({"L1D_TLB_REFILL": [82, 82], "DTLB_WALK": [41, 41]});
    let name = "430-capacity:L1 D-side TLB holds no more than 40";
    let case = serde_json::json!({"case": name, "rounds": 1, "counts": counts});
    result["cases"].as_array_mut().expect("cases").push(case);
    fs::write(here.join("n1.json"), result.to_string()).expect("a file");
    let checked = n2sim(&["litmus", "check", "n1.json"], here);
    let said = text(&checked.stdout);
    assert_eq!(checked.status.code(), Some(1), "{said}");
    assert!(said.contains("not a Neoverse N2: 1 case has expectations for this core"), "{said}");
    let claim = "L1D_TLB_REFILL: claimed 42 to 82, 41 on neoverse-n1, counted 82.00";
    assert!(said.contains(claim), "{said}");
}

/// The pages of the results that the test made: one machine, and two side by side.
fn pages_have_every_case(here: &Path) {
    let page = |results: &[&str]| {
        let arguments = [&["litmus", "check"], results, &["--html", "page.html"]].concat();
        let output = n2sim(&arguments, here);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
        fs::read_to_string(here.join("page.html")).expect("the page is written")
    };
    let cases = text(&n2sim(&["litmus", "check", "model.json", "--markdown"], here).stdout)
        .matches("\n## ")
        .count();
    let one = page(&["other.json"]);
    assert_eq!(one.matches("<details class=\"fold case\"").count(), cases);
    let [differ, agree] =
        ["Cases that differ", "Cases that agree"].map(|heading| one.find(heading));
    assert!(differ.is_some() && differ < agree, "{differ:?} {agree:?}");
    let v5 = one.find("id=\"case-400-reference-vectors:V5\"");
    assert!(v5.is_some() && v5 < agree, "{v5:?}");
    assert!(!one.contains("Cases by machines"));
    let two = page(&["model.json", "other.json"]);
    assert!(two.contains("Cases by machines"));
    assert_eq!(two.matches("<tr data-item").count(), cases);
    assert!(two.contains("href=\"#case-400-reference-vectors:V5\""));
}

/// A machine with another revision and noise agrees, but it is no machine.
fn a_stand_in_is_no_contribution(here: &Path) {
    let replay =
        ["litmus", "replay", "cases.n2t", "-o", "noisy.json", "--noise", "1", "--draw", "3"];
    let replayed = n2sim(&[&replay[..], &["--set", "core.revision=r0p0"]].concat(), here);
    assert!(replayed.status.success(), "{}", text(&replayed.stderr));
    let checked = n2sim(&["litmus", "check", "noisy.json", "--all"], here);
    let said = text(&checked.stdout);
    assert_eq!(checked.status.code(), Some(0), "{said}");
    assert!(said.contains("Neoverse N2 r0p0 (MIDR 0x00000000410fd490)"), "{said}");
    assert!(said.contains("cases could not be counted:\n") && !said.contains("(--all)"), "{said}");
    let short = text(&n2sim(&["litmus", "check", "noisy.json"], here).stdout);
    assert!(short.contains(" more (--all)"), "{short}");
    let checked = n2sim(&["litmus", "check", "--contribution", "noisy.json"], here);
    let said = text(&checked.stdout);
    assert_eq!(checked.status.code(), Some(1), "{said}");
    for fault in ["a replay on the model", "the licence is missing", "the kernel is missing"] {
        assert!(said.contains(fault), "{said}");
    }
    assert!(!said.contains("does not hold"), "{said}");
    // As a machine would write it.
    let result = fs::read_to_string(here.join("noisy.json")).expect("a result");
    let mut result: serde_json::Value = serde_json::from_str(&result).expect("JSON");
    let facts = serde_json::json!({"name": "a stand-in", "licence": "CC0-1.0", "kernel": "6.8.0",
        "counters": 6, "time": 1_700_000_000, "midr": "0x00000000410fd490"});
    result["machine"] = facts;
    fs::write(here.join("machine.json"), result.to_string()).expect("a file");
    let checked = n2sim(&["litmus", "check", "--contribution", "machine.json"], here);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stdout));
    // A counter that counts twice breaks an equation.
    for case in result["cases"].as_array_mut().expect("cases") {
        let counts = case["counts"]["L1D_CACHE"].as_array_mut().expect("counts");
        counts
            .iter_mut()
            .for_each(|count| *count = (2.0 * count.as_f64().expect("a number")).into());
    }
    fs::write(here.join("machine.json"), result.to_string()).expect("a file");
    let checked = n2sim(&["litmus", "check", "--contribution", "machine.json"], here);
    assert_eq!(checked.status.code(), Some(1));
    let said = text(&checked.stdout);
    assert!(said.contains("L1D_CACHE = L1D_CACHE_RD + L1D_CACHE_WR does not hold"), "{said}");
}

#[test]
fn a_recording_of_some_kernels_gives_their_counts() {
    let (folder, Some(program)) = exported() else { return };
    let here = folder.path();
    let name = program.to_str().expect("UTF-8");
    let marks = ["--from", "40", "--to", "41", "-o", "kernels.n2t", "--", name];
    let chosen = ["--kernels", "--replay", "--repeats", "2", "--case", "chase-1"];
    let recorded = n2sim(&[&["capture"][..], &marks, &chosen].concat(), here);
    assert!(recorded.status.success(), "{}", text(&recorded.stderr));
    let replayed = n2sim(&["litmus", "replay", "kernels.n2t", "-o", "model.json"], here);
    assert!(replayed.status.success(), "{}", text(&replayed.stderr));
    let result = fs::read_to_string(here.join("model.json")).expect("the result is written");
    let counted = sim_litmus::Counted::read(&result).expect("a result");
    assert_eq!(counted.kernel_program, sim_litmus::kernels::mark());
    assert!(counted.cases.is_empty());
    let names: Vec<&str> = counted.kernels.iter().map(|kernel| kernel.kernel.as_str()).collect();
    assert_eq!(names, ["chase-16k", "chase-128k", "chase-1m", "chase-16m", "chase-16m-huge"]);
    let cycles = &counted.kernel("chase-16k").expect("it ran").counts["CPU_CYCLES"];
    assert!(cycles.iter().all(|cycles| (3.9..4.2).contains(cycles)), "{cycles:?}");
    let table = fs::read_to_string(here.join("cases/KERNELS.md")).expect("the table");
    assert!(table.contains("| chase-16m-huge | 16 MiB | huge | a round is"), "{table}");
}

/// Runs a tool on files of the folder.
fn tool(name: &str, arguments: &[&str], folder: &Path) {
    let output = Command::new(name).args(arguments).current_dir(folder).output();
    let output = output.expect("the tool runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// Returns the engine of a system: one named by the environment, or the one in PATH.
fn system_engine() -> Option<String> {
    if let Some(path) = std::env::var_os("N2SIM_SYSTEM_ENGINE") {
        return path.into_string().ok();
    }
    in_path("qemu-system-aarch64")?.into_os_string().into_string().ok()
}

/// The payload has the cases of the module: its recording reproduces their claims.
#[test]
fn a_recording_of_the_payload_reproduces_the_claims_of_el1() {
    let (folder, Some(_)) = exported() else { return };
    let here = folder.path().join("cases/module");
    let table = fs::read_to_string(here.join("../CASES.md")).expect("the table of the cases");
    let (_, table) = table.split_once("# Cases of the module").expect("the cases of the module");
    assert!(table.contains("951-second-reading-tlb:TLB maintenance drops one page"), "{table}");
    let cases = table.matches("\n| ").count() - 2;
    assert!(fs::read_to_string(here.join("Makefile")).is_ok_and(|it| it.contains("obj-m")));
    let Some(engine) = system_engine() else {
        must_not_be_required("qemu-system-aarch64");
        return;
    };
    let link = ["-nostdlib", "-static", "-Wl,-Ttext=0xffffff8040200000", "-Wl,--build-id=none"];
    tool(COMPILER, &[&link[..], &["-o", "payload.elf", "payload.S"]].concat(), &here);
    let image = ["-O", "binary", "payload.elf", "payload"];
    tool("aarch64-linux-gnu-objcopy", &image, &here);
    fs::write(here.join("empty"), "").expect("a file");
    let capture = ["capture", "--system", "--kernel", "payload", "--initrd", "empty"];
    let more = ["--kernel-symbols", "payload.elf", "--engine", &engine, "-o", "el1.n2t"];
    let recorded = n2sim(&[capture, more].concat(), &here);
    assert!(recorded.status.success(), "{}", text(&recorded.stderr));
    let replayed = n2sim(&["litmus", "replay", "el1.n2t", "-o", "model.json"], &here);
    assert!(replayed.status.success(), "{}", text(&replayed.stderr));
    let checked = n2sim(&["litmus", "check", "model.json"], &here);
    let said = text(&checked.stdout);
    assert_eq!(checked.status.code(), Some(0), "{said}");
    assert!(said.contains(&format!("\n{cases} of {cases} cases agree")), "{said}");
}

/// A result of the module beside one of the program: each has cases of its own.
#[test]
fn mixed_pages_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = folder.path();
    for (recording, result) in [("el1.n2t", "module.json"), ("vectors.n2t", "program.json")] {
        let path = format!("{}/../sim-litmus/recordings/{recording}", env!("CARGO_MANIFEST_DIR"));
        let replayed = n2sim(&["litmus", "replay", &path, "-o", result], here);
        assert!(replayed.status.success(), "{}", text(&replayed.stderr));
    }
    let page = ["litmus", "check", "module.json", "program.json", "--html", "page.html"];
    let output = n2sim(&page, here);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    let said = text(&output.stderr);
    assert!(said.contains("program.json is of the program, module.json of the module"), "{said}");
    assert!(!here.join("page.html").exists());
}

/// Given a result of the module, expect the log of the kernel as the place of the reasons, and no
/// pages of 2 MiB that are missing.
#[test]
fn a_result_of_the_module_is_not_one_of_the_program() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = folder.path();
    let path = format!("{}/../sim-litmus/recordings/el1.n2t", env!("CARGO_MANIFEST_DIR"));
    let replayed = n2sim(&["litmus", "replay", &path, "-o", "module.json"], here);
    assert!(replayed.status.success(), "{}", text(&replayed.stderr));
    let result = fs::read_to_string(here.join("module.json")).expect("a result");
    let mut result: serde_json::Value = serde_json::from_str(&result).expect("JSON");
    result["machine"]["huge_pages"] = false.into();
    fs::write(here.join("module.json"), result.to_string()).expect("a file");
    let checked = n2sim(&["litmus", "check", "module.json"], here);
    let said = text(&checked.stdout);
    assert_eq!(checked.status.code(), Some(0), "{said}");
    assert!(said.contains("cases agree") && !said.contains("no huge pages"), "{said}");
    result["cases"] = serde_json::json!([]);
    fs::write(here.join("module.json"), result.to_string()).expect("a file");
    let checked = n2sim(&["litmus", "check", "module.json"], here);
    assert_eq!(checked.status.code(), Some(2));
    let said = text(&checked.stderr);
    assert!(said.contains("module.json: nothing was counted; the log of the kernel"), "{said}");
}

#[test]
fn wrong_input_is_explained() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = folder.path();
    let head = r#"{"format": "n2sim litmus 1", "program": "x", "machine": {}, "cases": ["#;
    let case = format!(r#"{head}{{"case": "a", "rounds": 1, "counts": "#);
    let twice = r#"{"case": "a", "rounds": 1, "counts": {}}"#;
    for (name, content, said) in [
        ("empty.json", String::new(), "a result is what the litmus program wrote"),
        (
            "other.json",
            r#"{"format": "x", "program": "x", "machine": {}, "cases": []}"#.into(),
            "the format is 'x'",
        ),
        ("event.json", format!("{case}{{\"NOPE\": [1]}}}}]}}"), "NOPE"),
        ("one.json", format!("{case}{{\"LD_SPEC\": [1]}}}}]}}"), "give at least two counts"),
        ("huge.json", format!("{case}{{\"LD_SPEC\": [1, 1e300]}}}}]}}"), "none larger than 1e15"),
        ("twice.json", format!("{head}{twice}, {twice}]}}"), "occurs twice"),
        (
            "kernel.json",
            format!(
                "{head}], \"kernels\": [{{\"kernel\": \"k\", \"rounds\": 1, \"counts\": {{\"NOPE\": [1]}}}}]}}"
            ),
            "kernel 'k': ",
        ),
        ("old.json", format!("{head}]}}"), "the program of another n2sim"),
    ] {
        fs::write(here.join(name), content).expect("a file");
        let output = n2sim(&["litmus", "check", name], here);
        assert_eq!(output.status.code(), Some(2), "{name}");
        let stderr = text(&output.stderr);
        assert!(stderr.contains(name) && stderr.contains(said), "{stderr}");
    }
    let output = n2sim(&["litmus", "check", "missing.json"], here);
    assert_eq!(output.status.code(), Some(2));
    let output = n2sim(&["litmus", "check", "--contribution", "old.json"], here);
    assert_eq!(output.status.code(), Some(2));
    let output = n2sim(&["litmus", "replay", "cases.n2t", "--noise", "-1"], here);
    assert!(text(&output.stderr).contains("a percentage from 0 to 100"));
    let trace = format!("{}/../traces/hash.n2t", env!("CARGO_MANIFEST_DIR"));
    let output = n2sim(&["litmus", "replay", &trace, "-o", "result.json"], here);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("not a recording of the cases"),
        "{}",
        text(&output.stderr)
    );
    assert!(!here.join("result.json").exists());
    fs::create_dir(here.join("full")).expect("a directory");
    fs::write(here.join("full/file"), "").expect("a file");
    let output = n2sim(&["litmus", "export", "full"], here);
    assert_eq!(output.status.code(), Some(2));
}
