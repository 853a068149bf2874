//! Writes `docs/loaded-latency.md` and its figure: latency over bandwidth, bandwidth by cores and
//! the time from core to core, without and with the limits of the mesh.

mod depths;
mod page;

use anyhow::{Context, Result};
use sim_core::Cycle;
use sim_lab::membench::loaded::{self, NO_PAUSE, Pairs, Point, Supply, Work};
use sim_machine::Machine;
use sim_machine::config::{ConfigSource, MachineConfig, Profile};
use sim_report::figure::loaded::{self as figure, Curve};
use sim_tests::repository;

use depths::Depths;

/// Assignments that switch every limit of the mesh on.
const LIMITS: [&str; 4] = [
    "memory.slc.queue-entries=32",
    "memory.slc.line-hazards=true",
    "memory.mesh.link-contention=true",
    "memory.dram.write-entries=64",
];
/// Machines of the page.
const MACHINES: [Machine; 2] = [Machine::Cobalt100, Machine::Yitian710];
/// Cores of a curve, one of which chases.
const CORES: usize = 64;
/// Cycles between two lines of each stream, from low load to full load.
const PAUSES: [Cycle; 16] =
    [2000, 500, 250, 150, 100, 85, 75, 60, 50, 42, 30, 20, 12, 8, 5, NO_PAUSE];
/// Bytes of each stream of a curve that the system level cache supplies. All streams together fit
/// that of both machines.
const CURVE_BYTES: u64 = 3 << 18;
/// An L2 that never has the next line of such a stream: it is smaller, and the oldest line goes.
const SMALL_L2: [&str; 2] = ["memory.l2.size-bytes=262144", "memory.l2.replacement=lru"];
/// Caches that streams of writes fill soon, so that every modified line replaces another one.
const SMALL_CACHES: [&str; 2] = ["memory.l2.size-bytes=262144", "memory.slc.slice-bytes=65536"];
/// Bytes of each stream in the table of bandwidths, as in the published one.
const TABLE_BYTES: u64 = 4 << 20;
/// Numbers of cores in the tables of bandwidths.
const NUMBERS: [usize; 9] = [1, 2, 4, 8, 16, 32, 48, 64, 96];
/// Columns of the tables of bandwidths: the supply and the work of each core.
const COLUMNS: [(Supply, Work); 5] = [
    (Supply::Slc(TABLE_BYTES), Work::Read),
    (Supply::Dram, Work::Read),
    (Supply::Dram, Work::Update),
    (Supply::Dram, Work::Write),
    (Supply::Dram, Work::Copy),
];

/// Options of `cargo xtask loaded-latency`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print the tables and write nothing
    #[arg(long)]
    print: bool,
    /// Measure and print the tables of updates, writes and copies of one machine alone
    #[arg(long, value_name = "MACHINE")]
    writes: Option<String>,
}

/// Assignments for what the published figures of a machine see of it.
fn of_virtual_machine(machine: Machine) -> &'static [&'static str] {
    match machine {
        // 64 cores are one of two dies with four of eight channels each.
        Machine::Yitian710 => &["memory.dram.channels=4"],
        _ => &[],
    }
}

/// Returns the numbers of cores in the tables of a machine: those for which something is published.
fn numbers(machine: Machine) -> impl Iterator<Item = usize> {
    let has = move |cores: &usize| machine == Machine::Cobalt100 || !matches!(cores, 48 | 96);
    NUMBERS.into_iter().filter(has)
}

/// Results without and with the limits of the mesh.
struct Both<T> {
    free: T,
    limited: T,
}

/// Results of one machine.
struct Measured {
    machine: Machine,
    memory: Both<Vec<Point>>,
    cache: Both<Vec<Point>>,
    /// Bandwidth by [`numbers`] and [`COLUMNS`].
    bandwidths: Both<Vec<[f64; COLUMNS.len()]>>,
    pairs: Both<Pairs>,
    /// Bandwidths of the most cores by the depths of queues.
    depths: Depths,
}

/// Measures both machines and writes the page.
pub(crate) fn run(args: &Args) -> Result<bool> {
    if let Some(name) = &args.writes {
        let machine = MACHINES.into_iter().find(|machine| machine.name() == name);
        let machine = machine.with_context(|| {
            format!("--writes '{name}': the page has no such machine; use cobalt-100 or yitian-710")
        })?;
        return print_writes(machine);
    }
    let measured = MACHINES.into_iter().map(measure).collect::<Result<Vec<_>>>()?;
    let text = page::page(&measured);
    if args.print {
        println!("{text}");
        return Ok(true);
    }
    let curves = measured.iter().flat_map(|of| {
        let name = of.machine.name();
        [("memory", &of.memory), ("cache", &of.cache)].map(|(supply, both)| Curve {
            name: format!("{name}, {supply}"),
            free: both.free.clone(),
            limited: both.limited.clone(),
        })
    });
    let drawn = figure::loaded(&curves.collect::<Vec<_>>());
    for (name, text) in
        [("docs/figures/loaded-latency.svg", drawn), ("docs/loaded-latency.md", text)]
    {
        let path = repository().join(name);
        std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        println!("wrote {}", path.display());
    }
    Ok(true)
}

fn measure(machine: Machine) -> Result<Measured> {
    let configs = Both { free: config(machine, &[])?, limited: config(machine, &LIMITS)? };
    println!("{}: curves", machine.name());
    let curve = |configs: &Both<MachineConfig>, supply| {
        configs.each(|config| loaded::curve(config, CORES, supply, &PAUSES))
    };
    let small = Both {
        free: config(machine, &SMALL_L2)?,
        limited: config(machine, &[&LIMITS[..], &SMALL_L2].concat())?,
    };
    let memory = curve(&configs, Supply::Dram);
    let cache = curve(&small, Supply::Slc(CURVE_BYTES));
    println!("{}: bandwidths", machine.name());
    let of_writes = configs_of_writes(machine)?;
    let bandwidths = configs.with(&of_writes).each(|(config, of_writes)| {
        let of = |cores| {
            COLUMNS.map(|(supply, work)| {
                let config = if work == Work::Read { config } else { of_writes };
                loaded::bandwidth(config, cores, supply, work)
            })
        };
        numbers(machine).map(of).collect()
    });
    println!("{}: pairs of cores", machine.name());
    let pairs = configs.each(|config| loaded::pairs(config, CORES));
    println!("{}: depths of queues", machine.name());
    let depths = depths::measure(machine, most_cores(machine))?;
    Ok(Measured { machine, memory, cache, bandwidths, pairs, depths })
}

/// Returns the largest number of cores in the tables of a machine.
fn most_cores(machine: Machine) -> usize {
    numbers(machine).last().unwrap_or(1)
}

/// Returns the configurations for streams that write.
fn configs_of_writes(machine: Machine) -> Result<Both<MachineConfig>> {
    Ok(Both {
        free: config(machine, &SMALL_CACHES)?,
        limited: config(machine, &[&LIMITS[..], &SMALL_CACHES].concat())?,
    })
}

/// Measures and prints what streams that write depend on.
fn print_writes(machine: Machine) -> Result<bool> {
    let bandwidths = configs_of_writes(machine)?.each(|config| {
        let of = |cores| {
            COLUMNS.map(|(supply, work)| match work {
                Work::Read => 0.0,
                _ => loaded::bandwidth(config, cores, supply, work),
            })
        };
        numbers(machine).map(of).collect()
    });
    println!("{}", page::writes(machine, &bandwidths));
    let depths = depths::measure(machine, most_cores(machine))?;
    println!("{}", depths::table(&[(page::depths_title(machine), &depths)]));
    Ok(true)
}

impl<T> Both<T> {
    fn each<R>(&self, of: impl Fn(&T) -> R) -> Both<R> {
        Both { free: of(&self.free), limited: of(&self.limited) }
    }

    fn with<'a, U>(&'a self, other: &'a Both<U>) -> Both<(&'a T, &'a U)> {
        Both { free: (&self.free, &other.free), limited: (&self.limited, &other.limited) }
    }
}

fn config(machine: Machine, overrides: &[&str]) -> Result<MachineConfig> {
    let all = of_virtual_machine(machine).iter().chain(overrides);
    let overrides: Vec<String> = all.map(|text| (*text).to_owned()).collect();
    let source =
        ConfigSource { profile: Profile::Silicon, machine, file: None, overrides: &overrides };
    Ok(MachineConfig::from_document(&source.document()?)?)
}
