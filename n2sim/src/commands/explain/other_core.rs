//! `n2sim explain EVENT --core CORE`: the counterpart of an event on another core.

use std::io::{self, Write};

use sim_core::pmu_event::EventNameError;
use sim_core::{A53Event, CoreDescription, PmuEvent};
use sim_pmu::identification::is_countable;
use sim_pmu::other_core::CORTEX_A53;
use sim_pmu::{CommonEventWord, OtherCore, OtherEvent, Presence};

use crate::commands::list;
use crate::shared_args::CoreName;

/// An event number, with its event in the Neoverse N2.
struct Explained {
    code: u16,
    here: Option<PmuEvent>,
}

/// Writes the names of the event on both cores.
pub(super) fn write(out: &mut impl Write, name: &str, core: CoreName) -> anyhow::Result<()> {
    match (core.other(), core.related()) {
        (Some(other), _) => {
            let event = find(name, Some(&other))?;
            write_here(out, &event)?;
            Ok(write_there(out, &event, &other)?)
        }
        (None, Some(related)) => write_related(out, name, related),
        (None, None) => anyhow::bail!("--core {}: its events are not known", core.name()),
    }
}

/// Writes the event of the Neoverse N2, and whether a core with events of the same numbers has it.
fn write_related(out: &mut impl Write, name: &str, core: &CoreDescription) -> anyhow::Result<()> {
    let event = match PmuEvent::from_name(name) {
        Ok(event) => event,
        Err(EventNameError::NotModeled(name, code)) => {
            let has = core.unmodeled().any(|event| event.code == code);
            writeln!(out, "  r{code:04x}  {name}: a trace or trigger event, not modeled")?;
            return Ok(write_presence(out, core, name, code, has)?);
        }
        Err(error) => return Err(error.into()),
    };
    write_here(out, &Explained { code: event.code(), here: Some(event) })?;
    write_presence(out, core, event.mnemonic(), event.code(), core.has(event))?;
    if core.has(event) && event.never_counts() && !core.is_n2() {
        writeln!(out, "  that it stays 0 is known of the Neoverse N2 only")?;
    }
    Ok(())
}

fn write_presence(
    out: &mut impl Write,
    core: &CoreDescription,
    name: &str,
    code: u16,
    has: bool,
) -> io::Result<()> {
    match has {
        true => writeln!(
            out,
            "on {}: {name}, 0x{code:02X}, in Arm's telemetry data of that core; no timing model yet",
            core.name
        ),
        false => writeln!(
            out,
            "on {}: Arm's telemetry data of that core has no event 0x{code:02X}",
            core.name
        ),
    }
}

/// Writes the bit of the identification registers that shows that the core has the event.
pub(super) fn write_identification(out: &mut impl Write, code: u16) -> io::Result<()> {
    let Some((word, bit)) = CommonEventWord::place(code) else { return Ok(()) };
    let value = u8::from(is_countable(code));
    let (register, place) = word.aarch64_place(bit);
    let short = word.name();
    writeln!(out, "identified by: {register} bit {place}, {value} (AArch32: {short} bit {bit})")
}

/// Finds an event by its name on either core, or by a number.
fn find(name: &str, core: Option<&OtherCore>) -> Result<Explained, EventNameError> {
    let there = core.and_then(|core| core.from_mnemonic(name)?.code);
    let here = match there {
        Some(code) => PmuEvent::from_code(u32::from(code)),
        None => PmuEvent::from_name(name),
    };
    match (here, there) {
        (Ok(event), _) => Ok(Explained { code: event.code(), here: Some(event) }),
        (Err(_), Some(code)) => Ok(Explained { code, here: None }),
        (Err(EventNameError::UnknownCode(code)), None) if core.is_some() => {
            let small = u16::try_from(code).map_err(|_| EventNameError::UnknownCode(code))?;
            Ok(Explained { code: small, here: None })
        }
        // Linux names the events that have no mnemonic.
        (Err(error), None) => match A53Event::from_linux_name(name) {
            Some(event) if core.is_some_and(|core| core.name == CORTEX_A53.name) => {
                Ok(Explained { code: event.code(), here: None })
            }
            _ => Err(error),
        },
    }
}

fn write_here(out: &mut impl Write, event: &Explained) -> io::Result<()> {
    let Some(here) = event.here else {
        return writeln!(out, "event 0x{:02X}: not on the Neoverse N2", event.code);
    };
    writeln!(out, "  r{:04x}  {}  {}", event.code, here.perf_name(), here.info().title)?;
    list::write_details(out, here)?;
    if CommonEventWord::place(event.code).is_some() {
        write!(out, "           ")?;
    }
    write_identification(out, event.code)
}

fn write_there(out: &mut impl Write, event: &Explained, core: &OtherCore) -> io::Result<()> {
    let code = event.code;
    match core.presence(code) {
        Presence::There(there) => write_other(out, event, there, core),
        Presence::Absent => {
            write!(out, "on {}: no event has the number 0x{code:02X}", core.name)?;
            match CommonEventWord::place(code) {
                Some((word, bit)) => {
                    let (register, place) = word.aarch64_place(bit);
                    writeln!(out, "; {register} bit {place} is 0 ({} bit {bit})", word.name())
                }
                None => writeln!(out),
            }
        }
        Presence::Unknown => {
            writeln!(out, "on {}: not known, {} does not say", core.name, core.source)
        }
    }
}

fn write_other(
    out: &mut impl Write,
    event: &Explained,
    there: &OtherEvent,
    core: &OtherCore,
) -> io::Result<()> {
    let name = list::other_name(core, there);
    writeln!(out, "on {}: {name}, 0x{:02X}, {}", core.name, event.code, there.title)?;
    let bit = |bit: Option<u8>| bit.map_or(String::from("none"), |bit| format!("bit {bit}"));
    writeln!(out, "  event bus: {}; trace bus: {}", bit(there.bus_bit), bit(there.trace_bit))?;
    match event.here {
        Some(here) if there.mnemonic == Some(here.mnemonic()) => {}
        Some(here) => writeln!(out, "  the same number is {} here", here.mnemonic())?,
        None => {}
    }
    let own = A53Event::from_code(event.code).filter(|_| core.name == CORTEX_A53.name);
    match own.and_then(sim_a53::event::never_raised) {
        Some(reason) => writeln!(out, "  0 in every run of n2sim: {reason}"),
        None => Ok(()),
    }
}
