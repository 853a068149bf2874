//! Functions, source lines and instructions with the slots charged to them, and the causes.

use maud::{Markup, html};

use crate::page::{Cell, Table};
use crate::perf_stat::grouped;
use crate::run_report::{Code, Cost, HotInstruction};

use super::parts::{code_cell, left_out, percent, place_cell};

/// Most causes in a row.
const CAUSES: usize = 3;

/// Returns the tables.
pub(super) fn body(code: &Code) -> Markup {
    html! {
        p { "Slots are charged to the instruction that causes the loss: those after a mispredicted branch to the \
             branch, those of a full reorder buffer to its oldest instruction. " (grouped(code.elsewhere.slots))
            " slots belong to no instruction." }
        @if code.has_functions {
            h3 { "Functions" }
            (functions(code).html())
            (left_out(code.functions_left_out, "functions"))
        } @else {
            p.note { "The trace does not name functions; add " code { "--elf PROGRAM" } " for their names." }
        }
        @if code.has_lines {
            h3 { "Source lines" }
            (lines(code).html())
            (left_out(code.lines_left_out, "lines"))
        }
        h3 { "Instructions" }
        (instructions(code).html())
        (left_out(code.instructions_left_out, "instructions"))
    }
}

/// Adds the columns of a cost.
fn with_cost(table: Table) -> Table {
    let table = table.number("Slots").number("Share").number("Retiring").number("Bad speculation");
    let table =
        table.number("Front end").number("Back end").prose("Top stall cause").number("Cycles");
    let table =
        table.number("Instructions").number("IPC").number("Branch misses").number("L1I refills");
    let table = table.number("L1D refills").number("L2 refills").number("DTLB walks");
    table.number("ITLB walks")
}

fn cost_cells(cost: &Cost) -> [Cell; 16] {
    [
        cost.slots.into(),
        percent(cost.percent),
        Cell::share(cost.retiring, cost.slots),
        Cell::share(cost.bad_speculation, cost.slots),
        Cell::share(cost.frontend, cost.slots),
        Cell::share(cost.backend, cost.slots),
        causes(cost),
        cost.cycles.into(),
        cost.instructions.into(),
        Cell::number(cost.ipc, 2),
        cost.branch_misses.into(),
        cost.l1i_refills.into(),
        cost.l1d_refills.into(),
        cost.l2_refills.into(),
        cost.dtlb_walks.into(),
        cost.itlb_walks.into(),
    ]
}

/// Returns the causes of most of the lost slots.
fn causes(cost: &Cost) -> Cell {
    let share = |slots: u64| slots as f64 * 100.0 / cost.slots.max(1) as f64;
    let named = cost.causes.iter().take(CAUSES);
    let named = named.map(|cause| format!("{} {:.0}%", cause.name, share(cause.slots)));
    match named.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => Cell::None,
        text => Cell::Text(text),
    }
}

fn functions(code: &Code) -> Table {
    let caption = "Costs of functions, including code inlined into them, excluding calls";
    let mut table = with_cost(Table::new("functions", caption).filter().text("Function"));
    for function in &code.functions {
        table.push([code_cell(&function.name)].into_iter().chain(cost_cells(&function.cost)));
    }
    table
}

fn lines(code: &Code) -> Table {
    let table = Table::new("lines", "Costs of source lines, including inlined copies").filter();
    let mut table = with_cost(table.text("Line").text("Function"));
    for line in &code.lines {
        let place = code_cell(&format!("{}:{}", line.file, line.line));
        let named = [place, code_cell(&line.function)];
        table.push(named.into_iter().chain(cost_cells(&line.cost)));
    }
    table
}

fn instructions(code: &Code) -> Table {
    let table = Table::new("instructions", "Costs of instructions").filter();
    let table = table.text("Instruction").text("Address").text("Word").text("Kind");
    let table = with_cost(table).number("Squashed").number("Load cycles");
    let mut table = table.prose("Data from");
    for hot in &code.instructions {
        let named = [
            place_cell(&hot.place),
            code_cell(&hot.place.address),
            code_cell(&hot.word),
            hot.kind.as_str().into(),
        ];
        let own = [hot.squashed.into(), Cell::number(hot.load_cycles, 1), sources(hot)];
        table.push(named.into_iter().chain(cost_cells(&hot.cost)).chain(own));
    }
    table
}

fn sources(hot: &HotInstruction) -> Cell {
    let named = hot.sources.iter().map(|own| format!("{} {}", own.source, grouped(own.accesses)));
    match named.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => Cell::None,
        text => Cell::Text(text),
    }
}
