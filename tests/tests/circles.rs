//! Files of a crate use each other in one direction: a circle of files has at most three members.
//!
//! A file uses another one where its code names a path into that file (`crate::a::b`, `super::b`,
//! or a child `b::c`). A declaration `mod a;` and a re-export count as no use: names are followed
//! through re-exports to the file that declares them. Unit tests are left out.
//!
//! Uses nothing but the standard library: `CARGO_MANIFEST_DIR=$PWD/tests rustc --edition 2024
//! --test tests/tests/circles.rs` builds it alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Largest number of files that may use each other in a circle.
const FILES: usize = 3;

const CRATES: [&str; 22] = [
    "sim-calibrate",
    "sim-a53",
    "sim-asm",
    "sim-course",
    "sim-litmus",
    "sim-space",
    "sim-playground",
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
    "sim-capture",
    "n2sim",
];

/// A module path from the crate's root: `["branch", "btb"]`; empty for the root.
type Module = Vec<String>;

/// One source file: the paths that its code names, and the names that it re-exports.
#[derive(Default)]
struct File {
    paths: Vec<Vec<String>>,
    reexports: BTreeMap<String, Vec<String>>,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ has a parent").to_owned()
}

/// All modules below a directory, each with its file.
fn modules(directory: &Path, above: &Module, found: &mut BTreeMap<Module, PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut module = above.clone();
        if !["lib", "main", "mod"].contains(&stem.as_str()) {
            module.push(stem.clone());
        }
        if path.is_dir() {
            modules(&path, &module, found);
        } else if path.extension().is_some_and(|own| own == "rs") && stem != "tests" {
            found.insert(module, path);
        }
    }
}

/// The identifiers, `::`, braces, commas and semicolons of a source, without its comments,
/// strings and unit tests.
fn tokens(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let (mut all, mut rest) = (Vec::new(), code);
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if first == '"' {
            string_length(rest)
        } else if rest.starts_with("::") {
            all.push("::".to_owned());
            2
        } else if first.is_alphabetic() || first == '_' {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            all.push(rest[..length].to_owned());
            length
        } else {
            if !first.is_whitespace() {
                all.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    all
}

/// Length of the string literal at the start of `text`, both quotes included.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            '"' if !is_escaped => return at + 1,
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    text.len()
}

/// Reads the path that begins at `tokens[at]` with all branches of its braces. Returns the
/// paths, each with the name that it gets, and the place after them.
fn path_at(tokens: &[String], mut at: usize) -> (Vec<(Vec<String>, String)>, usize) {
    let mut path: Vec<String> = Vec::new();
    while let Some(token) = tokens.get(at) {
        if token == "{" {
            let (mut all, mut inner) = (Vec::new(), at + 1);
            while tokens.get(inner).is_some_and(|token| token != "}") {
                let (branches, after) = path_at(tokens, inner);
                for (branch, name) in branches {
                    let full: Vec<String> = path.iter().cloned().chain(branch).collect();
                    let name = if name == "self" { path.last().cloned() } else { Some(name) };
                    all.push((full, name.unwrap_or_default()));
                }
                inner = after.max(inner + 1);
                if tokens.get(inner).is_some_and(|token| token == ",") {
                    inner += 1;
                }
            }
            return (all, inner + 1);
        }
        path.push(token.clone());
        at += 1;
        if tokens.get(at).is_none_or(|token| token != "::") {
            break;
        }
        at += 1;
    }
    let mut name = path.last().cloned().unwrap_or_default();
    if tokens.get(at).is_some_and(|token| token == "as") {
        name = tokens.get(at + 1).cloned().unwrap_or_default();
        at += 2;
    }
    (vec![(path, name)], at)
}

/// Resolves `crate`, `super`, `self` and names of child modules; `None` for other crates.
fn absolute(path: &[String], own: &Module, children: &BTreeSet<String>) -> Option<Vec<String>> {
    let mut base = own.clone();
    let mut rest = path;
    match path.first()?.as_str() {
        "crate" => (base, rest) = (Vec::new(), &path[1..]),
        "self" => rest = &path[1..],
        "super" => {}
        first if children.contains(first) => {}
        _ => return None,
    }
    while rest.first().is_some_and(|part| part == "super") {
        base.pop();
        rest = &rest[1..];
    }
    base.extend(rest.iter().cloned());
    Some(base)
}

fn read_file(text: &str, own: &Module, children: &BTreeSet<String>) -> File {
    let tokens = tokens(text);
    let (mut file, mut at) = (File::default(), 0);
    while at < tokens.len() {
        let is_use = tokens[at] == "use";
        let is_path = tokens.get(at + 1).is_some_and(|token| token == "::")
            && (at == 0 || tokens[at - 1] != "::");
        if !is_use && !is_path {
            at += 1;
            continue;
        }
        let (branches, after) = path_at(&tokens, if is_use { at + 1 } else { at });
        let is_public = is_use && at > 0 && (tokens[at - 1] == "pub" || tokens[at - 1] == ")");
        for (path, name) in branches {
            let Some(path) = absolute(&path, own, children) else { continue };
            if is_public {
                file.reexports.insert(name, path);
            } else {
                file.paths.push(path);
            }
        }
        at = after.max(at + 1);
    }
    file
}

/// The module whose file declares what a path names: the longest module that is its beginning,
/// or the target of a re-export there.
fn declares(path: &[String], files: &BTreeMap<Module, File>, depth: usize) -> Module {
    let length = (0..=path.len()).rev().find(|length| files.contains_key(&path[..*length]));
    let module = path[..length.unwrap_or(0)].to_vec();
    let name = path.get(module.len());
    let target = name.and_then(|name| files.get(&module)?.reexports.get(name));
    match target {
        Some(target) if depth < 8 && *target != path => declares(target, files, depth + 1),
        _ => module,
    }
}

/// Which modules each module of a crate uses.
fn uses(source: &Path) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut paths = BTreeMap::new();
    modules(source, &Vec::new(), &mut paths);
    let mut files = BTreeMap::new();
    for (module, path) in &paths {
        let text = fs::read_to_string(path).expect("a source is UTF-8");
        let is_child =
            |other: &&Module| other.len() == module.len() + 1 && other.starts_with(module);
        let children = paths.keys().filter(is_child).filter_map(|other| other.last().cloned());
        files.insert(module.clone(), read_file(&text, module, &children.collect()));
    }
    let used_by = |(module, file): (&Module, &File)| {
        let used = file.paths.iter().map(|path| declares(path, &files, 0));
        (module.clone(), used.filter(|used| used != module).collect())
    };
    files.iter().map(used_by).collect()
}

/// All modules that can be reached from `from`.
fn reached(from: &Module, uses: &BTreeMap<Module, BTreeSet<Module>>) -> BTreeSet<Module> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
    while let Some(module) = open.pop() {
        for used in uses.get(&module).into_iter().flatten() {
            if seen.insert(used.clone()) {
                open.push(used.clone());
            }
        }
    }
    seen
}

/// The circles of a crate, each as the list of its files.
fn circles(uses: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<Vec<Module>> {
    let reach: BTreeMap<_, _> = uses.keys().map(|module| (module, reached(module, uses))).collect();
    let (mut done, mut all) = (BTreeSet::new(), Vec::new());
    for module in uses.keys() {
        if !reach[module].contains(module) || done.contains(module) {
            continue;
        }
        let is_member =
            |other: &&&Module| reach[module].contains(**other) && reach[**other].contains(module);
        let members: Vec<Module> = reach.keys().filter(is_member).map(|m| (*m).clone()).collect();
        done.extend(members.iter().cloned());
        all.push(members);
    }
    all
}

fn shown(module: &Module) -> String {
    if module.is_empty() { "(root)".to_owned() } else { module.join("/") }
}

#[test]
fn no_circle_of_files_has_more_than_three_members() {
    let mut faults = Vec::new();
    for name in CRATES {
        let uses = uses(&repository().join(name).join("src"));
        assert!(uses.len() > 1, "{name}: no files were found");
        for circle in circles(&uses) {
            let mut lines = vec![format!("{name}: {} files", circle.len())];
            for module in &circle {
                let inside = uses[module].iter().filter(|used| circle.contains(used));
                let inside: Vec<String> = inside.map(shown).collect();
                lines.push(format!("    {} -> {}", shown(module), inside.join(", ")));
            }
            if circle.len() > FILES {
                faults.push(lines.join("\n"));
            }
        }
    }
    assert!(faults.is_empty(), "move what they share to a file of its own\n{}", faults.join("\n"));
}

#[test]
fn paths_are_read_through_braces_and_reexports() {
    let children = BTreeSet::from(["child".to_owned()]);
    let own = vec!["a".to_owned()];
    let text = "use crate::{b::C, d}; use super::e::{self, F as G}; pub use child::H; fn f() { child::g() }";
    let file = read_file(text, &own, &children);
    let paths: Vec<String> = file.paths.iter().map(|path| path.join("::")).collect();
    assert_eq!(paths, ["b::C", "d", "e::self", "e::F", "a::child::g"]);
    assert_eq!(file.reexports["H"].join("::"), "a::child::H");
}
