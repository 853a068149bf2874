//! `n2sim space export`: generators and half-spaces as JSON (`docs/space.md`).

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use clap::Args as ClapArgs;
use serde::Serialize;
use sim_core::PmuEvent;
use sim_space::{FAMILIES, Generator, Inequality, Projection, Space};

use super::EventsArgs;
use crate::files::output::Output;
use crate::verdict::Verdict;

/// Write generators and half-spaces as JSON
#[derive(Debug, ClapArgs)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    events: EventsArgs,
    /// File to write (default: standard output)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Version of the format; it changes with the meaning of a key.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document {
    format: &'static str,
    version: u32,
    core: &'static str,
    events: Vec<&'static str>,
    generators: Vec<Vector>,
    half_spaces: Vec<HalfSpace>,
}

/// Counts of a generator that are not 0.
#[derive(Serialize)]
struct Vector {
    path: String,
    counts: BTreeMap<&'static str, u64>,
}

/// A sum of counts, each times its weight, that is at most 0, or 0.
#[derive(Serialize)]
struct HalfSpace {
    text: String,
    sections: Vec<&'static str>,
    relation: &'static str,
    weights: BTreeMap<&'static str, i64>,
}

/// Writes the whole space, or that of some events.
pub(crate) fn run(args: &ExportArgs) -> anyhow::Result<Verdict> {
    let mut out = Output::create(args.output.as_deref())?;
    let (space, events) = (super::space(), args.events.different());
    let document = match events.is_empty() {
        true => whole(&space)?,
        false => projected(&space.project(&events)?),
    };
    serde_json::to_writer_pretty(&mut out, &document)?;
    writeln!(out)?;
    out.finish()?;
    Ok(Verdict::Good)
}

fn document(events: &[PmuEvent], generators: Vec<Vector>, all: Vec<Inequality>) -> Document {
    Document {
        format: "n2sim-space",
        version: VERSION,
        core: "neoverse-n2",
        events: events.iter().map(|event| event.mnemonic()).collect(),
        generators,
        half_spaces: all.iter().map(half_space).collect(),
    }
}

/// Returns every generator, with the half-spaces of each family and the rules.
fn whole(space: &Space) -> anyhow::Result<Document> {
    let mut all: Vec<Inequality> = Vec::new();
    for family in FAMILIES {
        for half_space in space.project(family.events)?.half_spaces() {
            if !all.contains(half_space) {
                all.push(half_space.clone());
            }
        }
    }
    all.extend(space.rule_half_spaces());
    let vector = |generator: &Generator| Vector {
        path: generator.name().to_owned(),
        counts: counts(PmuEvent::ALL.into_iter().map(|event| (event, generator.count(event)))),
    };
    let generators = space.generators().iter().map(vector).collect();
    Ok(document(&PmuEvent::ALL, generators, all))
}

fn projected(projection: &Projection) -> Document {
    let events = projection.events();
    let vector = |ray: &sim_space::Ray| Vector {
        path: ray.name.clone(),
        counts: counts(events.iter().copied().zip(ray.counts.iter().copied())),
    };
    let generators = projection.rays().iter().map(vector).collect();
    document(events, generators, projection.half_spaces().to_vec())
}

fn counts(all: impl Iterator<Item = (PmuEvent, u64)>) -> BTreeMap<&'static str, u64> {
    all.filter(|(_, n)| *n > 0).map(|(event, n)| (event.mnemonic(), n)).collect()
}

fn half_space(own: &Inequality) -> HalfSpace {
    let [left, right] = own.sides();
    let signed = |side: Vec<(u128, PmuEvent)>, sign: i64| {
        let term = move |(weight, event): (u128, PmuEvent)| {
            (event.mnemonic(), sign * i64::try_from(weight).unwrap_or(i64::MAX))
        };
        side.into_iter().map(term)
    };
    HalfSpace {
        text: own.to_string(),
        sections: own.sections(),
        relation: if own.is_equality() { "=" } else { "<=" },
        weights: signed(left, 1).chain(signed(right, -1)).collect(),
    }
}
