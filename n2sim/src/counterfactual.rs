//! `n2sim stat --counterfactual`: replays a trace with one thing ideal at a time, and with two.

use std::io;
use std::path::Path;

use anyhow::Context;
use clap::ValueEnum;
use rayon::prelude::*;
use sim_core::config::Document;
use sim_lab::counterfactual::{Counterfactual, Ideal, Slots, witness};
use sim_machine::{MachineConfig, Outcome, RunHeader, RunOptions, Session};
use sim_metrics::Truths;
use sim_report::counterfactual as report;
use sim_report::header;

use crate::args::StatArgs;
use crate::memory;
use crate::output::Output;
use sim_core::Shown;

/// Runs everything and prints the table.
pub(crate) fn run(
    mut out: Output,
    args: &StatArgs,
    document: &Document,
    options: &RunOptions,
) -> anyhow::Result<()> {
    let place = args.trace.shown().to_string();
    let one = |ideals: &[Ideal]| run_one(&args.trace, document, options, ideals);
    let base = one(&[]).with_context(|| place.clone())?;
    // On all processors: the runs know nothing of each other.
    let several = |wanted: &[Vec<Ideal>]| -> anyhow::Result<Vec<Slots>> {
        let slots = |ideals: &Vec<Ideal>| one(ideals).map(|outcome| Slots::of(&outcome));
        // All end before one is looked at: of several errors the first in order is told, not in time.
        let ended: Vec<anyhow::Result<Slots>> = wanted.par_iter().map(slots).collect();
        ended.into_iter().collect()
    };
    let found = Counterfactual::run(Slots::of(&base), several).with_context(|| place)?;
    match out.is_file() && !args.is_for_programs() {
        true => header::write(&mut out, &base.header)?,
        false => header::write(&mut io::stderr(), &base.header)?,
    }
    match &args.field_separator {
        _ if args.json => report::write_json(&mut out, &found)?,
        Some(separator) => report::write_csv(&mut out, &found, &separator.replace("\\t", "\t"))?,
        None => report::write_text(&mut out, &found)?,
    }
    out.finish()
}

/// Where the truths of slots come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Source {
    /// The ledger of lost slots
    #[default]
    Ledger,
    /// What runs save in which the thing costs nothing (docs/counterfactual.md)
    Counterfactual,
}

impl Source {
    /// Truths as this source has them; the ledger has filled them already.
    pub(crate) fn settle(
        self,
        truths: &mut Truths,
        (trace, document): (&Path, &Document),
        options: &RunOptions,
    ) -> anyhow::Result<()> {
        let run = |ideals: &[Ideal]| -> anyhow::Result<Slots> {
            Ok(Slots::of(&run_one(trace, document, options, ideals)?))
        };
        match self {
            Source::Ledger => Ok(()),
            Source::Counterfactual => witness(truths, run),
        }
    }
}

/// One run, with these things ideal.
fn run_one(
    trace: &Path,
    document: &Document,
    options: &RunOptions,
    ideals: &[Ideal],
) -> anyhow::Result<Outcome> {
    let mut document = document.clone();
    for ideal in ideals {
        document = document.set(ideal.setting())?;
    }
    let header = RunHeader {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        config: document.name(),
        config_hash: document.hash(),
        trace: trace.shown().to_string(),
        ..RunHeader::default()
    };
    let session = Session::open_within(
        trace,
        MachineConfig::from_document(&document)?,
        header,
        &memory::budget(),
    )?;
    Ok(session.run(options, &mut |_| {})?)
}
