//! The machine of a recorded system and what runs on it: the engine's options, the initial file
//! system.

use super::super::args::CaptureArgs;
use super::super::engine::Engine;
use super::super::program::Program;
use super::super::shared_memory::SharedMemory;
use super::cpio::Archive;
use super::{init, libraries};
use anyhow::{Context, Result, bail};
use sim_core::Shown;
use sim_files::Scratch;
use sim_trace::Symbol;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The kernel's command line: the console, silence, the first program, an end instead of a hang,
/// and all addresses the same in every run.
const COMMAND_LINE: &str = "console=ttyAMA0 loglevel=0 rdinit=/init panic=-1 nokaslr norandmaps";

/// The size of the machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) processors: u32,
    /// Main memory in MiB.
    pub(super) memory: u32,
}

impl Size {
    /// Returns the machine. The N2 has an interrupt controller of version 3, which one processor
    /// does not need: it keeps the engine's default.
    fn machine(self) -> &'static str {
        match self.processors {
            1 => "virt,dtb-randomness=off",
            _ => "virt,dtb-randomness=off,gic-version=3",
        }
    }
}

/// The start of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// With the first instruction of the machine.
    Boot,
    /// At the start marker.
    Marker,
    /// At an instruction.
    At(u64),
}

impl Start {
    /// Reads the user's choice: a word, an address or a function of the kernel.
    pub(super) fn parse(text: &str, functions: &[Symbol]) -> Result<Start> {
        match text {
            "boot" => return Ok(Start::Boot),
            "marker" => return Ok(Start::Marker),
            _ => {}
        }
        let address = match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16)
                .with_context(|| format!("--start {text}: not an address"))?,
            None => match functions.iter().find(|function| function.name == text) {
                Some(function) => function.addr,
                None if functions.is_empty() => bail!(
                    "--start {text}: use boot, marker, an address like 0xffff800008000000, or name \
                     the kernel's functions with --kernel-symbols"
                ),
                None => bail!("--start {text}: the kernel has no such function"),
            },
        };
        if address == 0 || !address.is_multiple_of(4) {
            bail!("--start {text}: instructions begin at multiples of 4 above 0");
        }
        Ok(Start::At(address))
    }

    /// Returns the argument for the plugin.
    fn argument(self) -> String {
        match self {
            Start::Boot => "boot".to_owned(),
            Start::Marker => "marker".to_owned(),
            Start::At(address) => format!("{address:x}"),
        }
    }
}

/// Returns the engine with the machine and the plugin; what runs on it follows.
///
/// # Errors
/// If plugin and memory cannot be handed over.
pub(super) fn command(
    engine: &Engine,
    cpu: &str,
    memory: &SharedMemory,
    size: Size,
    start: Start,
) -> Result<Command> {
    let mut plugin = engine.plugin_option(memory)?;
    plugin.push(format!(",system={}", start.argument()));
    let mut command = Command::new(&engine.path);
    command.args(["-M", size.machine(), "-cpu", cpu, "-smp", &size.processors.to_string()]);
    command.args(["-m", &size.memory.to_string()]);
    // Time is the number of executed instructions of all processors, one per nanosecond. Timers
    // therefore interrupt a recorded system as often as one that is not recorded. With this clock
    // the engine runs the processors in turn, on one thread, so every run is the same.
    command.args(["-icount", "shift=0,sleep=off", "-seed", "1"]);
    command.args(["-rtc", "base=2020-01-01,clock=vm"]);
    command.args(["-nodefaults", "-nic", "none", "-display", "none", "-monitor", "none"]);
    command.args(["-serial", "stdio", "-no-reboot", "-plugin"]);
    command.arg(plugin).stdin(Stdio::null());
    Ok(command)
}

/// The software on the machine.
#[derive(Debug)]
pub(super) struct Guest {
    kernel: PathBuf,
    /// The initial file system made for the program.
    made: Option<Scratch>,
    /// The user's initial file system.
    own: Option<PathBuf>,
    program: Option<Program>,
}

impl Guest {
    /// Checks the kernel, and makes the initial file system unless there is one.
    pub(super) fn prepare(args: &CaptureArgs, kernel: PathBuf) -> Result<Guest> {
        check_kernel(&kernel)?;
        if let Some(path) = &args.system.initrd {
            sim_files::File::open(path)
                .with_context(|| format!("cannot read the initial file system {}", path.shown()))?;
            return Ok(Guest { kernel, made: None, own: Some(path.clone()), program: None });
        }
        let program = Program::open(&args.program.command[0], args.program.sysroot.as_deref())?;
        let archive = archive(args, &program)?;
        let made = Scratch::new("n2sim-initrd", 0o600, &archive);
        let made = Some(made.context("cannot write the initial file system")?);
        Ok(Guest { kernel, made, own: None, program: Some(program) })
    }

    /// Adds what runs to the engine's options.
    pub(super) fn add_to(&self, command: &mut Command, append: Option<&str>) {
        let initrd =
            self.made.as_ref().map(Scratch::path).or(self.own.as_deref()).unwrap_or(Path::new(""));
        let line = [COMMAND_LINE, append.unwrap_or_default()].join(" ");
        command.arg("-kernel").arg(&self.kernel).arg("-initrd").arg(initrd);
        command.arg("-append").arg(line.trim_end());
    }

    /// Returns the file that gives the trace its name.
    pub(super) fn name(&self) -> &Path {
        self.program.as_ref().map_or(&self.kernel, |program| &program.path)
    }

    /// Returns the recorded command line for the trace.
    pub(super) fn command_line(&self, args: &CaptureArgs) -> Vec<String> {
        if self.program.is_some() {
            return args.program.command.clone();
        }
        let own = self.own.iter().flat_map(|path| ["--initrd".to_owned(), shown(path)]);
        ["--kernel".to_owned(), shown(&self.kernel)].into_iter().chain(own).collect()
    }

    /// Returns the program's functions. Address randomization is off, so a relocatable program is
    /// always at the same address.
    pub(super) fn symbols(&self) -> Vec<Symbol> {
        /// Two thirds of the 48-bit address space, at a multiple of the 64 KiB to which linkers
        /// align.
        const USUAL_BASE: u64 = 0xaaaa_aaaa_0000;
        self.program.as_ref().map_or_else(Vec::new, |program| program.symbols_from(USUAL_BASE))
    }

    /// Describes the end of the program, from the `status` that the first program reports.
    pub(super) fn ending(&self, status: u64) -> String {
        if self.program.is_none() || status > 0xffff {
            return format!("stop marker, x0 = {status:#x}");
        }
        match status & 0x7f {
            0 => format!("exit status {}", status >> 8),
            signal => format!("killed by signal {signal}"),
        }
    }
}

fn shown(path: &Path) -> String {
    path.shown().to_string()
}

fn check_kernel(path: &Path) -> Result<()> {
    let data = sim_files::read(path).with_context(|| format!("cannot read {}", path.shown()))?;
    let is_image = data.get(56..60) == Some(b"ARM\x64");
    // A packed image of version 6 and later ("EFI zboot"), or an older packed image, which the
    // engine unpacks.
    let is_packed = data.starts_with(b"\x1f\x8b") || data.get(4..8) == Some(b"zimg");
    if !is_image && !is_packed {
        bail!(
            "{}: not a Linux kernel for arm64 (an Image, as Debian's /boot/vmlinuz)",
            path.shown()
        );
    }
    Ok(())
}

/// Returns the initial file system: the first program, the program to record, its libraries, the
/// user's files.
fn archive(args: &CaptureArgs, program: &Program) -> Result<Vec<u8>> {
    let mut archive = Archive::default();
    for directory in ["proc", "sys", "dev", "tmp", "root"] {
        archive.directory(directory);
    }
    archive.character_device("dev/console", 5, 1);
    let name = inside(&args.program.command[0], &program.path);
    let environment = ["PATH=/usr/bin:/bin:/usr/sbin:/sbin", "HOME=/root", "TERM=dumb", "LC_ALL=C"];
    let environment = environment.map(str::to_owned);
    archive.file("init", 0o755, &init::program(&name, &args.program.command, &environment));
    archive.file(&name, 0o755, &read(&program.path)?);
    let sysroot = program.sysroot(args.program.sysroot.as_deref())?;
    if let (Some(interpreter), Some(root)) = (program.interpreter(), sysroot) {
        for (library, path) in libraries::needed(&program.path, interpreter, &root)? {
            archive.file(&library, 0o755, &read(&path)?);
        }
    }
    let stdin = args.system.stdin.as_deref().map_or_else(|| Ok(Vec::new()), read)?;
    archive.file(init::STDIN, 0o644, &stdin);
    for file in &args.system.file {
        let (outer, inner) = file.split_once('=').unwrap_or((file, file));
        let path = Path::new(outer);
        let mode = path.metadata().map_or(0o644, |metadata| metadata.permissions().mode());
        archive.file(&absolute(inner), mode, &read(path)?);
    }
    Ok(archive.finish())
}

/// Returns the program's name in the system: as the user wrote it if that is a path, else in /bin.
fn inside(typed: &str, path: &Path) -> String {
    if typed.contains('/') {
        return absolute(typed);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!("/bin/{name}")
}

/// Returns a path relative to the system's root directory.
fn absolute(path: &str) -> String {
    let parts = path.split('/').filter(|part| !matches!(*part, "" | "." | ".."));
    parts.fold(String::new(), |path, part| path + "/" + part)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    sim_files::read(path).with_context(|| format!("cannot read {}", path.shown()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_a_word_an_address_or_a_function() {
        let functions =
            [Symbol { name: "schedule".to_owned(), addr: 0xffff_8000_0810_0000, size: 64 }];
        let start = |text: &str| Start::parse(text, &functions).map_err(|error| error.to_string());
        assert_eq!(start("boot"), Ok(Start::Boot));
        assert_eq!(start("marker"), Ok(Start::Marker));
        assert_eq!(start("0x40080000"), Ok(Start::At(0x4008_0000)));
        assert_eq!(start("schedule"), Ok(Start::At(0xffff_8000_0810_0000)));
        assert!(start("sched").is_err_and(|said| said.contains("no such function")));
        assert!(start("0x2").is_err_and(|said| said.contains("multiples of 4")));
        assert!(start("0xyz").is_err_and(|said| said.contains("not an address")));
        let unknown = Start::parse("schedule", &[]).expect_err("no functions are known");
        assert!(unknown.to_string().contains("--kernel-symbols"), "{unknown}");
    }

    #[test]
    fn names_inside_begin_at_the_root() {
        assert_eq!(inside("./a/../b", Path::new("/x/a")), "/a/b");
        assert_eq!(inside("gzip", Path::new("/root/usr/bin/gzip")), "/bin/gzip");
        assert_eq!(inside("/usr/bin/gzip", Path::new("/root/usr/bin/gzip")), "/usr/bin/gzip");
    }
}
