//! Faults of lesson files: each message has the place, the fault and the remedy.

use sim_course::{Lesson, NoTraces};

const GOOD: &str = r#"title   = "T"
minutes = 10
level   = "beginner"
text    = "x"
set     = { "memory.l1d.ways" = 4 }
given   = "K1"
do      = "LD8 0x8000 ; LD8 0x8008"

[[question]]
ask    = "How many?"
count  = "L1D_CACHE_REFILL"
why    = "{answer} of {L1D_CACHE}"
"#;

const TWO: &str = r#"title   = "T"
minutes = 10
level   = "beginner"
text    = "x"
given   = "K1"

[[setup]]
name = "near"
do   = "LD8 0x8000"

[[setup]]
name = "far"
do   = "LD8 0x9000 ; LD8 0x9008"

[[question]]
ask    = "How many?"
setup  = "far"
count  = "L1D_CACHE"
why    = "{answer}, {near.L1D_CACHE}, {step1.cycles}, {near.cycles}, {far.step2.source}"
"#;

/// Replaces a part of a good lesson and returns the message.
fn message(good: &str, from: &str, to: &str) -> String {
    assert!(good.contains(from), "{from}");
    let text = good.replacen(from, to, 1);
    match Lesson::parse(&text, "l.toml") {
        Err(error) => error.to_string(),
        Ok(lesson) => match lesson.solve(&mut NoTraces) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("accepted: {to}"),
        },
    }
}

#[test]
fn the_good_lessons_are_good() {
    for good in [GOOD, TWO] {
        let lesson = Lesson::parse(good, "folder/l.toml").expect("good");
        assert_eq!(lesson.name, "l");
        lesson.solve(&mut NoTraces).expect("good");
    }
}

#[test]
fn faults_of_the_head_are_placed() {
    for (from, to, expected) in [
        ("title   = \"T\"", "title = T", "l.toml:1:9: not valid TOML"),
        (
            "title   = \"T\"\n",
            "",
            "l.toml:1:1: a lesson has no 'title'; add title = \"First touch\"",
        ),
        ("minutes = 10\n", "", "a lesson has no 'minutes'; add minutes = 20"),
        ("10", "\"ten\"", "l.toml:2:11: 'minutes' must be a number of minutes from 1 to 600"),
        ("10", "0", "l.toml:2:11: 'minutes' must be"),
        ("beginner", "easy", "l.toml:3:11: 'level' must be \"beginner\", \"intermediate\""),
        ("text    = \"x\"\n", "", "a lesson has no 'text'"),
        ("text    = \"x\"", "txt = \"x\"", "l.toml:4:1: unknown key 'txt'; a lesson has title"),
        ("\"K1\"", "\"K9\"", "l.toml:6:12: "),
        ("LD8 0x8008", "LDD 0x8008", "l.toml:7:25: unknown step"),
        ("given   = \"K1\"\n", "", "a lesson has no 'given'; add given = \"K1\""),
        ("set     = { \"memory.l1d.ways\" = 4 }", "set = 4", "l.toml:5:7: 'set' must be a table"),
        (
            "l1d.ways",
            "l1d.wayz",
            "l.toml:5:13: unknown key `memory.l1d.wayz`; the closest existing key is",
        ),
        ("\"memory.l1d.ways\" = 4", "\"memory.l1d.size-bytes\" = \"128 KiB\"", "; write 131072"),
        ("ways\" = 4", "ways\" = 3", "l.toml:5:13: "),
        ("given   = \"K1\"\n", "names = { a = \"x\" }\ngiven = \"K1\"\n", "'a' must be an address"),
        (
            "given   = \"K1\"\n",
            "given = \"K1\"\ninstructions = 5\n",
            "'instructions' is for a trace",
        ),
        ("given   = \"K1\"", "given = \"K1\"\ntrace = \"a.n2t\"", "not both; make two setups"),
    ] {
        let message = message(GOOD, from, to);
        assert!(message.contains(expected), "{to}: {message}");
        assert!(message.starts_with("l.toml:"), "{message}");
        assert!(!message.contains('\n'), "{message}");
    }
}

#[test]
fn faults_of_questions_are_placed() {
    for (from, to, expected) in [
        ("ask    = \"How many?\"\n", "", "l.toml:9:1: a question has no 'ask'"),
        ("count  = \"L1D_CACHE_REFILL\"\n", "", "the question has no answer; add one of count"),
        ("L1D_CACHE_REFILL", "L1D_CACHE_REFIL", "l.toml:11:11: "),
        (
            "count  =",
            "cycles = true\ncount =",
            "l.toml:9:1: the question has count and cycles; leave",
        ),
        ("count  = \"L1D_CACHE_REFILL\"", "cycles = true", "l.toml:11:1: setup 'run' has 2 steps"),
        ("count  = \"L1D_CACHE_REFILL\"", "cycles = 2", "l.toml:11:10: 'cycles' must be true"),
        (
            "count  =",
            "step = 3\ncount =",
            "l.toml:11:8: setup 'run' has no step 3; it has the steps 1 to 2",
        ),
        (
            "count  =",
            "setup = \"x\"\ncount =",
            "l.toml:11:10: no setup is named 'x'; the lesson has run",
        ),
        ("count  =", "within = \"5\"\ncount =", "'within' must be a number, or percent"),
        ("count  =", "within = -1\ncount =", "'within' must be a number, or percent"),
        (
            "count  =",
            "points = 0\ncount =",
            "l.toml:11:10: 'points' must be a number from 1 to 100",
        ),
        (
            "count  =",
            "right = 1\ncount =",
            "'right' belongs to an answer that is choice; remove it",
        ),
        ("count  =", "unit = \"x\"\ncount =", "'unit' belongs to an answer that is metric"),
        ("count  =", "wyh = \"\"\ncount =", "l.toml:11:1: unknown key 'wyh'; a question has ask"),
        ("count  = \"L1D_CACHE_REFILL\"", "metric = \"L1D_CACHE / \"", "l.toml:11:11: "),
        ("count  = \"L1D_CACHE_REFILL\"", "metric = \"L1D_CACHE / IPX\"", "l.toml:11:23: "),
        ("count  = \"L1D_CACHE_REFILL\"", "metric = \"step1.source\"", "source is a name"),
        (
            "count  = \"L1D_CACHE_REFILL\"",
            "metric = \"estimate.L1D_CACHE\"",
            "a scenario, whose events are all",
        ),
        ("count  = \"L1D_CACHE_REFILL\"", "metric = \"1 / DTLB_WALK\"", "l.toml:9:1: "),
        ("count  = \"L1D_CACHE_REFILL\"", "choice = [\"a\"]\nright = 1", "a list of 2 to 9 texts"),
        ("count  = \"L1D_CACHE_REFILL\"", "choice = [\"a\", \"b\"]", "a question has no 'right'"),
        ("count  = \"L1D_CACHE_REFILL\"", "choice = [\"a\", \"b\"]\nright = 3", "from 1"),
        ("count  =", "holds = \"L1D_CACHE\"\ncount =", "a condition compares: write L1D_CACHE > 0"),
        (
            "count  =",
            "holds = \"L1D_CACHE == 2 and step1.L1D_CACHE + L1D_CACHE > 99\"\ncount =",
            "l.toml:11:9: the model does not confirm holds = \"L1D_CACHE == 2 and step1.L1D_CACHE + L1D_CACHE > \
             99\": step1.L1D_CACHE + L1D_CACHE > 99 is false (step1.L1D_CACHE = 1, L1D_CACHE = 2); fix",
        ),
        ("count  =", "holds = \"1 / DTLB_WALK > 0\"\ncount =", "l.toml:11:9: "),
        (
            "count  = \"L1D_CACHE_REFILL\"",
            "metric = \"DTLB_WALK / L1D_CACHE\"\nunit = \"% of loads\"",
            "l.toml:12:1: unit = \"% of loads\" needs a formula in percent: metric = \"100 * (DTLB_WALK / L1D_CACHE)\"",
        ),
    ] {
        let message = message(GOOD, from, to);
        assert!(message.contains(expected), "{to}: {message}");
        assert!(message.starts_with("l.toml:") && !message.contains('\n'), "{message}");
    }
}

#[test]
fn faults_of_explanations_are_placed() {
    for (from, to, expected) in [
        ("{answer}", "{answer", "l.toml:12:11: '{' has no '}'"),
        ("{answer}", "{}", "the braces are empty"),
        ("{answer}", "{2 * answer}", "l.toml:12:16: write {answer} by itself: it is the answer as"),
        ("{answer}", "{answer:.2}", "numbers are rounded by themselves; leave ':.2' out"),
        ("{answer}", "{asnwer}", "l.toml:12:12: unknown name 'asnwer'; did you mean answer?"),
        ("{L1D_CACHE}", "{L1D_CACH}", "l.toml:12:24: "),
        ("{L1D_CACHE}", "{other.L1D_CACHE}", "l.toml:12:24: no setup is named 'other'"),
        ("[[question]]", "[question]", "'question' must be tables, each headed [[question]]"),
    ] {
        let message = message(GOOD, from, to);
        assert!(message.contains(expected), "{to}: {message}");
        assert!(message.starts_with("l.toml:") && !message.contains('\n'), "{message}");
    }
}

#[test]
fn faults_of_setups_are_placed() {
    for (from, to, expected) in [
        ("name = \"near\"\n", "", "l.toml:7:1: a setup has no 'name'; add name = \"cold\""),
        ("\"near\"", "\"Near one\"", "'name' must be small letters, digits and _"),
        ("\"near\"", "\"step1\"", "'name' must be small letters"),
        ("\"near\"", "\"far\"", "l.toml:11:1: two setups are named 'far'"),
        ("setup  = \"far\"\n", "", "the question has no 'setup'; the lesson has near, far"),
        ("do   = \"LD8 0x8000\"\n", "", "a setup has no 'do'"),
        (
            "do   = \"LD8 0x8000\"",
            "trace = \"a/b.n2t\"\ninstructions = 9",
            "a file without a folder",
        ),
        ("do   = \"LD8 0x8000\"", "trace = \"b.n2t\"", "a setup has no 'instructions'"),
        (
            "do   = \"LD8 0x8000\"",
            "trace = \"b.n2t\"\ninstructions = 99000000",
            "from 1 to 20000000",
        ),
        (
            "do   = \"LD8 0x8000\"",
            "trace = \"b.n2t\"\ninstructions = 9\ncounters = 6",
            "has no 'interval'",
        ),
        ("do   = \"LD8 0x8000\"", "trace = \"b.n2t\"\ninstructions = 9", "which has no steps"),
        ("do   = \"LD8 0x8000\"", "do = \"LD8 x\"", "no address is named 'x'"),
        (
            "do   = \"LD8 0x8000\"",
            "do = \"LD8 0x8000\"\nnote = 1",
            "unknown key 'note'; a setup has name",
        ),
        ("{far.step2.source}", "{far.step9.source}", "setup 'far' has no step 9"),
        ("{far.step2.source}", "{far.second.source}", "'second' is not a step"),
        ("{far.step2.source}", "{far.step1.x.cycles}", "too many parts"),
    ] {
        let message = message(TWO, from, to);
        assert!(message.contains(expected), "{to}: {message}");
        assert!(message.starts_with("l.toml:") && !message.contains('\n'), "{message}");
    }
}

/// A question about the source of a repeated step, and the sentence that refuses it.
#[test]
fn a_step_with_several_sources_has_no_source() {
    let source = |done: &str, step: usize| {
        let text = GOOD
            .replace("LD8 0x8000 ; LD8 0x8008", done)
            .replace("count  = \"L1D_CACHE_REFILL\"", &format!("source = true\nstep = {step}"));
        let lesson = Lesson::parse(&text, "l.toml").expect("good");
        lesson.solve(&mut NoTraces).map(|solved| solved[0].shown.clone())
    };
    let mixed = source("LD8 0x9000 ; LD8 0x8000 step 16 x 4", 2).expect_err("two sources");
    assert!(
        mixed.to_string().contains(
            "step 2 has 4 accesses: 1 from DRAM, 3 from L1; ask about a step with one source"
        ),
        "{mixed}"
    );
    assert_eq!(source("LD8 0x8000 step 64 x 4", 1).expect("one source"), "DRAM");
    // What a wrong path brings is not the data of the step.
    let squashed = source("LD8 0x8000 ; [LD8 0x9000] ; LD8 0x8000", 2);
    assert_eq!(squashed.expect("one source"), "DRAM");
}

/// Texts cut anywhere, or with one letter replaced, give an error or a lesson, never a panic.
#[test]
fn damaged_lessons_never_panic() {
    for good in [GOOD, TWO, sim_course::LESSONS[11].1] {
        for at in (0..good.len()).filter(|at| good.is_char_boundary(*at)) {
            let _ = Lesson::parse(&good[..at], "l.toml");
            for letter in ["{", "\"", "é", "0", "\n"] {
                let end = (at + 1..=good.len()).find(|end| good.is_char_boundary(*end));
                let text = format!("{}{letter}{}", &good[..at], &good[end.unwrap_or(at)..]);
                let _ = Lesson::parse(&text, "l.toml");
            }
        }
    }
}

#[test]
fn a_line_has_code_bold_and_italic_text() {
    use sim_course::text::{Span, plain, spans};
    let text = |text: &str| text.to_owned();
    let expected = vec![
        Span::Text(text("a ")),
        Span::Italic(text("b c")),
        Span::Text(text(" ")),
        Span::Bold(text("d")),
        Span::Code(text("e*f*")),
    ];
    assert_eq!(spans("a *b c* **d**`e*f*`"), expected);
    assert_eq!(plain("a *b c* **d**`e*f*`"), "a b c de*f*");
    for product in ["2 * 3 * 4", "2*3*4", "a * b", "*", "**", "a ** b"] {
        assert_eq!(spans(product), [Span::Text(text(product))], "{product}");
    }
}
