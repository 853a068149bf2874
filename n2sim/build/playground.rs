//! The model of the playground page (`sim-playground`) in WebAssembly. A toolchain without that
//! target builds an n2sim whose `playground` command says how to get it.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::nested::{Library, watch};

const TARGET: &str = "wasm32-unknown-unknown";
/// Parts of the workspace that it is built from.
const PARTS: [&str; 14] = [
    "sim-a53",
    "sim-asm",
    "sim-cache",
    "sim-core",
    "sim-course",
    "sim-files",
    "sim-isa",
    "sim-machine",
    "sim-metrics",
    "sim-pipeline",
    "sim-playground",
    "sim-pmu",
    "sim-scenario",
    "sim-trace",
];

/// Builds the model and packs it into `out`: an empty file without the target.
pub(crate) fn build(workspace: &Path, target: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    let packed = out.join("playground.wasm.gz");
    let library = library_folder()?;
    if !library.as_deref().is_some_and(Path::is_dir) {
        if let Some(folder) = library {
            // Build again once it is there.
            println!("cargo::rerun-if-changed={}", folder.display());
        }
        println!(
            "cargo::warning=the playground page is left out: `rustup target add {TARGET}`, then build again"
        );
        return Ok(fs::write(packed, [])?);
    }
    watch(workspace, &PARTS);
    println!("cargo::rerun-if-changed={}", workspace.join("configs").display());
    println!("cargo::rerun-if-changed={}", workspace.join("sim-course/lessons").display());
    let library = Library {
        package: "sim-playground",
        profile: "playground",
        triple: TARGET,
        options: &[],
        file: "sim_playground.wasm",
    };
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&fs::read(library.build(workspace, target)?)?)?;
    Ok(fs::write(packed, gzip.finish()?)?)
}

/// Returns the folder of the target's standard library, which may be missing; `None` if the
/// compiler does not know the target.
fn library_folder() -> Result<Option<PathBuf>, Box<dyn Error>> {
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let asked =
        Command::new(compiler).args(["--print", "target-libdir", "--target", TARGET]).output()?;
    let folder = String::from_utf8(asked.stdout)?;
    Ok(asked.status.success().then(|| PathBuf::from(folder.trim())))
}
