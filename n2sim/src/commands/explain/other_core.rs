//! `n2sim explain EVENT --core CORE`: the counterpart of an event on another core.

use std::io::{self, Write};

use sim_core::PmuEvent;
use sim_core::pmu_event::EventNameError;
use sim_pmu::identification::is_countable;
use sim_pmu::{CommonEventWord, OtherCore, OtherEvent, Presence};

use crate::commands::list;

/// An event number, with its event in the Neoverse N2.
struct Explained {
    code: u16,
    here: Option<PmuEvent>,
}

/// Writes the names of the event on both cores.
pub(super) fn write(out: &mut impl Write, name: &str, core: &OtherCore) -> anyhow::Result<()> {
    let event = find(name, Some(core))?;
    write_here(out, &event)?;
    Ok(write_there(out, &event, core)?)
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
        (Err(error), None) => Err(error),
    }
}

fn write_here(out: &mut impl Write, event: &Explained) -> io::Result<()> {
    let Some(here) = event.here else {
        return writeln!(out, "event 0x{:02X}: not on the Neoverse N2", event.code);
    };
    writeln!(out, "  r{:04x}  {}  {}", event.code, here.perf_name(), here.info().title)?;
    list::write_details(out, here)?;
    write!(out, "           ")?;
    write_identification(out, event.code)?;
    Ok(())
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
    let name = there.mnemonic.unwrap_or("without a name");
    writeln!(out, "on {}: {name}, 0x{:02X}, {}", core.name, event.code, there.title)?;
    let bit = |bit: Option<u8>| bit.map_or(String::from("none"), |bit| format!("bit {bit}"));
    writeln!(out, "  event bus: {}; trace bus: {}", bit(there.bus_bit), bit(there.trace_bit))?;
    match event.here {
        Some(here) if there.mnemonic == Some(here.mnemonic()) => Ok(()),
        Some(here) => writeln!(out, "  the same number is {} here", here.mnemonic()),
        None => Ok(()),
    }
}
