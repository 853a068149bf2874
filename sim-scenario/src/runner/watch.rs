//! A case in slow motion: every event and every edge of a flow with its cycle, and the content of
//! caches and TLBs before and after each step. For viewers.

use sim_cache::Contents;
use sim_core::{Cycle, EventSink, FlowEdge, Notice, Operation, PmuEvent, VirtAddr};
use sim_machine::config::MachineConfig;

use super::error::CaseError;
use super::recorded::{Recorded, Tally};
use super::stepper::{Stepper, ends_group};
use super::{elements, statements};
use crate::language::{Action, Case, Step, Xt};

/// Most steps that are watched, each repetition of a step counted.
pub const STEPS_WATCHED: usize = 20_000;
/// Most reports kept of one step.
const REPORTS_KEPT: usize = 4096;
/// Most addresses whose sets and pages are shown.
const ADDRESSES_SHOWN: usize = 64;
/// Most readings of the contents, but for the last one: each copies the state of the caches.
const CONTENTS_KEPT: usize = 256;

/// Something that the model reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reported {
    /// An event counted this much.
    Event(PmuEvent, u64),
    /// An access took this edge of a flow of guide chapter 5.
    Edge(FlowEdge),
}

/// A report with its cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Logged {
    /// Cycle of the model. Reports without a cycle of their own have that of the report before.
    pub cycle: Cycle,
    /// The report.
    pub what: Reported,
}

/// One repetition of one step.
#[derive(Clone, Debug)]
pub struct WatchedStep {
    /// Number of the step in the case.
    pub step: usize,
    /// First cycle of the step's group.
    pub begin: Cycle,
    /// Cycle in which its requests are complete.
    pub end: Cycle,
    /// Reports in the order in which the model made them; not that of their cycles. At most 4,096.
    pub log: Vec<Logged>,
    /// Operations in rename order.
    pub operations: Vec<Operation>,
    /// Caches and TLBs after the step. `None` if the step accesses no memory and the next one is
    /// joined by `&`, and after the first 256 readings, but for the last step. The next step may
    /// begin before the access is complete: lines and pages have the cycle in which they are ready.
    pub contents: Option<Contents>,
}

/// A case and everything that its steps did.
#[derive(Clone, Debug)]
pub struct Watched {
    /// Caches and TLBs in the given state.
    pub before: Contents,
    /// Steps in order.
    pub steps: Vec<WatchedStep>,
    /// Results of the whole case, as [`super::run_case_on`] has them.
    pub recorded: Recorded,
}

/// Runs a case on a fresh machine and keeps what happens in each cycle. Counts are those of
/// [`super::run_case`].
///
/// # Errors
///
/// If the case needs an invalid state.
pub fn watch_case(case: &Case, config: &MachineConfig) -> Result<Watched, CaseError> {
    elements::check(case)?;
    statements::check(case)?;
    let mut stepper = Stepper::new(case, config, Watcher::default())?;
    stepper.sink.take();
    let addrs = addresses(&case.steps);
    let before = stepper.contents(&addrs);
    let mut steps: Vec<WatchedStep> = Vec::new();
    let mut readings = 0;
    for i in 0..case.steps.len() {
        stepper.run(case, i)?;
        let (begin, end) = stepper.span();
        let (log, operations) = stepper.sink.take();
        let is_wanted = accesses(&case.steps[i]) || ends_group(case, i);
        let is_read = is_wanted && readings < CONTENTS_KEPT || i + 1 == case.steps.len();
        readings += usize::from(is_read);
        let contents = is_read.then(|| stepper.contents(&addrs));
        steps.push(WatchedStep { step: i, begin, end, log, operations, contents });
    }
    let mut sink = stepper.finish();
    let (log, operations) = sink.take();
    if let Some(last) = steps.last_mut() {
        last.log.extend(log);
        last.operations.extend(operations);
    }
    Ok(Watched { before, steps, recorded: sink.recorded })
}

/// Returns whether a step accesses memory by itself.
fn accesses(step: &Step) -> bool {
    match step.action {
        Action::Execute { operand, .. } | Action::ExecuteA32 { operand, .. } => operand.is_some(),
        Action::Fetch { .. }
        | Action::Snoop { .. }
        | Action::Stash { .. }
        | Action::OtherCore { .. } => true,
        Action::Interrupt(_) | Action::Idle { .. } | Action::Rename { .. } => false,
    }
}

/// Returns the data and fetch addresses of the steps, each line once.
fn addresses(steps: &[Step]) -> Vec<VirtAddr> {
    let mut addrs: Vec<VirtAddr> = Vec::new();
    let mut add = |addr: u64| {
        let addr = VirtAddr(addr);
        let is_known = |known: &VirtAddr| known.line() == addr.line();
        if addrs.len() < ADDRESSES_SHOWN && !addrs.iter().any(is_known) {
            addrs.push(addr);
        }
    };
    for step in steps {
        match &step.action {
            Action::Execute { operand: Some(Xt::Address(addr)), elements, .. } => {
                add(*addr);
                elements.further().iter().for_each(|addr| add(*addr));
            }
            Action::Fetch { addr }
            | Action::Snoop { addr, .. }
            | Action::Stash { addr }
            | Action::OtherCore { addr, .. } => {
                add(*addr);
            }
            _ => {}
        }
    }
    addrs
}

/// Sink that keeps reports with their cycles.
#[derive(Clone, Debug, Default)]
struct Watcher {
    recorded: Recorded,
    cycle: Cycle,
    log: Vec<Logged>,
    operations: Vec<Operation>,
}

impl Watcher {
    /// Returns the reports and operations since the last call.
    fn take(&mut self) -> (Vec<Logged>, Vec<Operation>) {
        (std::mem::take(&mut self.log), std::mem::take(&mut self.operations))
    }

    fn keep(&mut self, what: Reported) {
        if self.log.len() < REPORTS_KEPT {
            self.log.push(Logged { cycle: self.cycle, what });
        }
    }
}

impl EventSink for Watcher {
    const OBSERVES_OPS: bool = true;

    fn count(&mut self, event: PmuEvent, n: u64) {
        if n > 0 {
            self.keep(Reported::Event(event, n));
        }
        self.recorded.count(event, n);
    }

    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::At(cycle) => self.cycle = cycle,
            Notice::Edge(edge) => self.keep(Reported::Edge(edge)),
            Notice::Operation(operation) => {
                self.operations.push(*operation);
                self.profile(|spe, sink| spe.operation(operation, sink));
                return;
            }
            _ => {}
        }
        self.recorded.notify(notice);
    }
}

impl Tally for Watcher {
    fn recorded(&self) -> &Recorded {
        &self.recorded
    }

    fn recorded_mut(&mut self) -> &mut Recorded {
        &mut self.recorded
    }
}
