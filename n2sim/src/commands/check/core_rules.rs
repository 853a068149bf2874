//! The rules between the counts of each core that `n2sim check` knows.

use sim_core::pmu_event::RelationKind;
use sim_core::{A53Event, CoreEvent, PmuEvent};
use sim_metrics::identities::{self, Assumptions};
use sim_metrics::{Cause, Check, Doubt, a53_rules, cause, lint};
use sim_report::count_table::{self, CountTable, CountedCore};
use sim_space::{Inequality, Space, Table};

/// Result of a table.
pub(super) struct Judgment {
    pub(super) check: Check,
    /// Usual cause of each violation of the check.
    pub(super) causes: Vec<Cause>,
    pub(super) doubts: Vec<Doubt>,
    /// Inequalities that the flows of the guide imply and the table violates, besides the rules.
    pub(super) outside: Vec<Inequality>,
    /// Without a tested rule: the flows limit the counts, so that these were tested.
    pub(super) is_limited_by_flows: bool,
}

/// Rules of one core.
pub(super) trait CoreRules {
    type Event: CoreEvent;

    /// Returns the core.
    fn core(&self) -> CountedCore;

    /// Returns whether the core has the event.
    fn has(&self, event: Self::Event) -> bool;

    /// Checks a table.
    fn judge(&self, table: &CountTable<Self::Event>) -> Judgment;

    /// Returns the rule that lacks the fewest counts of a table, and the missing events.
    fn nearest(&self, table: &CountTable<Self::Event>) -> Option<(String, Vec<Self::Event>)>;

    /// Returns the count of an event of the Neoverse N2, if the core has its flows.
    fn value(&self, table: &CountTable<Self::Event>, event: PmuEvent) -> Option<u64>;

    /// Returns advice for a table whose events occur in no rule.
    fn advice(&self) -> &'static str;
}

/// Rules of the Neoverse N2, and of the cores that have its events.
pub(super) struct NeoverseRules(pub(super) Assumptions);

impl NeoverseRules {
    fn of(&self, table: &CountTable) -> Assumptions {
        Assumptions { is_part_of_code: table.is_function, ..self.0 }
    }
}

impl CoreRules for NeoverseRules {
    type Event = PmuEvent;

    fn core(&self) -> CountedCore {
        CountedCore { name: self.0.core.name, title: &self.0.core.title }
    }

    fn has(&self, event: PmuEvent) -> bool {
        self.0.core.has(event)
    }

    fn judge(&self, table: &CountTable) -> Judgment {
        let count = |event: PmuEvent| table.counts.get(&event).copied();
        let assumptions = self.of(table);
        let check = identities::check(count, &assumptions);
        let violations = check.violations.iter();
        let causes = violations
            .map(|violation| cause::usual_cause(violation, count, &assumptions))
            .collect();
        let (outside, is_limited_by_flows) = outside(table, &check, &assumptions);
        let doubts = lint::doubts(count, &assumptions);
        Judgment { check, causes, doubts, outside, is_limited_by_flows }
    }

    fn nearest(&self, table: &CountTable) -> Option<(String, Vec<PmuEvent>)> {
        let count = |event: PmuEvent| table.counts.get(&event).copied();
        identities::nearest(count, &self.of(table))
    }

    fn value(&self, table: &CountTable, event: PmuEvent) -> Option<u64> {
        table.counts.get(&event).map(|count| count.value)
    }

    fn advice(&self) -> &'static str {
        "count the events of a sum together, such as l1d_cache,l1d_cache_rd,l1d_cache_wr"
    }
}

/// Returns the inequalities that the flows of the guide imply and the table violates, and whether
/// only the flows limit the counts, because no rule was tested. Events of broken rules, and their
/// parts, are left out: a wrong count is reported once.
///
/// A function shares accesses with its callers as it shares cycles, and the flows are those of the
/// Neoverse N2; other tables have none.
fn outside(
    table: &CountTable,
    check: &Check,
    assumptions: &Assumptions,
) -> (Vec<Inequality>, bool) {
    if table.is_function || !assumptions.core.is_n2() {
        return (Vec::new(), false);
    }
    use PmuEvent::{CPU_CYCLES, OP_SPEC, STALL_SLOT, STALL_SLOT_FRONTEND};
    let value = |event: PmuEvent| table.counts.get(&event).map(|count| count.value);
    let space = Space::new(assumptions, value);
    let broken = broken_events(table, check);
    let counts = table.counts.iter().map(|(event, count)| (*event, *count));
    let counts = Table::new(counts, assumptions.tolerance);
    let knows_slots = assumptions.has_stall_slot_erratum.is_some()
        || [OP_SPEC, STALL_SLOT, CPU_CYCLES].iter().all(|event| value(*event).is_some());
    let (found, is_decided) = space.violations(&counts.without(|event| {
        // Neither the revision nor the counts say if a surplus slot is counted in every cycle.
        if !knows_slots && [STALL_SLOT, STALL_SLOT_FRONTEND].contains(&event) {
            return true;
        }
        let is_part = |whole: PmuEvent, part: PmuEvent| parts(whole).any(|own| own == part);
        broken.iter().any(|own| *own == event || is_part(*own, event) || is_part(event, *own))
    }));
    let is_limited = is_decided && check.tested == 0 && {
        let events: Vec<PmuEvent> = table.counts.keys().copied().collect();
        space.project(&events).is_ok_and(|projection| !projection.half_spaces().is_empty())
    };
    (found, is_limited)
}

/// Returns the counted events of rules that do not hold.
fn broken_events(table: &CountTable, check: &Check) -> Vec<PmuEvent> {
    let is_named = |event: &PmuEvent| {
        check.violations.iter().any(|broken| {
            let words = broken.left.split(' ').chain(broken.right.split(' '));
            words.into_iter().any(|word| word == event.mnemonic())
        })
    };
    table.counts.keys().copied().filter(is_named).collect()
}

/// Returns the events that an event adds up, or its other name.
fn parts(event: PmuEvent) -> impl Iterator<Item = PmuEvent> {
    use RelationKind::{AliasOf, ImpliedSumOf, SumOf};
    let relations = event.info().relations.iter();
    let sums = relations.filter(|own| matches!(own.kind, AliasOf | ImpliedSumOf | SumOf));
    sums.flat_map(|own| own.others.iter().copied())
}

/// Rules of the Cortex-A53.
pub(super) struct A53Rules;

impl CoreRules for A53Rules {
    type Event = A53Event;

    fn core(&self) -> CountedCore {
        count_table::CORTEX_A53
    }

    fn has(&self, _: A53Event) -> bool {
        true
    }

    fn judge(&self, table: &CountTable<A53Event>) -> Judgment {
        let count = |event: A53Event| table.counts.get(&event).copied();
        let check = a53_rules::check(count, table.is_function);
        let causes = check.violations.iter().map(a53_rules::usual_cause).collect();
        Judgment {
            check,
            causes,
            doubts: a53_rules::doubts(count, table.is_function),
            outside: Vec::new(),
            is_limited_by_flows: false,
        }
    }

    fn nearest(&self, table: &CountTable<A53Event>) -> Option<(String, Vec<A53Event>)> {
        let count = |event: A53Event| table.counts.get(&event).copied();
        a53_rules::nearest(count, table.is_function)
    }

    fn value(&self, _: &CountTable<A53Event>, _: PmuEvent) -> Option<u64> {
        None
    }

    fn advice(&self) -> &'static str {
        "count events of one rule together, such as cycles,instructions,ld_dep_stall"
    }
}
