//! `n2sim explain --why`: explains why an instruction of a trace, or a step of a scenario, raised
//! its events.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};
use sim_asm::disassembly;
use sim_core::{PmuEvent, TraceInst};
use sim_report::Symbols;
use sim_report::explain::why::{InstObserver, Observed, Setting, Why, explain, text};
use sim_scenario::{self as scenario, Case, configure, walk_case};
use sim_trace::TraceFile;

use super::{ExplainArgs, on_trace};
use crate::files::open_trace;
use crate::host::progress;
use sim_core::Shown;

/// Explains the instruction or step at this place.
pub(super) fn write(out: &mut impl Write, args: &ExplainArgs, place: &str) -> anyhow::Result<()> {
    if args.max_variants == 0 {
        bail!("--max-variants 0: give at least one variant to show");
    }
    let why = match place.rsplit_once('@') {
        Some((trace, pc)) => of_instruction(args, Path::new(trace), pc)?,
        None => of_step(args, place)?,
    };
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &why)?;
        return Ok(writeln!(out)?);
    }
    Ok(text::write(out, &why, args.verbose, args.code)?)
}

fn of_instruction(args: &ExplainArgs, trace: &Path, place: &str) -> anyhow::Result<Why> {
    let session = open_trace::with(trace, &args.machine)?;
    let symbols = crate::files::symbols::load(session.trace(), &[])?;
    let pc = address(place, &symbols)?;
    let Some(word) = word_at(session.trace(), pc) else {
        bail!(
            "{}: no instruction at {pc:#x} was recorded{}",
            trace.shown(),
            nearest(session.trace(), pc)
        );
    };
    let mut observer = InstObserver::new(pc);
    let options = on_trace::options(args);
    progress::with_progress(&session, &options, |progress| {
        Ok(session.run_with_sink(&options, progress, &mut observer)?)
    })?;
    let observed = observer.finish();
    if observed.variants.is_empty() {
        let part = "was not executed in this part of the trace";
        bail!("{}: {} {part}{}", trace.shown(), symbols.name(pc), first_of(session.trace(), pc)?);
    }
    let name = match symbols.function(pc) {
        Some(_) => format!("{pc:#x}, {}", symbols.name(pc)),
        None => format!("{pc:#x}"),
    };
    let text = disassembly::text(pc, word);
    let subject = format!("{name}: {text} (word {word:#010x}), {}", kind_of(&observed));
    Ok(explain(subject, &observed, Setting { is_step: false }, args.max_variants))
}

/// Reads an address: hexadecimal, or a function with an offset.
fn address(place: &str, symbols: &Symbols) -> anyhow::Result<u64> {
    let hexadecimal = |text: &str| {
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
        u64::from_str_radix(digits, 16).ok()
    };
    if let Some(pc) = hexadecimal(place) {
        return Ok(pc);
    }
    let named = |name: &str| {
        symbols.functions().iter().find(|function| function.name == name).map(|f| f.addr)
    };
    let pc = named(place).or_else(|| {
        let (name, distance) = place.rsplit_once('+')?;
        let distance = hexadecimal(distance).or_else(|| distance.parse().ok())?;
        named(name)?.checked_add(distance)
    });
    pc.with_context(|| {
        format!(
            "'{place}' is neither an address (0x...) nor a function of the trace (main, main+0x10)"
        )
    })
}

fn word_at(trace: &TraceFile, pc: u64) -> Option<u32> {
    trace.statics().insts().iter().find(|inst| inst.pc == pc).map(|inst| inst.word)
}

/// Returns the closest recorded instruction, for a message.
fn nearest(trace: &TraceFile, pc: u64) -> String {
    let closest = trace.statics().insts().iter().min_by_key(|inst| inst.pc.abs_diff(pc));
    closest.map_or(String::new(), |inst| format!("; the nearest one is at {:#x}", inst.pc))
}

/// Returns the place of an instruction's first execution, for a message.
fn first_of(trace: &TraceFile, pc: u64) -> anyhow::Result<String> {
    let mut batch = Vec::new();
    for stream in trace.streams() {
        let mut reader = trace.reader(stream.stream)?;
        while reader.next_batch(&mut batch)? {
            let is_here = |inst: &TraceInst| {
                let code = trace.statics().insts().get(inst.id as usize);
                code.is_some_and(|code| code.pc == pc)
            };
            if let Some(place) = batch.iter().position(is_here) {
                let number = reader.batch_start() + place as u64;
                return Ok(format!(
                    "; it is first executed as instruction {number} of thread {}: --limit {} reaches it",
                    stream.stream,
                    number + 1
                ));
            }
        }
    }
    Ok(String::from("; no thread executed it in program order"))
}

/// Returns the kind of an instruction by the events that it raises itself.
fn kind_of(observed: &Observed) -> &'static str {
    let has = |event: PmuEvent| {
        observed.variants.iter().any(|variant| variant.first.counts.raised(event) > 0)
    };
    match (has(PmuEvent::LD_SPEC), has(PmuEvent::ST_SPEC)) {
        (true, true) => "an atomic",
        (true, false) => "a load",
        (false, true) => "a store",
        _ if has(PmuEvent::BR_IMMED_SPEC) || has(PmuEvent::BR_INDIRECT_SPEC) => "a branch",
        _ if has(PmuEvent::DP_SPEC) => "an integer computation",
        _ if has(PmuEvent::ASE_SPEC) || has(PmuEvent::VFP_SPEC) || has(PmuEvent::SVE_INST_SPEC) => {
            "a vector or floating-point computation"
        }
        _ => "of another kind",
    }
}

fn of_step(args: &ExplainArgs, place: &str) -> anyhow::Result<Why> {
    let (file, name, number) = parts(place)?;
    let text = sim_files::text(Path::new(file))
        .with_context(|| format!("cannot read the scenario {file}"))?;
    let cases = scenario::parse(file, &text)?;
    let case = the_case(file, &cases, name)?;
    let overrides = args.machine.overrides();
    let config =
        configure(case, &args.machine.source(&overrides)).with_context(|| file.to_owned())?;
    let walked = walk_case(case, &config).with_context(|| file.to_owned())?;
    let Some(did) = number.checked_sub(1).and_then(|i| walked.get(i)) else {
        bail!("'{}' has the steps 1 to {}, not {number}", case.test, walked.len());
    };
    let together = if did.times > 1 { ", all its repetitions together" } else { "" };
    let (steps, step) = (walked.len(), &did.step.text);
    let subject = format!("{}, step {number} of {steps}: {step}{together}", case.test);
    Ok(explain(subject, &Observed::of_step(did), Setting { is_step: true }, args.max_variants))
}

/// Splits `FILE:CASE:STEP`, or `FILE:STEP` for a file with one case.
fn parts(place: &str) -> anyhow::Result<(&str, Option<&str>, usize)> {
    let wrong = || {
        format!("'{place}': write TRACE@0xPC, TRACE@FUNCTION+0xN, or FILE:CASE:STEP for a scenario")
    };
    let (rest, number) = place.rsplit_once(':').with_context(wrong)?;
    let number = number.parse().ok().with_context(wrong)?;
    Ok(match rest.split_once(".toml:") {
        Some((file, case)) => (&rest[..file.len() + ".toml".len()], Some(case), number),
        None => (rest, None, number),
    })
}

fn the_case<'a>(file: &str, cases: &'a [Case], name: Option<&str>) -> anyhow::Result<&'a Case> {
    match (name, cases) {
        (None, [only]) => Ok(only),
        (None, _) => bail!("{file} has {} cases: write {file}:CASE:STEP", cases.len()),
        (Some(name), _) => cases
            .iter()
            .find(|case| case.test == name)
            .with_context(|| format!("{file}: no case is called '{name}'")),
    }
}
