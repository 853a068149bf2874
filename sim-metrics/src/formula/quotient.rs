//! Quotients whose two sides count different populations.

use sim_core::PmuEvent::{self, *};

use super::link::Linked;
use super::lint::{Kind, Report, Severity};
use super::node::{BinaryOp, NodeId, Op};
use super::population::{Base, Direction, Population, Side, Stage, Structure, population};

/// Checks every division of a formula.
pub(super) fn check(report: &mut Report<'_>, linked: &Linked) {
    for (index, node) in linked.nodes().iter().enumerate() {
        let Op::Binary(BinaryOp::Divide | BinaryOp::Ratio, above, below) = node.op else {
            continue;
        };
        let (above, below) = (terms(linked, above), terms(linked, below));
        if above.is_empty() || below.is_empty() {
            continue;
        }
        let sides = Sides { above: &above, below: &below };
        for (severity, kind, message) in [sides.stages(), sides.accesses()].into_iter().flatten() {
            report.at(linked, NodeId(index as u32), severity, kind, &message);
        }
    }
}

/// Returns the events of a side that is a weighted sum of events, and none for any other side.
pub(super) fn terms(linked: &Linked, side: NodeId) -> Vec<PmuEvent> {
    let mut events = Vec::new();
    let mut rest = vec![side];
    while let Some(id) = rest.pop() {
        match linked.node(id).op {
            Op::Name(name) => match linked.event(name).event() {
                Some(event) => events.push(event),
                None => return Vec::new(),
            },
            Op::Number(_) | Op::Literal(_) => {}
            Op::Negate(a) => rest.push(a),
            Op::Binary(BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply, a, b) => {
                rest.extend([a, b]);
            }
            _ => return Vec::new(),
        }
    }
    events.sort_unstable();
    events.dedup();
    events
}

type Fault = (Severity, Kind, String);

/// Events on both sides of a division.
struct Sides<'a> {
    above: &'a [PmuEvent],
    below: &'a [PmuEvent],
}

impl Sides<'_> {
    /// Reports counts with wrong paths divided by counts without them, or the other way round. A
    /// total divided by a total is accepted: it measures squashed work.
    fn stages(&self) -> Option<Fault> {
        let stage = |events: &[PmuEvent], stage: Stage| {
            events.iter().copied().find(|event| population(*event).stage == stage)
        };
        let is_total = |events: &[PmuEvent]| events.iter().all(|event| population(*event).is_total);
        // Executed minus retired is squashed work, which belongs to neither stage.
        let is_difference = |events: &[PmuEvent]| {
            stage(events, Stage::Speculative).is_some() && stage(events, Stage::Retired).is_some()
        };
        let are_totals = is_total(self.above) && is_total(self.below);
        if are_totals || is_difference(self.above) || is_difference(self.below) {
            return None;
        }
        let (above, below, which) = match (
            stage(self.above, Stage::Speculative).zip(stage(self.below, Stage::Retired)),
            stage(self.above, Stage::Retired).zip(stage(self.below, Stage::Speculative)),
        ) {
            (Some((above, below)), _) => (above, below, "counts wrong paths too"),
            (None, Some((above, below))) => (above, below, "counts only what retired"),
            (None, None) => return None,
        };
        let message = format!(
            "{} {which} and {} does not{}",
            above.mnemonic(),
            below.mnemonic(),
            better_divisor(above)
        );
        Some((Severity::Warning, Kind::Stage, message))
    }

    /// Reports accesses divided by accesses of another kind.
    fn accesses(&self) -> Option<Fault> {
        let (above, below) = (self.of_accesses(self.above)?, self.of_accesses(self.below)?);
        let warning = |message: String| Some((Severity::Warning, Kind::Population, message));
        let names = (self.above[0].mnemonic(), self.below[0].mnemonic());
        match (above.side, below.side) {
            (Some(Side::Both), Some(Side::Data)) => {
                return warning(format!(
                    "{} counts fetches too and {} only data",
                    names.0, names.1
                ));
            }
            (Some(Side::Both), Some(Side::Fetch)) => {
                return warning(format!(
                    "{} counts data too and {} only fetches",
                    names.0, names.1
                ));
            }
            (Some(Side::Fetch), Some(Side::Data)) | (Some(Side::Data), Some(Side::Fetch)) => {
                return warning(format!(
                    "one of {} and {} counts fetches and the other one data",
                    names.0, names.1
                ));
            }
            _ => {}
        }
        let structures = (above.structure, below.structure);
        if matches!(
            structures,
            (Structure::Tlb, Structure::Cache) | (Structure::Cache, Structure::Tlb)
        ) {
            return warning(format!(
                "one of {} and {} belongs to a TLB, the other to a cache",
                names.0, names.1
            ));
        }
        let is_wider = below.direction != Direction::Any && above.direction != below.direction;
        let is_same_level = level(self.above[0]) == level(self.below[0]);
        (is_wider && is_same_level && structures.0 == structures.1).then(|| {
            let only = if below.direction == Direction::Read { "reads" } else { "writes" };
            let message = format!("{} counts only {only}, {} does not", names.1, names.0);
            (Severity::Warning, Kind::Population, message)
        })
    }

    /// Returns the population of a side that counts only accesses. Properties in which its terms
    /// differ are left open.
    fn of_accesses(&self, events: &[PmuEvent]) -> Option<Population> {
        let all: Vec<Population> = events.iter().map(|event| population(*event)).collect();
        let first = *all.first()?;
        let is_uniform = all.iter().all(|own| own.base == Base::Access && own.side == first.side);
        let has_same_direction = all.iter().all(|own| own.direction == first.direction);
        let direction = if has_same_direction { first.direction } else { Direction::Any };
        is_uniform.then_some(Population { direction, ..first })
    }
}

/// Returns a better divisor for the event.
fn better_divisor(event: PmuEvent) -> &'static str {
    match event {
        BR_MIS_PRED => "; BR_MIS_PRED_RETIRED counts those that retired",
        BR_MIS_PRED_RETIRED | BR_RETIRED => "; divide by BR_RETIRED or INST_RETIRED",
        _ if population(event).stage == Stage::Speculative => "; divide by INST_SPEC",
        _ => "",
    }
}

/// Returns the name up to the cache or TLB: `L1D_CACHE` of `L1D_CACHE_REFILL_RD`.
fn level(event: PmuEvent) -> String {
    event.mnemonic().split('_').take(2).collect::<Vec<_>>().join("_")
}
