//! Wrong files get one message, with its place and a remedy.

use sim_scenario::a53::{configure, defaults, parse, run_case};

const HEAD: &str = "core = 'cortex-a53'\nguide = 'g'\nclaim = 'c'\ntest = 't'\ngiven = 'warm'\n";

/// Returns the message for a file with these lines after the head.
fn message(lines: &str) -> String {
    match parse("wrong.toml", &format!("{HEAD}{lines}")) {
        Ok(cases) => panic!("{cases:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn each_fault_names_its_place_and_a_remedy() {
    for (lines, place, parts) in [
        ("do = 'ldr x0, [x1]'\nexpect = ''", "6:7", "add @ 0x8000"),
        ("do = 'nop @ 0x8000'\nexpect = ''", "6:7", "leave out what follows the @"),
        ("do = 'ldr x9, [x1] @ 0x8000'\nexpect = ''", "6:7", "ldr x0, [x1]"),
        ("do = 'frob'\nexpect = ''", "6:7", "word 0xd503201f"),
        ("do = 'b.eq .+8'\nexpect = ''", "6:15", "'taken' or 'not-taken'"),
        ("do = 'core 4: nop'\nexpect = ''", "6:12", "0 to 3"),
        ("do = 'nop fails'\nexpect = ''", "6:7", "not a store-exclusive"),
        ("do = 'nop nop'\nexpect = ''", "6:11", "';' before the next step"),
        ("do = 'nop x 2000000'\nexpect = ''", "6:7", "at most 1048576"),
        ("do = 'nop'\nexpect = 'LD_SPEC 1'", "7:11", "n2sim list events"),
        ("do = 'nop'\nexpect = 'LD_RETIRED 1, LD_RETIRED 2'", "7:25", "each event once"),
        ("do = 'nop'\nexpect = 'LD_RETIRED'", "7:21", "a count"),
        ("do = 'nop'", "1:1", "'expect'"),
        ("do = 'nop'\nexpect = ''\npath = 'x'", "8:1", "'path'"),
    ] {
        let message = message(lines);
        assert!(message.starts_with(&format!("wrong.toml:{place}: ")), "{lines}: {message}");
        assert!(message.contains(parts), "{lines}: {message}");
    }
}

#[test]
fn an_n2_command_names_the_core_of_the_file() {
    let text = format!("{HEAD}do = 'nop'\nexpect = ''");
    let error = sim_scenario::parse("a53.toml", &text).expect_err("another core").to_string();
    assert!(error.contains("cortex-a53") && error.contains("n2sim check"), "{error}");
}

#[test]
fn an_error_needs_something_to_spoil() {
    let text = format!("{HEAD}do = 'nop'\nexpect = ''")
        .replace("'warm'", "'warm, 0x40 with an error in L2'");
    let case = parse("a53.toml", &text).expect("a case").remove(0);
    let config = configure(&case, defaults().expect("the defaults")).expect("a cluster");
    let error = run_case(&case, &config).expect_err("nothing to spoil").to_string();
    assert!(error.contains("0x40") && error.contains("give it a state before"), "{error}");
}

/// The runner must be able to fail: a wrong count is refuted, with the step that counted.
#[test]
fn a_wrong_expectation_is_refuted_with_event_step_and_place() {
    let text = format!("{HEAD}do = 'ldr x0, [x1] @ 0x8000'\nexpect = 'LD_RETIRED 2'");
    let case = parse("wrong.toml", &text).expect("a case").remove(0);
    let config = configure(&case, defaults().expect("the defaults")).expect("a cluster");
    let verdict = run_case(&case, &config).expect("it runs");
    assert!(!verdict.holds());
    let printed = verdict.explain("wrong.toml", &case);
    for part in [
        "wrong.toml:1: t fails: c (g)",
        "LD_RETIRED: expected 2, counted 1",
        "MEM_ACCESS: expected 0, counted 1",
        "1 by ldr x0, [x1] @ 0x8000 (wrong.toml:6:7)",
    ] {
        assert!(printed.contains(part), "{part}\nis not in\n{printed}");
    }
}
