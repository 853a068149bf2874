//! Shared parts of the tests that use several crates: the repository's location and its files.

pub mod accuracy;
pub mod cases;
pub mod conformance;
pub mod explain_index;
pub mod formulas;
pub mod kernels;
pub mod multiplex;
pub mod mutation;
pub mod trace_check;

use std::path::{Path, PathBuf};

/// Returns the top directory of the repository.
pub fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().map_or_else(|| here.to_owned(), Path::to_owned)
}

/// Returns every file below `folder` whose name ends with `.extension`, sorted, without build
/// output.
///
/// # Panics
///
/// When a directory cannot be read.
pub fn files_below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(folder, extension, &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    let entries =
        std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.unwrap_or_else(|error| panic!("{}: {error}", folder.display())).path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                collect(&path, extension, found);
            }
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
}

/// Reads the text of a file.
///
/// # Panics
///
/// When the file cannot be read.
pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
