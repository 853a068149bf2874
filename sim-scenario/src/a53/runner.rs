//! Runs one case on a cluster of its own.
//!
//! Every instruction passes through the whole pipeline and memory of the model. When a step is on
//! another core than the step before, that core waits until the others are done.

use sim_a53::bench::{Cluster, Executed};
use sim_a53::cluster::EMBEDDED;
use sim_a53::memory::{ClusterMemory, HeldLine, HeldPage};
use sim_a53::{A53Config, A53Counts, A53Sink};
use sim_core::config::{ConfigError, Document};
use sim_isa::{BranchKind, Special, decode};

use super::document::Case;
use super::given::{Base, Clause, Held, Subject};
use super::steps::{Action, Goes, Step};
use super::verdict::{StepCounts, Verdict};

/// Settings of every scenario, unless its `set` changes them.
const QUIET: [&str; 2] = ["memory.prefetch.outstanding=0", "memory.l1i.next-line-prefetch=false"];
/// Address of the first instruction of core 0, and its distance to that of the next core.
const CODE: u64 = 0x10_0000;
/// Bits of an address within a line, and within a page.
const LINE_SHIFT: u32 = 6;
const PAGE_SHIFT: u32 = 12;

/// Returns the built-in configuration.
///
/// # Errors
///
/// None: the file is part of the program.
pub fn defaults() -> Result<Document, ConfigError> {
    Document::from_embedded(EMBEDDED[0].name, &EMBEDDED)
}

/// Returns the configuration of a case: the given one, the scenario settings, then the case's keys.
///
/// # Errors
///
/// If the keys do not form a valid cluster.
pub fn configure(case: &Case, document: Document) -> Result<A53Config, ConfigError> {
    let own = case.set.iter().map(|(key, value)| format!("{key}={value}"));
    let mut document = document;
    for assignment in QUIET.map(str::to_owned).into_iter().chain(own) {
        document = document.set(&assignment)?;
    }
    A53Config::from_document(&document)
}

/// Runs one case.
pub fn run_case(case: &Case, config: &A53Config) -> Verdict {
    run_case_on(case, config, A53Counts::default).0
}

/// Runs one case with sinks that `sink` creates. Returns the verdict, and the sink of each core.
pub fn run_case_on<S: A53Sink + AsRef<A53Counts>>(
    case: &Case,
    config: &A53Config,
    sink: impl Fn() -> S,
) -> (Verdict, Vec<S>) {
    let mut cluster = Cluster::new(config, (0..case.cores()).map(|_| sink()).collect());
    let planned = plan(case);
    set_up(case, &planned, cluster.memory());
    let mut by_step: Vec<StepCounts> = Vec::new();
    let mut last_core = planned.first().map_or(0, |first| first.core);
    for (step, planned) in case.steps.iter().zip(&planned) {
        let core = step.core;
        if core != last_core {
            cluster.wait_for_others(core);
            last_core = core;
        }
        let before = cluster.sink(core).as_ref().clone();
        match (&planned.executed, step.action) {
            (Some(executed), _) => cluster.execute(core, executed),
            (None, Action::Exception { vector }) => cluster.take_exception(core, vector),
            (None, Action::Execute { .. }) => {}
        }
        if planned.takes_exception {
            cluster.take_exception(core, 0);
        }
        note(&mut by_step, step, &cluster.sink(core).as_ref().since(&before));
    }
    let (outcomes, sinks) = cluster.finish().into_iter().unzip();
    (Verdict::of(case, outcomes, by_step), sinks)
}

/// Adds the counts of a step to those of its repetitions.
fn note(by_step: &mut Vec<StepCounts>, step: &Step, counts: &A53Counts) {
    if let Some(last) = by_step.last_mut().filter(|last| last.place == step.place) {
        return last.counts.add(counts);
    }
    let Step { text, place, core, .. } = step.clone();
    by_step.push(StepCounts { step: text, place, core, counts: counts.clone() });
}

/// A step with its address in the program.
struct Planned {
    core: usize,
    executed: Option<Executed>,
    /// The instruction causes an exception after it.
    takes_exception: bool,
}

/// Returns the steps with their addresses.
fn plan(case: &Case) -> Vec<Planned> {
    let mut pcs: Vec<u64> = (0..case.cores() as u64).map(|core| CODE + core * CODE).collect();
    let mut planned = Vec::new();
    for step in &case.steps {
        let core = step.core;
        let Action::Execute { word, operand, goes, exclusive_fails, faults } = step.action else {
            planned.push(Planned { core, executed: None, takes_exception: false });
            continue;
        };
        let pc = pcs[core];
        let next = match goes {
            Goes::By(bytes) => pc.wrapping_add_signed(bytes),
            Goes::To(target) => target,
        };
        pcs[core] = next;
        let takes_exception = faults || causes_exception(word);
        let next = (!takes_exception).then_some(next);
        let is_abandoned = faults;
        let executed = Executed { pc, word, operand, exclusive_fails, is_abandoned, next };
        planned.push(Planned { core, executed: Some(executed), takes_exception });
    }
    planned
}

fn causes_exception(word: u32) -> bool {
    let inst = decode(word);
    inst.branch == BranchKind::None
        && matches!(
            inst.special,
            Special::SupervisorCall
                | Special::HypervisorCall
                | Special::SecureMonitorCall
                | Special::Breakpoint
                | Special::Undefined
        )
}

/// Fills caches and TLBs.
fn set_up(case: &Case, planned: &[Planned], memory: &mut ClusterMemory) {
    let places: Vec<Place> =
        case.given.clauses.iter().flat_map(|clause| places_of(clause, planned)).collect();
    let is_free = |addr: u64, core: usize, is_page: bool| {
        let shift = if is_page { PAGE_SHIFT } else { LINE_SHIFT };
        places.iter().all(|place| {
            place.held.is_page() != is_page
                || place.addr >> shift != addr >> shift
                || (is_page && place.core != core)
        })
    };
    for Planned { core, executed, .. } in planned {
        let Some(executed) = executed else { continue };
        let is_mapped = case.given.base >= Base::Mapped;
        for (addr, line) in [
            (Some(executed.pc), is_mapped.then_some(HeldLine::L1i)),
            (
                executed.operand,
                (case.given.base == Base::Warm).then_some(HeldLine::L1d { dirty: false }),
            ),
        ] {
            let Some(addr) = addr else { continue };
            if is_mapped && is_free(addr, *core, true) {
                memory.hold_page(*core, addr, HeldPage::MicroTlbs);
            }
            if let Some(line) = line.filter(|_| is_free(addr, *core, false)) {
                memory.hold_line(*core, addr, line);
            }
        }
    }
    for Place { core, addr, held } in places {
        match held {
            Held::Line(Some(line)) => memory.hold_line(core, addr, line),
            Held::Page(Some(page)) => memory.hold_page(core, addr, page),
            Held::Line(None) | Held::Page(None) => {}
        }
    }
}

/// Place of one line or page.
#[derive(Clone, Copy)]
struct Place {
    core: usize,
    addr: u64,
    held: Held,
}

impl Held {
    fn is_page(self) -> bool {
        matches!(self, Held::Page(_))
    }
}

fn places_of(clause: &Clause, planned: &[Planned]) -> Vec<Place> {
    let Clause { core, held, .. } = *clause;
    let own = planned.iter().filter(|planned| planned.core == core);
    let executed = own.filter_map(|planned| planned.executed.as_ref());
    let addresses: Vec<u64> = match &clause.subject {
        Subject::Addresses(addresses) => addresses.clone(),
        Subject::Data => executed.filter_map(|executed| executed.operand).collect(),
        Subject::Code => executed.map(|executed| executed.pc).collect(),
    };
    addresses.into_iter().map(|addr| Place { core, addr, held }).collect()
}
