//! The cases of EL1: those of the module are what the replay of the recorded payload reproduces,
//! the module and the payload have their code, and a wrong machine is named.

use std::fs;
use std::path::Path;

use sim_core::PmuEvent::{self, *};
use sim_litmus::judge::{judge, totals};
use sim_litmus::{Admission, Counted, JudgedCase, Litmus};
use sim_litmus::{admission, module, payload, program};

use crate::recorded::{all_ids, candidates, candidates_el1, left_out, left_out_el1, replayed_el1};
use crate::wrong_machines::{Wrong, assert_named, machine};

fn admitted() -> Vec<Litmus> {
    let admission = Admission::builtin_el1();
    let is_admitted = |litmus: &&Litmus| admission.of(&litmus.id).is_some();
    candidates_el1().iter().filter(is_admitted).cloned().collect()
}

#[test]
fn the_file_of_admitted_cases_is_what_the_replay_gives() {
    let counted = |litmus: &Litmus| replayed_el1().iter().find(|case| case.case == litmus.id);
    let admitted =
        candidates_el1().iter().filter_map(|case| admission::admit(case, counted(case)).ok());
    let text = Admission { cases: admitted.collect() }.text();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("admitted-el1.jsonl");
    if std::env::var_os("N2SIM_BLESS").is_some() {
        fs::write(path, text).expect("the file is written");
    } else {
        assert_eq!(text, fs::read_to_string(path).expect("the file is committed"));
    }
}

/// Every case is in the program, in the module, or left out with a reason: once.
#[test]
fn every_case_has_one_place() {
    let chosen = candidates().iter().chain(candidates_el1()).map(|case| case.id.clone());
    let mut placed: Vec<String> = chosen.collect();
    placed.extend(left_out().into_iter().chain(left_out_el1()).map(|case| case.id));
    placed.sort();
    let mut all = all_ids();
    all.sort();
    assert_eq!(placed, all);
}

#[test]
fn a_case_that_stays_out_says_what_it_needs() {
    let left_out = left_out_el1();
    for (id, needs) in [
        ("413-l1d-maintenance:DC CISW of a dirty line", "EL1 and the way that holds a line"),
        ("530-tlb-maintenance:TLBI of an ASID", "EL1 and an address space of its own"),
        ("530-tlb-maintenance:TLBI VMALLE1", "EL1 and code in chosen memory"),
        ("700-exceptions:EL1 has no registers of EL2", "EL1 and a step that a module must not do"),
        ("700-exceptions:T.EXC_SMC.1", "EL2, EL3 or a hypervisor"),
        (
            "955-second-reading-corners:TLB maintenance of an application",
            "EL0 below a kernel of its own",
        ),
        (
            "955-second-reading-corners:set and way maintenance of an application",
            "EL0 below a kernel of its own",
        ),
    ] {
        let found = left_out.iter().find(|one| one.id == id).map(|one| one.reason.to_string());
        assert_eq!(found.as_deref(), Some(format!("needs {needs}").as_str()), "{id}");
    }
}

/// The model replays what the module runs.
#[test]
fn module_and_payload_have_the_code_of_every_case() {
    let cases = admitted();
    let (module, payload) = (module::text(&cases), payload::text(&cases));
    for (number, case) in cases.iter().enumerate() {
        assert!(
            module.contains(&format!("{{\"{}\", litmus_{number}_with,", case.id)),
            "{}",
            case.id
        );
        for name in [format!("litmus_{number}_with"), format!("litmus_{number}_without")] {
            let body = body(&payload, &name);
            assert!(body.len() > 10, "{name}");
            let in_module: Vec<String> = body
                .iter()
                .map(|line| format!("    \"{}\\n\"", line.replace('"', "\\\"")))
                .collect();
            assert!(module.contains(&in_module.join("\n")), "{name} of {}", case.id);
        }
    }
    assert!(
        module.contains(&program::mark_of(&cases)) && payload.contains(&program::mark_of(&cases))
    );
}

/// Returns the lines of a function of the payload.
fn body<'a>(payload: &'a str, name: &str) -> Vec<&'a str> {
    let lines = payload.lines().skip_while(|line| *line != format!("{name}:"));
    lines.take_while(|line| !line.trim_start().starts_with(".size")).collect()
}

/// A module must not write vectors that the kernel uses, nor other values into its registers.
#[test]
fn a_case_uses_only_what_a_kernel_can_spare() {
    let text = payload::text(candidates_el1());
    for line in text.lines().skip_while(|line| !line.starts_with("litmus_0_with:")) {
        let (code, _) = line.split_once("//").unwrap_or((line, ""));
        assert!(["fmov", "x18"].iter().all(|word| !code.contains(word)), "{line}");
        let written = code.trim().strip_prefix("msr ").and_then(|rest| rest.split(',').next());
        let known = ["vbar_el1", "elr_el1", "spsr_el1"];
        assert!(written.is_none_or(|register| known.contains(&register)), "{line}");
    }
}

/// The steps are words in the functions, so their scenarios name them.
#[test]
fn no_step_is_for_a_hypervisor_or_a_way() {
    let words = ["ISW", "CSW", "CISW", "ALLE", "VMALLS12", "IPAS2", "HVC", "SMC", "WFI", "WFE"];
    for case in candidates_el1() {
        for step in &case.plan.steps {
            let text = step.text.to_uppercase();
            let of_step: Vec<&str> =
                text.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
            let is_named = |word: &&&str| of_step.iter().any(|own| own.starts_with(**word));
            assert_eq!(words.iter().find(is_named), None, "{}: {text}", case.id);
            let inst = sim_isa::decode(step.word);
            let mut registers = inst.srcs().iter().chain(inst.dsts());
            assert!(registers.all(|register| register.0 != 18), "{}: {text}", case.id);
        }
    }
}

/// Names are strings of JSON and of C in the program and the module.
#[test]
fn no_name_of_a_case_needs_an_escape() {
    let all = candidates().iter().chain(candidates_el1());
    for Litmus { id, .. } in all {
        assert!(!id.contains(['"', '\\']) && !id.contains(char::is_control), "{id:?}");
    }
}

/// Machines with one wrong event each.
const MACHINES: [(&str, PmuEvent, Wrong); 9] = [
    ("table bases are not counted", TTBR_WRITE_RETIRED, |_| 0.0),
    ("one table base alone is counted", TTBR_WRITE_RETIRED, |n| n(TTBR_WRITE_RETIRED).min(1.0)),
    ("context IDs count twice", CID_WRITE_RETIRED, |n| 2.0 * n(CID_WRITE_RETIRED)),
    ("exception returns are not counted", EXC_RETURN, |_| 0.0),
    ("system calls of a kernel are not counted", EXC_SVC, |_| 0.0),
    ("undefined instructions are system calls", EXC_SVC, |n| n(EXC_SVC) + n(EXC_UNDEF)),
    ("TLB maintenance drops nothing", DTLB_WALK, |_| 0.0),
    ("a translation instruction is an access", L1D_TLB, |n| n(L1D_TLB) + n(L2D_TLB_RD)),
    ("a translation for writing reads", L2D_TLB_WR, |_| 0.0),
];

fn judged(counted: &Counted) -> Vec<JudgedCase> {
    judge(candidates_el1(), &Admission::builtin_el1(), counted)
}

#[test]
fn the_model_agrees_with_every_admitted_case() {
    let totals = totals(&judged(&machine(replayed_el1(), INST_RETIRED, |n| n(INST_RETIRED))));
    assert_eq!(totals.agree, Admission::builtin_el1().cases.len(), "{totals:?}");
}

#[test]
fn the_wrong_event_of_a_machine_is_named() {
    assert_named(&MACHINES, replayed_el1(), judged);
}
