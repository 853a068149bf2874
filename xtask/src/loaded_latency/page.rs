//! The page `docs/loaded-latency.md`.

use std::fmt::Write as _;

use sim_machine::Machine;

use super::{Both, COLUMNS, Measured, NUMBERS, depths, most_cores, numbers};

/// Bandwidth in GB/s by [`NUMBERS`] and [`COLUMNS`]; 0 for none.
type Published = [[u32; COLUMNS.len()]; NUMBERS.len()];
/// Published for Cobalt 100 (the page names the source): reads of 4 MB and of 512 MB a process,
/// updates of 512 MB, then whole lines that are written and copied, 256 MB a thread.
const COBALT: Published = [
    [0; COLUMNS.len()],
    [100, 45, 21, 111, 31],
    [202, 88, 39, 193, 59],
    [348, 170, 74, 316, 96],
    [545, 314, 128, 409, 187],
    [553, 459, 193, 376, 186],
    [550, 473, 204, 415, 199],
    [597, 475, 208, 371, 182],
    [633, 475, 210, 420, 200],
];
/// The same for Yitian 710.
const YITIAN: Published = [
    [43, 19, 8, 47, 13],
    [63, 38, 15, 53, 20],
    [110, 66, 26, 61, 30],
    [226, 98, 42, 67, 39],
    [331, 101, 49, 72, 48],
    [504, 100, 50, 83, 48],
    [0; COLUMNS.len()],
    [195, 120, 59, 87, 54],
    [0; COLUMNS.len()],
];

/// Bandwidths without and with limits, by [`numbers`] and [`COLUMNS`].
type Bandwidths = Both<Vec<[f64; COLUMNS.len()]>>;

/// Writes the page.
pub(super) fn page(measured: &[Measured]) -> String {
    let mut page = include_str!("page.md").to_owned();
    for of in measured {
        let name = of.machine.name();
        let tables = [
            ("curves", curves(of)),
            ("reads", table(of.machine, &of.bandwidths, &[(0, "4 MB"), (1, "512 MB")])),
            ("writes", writes(of.machine, &of.bandwidths)),
        ];
        for (key, table) in tables {
            page = page.replace(&format!("{{{name} {key}}}\n"), &table);
        }
    }
    let depths: Vec<_> = measured.iter().map(|of| (depths_title(of.machine), &of.depths)).collect();
    page.replace("{depths}\n", &depths::table(&depths)).replace("{pairs}\n", &pairs(measured))
}

/// Returns the name of a machine and its cores in the table of depths.
pub(super) fn depths_title(machine: Machine) -> String {
    format!("{}, {} cores", machine.name(), most_cores(machine))
}

/// Writes the table of updates, writes and copies.
pub(super) fn writes(machine: Machine, bandwidths: &Bandwidths) -> String {
    table(machine, bandwidths, &[(2, "update"), (3, "write"), (4, "copy")])
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

/// Writes a table of some columns, each with its number and title.
fn table(machine: Machine, bandwidths: &Bandwidths, columns: &[(usize, &str)]) -> String {
    let published = if machine == Machine::Cobalt100 { COBALT } else { YITIAN };
    let title = |(_, title): &(usize, &str)| format!(" {title}: published | model | with limits |");
    let titles: String = columns.iter().map(title).collect();
    let mut table = format!("| cores |{titles}\n| ---: |");
    table.push_str(&" ---: |".repeat(3 * columns.len()));
    table.push('\n');
    for (at, cores) in numbers(machine).enumerate() {
        let row = NUMBERS.iter().position(|number| *number == cores).unwrap_or_default();
        let cells = columns.iter().map(|(column, _)| {
            let known = published[row][*column];
            let known = if known == 0 { "-".to_owned() } else { known.to_string() };
            let (free, limited) = (bandwidths.free[at], bandwidths.limited[at]);
            format!(" {known} | {:.0} | {:.0} |", free[*column], limited[*column])
        });
        let _ = writeln!(table, "| {cores} |{}", cells.collect::<String>());
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
