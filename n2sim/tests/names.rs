//! Names of recorded code: stripped programs and libraries, separate debug files, old traces.

use std::path::{Path, PathBuf};
use std::process::Command;

use sim_trace::TraceFile;

use crate::recording::{Bench, COMPILER, HERE, N2SIM};

/// A stripped program and its stripped library, recorded. The whole library and its debug file
/// are kept in a folder of their own.
struct Names {
    bench: Bench,
    kept: tempfile::TempDir,
}

/// Runs a tool of the cross compiler.
fn tool(name: &str, words: &[&dyn AsRef<std::ffi::OsStr>]) {
    let name = COMPILER.replace("gcc", name);
    let status = Command::new(&name).args(words.iter().map(|word| word.as_ref())).status();
    assert!(status.is_ok_and(|status| status.success()), "{name} fails");
}

impl Names {
    fn new() -> Option<Names> {
        let kept = tempfile::tempdir().expect("a temporary folder");
        let whole = kept.path().join("libwork.so");
        let bench = Bench::made(|program| {
            let folder = program.parent().expect("the program is in a folder");
            let library = folder.join("libwork.so");
            let source = |name: &str| format!("{HERE}/tests/programs/{name}");
            let named = "-Wl,--build-id,-soname,libwork.so";
            let shared: [&dyn AsRef<std::ffi::OsStr>; 7] =
                [&"-O1", &"-g", &"-shared", &"-fPIC", &named, &"-o", &whole];
            tool("gcc", &[&shared[..], &[&source("names_library.c")]].concat());
            tool("strip", &[&"-o", &library, &whole]);
            let linked: [&dyn AsRef<std::ffi::OsStr>; 5] =
                [&"-O1", &"-s", &"-Wl,-rpath,$ORIGIN", &"-o", &program];
            tool("gcc", &[&linked[..], &[&source("names.c"), &library]].concat());
        })?;
        Some(Names { bench, kept })
    }

    fn library(&self) -> PathBuf {
        self.bench.folder.path().join("libwork.so")
    }

    fn whole(&self) -> PathBuf {
        self.kept.path().join("libwork.so")
    }

    /// Makes the debug file of the library at `path`.
    fn make_debug_file(&self, path: &Path) {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
        let options: [&dyn AsRef<std::ffi::OsStr>; 2] =
            [&"--only-keep-debug", &"--compress-debug-sections"];
        tool("objcopy", &[&options[..], &[&self.whole(), &path]].concat());
    }

    /// Records the program with these arguments. Returns what was said.
    fn capture(&self, arguments: &[&Path]) -> String {
        let output = self.bench.capture(&[]).args(arguments).output().expect("n2sim runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{said}");
        said
    }

    /// Returns the names of functions that most instructions are in, and what was said. Start code
    /// of the linker has neither names nor unwind tables.
    fn functions(&self, options: &[&dyn AsRef<std::ffi::OsStr>]) -> (Vec<String>, String) {
        let mut command = Command::new(N2SIM);
        command
            .args(["stat", "--per-function", "-x,", "-e", "inst_retired"])
            .arg(self.bench.trace());
        let output = command.args(options.iter().map(|option| option.as_ref())).output();
        let output = output.expect("n2sim runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{said}");
        let text = String::from_utf8(output.stdout).expect("text");
        let rows: Vec<(&str, u64)> = text.lines().filter_map(row).collect();
        let all: u64 = rows.iter().map(|(_, count)| count).sum();
        assert!(all > 4000, "{text}");
        let many = rows.into_iter().filter(|(_, count)| count * 1000 > all);
        (many.map(|(name, _)| name.to_owned()).collect(), said)
    }

    /// Returns the path at which the debug file of the library is found by its build identity.
    fn debug_path(&self) -> PathBuf {
        let trace = TraceFile::open(&self.bench.trace()).expect("it opens");
        let library = self.library().to_string_lossy().into_owned();
        let files = trace.meta().files.iter();
        let file = files.into_iter().find(|file| file.path == library).expect("it is mapped");
        let id = file.build_id.as_deref().expect("the linker gave it one");
        let name = format!("usr/lib/debug/.build-id/{}/{}.debug", &id[..2], &id[2..]);
        self.bench.folder.path().join(name)
    }
}

/// Returns the name and the count of a line.
fn row(line: &str) -> Option<(&str, u64)> {
    let (name, rest) = line.split_once(',')?;
    Some((name, rest.split(',').next()?.parse().ok()?))
}

fn has(names: &[String], name: &str) -> bool {
    names.iter().any(|own| own == name)
}

#[test]
fn stripped_code_has_the_names_of_its_exports_and_of_its_debug_file() {
    let Some(names) = Names::new() else { return };
    names.capture(&[]);
    let (functions, _) = names.functions(&[]);
    let made = |name: &String| name.starts_with("[libwork.so 0x");
    assert!(has(&functions, "work"), "{functions:?}");
    let trace = TraceFile::open(&names.bench.trace()).expect("it opens");
    assert!(trace.meta().symbol("work@plt").is_some(), "the entry of the linkage table");
    assert!(functions.iter().any(made), "the function that nothing names: {functions:?}");
    assert!(!has(&functions, "[unknown]"), "{functions:?}");

    // The debug package is installed later: names and lines come without an option.
    names.make_debug_file(&names.debug_path());
    let (functions, said) = names.functions(&[]);
    assert!(has(&functions, "hidden") && !functions.iter().any(made), "{functions:?}");
    assert!(!said.contains("note"), "{said}");
    let trace = names.bench.trace();
    let report = |options: &[&str]| {
        let report = Command::new(N2SIM).arg("report").args(options).arg(&trace).output();
        String::from_utf8(report.expect("n2sim runs").stdout).expect("text")
    };
    let data: serde_json::Value = serde_json::from_str(&report(&["--json"])).expect("JSON");
    let source = data["source"].as_object().expect("the source files are there");
    let line = source.iter().find(|(name, _)| name.ends_with("names_library.c:6"));
    let text = line.and_then(|(_, text)| text.as_str()).expect("the hottest line");
    assert_eq!(text.trim_start(), "value = value * 1664525u + 1013904223u;");
    let page = report(&[]);
    assert!(
        page.contains(">names_library.c:6</code> <code class=\"source\">value = value * "),
        "the text of a line"
    );

    // Recorded again, the trace has the names by itself.
    names.capture(&[]);
    std::fs::remove_dir_all(names.bench.folder.path().join("usr")).expect("it is there");
    assert!(has(&names.functions(&[]).0, "hidden"));
}

#[test]
fn a_given_debug_file_or_library_is_placed_by_its_build_identity() {
    let Some(names) = Names::new() else { return };
    names.capture(&[]);
    let debug = names.kept.path().join("work.debug");
    names.make_debug_file(&debug);
    for file in [&debug, &names.whole()] {
        let (functions, _) = names.functions(&[&"--elf", file]);
        assert!(has(&functions, "hidden"), "{}: {functions:?}", file.display());
    }
}

#[test]
fn a_file_that_the_trace_does_not_know_is_placed_by_its_code() {
    let Some(names) = Names::new() else { return };
    // The program removes its library, so that the recorder cannot read it.
    let said = names.capture(&[&names.library()]);
    assert!(said.contains("gap: the functions of ") && said.contains("no such file"), "{said}");
    let (functions, _) = names.functions(&[]);
    assert!(!has(&functions, "work"), "{functions:?}");
    let (functions, _) = names.functions(&[&"--elf", &names.whole()]);
    assert!(has(&functions, "hidden") && has(&functions, "work"), "{functions:?}");

    // A debug file has no code to look for.
    let debug = names.kept.path().join("work.debug");
    names.make_debug_file(&debug);
    let mut command = Command::new(N2SIM);
    command.args(["stat", "--per-function"]).arg(names.bench.trace()).arg("--elf").arg(&debug);
    let output = command.output().expect("n2sim runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("work.debug is a debug file"), "{said}");
}

#[test]
fn a_library_that_changed_since_the_recording_is_not_used() {
    let Some(names) = Names::new() else { return };
    names.capture(&[]);
    let before = names.functions(&[]);
    std::fs::copy(names.bench.folder.path().join("program"), names.library()).expect("it is there");
    let after = names.functions(&[]);
    assert_eq!(before.0, after.0, "names are those of the trace");
    assert!(after.1.contains("libwork.so: it changed since the recording"));
}
