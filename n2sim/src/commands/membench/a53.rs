//! `n2sim membench --core cortex-a53`.

use std::io::Write;

use sim_a53::A53Config;
use sim_lab::membench::a53::{self, A53Level};
use sim_report::ladder::Form;
use sim_report::{a53_ladder, figure};

use super::{MembenchArgs, Quantity, each};
use crate::files::a53_config;

/// Measures the quantity on a Cortex-A53 and writes its table. Returns the figure.
pub(super) fn measure(
    args: &MembenchArgs,
    config: &A53Config,
    form: Form,
    out: &mut impl Write,
) -> anyhow::Result<String> {
    Ok(match args.quantity {
        Quantity::Latency => {
            let rows = each(&a53::footprints(), |footprint| a53::latency(config, footprint))?;
            a53_ladder::write_latency(out, &rows, form)?;
            figure::a53::latency(&rows)
        }
        Quantity::Tlb => {
            let knees = each(&a53::page_counts(config), |pages| a53::knee(config, pages))?;
            a53_ladder::write_knees(out, config, &knees, form)?;
            figure::a53::knees(config, &knees)
        }
        Quantity::Bandwidth => {
            let levels = A53Level::of(config).into_iter();
            let levels: Vec<_> = levels.flat_map(|level| [(level, true), (level, false)]).collect();
            let rates = each(&levels, |(level, prefetch)| a53::read_rate(config, level, prefetch))?;
            a53_ladder::write_rates(out, &rates, form)?;
            figure::a53::rates(&rates)
        }
        Quantity::CoreToCore => anyhow::bail!(
            "core-to-core works with --core neoverse-n2 only; choose latency, tlb or bandwidth"
        ),
    })
}

/// Returns the configuration. Refuses what this core cannot measure.
pub(super) fn config(args: &MembenchArgs) -> anyhow::Result<A53Config> {
    if args.save_traces.is_some() {
        anyhow::bail!(
            "--save-traces works with --core neoverse-n2 only; its loops are for any core"
        );
    }
    a53_config::of(&args.machine)
}
