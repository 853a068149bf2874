//! Tables of the measured memory: latency over the footprint, TLB reach, bandwidth of each level,
//! each with published values of silicon.

use std::io::{self, Write};

use sim_lab::membench::bandwidth::Rate;
use sim_lab::membench::core_to_core::Handover;
use sim_lab::membench::knees::Knee;
use sim_lab::membench::latency::{self, FootprintRow, PUBLISHED_SETTING, SETTINGS, Setting};
use sim_lab::membench::target::{self, Target, Unit};
use sim_machine::MachineConfig;

/// Output format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Human-readable columns.
    Text,
    /// CSV: one line of column names, then values.
    Csv,
}

/// Returns the name of the curve of a setting.
pub fn setting_name(setting: Setting) -> String {
    let prefetch = if setting.prefetch { "on" } else { "off" };
    format!("{} pages, prefetch {prefetch}", size_name(setting.page_bytes))
}

/// Formats a size in the largest binary unit in which it has no fraction.
pub fn size_name(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let fits = |(shift, _): &(u32, &str)| bytes >= 1 << shift && bytes.is_multiple_of(1 << shift);
    match units.into_iter().find(fits) {
        Some((shift, unit)) => format!("{} {unit}", bytes >> shift),
        None => format!("{bytes} B"),
    }
}

/// Returns the unit as written after a number.
pub fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Cycles => "cycles",
        Unit::BytesPerCycle => "B/cycle",
        Unit::GigabytesPerSecond => "GB/s",
    }
}

/// Formats a published value or range.
pub fn published(target: &Target) -> String {
    let unit = unit_name(target.unit);
    if target.low == target.high {
        format!("{} {unit}", target.low)
    } else {
        format!("{}-{} {unit}", target.low, target.high)
    }
}

/// Writes the latencies.
///
/// # Errors
/// The output cannot be written.
pub fn write_latency(
    out: &mut impl Write,
    config: &MachineConfig,
    rungs: &[FootprintRow],
    form: Form,
) -> io::Result<()> {
    if form == Form::Csv {
        writeln!(out, "footprint_bytes,page_bytes,prefetch,cycles_per_load")?;
        for rung in rungs {
            for (setting, cycles) in SETTINGS.iter().zip(rung.cycles) {
                let Setting { page_bytes, prefetch } = setting;
                writeln!(out, "{},{page_bytes},{prefetch},{cycles:.3}", rung.footprint_bytes)?;
            }
        }
        return Ok(());
    }
    writeln!(out, " Load-to-use latency in cycles: random pointer chase over the footprint\n")?;
    write!(out, " {:>10}", "footprint")?;
    for setting in SETTINGS {
        write!(out, "  {:>25}", setting_name(setting))?;
    }
    writeln!(out)?;
    for rung in rungs {
        write!(out, " {:>10}", size_name(rung.footprint_bytes))?;
        for cycles in rung.cycles {
            write!(out, "  {cycles:>25.1}")?;
        }
        writeln!(out)?;
    }
    writeln!(out, "\n Published, with {}:", setting_name(PUBLISHED_SETTING))?;
    let column = SETTINGS.iter().position(|setting| *setting == PUBLISHED_SETTING);
    for (target, footprint) in latency::targets(config) {
        let rung = rungs.iter().find(|rung| rung.footprint_bytes == footprint);
        if let (Some(rung), Some(column)) = (rung, column) {
            write_target(out, &target, rung.cycles[column])?;
        }
    }
    Ok(())
}

/// Writes the cost of address translation.
///
/// # Errors
/// The output cannot be written.
pub fn write_knees(
    out: &mut impl Write,
    config: &MachineConfig,
    knees: &[Knee],
    form: Form,
) -> io::Result<()> {
    if form == Form::Csv {
        writeln!(
            out,
            "pages,cycles_per_load,packed_cycles_per_load,l1_refills_per_load,walks_per_load"
        )?;
    } else {
        let (l1, l2) = (config.memory.dtlb.entries, config.memory.l2_tlb.entries);
        writeln!(
            out,
            " One load per page of 4 KiB: L1 data TLB of {l1} entries, L2 TLB of {l2}\n"
        )?;
        let columns = ("pages", "cycles", "packed", "L1D_TLB_REFILL", "DTLB_WALK");
        let (pages, cycles, packed, refills, walks) = columns;
        writeln!(out, " {pages:>6} {cycles:>8} {packed:>8} {refills:>15} {walks:>10}  (per load)")?;
    }
    for knee in knees {
        let Knee { pages, cycles, packed_cycles, l1_refills, walks } = knee;
        match form {
            Form::Csv => {
                writeln!(out, "{pages},{cycles:.3},{packed_cycles:.3},{l1_refills:.4},{walks:.4}")?;
            }
            Form::Text => writeln!(
                out,
                " {pages:>6} {cycles:>8.2} {packed_cycles:>8.2} {l1_refills:>15.3} {walks:>10.3}"
            )?,
        }
    }
    Ok(())
}

/// Writes the read bandwidths.
///
/// # Errors
/// The output cannot be written.
pub fn write_rates(out: &mut impl Write, rates: &[Rate], form: Form) -> io::Result<()> {
    if form == Form::Csv {
        writeln!(out, "level,footprint_bytes,prefetch,bytes_per_cycle,gigabytes_per_second")?;
    } else {
        writeln!(
            out,
            " Bytes that one core reads: 16-byte loads from end to end, pages of 2 MiB\n"
        )?;
        let columns = ("level", "footprint", "prefetch", "B/cycle", "GB/s");
        let (level, footprint, prefetch, per_cycle, per_second) = columns;
        writeln!(out, " {level:<18} {footprint:>10} {prefetch:>9} {per_cycle:>8} {per_second:>8}")?;
    }
    for rate in rates {
        let (bytes, prefetch) = (rate.footprint_bytes, rate.prefetch);
        let (per_cycle, per_second) = (rate.bytes_per_cycle, rate.gigabytes_per_second);
        if form == Form::Csv {
            let level = rate.level.name();
            writeln!(out, "{level},{bytes},{prefetch},{per_cycle:.3},{per_second:.3}")?;
        } else {
            let once = if rate.level.is_read_once() { "*" } else { " " };
            let (level, size) = (rate.level.label(), size_name(bytes));
            let prefetch = if prefetch { "on" } else { "off" };
            writeln!(
                out,
                " {level:<18} {size:>10}{once}{prefetch:>9} {per_cycle:>8.2} {per_second:>8.2}"
            )?;
        }
    }
    if form == Form::Text {
        writeln!(
            out,
            "\n * read once, with nothing of it in any cache: it would fit, and comes from DRAM"
        )?;
        writeln!(out, "\n Published, with prefetch on:")?;
        for rate in rates.iter().filter(|rate| rate.prefetch) {
            write_target(out, &rate.level.target(), rate.in_unit_of_target())?;
        }
    }
    Ok(())
}

/// Writes the cost of a line that another core wrote.
///
/// # Errors
/// The output cannot be written.
pub fn write_handovers(out: &mut impl Write, handovers: &[Handover], form: Form) -> io::Result<()> {
    if form == Form::Csv {
        writeln!(out, "core,partner,cycles,nanoseconds")?;
    } else {
        writeln!(
            out,
            " Compare-and-swaps of two cores in turn, each of a line that the other wrote\n"
        )?;
        writeln!(out, " {:<10} {:>8} {:>8}", "cores", "cycles", "ns")?;
    }
    for Handover { partner, cycles, nanoseconds, .. } in handovers {
        match form {
            Form::Csv => writeln!(out, "0,{partner},{cycles:.3},{nanoseconds:.3}")?,
            Form::Text => {
                let cores = format!("0, {partner}");
                writeln!(out, " {cores:<10} {cycles:>8.1} {nanoseconds:>8.1}")?;
            }
        }
    }
    if form == Form::Text && !handovers.is_empty() {
        let mean = handovers.iter().map(|h| h.cycles).sum::<f64>() / handovers.len() as f64;
        writeln!(out, "\n Published, any two cores; the model's is the mean of these:")?;
        write_target(out, &target::CORE_TO_CORE, mean)?;
    }
    Ok(())
}

/// Writes a published value beside the model's.
pub(crate) fn write_target(out: &mut impl Write, target: &Target, model: f64) -> io::Result<()> {
    let Target { quantity, source, .. } = target;
    let (published, error) = (published(target), target.error(model) * 100.0);
    let verdict = if target.is_met_by(model) { "met" } else { "missed" };
    writeln!(
        out,
        "  {quantity:<38} {published:>15}  model {model:>7.2}  error {error:>+6.1}%  {verdict}  [{source}]"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_lab::membench::bandwidth::Level;
    use sim_machine::ConfigSource;

    fn text(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).expect("memory can be written");
        String::from_utf8(out).expect("tables are text")
    }

    fn config() -> MachineConfig {
        let document = ConfigSource::default().document().expect("the guide's profile is embedded");
        MachineConfig::from_document(&document).expect("the guide's profile is a machine")
    }

    #[test]
    fn sizes_are_exact() {
        let named = [64, 3 << 10, 96 << 20, 1 << 30].map(size_name);
        assert_eq!(named, ["64 B", "3 KiB", "96 MiB", "1 GiB"]);
    }

    #[test]
    fn the_ladder_is_held_to_what_was_published() {
        let rung =
            |footprint_bytes, last| FootprintRow { footprint_bytes, cycles: [9.0, 9.0, 9.0, last] };
        let rungs = [rung(32 << 10, 4.0), rung(16 << 20, 110.0)];
        let text = text(|out| write_latency(out, &config(), &rungs, Form::Text));
        let line =
            |name: &str| text.lines().find(|line| line.contains(name)).expect(name).to_owned();
        assert!(line("L1D load-to-use").contains("error   +0.0%  met"), "{text}");
        assert!(line("system level cache load-to-use").contains("error  +12.7%  missed"), "{text}");
        assert!(!text.contains("DRAM load-to-use"), "not measured: {text}");
    }

    #[test]
    fn csv_has_one_line_per_point() {
        let rungs = [FootprintRow { footprint_bytes: 2048, cycles: [4.0, 4.5, 4.0, 4.0] }];
        let text_of_ladder = text(|out| write_latency(out, &config(), &rungs, Form::Csv));
        assert!(text_of_ladder.contains("\n2048,4096,false,4.500\n"), "{text_of_ladder}");
        let rate = Rate {
            level: Level::Slc,
            prefetch: true,
            footprint_bytes: 1 << 24,
            bytes_per_cycle: 13.0,
            gigabytes_per_second: 35.75,
        };
        let csv = text(|out| write_rates(out, &[rate], Form::Csv));
        assert_eq!(csv.lines().nth(1), Some("SLC,16777216,true,13.000,35.750"));
        let stream = Rate { level: Level::Dram, footprint_bytes: 1_920_000, ..rate };
        let printed = text(|out| write_rates(out, &[rate, stream], Form::Text));
        assert!(printed.contains("system level cache     16 MiB        on"), "{printed}");
        assert!(printed.contains("DRAM                 1875 KiB*       on"), "{printed}");
        assert!(printed.contains("* read once, with nothing of it in any cache"), "{printed}");
    }
}
