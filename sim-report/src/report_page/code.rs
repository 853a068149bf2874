//! Functions, source lines and instructions with the slots charged to them, and the causes.

use maud::{Markup, html};

use crate::page::{Cell, Table};
use crate::perf_stat::grouped;
use crate::run_report::{Code, Cost, HotInstruction, RunReport};

use super::listing;
use super::parts::{code_cell, file_name, left_out, line_cell, listed, percent, term};

/// Most causes in a row.
const CAUSES: usize = 3;

/// Returns the tables.
pub(super) fn body(report: &RunReport) -> Markup {
    let code = &report.code;
    let charged = match report.core {
        None => {
            "Slots are charged to the instruction that causes the loss: those after a mispredicted branch to the \
             branch, those of a full reorder buffer to its oldest instruction. "
        }
        Some(_) => {
            "Slots after a mispredicted branch are charged to the branch, all others to the instruction that \
             waits: not to a load that misses, but to the next instruction that cannot issue. "
        }
    };
    let is_n2 = report.core.is_none();
    html! {
        p { (charged) (grouped(code.elsewhere.slots)) " slots belong to no instruction." }
        @if code.has_functions {
            h3 { "Functions" }
            (functions(code, is_n2).html())
            (left_out(code.functions_left_out, "functions"))
        } @else {
            p.note { "The trace does not name functions; add " code { "--elf PROGRAM" } " for their names." }
        }
        (listing::all(report))
        @if code.has_lines {
            h3 { "Source lines" }
            (lines(report).html())
            (left_out(code.lines_left_out, "lines"))
        }
        h3 { "Instructions" }
        (instructions(report, is_n2).html())
        (left_out(code.instructions_left_out, "instructions"))
    }
}

/// Adds the columns of a cost.
fn with_cost(table: Table, is_n2: bool) -> Table {
    let used = if is_n2 { "Retiring" } else { "Issued" };
    let table = table.number("Slots").live("slots").number("Share").live("share");
    let table = table.number("Cycles").number("IPC").more();
    let table = table.number(used).number("Bad speculation").number("Front end");
    let table = table.number("Back end").number("Instructions").number("Branch misses");
    let table = table.number("L1I refills").number("L1D refills").number("L2 refills");
    match is_n2 {
        true => table.number("DTLB walks").number("ITLB walks"),
        false => table.number("Data TLB refills").number("Code TLB refills"),
    }
}

fn cost_cells(cost: &Cost) -> [Cell; 15] {
    let count = |counts: [Option<u64>; 2]| {
        counts.into_iter().flatten().next().map_or(Cell::None, Cell::Count)
    };
    [
        cost.slots.into(),
        percent(cost.percent),
        cost.cycles.into(),
        Cell::number(cost.ipc, 2),
        Cell::share(cost.retiring, cost.slots),
        Cell::share(cost.bad_speculation, cost.slots),
        Cell::share(cost.frontend, cost.slots),
        Cell::share(cost.backend, cost.slots),
        cost.instructions.into(),
        cost.branch_misses.into(),
        cost.l1i_refills.into(),
        cost.l1d_refills.into(),
        cost.l2_refills.into(),
        count([cost.dtlb_walks, cost.l1d_tlb_refills]),
        count([cost.itlb_walks, cost.l1i_tlb_refills]),
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

fn functions(code: &Code, is_n2: bool) -> Table {
    let caption = "Costs of functions, including code inlined into them, excluding calls";
    let table = Table::new("functions", caption).filter().tall().text("Function");
    let mut table = with_cost(table.prose("Lost most to"), is_n2);
    for function in &code.functions {
        let named = [code_cell(&function.name), causes(&function.cost)];
        table.push(named.into_iter().chain(cost_cells(&function.cost)));
    }
    table
}

fn lines(report: &RunReport) -> Table {
    let (code, is_n2) = (&report.code, report.core.is_none());
    let table = Table::new("lines", "Costs of source lines, including inlined copies").filter();
    let table = table.tall().text("Line").prose("Lost most to");
    let mut table = with_cost(table, is_n2).text("Function");
    for line in &code.lines {
        let place = line_cell(&format!("{}:{}", line.file, line.line), report);
        let named = [place, causes(&line.cost)].into_iter().chain(cost_cells(&line.cost));
        table.push(named.chain([code_cell(&line.function)]));
    }
    table
}

fn instructions(report: &RunReport, is_n2: bool) -> Table {
    let table = Table::new("instructions", "Costs of instructions").filter().tall();
    let table = table.text("Instruction").prose("Lost most to");
    let mut table = with_cost(table, is_n2).text("Address").text("Word").text("Kind");
    if is_n2 {
        table = table.number("Squashed").number("Load cycles").prose("Data from");
    }
    for hot in &report.code.instructions {
        let place = html! {
            (listed(&hot.place, &report.listings))
            @if let Some(line) = &hot.place.line { " " span.quiet title=(line) { (file_name(line)) } }
        };
        let named = [Cell::Markup(place, hot.place.address.clone()), causes(&hot.cost)];
        let place = [code_cell(&hot.place.address), code_cell(&hot.word), hot.kind.as_str().into()];
        let squashed = hot.squashed.map_or(Cell::None, Cell::Count);
        let own = [squashed, Cell::number(hot.load_cycles, 1), sources(hot)];
        let own = own.into_iter().filter(|_| is_n2);
        table.push(named.into_iter().chain(cost_cells(&hot.cost)).chain(place).chain(own));
    }
    table
}

fn sources(hot: &HotInstruction) -> Cell {
    let named =
        hot.sources.iter().map(|own| format!("{} {}", term(&own.source), grouped(own.accesses)));
    match named.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => Cell::None,
        text => Cell::Text(text),
    }
}
