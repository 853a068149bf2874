//! Counts of a run on a Cortex-A53, as `perf stat` would print them, and the use of its issue
//! slots.

use std::io::{self, Write};

use sim_a53::slots::{LostTo, SLOTS};
use sim_a53::{A53CoreOutcome, A53Counts, A53Event, Slots};

use crate::perf_stat::grouped;

/// Width of the column of counts, as that of `perf stat`.
const COUNT_WIDTH: usize = 18;
/// Width of the column of causes.
const CAUSE_WIDTH: usize = 56;

/// Form of the counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum A53Format {
    /// For people.
    Text,
    /// Fields with this separator, as `perf stat -x`.
    Separated(String),
    /// One JSON object per event, as `perf stat -j`.
    Json,
}

/// Counts of one owner: all cores together, one thread, or one function.
#[derive(Clone, Debug)]
pub struct A53Owner {
    /// Kind and name of a thread or a function, such as `("thread", "sort-0")`; `None` for the sum.
    pub name: Option<(&'static str, String)>,
    /// Time for which it ran, in nanoseconds.
    pub running_ns: u64,
    /// Names of the requested events, in order, with their totals.
    pub counts: Vec<(String, u64)>,
}

impl A53Owner {
    /// Returns the counts of a function. Events have the names by which they were requested.
    /// `clock_hz` is the clock of the cores.
    pub fn of_function(
        name: &str,
        counts: &A53Counts,
        events: &[(String, A53Event)],
        clock_hz: u64,
    ) -> A53Owner {
        let cycles = counts.value(A53Event::CPU_CYCLES);
        let value = |(name, event): &(String, A53Event)| (name.clone(), counts.value(*event));
        A53Owner {
            name: Some(("function", name.to_owned())),
            running_ns: (cycles as f64 * 1e9 / clock_hz as f64) as u64,
            counts: events.iter().map(value).collect(),
        }
    }

    /// Returns the sums over all cores, or the counts of each thread of `program`. Events have the
    /// names by which they were requested. `clock_hz` is the clock of the cores.
    pub fn of(
        cores: &[A53CoreOutcome],
        events: &[(String, A53Event)],
        clock_hz: u64,
        program: Option<&str>,
    ) -> Vec<A53Owner> {
        let running = |cores: &[A53CoreOutcome]| {
            let cycles: u64 = cores.iter().map(|core| core.cycles).sum();
            (cycles as f64 * 1e9 / clock_hz as f64) as u64
        };
        let counts = |cores: &[A53CoreOutcome]| {
            let sum = |event: A53Event| cores.iter().map(|core| core.counts.value(event)).sum();
            events.iter().map(|(name, event)| (name.clone(), sum(*event))).collect()
        };
        let owner = |thread: Option<String>, cores: &[A53CoreOutcome]| A53Owner {
            name: thread.map(|name| ("thread", name)),
            running_ns: running(cores),
            counts: counts(cores),
        };
        match program {
            None => vec![owner(None, cores)],
            Some(program) => cores
                .iter()
                .map(|core| {
                    let name = format!("{program}-{}", core.stream);
                    owner(Some(name), std::slice::from_ref(core))
                })
                .collect(),
        }
    }
}

/// Writes the counts.
///
/// # Errors
/// The output cannot be written.
pub fn write_counts(
    out: &mut impl Write,
    owners: &[A53Owner],
    format: &A53Format,
) -> io::Result<()> {
    for owner in owners {
        let (owner_name, time) = (owner.name.as_ref(), owner.running_ns);
        for (name, count) in &owner.counts {
            match format {
                A53Format::Text => {
                    let owner = owner_name.map(|(_, name)| format!("{name:<24}"));
                    let (owner, count) = (owner.unwrap_or_default(), grouped(*count));
                    writeln!(out, "{owner}{count:>COUNT_WIDTH$}      {name}")?;
                }
                A53Format::Separated(separator) => {
                    if let Some((_, name)) = owner_name {
                        write!(out, "{name}{separator}")?;
                    }
                    writeln!(
                        out,
                        "{count}{separator}{separator}{name}{separator}{time}{separator}100.00{separator}{separator}"
                    )?;
                }
                A53Format::Json => {
                    let quoted = owner_name.map(|(kind, name)| {
                        format!("\"{kind}\" : {}, ", serde_json::Value::from(name.as_str()))
                    });
                    let owner = quoted.unwrap_or_default();
                    writeln!(
                        out,
                        "{{{owner}\"counter-value\" : \"{count}.000000\", \"unit\" : \"\", \"event\" : \"{name}\", \"event-runtime\" : {time}, \"pcnt-running\" : 100.00}}"
                    )?;
                }
            }
        }
    }
    Ok(())
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
