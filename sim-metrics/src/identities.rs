//! Identities that must hold between the counts of one window, whatever the source of the counts.
//!
//! Sums, aliases, subsets and events that stay 0 come from the relations of the event table (PMU
//! guide, chapter 4). The slot identity and the bus limit are added here. Counts of a real machine
//! can be checked like those of the model; rules about missing counts are skipped.

use sim_core::PmuEvent;
use sim_core::cores::{self, CoreDescription};
use sim_core::pmu_event::{Relation, RelationKind};

use crate::count::{Count, total};
use crate::rules;

pub use crate::rules::{Check, Comparison, Origin, Rule, Subject, Violation};

/// Rename slots per cycle of the Neoverse N2. Source: PMMIR_EL1.SLOTS, Arm telemetry data.
pub const SLOTS_PER_CYCLE: u64 = 5;
/// Relative difference between the two forms of the slot identity.
const SURPLUS_SHARE: f64 = 1.0 / (SLOTS_PER_CYCLE as f64 + 1.0);
/// Largest increment of `BUS_ACCESS` per cycle. Source: PMU guide 4.6.2.
pub const BUS_ACCESSES_PER_CYCLE_MAX: u64 = 2;

/// Assumptions about the machine and the counting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assumptions {
    /// Core that counted. For other cores than the Neoverse N2 only those rules hold that the
    /// descriptions of the events state, and the slot identity with the width of that core.
    pub core: &'static CoreDescription,
    /// Revision r0p0 to r0p2: `STALL_SLOT` counts one slot too many in every cycle. `None`: the
    /// revision is unknown, and either form of the slot identity is accepted.
    pub has_stall_slot_erratum: Option<bool>,
    /// `CPUECTLR.EXTLLC`. `None`: unknown, and no rule follows.
    pub has_external_llc: Option<bool>,
    /// The counts cover part of the code, such as a function. Two parts share the cycle at their
    /// boundary, so no rule relates cycles to other events.
    pub is_part_of_code: bool,
    /// Relative difference that the sides may have, for counts scaled from part of the time.
    pub tolerance: f64,
}

impl Default for Assumptions {
    fn default() -> Assumptions {
        Assumptions {
            core: cores::neoverse_n2(),
            has_stall_slot_erratum: None,
            has_external_llc: None,
            is_part_of_code: false,
            tolerance: 0.0,
        }
    }
}

/// Checks every rule whose events `count` knows, as numbers or as a [`Count`] with a tolerance.
pub fn check<C: Into<Count>>(
    count: impl Fn(PmuEvent) -> Option<C>,
    assumptions: &Assumptions,
) -> Check {
    let count = |event| count(event).map(Into::into);
    let mut check = Check::default();
    for rule in rules(slots_per_cycle(&count, assumptions), assumptions) {
        rule.apply(&count, assumptions.tolerance, &mut check);
    }
    check.found_erratum = found_erratum(&count, assumptions, &check);
    check
}

/// Returns the form of the slot identity that holds, for an unknown revision.
fn found_erratum(
    count: &impl Fn(PmuEvent) -> Option<Count>,
    assumptions: &Assumptions,
    check: &Check,
) -> Option<bool> {
    let slots = total(&[(1, PmuEvent::OP_SPEC), (1, PmuEvent::STALL_SLOT)], count)?;
    let cycles = count(PmuEvent::CPU_CYCLES)?;
    let is_broken = check.violations.iter().any(|broken| broken.subject == Subject::Slots);
    let is_open = assumptions.has_stall_slot_erratum.is_none()
        && assumptions.core.is_n2()
        && !assumptions.is_part_of_code;
    // With a large tolerance both forms fit.
    let tolerance = assumptions.tolerance.max(slots.tolerance).max(cycles.tolerance);
    let is_sharp = cycles.value > 0 && tolerance < SURPLUS_SHARE;
    (is_open && is_sharp && !is_broken).then(|| has_erratum(count, assumptions))
}

/// Returns the rule that lacks the fewest counts, and the missing events.
pub fn nearest<C: Into<Count>>(
    count: impl Fn(PmuEvent) -> Option<C>,
    assumptions: &Assumptions,
) -> Option<(String, Vec<PmuEvent>)> {
    let count = |event| count(event).map(Into::into);
    rules::nearest(rules(slots_per_cycle(&count, assumptions), assumptions), &count)
}

/// Returns every rule that [`check`] would test on these counts, with all events of the core. An
/// unknown revision selects the form of the slot identity by the counts.
pub fn every_rule<C: Into<Count>>(
    count: impl Fn(PmuEvent) -> Option<C>,
    assumptions: &Assumptions,
) -> Vec<Rule<PmuEvent>> {
    let count = |event| count(event).map(Into::into);
    rules(slots_per_cycle(&count, assumptions), assumptions)
}

/// Returns every rule whose events the core has. Those of another core than the Neoverse N2 are
/// inferred from its table.
fn rules(slots_per_cycle: u64, assumptions: &Assumptions) -> Vec<Rule<PmuEvent>> {
    let mut rules = all_rules(slots_per_cycle, assumptions);
    let core = assumptions.core;
    if !core.is_n2() {
        let is_there = |rule: &Rule<PmuEvent>| {
            rule.left.iter().chain(&rule.right).all(|(_, event)| core.has(*event))
        };
        rules.retain(is_there);
        rules.iter_mut().for_each(|rule| rule.origin = Origin::Inferred);
    }
    rules
}

/// Returns every rule of the event table, then those between cycles and slots or bus accesses. A
/// subset that is written at both its ends is one rule.
fn all_rules(slots_per_cycle: u64, assumptions: &Assumptions) -> Vec<Rule<PmuEvent>> {
    let mut rules: Vec<Rule<PmuEvent>> = Vec::new();
    let is_n2 = assumptions.core.is_n2();
    for event in PmuEvent::ALL {
        let relations = event.info().relations.iter();
        for relation in relations.filter(|relation| is_n2 || is_stated(relation.kind)) {
            for rule in rules_of(event, relation, assumptions) {
                if !rules.iter().any(|other| rule.is_mirror_of(other)) {
                    rules.push(rule);
                }
            }
        }
    }
    if assumptions.is_part_of_code {
        rules.retain(|rule| rule.subject == Subject::Alias || !rule.has(PmuEvent::CPU_CYCLES));
        return rules;
    }
    if is_n2 {
        rules.push(Rule {
            subject: Subject::BusCeiling,
            left: vec![(1, PmuEvent::BUS_ACCESS)],
            comparison: Comparison::AtMost,
            right: vec![(BUS_ACCESSES_PER_CYCLE_MAX, PmuEvent::CPU_CYCLES)],
            origin: Origin::Printed,
            reason: None,
        });
    }
    rules.push(Rule {
        subject: Subject::Slots,
        left: vec![(1, PmuEvent::OP_SPEC), (1, PmuEvent::STALL_SLOT)],
        comparison: Comparison::Equal,
        right: vec![(slots_per_cycle, PmuEvent::CPU_CYCLES)],
        origin: Origin::Inferred,
        reason: None,
    });
    rules
}

/// Returns whether a relation is stated by the description of the event, which related cores share,
/// and not inferred for the Neoverse N2.
fn is_stated(kind: RelationKind) -> bool {
    use RelationKind::{AliasOf, SubsetOf, SumOf, SupersetOf};
    matches!(kind, SumOf | AliasOf | SubsetOf | SupersetOf)
}

/// Returns the rules of a relation: one over all its events, or one for each.
fn rules_of(
    event: PmuEvent,
    relation: &Relation,
    assumptions: &Assumptions,
) -> Vec<Rule<PmuEvent>> {
    let Some((subject, comparison, origin)) = meaning(event, relation.kind, assumptions) else {
        return Vec::new();
    };
    let rule = |others: &[PmuEvent]| Rule {
        subject,
        left: vec![(1, event)],
        comparison,
        right: others.iter().map(|other| (1, *other)).collect(),
        origin,
        reason: None,
    };
    match subject {
        Subject::Subset => relation.others.iter().map(|other| rule(&[*other])).collect(),
        _ => vec![rule(relation.others)],
    }
}

/// Returns the subject, comparison and origin of a relation, if it implies a rule.
fn meaning(
    event: PmuEvent,
    kind: RelationKind,
    assumptions: &Assumptions,
) -> Option<(Subject, Comparison, Origin)> {
    use Comparison::{AtLeast, AtMost, Equal};
    use Origin::{Inferred, Printed};
    Some(match kind {
        // BUS_ACCESS also counts snoop requests and responses, which are neither reads nor writes.
        RelationKind::SumOf if event == PmuEvent::BUS_ACCESS => (Subject::Sum, AtLeast, Printed),
        RelationKind::SumOf => (Subject::Sum, Equal, Printed),
        RelationKind::AliasOf => (Subject::Alias, Equal, Printed),
        RelationKind::Never => (Subject::Never, Equal, Printed),
        RelationKind::ImpliedSumOf => (Subject::Sum, Equal, Inferred),
        RelationKind::SubsetOf => (Subject::Subset, AtMost, Printed),
        RelationKind::SupersetOf => (Subject::Subset, AtLeast, Printed),
        RelationKind::ImpliedSubsetOf => (Subject::Subset, AtMost, Inferred),
        RelationKind::ImpliedSupersetOf => (Subject::Subset, AtLeast, Inferred),
        RelationKind::RequiresExtllc if assumptions.has_external_llc == Some(false) => {
            (Subject::NoExternalCache, Equal, Printed)
        }
        RelationKind::RequiresExtllc
        | RelationKind::RequiresMte
        | RelationKind::RequiresSpe
        | RelationKind::RequiresOddCounter => return None,
    })
}

/// Returns the slots per cycle by `OP_SPEC + STALL_SLOT`; the erratum of r0p0 to r0p2 adds one.
pub(crate) fn slots_per_cycle(
    count: &impl Fn(PmuEvent) -> Option<Count>,
    assumptions: &Assumptions,
) -> u64 {
    u64::from(assumptions.core.slots_per_cycle) + u64::from(has_erratum(count, assumptions))
}

/// Returns whether `STALL_SLOT` has a surplus slot per cycle. For an unknown revision, the closer
/// form decides.
pub(crate) fn has_erratum(
    count: &impl Fn(PmuEvent) -> Option<Count>,
    assumptions: &Assumptions,
) -> bool {
    if !assumptions.core.is_n2() {
        return false;
    }
    assumptions.has_stall_slot_erratum.unwrap_or_else(|| {
        let slots = total(&[(2, PmuEvent::OP_SPEC), (2, PmuEvent::STALL_SLOT)], count);
        let midway = total(&[(2 * SLOTS_PER_CYCLE + 1, PmuEvent::CPU_CYCLES)], count);
        slots.zip(midway).is_some_and(|(slots, midway)| slots.value > midway.value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    use PmuEvent::*;

    /// Checks a table of counts. Events outside the table were not counted.
    fn violations(counts: &[(PmuEvent, u64)], assumptions: &Assumptions) -> Vec<String> {
        let table: BTreeMap<PmuEvent, u64> = counts.iter().copied().collect();
        let check = check(|event| table.get(&event).copied(), assumptions);
        check.violations.iter().map(Violation::to_string).collect()
    }

    fn plain(counts: &[(PmuEvent, u64)]) -> Vec<String> {
        violations(counts, &Assumptions::default())
    }

    #[test]
    fn zero_counts_satisfy_every_rule() {
        let check = check(|_| Some(0u64), &Assumptions::default());
        assert_eq!(check.violations, []);
        assert_eq!(check.left_out, 0);
        let of_kind = |kind| {
            PmuEvent::ALL.iter().filter_map(move |event| Some((*event, event.relation(kind)?)))
        };
        let whole: usize = [
            RelationKind::SumOf,
            RelationKind::ImpliedSumOf,
            RelationKind::AliasOf,
            RelationKind::Never,
        ]
        .into_iter()
        .map(|kind| of_kind(kind).count())
        .sum();
        let mut pairs = BTreeSet::new();
        for (is_upper, kind) in [
            (false, RelationKind::SubsetOf),
            (false, RelationKind::ImpliedSubsetOf),
            (true, RelationKind::SupersetOf),
            (true, RelationKind::ImpliedSupersetOf),
        ] {
            for (event, others) in of_kind(kind) {
                pairs.extend(
                    others.iter().map(
                        |other| {
                            if is_upper { (*other, event) } else { (event, *other) }
                        },
                    ),
                );
            }
        }
        let rules = whole + pairs.len() + 2;
        assert_eq!(check.tested, rules, "every relation, the bus ceiling, the slots");
    }

    /// A wrong part of any printed sum must be reported.
    #[test]
    fn each_of_the_13_printed_sums_is_checked() {
        let sums: Vec<_> = PmuEvent::ALL
            .iter()
            .filter_map(|event| Some((*event, event.relation(RelationKind::SumOf)?)))
            .collect();
        assert_eq!(sums.len(), 13);
        for (sum, parts) in sums {
            let value = |event| match event {
                e if parts.contains(&e) => Some(7),
                e if e == sum => Some(13),
                _ => None,
            };
            let check = check(value, &Assumptions::default());
            assert_eq!(check.violations.len(), 1, "{}", sum.mnemonic());
            assert_eq!(check.violations[0].right_value, 14, "{}", sum.mnemonic());
        }
    }

    #[test]
    fn bus_accesses_may_exceed_reads_and_writes_but_not_fall_short() {
        let bus = |all| plain(&[(BUS_ACCESS, all), (BUS_ACCESS_RD, 4), (BUS_ACCESS_WR, 1)]);
        assert_eq!(bus(7), Vec::<String>::new());
        assert_eq!(
            bus(4),
            ["BUS_ACCESS >= BUS_ACCESS_RD + BUS_ACCESS_WR does not hold: 4 against 5 (printed)"]
        );
    }

    #[test]
    fn a_subset_written_at_both_ends_is_one_rule() {
        let messages = plain(&[(BR_MIS_PRED, 3), (BR_PRED, 2)]);
        assert_eq!(messages, ["BR_MIS_PRED <= BR_PRED does not hold: 3 against 2 (printed)"]);
    }

    #[test]
    fn aliases_and_events_that_never_count_are_checked() {
        assert_eq!(
            plain(&[(BUS_CYCLES, 9), (CPU_CYCLES, 10)]),
            ["BUS_CYCLES = CPU_CYCLES does not hold: 9 against 10 (printed)"]
        );
        assert_eq!(
            plain(&[(LDST_SPEC, 1)]),
            ["LDST_SPEC = 0 does not hold: 1 against 0 (printed)"]
        );
    }

    /// Published counts of an r0p0 to r0p2 core: 11 + 295 = 6 x 51.
    #[test]
    fn the_slot_identity_accounts_for_the_erratum() {
        let published = [(CPU_CYCLES, 51), (STALL_SLOT, 295), (OP_SPEC, 11)];
        let with = |has_stall_slot_erratum| {
            violations(&published, &Assumptions { has_stall_slot_erratum, ..Default::default() })
        };
        assert_eq!(with(Some(true)), Vec::<String>::new());
        assert_eq!(with(None), Vec::<String>::new(), "the revision is guessed from the counts");
        assert_eq!(
            with(Some(false)),
            ["OP_SPEC + STALL_SLOT = 5 x CPU_CYCLES does not hold: 306 against 255 (inferred)"]
        );
        let fixed = [(CPU_CYCLES, 51), (STALL_SLOT, 244), (OP_SPEC, 11)];
        assert_eq!(plain(&fixed), Vec::<String>::new());
    }

    /// Without a stated revision the counts select a form, unless the tolerance covers both.
    #[test]
    fn counts_determine_the_unknown_revision() {
        let found = |stalled, assumptions: &Assumptions| {
            let counts = [(CPU_CYCLES, 51), (STALL_SLOT, stalled), (OP_SPEC, 11)];
            let value = |event| counts.iter().find(|(own, _)| *own == event).map(|(_, n)| *n);
            check(value, assumptions).found_erratum
        };
        let open = Assumptions::default();
        assert_eq!(found(295, &open), Some(true));
        assert_eq!(found(244, &open), Some(false));
        assert_eq!(found(270, &open), None, "it fits neither");
        assert_eq!(found(295, &Assumptions { tolerance: 0.2, ..open }), None, "it fits both");
        let known = Assumptions { has_stall_slot_erratum: Some(true), ..open };
        assert_eq!(found(295, &known), None, "the revision is given");
        let part = Assumptions { is_part_of_code: true, ..open };
        assert_eq!(found(295, &part), None, "a part of the code has no slots of its own");
        assert_eq!(found(295, &Assumptions { tolerance: SURPLUS_SHARE, ..open }), None, "both fit");
        let with = |cycles, never| {
            let table = [(CPU_CYCLES, cycles), (STALL_SLOT, 0), (OP_SPEC, 5 * cycles), never];
            let value = |event| table.iter().find(|(own, _)| *own == event).map(|(_, n)| *n);
            check(value, &open).found_erratum
        };
        assert_eq!(with(0, (LDST_SPEC, 0)), None, "no operation was counted");
        assert_eq!(with(9, (LDST_SPEC, 1)), Some(false), "another rule is broken");
        let midway = plain(&[(CPU_CYCLES, 10), (STALL_SLOT, 50), (OP_SPEC, 5)]);
        assert!(midway[0].starts_with("OP_SPEC + STALL_SLOT = 5 x CPU_CYCLES"), "{midway:?}");
    }

    /// A Neoverse V2 has eight slots, no erratum, and only the rules that descriptions state.
    #[test]
    fn a_cores_has_its_own_width() {
        let v2 = Assumptions {
            core: cores::by_name("neoverse-v2").expect("a core"),
            ..Assumptions::default()
        };
        let slots = |stalled| {
            let counts = [(CPU_CYCLES, 50), (STALL_SLOT, stalled), (OP_SPEC, 100)];
            violations(&counts, &v2)
        };
        assert_eq!(slots(300), Vec::<String>::new());
        assert_eq!(
            slots(150),
            ["OP_SPEC + STALL_SLOT = 8 x CPU_CYCLES does not hold: 250 against 400 (inferred)"]
        );
        let check = check(|event| v2.core.has(event).then_some(0u64), &v2);
        assert_eq!((check.violations.len(), check.found_erratum), (0, None));
        assert!(check.tested > 60, "{}", check.tested);
        let of_n2_only = [(L3D_CACHE, 4), (BUS_ACCESS, 9), (CPU_CYCLES, 3), (INST_RETIRED, 9)];
        assert_eq!(violations(&of_n2_only, &v2), Vec::<String>::new());
        let sum = [(L1D_CACHE, 9), (L1D_CACHE_RD, 4), (L1D_CACHE_WR, 4)];
        assert_eq!(violations(&sum, &v2).len(), 1);
    }

    /// A function shares the cycle of its first slots with its caller.
    #[test]
    fn a_part_of_the_code_has_no_cycle_rules() {
        let counts = [(CPU_CYCLES, 10), (BUS_CYCLES, 10), (OP_SPEC, 30), (STALL_SLOT, 26)];
        let part = Assumptions { is_part_of_code: true, ..Default::default() };
        assert_eq!(violations(&counts, &part), Vec::<String>::new());
        assert_eq!(plain(&counts).len(), 1, "56 of 50 slots in a run");
        let alias = [(CPU_CYCLES, 10), (BUS_CYCLES, 9)];
        assert_eq!(violations(&alias, &part).len(), 1, "one count under two names stays one");
        let cycles = [(CPU_CYCLES, 3), (STALL, 4), (L1D_CACHE, 9)];
        let sum = [&cycles[..], &[(L1D_CACHE_RD, 4), (L1D_CACHE_WR, 4)]].concat();
        assert_eq!(violations(&sum, &part).len(), 1, "a sum without cycles stays a sum");
    }

    #[test]
    fn the_nearest_rule_names_its_missing_events() {
        let near = |own: &[PmuEvent]| {
            nearest(|event| own.contains(&event).then_some(1u64), &Assumptions::default())
        };
        let (rule, missing) = near(&[L1D_CACHE_RD, L1D_CACHE]).expect("a sum");
        assert_eq!(
            (rule.as_str(), &missing[..]),
            ("L1D_CACHE = L1D_CACHE_RD + L1D_CACHE_WR", &[L1D_CACHE_WR][..])
        );
        let (rule, missing) = near(&[CPU_CYCLES, INST_RETIRED]).expect("the slots");
        assert_eq!(rule, "OP_SPEC + STALL_SLOT = 5 x CPU_CYCLES");
        assert_eq!(missing, [OP_SPEC, STALL_SLOT]);
        assert_eq!(near(&[]), None);
        let whole = near(&[L1D_CACHE, L1D_CACHE_RD, L1D_CACHE_WR]);
        assert!(whole.is_none_or(|(_, missing)| !missing.is_empty()), "it lacks something");
    }

    #[test]
    fn last_level_events_stay_zero_without_an_external_cache() {
        let counts = [(LL_CACHE_RD, 1)];
        assert_eq!(plain(&counts), Vec::<String>::new());
        let without = Assumptions { has_external_llc: Some(false), ..Default::default() };
        assert_eq!(violations(&counts, &without).len(), 1);
    }

    #[test]
    fn scaled_counts_may_differ_by_the_tolerance() {
        let counts = [(L1D_CACHE, 1000), (L1D_CACHE_RD, 600), (L1D_CACHE_WR, 410)];
        assert_eq!(plain(&counts).len(), 1);
        let loose = Assumptions { tolerance: 0.02, ..Default::default() };
        assert_eq!(violations(&counts, &loose), Vec::<String>::new());
    }

    /// An estimate relaxes only the rules that contain it.
    #[test]
    fn a_count_has_its_own_tolerance() {
        let estimate = |value| Count { tolerance: 0.02, is_estimate: true, ..Count::from(value) };
        let value = |event| match event {
            L1D_CACHE => Some(Count::from(1000)),
            L1D_CACHE_RD => Some(estimate(600)),
            L1D_CACHE_WR => Some(Count::from(410)),
            BUS_CYCLES => Some(Count::from(999)),
            CPU_CYCLES => Some(Count::from(1000)),
            LDST_SPEC => Some(estimate(1)),
            _ => None,
        };
        let check = check(value, &Assumptions::default());
        let messages: Vec<_> =
            check.violations.iter().map(|v| (v.subject, v.is_estimate, v.difference())).collect();
        assert_eq!(messages, [(Subject::Alias, false, 1), (Subject::Never, true, 1)]);
        assert_eq!(check.violations[0].difference_share(), 0.001);
        let sides = |left, right| {
            let value = |event| match event {
                BUS_CYCLES => Some(left),
                CPU_CYCLES => Some(right),
                _ => None,
            };
            super::check(value, &Assumptions::default()).violations[0].is_estimate
        };
        let (few, many) = (estimate(100), Count::from(1000));
        assert_eq!(
            [sides(few, many), sides(many, few), sides(Count::from(1), many)],
            [true, true, false]
        );
    }
}
