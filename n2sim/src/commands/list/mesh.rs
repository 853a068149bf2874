//! `n2sim list events --mesh`: the events and watchpoints of the mesh. `n2sim list mesh`: its
//! layout.

use std::io::{self, Write};

use sim_machine::{MachineConfig, floor_plan};
use sim_pmu::cmn::events::{Event, events};
use sim_pmu::cmn::rule::Rule;
use sim_pmu::cmn::watchpoints::watchpoints;
use sim_pmu::cmn::{Layout, NodeKind, Nodes};

use crate::shared_args::MachineArgs;

/// Columns of an event's name.
const NAME_WIDTH: usize = 40;

/// Writes every event by kind of node, with the reason of those that are always 0, and the named
/// watchpoints.
pub(super) fn write(out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "Events of the mesh (CMN-700). `n2sim stat -e arm_cmn_0/NAME/` counts them for the whole machine.\n\
         Those in brackets are 0 in every run, with the reason. Arm's names end the lines.\n"
    )?;
    for kind in NodeKind::ALL {
        let own: Vec<&Event> = events().iter().filter(|event| event.node == *kind).collect();
        if own.is_empty() {
            continue;
        }
        let number = kind.number().map_or(String::new(), |number| format!(" (type={number:#x})"));
        writeln!(out, "{}{number}:\n", kind.name())?;
        for event in own {
            write_event(out, event)?;
        }
        writeln!(out)?;
    }
    writeln!(out, "watchpoints with a name of Arm's, as -e CMN_RNF_WP_TXREQ_COUNT:\n")?;
    for watchpoint in watchpoints() {
        writeln!(out, "  {:<48} {}", watchpoint.name, watchpoint.text)?;
    }
    Ok(())
}

/// Writes the layout of the mesh of a machine with some cores, as JSON.
pub(super) fn write_layout(
    out: &mut impl Write,
    cores: u32,
    machine: &MachineArgs,
) -> anyhow::Result<()> {
    let overrides = machine.overrides();
    let config = MachineConfig::from_document(&machine.source(&overrides).document()?)?;
    let percent = config.memory.mesh.core_clock_percent;
    let frequency = config.core.clock_hz as f64 * f64::from(percent) / 100.0;
    let nodes = Nodes::new(&floor_plan(&config.memory, cores as usize));
    if !nodes.has_own_identifiers() {
        anyhow::bail!(
            "nodes of so large a mesh have no identifiers: make memory.mesh.columns or rows smaller"
        );
    }
    serde_json::to_writer_pretty(&mut *out, &Layout::new(&[nodes], Some(frequency)))?;
    Ok(writeln!(out)?)
}

fn write_event(out: &mut impl Write, event: &Event) -> io::Result<()> {
    let (code, arm) = (event.code, event.arm.as_deref().unwrap_or("no name of Arm's"));
    let (name, reason) = match event.rule {
        Rule::Zero(reason) => (format!("[{}]", event.name()), format!(" {}", said(reason.text()))),
        _ => (event.name().to_owned(), String::new()),
    };
    writeln!(out, "  eventid={code:#04x} {name:<NAME_WIDTH$} {}{reason} ({arm})", event.text)
}

/// Returns a reason as a sentence.
fn said(reason: &str) -> String {
    let mut letters = reason.chars();
    let first = letters.next().map(char::to_uppercase).into_iter().flatten();
    format!("{}.", first.chain(letters).collect::<String>())
}
