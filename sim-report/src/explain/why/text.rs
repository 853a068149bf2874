//! Why an instruction raised its events, as text for a terminal.

use std::io::{self, Write};

use super::{Absent, ExplainedCourse, Reason, Why};
use crate::explain::text::wrapped;
use crate::perf_stat::grouped;

/// Columns of an event's name.
const NAME_WIDTH: usize = 24;

/// Writes all ways. Of the second and all others only what is not as in the first, and where the model raises
/// events not at all, unless it is to be `verbose`.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Write, why: &Why, verbose: bool) -> io::Result<()> {
    writeln!(out, "{}", why.subject)?;
    let (all, wrong) = (grouped(why.executions), grouped(why.on_wrong_paths));
    let ways = match why.courses.len() {
        1 => String::from("one way"),
        n => format!("{n} ways"),
    };
    match why.executions {
        1 => writeln!(out, "executed once")?,
        _ => writeln!(out, "executed {all} times, {wrong} of them on wrong paths; {ways} shown")?,
    }
    for (i, course) in why.courses.iter().enumerate() {
        let share = course.times as f64 / why.executions.max(1) as f64 * 100.0;
        let times = match course.times {
            1 => String::from("once"),
            n => format!("{} times", grouped(n)),
        };
        writeln!(out, "\n{}. {times} ({share:.1} %): {}", i + 1, course.summary)?;
        match why.courses.first() {
            Some(first) if i > 0 && !verbose => {
                write_course(out, &differing(course, first), false)?
            }
            _ => write_course(out, course, verbose)?,
        }
    }
    if why.courses.len() > 1 && !verbose {
        writeln!(out, "\nBehind way 1 only what is not as there is told; -v tells all.")?;
    }
    if why.not_shown > 0 {
        let more = grouped(why.not_shown);
        writeln!(out, "\n{more} more executions went other ways (--max-variants shows more)")?;
    }
    Ok(())
}

/// What a way has otherwise than the first.
fn differing(course: &ExplainedCourse, first: &ExplainedCourse) -> ExplainedCourse {
    let is_known = |reason: &Reason| {
        first.raised.iter().any(|known| known.event == reason.event && known.n == reason.n)
    };
    let raised = course.raised.iter().filter(|reason| !is_known(reason)).cloned().collect();
    let here = |event: &str| course.raised.iter().any(|reason| reason.event == event);
    let why_not = |event: &str| course.not_raised.iter().find(|absent| absent.event == event);
    let lacking = first.raised.iter().filter(|reason| !here(&reason.event));
    let not_raised = lacking.map(|reason| Absent {
        event: reason.event.clone(),
        because: why_not(&reason.event)
            .map_or_else(|| String::from("only in way 1"), |absent| absent.because.clone()),
    });
    let derived = course.derived.iter().filter(|name| !first.derived.contains(name));
    ExplainedCourse {
        ways: course.ways.iter().filter(|way| !first.ways.contains(way)).cloned().collect(),
        raised,
        derived: derived.cloned().collect(),
        not_raised: not_raised.collect(),
        ..course.clone()
    }
}

fn write_course(out: &mut impl Write, course: &ExplainedCourse, places: bool) -> io::Result<()> {
    for way in &course.ways {
        writeln!(out, "   way     {}", wrapped(way, 11))?;
    }
    for reason in &course.raised {
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
    if !course.derived.is_empty() {
        writeln!(out, "   so also {}", wrapped(&course.derived.join(", "), 11))?;
    }
    for absent in &course.not_raised {
        let line = format!("{:<NAME_WIDTH$}   0  {}", absent.event, absent.because);
        writeln!(out, "   not     {}", hanging(&line))?;
    }
    let lost: Vec<String> = course
        .lost_slots
        .iter()
        .map(|lost| format!("{} {}", grouped(lost.slots), lost.cause))
        .collect();
    if !lost.is_empty() {
        writeln!(out, "   slots   left empty for it: {}", wrapped(&lost.join(", "), 11))?;
    }
    Ok(())
}

/// Name and number keep their columns; the reason breaks under itself.
fn hanging(line: &str) -> String {
    let indent = 11 + NAME_WIDTH + 6;
    match line.char_indices().nth(NAME_WIDTH + 6) {
        Some((at, _)) => format!("{}{}", &line[..at], wrapped(&line[at..], indent)),
        None => line.to_owned(),
    }
}
