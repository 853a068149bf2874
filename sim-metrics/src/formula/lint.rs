//! Checks of a formula that need no run: events that the core does not have or never counts, sums
//! of different units, quotients of different populations, and mismatched units.

use std::fmt;

use sim_core::A53Event;
use sim_core::PmuEvent::{self, *};
use sim_core::cores::{self, CoreDescription};
use sim_core::pmu_event::{EventNameError, RelationKind};

use super::catalog::{Catalog, MetricFormula};
use super::dimension::{Mismatch, measures};
use super::double_count::{DoubleCount, double_counts, original};
use super::event_use::{EventUse, FormulaCore, Quantity, absent_on_a53};
use super::foreign;
use super::link::Linked;
use super::machine::Machine;
use super::node::{BinaryOp, NodeId, Op};
use super::quotient;
use super::unit;

/// Number of counters other than the cycle counter. Source: PMCR_EL0.N of the Neoverse N2.
pub const COUNTERS: usize = 6;
/// First revision without the surplus slot.
const FIRST_WITHOUT_ERRATUM: u64 = 0x410F_D493;

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Information.
    Note,
    /// Probable fault.
    Warning,
    /// Certain fault.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// Kind of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The file or the formula cannot be parsed, or refers to itself.
    Unreadable,
    /// The core has no event of this name.
    UnknownEvent,
    /// The name belongs to an event of other cores.
    OtherCore,
    /// The number differs from that of the event.
    WrongNumber,
    /// The event stays 0 on this core.
    NeverCounts,
    /// The event counts only under a condition.
    Conditional,
    /// Terms of different dimensions are added or compared.
    Dimension,
    /// The value does not fit its unit.
    Unit,
    /// Speculative counts are divided by retired ones, or the other way round.
    Stage,
    /// The divisor and the dividend count different accesses.
    Population,
    /// The surplus slot of r0p0 to r0p2 is not subtracted, or is subtracted where there is none.
    Erratum,
    /// The sum contains a whole and its part, or an event and its alias.
    DoubleCount,
    /// The number of slots per cycle is not that of the core.
    SlotWidth,
    /// The value is not what the metric claims, with the code of a reason of `n2sim validate`.
    Claim(&'static str),
    /// The metric has more events than there are counters.
    Counters,
    /// Two metrics have the same name.
    Duplicate,
}

impl Kind {
    /// Returns the name of the kind in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Unreadable => "unreadable",
            Kind::UnknownEvent => "unknown-event",
            Kind::OtherCore => "other-core",
            Kind::WrongNumber => "wrong-number",
            Kind::NeverCounts => "never-counts",
            Kind::Conditional => "conditional",
            Kind::Dimension => "dimension",
            Kind::Unit => "unit",
            Kind::Stage => "stage",
            Kind::Population => "population",
            Kind::Erratum => "erratum",
            Kind::DoubleCount => "double-count",
            Kind::SlotWidth => "slot-width",
            Kind::Claim(code) => code,
            Kind::Counters => "counters",
            Kind::Duplicate => "duplicate",
        }
    }
}

/// Finding about a metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Name of the metric.
    pub metric: String,
    /// File, with a line where available.
    pub source: String,
    /// Severity of the finding.
    pub severity: Severity,
    /// Kind of the finding.
    pub kind: Kind,
    /// Fault and correction, with the column.
    pub message: String,
}

/// Checks one metric on a machine with all counters of the core. Without a machine it is a
/// Neoverse N2 of an unknown revision.
pub fn lint(metric: &MetricFormula, catalog: &Catalog, machine: Option<&Machine>) -> Vec<Finding> {
    lint_on_counters(metric, catalog, machine, COUNTERS)
}

/// Checks one metric as [`lint()`] does, on a machine with `counters` counters besides the cycle
/// counter.
pub fn lint_on_counters(
    metric: &MetricFormula,
    catalog: &Catalog,
    machine: Option<&Machine>,
    counters: usize,
) -> Vec<Finding> {
    let core = machine.map_or(cores::neoverse_n2(), Machine::core);
    let events = machine.map_or(FormulaCore::NeoverseN2, Machine::events_of);
    let mut report = Report { metric, core, counters, findings: Vec::new() };
    match &metric.formula {
        Err(error) => report.add(Severity::Error, Kind::Unreadable, error.to_string()),
        Ok(formula) => match Linked::on(events, &metric.name, formula, catalog) {
            Err(error) => report.add(Severity::Error, Kind::Unreadable, error.to_string()),
            Ok(linked) => report.formula(&linked, machine),
        },
    }
    if let Some(threshold) = &metric.threshold {
        match threshold {
            Err(error) => {
                report.add(Severity::Error, Kind::Unreadable, format!("threshold, {error}"));
            }
            Ok(formula) => {
                if let Err(error) = Linked::on(events, "", formula, catalog) {
                    report.add(Severity::Error, Kind::Unreadable, format!("threshold, {error}"));
                }
            }
        }
    }
    report.findings
}

/// Findings about one metric.
pub(super) struct Report<'a> {
    pub(super) metric: &'a MetricFormula,
    core: &'static CoreDescription,
    /// Counters besides the cycle counter.
    counters: usize,
    findings: Vec<Finding>,
}

impl Report<'_> {
    pub(super) fn add(&mut self, severity: Severity, kind: Kind, message: String) {
        self.findings.push(Finding {
            metric: self.metric.name.clone(),
            source: self.metric.source.clone(),
            severity,
            kind,
            message,
        });
    }

    /// Adds a finding at a position of the formula.
    pub(super) fn at(
        &mut self,
        linked: &Linked,
        id: NodeId,
        severity: Severity,
        kind: Kind,
        message: &str,
    ) {
        self.add(severity, kind, format!("{}: {message}", linked.place(id)));
    }

    fn formula(&mut self, linked: &Linked, machine: Option<&Machine>) {
        self.names(linked);
        self.divisors(linked);
        let (measures, mismatches) = measures(linked);
        for mismatch in mismatches {
            self.mismatch(linked, mismatch);
        }
        quotient::check(self, linked);
        unit::check(self, linked, &measures);
        self.double_counts(linked);
        self.slot_widths(linked);
        self.erratum(linked, machine);
        self.counters(linked, machine);
    }

    /// Checks every name, at its first position.
    fn names(&mut self, linked: &Linked) {
        let mut is_seen = vec![false; linked.events().len()];
        for (index, node) in linked.nodes().iter().enumerate() {
            let Op::Name(name) = node.op else {
                continue;
            };
            if !std::mem::replace(&mut is_seen[name as usize], true)
                && let Some((severity, kind, message)) =
                    about(&linked.event(name).quantity, self.core)
            {
                self.at(linked, NodeId(index as u32), severity, kind, &message);
            }
        }
    }

    /// Reports divisors that are always 0.
    fn divisors(&mut self, linked: &Linked) {
        for node in linked.nodes() {
            let Op::Binary(BinaryOp::Divide | BinaryOp::Remainder, _, divisor) = node.op else {
                continue;
            };
            let event = match linked.node(divisor).op {
                Op::Name(name) => linked.event(name).event(),
                _ => None,
            };
            if let Some(event) = event.filter(|event| event.never_counts() && self.core.is_n2()) {
                let message = format!("a division by {}, which is always 0", event.mnemonic());
                self.at(linked, divisor, Severity::Error, Kind::NeverCounts, &message);
            }
        }
    }

    fn mismatch(&mut self, linked: &Linked, mismatch: Mismatch) {
        let Mismatch { at, left, right } = mismatch;
        let Op::Binary(op, a, b) = linked.node(at).op else {
            return;
        };
        if op == BinaryOp::Subtract && is_correction(linked, a, b) {
            return;
        }
        // Arm's own formulas charge one cycle for the refill after each misprediction.
        if left.is_none() && is_penalty(linked, b) {
            let message = format!(
                "{} charges one cycle for each misprediction, as in Arm's formula",
                linked.text_of(b)
            );
            return self.at(linked, at, Severity::Note, Kind::Dimension, &message);
        }
        let message = format!(
            "'{}' of {} ({left}) and {} ({right})",
            op.symbol(),
            linked.text_of(a),
            linked.text_of(b)
        );
        self.at(linked, at, Severity::Error, Kind::Dimension, &message);
    }

    /// Checks `STALL_SLOT` and `STALL_SLOT_FRONTEND`, with and without the surplus subtracted.
    fn erratum(&mut self, linked: &Linked, machine: Option<&Machine>) {
        let tests_revision = linked.nodes().iter().any(|node| matches!(node.op, Op::CoreFrom(_)));
        let uses: Vec<(NodeId, bool)> = live_stalls(linked, machine);
        let has_erratum = machine
            .map(|machine| self.core.is_n2() && !machine.is_core_from(FIRST_WITHOUT_ERRATUM));
        for (id, is_corrected) in uses {
            let event = linked.text_of(id).to_owned();
            let (severity, message) = match (has_erratum, is_corrected) {
                (Some(true), false) => (
                    Severity::Error,
                    format!(
                        "{event} counts one slot too many per cycle on this revision; subtract CPU_CYCLES"
                    ),
                ),
                (Some(false), true) => (
                    Severity::Error,
                    format!(
                        "CPU_CYCLES is subtracted from {event}, which has no surplus slot on this revision"
                    ),
                ),
                (None, true) if !tests_revision => (
                    Severity::Note,
                    format!("CPU_CYCLES is subtracted from {event}: right for r0p0 to r0p2 only"),
                ),
                (None, false) if !tests_revision => (
                    Severity::Note,
                    format!("{event} counts one slot too many per cycle on r0p0 to r0p2"),
                ),
                _ => continue,
            };
            self.at(linked, id, severity, Kind::Erratum, &message);
        }
    }

    /// Reports a whole and its part in one sum.
    fn double_counts(&mut self, linked: &Linked) {
        for DoubleCount { at, whole, part } in double_counts(linked) {
            let (whole, part) = (whole.mnemonic(), part.mnemonic());
            let message = match whole == part {
                true => format!("{whole} is added to itself"),
                false => format!("{whole} counts all that {part} counts; add one of them"),
            };
            self.at(linked, at, Severity::Warning, Kind::DoubleCount, &message);
        }
    }

    /// Reports slots divided by cycles of another width.
    fn slot_widths(&mut self, linked: &Linked) {
        let slots = self.core.slots_per_cycle;
        for (id, width) in slot_widths(linked) {
            if width != f64::from(slots) {
                let message = format!("{width} slots in a cycle; this core has {slots}");
                self.at(linked, id, Severity::Warning, Kind::SlotWidth, &message);
            }
        }
    }

    fn counters(&mut self, linked: &Linked, machine: Option<&Machine>) {
        let any = Machine::neoverse_n2(3, 1);
        let needed = linked.needed(machine.unwrap_or(&any));
        let events = needed.into_iter().filter_map(EventUse::population);
        let mut events: Vec<&str> = events.map(|(mnemonic, _)| mnemonic).collect();
        events.sort_unstable();
        events.dedup();
        events.retain(|event| *event != CPU_CYCLES.mnemonic());
        let counters = self.counters;
        if events.len() > counters {
            let message = format!(
                "{} events besides CPU_CYCLES and {counters} counters: they cannot all count at once",
                events.len()
            );
            self.add(Severity::Warning, Kind::Counters, message);
        }
    }
}

/// Returns the products of a number and `CPU_CYCLES` that stalled or executed slots are divided by.
fn slot_widths(linked: &Linked) -> Vec<(NodeId, f64)> {
    let mut widths = Vec::new();
    for node in linked.nodes() {
        let Op::Binary(BinaryOp::Divide | BinaryOp::Ratio, above, below) = node.op else {
            continue;
        };
        let Op::Binary(BinaryOp::Multiply, a, b) = linked.node(below).op else { continue };
        let width = match (linked.node(a).op, linked.node(b).op) {
            (Op::Number(width), _) if is_cycles(linked, b) => width,
            (_, Op::Number(width)) if is_cycles(linked, a) => width,
            _ => continue,
        };
        // Retired operations may be related to the retirement width.
        let events = quotient::terms(linked, above);
        let are_slots = |event: &PmuEvent| {
            matches!(event, STALL_SLOT | STALL_SLOT_FRONTEND | STALL_SLOT_BACKEND | OP_SPEC)
        };
        if events.iter().any(are_slots) {
            widths.push((below, width));
        }
    }
    widths
}

fn is_cycles(linked: &Linked, id: NodeId) -> bool {
    event_at(linked, id).is_some_and(|event| original(event) == CPU_CYCLES)
}

/// Returns the finding about a name.
fn about(quantity: &Quantity, core: &CoreDescription) -> Option<(Severity, Kind, String)> {
    match quantity {
        Quantity::Time(_) => None,
        Quantity::Event(event) if !core.has(*event) => Some(about_lacking(*event, core)),
        // What an event needs in order to count is known of the Neoverse N2.
        Quantity::Event(event) if core.is_n2() => about_event(*event),
        Quantity::Event(_) => None,
        Quantity::A53(event) => about_a53_event(*event),
        Quantity::NotOnA53(name, n2) => Some(about_absent(name, *n2)),
        // Its names are those of another PMU, which looks them up.
        Quantity::Mesh => None,
        Quantity::OtherPmu(pmu) => Some((
            Severity::Warning,
            Kind::UnknownEvent,
            format!("an event of {pmu}, which is not part of the core and not counted here"),
        )),
        Quantity::Misspelt(error) => Some((Severity::Error, Kind::UnknownEvent, error.to_string())),
        Quantity::Unknown(error) => Some(about_unknown(error)),
    }
}

/// Returns the finding about an event of a Cortex-A53.
fn about_a53_event(event: A53Event) -> Option<(Severity, Kind, String)> {
    let condition = match event {
        A53Event::SW_INCR => "writes to PMSWINC that select its counter",
        A53Event::CHAIN => "on an odd-numbered counter",
        A53Event::PRE_DECODE_ERR | A53Event::DECODE_DEP_STALL => "code of A32 and T32",
        _ => return None,
    };
    let message = format!("{} counts only {condition}", event.mnemonic());
    Some((Severity::Note, Kind::Conditional, message))
}

/// Returns the finding about a name that a Cortex-A53 does not know.
fn about_absent(name: &str, n2: Option<PmuEvent>) -> (Severity, Kind, String) {
    let is_other = n2.is_some() || foreign::from_name(name).is_some();
    let kind = if is_other { Kind::OtherCore } else { Kind::UnknownEvent };
    (Severity::Error, kind, absent_on_a53(name, n2))
}

/// Returns the finding about a name that the core does not have.
pub(crate) fn about_unknown(error: &EventNameError) -> (Severity, Kind, String) {
    match error {
        EventNameError::Unknown(name, _) => {
            if let Some(foreign) = foreign::from_name(name) {
                let message = format!("{name} is an event of other Arm cores; {}", foreign.remedy);
                return (Severity::Error, Kind::OtherCore, message);
            }
            if foreign::is_of_x86(name) {
                let message = format!("{name} is an event of another architecture");
                return (Severity::Error, Kind::OtherCore, message);
            }
            (Severity::Error, Kind::UnknownEvent, error.to_string())
        }
        EventNameError::UnknownCode(code) => {
            (Severity::Error, Kind::WrongNumber, format!("{error}{}", mistyped(*code)))
        }
        EventNameError::NotModeled(..) => {
            (Severity::Warning, Kind::UnknownEvent, error.to_string())
        }
    }
}

/// Returns events whose number has the same digits in another order, or one digit more.
fn mistyped(code: u32) -> String {
    let digits = |code: u32| {
        let mut digits: Vec<char> = format!("{code:x}").chars().filter(|c| *c != '0').collect();
        digits.sort_unstable();
        digits
    };
    let own = digits(code);
    let similar: Vec<String> = PmuEvent::ALL
        .into_iter()
        .filter(|event| !own.is_empty() && digits(u32::from(event.code())) == own)
        .map(|event| format!("{} is 0x{:02X}", event.mnemonic(), event.code()))
        .collect();
    match similar.len() {
        0 => String::new(),
        1..=4 => format!("; {}", similar.join(", ")),
        _ => format!("; {}, ...", similar[..4].join(", ")),
    }
}

/// Returns the finding about an event that the core does not have.
pub(crate) fn about_lacking(event: PmuEvent, core: &CoreDescription) -> (Severity, Kind, String) {
    let message = format!(
        "{} (0x{:02X}) is an event of the Neoverse N2, which a {} does not have",
        event.mnemonic(),
        event.code(),
        core.title
    );
    (Severity::Error, Kind::OtherCore, message)
}

fn about_event(event: PmuEvent) -> Option<(Severity, Kind, String)> {
    let has = |kind| event.relation(kind).is_some();
    let name = event.mnemonic();
    if event.never_counts() {
        let instead = match event {
            LDST_SPEC => "; LD_SPEC + ST_SPEC count, atomics in both",
            L3D_CACHE | L3D_CACHE_REFILL | L3D_CACHE_ALLOCATE | L3_CACHE_RD
            | L3D_CACHE_LMISS_RD => {
                "; there is no L3 below this core's L2, LL_CACHE_RD counts at the system level cache"
            }
            _ => "",
        };
        let message = format!("{name} stays 0 on this core{instead}");
        return Some((Severity::Error, Kind::NeverCounts, message));
    }
    let condition = match () {
        () if has(RelationKind::RequiresExtllc) => "while CPUECTLR_EL1.EXTLLC is set",
        () if has(RelationKind::RequiresMte) => "tag-checked accesses",
        () if has(RelationKind::RequiresSpe) => "while statistical profiling runs",
        () if has(RelationKind::RequiresOddCounter) => "on an odd-numbered counter",
        () => return None,
    };
    Some((Severity::Note, Kind::Conditional, format!("{name} counts only {condition}")))
}

fn event_at(linked: &Linked, id: NodeId) -> Option<PmuEvent> {
    match linked.node(id).op {
        Op::Name(name) => linked.event(name).event(),
        _ => None,
    }
}

/// Returns whether this is `STALL_SLOT - CPU_CYCLES`, the correction for early revisions.
fn is_correction(linked: &Linked, a: NodeId, b: NodeId) -> bool {
    matches!(event_at(linked, a), Some(STALL_SLOT | STALL_SLOT_FRONTEND))
        && event_at(linked, b) == Some(CPU_CYCLES)
}

/// Returns whether this is `BR_MIS_PRED / CPU_CYCLES`.
fn is_penalty(linked: &Linked, id: NodeId) -> bool {
    matches!(linked.node(id).op, Op::Binary(BinaryOp::Divide, a, b)
        if event_at(linked, a) == Some(BR_MIS_PRED) && event_at(linked, b) == Some(CPU_CYCLES))
}

/// Returns the positions of `STALL_SLOT` and `STALL_SLOT_FRONTEND` that count on this machine, and
/// whether `CPU_CYCLES` is subtracted there.
fn live_stalls(linked: &Linked, machine: Option<&Machine>) -> Vec<(NodeId, bool)> {
    let is_live = match machine {
        Some(machine) => linked.live(machine),
        None => vec![true; linked.nodes().len()],
    };
    let mut corrected = vec![false; linked.nodes().len()];
    for (index, node) in linked.nodes().iter().enumerate() {
        if let Op::Binary(BinaryOp::Subtract, a, b) = node.op
            && is_live[index]
            && is_correction(linked, a, b)
        {
            corrected[a.index()] = true;
        }
    }
    let ids = (0..linked.nodes().len()).map(|index| NodeId(index as u32));
    ids.filter(|id| is_live[id.index()])
        .filter(|id| matches!(event_at(linked, *id), Some(STALL_SLOT | STALL_SLOT_FRONTEND)))
        .map(|id| (id, corrected[id.index()]))
        .collect()
}

#[cfg(test)]
mod tests;
