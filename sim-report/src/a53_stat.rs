//! Counts of a run on a Cortex-A53, as `perf stat` would print them, and the use of its issue
//! slots.

use std::io::{self, Write};

use sim_a53::slots::{LostTo, SLOTS};
use sim_a53::{A53CoreOutcome, A53Event, Slots};
use sim_pmu::perf::{self, Status};

use crate::perf_stat::grouped;
use crate::stat::{self, Owner, Row, Section, Selected, StatReport, Thread};

/// Width of the column of counts, as that of `perf stat`.
const COUNT_WIDTH: usize = 18;
/// Width of the column of causes.
const CAUSE_WIDTH: usize = 56;

/// Returns the exact readings of some events on each core, in a run at one level: EL0, or all
/// together. An event that does not count at EL0 is not supported.
pub fn exact(cores: &[A53CoreOutcome], events: &[Selected<A53Event>]) -> Vec<Vec<perf::Reading>> {
    let of_core = |core: &A53CoreOutcome| {
        let reading = |event: &Selected<A53Event>| match event.event.levels.user {
            true => perf::Reading::exact(core.counts.value(event.event.event), core.cycles),
            false => perf::Reading { status: Status::NotSupported, ..perf::Reading::default() },
        };
        events.iter().map(reading).collect()
    };
    cores.iter().map(of_core).collect()
}

/// Returns the threads of a program, as owners of the readings of the cores.
pub fn threads(program: &str, cores: &[A53CoreOutcome]) -> Vec<Owner> {
    let thread = |core: &A53CoreOutcome| Thread { comm: program.to_owned(), stream: core.stream };
    cores.iter().map(|core| Owner::Thread(thread(core))).collect()
}

/// Readings of the events of a report.
#[derive(Clone, Copy, Debug)]
pub struct A53Counted<'a> {
    /// Names of the events, in the order of printing.
    pub names: &'a [String],
    /// Readings of each core, or of each owner.
    pub readings: &'a [Vec<perf::Reading>],
    /// Exact readings to print beside them.
    pub truth: Option<&'a [Vec<perf::Reading>]>,
    /// Owners of the readings; without them their sum is printed.
    pub owners: Option<&'a [Owner]>,
    /// Clock of the cores in Hz.
    pub clock_hz: u64,
}

impl A53Counted<'_> {
    /// Returns the report of a run of `target` whose longest core counted `cycles`.
    pub fn report(&self, target: &str, cycles: u64) -> StatReport {
        let of = |owner: Option<&Owner>, readings: &[perf::Reading], truth: Option<&[_]>| {
            let row = |(place, name): (usize, &String)| {
                let truth = truth.and_then(|truth: &[perf::Reading]| truth.get(place)?.scaled());
                // A core that has ended has no further readings.
                let reading = readings.get(place).copied().unwrap_or_default();
                Row { owner: owner.cloned(), ..Row::new(name, &reading, truth, self.clock_hz) }
            };
            self.names.iter().enumerate().map(row).collect::<Vec<Row>>()
        };
        let rows = match self.owners {
            None => {
                let (sum, truth) = (stat::sum(self.readings), self.truth.map(stat::sum));
                of(None, &sum, truth.as_deref())
            }
            Some(owners) => {
                let readings = |at: usize| self.readings.get(at).map_or(&[][..], Vec::as_slice);
                let truth = |at: usize| self.truth.map(|truth| truth[at].as_slice());
                let owner = |(at, owner)| of(Some(owner), readings(at), truth(at));
                owners.iter().enumerate().flat_map(owner).collect()
            }
        };
        StatReport {
            target: target.to_owned(),
            sections: vec![Section { title: None, rows }],
            elapsed_seconds: Some(cycles as f64 / self.clock_hz as f64),
            short_of: None,
        }
    }
}

/// Writes the use of the issue slots of all cores together.
///
/// # Errors
/// The output cannot be written.
pub fn write_slots(out: &mut impl Write, cores: &[A53CoreOutcome]) -> io::Result<()> {
    let total: u64 = cores.iter().map(|core| core.slots.total()).sum();
    let share = |slots: u64| 100.0 * slots as f64 / total.max(1) as f64;
    let sum = |of: &dyn Fn(&Slots) -> u64| cores.iter().map(|core| of(&core.slots)).sum::<u64>();
    let mut row = |title: &str, slots: u64| {
        let text = grouped(slots);
        writeln!(out, " {title:<CAUSE_WIDTH$} {text:>COUNT_WIDTH$} {:>7.2} %", share(slots))
    };
    row("Issue slots", total)?;
    row("  issued", sum(&|slots| slots.issued))?;
    for cause in LostTo::ALL {
        let lost = sum(&|slots| slots.lost(cause));
        if lost > 0 {
            row(&format!("  {}", cause.title()), lost)?;
        }
    }
    Ok(())
}

/// Writes speed in instructions per cycle, cycles with two instructions, and modeled time.
///
/// # Errors
/// The output cannot be written.
pub fn write_speed(
    out: &mut impl Write,
    cores: &[A53CoreOutcome],
    clock_hz: u64,
) -> io::Result<()> {
    let cycles: u64 = cores.iter().map(|core| core.cycles).sum();
    let instructions: u64 = cores.iter().map(|core| core.instructions).sum();
    let pairs: u64 = cores.iter().map(|core| core.two_retired).sum();
    let longest = cores.iter().map(|core| core.cycles).max().unwrap_or(0);
    let per_cycle = |count: u64| count as f64 / cycles.max(1) as f64;
    writeln!(
        out,
        "{:>COUNT_WIDTH$.3}      instructions per cycle (at most {SLOTS})",
        per_cycle(instructions)
    )?;
    writeln!(
        out,
        "{:>COUNT_WIDTH$.3}      cycles with two instructions, per cycle",
        per_cycle(pairs)
    )?;
    let seconds = longest as f64 / clock_hz as f64;
    writeln!(out, "\n {seconds:.9} seconds time elapsed (modeled)")
}
