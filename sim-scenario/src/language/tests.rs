//! Parsing of the language, and the message for each mistake.

use proptest::prelude::*;
use sim_core::{Flow, PmuEvent, RootCause, Snoop, StallCause};

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
fn a_vector_determines_its_events_their_sums_and_all_others() {
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
fn a_sum_adds_and_subtracts() {
    let case =
        case("given = 'K1'\ndo = 'LD8 0x803C'\nexpect = '2 V1 - LD_SPEC 1 + LD_ALIGN_LAT 1'");
    assert_eq!(bound(&case, PmuEvent::LD_SPEC), Some(Bound::exactly(1)));
    assert_eq!(bound(&case, PmuEvent::L1D_CACHE_REFILL), Some(Bound::exactly(2)));
    assert_eq!(bound(&case, PmuEvent::LDST_ALIGN_LAT), Some(Bound::exactly(1)));
    let error = error("given = 'K1'\ndo = 'LD8 a0'\nexpect = 'V3 - L1D_CACHE_RD 2'");
    assert!(error.contains("no more than the sum has"), "{error}");
}

#[test]
fn a_stated_sum_leaves_its_parts_open_and_stated_parts_determine_it() {
    let open = case("given = 'K0'\ndo = 'LD8 0x8000'\nexpect = 'L1D_TLB_REFILL 1, DTLB_WALK >= 1'");
    assert_eq!(bound(&open, PmuEvent::L1D_TLB_REFILL_RD), None);
    assert_eq!(bound(&open, PmuEvent::DTLB_WALK), Some(Bound { min: 1, max: u64::MAX }));
    let stated =
        case("given = 'K0'\ndo = 'LD8 0x8000'\n[expect]\nL1D_TLB_RD = 2\nL1I_TLB = '1..2'");
    assert_eq!(bound(&stated, PmuEvent::L1D_TLB), Some(Bound::exactly(2)));
    assert_eq!(bound(&stated, PmuEvent::L1I_TLB), Some(Bound { min: 1, max: 2 }));
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
    let Action::Execute { operand, .. } = case.steps[0].action else { panic!("an instruction") };
    assert_eq!(operand, Some(Xt::Address(0x11_0008)));
    let Action::Execute { operand, word, .. } = case.steps[6].action else { panic!("a load") };
    assert_eq!((operand, word), (Some(Xt::Address(0x2000)), 0x3940_0020));
    assert_eq!(case.given.clauses[0].subject, Some(vec![0x10_0000, 0x10_4000, 0x10_8000]));
    assert_eq!(case.given.clauses[1].subject, Some(vec![0x8000, 0x9000]));
}

#[test]
fn cases_inherit_omitted_keys_from_the_head_of_the_file() {
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

/// Checks that each text is refused with its message.
fn refused<const N: usize>(table: [(String, &str); N]) {
    for (body, expected) in table {
        let error = error(&body);
        assert!(error.contains(expected), "{body}\n  says: {error}\n  not:  {expected}");
    }
}

#[test]
fn a_mistake_in_given_or_do_is_reported_with_place_and_remedy() {
    let rest = "do = 'LD8 0x8000'\nexpect = 'V3'";
    let given = "given = 'K3'\n";
    refused([
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
            format!("{given}do = '(LD8 0x8000 ; ST8 0x8000) step 64 x 8'\nexpect = 'V3'"),
            "a.toml:5:7: unknown step '('; 'step 64 x 8' repeats the one step before it; write the",
        ),
        (
            format!("{given}do = 'LD8'\nexpect = 'V3'"),
            "a.toml:5:10: expected an address, found the end",
        ),
        (format!("{given}do = 'LD8 b'\nexpect = 'V3'"), "no address is named 'b'; declare it"),
        (format!("{given}do = '[LD8 a0'\nexpect = 'V3'"), "expected ']', found the end"),
        (format!("{given}do = 'B.EQ'\nexpect = 'V3'"), "expected 'taken' or 'not-taken'"),
        (
            format!("{given}do = '[SNP-S a0]'\nexpect = 'V3'"),
            "expected an instruction on the wrong",
        ),
        (format!("{given}do = 'SNP-S'\nexpect = 'V3'"), "expected an address, found the end"),
        (format!("{given}do = 'PEER LD8 a0'\nexpect = 'V3'"), "expected 'DC CVAC', 'DC CIVAC'"),
        (format!("{given}do = 'DC CISW'\nexpect = 'V3'"), "expected an address, found the end"),
        (format!("{given}do = 'TLBI ASIDE1'\nexpect = 'V3'"), "expected the number of an ASID"),
        (
            format!("{given}do = 'TLBI VAE1 a0 ASID 70000'\nexpect = 'V3'"),
            "an ASID must be 16 bits, not 70000",
        ),
        (format!("{given}do = 'TLBI X a0'\nexpect = 'V3'"), "begin alike: TLBI VMALLE1, TLBI"),
        (format!("given = 'K3, at home'\n{rest}"), "expected EL0, EL1, EL2 or EL3 after 'at'"),
        (format!("given = 'K3, tag checks'\n{rest}"), "expected 'tag checks on', found the end"),
        (format!("given = 'K3, stage 3'\n{rest}"), "expected 'stage 2', found '3'"),
        (format!("given = 'K3, a0 tag 16'\n{rest}"), "an allocation tag must be 0 to 15, not 16"),
        (format!("given = 'K3, a0 error in L1D data'\n{rest}"), "1-bit error in L1D data, 2-bit"),
        (format!("{given}{rest}\nsource = 'x'"), "the case has no 'silicon'"),
        (format!("{given}do = 'NOP x 0'\nexpect = 'V3'"), "a repetition must be between 1 and"),
    ]);
}

#[test]
fn a_mistake_elsewhere_is_reported_with_place_and_remedy() {
    let rest = "do = 'LD8 0x8000'\nexpect = 'V3'";
    let given = "given = 'K3'\n";
    refused([
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
            format!("{given}{rest}\npath = '5.1: 1,2,3,4'"),
            "L2D_TLB_RD cannot be both 0 and at least 1 (from the path)",
        ),
        (
            format!("{given}{rest}\npath = '5.6: 1,2 | 2,1'"),
            "a.toml:7:20: flow 5.6 has no such way; its ways are 1,2 | 1",
        ),
        (format!("{given}{rest}\npath = '5.4: 1; 5.4: 1'"), "join its ways with '|'"),
        (format!("{given}{rest}\npath = '5.5: 1,(done'"), "expected the name of a box and ')'"),
        (format!("{given}{rest}\npath = '5.5: 0'"), "a step must be the number of a box"),
        (format!("{given}{rest}\npath = '5.9: 1'"), "expected a flow from 5.1 to 5.8"),
        (format!("{given}{rest}\nother = 'any'"), "a.toml:7:1: unknown key 'other'"),
        (format!("{given}{rest}\nothers = 'some'"), "'others' must be \"zero\" or \"any\""),
        (format!("{given}{rest}\nnames = 3"), "'names' must be a table"),
        (given.to_owned(), "the case has no 'do'"),
        ("given = 'K3".to_owned(), "a.toml:4:"),
    ]);
}

#[test]
fn a_rename_step_has_operations_and_a_reason() {
    let case = case(
        "given = 'K0, trained not-taken, own fetches'\nexpect = 'STALL 2'\n\
         do = 'rename 0 & rename 5 accept 3, ROB full, waits for memory &x 2'",
    );
    assert_eq!((case.given.trained_taken, case.given.own_fetches), (Some(false), true));
    let blocked = Some((StallCause::ReorderBuffer, RootCause::LoadDram));
    assert_eq!(case.steps.len(), 3);
    assert_eq!(case.steps[0].action, Action::Rename { offered: 0, accepted: 0, blocked: None });
    assert_eq!(case.steps[2].action, Action::Rename { offered: 5, accepted: 3, blocked });
    let refuse = |steps: &str| error(&format!("given = 'K0'\nexpect = 'STALL 0'\ndo = '{steps}'"));
    assert!(refuse("rename 6").contains("operations must be at most 5"));
    assert!(refuse("rename 2 accept 3").contains("accepted no more than offered"));
    assert!(refuse("rename 2 accept 1").contains("expected ',' and why"));
    assert!(refuse("rename 2 accept 1, tired").contains("load queue full; "));
    assert!(refuse("[rename 2]").contains("an instruction on the wrong path"));
}

#[test]
fn a_conditional_branch_has_code_in_its_other_direction() {
    let case = case(
        "given = 'K0'\nexpect = 'STALL 0'\n\
         do = 'B.EQ taken else { ADD &x 2 & LD8 0x8000 } & ADD'",
    );
    assert_eq!(case.steps.len(), 2);
    assert_eq!(case.steps[0].other_path.len(), 3);
    assert_eq!(case.steps[0].other_path[2].text, "LD8 0x8000");
    let target = |step: &Step| match step.action {
        Action::Execute { word, .. } => word >> 5 & 0x7_ffff,
        _ => 0,
    };
    assert_eq!(target(&case.steps[0]), 256, "beyond the longest other direction");
    let refuse = |steps: &str| error(&format!("given = 'K0'\nexpect = 'STALL 0'\ndo = '{steps}'"));
    assert!(refuse("B else { ADD }").contains("only a conditional branch has an 'else'"));
    assert!(refuse("B.EQ taken else ADD").contains("expected '{' after 'else'"));
    assert!(refuse("B.EQ taken else { ADD ; ADD }").contains("expected '&' or '}'"));
    assert!(refuse("B.EQ taken else { IF 0x8000 }").contains("A64 instructions only"));
    let nested = refuse(&"B.EQ taken else { ".repeat(100_000));
    assert!(nested.ends_with("a branch inside an 'else' has no 'else' of its own; leave it out"));
    assert!(refuse("B.EQ taken else { ADD &x 256 }").contains("at most 255 instructions"));
}

#[test]
fn places_do_not_depend_on_the_order_of_lookups() {
    let text = "a\nüb c\n\nd ü e";
    let of = |offset: usize| {
        let before: Vec<&str> = text[..offset].split('\n').collect();
        Place { line: before.len(), column: before[before.len() - 1].chars().count() + 1 }
    };
    let offsets: Vec<usize> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
    for from in &offsets {
        for to in &offsets {
            let mut places = error::Places::new(text);
            assert_eq!((places.of(*from), places.of(*to)), (of(*from), of(*to)), "{from} {to}");
        }
    }
    assert_eq!(error::Places::new(text).of(1000), of(text.len()));
}

#[test]
fn the_number_of_steps_of_all_cases_is_limited() {
    let head = "guide = 'g'\nclaim = 'c'\ngiven = 'K0'\nexpect = 'STALL 0'\nothers = 'any'\ndo = 'ADD x 1000000'\n";
    let refused =
        super::parse("many.toml", &format!("{head}{}", "[[case]]\ntest = 't'\n".repeat(1000)));
    let message = refused.expect_err("a thousand million steps").to_string();
    let expected =
        "many.toml:9:1: the number of steps in all cases must be at most 1048576, not 2000000";
    assert_eq!(message, expected);
}

#[test]
fn durations_are_limited() {
    let limit = case("given = 'K0'\nexpect = 'STALL 0'\ndo = 'WFI 1099511627776 & WFE & cycles 5'");
    let Action::Execute { operand, .. } = limit.steps[0].action else { panic!("an instruction") };
    assert_eq!(operand, Some(Xt::Value(1 << 40)));
    for step in ["WFI", "WFE", "cycles"] {
        for cycles in [(1 << 40) + 1, 9_000_000_000_000_000_000, u64::MAX - 15] {
            let body = format!("given = 'K0'\nexpect = 'STALL 0'\ndo = '{step} {cycles} & ADD'");
            let wanted = format!("a time in cycles must be at most 2^40, not {cycles}");
            assert!(error(&body).contains(&wanted), "{step} {cycles}: {}", error(&body));
        }
    }
}

#[test]
fn a_counter_is_given_once() {
    let rest = "do = 'ADD'\nexpect = 'counter 2 = 0'\nothers = 'any'";
    let twice = "given = 'K0; counter 2 counts LD_SPEC; counter 2 counts ST_SPEC'";
    assert!(error(&format!("{twice}\n{rest}")).contains("4:48: counter 2 is given twice"));
    let two =
        case(&format!("given = 'K0; counter 2 counts LD_SPEC; counter 3 counts LD_SPEC'\n{rest}"));
    assert_eq!(two.given.counters.len(), 2);
}

#[test]
fn outside_agents_have_steps() {
    let case = case(
        "given = 'K3'\ndo = 'SNP-S 0x8000 ; SNP-U a0 step 64 x 2 ; PEER DC CIVAC 0x40 ; STASH 0x80'\n\
         expect = 'LD_SPEC 0'\nothers = 'any'",
    );
    let actions: Vec<Action> = case.steps.iter().map(|step| step.action).collect();
    let expected = [
        Action::Snoop { snoop: Snoop::Shared, addr: 0x8000 },
        Action::Snoop { snoop: Snoop::Unique, addr: 0x10_0000 },
        Action::Snoop { snoop: Snoop::Unique, addr: 0x10_0040 },
        Action::Snoop { snoop: Snoop::CleanInvalidate, addr: 0x40 },
        Action::Stash { addr: 0x80 },
    ];
    assert_eq!(actions, expected);
}

#[test]
fn system_instructions_take_their_operands() {
    let case = case(
        "given = 'K3'\ndo = 'DC CISW 0x8000 L2 ; DC CSW 0x40 ; TLBI VAE1 0x8000 ; TLBI VALE1IS 0x9000 ASID 7 ; \
         TLBI ASIDE1 7 ; TLBI ALLE1 ; AT S1E1W 0x8000 ; MSR TTBR0_EL1 ASID 3 ; MSR TTBR1_EL12 0x1000 ; MSR TTBR0_EL2'\n\
         expect = 'LD_SPEC 0'\nothers = 'any'",
    );
    let operands: Vec<Option<Xt>> = case
        .steps
        .iter()
        .map(|step| match step.action {
            Action::Execute { operand, .. } => operand,
            _ => panic!("an instruction"),
        })
        .collect();
    let expected = [
        Some(Xt::SetAndWay { addr: 0x8000, level2: true }),
        Some(Xt::SetAndWay { addr: 0x40, level2: false }),
        Some(Xt::Page { addr: 0x8000, asid: None }),
        Some(Xt::Page { addr: 0x9000, asid: Some(7) }),
        Some(Xt::Asid(7)),
        None,
        Some(Xt::Address(0x8000)),
        Some(Xt::Asid(3)),
        Some(Xt::Value(0x1000)),
        None,
    ];
    assert_eq!(operands, expected);
}

#[test]
fn clauses_concern_the_machine_its_pages_or_its_lines() {
    let case = case(
        "given = 'K3; at EL2 E2H TGE, tag checks on; stage 2; pages tagged; 0x8000 tag 3; \
         0x8000 2-bit error in L1D data; 0x9000 shared; 0xA000 in a 2 MiB block'\n\
         do = 'LD8 0x0300000000008000'\nexpect = 'V3'",
    );
    let Given { privilege, tag_checks, stage2, clauses, .. } = &case.given;
    assert_eq!((privilege.level, privilege.e2h, privilege.tge), (2, true, true));
    assert!(*tag_checks && *stage2);
    let states: Vec<State> = clauses.iter().map(|clause| clause.state).collect();
    let broken = State::Faulty(Ram::L1dData, Bits::Two);
    assert_eq!(states, [State::Tagged, State::Tag(3), broken, State::Shared, State::InBlock]);
}

#[test]
fn profile_silicon_has_its_own_vectors_or_a_separate_expectation() {
    let read = |case: &Case, event| {
        let known = case.silicon.events.iter().find(|known| known.event == event);
        known.and_then(|known| known.bound.exact())
    };
    let by_vector = case("given = 'K1'\ndo = 'ST8 0x8000'\nexpect = 'V4'");
    assert_eq!(bound(&by_vector, PmuEvent::BUS_ACCESS_WR), Some(Bound::exactly(1)));
    assert_eq!(read(&by_vector, PmuEvent::BUS_ACCESS_WR), Some(0));
    assert_eq!(read(&by_vector, PmuEvent::BUS_ACCESS), Some(2));
    let apart = "given = 'K1'\ndo = 'ST8 0x8000'\nexpect = 'V4; BUS_ACCESS 1'\nsilicon = 'V4'";
    let message = error(apart);
    assert!(message.contains("the case has no 'source'"), "{message}");
    let apart = case(&format!("{apart}\nsource = 'a measurement'"));
    assert_eq!(read(&apart, PmuEvent::BUS_ACCESS), Some(2));
    assert_eq!(apart.source.as_deref(), Some("a measurement"));
}

#[test]
fn a_path_may_list_several_ways() {
    let case = case(
        "given = 'K3'\ndo = 'LD8 0x8000'\nothers = 'any'\nexpect = 'LD_SPEC >= 0'\n\
         path = '5.1: 1,2 | 3 x 1,2,3,4; 5.5: 1,(write to the L2)'",
    );
    let times: Vec<(Flow, u64)> = case.ways.iter().map(|way| (way.flow, way.times)).collect();
    assert_eq!(times, [(Flow::LoadTlb, 1), (Flow::LoadTlb, 3), (Flow::L1dWrite, 1)]);
    assert_eq!(bound(&case, PmuEvent::DTLB_WALK), None);
    assert_eq!(bound(&case, PmuEvent::L1D_TLB_REFILL_RD).map(|b| b.min), Some(1));
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
        given in "(K[0-3]|, |a0|SPE |random|fault 1 |translation|PMSCR_EL1|= |tag|stage|at|EL1|1-bit error in|\\.\\.|a9|in L1D|lines|pages|0x|é| ){0,8}",
        steps in "(LD8 |IF |SNP-S |PEER |DC CISW |TLBI VAE1 |ASID |0x8000|\\[|\\]|;|&|x 3|step|word|a0|\\.\\.|é|99999999999999999999| ){0,8}",
        expect in "(V1|sampled|none|record 1 |total|PMBIRQ|walk|ld|\\+|;|,|2 |L1D_TLB|BUS_ACCESS|18446744073709551615|\\.\\.|>=|é| ){0,8}",
        path in "(5\\.[0-9]|:|,|;|\\||\\(|\\)|[0-9]|x|é| ){0,8}",
    ) {
        let body = format!("given='{given}'\ndo='{steps}'\nexpect='{expect}'\npath='{path}'");
        let _ = parse("a.toml", &format!("{HEAD}{body}"));
    }
}

#[test]
fn pmu_registers_are_written_read_and_expected() {
    let with = |expect: &str| {
        format!(
            "guide = 'x'\n[[case]]\ntest = 'a'\nclaim = 'b'\ngiven = 'K3; at EL1'\n\
             do = 'MSR PMCR_EL0 0x41 ; MRS PMEVCNTR5_EL0'\nexpect = '{expect}'\nothers = 'any'\n"
        )
    };
    let read = |expect: &str| {
        let cases = parse("x.toml", &with(expect)).map_err(|error| error.to_string())?;
        Ok::<_, String>(cases[0].expect.registers[0].read)
    };
    assert_eq!(read("register PMCR_EL0 = 0x10"), Ok(RegisterRead::Value(16)));
    assert_eq!(read("register PMEVCNTR6_EL0 undefined"), Ok(RegisterRead::Undefined));
    assert_eq!(read("register MDCR_EL2 trapped to EL3"), Ok(RegisterRead::TrappedTo(3)));
    assert!(read("register PMCRX = 1").is_err_and(|error| error.contains("a register of the PMU")));
    assert!(read("register PMCR_EL0 1").is_err_and(|error| error.contains("'undefined'")));
    assert!(
        read("register PMCR_EL0 trapped to EL0").is_err_and(|error| error.contains("EL1, EL2"))
    );
}

#[test]
fn profiling_is_given_and_expected() {
    let with = |given: &str, expect: &str| {
        let text = format!(
            "guide = 'x'\ntest = 'a'\nclaim = 'b'\ngiven = 'K3; {given}'\n\
             do = 'MSR PMSICR_EL1 0 ; PSB CSYNC'\nexpect = '{expect}'\nothers = 'any'\n"
        );
        parse("x.toml", &text).map_err(|error| error.to_string())
    };
    let good = "sampled 1 0x10; collided none; PMBIRQ asserted; record 16 total 5..9 target none";
    let cases =
        with("SPE; PMSFCR_EL1 = 2; SPE random 1 255; SPE fault 0x40 permission 3 stage 2", good)
            .expect("it is well written");
    let (given, profile) = (&cases[0].given.profiling, &cases[0].expect.profile);
    assert_eq!(given.registers.last(), Some(&("PMSFCR_EL1".to_owned(), 2)));
    assert_eq!((given.random.as_deref(), given.faults[0].stage_2), (Some(&[1, 255][..]), true));
    let numbers = vec![1, 16];
    assert_eq!(profile[0], ProfileClaim::Operations { set: SampleSet::Sampled, numbers });
    assert_eq!(profile.len(), 4);
    for (given, expect, hint) in [
        ("SPE random", "sampled 1", "a random byte"),
        ("SPE random 256", "sampled 1", "0 to 255"),
        ("SPE fault 0x40 flood", "sampled 1", "late-abort"),
        ("SPE fault 0x40 translation 4", "sampled 1", "0 to 3"),
        ("SPE fault 0x40 abort stage 1", "sampled 1", "'stage 2'"),
        ("PMSFCR_EL1 = x", "sampled 1", "the value of the register"),
        ("SPE", "sampled", "or 'none'"),
        ("SPE", "record 1", "a field of a record"),
        ("SPE", "record 1 color 3", "target-level"),
        ("SPE", "PMBIRQ high", "'clear'"),
    ] {
        let message = with(given, expect).expect_err("it is wrong");
        assert!(message.contains(hint), "{given} / {expect}: {message}");
    }
}
