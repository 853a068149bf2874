//! A cargo inside the build: stable cargo has no dependencies on libraries for other targets, nor
//! on shared libraries. Its target folder is one below the outer one, so that a check, a test and a
//! release build share what it builds and no lock is waited for that the outer cargo holds.

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A library of the workspace for another target.
pub(crate) struct Library<'a> {
    /// Its package, which is also its folder.
    pub(crate) package: &'a str,
    /// Cargo's profile for it, in the workspace's manifest.
    pub(crate) profile: &'a str,
    /// Target.
    pub(crate) triple: &'a str,
    /// Further options of cargo.
    pub(crate) options: &'a [&'a str],
    /// Name of its file.
    pub(crate) file: &'a str,
}

/// A target folder for the nested cargo: in the outer one, which cargo marks, or else in `out`.
pub(crate) fn target_folder(out: &Path) -> PathBuf {
    let marks = ["CACHEDIR.TAG", ".rustc_info.json"];
    let is_marked = |folder: &&Path| marks.iter().any(|mark| folder.join(mark).is_file());
    out.ancestors().find(is_marked).unwrap_or(out).join("plugin")
}

/// Builds the outer cargo again when one of these parts of the workspace changes.
pub(crate) fn watch(workspace: &Path, parts: &[&str]) {
    for part in parts {
        for file in ["Cargo.toml", "src"] {
            println!("cargo::rerun-if-changed={}", workspace.join(part).join(file).display());
        }
    }
    for file in ["Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={}", workspace.join(file).display());
    }
}

impl Library<'_> {
    /// Builds the library; returns its file.
    pub(crate) fn build(&self, workspace: &Path, target: &Path) -> Result<PathBuf, Box<dyn Error>> {
        let mut cargo = self.cargo(workspace, target);
        // Most that it needs the outer cargo needs too, so it is there; a cargo that misses
        // something may ask.
        let output = cargo.arg("--offline").output()?;
        if !output.status.success() {
            let again = self.cargo(workspace, target).output()?;
            if !again.status.success() {
                let said = String::from_utf8_lossy(&again.stderr).into_owned();
                return Err(format!("{} does not build:\n{said}", self.package).into());
            }
        }
        Ok(target.join(self.triple).join(self.profile).join(self.file))
    }

    fn cargo(&self, workspace: &Path, target: &Path) -> Command {
        let program = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
        let mut cargo = Command::new(program);
        cargo.args(["build", "--locked", "--lib", "--profile", self.profile]);
        cargo.args(["--target", self.triple, "--target-dir"]).arg(target);
        cargo.arg("--manifest-path").arg(workspace.join(self.package).join("Cargo.toml"));
        cargo.args(self.options);
        // Flags of this build (a profile, a sanitizer) and lints are not for a library that another
        // program loads.
        for variable in [
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_BUILD_RUSTFLAGS",
            "RUSTC_WORKSPACE_WRAPPER",
        ] {
            cargo.env_remove(variable);
        }
        // Nor are profiles that were changed for it: all builds share one library.
        let is_profile = |name: &str| name.starts_with("CARGO_PROFILE_");
        for (name, _) in env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_profile)) {
            cargo.env_remove(name);
        }
        cargo
    }
}
