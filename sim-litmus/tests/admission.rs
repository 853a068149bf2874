//! The program's cases: those whose claim the replay of the recorded program reproduces.

use std::fs;
use std::path::Path;

use sim_litmus::admission::Refused;
use sim_litmus::{Admission, CountedCase, Litmus, admission, program};

use crate::recorded::{candidates, replayed};

fn counted(litmus: &Litmus) -> Option<&'static CountedCase> {
    replayed().iter().find(|case| case.case == litmus.id)
}

#[test]
fn the_file_of_admitted_cases_is_what_the_replay_gives() {
    let admitted =
        candidates().iter().filter_map(|case| admission::admit(case, counted(case)).ok());
    let text = Admission { cases: admitted.collect() }.text();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("admitted.jsonl");
    if std::env::var_os("N2SIM_BLESS").is_some() {
        fs::write(path, text).expect("the file is written");
    } else {
        assert_eq!(text, fs::read_to_string(path).expect("the file is committed"));
    }
}

#[test]
fn a_case_that_the_replay_does_not_reproduce_is_refused() {
    let litmus =
        candidates().iter().find(|case| case.id == "400-reference-vectors:V2").expect("V2");
    let mut case = counted(litmus).expect("it ran").clone();
    assert!(admission::admit(litmus, Some(&case)).is_ok());
    assert!(admission::admit(litmus, None).is_err());
    case.counts.insert("L1D_CACHE_REFILL".to_owned(), vec![0.5, 0.5]);
    let Err(Refused::NotReproduced(wrong)) = admission::admit(litmus, Some(&case)) else {
        panic!("half a refill is admitted");
    };
    assert_eq!(wrong[0].expected.event.mnemonic(), "L1D_CACHE_REFILL");
}

#[test]
fn names_of_cases_are_unique_and_in_the_program() {
    let text = program::text(candidates());
    for (number, litmus) in candidates().iter().enumerate() {
        assert!(!candidates()[..number].iter().any(|other| other.id == litmus.id), "{}", litmus.id);
        assert!(
            text.contains(&format!("{{\"{}\", litmus_{number}_with", litmus.id)),
            "{}",
            litmus.id
        );
    }
}

#[test]
fn other_cases_have_another_mark() {
    let all = program::mark_of(candidates());
    assert_ne!(all, program::mark_of(&candidates()[1..]));
    assert!(program::text(candidates()).contains(&all));
}
