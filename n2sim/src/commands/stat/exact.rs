//! The exact counts of a replay as values, with all metrics and the use of the slots: for programs
//! that have loaded n2sim as a library.

use std::io::{self, Write};
use std::path::Path;

use sim_a53::slots::LostTo;
use sim_a53::{A53CoreOutcome, A53Event};
use sim_core::{PmuEvent, RootCause, StallCause};
use sim_machine::Outcome;
use sim_metrics::formula::MetricFormula;
use sim_report::a53_counts::with_counts;
use sim_report::metrics::MetricRow;
use sim_report::stalls::Ledger;
use sim_report::stat::{Counted as CountedEvents, Reading, Row, StatOptions};
use sim_report::{Selected, StatReport};
use sim_trace::TraceFile;

use super::{ReplayArgs, StatArgs};
use crate::commands::stat_a53;
use crate::counting::a53_metrics::A53Metric;
use crate::counting::a53_run::{self, A53Run};
use crate::counting::counted_run::{Measured, Request};
use crate::counting::event_list::{self, EventGroup};
use crate::counting::metric_events::{Metrics, Sharing};
use crate::counting::notes::write_unknown_words;
use crate::counting::setup::{self, Setup};
use crate::files::open_trace::{self, NamedTrace};
use crate::files::{a53_config, metric_files};
use crate::host::{call, memory};

/// The exact counts of a replay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counted {
    /// File of the trace.
    pub trace: String,
    /// Simulated core.
    pub core: String,
    /// Number of simulated cores: one for each thread.
    pub cores: usize,
    /// Modeled time in seconds, of the core that ran longest; absent if cycles are not counted.
    pub seconds: Option<f64>,
    /// Count of each event over all cores, by the name that `n2sim stat` prints; absent if the
    /// simulated part of the machine does not have the event.
    pub counts: Vec<(String, Option<u64>)>,
    /// Value of every metric of the core, as `n2sim stat -M` prints it.
    pub metrics: Vec<MetricValue>,
    /// Use of all rename slots, or issue slots of a Cortex-A53; empty if there is no pipeline.
    pub slots: Vec<SlotUse>,
    /// Notes for the reader of the counts.
    pub notes: Vec<String>,
}

/// The value of a metric.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MetricValue {
    /// Name.
    pub name: String,
    /// Value in its unit; NaN if it has none in this run.
    pub value: f64,
    /// Unit.
    pub unit: String,
}

/// Slots that were used, or empty for one cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotUse {
    /// `used`, `front end`, `memory`, `core` or, on a Cortex-A53, `lost`.
    pub part: &'static str,
    /// Cause, as `n2sim stat --stalls` prints it.
    pub cause: &'static str,
    /// Number of slots.
    pub slots: u64,
}

/// Runs the trace and returns its counts.
pub(crate) fn count(args: &StatArgs) -> anyhow::Result<Counted> {
    let (trace, args) = (NamedTrace::from(&args.trace), &args.replay);
    args.core.require_timing_model()?;
    let counted =
        if args.is_on_a53() { on_a53(&trace, args)? } else { on_n2(trace.clone(), args)? };
    Ok(Counted { trace: trace.name, core: args.core.name().to_owned(), ..counted })
}

fn on_n2(trace: NamedTrace<'_>, args: &ReplayArgs) -> anyhow::Result<Counted> {
    args.check_mode()?;
    let own = event_list::parse_all::<PmuEvent>(&args.counts.events.event)?;
    let options = args.region.run_options()?;
    let setup = Setup::open(trace, &args.machine, args.mode(), true)?;
    let catalog = metric_files::catalog(&args.counts.events.metrics)?;
    let every: Vec<&MetricFormula> = metric_files::of_cores(&catalog);
    let selected: Vec<Selected> = own.iter().flat_map(|group| group.events.clone()).collect();
    let machine = setup::machine(&setup.session);
    let metrics = Metrics::new(&every, &catalog, machine, &selected, Sharing::Exact)?;
    let groups: Vec<EventGroup> = own.iter().chain(metrics.requested()).cloned().collect();
    // The totals of a run answer every event; none needs an observer.
    let request = Request::new(&groups, setup.session.trace().meta().machine.full_system);
    let measured = request.of(setup.session.run(&options, &mut |_| {})?);
    let report = report(&measured, &selected, setup.has_stall_slot_erratum);
    let outcome = &measured.outcome;
    write_notes(outcome)?;
    Ok(Counted {
        cores: outcome.cores.len(),
        seconds: report.elapsed_seconds,
        counts: counts(&report),
        metrics: values(metrics.rows(&measured, false, false)),
        slots: if args.is_full_mode() { slots(outcome) } else { Vec::new() },
        ..Counted::default()
    })
}

/// Returns the report of the chosen events, or of all without a choice.
fn report(measured: &Measured, chosen: &[Selected], has_stall_slot_erratum: bool) -> StatReport {
    let own = |core: &Vec<_>| core[..chosen.len()].to_vec();
    let readings: Vec<_> = measured.readings.iter().map(own).collect();
    let counted = CountedEvents { events: chosen, readings: &readings, truth: None };
    let options = StatOptions {
        counted: (!chosen.is_empty()).then_some(counted),
        owners: None,
        has_stall_slot_erratum,
        errors: None,
    };
    StatReport::new(&measured.outcome, &options)
}

fn write_notes(outcome: &Outcome) -> io::Result<()> {
    write_unknown_words(&mut call::stderr(), outcome)?;
    outcome.notes.iter().try_for_each(|note| writeln!(call::stderr(), "n2sim: note: {note}"))
}

fn on_a53(trace: &NamedTrace<'_>, args: &ReplayArgs) -> anyhow::Result<Counted> {
    stat_a53::refuse_others(args)?;
    let events = &args.counts.events;
    let own = match event_list::parse_all(&events.event)? {
        none if none.is_empty() => stat_a53::groups_of(&A53Event::ALL),
        some => some,
    };
    let catalog = metric_files::a53_catalog(&events.metrics)?;
    let metrics = catalog.metrics().iter().map(|metric| A53Metric::new(metric, &catalog));
    let metrics = metrics.collect::<anyhow::Result<Vec<A53Metric>>>()?;
    let config = a53_config::of(&args.machine)?;
    let file = TraceFile::open_within(trace.path, &memory::budget())?;
    open_trace::write_lacks(&mut call::stderr(), Path::new(&trace.name), &file)?;
    let request = Request::new(&own, file.meta().machine.full_system);
    let part = &stat_a53::part(&args.region, &trace.name, &file)?;
    let run = A53Run { trace: &file, config: &config, part, request: &request };
    let measured = run.count()?;
    let clock_hz = config.cluster.clock_hz;
    let names = a53_run::names(&request.events);
    let report = measured.report(&trace.name, &names, false, None, clock_hz);
    stat_a53::note_instructions(&measured.cores)?;
    let rows = with_counts(&measured.cores, clock_hz, |counts| {
        metrics.iter().map(|metric| metric.row(counts, None)).collect()
    });
    Ok(Counted {
        cores: measured.cores.len(),
        seconds: report.elapsed_seconds,
        counts: counts(&report),
        metrics: values(rows),
        slots: a53_slots(&measured.cores),
        ..Counted::default()
    })
}

/// Returns the counts of a report without multiplexing.
fn counts(report: &StatReport) -> Vec<(String, Option<u64>)> {
    let value = |row: &Row| match row.reading {
        Reading::Count(count) | Reading::Time(count) => Some(count),
        Reading::NotCounted | Reading::NotSupported => None,
    };
    report.rows().map(|row| (row.name.clone(), value(row))).collect()
}

fn values(rows: Vec<MetricRow>) -> Vec<MetricValue> {
    let value = |row: MetricRow| MetricValue { name: row.name, value: row.value, unit: row.unit };
    rows.into_iter().map(value).collect()
}

/// Returns the use of the rename slots of all cores.
fn slots(outcome: &Outcome) -> Vec<SlotUse> {
    let Ledger { used, stalled, .. } = Ledger::new(&outcome.cores);
    let operations = SlotUse { part: "used", cause: "operations", slots: used };
    let front = StallCause::ALL.into_iter().filter(|cause| cause.is_frontend());
    let front = front.map(|cause| SlotUse {
        part: "front end",
        cause: cause.label(),
        slots: stalled.of(cause),
    });
    let back = RootCause::back_end().map(|root| SlotUse {
        part: if root.is_memory() { "memory" } else { "core" },
        cause: root.label(),
        slots: stalled.of_root(root),
    });
    let lost = front.chain(back).filter(|lost| lost.slots > 0);
    [operations].into_iter().chain(lost).collect()
}

/// Returns the use of the issue slots of all cores.
fn a53_slots(cores: &[A53CoreOutcome]) -> Vec<SlotUse> {
    let used = cores.iter().map(|core| core.slots.issued).sum();
    let issued = SlotUse { part: "used", cause: "issued", slots: used };
    let lost = LostTo::ALL.into_iter().map(|cause| SlotUse {
        part: "lost",
        cause: cause.title(),
        slots: cores.iter().map(|core| core.slots.lost(cause)).sum(),
    });
    [issued].into_iter().chain(lost.filter(|lost| lost.slots > 0)).collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::sync::Arc;

    use crate::{Called, Counted, Refused};

    fn words(line: &str) -> Vec<OsString> {
        let traces = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces/");
        line.replace("TRACES/", traces).split(' ').map(OsString::from).collect()
    }

    fn count(line: &str) -> Result<Counted, Refused> {
        crate::count(words(line), Arc::default())
    }

    /// Returns the counts that the command prints.
    fn printed(line: &str) -> Vec<(String, Option<u64>)> {
        let Called { output, .. } = crate::call(words(line), Arc::default()).expect("a good line");
        let text = String::from_utf8(output).expect("text");
        let row = |line: &str| {
            let fields: Vec<&str> = line.split(',').collect();
            (fields[2].to_owned(), fields[0].parse().ok())
        };
        text.lines().map(row).collect()
    }

    #[test]
    fn the_counts_are_those_that_the_command_prints() {
        for options in [
            "TRACES/sort.n2t --limit 30k",
            "TRACES/system.n2t --limit 30k",
            "TRACES/atomics.n2t --set core.revision=r0p0",
            "TRACES/sort.n2t --limit 30k --mode memory",
            "TRACES/sort.n2t --limit 30k --core cortex-a53",
            "TRACES/system.n2t --limit 30k -e cycles:k,r03",
        ] {
            let counted = count(&format!("n2sim stat {options}")).expect("counts");
            let is_list = options.contains("-e");
            let exact = if is_list { "--no-multiplex -x," } else { "-x," };
            assert_eq!(counted.counts, printed(&format!("n2sim stat {options} {exact}")));
        }
    }

    #[test]
    fn the_slots_add_up_and_metrics_have_the_values_of_their_formulas() {
        let counted = count("n2sim stat TRACES/hash.n2t --limit 30k").expect("counts");
        let of = |name: &str| {
            let found = counted.counts.iter().find(|(own, _)| own == name);
            found.and_then(|(_, count)| *count).expect("the event is counted")
        };
        let slots: u64 = counted.slots.iter().map(|slot| slot.slots).sum();
        assert_eq!(slots, 5 * of("cpu_cycles"));
        let ipc = counted.metrics.iter().find(|metric| metric.name == "ipc").expect("a metric");
        assert_eq!(ipc.value, of("inst_retired") as f64 / of("cpu_cycles") as f64);
    }

    #[test]
    fn wrong_words_and_files_are_refused_with_the_message_of_the_program() {
        let error = count("n2sim stat nowhere.n2t").expect_err("no file");
        assert!(error.to_string().starts_with("nowhere.n2t: "), "{error}");
        let error = count("n2sim stat nowhere.n2t --mode half").expect_err("no mode");
        assert!(error.to_string().contains("possible values: full, memory, frontend"), "{error}");
        let error = count("n2sim list events").expect_err("no counts");
        assert_eq!(error.to_string(), "only `n2sim stat` gives counts as values");
        let help = crate::call(words("n2sim --help"), Arc::default()).expect("help");
        assert!(help.output.starts_with(b"Replay recorded AArch64 programs"));
    }
}
