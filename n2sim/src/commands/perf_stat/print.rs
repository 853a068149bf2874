//! Prints the counts in the form and to the place that the options of `perf stat` request.

use std::fs::File;
use std::io::{self, Write};

use anyhow::Context;
use sim_machine::RunHeader;
use sim_pmu::perf::{PerfEvent, Reading, Status};
use sim_report::stat;
use sim_report::{Owner, Selected, StatReport, perf_stat};

use super::options::PerfOptions;
use super::{Events, Requested};
use crate::counting::counted_run::Request;
use crate::counting::event_list::ListedEvent;
use crate::counting::interval;
use crate::files::output::Output;
use crate::host::call::{self, Stream};
use sim_core::Shown;

/// Kernel events that measure time, which the model can give.
const CLOCKS: [&str; 2] = ["cpu-clock", "task-clock"];

/// Makes a report from events, their readings on each core, and the owners of these.
pub(super) type Report<'a, E> =
    &'a dyn Fn(&[Selected<E>], &[Vec<Reading>], Option<&[Owner]>) -> StatReport;

/// The printed counts.
pub(super) struct Print<'a, E> {
    pub(super) options: &'a PerfOptions,
    pub(super) events: &'a Events<E>,
    pub(super) request: &'a Request<E>,
    /// Threads of the run.
    pub(super) threads: Vec<Owner>,
    /// Version, configuration and trace of the run.
    pub(super) origin: String,
    /// Values of the events of the mesh.
    pub(super) mesh: Vec<Option<u64>>,
    pub(super) report: Report<'a, E>,
}

/// Returns the origin of the counts of a run.
pub(super) fn origin(header: &RunHeader) -> String {
    format!(
        "n2sim {}, configuration {} (hash {:016x}), trace {} (hash {:016x})",
        header.version, header.config, header.config_hash, header.trace, header.trace_hash
    )
}

impl<E: ListedEvent> Print<'_, E> {
    /// Prints every interval. Without `was_on`, nothing was counted.
    pub(super) fn write(
        &self,
        mut out: Destination,
        intervals: &[interval::Counted],
        was_on: bool,
    ) -> anyhow::Result<()> {
        let nothing = [interval::Counted::default()];
        let intervals = if intervals.is_empty() { &nothing } else { intervals };
        let most = match (self.options.interval_print, self.options.interval_count) {
            (Some(_), Some(count)) => usize::try_from(count).unwrap_or(usize::MAX),
            (Some(_), None) => usize::MAX,
            (None, _) => 1,
        };
        out.begin(&self.origin)?;
        let (names, owners) = (self.names(), self.owners());
        for (number, interval) in intervals.iter().take(most).enumerate() {
            let readings = self.readings(interval, was_on);
            let report = (self.report)(&names, &readings, owners.as_deref());
            self.write_report(&mut out, self.as_perf(report, interval), number == 0)?;
        }
        out.finish()
    }

    /// Returns the names of the events in `perf stat`. An event of the kernel or of the mesh
    /// becomes one that is never a divisor.
    fn names(&self) -> Vec<Selected<E>> {
        let mut of_core = self.request.events.iter();
        let selected = |requested: &Requested| match requested {
            Requested::Kernel(name) | Requested::Mesh(name) => {
                Some(Selected { name: name.clone(), event: PerfEvent::new(E::NO_DIVISOR) })
            }
            Requested::Core => of_core.next().cloned(),
        };
        self.events.order.iter().filter_map(selected).collect()
    }

    /// Returns the owners of separate readings.
    fn owners(&self) -> Option<Vec<Owner>> {
        let cpus = self.cpus().into_iter();
        match self.options {
            PerfOptions { per_thread: true, .. } => Some(self.threads.clone()),
            PerfOptions { no_aggr: true, .. } => Some(cpus.map(Owner::Cpu).collect()),
            PerfOptions { per_core: true, .. } => Some(cpus.map(Owner::Core).collect()),
            _ => None,
        }
    }

    /// Returns the CPUs whose counts are printed.
    fn cpus(&self) -> Vec<usize> {
        match &self.options.cpu {
            Some(list) if !self.options.per_thread => list.0.clone(),
            _ => (0..self.threads.len()).collect(),
        }
    }

    /// Returns the readings of each CPU in the order of the events. On a CPU without a thread,
    /// nothing was counted. Linux counts the mesh on one CPU, the first.
    fn readings(&self, interval: &interval::Counted, was_on: bool) -> Vec<Vec<Reading>> {
        let by_core = self.request.all(self.threads.len(), interval.cores.clone());
        let of_cpu = |cpu: usize| {
            let mut of_core = by_core.get(cpu).into_iter().flatten().copied();
            let cycles = interval.cycles.get(cpu).copied().unwrap_or(0);
            let mut of_mesh = self.mesh.iter().filter(|_| cpu == 0);
            let longest = interval.cycles.iter().copied().max().unwrap_or(0);
            let reading = |requested: &Requested| match requested {
                _ if !was_on => Reading::default(),
                Requested::Core => of_core.next().unwrap_or_default(),
                Requested::Mesh(_) => {
                    of_mesh.next().map_or_else(Reading::default, |value| match value {
                        Some(value) => Reading::exact(*value, longest),
                        None => Reading { status: Status::NotSupported, ..Reading::default() },
                    })
                }
                Requested::Kernel(name) if is_clock(name) && cycles > 0 => {
                    Reading::exact(0, cycles)
                }
                Requested::Kernel(name) if is_clock(name) => Reading::default(),
                Requested::Kernel(_) => {
                    Reading { status: Status::NotSupported, ..Reading::default() }
                }
            };
            self.events.order.iter().map(reading).collect()
        };
        self.cpus().into_iter().map(of_cpu).collect()
    }

    /// Returns the report under perf's name for the command, with times in place of clocks.
    fn as_perf(&self, mut report: StatReport, interval: &interval::Counted) -> StatReport {
        let command = &self.options.command;
        report.target = match &self.options.cpu {
            _ if !command.is_empty() => command.join(" "),
            Some(list) => {
                let numbers: Vec<String> = list.0.iter().map(usize::to_string).collect();
                format!("CPU(s) {}", numbers.join(","))
            }
            None => String::from("system wide"),
        };
        report.elapsed_seconds = Some(interval.time_ns as f64 / 1e9);
        for row in report.sections.iter_mut().flat_map(|section| &mut section.rows) {
            if is_clock(&row.name) && matches!(row.reading, stat::Reading::Count(_)) {
                row.reading = stat::Reading::Time(row.running_ns);
            }
        }
        if self.options.interval_print.is_some() {
            report = report.at(interval.time_ns);
        }
        report
    }

    fn write_report(
        &self,
        out: &mut Destination,
        report: StatReport,
        is_first: bool,
    ) -> io::Result<()> {
        if self.options.json_output {
            perf_stat::write_json(out, &report)
        } else if let Some(separator) = &self.options.field_separator {
            perf_stat::write_csv(out, &report, &separator.replace("\\t", "\t"))
        } else if self.options.interval_print.is_some() {
            perf_stat::write_text_interval(out, &report, is_first)
        } else {
            perf_stat::write_text(out, &report)
        }
    }
}

fn is_clock(name: &str) -> bool {
    CLOCKS.contains(&name.split(':').next().unwrap_or_default())
}

/// The destination of perf's output: standard error by default.
pub(super) enum Destination {
    Stderr(Stream),
    /// A file descriptor of the caller.
    Descriptor(File),
    Append(File),
    File(Output),
}

impl Destination {
    /// Opens the destination that the options name.
    pub(super) fn open(options: &PerfOptions) -> anyhow::Result<Destination> {
        if let Some(fd) = options.log_fd {
            let file = File::options().append(true).open(format!("/proc/self/fd/{fd}"));
            return Ok(Destination::Descriptor(file.with_context(|| format!("--log-fd {fd}"))?));
        }
        let Some(path) = &options.output else { return Ok(Destination::Stderr(call::stderr())) };
        if options.append {
            let file = File::options().append(true).create(true).open(path);
            let file = file.with_context(|| format!("cannot write {}", path.shown()))?;
            return Ok(Destination::Append(file));
        }
        Ok(Destination::File(Output::create(Some(path))?))
    }

    /// Writes the line on the origin of a file.
    fn begin(&mut self, origin: &str) -> io::Result<()> {
        match self {
            Destination::Stderr(_) | Destination::Descriptor(_) => Ok(()),
            Destination::Append(_) | Destination::File(_) => {
                writeln!(self, "# started on {origin}\n")
            }
        }
    }

    fn finish(mut self) -> anyhow::Result<()> {
        self.flush()?;
        match self {
            Destination::File(output) => output.finish(),
            _ => Ok(()),
        }
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Destination::Stderr(out) => out.write(bytes),
            Destination::Descriptor(out) | Destination::Append(out) => out.write(bytes),
            Destination::File(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Destination::Stderr(out) => out.flush(),
            Destination::Descriptor(out) | Destination::Append(out) => out.flush(),
            Destination::File(out) => out.flush(),
        }
    }
}
