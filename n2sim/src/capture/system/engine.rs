//! Finds the QEMU that records whole systems here, by trying each on a kernel of four instructions.

use super::super::elf;
use super::super::engine::{Engine, cpus_of, first_that_records, in_path, run, version};
use super::super::plugin::{Plugin, plugins};
use super::super::wire::control;
use super::machine::{self, Size, Start};
use anyhow::{Context, Result, bail};
use sim_core::Shown;
use sim_files::Scratch;
use std::path::Path;
use std::process::Command;

/// Command of the engine.
pub(crate) const NAME: &str = "qemu-system-aarch64";
/// The command that installs the engine.
pub(crate) const INSTALL: &str =
    "apt-get install qemu-system-arm (Debian 12: better with -t bookworm-backports)";
/// The machine of the trial.
const TRIAL: Size = Size { processors: 1, memory: 64 };
/// `PSCI SYSTEM_OFF` by a hypervisor call: movz w0, #8; movk w0, #0x8400, lsl #16; hvc #0; b .
const TRIAL_KERNEL: [u32; 4] = [0x5280_0100, 0x72b0_8000, 0xd400_0002, 0x1400_0000];

/// Returns the engine given, or the one in `PATH`, if it works.
pub(super) fn find(given: Option<&Path>) -> Result<Engine> {
    let Some(path) = given.map(Path::to_path_buf).or_else(|| in_path(NAME)) else {
        bail!(
            "no {NAME} in PATH, which runs the system while it is recorded: {INSTALL}, or name one with --engine"
        );
    };
    let plugins = plugins();
    probe(&path, &plugins).with_context(|| format!("{} cannot record", path.shown()))
}

/// Runs a tiny kernel under the engine with each plugin until one records.
pub(crate) fn probe(path: &Path, plugins: &[Plugin]) -> Result<Engine> {
    let version = version(path)?;
    let help = run(Command::new(path).arg("-help"))?;
    if !String::from_utf8_lossy(&help.stdout).contains("-plugin") {
        bail!("this build has no -plugin option");
    }
    let offered = run(Command::new(path).args(["-M", "virt", "-cpu", "help"]))?;
    let cpus = cpus_of(&String::from_utf8_lossy(&offered.stdout));
    if cpus.is_empty() {
        bail!("it has no AArch64 CPU model");
    }
    let kernel = Scratch::new("n2sim-probe", 0o600, &elf::bytes_of(&TRIAL_KERNEL));
    let kernel = kernel.context("cannot write a temporary file")?;
    first_that_records(path, &version, &cpus, plugins, |engine, memory| {
        let cpu = engine.default_cpu();
        let mut command = machine::command(engine, cpu, memory, TRIAL, Start::Boot)?;
        let output = run(command.arg("-kernel").arg(kernel.path()))?;
        Ok((output, memory.control(control::STREAMS)? > 0))
    })
}
