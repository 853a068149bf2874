//! Flows for a terminal of 80 columns: boxes with their events, each followed by the edges that
//! leave it.

use std::io::{self, Write};

use sim_a53::flow::A53Account;
use sim_core::flow::Account;
use sim_machine::caveats;
use sim_trace::MissingData;

use super::chart::{Chart, ChartBox, percent};
use crate::perf_stat::grouped;

/// Width of the column of words, before the numbers.
const WORDS: usize = 58;
/// Width of the column of counts.
const COUNT: usize = 13;
/// Width of the column of shares.
const SHARE: usize = 8;
/// Width of a line of words.
const WIDTH: usize = 78;
/// Width of the name of a box, before its events.
const NAME: usize = 34;

/// Writes the flow with every box and every edge, and with its counts if known.
pub fn write_chart(out: &mut impl Write, chart: &Chart) -> io::Result<()> {
    writeln!(out, "{}", chart.heading())?;
    for (place, part) in chart.boxes.iter().enumerate() {
        write_box(out, part)?;
        for edge in chart.edges_out(place) {
            let arrow = match edge.label {
                "" => String::new(),
                label => format!("{label} "),
            };
            let words = format!("       {arrow}-> {}", chart.boxes[edge.to].title());
            let share = edge.share.map(percent).unwrap_or_default();
            match edge.taken {
                Some(taken) if !edge.label.is_empty() => {
                    let count = grouped(taken);
                    writeln!(
                        out,
                        "{}",
                        format!("{words:<WORDS$}{count:>COUNT$} {share:>SHARE$}").trim_end()
                    )?;
                }
                _ => writeln!(out, "{words}")?,
            }
        }
    }
    if !chart.left_out.is_empty() {
        let names = chart.left_out.iter().map(|name| (*name).to_owned());
        write_wrapped(out, "  not taken, not shown:", names)?;
    }
    writeln!(out)
}

fn write_box(out: &mut impl Write, part: &ChartBox) -> io::Result<()> {
    let (title, events) = (part.title(), events(part));
    match part.visits {
        None if events.is_empty() => writeln!(out, "  {title}"),
        None => writeln!(out, "  {title:<NAME$}{events}"),
        Some(visits) => {
            let count = grouped(visits);
            writeln!(out, "  {title:<width$}{count:>COUNT$}", width = WORDS - 2)?;
            if events.is_empty() { Ok(()) } else { writeln!(out, "     {events}") }
        }
    }
}

/// Writes the path that was taken: visited boxes with their events, and the decisions between them.
pub fn write_path(out: &mut impl Write, chart: &Chart) -> io::Result<()> {
    writeln!(out, "  {}", chart.heading())?;
    for (place, part) in chart.boxes.iter().enumerate() {
        let Some(visits) = part.visits.filter(|visits| *visits > 0) else { continue };
        let title = part.title() + &times(visits);
        let events = events(part);
        writeln!(out, "{}", format!("    {title:<NAME$}{events}").trim_end())?;
        let decided = chart.edges_out(place).filter(|edge| !edge.label.is_empty());
        for edge in decided {
            let Some(taken) = edge.taken.filter(|taken| *taken > 0) else { continue };
            let (label, times, to) = (edge.label, times(taken), chart.boxes[edge.to].title());
            writeln!(out, "         {label}{times} -> {to}")?;
        }
    }
    Ok(())
}

/// Returns ` x 3`, or an empty text for once.
fn times(n: u64) -> String {
    if n == 1 { String::new() } else { format!(" x {}", grouped(n)) }
}

fn events(part: &ChartBox) -> String {
    part.event_names().join(", ")
}

/// Writes the visits of the boxes of each event and its count. Counts that the trace makes doubtful
/// are marked.
pub fn write_account(
    out: &mut impl Write,
    accounts: &[Account],
    lacks: &[MissingData],
) -> io::Result<()> {
    let (visits, counted) = ("visits", "counted");
    writeln!(out, "{:<30}{visits:>18}{counted:>18}", "events of the boxes")?;
    for account in accounts.iter().filter(|account| account.visits > 0 || account.counted > 0) {
        let (event, visits) = (account.event.mnemonic(), grouped(account.visits));
        let doubt = caveats::doubt(account.event, lacks);
        let doubt = doubt.map(|lack| format!(" # doubtful: {}", lack.label())).unwrap_or_default();
        writeln!(out, "  {event:<28}{visits:>18}{:>18}{doubt}", grouped(account.counted))?;
        if account.visits != account.counted {
            writeln!(out, "      {}", difference(account))?;
        }
    }
    Ok(())
}

/// Writes the visits of the boxes of each event of a Cortex-A53, and its count.
pub fn write_a53_account(out: &mut impl Write, accounts: &[A53Account]) -> io::Result<()> {
    let (visits, counted) = ("visits", "counted");
    writeln!(out, "{:<30}{visits:>18}{counted:>18}", "events of the boxes")?;
    for account in accounts {
        let (event, visits) = (account.event.mnemonic(), grouped(account.visits));
        writeln!(out, "  {event:<28}{visits:>18}{:>18}", grouped(account.counted))?;
        if account.visits != account.counted {
            writeln!(out, "      {A53_DIFFERENCE}")?;
        }
    }
    Ok(())
}

/// Reason why visits and count differ on a Cortex-A53.
pub(super) const A53_DIFFERENCE: &str =
    "maintenance, a memory error, or a cluster without an L2 cache";

/// Returns the reason why visits and count differ.
pub(super) fn difference(account: &Account) -> &'static str {
    match account.reason {
        "" => "the configuration differs from the guide here",
        reason => reason,
    }
}

/// Writes words with commas between them, in lines that fit.
pub(super) fn write_wrapped(
    out: &mut impl Write,
    head: &str,
    words: impl Iterator<Item = String>,
) -> io::Result<()> {
    let mut line = head.to_owned();
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        let comma = if words.peek().is_some() { "," } else { "" };
        if line.len() + word.len() + 2 > WIDTH {
            writeln!(out, "{line}")?;
            line = String::from("   ");
        }
        line += &format!(" {word}{comma}");
    }
    writeln!(out, "{line}")
}
