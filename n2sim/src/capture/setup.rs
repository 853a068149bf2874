//! The recorded program with its engine, and the description of both in the trace.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use sim_trace::{MachineInfo, Meta};

use super::args::CaptureArgs;
use super::engine::Engine;
use super::program::Program;
use super::shared_memory::SharedMemory;
use crate::host::call;

/// CPU model of the engine with the vectors of the N2: 128 bits.
pub(crate) const SHORT_VECTORS: &str = "max,sve128=on,sve256=off";

/// The recorded program, and the engine that runs it.
pub(crate) struct Setup {
    pub(crate) program: Program,
    sysroot: Option<PathBuf>,
    pub(crate) engine: Engine,
    pub(crate) cpu: String,
}

impl Setup {
    pub(crate) fn of(args: &CaptureArgs) -> Result<Setup> {
        let program = Program::open(&args.program.command[0], args.program.sysroot.as_deref())?;
        let sysroot = program.sysroot(args.program.sysroot.as_deref())?;
        let engine = Engine::find(args.program.engine.as_deref())?;
        let default_cpu = match args.program.second_run {
            true => SHORT_VECTORS,
            false => engine.default_cpu(),
        };
        // The longest vectors of `max` are longer than those of the core.
        let asked =
            args.program.cpu.as_deref().filter(|cpu| !(args.program.second_run && *cpu == "max"));
        let cpu = asked.unwrap_or(default_cpu).to_owned();
        Ok(Setup { program, sysroot, engine, cpu })
    }

    /// Returns the command that runs the program and records it, with further `options` of the
    /// engine.
    pub(crate) fn command(
        &self,
        args: &CaptureArgs,
        memory: &SharedMemory,
        options: &[&OsStr],
    ) -> Result<Command> {
        let mut command = self.engine.command(&self.cpu, memory, args.count_only)?;
        command.args(options);
        if let Some(root) = self.sysroot.as_deref().filter(|root| *root != Path::new("/")) {
            command.arg("-L").arg(root);
        }
        // The engine would otherwise show the program its file's full path.
        command
            .arg("-0")
            .arg(&args.program.command[0])
            .arg(&self.program.path)
            .args(&args.program.command[1..]);
        Ok(command)
    }
}

pub(crate) fn meta(args: &CaptureArgs, engine: &Engine, cpu: &str) -> Meta {
    let (oldest, newest) = engine.api;
    Meta {
        producer: concat!("n2sim capture ", env!("CARGO_PKG_VERSION")).to_owned(),
        command: args.program.command.clone(),
        engine: format!("{}, user mode, plugin API {oldest} to {newest}", engine.version),
        cpu: cpu.to_owned(),
        recipe: args.recipe.clone(),
        machine: machine_of(cpu),
        ..Meta::default()
    }
}

/// Returns the properties of the engine's CPU model `cpu` that differ between models.
pub(crate) fn machine_of(cpu: &str) -> MachineInfo {
    let is_n2 = cpu.starts_with("neoverse-n2");
    let is_n1 = cpu.starts_with("neoverse-n1");
    let midr = if is_n2 {
        0x410f_d493
    } else if is_n1 {
        0x414f_d0c1
    } else {
        0
    };
    MachineInfo {
        vector_bytes: if is_n2 { 16 } else { 0 },
        // QEMU's `max` clears 512 bytes at a time.
        dc_zva_bytes: if cpu.starts_with("max") { 512 } else { 64 },
        midr,
        ..MachineInfo::default()
    }
}

pub(crate) fn default_output(program: &Path) -> PathBuf {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    PathBuf::from(format!("{name}.n2t"))
}

/// Prints a message on stderr, because stdout belongs to the recorded program.
pub(crate) fn say(text: &str) {
    // A closed stderr is no reason to lose a recording.
    let _ = call::stderr().write_all(text.as_bytes());
}
