//! `n2sim list`: prints the event table, the metrics or the configuration.

mod mesh;

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use sim_a53::{A53Config, A53Event};
use sim_core::pmu_event::{Group, NOT_MODELED, RelationKind};
use sim_core::{CoreDescription, PmuEvent};
use sim_machine::MachineConfig;
use sim_metrics::formula::Catalog;
use sim_pmu::other_core::CORTEX_A53;
use sim_pmu::{OtherCore, OtherEvent};

use crate::files::{a53_config, metric_files};
use crate::host::call;
use crate::shared_args::{CoreName, MachineArgs};
use crate::verdict::Verdict;

/// List events, metrics or the configuration
#[derive(Debug, ClapArgs)]
pub(crate) struct ListArgs {
    #[command(subcommand)]
    what: ListWhat,
}

#[derive(Debug, Subcommand)]
enum ListWhat {
    /// List the PMU events by chapters of the guide
    Events {
        /// Print what each event counts, what it does not, and its relations to others
        #[arg(long)]
        long: bool,
        /// List the events of another core, with their bits on its event bus
        #[arg(long, value_enum, value_name = "CORE", conflicts_with = "long")]
        core: Option<CoreName>,
        /// List the events of the mesh, and the reason of those that are always 0
        #[arg(long, conflicts_with_all = ["core", "long"])]
        mesh: bool,
    },
    /// Print the layout of the mesh, as the file that Arm's topdown-tool takes
    ///
    /// `topdown-tool --probe CMN --cmn-mesh-layout-input FILE` and cmn-tools read it.
    Mesh {
        /// Number of cores: the threads of a trace
        #[arg(long, value_name = "N", default_value_t = 2)]
        #[arg(value_parser = clap::value_parser!(u32).range(1..=256))]
        cores: u32,
        #[command(flatten)]
        machine: MachineArgs,
    },
    /// List the metrics with their formulas
    Metrics {
        /// Metric files, or directories of them, with further metrics
        #[arg(long, value_name = "FILE")]
        metrics: Vec<PathBuf>,
        /// Core whose metrics are listed
        #[arg(long, value_enum, value_name = "CORE", default_value_t)]
        core: CoreName,
    },
    /// Print the merged configuration with the source of every value
    Config {
        /// Core whose configuration is printed
        #[arg(long, value_enum, default_value_t)]
        core: CoreName,
        #[command(flatten)]
        machine: MachineArgs,
    },
}

/// Columns of an event's name.
const NAME_WIDTH: usize = 26;
/// Columns of a metric's name.
const METRIC_WIDTH: usize = 28;

/// Prints the requested list.
pub(crate) fn run(args: &ListArgs) -> anyhow::Result<Verdict> {
    let mut out = io::BufWriter::new(call::stdout());
    match &args.what {
        ListWhat::Events { mesh: true, .. } => mesh::write(&mut out)?,
        ListWhat::Events { core, long, .. } => {
            let core = core.unwrap_or_default();
            match (core.other(), core.related()) {
                (None, Some(related)) if !related.is_n2() => {
                    write_related_events(&mut out, related)?;
                }
                (Some(other), _) => write_other_events(&mut out, &other)?,
                _ => write_events(&mut out, *long)?,
            }
        }
        ListWhat::Mesh { cores, machine } => mesh::write_layout(&mut out, *cores, machine)?,
        ListWhat::Metrics { metrics, core } => {
            core.require_timing_model()?;
            let catalog = match core {
                CoreName::CortexA53 => metric_files::a53_catalog(metrics)?,
                _ => metric_files::catalog(metrics)?,
            };
            write_metrics(&mut out, &catalog)?;
        }
        ListWhat::Config { core, machine } => write_config(&mut out, *core, machine)?,
    }
    out.flush()?;
    Ok(Verdict::Good)
}

fn write_events(out: &mut impl Write, long: bool) -> io::Result<()> {
    for group in Group::ALL {
        writeln!(out, "{} (PMU guide {}):\n", group.title(), group.section())?;
        for event in PmuEvent::ALL.into_iter().filter(|event| event.info().group == group) {
            let (code, name) = (event.code(), event.perf_name());
            writeln!(out, "  r{code:04x}  {name:<NAME_WIDTH$} {}", event.info().title)?;
            if long {
                write_details(out, event)?;
            }
        }
        writeln!(out)?;
    }
    writeln!(out, "known from other lists of Arm, not modeled:\n")?;
    for event in NOT_MODELED {
        writeln!(out, "  r{:04x}  {}", event.code, event.mnemonic.to_ascii_lowercase())?;
    }
    Ok(())
}

/// Writes the events of a core that has events of the Neoverse N2, and those that it lacks.
fn write_related_events(out: &mut impl Write, core: &CoreDescription) -> io::Result<()> {
    let unmodeled: Vec<&str> = core.unmodeled().map(|event| event.mnemonic).collect();
    let lacking: Vec<PmuEvent> = core.lacking().collect();
    let own = PmuEvent::ALL.len() - lacking.len();
    writeln!(out, "{} (Arm's telemetry data): {} events\n", core.name, own + unmodeled.len())?;
    writeln!(
        out,
        "Numbers and names are those of the Neoverse N2. {} slots per cycle. No timing model yet: only\n\
         list, explain, lint and check know this core.\n",
        core.slots_per_cycle
    )?;
    for group in Group::ALL {
        let is_listed = |event: &PmuEvent| event.info().group == group && core.has(*event);
        let events: Vec<PmuEvent> = PmuEvent::ALL.into_iter().filter(is_listed).collect();
        if events.is_empty() {
            continue;
        }
        writeln!(out, "{}:\n", group.title())?;
        for event in events {
            let (code, name) = (event.code(), event.perf_name());
            writeln!(out, "  r{code:04x}  {name:<NAME_WIDTH$} {}", event.info().title)?;
        }
        writeln!(out)?;
    }
    if !unmodeled.is_empty() {
        let names = unmodeled.join(", ").to_ascii_lowercase();
        writeln!(out, "trace and trigger events, not modeled on any core:\n  {names}\n")?;
    }
    writeln!(out, "events of the Neoverse N2 that it lacks: {}", names(&lacking))
}

/// Writes what an event counts, what it does not, and its relations to other events.
pub(crate) fn write_details(out: &mut impl Write, event: PmuEvent) -> io::Result<()> {
    let info = event.info();
    let mut line = |label: &str, text: &str| match text.is_empty() {
        true => Ok(()),
        false => writeln!(out, "           {label}: {text}"),
    };
    line("section", info.section)?;
    line("counts", info.counts)?;
    line("not", info.excludes)?;
    for relation in info.relations {
        line(relation_label(relation.kind), &names(relation.others))?;
        if relation.others.is_empty() {
            line("note", relation_label(relation.kind))?;
        }
    }
    line("also called", &info.other_names.join(", "))
}

/// Returns the name of another core's event: the mnemonic of the manual, or the name that `perf`
/// uses on a Cortex-A53.
pub(crate) fn other_name(core: &OtherCore, event: &OtherEvent) -> &'static str {
    let of_linux = || match core.name == CORTEX_A53.name {
        true => event.code.and_then(A53Event::from_code).map(A53Event::mnemonic),
        false => None,
    };
    event.mnemonic.or_else(of_linux).unwrap_or("-")
}

/// Writes the events of another core: number, name, bits of its buses, and the event of that number
/// in the Neoverse N2.
fn write_other_events(out: &mut impl Write, core: &OtherCore) -> io::Result<()> {
    writeln!(out, "{} ({}):\n", core.name, core.source)?;
    if !core.events.is_empty() {
        writeln!(out, "  {:<8}{:<NAME_WIDTH$}bus  trace  event", "number", "name")?;
    }
    for event in core.events {
        let number = event.code.map_or(String::from("-"), |code| format!("r{code:02x}"));
        let bit = |bit: Option<u8>| bit.map_or(String::from("-"), |bit| bit.to_string());
        let name = other_name(core, event);
        let (bus, trace) = (bit(event.bus_bit), bit(event.trace_bit));
        write!(out, "  {number:<8}{name:<NAME_WIDTH$}{bus:<5}{trace:<7}{}", event.title)?;
        match event.code.map(|code| PmuEvent::from_code(u32::from(code))) {
            Some(Ok(own)) if event.mnemonic == Some(own.mnemonic()) => writeln!(out)?,
            Some(Ok(own)) => writeln!(out, " (in the Neoverse N2 {})", own.mnemonic())?,
            Some(Err(_)) => writeln!(out, " (not in the Neoverse N2)")?,
            None => writeln!(out)?,
        }
    }
    let (first, last) = core.known();
    if last < u16::MAX {
        writeln!(
            out,
            "  none of the events 0x{first:02X} to 0x{last:02X}; no others are described"
        )?;
    }
    Ok(())
}

fn names(events: &[PmuEvent]) -> String {
    events.iter().map(|event| event.perf_name()).collect::<Vec<_>>().join(", ")
}

fn relation_label(kind: RelationKind) -> &'static str {
    match kind {
        RelationKind::SumOf => "sum of",
        RelationKind::AliasOf => "the same as",
        RelationKind::SubsetOf => "at most",
        RelationKind::SupersetOf => "at least each of",
        RelationKind::ImpliedSumOf => "sum (inferred) of",
        RelationKind::ImpliedSubsetOf => "at most (inferred)",
        RelationKind::ImpliedSupersetOf => "at least (inferred) each of",
        RelationKind::Never => "stays 0 on this core",
        RelationKind::RequiresExtllc => "counts only with CPUECTLR.EXTLLC set",
        RelationKind::RequiresMte => "counts only tag-checked accesses",
        RelationKind::RequiresSpe => "counts only while statistical profiling is enabled",
        RelationKind::RequiresOddCounter => "only an odd-numbered counter counts it",
    }
}

/// Writes every metric with its formula, its unit, its description and the ground-truth value that
/// it claims.
fn write_metrics(out: &mut impl Write, catalog: &Catalog) -> io::Result<()> {
    for metric in catalog.metrics() {
        let formula = match &metric.formula {
            Ok(formula) => formula.text().to_owned(),
            Err(error) => format!("cannot be read: {error}"),
        };
        let scale = &metric.scale;
        let unit = match (scale.factor, scale.unit.as_str()) {
            (_, "") => String::from("no unit"),
            (1.0, unit) => unit.to_owned(),
            (factor, unit) => format!("times {factor}, {unit}"),
        };
        writeln!(out, "{:<METRIC_WIDTH$} {formula}", metric.name)?;
        let mut line = |text: &str| match text.is_empty() {
            true => Ok(()),
            false => writeln!(out, "{:<METRIC_WIDTH$}   {text}", ""),
        };
        line(&metric.description)?;
        line(&format!("[{unit}] {}", metric.groups.join(", ")))?;
        if let Some(claim) = &metric.claims {
            line(&format!("claims {claim}"))?;
        }
    }
    Ok(())
}

/// Writes the merged configuration, after a check that it describes a machine.
fn write_config(out: &mut impl Write, core: CoreName, machine: &MachineArgs) -> anyhow::Result<()> {
    let document = match core {
        CoreName::CortexA53 => {
            let document = a53_config::document(machine)?;
            A53Config::from_document(&document)?;
            document
        }
        _ => {
            core.require_timing_model()?;
            let document = machine.source(&machine.overrides()).document()?;
            MachineConfig::from_document(&document)?;
            document
        }
    };
    let version = env!("CARGO_PKG_VERSION");
    writeln!(out, "# n2sim {version}")?;
    writeln!(out, "# configuration {} (hash {:016x})\n", document.name(), document.hash())?;
    out.write_all(document.render().as_bytes())?;
    Ok(())
}
