//! Builds what n2sim embeds with `include_bytes!`: the recording plugin, the model of the
//! playground page, and the sources of the book.

#[path = "build/book.rs"]
mod book;
#[path = "build/nested.rs"]
mod nested;
#[path = "build/playground.rs"]
mod playground;
#[path = "build/plugin.rs"]
mod plugin;

use rustix::fs::{FlockOperation, flock};
use std::env;
use std::error::Error;
use std::fs;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let workspace = folder("CARGO_MANIFEST_DIR")?.join("..");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    let out = folder("OUT_DIR")?;
    book::pack(&workspace.canonicalize()?, &out.join("book.z"))?;
    book::pack_folder(&workspace.canonicalize()?, "tests/scenarios", &out.join("scenarios.z"))?;
    let target = nested::target_folder(&out);
    fs::create_dir_all(&target)?;
    // All builds have one name there, also those of another cargo that runs at the same time.
    let lock = fs::File::create(target.join("n2sim.lock"))?;
    flock(&lock, FlockOperation::LockExclusive)?;
    plugin::build(&workspace, &target, &out)?;
    playground::build(&workspace, &target, &out)
}

fn folder(variable: &str) -> Result<PathBuf, Box<dyn Error>> {
    Ok(env::var_os(variable).ok_or(format!("cargo sets no {variable}"))?.into())
}
