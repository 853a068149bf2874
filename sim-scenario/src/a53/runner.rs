//! Runs one case on a cluster of its own.
//!
//! Every instruction passes through the whole pipeline and memory of the model. When a step is on
//! another core than the step before, that core waits until the others are done.

use sim_a53::bench::{Cluster, Executed};
use sim_a53::cluster::EMBEDDED;
use sim_a53::memory::{ClusterMemory, HeldLine, HeldPage, Ram};
use sim_a53::{A53Config, A53Counts, A53Sink};
use sim_core::Maintenance;
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
///
/// # Errors
///
/// If it spoils what a RAM does not have.
pub fn run_case(case: &Case, config: &A53Config) -> Result<Verdict, NotHeld> {
    run_case_on(case, config, A53Counts::default).map(|(verdict, _)| verdict)
}

/// Runs one case with sinks that `sink` creates. Returns the verdict, and the sink of each core.
///
/// # Errors
///
/// If it spoils what a RAM does not have.
pub fn run_case_on<S: A53Sink + AsRef<A53Counts>>(
    case: &Case,
    config: &A53Config,
    sink: impl Fn() -> S,
) -> Result<(Verdict, Vec<S>), NotHeld> {
    let mut cluster = Cluster::new(config, (0..case.cores()).map(|_| sink()).collect());
    let planned = plan(case);
    set_up(case, &planned, cluster.memory())?;
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
    Ok((Verdict::of(case, outcomes, by_step), sinks))
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
    /// Data address of the instruction.
    data: Option<u64>,
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
            planned.push(Planned { core, executed: None, data: None, takes_exception: false });
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
        let data = operand.filter(|_| has_address(word));
        planned.push(Planned { core, executed: Some(executed), data, takes_exception });
    }
    planned
}

/// Returns whether the operand of an instruction is an address, and no set and way or page number.
fn has_address(word: u32) -> bool {
    use Maintenance::{DataByAddress, InstByAddress, Translate};
    let is_address = |what| matches!(what, DataByAddress(_) | InstByAddress | Translate { .. });
    decode(word).maintenance.is_none_or(is_address)
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
fn set_up(case: &Case, planned: &[Planned], memory: &mut ClusterMemory) -> Result<(), NotHeld> {
    let places: Vec<Place> =
        case.given.clauses.iter().flat_map(|clause| places_of(clause, planned)).collect();
    let is_free = |addr: u64, core: usize, is_page: bool| {
        let shift = if is_page { PAGE_SHIFT } else { LINE_SHIFT };
        places.iter().all(|place| {
            place.held.is_page() != Some(is_page)
                || place.addr >> shift != addr >> shift
                || (is_page && place.core != core)
        })
    };
    for Planned { core, executed, data, .. } in planned {
        let is_mapped = case.given.base >= Base::Mapped;
        let is_warm = case.given.base == Base::Warm;
        let code = executed.as_ref().map(|executed| executed.pc);
        let used = [
            (code, is_mapped.then_some(HeldLine::L1i)),
            (*data, is_warm.then_some(HeldLine::L1d { dirty: false })),
        ];
        for (addr, line) in used {
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
            Held::Error(ram) => {
                if !memory.spoil(core, addr, ram) {
                    return Err(NotHeld { test: case.test.clone(), addr, ram });
                }
            }
            Held::Line(None) | Held::Page(None) => {}
        }
    }
    Ok(())
}

/// A case spoils what a RAM does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{test}': nothing of 0x{addr:x} is in the RAM {ram:?}, so that it has no error there; give it a state before"
)]
pub struct NotHeld {
    test: String,
    addr: u64,
    ram: Ram,
}

/// Place of one line or page.
#[derive(Clone, Copy)]
struct Place {
    core: usize,
    addr: u64,
    held: Held,
}

impl Held {
    /// Returns whether it places a page, or a line; `None` if neither.
    fn is_page(self) -> Option<bool> {
        match self {
            Held::Line(_) => Some(false),
            Held::Page(_) => Some(true),
            Held::Error(_) => None,
        }
    }
}

fn places_of(clause: &Clause, planned: &[Planned]) -> Vec<Place> {
    let Clause { core, held, .. } = *clause;
    let own = planned.iter().filter(|planned| planned.core == core);
    let addresses: Vec<u64> = match &clause.subject {
        Subject::Addresses(addresses) => addresses.clone(),
        Subject::Data => own.filter_map(|planned| planned.data).collect(),
        Subject::Code => own.filter_map(|planned| Some(planned.executed.as_ref()?.pc)).collect(),
    };
    addresses.into_iter().map(|addr| Place { core, addr, held }).collect()
}
