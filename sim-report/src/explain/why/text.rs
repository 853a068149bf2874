//! Reasons for the events of an instruction, as text for a terminal.

use std::io::{self, Write};

use super::{Absent, ExplainedVariant, Reason, Why};
use crate::explain::text::wrapped;
use crate::perf_stat::grouped;

/// Width of the column of event names.
const NAME_WIDTH: usize = 24;

/// Writes all variants. For the second and later variants it writes only the differences from the
/// first unless `verbose` is set, and places in the model only with `places`.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Write, why: &Why, verbose: bool, places: bool) -> io::Result<()> {
    writeln!(out, "{}", why.subject)?;
    let (all, wrong) = (grouped(why.executions), grouped(why.on_wrong_paths));
    let variants = match why.variants.len() {
        1 => String::from("one variant"),
        n => format!("{n} variants"),
    };
    match why.executions {
        1 => writeln!(out, "executed once")?,
        _ => {
            writeln!(out, "executed {all} times, {wrong} of them on wrong paths; {variants} shown")?
        }
    }
    for (i, variant) in why.variants.iter().enumerate() {
        let share = variant.times as f64 / why.executions.max(1) as f64 * 100.0;
        let times = match variant.times {
            1 => String::from("once"),
            n => format!("{} times", grouped(n)),
        };
        writeln!(out, "\n{}. {times} ({share:.1} %): {}", i + 1, variant.summary)?;
        match why.variants.first() {
            Some(first) if i > 0 && !verbose => {
                write_variant(out, &differing(variant, first), places)?
            }
            _ => write_variant(out, variant, places)?,
        }
    }
    if why.variants.len() > 1 && !verbose {
        writeln!(
            out,
            "\nAfter variant 1 only the differences from it are shown; -v shows everything."
        )?;
    }
    if why.not_shown > 0 {
        let more = grouped(why.not_shown);
        writeln!(out, "\n{more} more executions had other variants (--max-variants shows more)")?;
    }
    Ok(())
}

/// Returns the differences of a variant from the first one.
fn differing(variant: &ExplainedVariant, first: &ExplainedVariant) -> ExplainedVariant {
    let is_known = |reason: &Reason| {
        first.raised.iter().any(|known| known.event == reason.event && known.n == reason.n)
    };
    let raised = variant.raised.iter().filter(|reason| !is_known(reason)).cloned().collect();
    let here = |event: &str| variant.raised.iter().any(|reason| reason.event == event);
    let why_not = |event: &str| variant.not_raised.iter().find(|absent| absent.event == event);
    let lacking = first.raised.iter().filter(|reason| !here(&reason.event));
    let not_raised = lacking.map(|reason| Absent {
        event: reason.event.clone(),
        because: why_not(&reason.event)
            .map_or_else(|| String::from("only in variant 1"), |absent| absent.because.clone()),
    });
    let derived = variant.derived.iter().filter(|name| !first.derived.contains(name));
    ExplainedVariant {
        ways: variant.ways.iter().filter(|way| !first.ways.contains(way)).cloned().collect(),
        raised,
        derived: derived.cloned().collect(),
        not_raised: not_raised.collect(),
        ..variant.clone()
    }
}

fn write_variant(out: &mut impl Write, variant: &ExplainedVariant, places: bool) -> io::Result<()> {
    for way in &variant.ways {
        writeln!(out, "   path    {}", wrapped(way, 11))?;
    }
    for reason in &variant.raised {
        let place = match reason.places.as_slice() {
            _ if !places => String::new(),
            [] => String::new(),
            [one] => format!(" [{one}]"),
            [one, other] => format!(" [{one}; or {other}]"),
            [one, others @ ..] => format!(" [{one}; or {} others]", others.len()),
        };
        let line =
            format!("{:<NAME_WIDTH$} {:>3}  {}{place}", reason.event, reason.n, reason.because);
        writeln!(out, "   raised  {}", hanging(&line))?;
    }
    if !variant.derived.is_empty() {
        writeln!(out, "   so also {}", wrapped(&variant.derived.join(", "), 11))?;
    }
    for absent in &variant.not_raised {
        let line = format!("{:<NAME_WIDTH$}   0  {}", absent.event, absent.because);
        writeln!(out, "   not     {}", hanging(&line))?;
    }
    let lost: Vec<String> = variant
        .lost_slots
        .iter()
        .map(|lost| format!("{} {}", grouped(lost.slots), lost.cause))
        .collect();
    if !lost.is_empty() {
        writeln!(out, "   slots   left empty by it: {}", wrapped(&lost.join(", "), 11))?;
    }
    Ok(())
}

/// Wraps a line so that the reason continues below itself, after the columns of name and number.
fn hanging(line: &str) -> String {
    let indent = 11 + NAME_WIDTH + 6;
    match line.char_indices().nth(NAME_WIDTH + 6) {
        Some((at, _)) => format!("{}{}", &line[..at], wrapped(&line[at..], indent)),
        None => line.to_owned(),
    }
}
