//! Builds the recording plugin (`sim-capture`), once for each of QEMU's plugin interfaces, and
//! packs the sources of the book, both for `include_bytes!`.
//!
//! A nested cargo builds it, because stable cargo has no dependencies on shared libraries. Its
//! target folder is one below the outer one, so that a check, a test and a release build share what
//! it builds and no lock is waited for that the outer cargo holds.

#[path = "build/book.rs"]
mod book;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use rustix::fs::{FlockOperation, flock};
use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Embedded file and the options of its build.
const PLUGINS: [(&str, &[&str]); 2] =
    [("plugin-1.z", &[]), ("plugin-3.z", &["--features", "api-v2"])];
/// Cargo's profile for it, in the workspace's manifest.
const PROFILE: &str = "plugin";
/// Parts of the workspace that the plugin is built from.
const SOURCES: [&str; 8] = [
    "Cargo.toml",
    "Cargo.lock",
    "sim-capture/Cargo.toml",
    "sim-capture/src",
    "sim-core/Cargo.toml",
    "sim-core/src",
    "sim-isa/Cargo.toml",
    "sim-isa/src",
];

fn main() -> Result<(), Box<dyn Error>> {
    let workspace = folder("CARGO_MANIFEST_DIR")?.join("..");
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", workspace.join(source).display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    let out = folder("OUT_DIR")?;
    book::pack(&workspace.canonicalize()?, &out.join("book.z"))?;
    let target = target_folder(&out);
    fs::create_dir_all(&target)?;
    // Both builds have one name there, also those of another cargo that runs at the same time.
    let lock = fs::File::create(target.join("n2sim.lock"))?;
    flock(&lock, FlockOperation::LockExclusive)?;
    for (name, options) in PLUGINS {
        let library = build(&workspace, &target, options)?;
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&fs::read(library)?)?;
        fs::write(out.join(name), packed.finish()?)?;
    }
    Ok(())
}

fn folder(variable: &str) -> Result<PathBuf, Box<dyn Error>> {
    Ok(env::var_os(variable).ok_or(format!("cargo sets no {variable}"))?.into())
}

/// A target folder for the nested cargo: in the outer one, which cargo marks, or else in `out`.
fn target_folder(out: &Path) -> PathBuf {
    let marks = ["CACHEDIR.TAG", ".rustc_info.json"];
    let is_marked = |folder: &&Path| marks.iter().any(|mark| folder.join(mark).is_file());
    out.ancestors().find(is_marked).unwrap_or(out).join("plugin")
}

/// Builds the plugin; returns its file.
fn build(workspace: &Path, target: &Path, options: &[&str]) -> Result<PathBuf, Box<dyn Error>> {
    let triple = env::var("TARGET")?;
    let mut cargo = cargo(workspace, target, &triple, options)?;
    // All that it needs the outer cargo needs too, so it is there; a cargo that thinks otherwise
    // may ask.
    let output = cargo.arg("--offline").output()?;
    if !output.status.success() {
        let again = self::cargo(workspace, target, &triple, options)?.output()?;
        if !again.status.success() {
            let said = String::from_utf8_lossy(&again.stderr).into_owned();
            return Err(format!("the recording plugin does not build:\n{said}").into());
        }
    }
    Ok(target.join(triple).join(PROFILE).join("libsim_capture.so"))
}

fn cargo(
    workspace: &Path,
    target: &Path,
    triple: &str,
    options: &[&str],
) -> Result<Command, Box<dyn Error>> {
    let program = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut cargo = Command::new(program);
    cargo.args(["build", "--locked", "--profile", PROFILE, "--target", triple, "--target-dir"]);
    cargo.arg(target).arg("--manifest-path").arg(workspace.join("sim-capture/Cargo.toml"));
    cargo.args(options);
    // Flags of this build (a profile, a sanitizer) and lints are not for a library that QEMU loads.
    for variable in
        ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS", "RUSTC_WORKSPACE_WRAPPER"]
    {
        cargo.env_remove(variable);
    }
    // Nor are profiles that were changed for it: all builds share one plugin.
    let is_profile = |name: &str| name.starts_with("CARGO_PROFILE_");
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_profile)) {
        cargo.env_remove(name);
    }
    Ok(cargo)
}
