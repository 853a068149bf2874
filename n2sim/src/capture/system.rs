//! `n2sim capture --system`: records a whole system, the kernel and one program in it, under QEMU's
//! system emulation.
//!
//! The machine does the same in every run. It has no outside world, random numbers from a fixed
//! seed, and processors that run in turn. The instructions of all processors are its clock.

mod cpio;
pub(crate) mod ending;
mod engine;
mod init;
mod libraries;
mod machine;
mod pages;
mod symbols;
mod words;

use ending::SystemStream;
pub(crate) use engine::{INSTALL, NAME, probe};

use super::account::{self, PluginTally, Stopwatch};
use super::args::CaptureArgs;
use super::output::Output;
use super::recorder::Recorder;
use super::session::{self, End};
use super::setup::{default_output, machine_of, say};
use super::shared_memory::SharedMemory;
use super::wire::{self, control};
use crate::host::signals::Keeper;
use anyhow::{Context, Result, bail};
use machine::{Guest, Size, Start};
use sim_core::Shown;
use sim_trace::{MachineInfo, Meta, TraceWriter, WriterOptions};

/// Oldest plugin interface with register values and a count for each processor.
const REGISTERS_API: u64 = 3;

/// Records a system and prints a summary to stderr.
///
/// # Errors
///
/// If the engine, the plugin, the kernel or the program is missing or unfit, or the trace cannot be
/// written.
pub(crate) fn run(args: &CaptureArgs) -> Result<u8> {
    let kernel = args.system.kernel.clone().context("--system needs --kernel IMAGE")?;
    let kernel_symbols = match &args.system.kernel_symbols {
        Some(path) => symbols::read(path)?,
        None => Vec::new(),
    };
    let start = Start::parse(&args.system.start, &kernel_symbols)?;
    check_skip(args)?;
    let guest = Guest::prepare(args, kernel)?;
    let engine = engine::find(args.program.engine.as_deref())?;
    let cpu = args.program.cpu.as_deref().unwrap_or_else(|| engine.default_cpu()).to_owned();
    let name = format!("{} ({})", engine.path.shown(), engine.version);
    check_api(args.system.processors, engine.api.1, &name)?;
    let size = Size { processors: args.system.processors, memory: args.system.memory };
    let mut memory = SharedMemory::create()?;
    let mut command = machine::command(&engine, &cpu, &memory, size, start)?;
    guest.add_to(&mut command, args.system.append.as_deref());

    let stopwatch = Stopwatch::start();
    let path = args.output.clone().unwrap_or_else(|| default_output(guest.name()));
    let (oldest, newest) = engine.api;
    let meta = Meta {
        producer: concat!("n2sim capture ", env!("CARGO_PKG_VERSION")).to_owned(),
        command: guest.command_line(args),
        engine: format!("{}, system mode, plugin API {oldest} to {newest}", engine.version),
        recipe: args.recipe.clone(),
        machine: MachineInfo { full_system: true, ..machine_of(&cpu) },
        cpu,
        ..Meta::default()
    };
    let options = WriterOptions { level: args.level, ..WriterOptions::default() };
    // Held to the end, so that a signal loses no part of the trace.
    let _keeper = Keeper::for_all();
    let trace = TraceWriter::record(&path, meta, options)?;
    let mut output = Output { trace, skip: args.skip };
    let mut recorder = Recorder::default();
    recorder.shared.system = Some(SystemStream::default());
    let limit = args.limit.unwrap_or(u64::MAX);
    let end = session::record(&mut command, &mut memory, &mut recorder, &mut output, limit)?;
    check_recorded(args.system.processors, &mut memory)?;
    if output.trace.instructions() == 0 {
        bail!("nothing was recorded: {}", nothing_recorded(args, &mut memory, &end)?);
    }
    finish(&guest, kernel_symbols, output, recorder, &mut memory, &end, &path, &stopwatch)
}

/// Refuses to skip instructions of several processors.
fn check_skip(args: &CaptureArgs) -> Result<()> {
    let processors = args.system.processors;
    if processors > 1 && args.skip > 0 {
        bail!(
            "--skip {} with --processors {processors}: the skipped instructions of each processor \
             would differ from one recording to the next; use --start",
            args.skip
        );
    }
    Ok(())
}

/// Refuses several processors with an engine whose newest plugin interface, `api`, is too old.
fn check_api(processors: u32, api: u64, engine: &str) -> Result<()> {
    if processors > 1 && api < REGISTERS_API {
        bail!(
            "--processors {processors}: {engine} gives no register values, which show interrupts; \
             record one processor, or use QEMU 9.1 or later"
        );
    }
    Ok(())
}

/// Refuses a recording of several processors that lacks their registers or confuses them.
fn check_recorded(processors: u32, memory: &mut SharedMemory) -> Result<()> {
    if processors == 1 || memory.control(control::MAGIC)? != wire::MAGIC {
        return Ok(());
    }
    if memory.control(control::UNKNOWN_PROCESSOR)? == 1 {
        bail!(
            "--processors {processors}: the engine does not show which processor runs; record one \
             processor, or use another build of QEMU"
        );
    }
    let has_run = memory.control(control::STREAMS)? > 0;
    if has_run && memory.control(control::HAS_REGISTERS)? == 0 {
        bail!(
            "--processors {processors}: the engine gives no register values, which show \
             interrupts; record one processor, or use another build of QEMU"
        );
    }
    Ok(())
}

/// Returns the reason why a recording is empty.
fn nothing_recorded(args: &CaptureArgs, memory: &mut SharedMemory, end: &End) -> Result<String> {
    let ending = account::ending(end);
    if memory.control(control::MAGIC)? != wire::MAGIC {
        return Ok(format!("the engine did not start the recording plugin ({ending})"));
    }
    if memory.control(control::BEGUN)? == 1 {
        return Ok(format!("the system ended before --skip {} instructions ({ending})", args.skip));
    }
    Ok(format!(
        "the system ended before it came to the start, {} ({ending}); \
         `--append \"loglevel=8\"` shows what the kernel says",
        args.system.start
    ))
}

/// Completes the description of the trace, and its file.
#[allow(clippy::too_many_arguments, reason = "all that a recording leaves")]
fn finish(
    guest: &Guest,
    mut kernel_symbols: Vec<sim_trace::Symbol>,
    mut output: Output,
    recorder: Recorder,
    memory: &mut SharedMemory,
    end: &End,
    path: &std::path::Path,
    stopwatch: &Stopwatch,
) -> Result<u8> {
    let plugin = PluginTally::read(memory)?;
    let has_registers = memory.control(control::HAS_REGISTERS)? == 1;
    let mut shared = recorder.shared;
    let system = shared.system.take().unwrap_or_default();
    let mut gaps = account::gaps(&shared.tally, &plugin, end);
    let tally = system.tally;
    // A kernel has very many functions.
    kernel_symbols.retain(|symbol| {
        let last = symbol.addr + symbol.size.saturating_sub(1);
        [symbol.addr, last].iter().any(|addr| system.pages.is_kernel_code(*addr))
    });
    let (map, remarks) = system.pages.map();
    gaps.extend(remarks);
    if !has_registers {
        gaps.push(
            "the engine gives no register values: syndromes, operands of TLBI, DC and IC, and \
             values written to TTBR and CONTEXTIDR are absent"
                .to_owned(),
        );
    }
    gaps.push(
        "table walks are the engine's own: which tables they read is not recorded".to_owned(),
    );
    if let Some(map) = map {
        output.trace.page_map(&map)?;
    }
    let meta = output.trace.meta_mut();
    meta.symbols = symbols::merge(guest.symbols(), kernel_symbols);
    meta.gaps.clone_from(&gaps);
    meta.lacks = account::lacks(&shared.tally);
    if !has_registers {
        // A kernel always maintains its TLBs.
        meta.lacks.push(sim_trace::MissingData::Maintenance);
        meta.lacks.sort_unstable();
        meta.lacks.dedup();
    }
    let operands = if has_registers { "all, as in the registers" } else { "none known" };
    meta.notes.insert(sim_trace::OPERANDS.to_owned(), operands.to_owned());
    let ending = match memory.control(control::DONE)? {
        1 => guest.ending(memory.control(control::DONE_VALUE)?),
        _ => account::ending(end),
    };
    meta.notes.insert("program-end".to_owned(), ending.clone());
    let written = output.trace.finish().context("the trace could not be completed")?;
    let times = stopwatch.elapsed();
    say(&account::system_summary(path, &tally, &written, &ending, times, &gaps));
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_processors_need_an_engine_with_register_values() {
        let refusal = |processors, api| check_api(processors, api, "qemu 9.0").err();
        assert!(refusal(1, 2).is_none() && refusal(2, 3).is_none());
        let said = refusal(2, 2).expect("it is refused").to_string();
        assert!(said.contains("qemu 9.0 gives no register values"), "{said}");
    }
}
