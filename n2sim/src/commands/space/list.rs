//! `n2sim space list`: events, generators and half-spaces as text.

use std::io::{self, Write};

use clap::Args as ClapArgs;
use sim_space::{FAMILIES, Projection, Space};

use super::EventsArgs;
use crate::host::call;
use crate::verdict::Verdict;

/// List events, the number of generators, and the inequalities
#[derive(Debug, ClapArgs)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    events: EventsArgs,
}

/// Prints the space by flows, or that of some events.
pub(crate) fn run(args: &ListArgs) -> anyhow::Result<Verdict> {
    let mut out = io::BufWriter::new(call::stdout());
    let (space, events) = (super::space(), args.events.different());
    if events.is_empty() {
        write_all(&mut out, &space)?;
    } else {
        write_projection(&mut out, &space.project(&events)?)?;
    }
    out.flush()?;
    Ok(Verdict::Good)
}

fn write_all(out: &mut impl Write, space: &Space) -> anyhow::Result<()> {
    writeln!(
        out,
        "possible counts of a Neoverse N2: {} paths through the flows; {} generators; {} rules besides",
        space.paths(),
        space.generators().len(),
        space.rules().count()
    )?;
    for family in FAMILIES {
        let projection = space.project(family.events)?;
        writeln!(out, "\nguide {}: {}", family.sections, family.title)?;
        write_events(out, &projection)?;
        write_half_spaces(out, &projection)?;
    }
    writeln!(out, "\nguide chapter 4: rules that no flow implies")?;
    for rule in space.rules() {
        writeln!(out, "    {rule}")?;
    }
    Ok(())
}

fn write_events(out: &mut impl Write, projection: &Projection) -> io::Result<()> {
    let names: Vec<&str> = projection.events().iter().map(|event| event.mnemonic()).collect();
    let generators = projection.rays().len();
    writeln!(out, "  {} events, {generators} generators: {}", names.len(), names.join(", "))
}

fn write_half_spaces(out: &mut impl Write, projection: &Projection) -> io::Result<()> {
    if projection.half_spaces().is_empty() {
        writeln!(out, "    any counts")?;
    }
    for half_space in projection.half_spaces() {
        writeln!(out, "    {half_space}")?;
    }
    Ok(())
}

/// Writes the two forms: inequalities, then the counts of each generator.
fn write_projection(out: &mut impl Write, projection: &Projection) -> io::Result<()> {
    write_events(out, projection)?;
    write_half_spaces(out, projection)?;
    writeln!(out, "  every possible table is a sum of these, each any number of times:")?;
    for ray in projection.rays() {
        let counted = projection.events().iter().zip(&ray.counts).filter(|(_, n)| **n > 0);
        let counts: Vec<String> = counted
            .map(|(event, n)| match n {
                1 => event.mnemonic().to_owned(),
                n => format!("{n} x {}", event.mnemonic()),
            })
            .collect();
        writeln!(out, "    {}", counts.join(", "))?;
        writeln!(out, "        {}", ray.name)?;
    }
    Ok(())
}
