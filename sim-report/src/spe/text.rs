//! SPE profile as human-readable tables.

use std::io::{self, Write};

use crate::perf_stat::grouped;
use sim_core::LINE_SHIFT;
use sim_pmu::spe::{Damage, Events};

use super::input::Input;
use super::profile::{Group, Latencies, Line, Place, Profile};

/// Fewest samples of a hot line; fewer occur by chance.
const HOT_SAMPLES: u64 = 3;
/// Most damaged places that are listed.
const DAMAGE_SHOWN: usize = 8;
/// Column headings of the histogram: the smallest latency of each column.
const OCTAVES: [&str; 12] =
    ["<2", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024", "2048+"];

/// Function that names a program counter: function and offset, and source line.
pub type Namer<'a> = dyn Fn(u64) -> String + 'a;

/// Function that names data at a virtual address, or returns `None` for an unknown variable.
pub type DataNamer<'a> = dyn Fn(u64) -> Option<String> + 'a;

/// Profile with its source.
pub struct Report<'a> {
    /// Parts of the file.
    pub input: &'a Input,
    /// Damaged places in the file: the offset of the buffer, and the damage in it.
    pub damage: &'a [(usize, Damage)],
    /// Sums of the profile.
    pub profile: &'a Profile,
    /// Function that names program counters.
    pub name: &'a Namer<'a>,
    /// Function that names data.
    pub data: &'a DataNamer<'a>,
    /// Most rows of the tables of instructions and lines.
    pub top: usize,
}

/// Writes all tables.
///
/// # Errors
/// Fails if `out` cannot be written.
pub fn write(out: &mut impl Write, report: &Report<'_>) -> io::Result<()> {
    let Report { input, damage, profile, .. } = report;
    let buffers = counted(input.buffers.len() as u64, "buffer");
    writeln!(out, "{} in {buffers}", counted(profile.records, "sampled operation"))?;
    if let Some(period) = input.period {
        writeln!(out, "sampled every {} operations, as set in perf", grouped(period))?;
    }
    if input.flagged_collision > 0 {
        let flagged = counted(input.flagged_collision, "buffer");
        writeln!(out, "samples collided in {flagged}: some selected operations are missing")?;
    }
    if input.flagged_truncated > 0 {
        let flagged = counted(input.flagged_truncated, "buffer");
        writeln!(out, "records were lost at the end of {flagged}: the buffer was full")?;
    }
    if profile.unknown_packets > 0 {
        let unknown = counted(profile.unknown_packets, "packet");
        writeln!(out, "{unknown} of unknown kinds skipped")?;
    }
    write_damage(out, damage)?;
    if profile.records == 0 {
        return Ok(());
    }
    write_events(out, profile)?;
    write_latencies(out, profile)?;
    write_histogram(out, profile)?;
    write_places(out, report)?;
    write_lines(out, report)
}

/// Writes the damaged places, the first ones in full.
fn write_damage(out: &mut impl Write, damage: &[(usize, Damage)]) -> io::Result<()> {
    for (start, damage) in damage.iter().take(DAMAGE_SHOWN) {
        let (at, skipped) = (start + damage.offset, damage.to - damage.from);
        let skipped = counted(skipped as u64, "byte");
        writeln!(out, "damaged at byte {at} of the file: {}; {skipped} skipped", damage.fault)?;
    }
    if damage.len() > DAMAGE_SHOWN {
        writeln!(out, "and {} more damaged places", damage.len() - DAMAGE_SHOWN)?;
    }
    Ok(())
}

fn write_events(out: &mut impl Write, profile: &Profile) -> io::Result<()> {
    writeln!(out, "\n{:<18}{:>12}{:>9}", "events", "samples", "share")?;
    for (bit, count) in profile.events.iter().enumerate().filter(|(_, count)| **count > 0) {
        let name: String = Events(1 << bit).names().collect();
        let share = percent(*count, profile.records);
        writeln!(out, "{name:<18}{:>12}{share:>9}", grouped(*count))?;
    }
    Ok(())
}

fn write_latencies(out: &mut impl Write, profile: &Profile) -> io::Result<()> {
    writeln!(
        out,
        "\n{:<24}{:>12}{:>9}{:>9}{:>9}{:>7}{:>7}{:>7}",
        "cycles, dispatch to", "samples", "share", "issued", "done", "50%", "90%", "99%"
    )?;
    for (group, total) in &profile.total {
        let samples = total.samples();
        let issue = profile.issue_cycles.get(group).copied().unwrap_or(0);
        writeln!(
            out,
            "{:<24}{:>12}{:>9}{:>9.1}{:>9.1}{:>7}{:>7}{:>7}",
            group.name(),
            grouped(samples),
            percent(samples, profile.records),
            issue as f64 / samples.max(1) as f64,
            total.mean(),
            total.percentile(0.5),
            total.percentile(0.9),
            total.percentile(0.99)
        )?;
    }
    let walks = profile.with_event(Events::TLB_WALK);
    let translation = &profile.translation;
    if translation.samples() > 0 {
        let (mean, most) = (translation.mean(), translation.percentile(1.0));
        let walks = counted(walks, "walk");
        writeln!(out, "translation: {mean:.1} cycles, at most {most}; {walks}")?;
    }
    Ok(())
}

fn write_histogram(out: &mut impl Write, profile: &Profile) -> io::Result<()> {
    write!(out, "\n{:<24}", "samples by cycles")?;
    OCTAVES.iter().try_for_each(|octave| write!(out, "{octave:>9}"))?;
    writeln!(out)?;
    let loads = |group: &Group| matches!(group, Group::Load(_) | Group::Store);
    for (group, total) in profile.total.iter().filter(|(group, _)| loads(group)) {
        write!(out, "{:<24}", group.name())?;
        for count in Latencies::octaves(total) {
            let shown = if count == 0 { String::from(".") } else { grouped(count) };
            write!(out, "{shown:>9}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn write_places(out: &mut impl Write, report: &Report<'_>) -> io::Result<()> {
    let profile = report.profile;
    writeln!(
        out,
        "\n{:>9}{:>9}{:>9}{:>9}{:>9}  hottest instructions",
        "samples", "share", "cycles", "refills", "mispred"
    )?;
    for (pc, place) in profile.hot_places(report.top) {
        let Place { samples, cycles, refills, mispredicted } = place;
        writeln!(
            out,
            "{:>9}{:>9}{:>9.1}{:>9}{:>9}  {pc:#x} {}",
            grouped(samples),
            percent(samples, profile.records),
            cycles as f64 / samples.max(1) as f64,
            percent(refills, samples),
            percent(mispredicted, samples),
            (report.name)(pc)
        )?;
    }
    Ok(())
}

fn write_lines(out: &mut impl Write, report: &Report<'_>) -> io::Result<()> {
    let mut lines = report.profile.hot_lines(report.top);
    lines.retain(|(_, line)| line.samples() >= HOT_SAMPLES);
    let all = report.profile.lines.values();
    let rare = all.filter(|line| line.samples() < HOT_SAMPLES).count() as u64;
    if lines.is_empty() && rare == 0 {
        return Ok(());
    }
    if lines.is_empty() {
        let rare = counted(rare, "line");
        return writeln!(
            out,
            "\nno hot lines: {rare} of 64 bytes, with fewer than {HOT_SAMPLES} samples each"
        );
    }
    writeln!(
        out,
        "\n{:>9}{:>9}{:>9}{:>9}{:>9}  hottest lines of 64 bytes",
        "loads", "stores", "cycles", "refills", "shared"
    )?;
    for (number, line) in lines {
        let Line { loads, stores, refills, from_others, cycles, virtual_address } = line;
        let name = virtual_address.and_then(|address| (report.data)(address)).unwrap_or_default();
        let address = format!("{:#x} {name}", number << LINE_SHIFT);
        writeln!(
            out,
            "{:>9}{:>9}{:>9.1}{:>9}{:>9}  {}",
            grouped(loads),
            grouped(stores),
            cycles as f64 / loads.max(1) as f64,
            percent(refills, loads + stores),
            percent(from_others, loads),
            address.trim_end()
        )?;
    }
    if rare > 0 {
        writeln!(out, "and {} with fewer than {HOT_SAMPLES} samples each", counted(rare, "line"))?;
    }
    Ok(())
}

/// Formats a number with its noun: `1 buffer`, `2 buffers`.
fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.2}%", 100.0 * part as f64 / whole.max(1) as f64)
}
