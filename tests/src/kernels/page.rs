//! Tables of a comparison with LLVM's model, for a page.

use std::fmt::Write;

use super::a53::{self, A53Table};
use super::llvm::{self, Core, Figures};
use super::table::{AGREE, Row, Table, summary};

/// Heading of the comparison in `docs/cortex-a53.md`.
const A53_HEADING: &str = "## Beside LLVM's model\n";

/// Returns the page of the Cortex-A53 with the current figures of the comparison.
///
/// # Panics
///
/// When the page has no such section.
pub fn a53_page(page: &str, table: &A53Table) -> String {
    let (before, rest) =
        page.split_once(A53_HEADING).expect("docs/cortex-a53.md has the heading of the comparison");
    let after = rest.find("\n## ").map_or("", |at| &rest[at..]);
    format!("{before}{A53_HEADING}{}{after}", a53_section(table))
}

fn a53_section(table: &A53Table) -> String {
    let mut text = format!(
        "
`cargo xtask compare-mca` runs the kernels of `tests/kernels` through {}, with its model of this core, and
saves the cycles of one iteration; `cargo xtask accuracy --quick` compares them with ours and writes this section. Every access
is a hit, every branch is predicted, taken branches cost nothing, and the loop is unrolled to some 200 instructions, because
`llvm-mca` has neither front end nor caches.

Where the two differ by more than {:.0} %, causes are listed (`tests/kernels/cortex-a53/causes.toml`). Each is LLVM's timing of certain
instructions. The kernel runs once more on our core with the timing of its causes, and the two then agree. A test refuses a
difference without a cause, a cause that a kernel does not need, and less than 95 % of agreement.
",
        llvm::version(Core::CortexA53),
        100.0 * AGREE,
    );
    write_classes(&mut text, table);
    let (n, close, mean) = summary(table.compared().filter_map(Row::ratio));
    let (_, close_after, mean_after) = summary(table.compared().filter_map(Row::ratio_after));
    let _ = writeln!(
        text,
        "| all | {n} of {} | {:.1} % | {:.2} % | {:.1} % | {:.2} % |",
        table.rows.len(),
        100.0 * close,
        100.0 * mean,
        100.0 * close_after,
        100.0 * mean_after,
    );
    text.push_str("\nThe other kernels have instructions of later extensions, which this core does not have.\n");
    let _ = writeln!(
        text,
        "
A kernel lists the causes that it needs. With the timing of all causes in all kernels at once, {:.1} % agree: the causes are LLVM's timing
nearly everywhere, not only where they are listed.",
        100.0 * a53::agreement_with_every_view(table),
    );
    write_causes(&mut text, table);
    text
}

/// Writes the table by class.
pub fn write_classes<F: Figures, V>(text: &mut String, table: &Table<F, V>) {
    text.push_str("\n| class | kernels | within 10 % | mean | after causes | mean |\n");
    text.push_str("| --- | ---: | ---: | ---: | ---: | ---: |\n");
    for class in classes(table) {
        let rows = || table.compared().filter(|row| row.kernel.class == class);
        let (n, close, mean) = summary(rows().filter_map(Row::ratio));
        if n == 0 {
            continue;
        }
        let (_, close_after, mean_after) = summary(rows().filter_map(Row::ratio_after));
        let all = table.rows.iter().filter(|row| row.kernel.class == class).count();
        let _ = writeln!(
            text,
            "| {class} | {n} of {all} | {:.1} % | {:.2} % | {:.1} % | {:.2} % |",
            100.0 * close,
            100.0 * mean,
            100.0 * close_after,
            100.0 * mean_after,
        );
    }
}

/// Returns the classes in the order of the files.
fn classes<F, V>(table: &Table<F, V>) -> Vec<&str> {
    let mut classes: Vec<&str> = table.rows.iter().map(|row| row.kernel.class.as_str()).collect();
    classes.dedup();
    classes
}

/// Writes the table of causes.
pub fn write_causes<F: Figures, V>(text: &mut String, table: &Table<F, V>) {
    text.push_str(
        "\n### Causes\n\n| cause | what LLVM says | source | kernels | ratios before | after |\n",
    );
    text.push_str("| --- | --- | --- | ---: | --- | --- |\n");
    for (i, cause) in table.causes.iter().enumerate() {
        let rows: Vec<&Row<F>> = table.rows.iter().filter(|row| row.causes.contains(&i)).collect();
        let before = range(rows.iter().filter_map(|row| row.ratio()));
        let after = range(rows.iter().filter_map(|row| row.ratio_after()));
        let after = if cause.view.is_empty() { "not run".to_owned() } else { after };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {before} | {after} |",
            cause.id,
            cause.text,
            cause.source,
            rows.len()
        );
    }
}

/// Returns the smallest and largest of some ratios, as text.
fn range(ratios: impl Iterator<Item = f64>) -> String {
    let (low, high) =
        ratios.fold((f64::MAX, f64::MIN), |(low, high), ratio| (low.min(ratio), high.max(ratio)));
    if high - low < 0.005 { format!("{low:.2}") } else { format!("{low:.2} to {high:.2}") }
}
