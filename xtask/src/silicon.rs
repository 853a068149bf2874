//! Writes `docs/silicon.md`: public measurements of two machines beside the model's results, and
//! with `--fit` `docs/silicon-fit.md`.

mod fit;
mod page;
mod record;
mod replay;
mod rows;
mod tables;

use std::path::PathBuf;

use anyhow::{Context, Result};
use sim_machine::Machine;
use sim_report::figure::silicon as figure;
use sim_tests::repository;

use replay::Compared;
use rows::Row;

/// Options of `cargo xtask silicon`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Directory of the recordings; existing ones are not made again [default: target/silicon]
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// The n2sim that records [default: built from the working tree]
    #[arg(long, value_name = "PATH")]
    n2sim: Option<PathBuf>,
    /// Replay the rows whose name contains TEXT, and write no page
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Change one value of the configuration for the replay (repeat for more), and write no page
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Fit values to two thirds of the rows, on each machine from two starts, and write
    /// docs/silicon-fit.md (an hour or more)
    #[arg(long, conflicts_with_all = ["only", "set"])]
    fit: bool,
    /// With --fit: runs of the model after which no new round of a search begins
    #[arg(long, value_name = "N", default_value = "400", requires = "fit")]
    runs: usize,
}

/// Records, replays, prints every row and writes the page. Returns false if it fails its own
/// claims.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let mut rows = rows::read(&repository().join("xtask/silicon"))?;
    if let Some(text) = &args.only {
        rows.retain(|row| row.name.contains(text));
    }
    let folder = args.keep.clone().unwrap_or_else(|| repository().join("target/silicon"));
    record::record(&rows, &folder, args.n2sim.as_deref())?;
    if args.fit {
        fit::run(&rows, &folder, args.runs)?;
        return Ok(true);
    }
    let compared = replay::replay(&rows, &folder, &args.set)?;
    for machine in rows::MACHINES {
        let of_machine: Vec<&Compared<'_>> =
            compared.iter().filter(|compared| compared.row.machine == machine).collect();
        print!("{}\n{}", machine.name(), tables::summary(&of_machine));
    }
    if args.only.is_none() && args.set.is_empty() {
        write(&rows, &compared)?;
    }
    Ok(true)
}

/// Writes the page and its figure.
fn write(rows: &[Row], compared: &[Compared<'_>]) -> Result<()> {
    let point = |compared: &Compared<'_>| figure::Point {
        is_first: compared.row.machine == Machine::Cobalt100,
        is_held_out: compared.row.is_held_out(),
        silicon: compared.silicon_ns(),
        model: compared.model_ns(),
    };
    let names = rows::MACHINES.map(Machine::name);
    let drawn = figure::silicon(names, &compared.iter().map(point).collect::<Vec<_>>());
    for (name, text) in
        [("docs/figures/silicon.svg", drawn), ("docs/silicon.md", page::page(rows, compared))]
    {
        let path = repository().join(name);
        std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        println!("wrote {}", path.display());
    }
    Ok(())
}
