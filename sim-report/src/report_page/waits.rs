//! Matrices that show who waits for whom: of cores, and of lines and cores; and a table of their
//! numbers.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::page::palette::COLD;
use crate::page::{Cell, Matrix, MatrixCell, Scale, Table, drawing};
use crate::perf_stat::grouped;
use crate::run_report::{CorePairCount, RunReport, SharedLine};

/// Most rows and columns of a matrix of cores. Of more cores, neighbors share one.
const MOST_CORES: usize = 32;
/// Most lines of a matrix.
const MOST_LINES: usize = 10;
/// Most letters of the name of a line.
const MOST_LETTERS: usize = 28;
/// Most pairs of cores in the table.
const MOST_PAIRS: usize = 200;

/// Returns the matrices of cores and the table of their pairs; nothing if the mesh was not counted
/// or no core was snooped for a line that another one requested.
pub(super) fn cores(report: &RunReport) -> Markup {
    let (pairs, cores) = (report.core_pairs(), core_count(report));
    html! { @if pairs.iter().any(CorePairCount::has_requests) {
        h3 { "Who waits for whom" }
        p {
            "A request of a core for a line that another core has makes the home node snoop that core. Row: the core that \
             requests, and waits. Column: the core that is snooped. Cycles are those from the request to the data, of \
             loads, stores, atomics, fetches, prefetches and table walks; a core can do other work in them."
            @if let Some(sums) = sums_of_groups(cores) { " " (sums) }
            @if let Some(most) = most(pairs) { " " (most) }
        }
        div.matrices {
            (matrix("pairs-lines", "Lines that came from another core", cores, pairs, |pair| pair.lines))
            (matrix("pairs-cycles", "Cycles until they came", cores, pairs, |pair| pair.cycles))
            (matrix("pairs-snoops", "Snoops for requested lines", cores, pairs, |pair| pair.snoops))
        }
        (table(pairs).html())
        @if pairs.len() > MOST_PAIRS {
            p.quiet { "Pairs after the first " (MOST_PAIRS) " are not listed; the JSON form has all." }
        }
    } }
}

/// Returns the number of cores.
pub(super) fn core_count(report: &RunReport) -> usize {
    let agents = report.mesh.iter().flat_map(|mesh| &mesh.agents);
    let on_mesh = agents.filter(|agent| agent.name.starts_with("core ")).count();
    let users = report.shared_lines.iter().flat_map(|line| &line.users);
    let last = users.map(|user| user.core as usize + 1).max().unwrap_or(0);
    report.threads.len().max(on_mesh).max(last)
}

/// Describes the pair with most cycles in a sentence.
fn most(pairs: &[CorePairCount]) -> Option<String> {
    let most = pairs.iter().max_by_key(|pair| pair.cycles).filter(|pair| pair.lines > 0)?;
    Some(format!(
        "Most: requests of core {} took {} cycles for {} lines of core {}.",
        most.requester,
        grouped(most.cycles),
        grouped(most.lines),
        most.snooped
    ))
}

/// Returns how many neighboring cores share a row and a column.
fn share_of(cores: usize) -> usize {
    cores.div_ceil(MOST_CORES).max(1)
}

/// Says in a sentence that cells are sums; `None` if each is of one pair of cores.
fn sums_of_groups(cores: usize) -> Option<String> {
    let share = share_of(cores);
    (share > 1).then(|| {
        format!(
            "Rows and columns are groups of {share} cores, a column with the number of its first core; each cell is \
             the sum over its pairs of cores."
        )
    })
}

/// Returns the figure of a matrix of all cores; nothing if it has no count.
fn matrix(
    id: &str,
    title: &str,
    cores: usize,
    pairs: &[CorePairCount],
    of: fn(&CorePairCount) -> u64,
) -> Markup {
    let matrix = matrix_of(title, cores, pairs, of);
    html! { @if !matrix.cells.is_empty() { (figure(id, title, &matrix)) } }
}

/// Returns a matrix of all cores: rows request, columns are snooped.
pub(super) fn matrix_of(
    title: &str,
    cores: usize,
    pairs: &[CorePairCount],
    of: fn(&CorePairCount) -> u64,
) -> Matrix {
    let share = share_of(cores);
    let mut cells: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for pair in pairs.iter().filter(|pair| of(pair) > 0) {
        let at = (pair.requester as usize / share, pair.snooped as usize / share);
        *cells.entry(at).or_default() += of(pair);
    }
    let groups = (0..cores).step_by(share);
    let rows: Vec<String> =
        groups.map(|first| format!("core {}", group(first, share, cores))).collect();
    let cell = |((row, column), count): (&(usize, usize), &u64)| MatrixCell {
        row: *row,
        column: *column,
        count: *count,
        text: format!("{}: {} requests, {} is snooped", grouped(*count), rows[*row], rows[*column]),
        is_marked: false,
    };
    let all = cells.iter().map(cell).collect();
    Matrix { title: title.to_owned(), rows, columns: columns(cores), cells: all }
}

/// Returns the names of the columns: the first core of each, since ranges are too wide.
fn columns(cores: usize) -> Vec<String> {
    (0..cores).step_by(share_of(cores)).map(|first| first.to_string()).collect()
}

/// Returns the name of some neighboring cores: `3` or `4-7`.
fn group(first: usize, share: usize, cores: usize) -> String {
    let last = (first + share).min(cores) - 1;
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

fn figure(id: &str, title: &str, matrix: &Matrix) -> Markup {
    let scale = Scale::new(matrix.cells.iter().map(|cell| cell.count), COLD);
    let title_id = format!("{id}-title");
    html! {
        figure.matrix id=(id) {
            figcaption { strong id=(title_id) { (title) } }
            (scale.legend("Cells"))
            (drawing(&title_id, &matrix.svg(&scale)))
        }
    }
}

/// Returns the pairs of cores, those with most cycles first.
fn table(pairs: &[CorePairCount]) -> Table {
    let caption = "Pairs of cores: what requests of one caused at the other";
    let table = Table::new("pairs-table", caption).text("Core that requests");
    let table = table.text("Core that is snooped").number("Snoops").number("Lines");
    let mut table = table.number("Cycles").number("Cycles of a line").number("Filter evictions");
    let mut pairs: Vec<&CorePairCount> = pairs.iter().collect();
    pairs.sort_by_key(|pair| std::cmp::Reverse((pair.cycles, pair.snoops)));
    for pair in pairs.into_iter().take(MOST_PAIRS) {
        let mean = (pair.lines > 0).then(|| pair.cycles as f64 / pair.lines as f64);
        table.push([
            format!("core {}", pair.requester).into(),
            format!("core {}", pair.snooped).into(),
            pair.snoops.into(),
            pair.lines.into(),
            pair.cycles.into(),
            Cell::number(mean, 1),
            pair.evictions.into(),
        ]);
    }
    table.filter().tall()
}

/// Returns the matrix of shared lines and cores: the cycles that loads of each core took for each
/// line, and the cores that write it.
pub(super) fn lines(report: &RunReport) -> Markup {
    let cores = core_count(report);
    let share = share_of(cores);
    let listed: Vec<&SharedLine> = report.shared_lines.iter().take(MOST_LINES).collect();
    let cells = listed.iter().enumerate().flat_map(|(row, line)| row_cells(row, line, share));
    let title = "Cycles of loads, by line and core";
    let matrix = Matrix {
        title: title.to_owned(),
        rows: listed.iter().map(|line| short_name(line)).collect(),
        columns: columns(cores),
        cells: cells.collect(),
    };
    html! { @if !listed.is_empty() {
        (figure("lines-cores", title, &matrix))
        p.quiet {
            "The lines with most cycles. Column: the core whose loads and atomics got the line from another core, and the \
             cycles from issue to data. A bar at the left of a cell: the core writes the line."
        }
    } }
}

/// Returns the cells of a line: those of the cores that use it.
fn row_cells(row: usize, line: &SharedLine, share: usize) -> Vec<MatrixCell> {
    let mut by_group: BTreeMap<usize, (u64, u64, bool)> = BTreeMap::new();
    for user in &line.users {
        let own = by_group.entry(user.core as usize / share).or_default();
        *own = (own.0 + user.cycles, own.1 + user.loads, own.2 || user.writes);
    }
    let cell = |(column, (count, loads, is_marked)): (usize, (u64, u64, bool))| MatrixCell {
        row,
        column,
        count,
        text: format!(
            "{}: {} cycles of {} loads{}",
            short_name(line),
            grouped(count),
            grouped(loads),
            if is_marked { ", and it is written" } else { "" }
        ),
        is_marked,
    };
    by_group.into_iter().map(cell).collect()
}

/// Returns the variable of a line, or its address. A long name is cut before its offset.
fn short_name(line: &SharedLine) -> String {
    shortened(line.variable.as_ref().unwrap_or(&line.address))
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= MOST_LETTERS {
        return name.to_owned();
    }
    let offset = name.rfind("+0x").map_or("", |at| &name[at..]);
    let kept = MOST_LETTERS.saturating_sub(offset.chars().count() + 1);
    format!("{}…{offset}", name.chars().take(kept).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(requester: u32, snooped: u32, lines: u64) -> CorePairCount {
        CorePairCount {
            requester,
            snooped,
            snoops: lines,
            evictions: 0,
            lines,
            cycles: 100 * lines,
        }
    }

    #[test]
    fn cores_without_a_count_have_an_empty_cell() {
        let all = [pair(1, 0, 1), pair(0, 1, 0)];
        let drawn = matrix("m", "Lines", 2, &all, |pair| pair.lines).into_string();
        assert_eq!(drawn.matches("<rect x=").count() - 1, 1, "one cell and one of the legend");
        assert!(drawn.contains("1: core 1 requests, core 0 is snooped"), "{drawn}");
    }

    #[test]
    fn many_cores_share_rows_and_columns_with_their_neighbors() {
        let all = [pair(0, 1, 1), pair(1, 2, 2), pair(69, 0, 4)];
        let drawn = matrix("m", "Lines", 70, &all, |pair| pair.lines).into_string();
        assert!(drawn.contains(">core 0-2<") && drawn.contains(">core 69<"), "{drawn}");
        assert!(drawn.contains("3: core 0-2 requests, core 0-2 is snooped"), "{drawn}");
        assert!(drawn.contains("4: core 69 requests, core 0-2 is snooped"), "{drawn}");
    }

    #[test]
    fn names_of_the_columns_of_128_cores_fit_and_a_sentence_explains_the_sums() {
        let all = [pair(127, 0, 1), pair(0, 127, 2)];
        let of = |cores| matrix_of("Lines", cores, &all, |pair| pair.lines);
        let matrix = of(128);
        assert_eq!((matrix.rows.len(), matrix.columns.len()), (32, 32));
        assert_eq!(
            (matrix.rows[31].as_str(), matrix.columns[31].as_str()),
            ("core 124-127", "124")
        );
        assert!(matrix.names_fit() && of(1_024).names_fit());
        let sums = sums_of_groups(128).expect("groups");
        assert!(sums.starts_with("Rows and columns are groups of 4 cores"), "{sums}");
        assert_eq!(sums_of_groups(32), None);
    }

    #[test]
    fn a_matrix_without_a_count_is_not_drawn() {
        let evicted = CorePairCount { evictions: 3, ..pair(0, 1, 0) };
        assert!(!evicted.has_requests());
        let drawn = matrix("m", "Lines", 2, &[evicted], |pair| pair.lines).into_string();
        assert_eq!(drawn, "");
    }

    #[test]
    fn a_long_name_keeps_its_offset() {
        assert_eq!(shortened("table+0x40"), "table+0x40");
        let long = "a_module::with_a_long_path::table+0x40";
        assert_eq!(shortened(long), "a_module::with_a_long_…+0x40");
        assert_eq!(shortened(&"x".repeat(40)), format!("{}…", "x".repeat(27)));
    }
}
