//! `n2sim space`: the combinations of counts that the flows of the guide allow.

mod export;
mod list;

use clap::{Args as ClapArgs, Subcommand};
use sim_core::PmuEvent;
use sim_metrics::identities::Assumptions;
use sim_space::Space;

use crate::verdict::Verdict;

/// List the inequalities that the guide's flows imply for counts
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples: n2sim space list\n          \
    n2sim space list --events l1d_cache_refill,l1i_cache_refill,l2d_cache\n          \
    n2sim space export -o space.json\n          \
    perf stat -x, -o perf.csv -e ... ./program; n2sim check perf.csv")]
pub(crate) struct SpaceArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    List(list::ListArgs),
    Export(export::ExportArgs),
}

/// Events of a projection.
#[derive(Debug, ClapArgs)]
struct EventsArgs {
    /// Only these events: their possible counts, whatever the others are
    #[arg(short, long, value_name = "EVENT,...", value_delimiter = ',')]
    #[arg(value_parser = PmuEvent::from_name)]
    events: Vec<PmuEvent>,
}

impl EventsArgs {
    /// Returns each event once.
    fn different(&self) -> Vec<PmuEvent> {
        let mut different = Vec::new();
        for event in &self.events {
            if !different.contains(event) {
                different.push(*event);
            }
        }
        different
    }
}

/// Lists or exports.
pub(crate) fn run(args: &SpaceArgs) -> anyhow::Result<Verdict> {
    match &args.what {
        What::List(args) => list::run(args),
        What::Export(args) => export::run(args),
    }
}

/// Returns the space of a core of revision r0p3, or after the surplus of `STALL_SLOT` was taken
/// off.
fn space() -> Space {
    let assumptions = Assumptions { has_stall_slot_erratum: Some(false), ..Assumptions::default() };
    Space::new(&assumptions, |_| None)
}
