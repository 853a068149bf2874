//! Writes `docs/accuracy.md`: instruction costs, published targets, prediction.

mod prediction;

use anyhow::{Context, Result};
use sim_tests::kernels::table::{Row, Table, summary};
use sim_tests::{accuracy, repository};

/// Options of `cargo xtask accuracy`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Measure parts 1 and 2 alone, in seconds; part 3 stays as it is
    #[arg(long)]
    quick: bool,
}

/// Measures the parts and writes the page. Returns false when a difference has no cause.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let path = repository().join("docs/accuracy.md");
    let part_three = if args.quick {
        let page = std::fs::read_to_string(&path);
        let page = page.with_context(|| format!("reading part 3 of {}", path.display()))?;
        accuracy::part_three(&page).to_owned()
    } else {
        prediction::section()?
    };
    let config = accuracy::default_config();
    let table = Table::measure(&config.pipeline);
    let page = accuracy::page_of(&config, &table, &part_three);
    std::fs::write(&path, page).with_context(|| format!("writing {}", path.display()))?;
    println!("wrote {}", path.display());
    Ok(report(&table))
}

/// Measures the kernels and prints problems with the causes of the differences. Returns false when
/// there are any.
pub(crate) fn check_causes() -> bool {
    report(&Table::measure(&accuracy::default_config().pipeline))
}

fn report(table: &Table) -> bool {
    let problems = table.problems();
    problems.iter().for_each(|problem| println!("{problem}"));
    let before = summary(table.compared().filter_map(Row::ratio));
    let after = summary(table.compared().filter_map(Row::ratio_after));
    for (name, (n, close, mean)) in [("as they are", before), ("after the causes", after)] {
        let (close, mean) = (100.0 * close, 100.0 * mean);
        println!("{n} kernels {name}: {close:.1} % within 10 %, mean distance {mean:.2} %");
    }
    problems.is_empty()
}
