//! A stand-in for a real machine: the counts of the model with noise. They agree with the claims
//! and are fit to be published; broken ones are refused with the reason.

use sim_core::PmuEvent::*;
use sim_litmus::counts::FORMAT;
use sim_litmus::judge::{judge, totals};
use sim_litmus::{
    Admission, Answer, Counted, CountedCase, JudgedCase, Litmus, MachineFacts, contribution, noise,
    select,
};

use crate::recorded::{candidates, replayed};

const HOLDS_40: &str = "430-capacity:L1 D-side TLB holds no more than 40";
const R0P0: &str = "0x00000000410fd490";
const R0P3: &str = "0x00000000410fd493";

/// Returns the admitted cases of a machine with such a deviation of each count.
fn machine(percent: f64) -> Counted {
    let admission = Admission::builtin();
    let is_admitted = |case: &&CountedCase| admission.of(&case.case).is_some();
    let cases: Vec<CountedCase> = replayed().iter().filter(is_admitted).cloned().collect();
    let machine = MachineFacts {
        midr: R0P3.to_owned(),
        kernel: "6.8.0".to_owned(),
        counters: 6,
        page_bytes: 4096,
        time: 1_700_000_000,
        name: "a stand-in".to_owned(),
        licence: contribution::LICENCE.to_owned(),
        ..MachineFacts::default()
    };
    let mut counted = Counted { format: FORMAT.to_owned(), machine, cases, ..Counted::default() };
    noise::add(&mut counted, percent, 1);
    counted
}

fn faults(counted: &Counted) -> Vec<String> {
    let cases: Vec<&str> = candidates().iter().map(|litmus| litmus.id.as_str()).collect();
    contribution::faults(counted, &cases)
}

#[test]
fn a_machine_with_one_percent_of_noise_agrees_and_is_fit() {
    let counted = machine(1.0);
    let judged = judge(candidates(), &Admission::builtin(), &counted);
    let totals = totals(&judged);
    // A few counts may vary too much for an answer, but no claim is refuted.
    assert_eq!((totals.differ, totals.not_counted), (0, 0), "{totals:?}");
    assert!(totals.agree >= judged.len() * 95 / 100, "{totals:?}");
    assert_eq!(faults(&counted), Vec::<String>::new());
}

#[test]
fn what_a_result_lacks_is_named_with_the_remedy() {
    type Change = fn(&mut Counted);
    let changes: [(Change, &str); 9] = [
        (|it| it.machine.midr.clear(), "the MIDR is missing"),
        (|it| it.machine.counters = 0, "the machine has no counters"),
        (|it| it.machine.kernel.clear(), "the kernel is missing"),
        (|it| it.machine.name.clear(), "the name is missing"),
        (|it| it.machine.licence.clear(), "the licence is missing; add it"),
        (|it| it.machine.licence = "MIT".to_owned(), "the licence is 'MIT'"),
        (|it| it.machine.time = 0, "a replay on the model"),
        (|it| it.cases[0].case = "x".to_owned(), "case 'x' is not in the program"),
        (|it| it.cases.clear(), "nothing was counted"),
    ];
    for (change, said) in changes {
        let mut counted = machine(1.0);
        change(&mut counted);
        let faults = faults(&counted);
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].contains(said), "{faults:?}");
    }
    let mut exact = machine(0.1);
    for counts in exact.cases.iter_mut().flat_map(|case| case.counts.values_mut()) {
        let first = counts[0];
        counts.fill(first);
    }
    let exact = faults(&exact);
    assert!(exact.len() == 1 && exact[0].contains("no count varies"), "{exact:?}");
}

#[test]
fn a_broken_count_is_refused_with_the_rule() {
    let broken = |event: &str| {
        let mut counted = machine(1.0);
        for case in &mut counted.cases {
            let counts = case.counts.get_mut(event).expect("it is counted");
            counts.iter_mut().for_each(|count| *count *= 2.0);
        }
        faults(&counted)
    };
    let twice = broken("L1D_CACHE");
    assert!(
        twice[0].contains("L1D_CACHE = L1D_CACHE_RD + L1D_CACHE_WR does not hold"),
        "{twice:?}"
    );
    assert!(twice.last().is_some_and(|last| last.contains("more cases")), "{twice:?}");
    // No equation has this event.
    assert_eq!(broken("ISB_SPEC"), Vec::<String>::new());
}

/// A case that the first revisions of the core count differently.
const SLOTS: &str = "
guide = 'PMU guide 4.7.6'
claim = 'five operations a cycle leave no slot empty'
test = 'full'
given = 'K3'
do = 'LD8 0x8000'
expect = 'STALL_SLOT 0, LD_SPEC 1'
others = 'any'
on = 'el0'
tolerance = { STALL_SLOT = 2 }
except = { 'r0p0..r0p2' = 'STALL_SLOT 40', neoverse-v1 = 'LD_SPEC 3' }
";

fn slots(text: &str) -> Vec<Litmus> {
    let cases = sim_scenario::parse("slots", &text.replace("'r0p0..r0p2'", "\"r0p0..r0p2\""));
    select(&[("slots".to_owned(), cases.expect("a scenario"))]).0
}

fn judge_slots(text: &str, midr: &str, stalled: f64) -> JudgedCase {
    let cases = slots(text);
    let admitted = sim_litmus::Admitted { case: cases[0].id.clone(), ..Default::default() };
    let of = |event: sim_core::PmuEvent, count: f64| {
        (event.mnemonic().to_owned(), vec![count, count + 0.1, count - 0.1])
    };
    let counts = [of(STALL_SLOT, stalled), of(LD_SPEC, 1.0)].into();
    let case = CountedCase { case: cases[0].id.clone(), rounds: 1, counts };
    let machine = MachineFacts { midr: midr.to_owned(), ..MachineFacts::default() };
    let counted = Counted { machine, cases: vec![case], ..Counted::default() };
    judge(&cases, &Admission { cases: vec![admitted] }, &counted).remove(0)
}

/// Returns the committed case about 41 pages, judged on a machine that counts so many refills of
/// the L1 D-side TLB.
fn judge_41_pages(midr: &str, refills: f64) -> JudgedCase {
    let own = candidates().iter().find(|litmus| litmus.id == HOLDS_40);
    let counted = |count: f64| vec![count, count + 0.01, count - 0.01];
    let counts = [(L1D_TLB_REFILL, refills), (DTLB_WALK, 41.0)];
    let counts = counts.map(|(event, count)| (event.mnemonic().to_owned(), counted(count)));
    let own = own.expect("it is committed");
    let case = CountedCase { case: own.id.clone(), rounds: 1, counts: counts.into() };
    let machine = MachineFacts { midr: midr.to_owned(), ..MachineFacts::default() };
    let counted = Counted { machine, cases: vec![case], ..Counted::default() };
    let judged = judge(candidates(), &Admission::builtin(), &counted);
    judged.into_iter().find(|case| case.id == own.id).expect("it is admitted")
}

/// By the PMU guide the L1 D-side TLB of a Neoverse N2 has 40 entries (by its TRM 44), and 48 are
/// assumed for a Neoverse N1. One refill is outside of the tolerance of the case.
#[test]
fn a_committed_case_expects_other_counts_of_another_core() {
    let n1 = "0x00000000413fd0c1";
    for (midr, refills, wrong) in [
        (R0P3, 82.0, &[][..]),
        (R0P3, 41.6, &[]),
        (R0P3, 41.0, &["L1D_TLB_REFILL"]),
        (n1, 41.0, &[]),
        (n1, 41.4, &[]),
        (n1, 42.0, &["L1D_TLB_REFILL"]),
        (n1, 82.0, &["L1D_TLB_REFILL"]),
    ] {
        assert_eq!(differing(&judge_41_pages(midr, refills)), wrong, "{midr} {refills}");
    }
    let exception = judge_41_pages(n1, 41.0).claims.into_iter().find_map(|claim| claim.exception);
    let (on, bound) = exception.expect("the case names the core");
    assert_eq!((on.as_str(), bound.exact()), ("neoverse-n1", Some(41)));
}

fn differing(case: &JudgedCase) -> Vec<&'static str> {
    case.differences().map(|claim| claim.event.mnemonic()).collect()
}

#[test]
fn a_revision_is_judged_by_its_own_expectation() {
    assert_eq!(judge_slots(SLOTS, R0P3, 1.5).answer(), Answer::Agrees);
    assert_eq!(differing(&judge_slots(SLOTS, R0P3, 40.0)), ["STALL_SLOT"]);
    let erratum = judge_slots(SLOTS, R0P0, 41.0);
    assert_eq!(erratum.answer(), Answer::Agrees);
    let stalled = erratum.claims.iter().find(|claim| claim.event == STALL_SLOT).expect("it");
    assert_eq!(stalled.exception.as_ref().map(|(on, _)| on.as_str()), Some("r0p0..r0p2"));
    assert_eq!((stalled.claim.exact(), stalled.expected().exact()), (Some(0), Some(40)));
    // Without the exception, the clause of the erratum is named.
    let plain: String = SLOTS
        .lines()
        .filter(|line| !line.starts_with("except"))
        .map(|l| format!("{l}\n"))
        .collect();
    assert_eq!(differing(&judge_slots(&plain, R0P0, 41.0)), ["STALL_SLOT"]);
    // Another core has its own exception; the rest is judged by the guide of the N2.
    let v1 = judge_slots(SLOTS, "0x411fd401", 0.0);
    assert_eq!(differing(&v1), ["LD_SPEC"]);
}

#[test]
fn a_core_is_not_asked_for_an_event_that_it_lacks() {
    let case = judge_slots(SLOTS, "0x410fd0c1", 0.0);
    let stalled = case.claims.iter().find(|claim| claim.event == STALL_SLOT).expect("it");
    assert_eq!(stalled.answer, Answer::NotCounted);
}

/// A case that is written for real machines must be in the program.
#[test]
fn every_case_for_user_mode_is_exported() {
    let admission = Admission::builtin();
    let for_machines = candidates().iter().filter(|litmus| litmus.case.on_machines.in_user_mode);
    let missing: Vec<&str> =
        for_machines.map(|it| it.id.as_str()).filter(|id| admission.of(id).is_none()).collect();
    assert_eq!(missing, Vec::<&str>::new());
}
