//! Packs the sources of the book: chapters, figures, the files that they run, and the documents
//! that they name. A file in these directories is packed without being listed anywhere.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Directories whose files with this extension are packed.
const PARTS: [(&str, &str); 6] = [
    ("docs/book/src", "md"),
    ("docs/book/src/figures", "svg"),
    ("docs/book/scenarios", "toml"),
    ("docs/book/predict", "toml"),
    ("docs/book/metrics", "toml"),
    ("docs", "md"),
];

/// Packs the sources below `workspace` into the file `to`: path and text of each, both ended by a
/// zero byte.
pub(crate) fn pack(workspace: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    let mut chapters = String::new();
    for (folder, extension) in PARTS {
        println!("cargo::rerun-if-changed={}", workspace.join(folder).display());
        for path in files(&workspace.join(folder), extension)? {
            let name = path.strip_prefix(workspace)?.to_str().ok_or("a name is UTF-8")?.to_owned();
            let text = fs::read_to_string(&path)?;
            if folder == "docs" && !chapters.contains(&name) {
                continue;
            }
            if folder == "docs/book/src" {
                chapters += &text;
            }
            write!(packed, "{name}\0{text}\0")?;
        }
    }
    fs::write(to, packed.finish()?)?;
    Ok(())
}

/// Packs the TOML files of a folder below `workspace` into the file `to`, in the same way.
pub(crate) fn pack_folder(workspace: &Path, folder: &str, to: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", workspace.join(folder).display());
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    for path in files(&workspace.join(folder), "toml")? {
        let name = path.strip_prefix(workspace)?.to_str().ok_or("a name is UTF-8")?.to_owned();
        write!(packed, "{name}\0{}\0", fs::read_to_string(&path)?)?;
    }
    fs::write(to, packed.finish()?)?;
    Ok(())
}

fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
