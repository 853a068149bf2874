//! Which QEMU records whole systems here: found by trying each on a kernel of four instructions.

use super::super::engine::{BUILD_PLUGIN, BUILD_PLUGIN_V2, Engine, in_path, plugins, version};
use super::super::shared_memory::SharedMemory;
use super::super::wire::{self, control};
use super::machine::{self, Start};
use anyhow::{Context, Result, bail};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Its command.
pub(crate) const NAME: &str = "qemu-system-aarch64";
/// How the engine is installed.
pub(crate) const INSTALL: &str =
    "apt-get install qemu-system-arm (Debian 12: better with -t bookworm-backports)";
/// Processor models, best first.
const CPUS: &[&str] = &["neoverse-n2", "neoverse-n1", "max,sve=off"];
/// MiB of memory that the kernel of the trial gets.
const TRIAL_MEMORY: u32 = 64;
/// `PSCI SYSTEM_OFF` by a hypervisor call: movz w0, #8; movk w0, #0x8400, lsl #16; hvc #0; b .
const TRIAL_KERNEL: [u32; 4] = [0x5280_0100, 0x72b0_8000, 0xd400_0002, 0x1400_0000];

/// The engine given, or the one in `PATH`, if it works.
pub(super) fn find(given: Option<&Path>) -> Result<Engine> {
    let Some(path) = given.map(Path::to_path_buf).or_else(|| in_path(NAME)) else {
        bail!(
            "no {NAME} in PATH, which runs the system while it is recorded: {INSTALL}, or name one with --engine"
        );
    };
    let plugins = plugins();
    if plugins.is_empty() {
        bail!(
            "the recording plugin is not built: `{BUILD_PLUGIN}`, for QEMU 9.1 and later `{BUILD_PLUGIN_V2}`"
        );
    }
    probe(&path, &plugins).with_context(|| format!("{} cannot record", path.display()))
}

/// Runs a tiny kernel under the engine with each plugin until one records.
pub(crate) fn probe(path: &Path, plugins: &[PathBuf]) -> Result<Engine> {
    let version = version(path)?;
    let help = said(Command::new(path).arg("-help"))?;
    if !help.contains("-plugin") {
        bail!("this build has no -plugin option");
    }
    let offered = said(Command::new(path).args(["-M", "virt", "-cpu", "help"]))?;
    let has = |cpu: &&str| {
        let name = cpu.split(',').next().unwrap_or(cpu);
        offered.split_whitespace().any(|word| word == name)
    };
    let cpus: Vec<&str> = CPUS.iter().copied().filter(has).collect();
    if cpus.is_empty() {
        bail!("it plays no AArch64 processor");
    }
    let mut kernel = tempfile::NamedTempFile::new().context("cannot write a temporary file")?;
    let bytes: Vec<u8> = TRIAL_KERNEL.iter().flat_map(|word| word.to_le_bytes()).collect();
    kernel.write_all(&bytes).context("cannot write a temporary file")?;
    let mut reasons = Vec::new();
    for plugin in plugins {
        let mut memory = SharedMemory::create()?;
        let engine = Engine {
            path: path.to_path_buf(),
            version: version.clone(),
            plugin: plugin.clone(),
            api: (0, 0),
            cpus: cpus.clone(),
        };
        let mut command =
            machine::command(&engine, engine.default_cpu(), &memory, TRIAL_MEMORY, Start::Boot);
        let output = command.arg("-kernel").arg(kernel.path()).output();
        let output = output.with_context(|| format!("cannot run {}", path.display()))?;
        let has_recorded = memory.control(control::STREAMS)? > 0;
        if memory.control(control::MAGIC)? == wire::MAGIC && has_recorded {
            let api = (memory.control(control::API_MIN)?, memory.control(control::API_MAX)?);
            return Ok(Engine { api, ..engine });
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next().unwrap_or("no word of why");
        reasons.push(format!("{}: {said}", plugin.display()));
    }
    bail!(
        "it accepts none of the plugin builds ({}); for QEMU 9.1 and later: `{BUILD_PLUGIN_V2}`",
        reasons.join("; ")
    )
}

fn said(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("cannot run {name}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
