//! The language as a writer meets it: what is read, and what is said about each mistake.

use proptest::prelude::*;
use sim_core::PmuEvent;

use super::*;

const HEAD: &str = "guide = \"5.1\"\nclaim = \"c\"\ntest = \"t\"\n";

fn case(body: &str) -> Case {
    match parse("a.toml", &format!("{HEAD}{body}")) {
        Ok(mut cases) => cases.remove(0),
        Err(error) => panic!("{error}"),
    }
}

fn error(body: &str) -> String {
    match parse("a.toml", &format!("{HEAD}{body}")) {
        Ok(_) => panic!("accepted: {body}"),
        Err(error) => error.to_string(),
    }
}

fn bound(case: &Case, event: PmuEvent) -> Option<Bound> {
    case.expect.events.iter().find(|known| known.event == event).map(|known| known.bound)
}

#[test]
fn a_vector_tells_its_events_their_sums_and_that_the_rest_is_zero() {
    let case = case("given = 'K3, TLBs empty'\ndo = 'LD8 0x8000'\nexpect = 'V3 + walk ld'");
    assert_eq!(case.given.base, Base::K3);
    assert_eq!(case.given.clauses, [Clause { subject: None, state: State::InNoTlb }]);
    assert_eq!(bound(&case, PmuEvent::L1D_TLB_REFILL_RD), Some(Bound::exactly(1)));
    assert_eq!(bound(&case, PmuEvent::L1D_TLB_REFILL), Some(Bound::exactly(1)));
    assert_eq!(bound(&case, PmuEvent::DTLB_WALK), Some(Bound::exactly(1)));
    assert_eq!(bound(&case, PmuEvent::ITLB_WALK), Some(Bound::exactly(0)));
    assert_eq!(bound(&case, PmuEvent::L1D_CACHE_LMISS_RD), Some(Bound::exactly(0)));
    assert_eq!(bound(&case, PmuEvent::CPU_CYCLES), None);
    assert_eq!(bound(&case, PmuEvent::INST_RETIRED), None);
}

#[test]
fn a_sum_adds_and_takes_away() {
    let case =
        case("given = 'K1'\ndo = 'LD8 0x803C'\nexpect = '2 V1 - LD_SPEC 1 + LD_ALIGN_LAT 1'");
    assert_eq!(bound(&case, PmuEvent::LD_SPEC), Some(Bound::exactly(1)));
    assert_eq!(bound(&case, PmuEvent::L1D_CACHE_REFILL), Some(Bound::exactly(2)));
    assert_eq!(bound(&case, PmuEvent::LDST_ALIGN_LAT), Some(Bound::exactly(1)));
    let error = error("given = 'K1'\ndo = 'LD8 a0'\nexpect = 'V3 - L1D_CACHE_RD 2'");
    assert!(error.contains("no more than the sum has"), "{error}");
}

#[test]
fn a_stated_sum_leaves_its_parts_open_and_its_parts_decide_it() {
    let open = case("given = 'K0'\ndo = 'LD8 0x8000'\nexpect = 'L1D_TLB_REFILL 1, DTLB_WALK >= 1'");
    assert_eq!(bound(&open, PmuEvent::L1D_TLB_REFILL_RD), None);
    assert_eq!(bound(&open, PmuEvent::DTLB_WALK), Some(Bound { min: 1, max: u64::MAX }));
    let told = case("given = 'K0'\ndo = 'LD8 0x8000'\n[expect]\nL1D_TLB_RD = 2\nL1I_TLB = '1..2'");
    assert_eq!(bound(&told, PmuEvent::L1D_TLB), Some(Bound::exactly(2)));
    assert_eq!(bound(&told, PmuEvent::L1I_TLB), Some(Bound { min: 1, max: 2 }));
}

#[test]
fn steps_are_joined_repeated_and_put_on_a_wrong_path() {
    let case = case(
        "given = 'K0, a0..a2 dirty in L1D; 0x8000 0x9000 non-cacheable'\n\
         do = 'LD8 a4+8 ; ST4 0x8000 & [DMB ; LD16 0x40] ; LD1 0x0 step 0x1000 x 3 ; STX8 a0 fails'\n\
         expect = 'LD_SPEC >= 0'\nothers = 'any'",
    );
    let joins: Vec<(Join, bool)> = case.steps.iter().map(|s| (s.join, s.wrong_path)).collect();
    let (a, w) = (Join::After, Join::With);
    let (right, wrong) = (false, true);
    assert_eq!(joins[..4], [(a, right), (a, right), (w, wrong), (a, wrong)]);
    assert_eq!(joins[4..], [(a, right); 4]);
    let Action::Execute { addr, .. } = case.steps[0].action else { panic!("an instruction") };
    assert_eq!(addr, Some(0x11_0008));
    let Action::Execute { addr, word, .. } = case.steps[6].action else { panic!("a load") };
    assert_eq!((addr, word), (Some(0x2000), 0x3940_0020));
    assert_eq!(case.given.clauses[0].subject, Some(vec![0x10_0000, 0x10_4000, 0x10_8000]));
    assert_eq!(case.given.clauses[1].subject, Some(vec![0x8000, 0x9000]));
}

#[test]
fn the_cases_of_a_file_take_what_they_leave_out_from_its_head() {
    let text = "guide = '4.1'\nclaim = 'c'\ngiven = 'K1'\nnames = { b = 0x9000 }\n\
        [[case]]\ntest = 'one'\ndo = 'LD8 b'\nexpect = 'V1'\n\
        [[case]]\ntest = 'two'\ngiven = 'K2'\ndo = 'ST8 b'\nset = { \"a.b\" = 1 }\n\
        [case.expect]\nsum = 'V5'\nL2D_CACHE = 1\n";
    let cases = parse("a.toml", text).expect("the file is right");
    assert_eq!((cases[0].test.as_str(), cases[1].test.as_str()), ("one", "two"));
    assert_eq!((cases[0].given.base, cases[1].given.base), (Base::K1, Base::K2));
    assert_eq!(cases[1].given.set, [("a.b".to_owned(), "1".to_owned())]);
    assert_eq!(cases[1].place.line, 9);
}

#[test]
fn every_mistake_is_told_with_its_place_and_what_would_be_right() {
    let rest = "do = 'LD8 0x8000'\nexpect = 'V3'";
    let given = "given = 'K3'\n";
    let table = [
        (
            format!("given = 'K9'\n{rest}"),
            "a.toml:4:10: expected K0, K1, K2, K3 or K3d, found 'K9'",
        ),
        (format!("given = 'K3 a0 unmapped'\n{rest}"), "a.toml:4:13: expected ',' before"),
        (format!("given = 'K3, 0x80 on fire'\n{rest}"), "a.toml:4:19: expected a state (unmapped"),
        (format!("given = 'K3, lines unmapped'\n{rest}"), "expected the state of a line"),
        (
            format!("{given}do = 'LDD8 0x8000'\nexpect = 'V3'"),
            "a.toml:5:7: unknown step 'LDD8'; known",
        ),
        (
            format!("{given}do = 'LD8'\nexpect = 'V3'"),
            "a.toml:5:10: expected an address, found the end",
        ),
        (format!("{given}do = 'LD8 b'\nexpect = 'V3'"), "no address is named 'b'; declare it"),
        (format!("{given}do = '[LD8 a0'\nexpect = 'V3'"), "expected ']', found the end"),
        (format!("{given}do = 'B.EQ'\nexpect = 'V3'"), "expected 'taken' or 'not-taken'"),
        (format!("{given}do = 'NOP x 0'\nexpect = 'V3'"), "a repetition must be between 1 and"),
        (format!("{given}do = 'NOP'\nexpect = 'L1D_TLBB 1'"), "the closest name is L1D_TLB "),
        (format!("{given}do = 'NOP'\nexpect = 'V3 + L1D_TLB 1'"), "add to L1D_TLB_RD, L1D_TLB_WR"),
        (
            format!("{given}do = 'NOP'\nexpect = 'V3; DTLB_WALK 1'"),
            "DTLB_WALK cannot be both 1 and 0",
        ),
        (
            format!("{given}do = 'NOP'\nexpect = 'L1D_TLB 3, L1D_TLB_RD 1'"),
            "L1D_TLB cannot be both 3 and 1",
        ),
        (format!("{given}do = 'NOP'\nexpect = 'V3; V1'"), "expected one sum"),
        (
            format!("{given}do = 'NOP'\nexpect = 'V3 V1'"),
            "expected '+', '-', ';' or ',', found 'V1'",
        ),
        (
            format!("{given}{rest}\npath = '5.1: 1,2,4'"),
            "L1D_TLB_REFILL_RD cannot be both 0 and at least 1",
        ),
        (
            format!("{given}{rest}\npath = '5.1: 2,1'"),
            "flow 5.1 has no step 1 here; its steps in order",
        ),
        (format!("{given}{rest}\npath = '5.9: 1'"), "expected a flow from 5.1 to 5.8"),
        (format!("{given}{rest}\nother = 'any'"), "a.toml:7:1: unknown key 'other'"),
        (format!("{given}{rest}\nothers = 'some'"), "'others' must be \"zero\" or \"any\""),
        (format!("{given}{rest}\nnames = 3"), "'names' must be a table"),
        (given.to_owned(), "the case has no 'do'"),
        ("given = 'K3".to_owned(), "a.toml:4:"),
    ];
    for (body, expected) in table {
        let error = error(&body);
        assert!(error.contains(expected), "{body}\n  says: {error}\n  not:  {expected}");
    }
}

#[test]
fn a_place_inside_a_long_string_is_found() {
    let error =
        error("given = 'K3'\nexpect = 'V3'\ndo = \"\"\"\nLD8 0x8000 ;\n  LDD8 0x8000\"\"\"");
    assert!(error.starts_with("a.toml:8:3: unknown step 'LDD8'"), "{error}");
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC*") {
        let _ = parse("a.toml", &text);
    }

    #[test]
    fn no_value_makes_the_parser_panic(
        given in "(K[0-3]|, |a0|\\.\\.|a9|in L1D|lines|pages|0x|é| ){0,8}",
        steps in "(LD8 |IF |0x8000|\\[|\\]|;|&|x 3|step|word|a0|\\.\\.|é|99999999999999999999| ){0,8}",
        expect in "(V1|walk|ld|\\+|;|,|2 |L1D_TLB|BUS_ACCESS|18446744073709551615|\\.\\.|>=|é| ){0,8}",
        path in "(5\\.[0-9]|:|,|;|[0-9]|é| ){0,8}",
    ) {
        let body = format!("given='{given}'\ndo='{steps}'\nexpect='{expect}'\npath='{path}'");
        let _ = parse("a.toml", &format!("{HEAD}{body}"));
    }
}
