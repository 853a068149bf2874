//! Typed answers, sheets and points.

use sim_course::{Lesson, NoTraces, Sheet, Verdict, grade};

const LESSON: &str = r#"title   = "T"
minutes = 10
level   = "beginner"
text    = "x"
given   = "K1"
do      = "LD8 0x8000 step 64 x 2000"

[[question]]
ask    = "How many?"
count  = "L1D_CACHE_REFILL"
points = 3
why    = "{answer}"

[[question]]
ask    = "Which part?"
metric = "L1D_CACHE_REFILL / (3 * L1D_CACHE)"
within = "10 %"
unit   = "refills per access"
why    = "{answer}"

[[question]]
ask    = "From where?"
source = true
why    = "{answer}"

[[question]]
ask    = "Which?"
choice = ["one", "two"]
right  = 2
why    = "{answer}"

[[question]]
ask    = "None?"
count  = "DTLB_WALK"
within = 2
why    = "{answer}"
"#;

fn verdict(question: usize, typed: &str) -> Verdict {
    let lesson = Lesson::parse(LESSON, "l.toml").expect("good");
    let solved = lesson.solve(&mut NoTraces).expect("good");
    lesson.questions[question].check(typed, &solved[question].truth)
}

#[test]
fn numbers_are_read_as_people_type_them() {
    for typed in [
        "2000",
        "2,000",
        "2_000",
        " 2 000 ",
        "2'000",
        "2\u{202f}000",
        "2000 events",
        "2e3",
        "+2000",
    ] {
        assert_eq!(verdict(0, typed), Verdict::Right, "{typed}");
    }
    for typed in [
        "0.333",
        "0.33",
        ".35",
        "0.30",
        "0.333 refills per access",
        "1/3",
        "1 / 3 refills per access",
        "2,000/6,000",
        "33.3%",
        "33.3 %",
        "33 percent",
    ] {
        assert_eq!(verdict(1, typed), Verdict::Right, "{typed}");
    }
    assert_eq!(verdict(0, "2001"), Verdict::Off { by: 1.0, percent: Some(0.05) });
    assert_eq!(verdict(0, "1000").message(), "1,000 too low (50 %)");
    assert_eq!(verdict(4, "2"), Verdict::Right);
    assert_eq!(verdict(4, "3").message(), "3 too high");
    assert_eq!(verdict(0, "  "), Verdict::Empty);
    for typed in ["two", "12x", "1-2", "inf", "nan", "1e999", "1/0", "1/", "/3", "1/2/3", "%"] {
        let message = verdict(0, typed).message();
        assert!(message.contains(&format!("'{typed}' is not a number; write digits")), "{message}");
    }
    for typed in ["0,33", "0,333", "33,3 %", "1 2", "0.333,333", ",5"] {
        let message = verdict(1, typed).message();
        assert!(message.contains("write a decimal point: 0.5"), "{typed}: {message}");
    }
}

#[test]
fn a_percent_sign_means_hundredths_unless_the_answer_is_in_percent() {
    let text = LESSON.replace("unit   = \"refills per access\"", "unit   = \"percent\"");
    let text = text.replace("(3 * L1D_CACHE)", "(L1D_CACHE / 12.5)");
    let lesson = Lesson::parse(&text, "l.toml").expect("good");
    let solved = lesson.solve(&mut NoTraces).expect("good");
    for typed in ["12.5", "12.5%", "12.5 %", "12.5 percent", "25/2"] {
        let verdict = lesson.questions[1].check(typed, &solved[1].truth);
        assert_eq!(verdict, Verdict::Right, "{typed}");
    }
    let hundredth = lesson.questions[1].check("0.125", &solved[1].truth);
    assert!(!hundredth.is_right(), "{hundredth:?}");
}

#[test]
fn sources_and_choices_are_read_by_all_their_names() {
    for typed in ["memory", "DRAM", "main memory", "the memory"] {
        assert_eq!(verdict(2, typed), Verdict::Right, "{typed}");
    }
    let near = Lesson::parse(&LESSON.replace("K1", "K3").replace(" step 64 x 2000", ""), "l.toml")
        .expect("good");
    let near_solved = near.solve(&mut NoTraces).expect("good");
    for typed in
        ["L1", "L1 D-cache", "the L1 D-cache", "l1d cache", "L1 data cache", "From the L1D"]
    {
        let verdict = near.questions[2].check(typed, &near_solved[2].truth);
        assert_eq!(verdict, Verdict::Right, "{typed}");
    }
    assert_eq!(verdict(2, "slc").message(), "not 'system level cache'");
    assert!(verdict(2, "disk").message().contains("write one of older store, L1, L2"));
    for typed in ["2", "b", "B)", "two", "Two", "2."] {
        assert_eq!(verdict(3, typed), Verdict::Right, "{typed}");
    }
    assert_eq!(verdict(3, "a").message(), "not 'one'");
    for typed in ["0", "3", "z", "three", "-1", "é"] {
        assert!(verdict(3, typed).message().contains("or a number from 1 to 2"), "{typed}");
    }
}

#[test]
fn points_are_summed_over_lessons() {
    let lesson = Lesson::parse(LESSON, "folder/01-l.toml").expect("good");
    let solved = lesson.solve(&mut NoTraces).expect("good");
    let text = "student = \"Ada\"\n[01-l]\nanswer1 = 2_000\nanswer2 = 0.5\nanswer4 = \"b\"\n";
    let sheet = Sheet::parse(text, "ada.toml").expect("good");
    sheet.fits(&[&lesson], "ada.toml").expect("all questions exist");
    let grade = grade(&sheet, &[(&lesson, &solved)]);
    assert_eq!((grade.points, grade.of), (4, 7));
    let verdicts: Vec<bool> =
        grade.lessons[0].questions.iter().map(|one| one.verdict.is_right()).collect();
    assert_eq!(verdicts, [true, false, false, true, false]);
    assert_eq!(grade.lessons[0].questions[2].verdict, Verdict::Empty);
}

#[test]
fn faults_of_sheets_are_placed() {
    let lesson = Lesson::parse(LESSON, "01-l.toml").expect("good");
    for (text, expected) in [
        ("", "a.toml:1:1: a sheet of answers has no 'student'"),
        ("student = 5", "a.toml:1:11: 'student' must be a string"),
        ("student = \"\"", "'student' must be a name"),
        ("student = \"A\"\nanswer1 = 5", "a.toml:2:1: 'answer1' is not a lesson"),
        (
            "student = \"A\"\n[01-l]\nanswer = 5",
            "a.toml:3:1: unknown key 'answer'; a lesson of a sheet has",
        ),
        ("student = \"A\"\n[01-l]\nanswer0 = 5", "a.toml:3:1: unknown key 'answer0'"),
        (
            "student = \"A\"\n[01-l]\nanswer1 = [5]",
            "a.toml:3:11: 'answer1' must be a text or a number",
        ),
        ("student = \"A\"\n[01-l]\nanswer6 = 5", "a.toml:3:1: lesson '01-l' has no question 6"),
        ("student = \"A\"\n[02-l]\n", "a.toml:2:2: no lesson is named '02-l'; known are 01-l"),
        ("student = \"A\"\n[01-l]\nanswer1 = 5\nanswer1 = 6", "not valid TOML"),
    ] {
        let parsed = Sheet::parse(text, "a.toml");
        let error = parsed.and_then(|sheet| sheet.fits(&[&lesson], "a.toml")).expect_err(text);
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
}
