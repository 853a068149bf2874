//! Checks of a value against its unit: percentages that are off by a factor of 100, misses per
//! cycle labeled as MPKI, and shares of slots that are not shares.

use super::dimension::{Dimension, Measure};
use super::link::Linked;
use super::lint::{Kind, Report, Severity};
use super::node::{BinaryOp, NodeId, Op};
use super::population::{Base, Population, Stage};

/// Meaning of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// Parts of 100.
    Percent,
    /// Occurrences per 1000 retired instructions.
    PerKiloInstruction,
    /// Occurrences per cycle.
    PerCycle,
}

impl Meaning {
    /// Returns the meaning of a unit as files write it. Most units have none that can be checked.
    fn of(unit: &str) -> Option<Meaning> {
        let lower = unit.to_ascii_lowercase();
        match lower.as_str() {
            "mpki" | "pki" => Some(Meaning::PerKiloInstruction),
            "per cycle" => Some(Meaning::PerCycle),
            "%" => Some(Meaning::Percent),
            text if text.starts_with("percent") => Some(Meaning::Percent),
            _ => None,
        }
    }

    fn factor(self) -> f64 {
        match self {
            Meaning::Percent => 100.0,
            Meaning::PerKiloInstruction => 1000.0,
            Meaning::PerCycle => 1.0,
        }
    }
}

/// Checks the value of a formula against the unit of its metric.
pub(super) fn check(report: &mut Report<'_>, linked: &Linked, measures: &[Measure]) {
    let unit = report.metric.scale.unit.clone();
    let Some(meaning) = Meaning::of(&unit) else {
        return;
    };
    let root = measures[linked.root().index()];
    if let Some(scale) = root.scale {
        let factor = scale * report.metric.scale.factor;
        if (factor / meaning.factor() - 1.0).abs() > 1e-9 {
            let message = format!(
                "the value is multiplied by {factor} and its unit, {unit}, asks for {}",
                meaning.factor()
            );
            report.add(Severity::Error, Kind::Unit, message);
        }
    }
    if let Some(dimension) = root.dimension
        && !fits(meaning, dimension)
    {
        let message = format!("the value is {dimension}, which is not {unit}");
        report.add(Severity::Error, Kind::Unit, message);
    }
    if meaning == Meaning::PerKiloInstruction {
        divisor_retires(report, linked, &unit);
    }
    whole(report, linked, &unit);
}

fn fits(meaning: Meaning, dimension: Dimension) -> bool {
    let alone = |base: Base, exponent: i8| {
        dimension.exponent(base) == exponent
            && Base::ALL
                .into_iter()
                .filter(|other| *other != base)
                .all(|other| (0..=1).contains(&dimension.exponent(other)))
    };
    match meaning {
        Meaning::Percent => dimension.is_none(),
        // Branches are instructions, so their rate has no dimension.
        Meaning::PerKiloInstruction => dimension.is_none() || alone(Base::Instruction, -1),
        Meaning::PerCycle => alone(Base::Cycle, -1),
    }
}

/// Returns the divisor of the quotient in a value, ignoring factors around it.
fn divisor(linked: &Linked) -> Option<NodeId> {
    let mut id = linked.root();
    loop {
        match linked.node(id).op {
            Op::Binary(BinaryOp::Divide | BinaryOp::Ratio, above, below) => {
                match linked.node(below).op {
                    // `a / b / 1000` and `a / 1000` are quotients of another kind.
                    Op::Number(_) => id = above,
                    _ => return Some(below),
                }
            }
            Op::Binary(BinaryOp::Multiply, a, b) => match (linked.node(a).op, linked.node(b).op) {
                (Op::Number(_), _) => id = b,
                (_, Op::Number(_)) => id = a,
                _ => return None,
            },
            _ => return None,
        }
    }
}

/// Returns the mnemonic and the population of the event at a node.
fn event_at(linked: &Linked, id: NodeId) -> Option<(&'static str, Population)> {
    match linked.node(id).op {
        Op::Name(name) => linked.event(name).population(),
        _ => None,
    }
}

/// Checks that MPKI relates to retired instructions. With executed ones, wrong paths lower the
/// value.
fn divisor_retires(report: &mut Report<'_>, linked: &Linked, unit: &str) {
    let Some(id) = divisor(linked) else {
        return;
    };
    if let Some((event, population)) = event_at(linked, id)
        && population.stage == Stage::Speculative
    {
        let message =
            format!("{unit} relates to retired instructions, and {event} includes wrong paths");
        report.at(linked, id, Severity::Warning, Kind::Stage, &message);
    }
}

/// Reports `percent of cycles` that is not divided by cycles.
fn whole(report: &mut Report<'_>, linked: &Linked, unit: &str) {
    const WHOLES: [(&str, Base); 2] = [("cycles", Base::Cycle), ("slots", Base::Slot)];
    let named = WHOLES.iter().find(|(word, _)| unit == format!("percent of {word}"));
    let (Some((word, base)), Some(id)) = (named, divisor(linked)) else {
        return;
    };
    if let Some((event, population)) = event_at(linked, id)
        && population.base != *base
    {
        let message = format!("the divisor is {event} and not the {word}");
        report.at(linked, id, Severity::Error, Kind::Unit, &message);
    }
}
