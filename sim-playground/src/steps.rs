//! A case step by step: events and edges with their cycles, operations, caches and TLBs.

use serde::Serialize;
use sim_cache::{Contents, HeldLine, HeldPage, HeldSet};
use sim_core::{LINE_BYTES, LineAddr};
use sim_machine::observe::Dataflow;
use sim_scenario::{
    Action, Case, Join, Reported, STEPS_WATCHED, Step, WatchedStep, Xt, configure, parse_steps,
    watch_case,
};

use crate::assembly;
use crate::machine::Choice;
use crate::operations::Drawn;
use crate::scenarios::{Counted, counted};

/// The whole case.
#[derive(Debug, Serialize)]
pub(crate) struct Answer {
    before: State,
    steps: Vec<Shown>,
    counts: Counted,
}

/// One repetition of a step.
#[derive(Debug, Serialize)]
struct Shown {
    text: String,
    /// It starts after the step before is complete.
    after: bool,
    wrong: bool,
    begin: u64,
    end: u64,
    /// Cycle and report, in the order of the model: `[cycle, "EVENT", n]` or `[cycle, edge]`.
    log: Vec<Entry>,
    ops: Vec<Drawn>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<State>,
}

/// An entry of the log.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Entry {
    Event(u64, &'static str, u64),
    /// Cycle and place in the table of edges.
    Edge(u64, usize),
}

/// Caches and TLBs around the addresses of the case: the sets that changed, and all entries of the
/// rest. Addresses are in bytes.
#[derive(Debug, Serialize)]
struct State {
    l1d: Vec<Set>,
    l1i: Vec<Set>,
    l2: Vec<Set>,
    slc: Vec<(u64, bool)>,
    others: Vec<u64>,
    l1d_tlb: Vec<Page>,
    l1i_tlb: Vec<Page>,
    l2_tlb: Vec<Page>,
}

#[derive(Debug, Serialize)]
struct Set {
    set: u32,
    ways: Vec<Option<Line>>,
    victim: u32,
}

#[derive(Debug, Serialize)]
struct Line {
    addr: u64,
    dirty: bool,
    prefetched: bool,
    shared: bool,
    ready: u64,
    source: &'static str,
}

#[derive(Debug, Serialize)]
struct Page {
    page: u64,
    ready: u64,
    age: u32,
}

/// Runs the steps on a machine in the given state.
pub(crate) fn watch(given: &str, steps: &str, machine: &Choice) -> Result<Answer, String> {
    let mut case = match assembly::is_program(steps) {
        true => assembly::case(given, steps)?,
        false => parse_steps(("given", given), ("do", steps)).map_err(|error| error.to_string())?,
    };
    // Scenarios switch prefetchers off; what the reader switches on comes after that.
    case.given.set.extend(machine.assignments());
    watch_parsed(&case, machine)
}

/// Runs a case.
pub(crate) fn watch_parsed(case: &Case, machine: &Choice) -> Result<Answer, String> {
    if case.steps.len() > STEPS_WATCHED {
        return Err(format!(
            "the case has {} steps, and the playground shows at most {STEPS_WATCHED}; use fewer repetitions",
            case.steps.len()
        ));
    }
    let config = machine.with(|source| configure(case, source).map_err(|e| e.to_string()))?;
    let watched = watch_case(case, &config).map_err(|error| error.to_string())?;
    let mut dataflow = Dataflow::default();
    let mut last = &watched.before;
    let mut steps = Vec::with_capacity(watched.steps.len());
    for step in &watched.steps {
        let change =
            step.contents.as_ref().map(|now| change(now, std::mem::replace(&mut last, now)));
        steps.push(shown(&case.steps[step.step], step, &mut dataflow, change));
    }
    Ok(Answer {
        before: change(&watched.before, &Contents::default()),
        steps,
        counts: counted(&watched.recorded.counts),
    })
}

fn shown(
    step: &Step,
    watched: &WatchedStep,
    dataflow: &mut Dataflow,
    state: Option<State>,
) -> Shown {
    let entry = |logged: &sim_scenario::Logged| match logged.what {
        Reported::Event(event, n) => Entry::Event(logged.cycle, event.mnemonic(), n),
        Reported::Edge(edge) => Entry::Edge(logged.cycle, edge as usize),
    };
    let text = own_text(step);
    let inst = match step.action {
        Action::Execute { word, .. } => Some(sim_isa::decode(word)),
        _ => None,
    };
    let mut ops = Vec::new();
    for operation in &watched.operations {
        // Only the operation of the step has its word; those of another path have their own.
        let own = operation.timeline.wrong_path == step.wrong_path;
        let needs = dataflow.take(operation, inst.as_ref().filter(|_| own));
        let name = if own { &*text } else { "(on the wrong path)" };
        ops.push(Drawn::new(operation, name.to_owned(), &needs, &[]));
    }
    Shown {
        text,
        after: step.join == Join::After,
        wrong: step.wrong_path,
        begin: watched.begin,
        end: watched.end,
        log: watched.log.iter().map(entry).collect(),
        ops,
        state,
    }
}

/// Returns the text of a step. A repetition, such as `LD8 0x8000 (2 of 8)`, gets its own address.
fn own_text(step: &Step) -> String {
    let address = match &step.action {
        Action::Execute { operand: Some(Xt::Address(addr)), .. }
        | Action::Fetch { addr }
        | Action::Snoop { addr, .. }
        | Action::Stash { addr }
        | Action::OtherCore { addr, .. } => *addr,
        _ => return step.text.clone(),
    };
    let Some((text, count)) = step.text.rsplit_once(" (") else { return step.text.clone() };
    if !count.ends_with(')') || !count.contains(" of ") {
        return step.text.clone();
    }
    let written: Vec<&str> = text.split(' ').filter(|word| word.starts_with("0x")).collect();
    match written[..] {
        // Several addresses, or none: the text cannot have the own one in its place.
        [one] => format!("{} ({count}", text.replace(one, &format!("0x{address:X}"))),
        _ => format!("{text} at 0x{address:X} ({count}"),
    }
}

/// Returns the sets and entries that differ from those before.
fn change(now: &Contents, before: &Contents) -> State {
    State {
        l1d: sets(&now.l1d, &before.l1d),
        l1i: sets(&now.l1i, &before.l1i),
        l2: sets(&now.l2, &before.l2),
        slc: now.slc.iter().map(|(line, dirty)| (bytes(*line), *dirty)).collect(),
        others: now.others.iter().copied().map(bytes).collect(),
        l1d_tlb: pages(&now.l1d_tlb),
        l1i_tlb: pages(&now.l1i_tlb),
        l2_tlb: pages(&now.l2_tlb),
    }
}

fn bytes(line: LineAddr) -> u64 {
    line.0 * LINE_BYTES
}

fn sets(now: &[HeldSet], before: &[HeldSet]) -> Vec<Set> {
    let line = |held: &HeldLine| Line {
        addr: bytes(held.line),
        dirty: held.dirty,
        prefetched: held.prefetched,
        shared: held.shared,
        ready: held.ready,
        source: held.source.label(),
    };
    let set = |set: &HeldSet| Set {
        set: set.set,
        ways: set.ways.iter().map(|way| way.as_ref().map(line)).collect(),
        victim: set.victim,
    };
    now.iter().filter(|set| !before.contains(set)).map(set).collect()
}

fn pages(pages: &[HeldPage]) -> Vec<Page> {
    let page = |page: &HeldPage| Page { page: page.page.0, ready: page.ready, age: page.age };
    pages.iter().map(page).collect()
}
