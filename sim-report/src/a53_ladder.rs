//! Tables of the measured memory of a Cortex-A53: latency over the footprint, TLB reach, and read
//! rates, with published values of silicon.

use std::io::{self, Write};

use sim_a53::A53Config;
use sim_lab::membench::a53::{A53Knee, A53Latency, A53Rate, CURVES, ChaseOrder, TARGETS};

use crate::ladder::{Form, size_name, write_target};

/// Returns the name of a curve of the latencies.
pub fn curve_name((order, prefetch): (ChaseOrder, bool)) -> String {
    let order = match order {
        ChaseOrder::Reversed => "reversed order",
        ChaseOrder::Random => "random order",
    };
    format!("{order}, prefetch {}", on_or_off(prefetch))
}

fn on_or_off(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}

/// Writes the latencies.
///
/// # Errors
/// The output cannot be written.
pub fn write_latency(out: &mut impl Write, rows: &[A53Latency], form: Form) -> io::Result<()> {
    if form == Form::Csv {
        writeln!(out, "footprint_bytes,order,prefetch,cycles_per_load")?;
        for row in rows {
            for ((order, prefetch), cycles) in CURVES.iter().zip(row.cycles) {
                let order = format!("{order:?}").to_lowercase();
                writeln!(out, "{},{order},{prefetch},{cycles:.3}", row.footprint_bytes)?;
            }
        }
        return Ok(());
    }
    writeln!(out, " Load-to-use latency in cycles: pointer chase over the footprint\n")?;
    write!(out, " {:>10}", "footprint")?;
    for curve in CURVES {
        write!(out, "  {:>27}", curve_name(curve))?;
    }
    writeln!(out)?;
    for row in rows {
        write!(out, " {:>10}", size_name(row.footprint_bytes))?;
        for cycles in row.cycles {
            write!(out, "  {cycles:>27.1}")?;
        }
        writeln!(out)?;
    }
    writeln!(out, "\n Published, in reversed order with prefetch on:")?;
    for (target, footprint) in TARGETS {
        if let Some(row) = rows.iter().find(|row| row.footprint_bytes == footprint) {
            write_target(out, &target, row.cycles[0])?;
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
    config: &A53Config,
    knees: &[A53Knee],
    form: Form,
) -> io::Result<()> {
    if form == Form::Csv {
        writeln!(out, "pages,cycles_per_load,packed_cycles_per_load,micro_tlb_refills_per_load")?;
    } else {
        let (micro, main) = (config.memory.micro_tlb.data_entries, config.memory.main_tlb.entries);
        writeln!(
            out,
            " One load per page of 4 KiB: micro-TLB of {micro} entries, main TLB of {main}\n"
        )?;
        let columns = ("pages", "cycles", "packed", "L1D_TLB_REFILL");
        let (pages, cycles, packed, refills) = columns;
        writeln!(out, " {pages:>6} {cycles:>8} {packed:>8} {refills:>15}  (per load)")?;
    }
    for A53Knee { pages, cycles, packed_cycles, micro_tlb_refills } in knees {
        match form {
            Form::Csv => {
                writeln!(out, "{pages},{cycles:.3},{packed_cycles:.3},{micro_tlb_refills:.4}")?;
            }
            Form::Text => writeln!(
                out,
                " {pages:>6} {cycles:>8.2} {packed_cycles:>8.2} {micro_tlb_refills:>15.3}"
            )?,
        }
    }
    Ok(())
}

/// Writes the read rates.
///
/// # Errors
/// The output cannot be written.
pub fn write_rates(out: &mut impl Write, rates: &[A53Rate], form: Form) -> io::Result<()> {
    if form == Form::Csv {
        writeln!(out, "level,footprint_bytes,prefetch,bytes_per_cycle,gigabytes_per_second")?;
    } else {
        writeln!(out, " Bytes that one core reads: 16-byte loads from end to end\n")?;
        let columns = ("level", "footprint", "prefetch", "B/cycle", "GB/s");
        let (level, footprint, prefetch, per_cycle, per_second) = columns;
        writeln!(out, " {level:<8} {footprint:>10} {prefetch:>9} {per_cycle:>8} {per_second:>8}")?;
    }
    for rate in rates {
        let (level, bytes) = (rate.level.label(), rate.footprint_bytes);
        let (per_cycle, per_second) = (rate.bytes_per_cycle, rate.gigabytes_per_second);
        match form {
            Form::Csv => {
                writeln!(out, "{level},{bytes},{},{per_cycle:.3},{per_second:.3}", rate.prefetch)?;
            }
            Form::Text => {
                let (size, prefetch) = (size_name(bytes), on_or_off(rate.prefetch));
                writeln!(
                    out,
                    " {level:<8} {size:>10} {prefetch:>9} {per_cycle:>8.2} {per_second:>8.2}"
                )?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_lab::membench::a53::A53Level;

    fn text(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).expect("memory can be written");
        String::from_utf8(out).expect("tables are text")
    }

    #[test]
    fn a_latency_is_compared_with_what_was_published() {
        let row = A53Latency { footprint_bytes: 64 << 10, cycles: [26.5, 14.0, 14.0] };
        let printed = text(|out| write_latency(out, &[row], Form::Text));
        assert!(printed.contains("model   26.50  error   +0.0%  met  [sbc-bench"), "{printed}");
        assert!(!printed.contains("chase in memory"), "not measured: {printed}");
        let csv = text(|out| write_latency(out, &[row], Form::Csv));
        assert_eq!(csv.lines().nth(2), Some("65536,random,true,14.000"));
    }

    #[test]
    fn separated_rates_have_one_line_per_level() {
        let rate = A53Rate {
            level: A53Level::L2,
            prefetch: false,
            footprint_bytes: 1 << 18,
            bytes_per_cycle: 4.0,
            gigabytes_per_second: 5.652,
        };
        let csv = text(|out| write_rates(out, &[rate], Form::Csv));
        assert_eq!(csv.lines().nth(1), Some("L2,262144,false,4.000,5.652"));
        let printed = text(|out| write_rates(out, &[rate], Form::Text));
        assert!(printed.contains(" L2          256 KiB       off     4.00     5.65"), "{printed}");
    }
}
