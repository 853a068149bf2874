//! House rules that a program can check: forbidden words, sources of values, sizes.

use std::path::{Path, PathBuf};

use sim_tests::{files_below, read, repository};

/// Longest function in lines, from `fn` to its closing brace.
const FUNCTION_LINES: usize = 70;
/// Longest file in lines, its unit tests included.
const FILE_LINES: usize = 600;

/// Files that may be longer, with their limit: tables of one row per fact. The list only shrinks.
const LONG_FILES: [(&str, usize); 2] = [
    // One row of nine lines for each of 147 events.
    ("sim-core/src/pmu_event.rs", 1620),
    // One row for each kind of micro-operation, with its pipes and latency.
    ("sim-isa/src/uops.rs", 650),
];

/// Text that no Rust source may contain, with a remedy. Split so that this file is clean.
const FORBIDDEN: [(&str, &str, &str); 4] = [
    ("todo", "!(", "finish it, or leave it out and say so in the header of the unit"),
    ("unimplemented", "!(", "finish it, or make the case an error with a remedy"),
    ("#[ign", "ore", "repair the test or delete it: a test that does not run proves nothing"),
    ("dbg", "!(", "delete it"),
];

/// Crates that neither print nor exit.
const LIBRARIES: [&str; 20] = [
    "sim-calibrate",
    "sim-core",
    "sim-files",
    "sim-isa",
    "sim-trace",
    "sim-cache",
    "sim-pipeline",
    "sim-pmu",
    "sim-metrics",
    "sim-machine",
    "sim-scenario",
    "sim-lab",
    "sim-runs",
    "sim-report",
    "sim-asm",
    "sim-a53",
    "sim-course",
    "sim-litmus",
    "sim-space",
    "sim-playground",
];

/// Returns the Rust sources of the repository, as paths from its top.
fn sources() -> Vec<PathBuf> {
    let top = repository();
    let relative = |path: PathBuf| path.strip_prefix(&top).map(Path::to_owned).unwrap_or(path);
    files_below(&top, "rs").into_iter().map(relative).collect()
}

fn text_of(path: &Path) -> String {
    read(&repository().join(path))
}

/// Fails with one line per fault.
fn expect_none(faults: Vec<String>) {
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// Returns the code of a line without its `//` comment.
fn code_of(line: &str) -> &str {
    line.split("//").next().unwrap_or(line)
}

#[test]
fn no_source_contains_a_forbidden_word() {
    let mut faults = Vec::new();
    for path in sources() {
        for (number, line) in text_of(&path).lines().enumerate() {
            for (head, tail, remedy) in FORBIDDEN {
                if code_of(line).contains(&format!("{head}{tail}")) {
                    faults.push(format!(
                        "{}:{}: {head}{tail}: {remedy}",
                        path.display(),
                        number + 1
                    ));
                }
            }
        }
    }
    expect_none(faults);
}

#[test]
fn libraries_do_not_print_and_do_not_exit() {
    let words = ["println!", "print!", "eprintln!", "eprint!", "process::exit"];
    let mut faults = Vec::new();
    for path in sources() {
        if !LIBRARIES.iter().any(|name| path.starts_with(Path::new(name).join("src"))) {
            continue;
        }
        for (number, line) in text_of(&path).lines().enumerate() {
            if words.iter().any(|word| code_of(line).contains(word)) {
                let place = format!("{}:{}", path.display(), number + 1);
                faults.push(format!("{place}: a library returns text, the program prints it"));
            }
        }
    }
    expect_none(faults);
}

/// A printed file name must not contain control characters.
#[test]
fn names_of_files_are_shown_by_the_function_that_escapes_them() {
    let mut faults = Vec::new();
    let is_ours = |path: &&PathBuf| {
        let of_a_library =
            LIBRARIES.iter().any(|name| path.starts_with(Path::new(name).join("src")));
        of_a_library || path.starts_with("n2sim/src")
    };
    for path in sources().iter().filter(is_ours).filter(|path| !path.ends_with("tests.rs")) {
        let text = text_of(path);
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in code.lines().enumerate() {
            if code_of(line).contains(".display()") {
                faults.push(format!(
                    "{}:{}: take sim_core::Shown::shown",
                    path.display(),
                    number + 1
                ));
            }
        }
    }
    expect_none(faults);
}

#[test]
fn every_value_of_a_configuration_ends_with_its_source() {
    let mut faults = Vec::new();
    let files = files_below(&repository().join("configs"), "toml");
    assert!(!files.is_empty(), "configs/ holds the two profiles");
    for path in files {
        for (number, line) in read(&path).lines().enumerate() {
            // In a file of metrics only the formula has a source.
            let is_metric = path.to_string_lossy().ends_with("metrics.toml");
            let is_value = line.contains('=')
                && !line.trim_start().starts_with(['#', '['])
                && (!is_metric || line.starts_with("formula"));
            let is_base = line.starts_with("base = ");
            let comment = line.rsplit_once(" # [").map(|(_, comment)| comment);
            let has_source = comment.is_some_and(|comment| comment.trim_end().ends_with(']'));
            if is_value && !is_base && !has_source {
                let place = format!("{}:{}", path.display(), number + 1);
                faults.push(format!(
                    "{place}: no source; end it with # [guide section], or # [assumed: reason]"
                ));
            }
        }
    }
    expect_none(faults);
}

#[test]
fn every_file_of_integration_tests_is_compiled() {
    let mut faults = Vec::new();
    for path in sources() {
        let folder = path.parent().unwrap_or(&path);
        let main = repository().join(folder).join("main.rs");
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if folder.ends_with("tests") && main.is_file() && name != "main" {
            let is_listed = read(&main).lines().any(|line| line == format!("mod {name};"));
            if !is_listed {
                faults.push(format!("{}: add `mod {name};` to main.rs beside it", path.display()));
            }
        }
    }
    expect_none(faults);
}

#[test]
fn files_are_short() {
    let mut faults = Vec::new();
    for path in sources() {
        let lines = text_of(&path).lines().count();
        let listed = LONG_FILES.iter().find(|(long, _)| Path::new(long) == path);
        let ceiling = listed.map_or(FILE_LINES, |(_, ceiling)| *ceiling);
        if lines > ceiling {
            faults.push(format!("{}: {lines} lines, at most {ceiling}", path.display()));
        }
    }
    expect_none(faults);
}

#[test]
fn functions_are_short() {
    let mut faults = Vec::new();
    for path in sources() {
        for (name, line, length) in functions(&text_of(&path)) {
            if length > FUNCTION_LINES {
                let place = format!("{}:{line}", path.display());
                faults.push(format!(
                    "{place}: fn {name} has {length} lines, at most {FUNCTION_LINES}"
                ));
            }
        }
    }
    expect_none(faults);
}

/// Returns name, first line and length of each function. rustfmt puts the closing brace of a
/// function under the first letter of its signature, so no parser is needed.
fn functions(text: &str) -> Vec<(String, usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (first, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let indent = &line[..line.len() - line.trim_start().len()];
        let ends = |line: &&str| {
            line.strip_prefix(indent)
                .is_some_and(|rest| rest == "}" || rest.ends_with("{}") || rest == ";")
        };
        if line.trim_end().ends_with(';') || line.trim_end().ends_with('}') {
            continue;
        }
        if let Some(length) = lines[first..].iter().position(ends) {
            found.push((name.to_owned(), first + 1, length + 1));
        }
    }
    found
}

/// Returns the name of the function whose signature begins in this line.
fn function_name(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    loop {
        let (word, after) = rest.split_once(' ')?;
        match word {
            "fn" => return after.split(['(', '<']).next(),
            "const" | "async" | "unsafe" | "extern" | "\"C\"" => rest = after,
            _ if word.starts_with("pub") => rest = after,
            _ => return None,
        }
    }
}

#[test]
fn the_scanner_of_this_test_finds_functions() {
    let text = "impl A {\n    pub(crate) const fn short() -> u8 {\n        1\n    }\n\n    fn one() {}\n}\n\nfn long<T>(\n    a: T,\n) {\n    a();\n}\n";
    let found = functions(text);
    assert_eq!(found, [("short".to_owned(), 2, 3), ("long".to_owned(), 9, 5)]);
}
