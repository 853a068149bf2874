//! Writes `docs/accuracy.md`: instruction costs, published targets, prediction; and the comparison
//! with LLVM in `docs/cortex-a53.md`.

mod prediction;

use anyhow::{Context, Result};
use sim_tests::kernels::llvm::{Core, Figures};
use sim_tests::kernels::table::{Row, Table, summary};
use sim_tests::kernels::{a53, measure, page};
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
    let table = measure::table(&config.pipeline);
    let page = accuracy::page_of(&config, &table, &part_three);
    std::fs::write(&path, page).with_context(|| format!("writing {}", path.display()))?;
    println!("wrote {}", path.display());
    Ok(report(&table) & write_a53()?)
}

/// Writes the comparison with LLVM into the page of the Cortex-A53.
fn write_a53() -> Result<bool> {
    let path = repository().join("docs/cortex-a53.md");
    let page = std::fs::read_to_string(&path);
    let page = page.with_context(|| format!("reading {}", path.display()))?;
    let table = a53::table();
    let page = page::a53_page(&page, &table);
    std::fs::write(&path, page).with_context(|| format!("writing {}", path.display()))?;
    println!("wrote {}", path.display());
    Ok(report(&table))
}

/// Measures the kernels on a core and prints problems with the causes of the differences. Returns
/// false when there are any.
pub(crate) fn check_causes(core: Core) -> bool {
    match core {
        Core::NeoverseN2 => report(&measure::table(&accuracy::default_config().pipeline)),
        Core::CortexA53 => report(&a53::table()),
    }
}

fn report<F: Figures, V>(table: &Table<F, V>) -> bool {
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
