//! The long run of the oracle: the memory model beside an independent one, on many geometries.

use std::time::Instant;

#[path = "../../sim-cache/tests/oracle/suite/mod.rs"]
mod suite;

/// Options of `cargo xtask oracle`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Number of random accesses in all
    #[arg(long, default_value_t = 1_000_000, value_name = "N")]
    accesses: u64,
    /// Number of different caches, TLBs and semantics
    #[arg(long, default_value_t = 240, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    geometries: u64,
    /// Seed of the geometries and sequences
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Compares the models. Returns true when no geometry shows a difference.
pub(crate) fn run(args: &Args) -> bool {
    let start = Instant::now();
    let each = args.accesses.div_ceil(args.geometries);
    let reports: Vec<String> = (0..args.geometries)
        .filter_map(|number| suite::check(args.seed, number, each).err())
        .collect();
    reports.iter().for_each(|report| println!("{report}"));
    println!(
        "seed {}: {} accesses on {} geometries, {} with a difference, {:.1} s",
        args.seed,
        each * args.geometries,
        args.geometries,
        reports.len(),
        start.elapsed().as_secs_f64(),
    );
    reports.is_empty()
}
