//! `n2sim capture --from --to`: a recorded region holds what the whole recording has there, and
//! says how much is absent.

use crate::recording::{Bench, LOADS, Recording};
use sim_trace::StreamEvent;

/// Addresses of all executed instructions.
fn path(recording: &Recording) -> Vec<u64> {
    (0..recording.insts.len()).map(|index| recording.pc(index)).collect()
}

/// Returns the positions and the lengths of the recording's gaps.
fn gaps(recording: &Recording) -> Vec<(usize, Option<u64>)> {
    let gap = |at: &sim_trace::EventAt| match at.event {
        StreamEvent::Gap { instructions } => Some((at.position as usize, instructions)),
        _ => None,
    };
    recording.events.iter().filter_map(gap).collect()
}

/// Positions of a word.
fn positions(recording: &Recording, word: u32) -> Vec<usize> {
    let is_word = |index: &usize| recording.word(&recording.insts[*index]) == word;
    (0..recording.insts.len()).filter(is_word).collect()
}

const BEGIN: u32 = 0xd503_251f;
const END: u32 = 0xd503_253f;

#[test]
fn regions_between_marks_are_recorded_each_time_with_their_distance() {
    let Some(bench) = Bench::new("CLOSE_ALL") else { return };
    let whole = bench.record(&[]);
    let part = bench.record(&["--from", "40", "--to", "41"]);
    part.assert_walks(2);
    assert_eq!(part.syscalls(), [], "the calls are between the regions");
    let [(at, Some(absent))] = gaps(&part)[..] else { panic!("one gap: {:?}", gaps(&part)) };
    // Every instruction is in one of three places: before the first region, in a gap, or recorded.
    let (begins, all, recorded) = (positions(&whole, BEGIN), path(&whole), path(&part));
    let first = begins[0] - positions(&part, BEGIN)[0];
    assert_eq!(recorded[..at], all[first..first + at]);
    let second = first + at + absent as usize;
    assert_eq!(recorded[at..], all[second..second + recorded.len() - at]);
    assert!(second <= begins[1] && positions(&part, END).len() == 2, "{}", part.said);
    let message = format!("{} instructions before and between", first as u64 + absent);
    assert!(part.said.contains(&message), "{message}\n{}", part.said);
    assert_eq!(part.note("region"), Some("from HINT #40 to HINT #41"));
}

#[test]
fn a_recording_from_a_function_begins_with_its_first_instruction() {
    let Some(bench) = Bench::new("PLAIN") else { return };
    let whole = bench.record(&[]);
    let walk = whole.file.meta().symbol("walk").expect("it has symbols").addr;
    let all = path(&whole);
    let first = all.iter().position(|pc| *pc == walk).expect("it is called");
    for from in ["walk".to_owned(), format!("{walk:#x}")] {
        let part = bench.record(&["--from", &from]);
        assert_eq!(path(&part), all[first..], "{from}");
        assert!(part.said.contains("engine's own count") && part.said.contains("(equal)"));
    }
    let before = bench.record(&["--to", "walk"]);
    assert_eq!(path(&before), all[..first]);
    assert_eq!(before.note("program-end"), Some("ended at --to"));
}

/// `_start` is a label of assembly code without a `.type`.
#[test]
fn a_function_whose_symbol_has_no_type_is_a_place_too() {
    let Some(bench) = Bench::new("PLAIN") else { return };
    let whole = bench.record(&[]);
    let start = whole.file.meta().symbol("_start").expect("it has a name").addr;
    assert_eq!(path(&whole)[0], start);
    let part = bench.record(&["--from", "_start", "--to", "walk"]);
    assert_eq!(path(&part), path(&bench.record(&["--to", "walk"])));
}

#[test]
fn a_limit_counts_what_is_recorded() {
    let Some(bench) = Bench::new("SPIN") else { return };
    let part = bench.record(&["--from", "40", "--to", "41", "--limit", "1M"]);
    assert!(part.insts.len() >= 1_000_000, "{}", part.said);
    assert!(gaps(&part).len() > 100);
    assert!(part.walks()[0].len() == LOADS);
}

#[test]
fn places_that_are_not_there_are_refused() {
    let Some(bench) = Bench::new("PLAIN") else { return };
    for (options, reason) in [
        (["--from", "nowhere"], "functions, and none of that name"),
        (["--from", "99"], "the program never came to --from HINT #99"),
        (["--from", "300"], "HINT #300 does not exist"),
        (["--to", "0x3"], "no address of an instruction"),
    ] {
        let output = bench.capture(&options).output().expect("n2sim runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(reason), "{said}");
    }
    let output = bench.capture(&["--from", "40", "--to", "40"]).output().expect("n2sim runs");
    assert!(String::from_utf8_lossy(&output.stderr).contains("name the same place"));
}
