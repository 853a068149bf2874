//! Finds the QEMU and the build of the plugin that can record, by trying them on a program of three
//! instructions.

use super::elf;
use super::plugin::{Plugin, plugins};
use super::shared_memory::SharedMemory;
use super::wire::{self, control};
use anyhow::{Context, Result, bail};
use sim_core::Shown;
use sim_files::Scratch;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Names under which a user-mode engine may be installed, best first.
const NAMES: &[&str] = &["qemu-aarch64", "qemu-aarch64-static"];
/// CPU models, best first; every engine has the last one.
const CPUS: &[&str] = &["neoverse-n2", "neoverse-n1", "max,sve=off"];
/// The command that installs the engine.
pub(crate) const INSTALL_ENGINE: &str = "apt-get install qemu-user";

/// The way to an engine that loads plugins where the system's package has none.
pub(crate) const BUILD_ENGINE: &str = "QEMU from source (./configure --target-list=aarch64-linux-user \
    --enable-plugins && make), then --engine build/qemu-aarch64; or a qemu-user before version 10";

/// An engine that cannot load the recording plugin.
#[derive(Debug, thiserror::Error)]
#[error("{0} has no -plugin option: distributions build qemu-user without it from version 10 on")]
pub(crate) struct NoPlugins(String);

/// An engine that can record.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    /// File of the engine.
    pub(crate) path: PathBuf,
    /// First line that the engine prints for `--version`.
    pub(crate) version: String,
    /// The plugin that it accepts.
    pub(crate) plugin: Plugin,
    /// Oldest and newest plugin interface that it supports.
    pub(crate) api: (u64, u64),
    /// Relevant CPU models that it offers.
    pub(crate) cpus: Vec<&'static str>,
}

impl Engine {
    /// Returns the first engine that works: the one given, or one in `PATH`.
    pub(crate) fn find(given: Option<&Path>) -> Result<Engine> {
        let candidates = match given {
            Some(path) => vec![path.to_path_buf()],
            None => installed(),
        };
        if candidates.is_empty() {
            bail!(
                "no qemu-aarch64 in PATH, which runs the program while it is recorded: \
                 `{INSTALL_ENGINE}` (Debian, Ubuntu), or name one with --engine"
            );
        }
        let plugins = plugins();
        let mut reasons = Vec::new();
        for path in &candidates {
            match probe(path, &plugins) {
                Ok(engine) => return Ok(engine),
                Err(error) => reasons.push(format!("{}: {error:#}", path.shown())),
            }
        }
        bail!("no engine here can record; `n2sim doctor` says more\n  {}", reasons.join("\n  "))
    }

    /// Returns the default CPU model of a recording.
    pub(crate) fn default_cpu(&self) -> &'static str {
        self.cpus.first().copied().unwrap_or("max,sve=off")
    }

    /// Returns the command that runs a program with the plugin attached; arguments of the program
    /// follow.
    ///
    /// # Errors
    /// If plugin and memory cannot be handed over.
    pub(crate) fn command(
        &self,
        cpu: &str,
        memory: &SharedMemory,
        is_count: bool,
    ) -> Result<Command> {
        let mut plugin = self.plugin_option(memory)?;
        plugin.push(if is_count { ",mode=count" } else { ",mode=trace" });
        let mut command = Command::new(&self.path);
        command.arg("-cpu").arg(cpu).arg("-plugin").arg(plugin);
        Ok(command)
    }

    /// Returns the value of `-plugin`: the plugin and the place of its memory. The next started
    /// process inherits both.
    pub(crate) fn plugin_option(&self, memory: &SharedMemory) -> Result<OsString> {
        let mut plugin = self.plugin.option()?;
        plugin.push(format!(",memory={}", memory.hand_over()?));
        Ok(plugin)
    }
}

/// Returns the user-mode engines in `PATH`.
pub(crate) fn installed() -> Vec<PathBuf> {
    NAMES.iter().filter_map(|name| in_path(name)).collect()
}

/// Returns the file of a command in `PATH`.
pub(crate) fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|file| file.is_file())
}

/// Returns the engine's own description of itself.
pub(crate) fn version(path: &Path) -> Result<String> {
    let output = run(Command::new(path).arg("--version"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

/// Runs three instructions under the engine with each plugin until one records.
pub(crate) fn probe(path: &Path, plugins: &[Plugin]) -> Result<Engine> {
    let version = version(path)?;
    let help = run(Command::new(path).arg("-help"))?;
    if !String::from_utf8_lossy(&help.stdout).contains("-plugin") {
        bail!(NoPlugins(version));
    }
    let offered = run(Command::new(path).args(["-cpu", "help"]))?;
    let cpus = cpus_of(&String::from_utf8_lossy(&offered.stdout));
    let program = TinyProgram::write()?;
    first_that_records(path, &version, &cpus, plugins, |engine, memory| {
        let mut command = engine.command(engine.default_cpu(), memory, true)?;
        let output = run(command.arg(program.path()))?;
        let counted = memory.control(control::ENGINE_COUNT)?;
        Ok((output, counted == TinyProgram::INSTRUCTIONS))
    })
}

/// Returns the relevant CPU models among those that an engine lists.
pub(crate) fn cpus_of(listed: &str) -> Vec<&'static str> {
    let has = |cpu: &&str| {
        let name = cpu.split(',').next().unwrap_or(cpu);
        listed.split_whitespace().any(|word| word == name)
    };
    CPUS.iter().copied().filter(has).collect()
}

/// Returns the engine at `path` with the first plugin that records. `attempt` runs the engine and
/// returns whether it recorded.
pub(crate) fn first_that_records(
    path: &Path,
    version: &str,
    cpus: &[&'static str],
    plugins: &[Plugin],
    attempt: impl Fn(&Engine, &mut SharedMemory) -> Result<(Output, bool)>,
) -> Result<Engine> {
    let mut reasons = Vec::new();
    for plugin in plugins {
        let mut memory = SharedMemory::create()?;
        let engine = Engine {
            path: path.to_path_buf(),
            version: version.to_owned(),
            plugin: plugin.clone(),
            api: (0, 0),
            cpus: cpus.to_vec(),
        };
        let attempted = attempt(&engine, &mut memory);
        plugin.keep();
        let (output, has_recorded) = attempted?;
        if memory.control(control::MAGIC)? == wire::MAGIC && has_recorded {
            let api = (memory.control(control::API_MIN)?, memory.control(control::API_MAX)?);
            return Ok(Engine { api, ..engine });
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next().unwrap_or("no word of why");
        reasons.push(format!("{}: {said}", plugin.name()));
    }
    bail!("it accepts no build of the recording plugin ({})", reasons.join("; "))
}

/// Runs an engine without input.
pub(crate) fn run(command: &mut Command) -> Result<Output> {
    let name = command.get_program().to_string_lossy().into_owned();
    sim_files::output(command.stdin(Stdio::null())).with_context(|| format!("cannot run {name}"))
}

/// An AArch64 program that only exits, in a temporary file.
#[derive(Debug)]
struct TinyProgram(Scratch);

impl TinyProgram {
    const INSTRUCTIONS: u64 = 3;

    fn write() -> Result<TinyProgram> {
        let made = Scratch::new("n2sim-probe", 0o700, &TinyProgram::elf());
        Ok(TinyProgram(made.context("cannot write a temporary file")?))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns a program that exits: `mov x0, #0; mov x8, #93; svc #0`.
    fn elf() -> Vec<u8> {
        let code = elf::bytes_of(&[0xd280_0000, 0xd280_0ba8, 0xd400_0001]);
        elf::program(0x40_0000, elf::READ_EXECUTE, &code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probe_program_is_an_aarch64_executable_of_three_words() {
        let elf = TinyProgram::elf();
        assert_eq!(elf.len(), 64 + 56 + 12);
        let object = object::File::parse(&*elf).expect("it is an ELF file");
        use object::Object;
        assert_eq!(object.architecture(), object::Architecture::Aarch64);
        assert_eq!(object.entry(), 0x40_0078);
    }
}
