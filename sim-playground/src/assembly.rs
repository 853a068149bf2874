//! Programs in assembly: assembled, run, and given to the model as steps that are issued together.

use std::collections::BTreeMap;

use serde::Serialize;
use sim_asm::{EXAMPLES, Executed, Limits, Run, Stop, assemble, run};
use sim_isa::{BranchKind, decode};
use sim_scenario::{Action, Case, Elements, Join, Place, Step, Xt, parse_steps};

/// Line of a text of steps that is a program.
const MARK: &str = ".text";
/// Most instructions of a run: each is a step of the case.
const MOST: u64 = 20_000;

/// Result of a run, without the model.
#[derive(Debug, Serialize)]
pub(crate) struct Assembled {
    executed: usize,
    stopped: &'static str,
    /// General registers that are not 0.
    registers: BTreeMap<String, u64>,
    /// Executions by line of the text, from 1.
    lines: BTreeMap<u32, u64>,
}

/// An example for the editor.
#[derive(Debug, Serialize)]
pub(crate) struct Example {
    name: &'static str,
    text: &'static str,
}

/// Returns the examples.
pub(crate) fn examples() -> Vec<Example> {
    EXAMPLES.iter().map(|(name, text)| Example { name, text }).collect()
}

/// Returns whether a text of steps is a program.
pub(crate) fn is_program(text: &str) -> bool {
    text.lines().any(|line| line.trim() == MARK)
}

/// Assembles and runs a program.
pub(crate) fn run_text(text: &str) -> Result<Assembled, String> {
    let run = execute(text)?;
    let mut lines = BTreeMap::new();
    for executed in &run.executed {
        *lines.entry(executed.line).or_default() += 1;
    }
    let registers = run.registers.x.iter().enumerate().filter(|(_, value)| **value != 0);
    let stopped = match run.stopped {
        Stop::End => "at the end of the text",
        Stop::Return => "at the return of the program",
        Stop::Halt => "at svc or hlt",
        Stop::Limit => "after 20,000 instructions, the most that the playground runs",
    };
    Ok(Assembled {
        executed: run.executed.len(),
        stopped,
        registers: registers.map(|(n, value)| (format!("x{n}"), *value)).collect(),
        lines,
    })
}

/// Returns a case whose steps are the executed instructions.
pub(crate) fn case(given: &str, text: &str) -> Result<Case, String> {
    let run = execute(text)?;
    let lines: Vec<&str> = text.lines().collect();
    let mut case =
        parse_steps(("given", given), ("do", "ISB")).map_err(|error| error.to_string())?;
    case.steps = run.executed.iter().map(|executed| step(executed, &lines)).collect();
    // The last branch may lead to an end outside of the program.
    let within = run.executed.len() - 1;
    for (step, executed) in case.steps.iter_mut().zip(&run.executed[..within]) {
        if let Action::Execute { distance, .. } = &mut step.action {
            *distance = distance_of(executed);
        }
    }
    if let Some(first) = case.steps.first_mut() {
        first.join = Join::After;
    }
    Ok(case)
}

fn execute(text: &str) -> Result<Run, String> {
    let program = assemble(text).map_err(|error| error.to_string())?;
    let limits = Limits { instructions: MOST, ..Limits::default() };
    let run = run(&program, limits).map_err(|error| error.to_string())?;
    if run.executed.is_empty() {
        return Err(String::from("the program has no instructions: write one, such as nop"));
    }
    if let Some(executed) = run.executed.iter().find(|executed| executed.next_pc == executed.pc) {
        return Err(format!(
            "line {}: a branch to itself: give the loop another instruction, such as nop",
            executed.line
        ));
    }
    Ok(run)
}

/// Returns the bytes from a branch to its target if a register has the target.
fn distance_of(executed: &Executed) -> Option<i64> {
    let branch = decode(executed.word).branch;
    let is_indirect =
        matches!(branch, BranchKind::Indirect | BranchKind::IndirectCall | BranchKind::Return);
    (executed.taken && is_indirect).then(|| executed.next_pc.wrapping_sub(executed.pc) as i64)
}

fn step(executed: &Executed, lines: &[&str]) -> Step {
    let text = lines.get(executed.line as usize - 1).map_or("", |line| line.trim());
    Step {
        text: text.to_owned(),
        place: Place { line: executed.line as usize, column: 1 },
        join: Join::With,
        wrong_path: false,
        action: Action::Execute {
            word: executed.word,
            operand: executed.addr.map(Xt::Address),
            taken: executed.taken,
            distance: None,
            exclusive_fails: false,
            elements: Elements::default(),
        },
        other_path: Vec::new(),
    }
}
