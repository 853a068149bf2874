//! A trace that is opened to count its events.

use std::io::{self, Write};

use sim_machine::{Mode, Session};
use sim_metrics::formula::{Catalog, Machine};
use sim_report::Selected;

use crate::counting::counted_run::Request;
use crate::counting::event_list::EventGroup;
use crate::counting::mesh_names;
use crate::counting::metric_events::{Metrics, Sharing};
use crate::files::metric_files;
use crate::files::open_trace::{self, NamedTrace};
use crate::host::call;
use crate::host::signals;
use crate::shared_args::{EventArgs, MachineArgs};

/// The note on events that the trace of an application cannot answer.
pub(crate) const NO_KERNEL: &str =
    "n2sim: the trace has no kernel instructions: events for the kernel alone are not supported";

/// A trace on the machine that counts its events.
pub(crate) struct Setup {
    /// The trace and the machine. A signal stops its runs.
    pub(crate) session: Session,
    /// The revision counts one stalled slot too many in every cycle.
    pub(crate) has_stall_slot_erratum: bool,
}

impl Setup {
    /// Opens the trace for runs of a part of the machine. With `has_roots`, runs record what the
    /// oldest operation waited for in each lost slot.
    pub(crate) fn open<'a>(
        trace: impl Into<NamedTrace<'a>>,
        machine: &MachineArgs,
        mode: Mode,
        has_roots: bool,
    ) -> anyhow::Result<Setup> {
        let session = open_trace::with(trace, machine)?.in_mode(mode);
        let session = if has_roots { session } else { session.without_roots() };
        let has_stall_slot_erratum = session.config().core.revision.has_stall_slot_erratum();
        Ok(Setup { session: session.stopped_by(signals::flag()), has_stall_slot_erratum })
    }

    /// Returns the metrics of `-M`. Their events follow the `own` events of `-e`.
    pub(crate) fn metrics(
        &self,
        args: &EventArgs,
        own: &[EventGroup],
        sharing: Sharing,
    ) -> anyhow::Result<Metrics> {
        let catalog = match args.metric.is_empty() {
            true => Catalog::default(),
            false => metric_files::catalog(&args.metrics)?,
        };
        let chosen = metric_files::chosen(&args.metric, &catalog)?;
        let own: Vec<Selected> = own.iter().flat_map(|group| group.events.clone()).collect();
        let metrics = Metrics::new(&chosen, &catalog, machine(&self.session), &own, sharing)?;
        Ok(metrics.on_mesh(mesh_names::frequency(self.session.config())))
    }

    /// Returns what the trace can answer of these events, and notes on stderr if the kernel is
    /// missing.
    pub(crate) fn request(&self, groups: &[EventGroup]) -> io::Result<Request> {
        let request = Request::new(groups, self.session.trace().meta().machine.full_system);
        if request.lacks_kernel() {
            writeln!(call::stderr(), "{NO_KERNEL}")?;
        }
        Ok(request)
    }
}

/// Returns the properties of the machine that metric formulas use.
pub(crate) fn machine(session: &Session) -> Machine {
    let cores = u32::try_from(session.trace().streams().len()).unwrap_or(u32::MAX);
    Machine::neoverse_n2(session.config().core.revision.patch(), cores)
}
