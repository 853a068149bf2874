//! The page `docs/loaded-latency.md`.

use std::fmt::Write as _;

use sim_machine::Machine;

use super::{Measured, NUMBERS};

/// Published bandwidth by [`NUMBERS`] with 4 MB and with 512 MB a process, in GB/s; 0 for none.
const COBALT: [[u32; 2]; NUMBERS.len()] =
    [[0, 0], [100, 45], [202, 88], [348, 170], [545, 314], [553, 459], [597, 475]];
/// The same for Yitian 710.
const YITIAN: [[u32; 2]; NUMBERS.len()] =
    [[43, 19], [63, 38], [110, 66], [226, 98], [331, 101], [504, 100], [195, 120]];

/// Writes the page.
pub(super) fn page(measured: &[Measured]) -> String {
    let mut page = include_str!("page.md").to_owned();
    for of in measured {
        let name = of.machine.name();
        for (key, table) in [("curves", curves(of)), ("bandwidths", bandwidths(of))] {
            page = page.replace(&format!("{{{name} {key}}}\n"), &table);
        }
    }
    page.replace("{pairs}\n", &pairs(measured))
}

fn curves(of: &Measured) -> String {
    let mut table = "| pause, cycles | memory, GB/s | ns | with limits, GB/s | ns | cache, GB/s \
                     | ns | with limits, GB/s | ns |\n"
        .to_owned();
    table.push_str("| ---: |");
    table.push_str(&" ---: |".repeat(8));
    table.push('\n');
    for (at, point) in of.memory.free.iter().enumerate() {
        let points = [point, &of.memory.limited[at], &of.cache.free[at], &of.cache.limited[at]];
        let cell = |point: &sim_lab::membench::loaded::Point| {
            format!(" {:.0} | {:.0} |", point.over_the_mesh, point.nanoseconds)
        };
        let cells: String = points.into_iter().map(cell).collect();
        let _ = writeln!(table, "| {} |{cells}", point.pause);
    }
    table
}

fn bandwidths(of: &Measured) -> String {
    let published = if of.machine == Machine::Cobalt100 { COBALT } else { YITIAN };
    let mut table = "| cores | 4 MB: published | model | with limits | 512 MB: published \
                     | model | with limits |\n"
        .to_owned();
    table.push_str("| ---: |");
    table.push_str(&" ---: |".repeat(6));
    table.push('\n');
    for (at, cores) in NUMBERS.into_iter().enumerate() {
        let (free, limited) = (of.bandwidths.free[at], of.bandwidths.limited[at]);
        let side = |supply: usize| {
            let known = published[at][supply];
            let known = if known == 0 { "-".to_owned() } else { known.to_string() };
            format!(" {known} | {:.0} | {:.0} |", free[supply], limited[supply])
        };
        let _ = writeln!(table, "| {cores} |{}{}", side(0), side(1));
    }
    table
}

fn pairs(measured: &[Measured]) -> String {
    let mut table = "| machine | limits | least | mean | most |\n".to_owned();
    table.push_str("| --- | --- | ---: | ---: | ---: |\n");
    for of in measured {
        for (limits, pairs) in [("none", of.pairs.free), ("all", of.pairs.limited)] {
            let name = of.machine.name();
            let _ = writeln!(
                table,
                "| {name} | {limits} | {:.0} | {:.0} | {:.0} |",
                pairs.least, pairs.mean, pairs.most
            );
        }
    }
    table
}
