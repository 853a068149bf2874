//! Stall ledger: the rename slots of a window, cause by cause. PMU guide 4.7 (slots and stalls);
//! the finer causes are the model's own.

use std::io::{self, Write};

use sim_core::{LostSlots, PmuEvent, RootCause, StallCause};
use sim_machine::{CoreOutcome, Outcome};
use sim_metrics::identities::SLOTS_PER_CYCLE;

use crate::perf_stat::grouped;

/// Width of the column of causes.
const NAME_WIDTH: usize = 34;
/// Width of the column of slots.
const SLOTS_WIDTH: usize = 18;
/// Width of the column of shares.
const SHARE_WIDTH: usize = 8;

/// Writes the ledger of all cores together, or a ledger for each core.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Write, outcome: &Outcome, per_thread: bool) -> io::Result<()> {
    if !per_thread {
        return write_ledger(out, "Rename slots", &Ledger::new(&outcome.cores));
    }
    for core in &outcome.cores {
        let title = format!("Rename slots of thread {}", core.stream);
        write_ledger(out, &title, &Ledger::new(std::slice::from_ref(core)))?;
    }
    Ok(())
}

/// Rename slots: used, and empty by cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ledger {
    /// Slots of the window: five per cycle.
    pub offered: u64,
    /// Slots with an operation.
    pub used: u64,
    /// Empty slots by cause and root cause.
    pub stalled: LostSlots,
}

impl Ledger {
    /// Returns the sum over these cores.
    pub fn new(cores: &[CoreOutcome]) -> Ledger {
        let mut ledger = Ledger { offered: 0, used: 0, stalled: LostSlots::default() };
        for core in cores {
            ledger.offered += SLOTS_PER_CYCLE * core.counts.value(PmuEvent::CPU_CYCLES);
            ledger.used += core.counts.value(PmuEvent::OP_SPEC);
            ledger.stalled.plus(&core.stalls.unpack());
        }
        ledger
    }

    /// Returns the empty slots of the front end or the back end.
    pub fn end(&self, is_frontend: bool) -> u64 {
        self.stalled.end(is_frontend)
    }

    /// Returns the slots of the window minus all known slots: 0, unless the ledger is wrong.
    pub fn unexplained(&self) -> i128 {
        let known = self.used + self.end(true) + self.end(false);
        i128::from(self.offered) - i128::from(known)
    }
}

/// Returns the causes under which a root cause appears, most slots first.
fn seen_as(stalled: &LostSlots, root: RootCause) -> Vec<(StallCause, u64)> {
    let mut causes: Vec<(StallCause, u64)> = StallCause::ALL
        .into_iter()
        .map(|cause| (cause, stalled.at(cause, root)))
        .filter(|(_, slots)| *slots > 0)
        .collect();
    causes.sort_by_key(|(cause, slots)| (std::cmp::Reverse(*slots), *cause));
    causes
}

/// Returns the reason for empty slots in one phrase: the root cause, and the full structure.
pub fn reason(cause: StallCause, root: RootCause) -> String {
    if cause.is_frontend() {
        return cause.label().to_owned();
    }
    format!("{} ({})", root.label(), cause.label())
}

fn write_ledger(out: &mut impl Write, title: &str, ledger: &Ledger) -> io::Result<()> {
    writeln!(out, " {title:<NAME_WIDTH$} {:>SLOTS_WIDTH$} {:>SHARE_WIDTH$}", "slots", "share")?;
    let mut row = |name: &str, slots: u64| {
        let share = match ledger.offered {
            0 => String::from("-"),
            offered => format!("{:.2}%", slots as f64 / offered as f64 * 100.0),
        };
        let slots = grouped(slots);
        writeln!(out, " {name:<NAME_WIDTH$} {slots:>SLOTS_WIDTH$} {share:>SHARE_WIDTH$}")
    };
    row("operations", ledger.used)?;
    row("front end stalled", ledger.end(true))?;
    for cause in StallCause::ALL.into_iter().filter(|cause| cause.is_frontend()) {
        row(&format!("  {}", cause.label()), ledger.stalled.of(cause))?;
    }
    let (all, memory) = (ledger.end(false), ledger.stalled.memory());
    row("back end stalled", all)?;
    for (name, is_memory, slots) in [("memory", true, memory), ("core", false, all - memory)] {
        row(&format!("  {name}"), slots)?;
        for root in RootCause::back_end().filter(|root| root.is_memory() == is_memory) {
            row(&format!("    {}", root.label()), ledger.stalled.of_root(root))?;
            for (cause, slots) in seen_as(&ledger.stalled, root) {
                row(&format!("      {}", cause.label()), slots)?;
            }
        }
    }
    row(&format!("all ({SLOTS_PER_CYCLE} x CPU_CYCLES)"), ledger.offered)?;
    match ledger.unexplained() {
        0 => {}
        lost @ 1.. => writeln!(out, " {lost} slots have no cause: please report this")?,
        surplus => writeln!(out, " {} slots too many: please report this", -surplus)?,
    }
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::{Counts, EventSink, Packed};

    fn outcome(used: u64) -> Outcome {
        let mut counts = Counts::default();
        counts.count(PmuEvent::CPU_CYCLES, 1000);
        counts.count(PmuEvent::OP_SPEC, used);
        let mut stalls = LostSlots::default();
        stalls.add(StallCause::FetchMispredict, RootCause::FrontEnd, 500);
        stalls.add(StallCause::BranchQueue, RootCause::LoadDram, 1400);
        stalls.add(StallCause::StoreQueue, RootCause::LoadDram, 90);
        stalls.add(StallCause::ReorderBuffer, RootCause::Latency, 10);
        let core = CoreOutcome {
            stream: 3,
            is_counted: true,
            counts: Packed::from(&counts),
            stalls: Packed::from(&stalls),
            ..CoreOutcome::default()
        };
        Outcome { cores: vec![core], clock_hz: 1, ..Outcome::default() }
    }

    fn text(outcome: &Outcome, per_thread: bool) -> String {
        let mut out = Vec::new();
        write(&mut out, outcome, per_thread).expect("memory can be written");
        String::from_utf8(out).expect("the ledger is text")
    }

    #[test]
    fn the_ledger_shows_each_cause_and_its_share() {
        let text = text(&outcome(3000), false);
        let expected = "
 Rename slots                                    slots    share
 operations                                      3,000   60.00%
 front end stalled                                 500   10.00%
   L1I miss                                          0    0.00%
";
        assert!(text.starts_with(&expected[1..]), "{text}");
        let memory = "
 back end stalled                                1,500   30.00%
   memory                                        1,490   29.80%
     load from the L2                                0    0.00%
";
        assert!(text.contains(memory), "{text}");
        let memory = "
     load from DRAM                              1,490   29.80%
       branch order buffer full                  1,400   28.00%
       store queue full                             90    1.80%
";
        let all = "\n all (5 x CPU_CYCLES)                            5,000  100.00%\n\n";
        assert!(text.contains(memory), "{text}");
        assert!(text.ends_with(all), "{text}");
    }

    #[test]
    fn slots_without_a_cause_are_reported() {
        let text = text(&outcome(2999), true);
        assert!(text.starts_with(" Rename slots of thread 3 "), "{text}");
        assert!(text.contains("\n 1 slots have no cause"), "{text}");
        let text = self::text(&outcome(3002), false);
        assert!(text.contains("\n 2 slots too many"), "{text}");
    }
}
