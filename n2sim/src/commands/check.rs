//! `n2sim check`: runs scenario files, or checks count tables of any machine.

mod a53;
mod core_rules;
mod count_tables;
mod outside;
mod remedies;
mod scenarios;

use std::path::PathBuf;

use anyhow::Context;
use clap::Args as ClapArgs;
use sim_core::pmu_event::EventNameError;
use sim_core::{A53Event, PmuEvent};

use crate::shared_args::{CoreName, MachineArgs, RevisionName};
use crate::verdict::Verdict;

/// Run scenario files, or check count tables of any machine
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples: n2sim check tests/scenarios\n          \
    n2sim check my-cases.toml --show\n          \
    n2sim check tests/scenarios-a53\n          \
    n2sim check tests/scenarios/410-l1d-refill.toml --case T.L1D_CACHE_REFILL.2\n          \
    perf stat -x, -o perf.csv -e ... ./program; n2sim check perf.csv --revision r0p3\n          \
    n2sim check pi3.csv --core cortex-a53")]
pub(crate) struct CheckArgs {
    /// Read every file as a count table, whatever its name
    #[arg(long)]
    pub(crate) counts: bool,
    /// Scenario files (*.toml) or directories of them; or count tables of any machine
    ///
    /// Count tables are the output of `perf stat`, with or without -x, -j or -I, and of `perf stat
    /// report`.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Run only this case, and print what each step counts (repeat for more)
    #[arg(long, value_name = "NAME", help_heading = "Scenarios", conflicts_with = "counts")]
    pub(crate) case: Vec<String>,
    /// Print what each step of every case counts
    ///
    /// All events that are not 0 are printed, except clocks and stalls.
    #[arg(long, help_heading = "Scenarios", conflicts_with_all = ["counts", "case"])]
    pub(crate) show: bool,
    /// Print the counts of these events for every case, or for those of --case
    #[arg(short, long, value_name = "EVENT,...", help_heading = "Scenarios")]
    #[arg(conflicts_with = "counts", value_delimiter = ',', value_parser = NamedEvent::parse)]
    pub(crate) event: Vec<NamedEvent>,
    /// With --case: metrics to compute from the counts
    #[arg(short = 'M', long, value_name = "METRIC,...", help_heading = "Scenarios")]
    #[arg(value_delimiter = ',', requires = "case")]
    pub(crate) metric: Vec<String>,
    /// Core that counted
    ///
    /// Without it, the core is the one that the PMU in the names of the events is named after,
    /// such as armv8_cortex_a53, or a Neoverse N2.
    #[arg(long, value_enum, value_name = "CORE", help_heading = "Count tables")]
    pub(crate) core: Option<CoreName>,
    /// Revision of the core that counted
    ///
    /// The revisions r0p0 to r0p2 count one stalled slot too many per cycle.
    #[arg(long, value_enum, help_heading = "Count tables")]
    pub(crate) revision: Option<RevisionName>,
    /// Value of CPUECTLR.EXTLLC; if it is clear, the last-level events stay 0
    #[arg(long, value_name = "true|false", help_heading = "Count tables")]
    pub(crate) extllc: Option<bool>,
    /// Percent by which two sides may differ
    ///
    /// The default is 0; for intervals and CPUs it is 1; for counts that are scaled from a part of
    /// the time it is 10.
    #[arg(long, value_name = "PERCENT", help_heading = "Count tables")]
    #[arg(allow_negative_numbers = true)]
    pub(crate) tolerance: Option<f64>,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

/// An event by its name: of the core of the scenarios.
#[derive(Clone, Debug)]
pub(crate) struct NamedEvent {
    /// Name as given.
    pub(crate) name: String,
    n2: Result<PmuEvent, EventNameError>,
    a53: Option<A53Event>,
}

impl NamedEvent {
    /// Looks a name up on both cores. The error is that of a name that neither has.
    fn parse(name: &str) -> Result<NamedEvent, EventNameError> {
        let (n2, a53) = (PmuEvent::from_name(name), A53Event::from_linux_name(name));
        match (&n2, a53) {
            (Err(error), None) => Err(error.clone()),
            _ => Ok(NamedEvent { name: name.to_owned(), n2, a53 }),
        }
    }
}

impl CheckArgs {
    /// Returns the events of -e on a Neoverse N2.
    fn n2_events(&self) -> anyhow::Result<Vec<PmuEvent>> {
        Ok(self.event.iter().map(|event| event.n2.clone()).collect::<Result<_, _>>()?)
    }

    /// Returns the events of -e on a Cortex-A53.
    fn a53_events(&self) -> anyhow::Result<Vec<A53Event>> {
        let event = |named: &NamedEvent| {
            named.a53.with_context(|| {
                format!(
                    "-e {}: the Cortex-A53 has no such event; `n2sim list events --core cortex-a53` lists them",
                    named.name
                )
            })
        };
        self.event.iter().map(event).collect()
    }

    /// Returns whether the files are count tables: neither scenarios by their names nor
    /// directories.
    fn has_counts(&self) -> bool {
        let is_scenario = |path: &PathBuf| {
            path.is_dir() || path.extension().is_some_and(|extension| extension == "toml")
        };
        self.counts || self.case.is_empty() && !self.files.iter().any(is_scenario)
    }
}

/// Runs the scenarios, or checks the tables.
pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<Verdict> {
    match args.has_counts() {
        true => count_tables::run(args),
        false => scenarios::run(args),
    }
}
