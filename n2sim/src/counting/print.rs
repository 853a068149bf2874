//! Prints the counts of a run as `perf stat` would.

use std::io::{self, Write};

use sim_machine::Outcome;
use sim_metrics::builtin;
use sim_pmu::perf::Reading;
use sim_report::metrics::{self, MetricRow};
use sim_report::perf_stat::Columns;
use sim_report::stat::{self, Counted, StatOptions};
use sim_report::{Owner, Selected, StatReport, header, perf_stat, prefetches, stalls};

use crate::counting::counted_run::{Measured, Replay};
use crate::counting::mesh_events::MeshRows;
use crate::counting::metric_events::{Metrics, Sharing};
use crate::counting::setup::machine;
use crate::files::metric_files;
use crate::files::output::Output;
use crate::host::call;
use crate::shared_args::{CountArgs, FormatArgs};

/// Metrics that follow the counts of a report without `-e`: slots, speed and miss rates.
const SHORT_METRICS: [&str; 3] = ["TopdownL1", "ipc", "MPKI"];

/// The printer of the counts of one run.
pub(crate) struct Printer<'a> {
    pub(crate) args: &'a CountArgs,
    pub(crate) replay: &'a Replay<'a>,
    pub(crate) metrics: &'a Metrics,
    /// Prints the exact count and the error beside each multiplexed count.
    pub(crate) has_truth: bool,
    /// Events of the mesh.
    pub(crate) mesh: &'a MeshRows,
    /// For each event, by its number, the possible error of an estimate in percent.
    pub(crate) errors: Option<&'a [f64]>,
}

impl Printer<'_> {
    /// Prints the requested events and metrics, or those that matter most.
    pub(crate) fn print(&self, out: Output, measured: &Measured) -> anyhow::Result<()> {
        let outcome = &measured.outcome;
        let is_chosen = !self.replay.request.events.is_empty() || !self.args.events.is_empty();
        if is_chosen {
            self.print_chosen(out, measured)
        } else if self.args.all || self.args.format.is_for_programs() {
            self.print_report(out, outcome, &self.every_count(outcome), &[])
        } else {
            self.print_short(out, outcome)
        }
    }

    /// Prints the requested events and metrics, each event once.
    fn print_chosen(&self, out: Output, measured: &Measured) -> anyhow::Result<()> {
        let (outcome, all) = (&measured.outcome, &self.replay.request.events);
        let listed = self.metrics.listed(all, &measured.readings);
        let events: Vec<Selected> = listed.iter().map(|at| all[*at].clone()).collect();
        let of_core =
            |core: &Vec<Reading>| listed.iter().filter_map(|at| core.get(*at).copied()).collect();
        let of_listed = |cores: &[Vec<Reading>]| cores.iter().map(of_core).collect::<Vec<_>>();
        let (readings, truth) = (of_listed(&measured.readings), of_listed(&measured.truth));
        let counted = Counted {
            events: &events,
            readings: &readings,
            truth: self.has_truth.then_some(truth.as_slice()),
        };
        let threads = self.args.per_thread.then(|| Owner::threads(outcome));
        let options = StatOptions {
            counted: Some(counted),
            owners: threads.as_deref(),
            has_stall_slot_erratum: self.replay.has_stall_slot_erratum,
            errors: self.errors,
        };
        let rows = match measured.readings.is_empty() {
            false => self.metrics.rows(measured, self.args.per_thread, self.has_truth),
            // A metric of times alone counts nothing.
            true => self.metrics.rows_of(outcome, &[], &[], self.args.per_thread),
        };
        let mut report = StatReport::new(outcome, &options);
        if let Some(section) = report.sections.first_mut() {
            section.rows.extend_from_slice(&self.mesh.rows);
        }
        self.print_report(out, outcome, &report, &rows)
    }

    /// Returns the exact counts of all events.
    fn every_count(&self, outcome: &Outcome) -> StatReport {
        let threads = self.args.per_thread.then(|| Owner::threads(outcome));
        let options = StatOptions {
            counted: None,
            owners: threads.as_deref(),
            has_stall_slot_erratum: self.replay.has_stall_slot_erratum,
            errors: self.errors,
        };
        StatReport::new(outcome, &options)
    }

    /// Prints the events that matter most, and metrics of slots, speed and misses.
    fn print_short(&self, out: Output, outcome: &Outcome) -> anyhow::Result<()> {
        let report = self.every_count(outcome).short(false);
        let catalog = builtin::catalog();
        let names = SHORT_METRICS.map(str::to_owned);
        let chosen = metric_files::chosen(&names, &catalog)?;
        let machine = machine(self.replay.session);
        let metrics = Metrics::new(&chosen, &catalog, machine, &[], Sharing::Exact)?;
        let groups = metrics.requested().iter();
        let events: Vec<Selected> = groups.flat_map(|group| group.events.clone()).collect();
        let mut readings = match self.args.per_thread {
            true => stat::exact(outcome, &events),
            false => vec![stat::exact_sum(outcome, &events)],
        };
        if let Some(errors) = self.errors {
            readings.iter_mut().for_each(|core| stat::take_unknown(core, &events, errors));
        }
        let mut rows = metrics.rows_of(outcome, &readings, &[], self.args.per_thread);
        // A part of the machine does not have all of them.
        rows.retain(|row| !row.value.is_nan());
        self.print_report(out, outcome, &report, &rows)
    }

    fn print_report(
        &self,
        mut out: Output,
        outcome: &Outcome,
        report: &StatReport,
        metrics: &[MetricRow],
    ) -> anyhow::Result<()> {
        let (args, is_estimate) = (self.args, self.errors.is_some());
        let columns = Columns {
            thread: args.per_thread,
            variance: is_estimate,
            truth: self.has_truth,
            ..Columns::default()
        };
        write_header(&mut out, &args.format, args.header.then_some(columns), outcome)?;
        if args.format.json {
            perf_stat::write_json(&mut out, report)?;
            metrics::write_json(&mut out, metrics)?;
        } else if let Some(separator) = &args.format.separator() {
            perf_stat::write_csv(&mut out, report, separator)?;
            metrics::write_csv(&mut out, metrics, separator, is_estimate)?;
        } else {
            perf_stat::write_text(&mut out, report)?;
            if !metrics.is_empty() {
                metrics::write_text(&mut out, metrics)?;
            }
            if let Some(whole) = report.short_of {
                writeln!(
                    out,
                    " {whole} events were counted: --all prints every one, -e some of them\n"
                )?;
            }
        }
        if args.stalls {
            stalls::write(&mut out, outcome, args.per_thread)?;
        }
        match (args.prefetch, args.format.json) {
            (false, _) => {}
            (true, false) => prefetches::write_text(&mut out, outcome)?,
            (true, true) => prefetches::write_json(&mut out, outcome)?,
        }
        out.finish()
    }
}

/// Writes the origin of a report: into its file if people read it, else to stderr, so that programs
/// find only counts. With `columns`, programs first get the names of the columns, or an object.
pub(crate) fn write_header(
    out: &mut Output,
    format: &FormatArgs,
    columns: Option<Columns>,
    outcome: &Outcome,
) -> io::Result<()> {
    if out.is_file() && !format.is_for_programs() {
        return header::write(out, &outcome.header);
    }
    header::write(&mut call::stderr(), &outcome.header)?;
    match (format.separator(), columns) {
        (_, None) => Ok(()),
        (None, Some(_)) => header::write_json(out, &outcome.header),
        (Some(separator), Some(columns)) => perf_stat::write_csv_head(out, &separator, columns),
    }
}
