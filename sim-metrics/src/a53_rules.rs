//! Rules between the counts of one window of a Cortex-A53, and doubts about such counts.
//!
//! A rule is here only if every right count obeys it, on silicon too. These were considered and
//! left out:
//!
//! * exceptions (`EXC_IRQ` against `EXC_TAKEN`): counts of one level are filtered by the level that
//!   the exception goes to or comes from, not alike for all events (erratum 855827);
//! * a queue without instructions (0xE0 to 0xE3): its causes can be present in the same cycle;
//! * two kinds of interlocks (0xE4 with 0xE5 or 0xE6): two instructions can have one in the same
//!   cycle. A sum above all cycles is a doubt;
//! * `INST_RETIRED` above two a cycle, which no core retires: the event may count too much around
//!   immediate branches (erratum 855827). It is a doubt;
//! * `READ_ALLOC`, `STALL_SB_FULL`: the manual does not say whether they count cycles;
//! * `BUS_CYCLES` against `CPU_CYCLES`: they are different clocks, and one can stop alone;
//! * `BR_MIS_PRED` against `BR_PRED`, and refills against accesses: branches without a prediction
//!   count in the first, and walks or prefetches refill. Excesses are doubts.
//!
//! Source of all rules: the event table of the Cortex-A53 manual (section 12.9, table 12.28).

use sim_core::A53Event::{self, *};

use crate::cause::{self, Cause};
use crate::count::Count;
use crate::lint::{Doubt, Ratio, ratio};
use crate::rules::{self, Check, Comparison, Origin, Rule, Subject, Violation};

/// Weighted sum of events of the core.
type Sum = &'static [(u64, A53Event)];

/// Rule between two sums, with the reason why it holds.
struct A53Rule {
    subject: Subject,
    left: Sum,
    comparison: Comparison,
    right: Sum,
    origin: Origin,
    reason: &'static str,
}

/// Returns the rule that each occurrence of `left` is also one of `right`, as the texts of both
/// events say.
const fn part(left: Sum, right: Sum, reason: &'static str) -> A53Rule {
    let (comparison, origin) = (Comparison::AtMost, Origin::Printed);
    A53Rule { subject: Subject::Subset, left, comparison, right, origin, reason }
}

/// Returns the rule that a retired or resolved instruction occurs at most once in a cycle.
const fn once(left: Sum) -> A53Rule {
    A53Rule { origin: Origin::Inferred, ..cycles(left, ONE_BIT) }
}

/// Returns the rule that each cycle counts at most once in `left`, as the texts of the events say.
const fn cycles(left: Sum, reason: &'static str) -> A53Rule {
    A53Rule { subject: Subject::PerCycle, ..part(left, &[(1, CPU_CYCLES)], reason) }
}

const ONE_BIT: &str = "the event bus has one bit for the event, so that it occurs at most once in a cycle (table 12.28)";
const EMPTY: &str = "it counts cycles in which the instruction queue is empty (table 12.28)";
const INTERLOCK: &str = "it counts cycles with an interlock (table 12.28)";
const WRITE_BACK: &str = "it counts cycles of a stall in write-back (table 12.28)";
const DISJOINT: &str =
    "interlocks exclude stalls of write-back, which 0xE7 and 0xE8 count (table 12.28)";
const ONE_INSTRUCTION: &str = "each is one retired instruction (table 12.28)";

/// Every rule.
const RULES: &[A53Rule] = &[
    part(&[(1, LD_RETIRED)], &[(1, INST_RETIRED)], ONE_INSTRUCTION),
    part(&[(1, ST_RETIRED)], &[(1, INST_RETIRED)], ONE_INSTRUCTION),
    part(&[(1, PC_WRITE_RETIRED)], &[(1, INST_RETIRED)], ONE_INSTRUCTION),
    part(&[(1, CID_WRITE_RETIRED)], &[(1, INST_RETIRED)], ONE_INSTRUCTION),
    part(&[(1, SW_INCR)], &[(1, INST_RETIRED)], ONE_INSTRUCTION),
    part(
        &[(1, BR_IMMED_RETIRED), (1, BR_RETURN_RETIRED)],
        &[(1, INST_RETIRED)],
        "each is one retired instruction, and no return is an immediate branch (table 12.28)",
    ),
    part(
        &[(1, BR_RETURN_RETIRED)],
        &[(1, PC_WRITE_RETIRED)],
        "a return that passed its condition writes the PC (table 12.28)",
    ),
    part(
        &[(1, UNALIGNED_LDST_RETIRED)],
        &[(1, LD_RETIRED), (1, ST_RETIRED)],
        "an unaligned load or store is a load or a store (table 12.28)",
    ),
    part(
        &[(1, BR_COND_MISPRED)],
        &[(1, BR_COND)],
        "a conditional branch was executed before it was found to be mispredicted (table 12.28)",
    ),
    part(
        &[(1, BR_COND_MISPRED)],
        &[(1, BR_MIS_PRED)],
        "a mispredicted conditional branch is a mispredicted branch (table 12.28)",
    ),
    part(
        &[(1, BR_INDIRECT_MISPRED)],
        &[(1, BR_MIS_PRED)],
        "a mispredicted indirect branch is a mispredicted branch (table 12.28)",
    ),
    part(
        &[(1, BR_INDIRECT_MISPRED_ADDR)],
        &[(1, BR_INDIRECT_MISPRED)],
        "0xCB counts those of 0xCA whose address was wrong (table 12.28)",
    ),
    part(
        &[(1, EXT_MEM_REQ_NC)],
        &[(1, EXT_MEM_REQ)],
        "a non-cacheable request to external memory is such a request (table 12.28)",
    ),
    A53Rule {
        subject: Subject::Sum,
        left: &[(1, BUS_ACCESS)],
        comparison: Comparison::AtLeast,
        right: &[(1, BUS_ACCESS_LD), (1, BUS_ACCESS_ST)],
        origin: Origin::Inferred,
        reason: "reads and writes are accesses, and none is both (table 12.28)",
    },
    once(&[(1, LD_RETIRED)]),
    once(&[(1, ST_RETIRED)]),
    once(&[(1, PC_WRITE_RETIRED)]),
    once(&[(1, BR_IMMED_RETIRED)]),
    once(&[(1, BR_MIS_PRED)]),
    once(&[(1, BR_PRED)]),
    cycles(&[(1, OTHER_IQ_DEP_STALL)], EMPTY),
    cycles(&[(1, IC_DEP_STALL)], EMPTY),
    cycles(&[(1, IUTLB_DEP_STALL)], EMPTY),
    cycles(&[(1, DECODE_DEP_STALL)], EMPTY),
    cycles(&[(1, OTHER_INTERLOCK_STALL)], INTERLOCK),
    cycles(&[(1, AGU_DEP_STALL)], INTERLOCK),
    cycles(&[(1, SIMD_DEP_STALL)], INTERLOCK),
    cycles(&[(1, LD_DEP_STALL)], WRITE_BACK),
    cycles(&[(1, ST_DEP_STALL)], WRITE_BACK),
    cycles(&[(1, OTHER_INTERLOCK_STALL), (1, LD_DEP_STALL)], DISJOINT),
    cycles(&[(1, OTHER_INTERLOCK_STALL), (1, ST_DEP_STALL)], DISJOINT),
    cycles(&[(1, AGU_DEP_STALL), (1, LD_DEP_STALL)], DISJOINT),
    cycles(&[(1, AGU_DEP_STALL), (1, ST_DEP_STALL)], DISJOINT),
    cycles(&[(1, SIMD_DEP_STALL), (1, LD_DEP_STALL)], DISJOINT),
    cycles(&[(1, SIMD_DEP_STALL), (1, ST_DEP_STALL)], DISJOINT),
];

/// Ratios that right counts keep at most 1 except in contrived programs.
const RATIOS: &[Ratio<A53Event>] = &[
    ratio(&[(1, L1D_CACHE_REFILL)], (1, L1D_CACHE), Cause::Prefetches),
    ratio(&[(1, L1I_CACHE_REFILL)], (1, L1I_CACHE), Cause::Prefetches),
    ratio(&[(1, L2D_CACHE_REFILL)], (1, L2D_CACHE), Cause::Prefetches),
    ratio(&[(1, BR_MIS_PRED)], (1, BR_PRED), Cause::Unpredicted),
    ratio(&[(1, INST_RETIRED)], (2, CPU_CYCLES), Cause::Windows),
    ratio(&[(1, OTHER_INTERLOCK_STALL), (1, AGU_DEP_STALL)], (1, CPU_CYCLES), Cause::Windows),
    ratio(&[(1, OTHER_INTERLOCK_STALL), (1, SIMD_DEP_STALL)], (1, CPU_CYCLES), Cause::Windows),
    // SWP, an instruction of AArch32, is a load and a store.
    ratio(&[(1, LD_RETIRED), (1, ST_RETIRED)], (1, INST_RETIRED), Cause::Windows),
];

impl A53Rule {
    fn rule(&self) -> Rule<A53Event> {
        Rule {
            subject: self.subject,
            left: self.left.to_vec(),
            comparison: self.comparison,
            right: self.right.to_vec(),
            origin: self.origin,
            reason: Some(self.reason),
        }
    }
}

/// Returns the rules. A part of the code, such as a function, shares its cycles with others, so
/// that no rule relates its cycles to other events.
fn rules(is_part_of_code: bool) -> Vec<Rule<A53Event>> {
    let all = RULES.iter().map(A53Rule::rule);
    all.filter(|rule| !is_part_of_code || !rule.has(CPU_CYCLES)).collect()
}

/// Checks every rule whose events `count` knows, as numbers or as a [`Count`] with a tolerance.
pub fn check<C: Into<Count>>(
    count: impl Fn(A53Event) -> Option<C>,
    is_part_of_code: bool,
) -> Check {
    let count = |event| count(event).map(Into::into);
    let mut check = Check::default();
    for rule in rules(is_part_of_code) {
        rule.apply(&count, 0.0, &mut check);
    }
    check
}

/// Returns the usual cause of a violation.
pub fn usual_cause(violation: &Violation) -> Cause {
    match violation.subject {
        Subject::PerCycle if violation.right_value == 0 => Cause::NoCycles,
        _ => cause::by_difference(violation),
    }
}

/// Returns all doubts about a table of counts.
pub fn doubts<C: Into<Count>>(
    count: impl Fn(A53Event) -> Option<C>,
    is_part_of_code: bool,
) -> Vec<Doubt> {
    let count = |event| count(event).map(Into::into);
    let ratios = RATIOS.iter().filter(|ratio| ratio.applies(is_part_of_code));
    ratios.filter_map(|ratio| ratio.above_one(&count, || None)).collect()
}

/// Returns the rule that lacks the fewest counts, and the missing events.
pub fn nearest<C: Into<Count>>(
    count: impl Fn(A53Event) -> Option<C>,
    is_part_of_code: bool,
) -> Option<(String, Vec<A53Event>)> {
    rules::nearest(rules(is_part_of_code), &|event| count(event).map(Into::into))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts that break no rule: each event has 10, and the wholes have enough for their parts.
    fn right(event: A53Event) -> u64 {
        match event {
            CPU_CYCLES => 100,
            INST_RETIRED => 60,
            BUS_ACCESS | LD_RETIRED | ST_RETIRED | BR_MIS_PRED | BR_COND => 20,
            _ => 10,
        }
    }

    #[test]
    fn right_and_zero_counts_satisfy_every_rule() {
        for value in [right as fn(A53Event) -> u64, |_| 0] {
            let check = check(|event| Some(value(event)), false);
            assert_eq!((check.violations, check.tested, check.left_out), (vec![], RULES.len(), 0));
        }
        let doubts = doubts(|event| Some(if event == BR_PRED { 30 } else { right(event) }), false);
        assert_eq!(doubts, []);
    }

    /// Breaks each rule alone: its sides are counted, and the smaller one is 1 too much.
    #[test]
    fn a_contradiction_of_each_rule_is_found() {
        for rule in RULES {
            let (parts, wholes) = match rule.comparison {
                Comparison::AtLeast => (rule.right, rule.left),
                _ => (rule.left, rule.right),
            };
            let weights: u64 = wholes.iter().map(|(weight, _)| weight).sum();
            let limit = weights * 100;
            let value = |first: u64| {
                move |event: A53Event| match event {
                    event if event == parts[0].1 => Some(first),
                    event if parts.iter().any(|(_, part)| *part == event) => Some(0),
                    event if wholes.iter().any(|(_, whole)| *whole == event) => Some(100u64),
                    _ => None,
                }
            };
            let text = rule.rule().to_string();
            let broken = |first| check(value(first), false).violations;
            assert_eq!(broken(limit), [], "{text}");
            let found = broken(limit + 1);
            assert!(
                found.iter().any(|violation| violation.to_string().starts_with(&text)),
                "{text}"
            );
            assert!(found.iter().all(|violation| violation.reason.is_some()), "{text}");
        }
    }

    #[test]
    fn every_rule_has_a_reason_with_its_source_and_is_there_once() {
        for (index, rule) in RULES.iter().enumerate() {
            assert!(rule.reason.len() > 20 && rule.reason.ends_with("(table 12.28)"));
            let text = rule.rule().to_string();
            let is_same = |other: &A53Rule| other.rule().to_string() == text;
            assert!(!RULES[index + 1..].iter().any(is_same), "{text}");
        }
    }

    #[test]
    fn a_part_of_the_code_has_no_cycle_rules() {
        let counts = |event| match event {
            CPU_CYCLES => Some(1u64),
            INST_RETIRED => Some(9),
            LD_RETIRED => Some(10),
            _ => None,
        };
        let left = |is_part| -> Vec<String> {
            check(counts, is_part).violations.into_iter().map(|violation| violation.left).collect()
        };
        assert_eq!(left(true), ["LD_RETIRED"]);
        assert_eq!(left(false), ["LD_RETIRED", "LD_RETIRED"]);
    }

    #[test]
    fn the_cause_depends_on_the_evidence() {
        let cause = |cycles, loads| {
            let value = |event| match event {
                CPU_CYCLES => Some(Count::from(cycles)),
                LD_RETIRED => Some(loads),
                _ => None,
            };
            check(value, false).violations.first().map(usual_cause)
        };
        let exact = Count::from;
        assert_eq!(cause(0, exact(5)), Some(Cause::NoCycles));
        assert_eq!(cause(200, exact(201)), Some(Cause::Moments));
        assert_eq!(cause(100, exact(900)), Some(Cause::Windows));
        let estimate = Count { tolerance: 0.1, is_estimate: true, ..Count::from(900) };
        assert_eq!(cause(100, estimate), Some(Cause::Multiplexing));
        assert_eq!(cause(100, Count { value: 109, ..estimate }), None, "within its tolerance");
    }

    #[test]
    fn each_ratio_is_doubted_only_above_one() {
        let doubted = |part: A53Event, whole: A53Event, value| {
            let other = if part == LD_RETIRED { ST_RETIRED } else { part };
            let count = |event| match event {
                event if event == whole => Some(10u64),
                event if event == part => Some(value),
                event if event == other => Some(0),
                _ => None,
            };
            doubts(count, false).len()
        };
        for (part, whole) in [
            (L1D_CACHE_REFILL, L1D_CACHE),
            (L1I_CACHE_REFILL, L1I_CACHE),
            (L2D_CACHE_REFILL, L2D_CACHE),
            (BR_MIS_PRED, BR_PRED),
            (LD_RETIRED, INST_RETIRED),
        ] {
            assert_eq!((doubted(part, whole, 10), doubted(part, whole, 11)), (0, 1), "{part:?}");
        }
    }

    #[test]
    fn the_nearest_rule_names_its_missing_events() {
        let (rule, missing) =
            nearest(|event| (event == INST_RETIRED).then_some(1u64), false).expect("a rule");
        assert_eq!(
            (rule.as_str(), &missing[..]),
            ("LD_RETIRED <= INST_RETIRED", &[LD_RETIRED][..])
        );
        assert_eq!(nearest(|_| None::<u64>, false), None);
    }
}
