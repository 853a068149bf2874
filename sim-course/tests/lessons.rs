//! The lessons of n2sim, solved.

use sim_course::{Answer, LESSONS, Lesson, NoTraces, Run, Solved, Verdict};
use sim_machine::{ConfigSource, MachineConfig};

fn lessons() -> Vec<Lesson> {
    let parse = |(name, text): &(&str, &str)| {
        Lesson::parse(text, name).unwrap_or_else(|error| panic!("{error}"))
    };
    LESSONS.iter().map(parse).collect()
}

/// Lessons that need no trace, with their answers.
fn solved() -> Vec<(Lesson, Vec<Solved>)> {
    let has_trace =
        |lesson: &Lesson| lesson.setups.iter().any(|setup| matches!(setup.run, Run::Trace(_)));
    let solve = |lesson: Lesson| {
        let solved = lesson.solve(&mut NoTraces).unwrap_or_else(|error| panic!("{error}"));
        (lesson, solved)
    };
    lessons().into_iter().filter(|lesson| !has_trace(lesson)).map(solve).collect()
}

#[test]
fn every_lesson_is_short_and_asks_three_to_five_questions() {
    let lessons = lessons();
    assert_eq!(lessons.len(), 12);
    for lesson in &lessons {
        assert!((3..=5).contains(&lesson.questions.len()), "{}", lesson.name);
        assert!((10..=30).contains(&lesson.minutes), "{}", lesson.name);
        assert!(lesson.text.lines().count() <= 30, "{}", lesson.name);
    }
}

#[test]
fn the_model_answers_all_questions_of_scenarios() {
    let solved = solved();
    assert_eq!(solved.len(), 10, "only the top-down and multiplexing run traces");
    for (lesson, answers) in &solved {
        assert_eq!(answers.len(), lesson.questions.len());
        for answer in answers {
            let place = format!("{} question {}", lesson.name, answer.question + 1);
            let question = &lesson.questions[answer.question];
            assert!(!answer.why.contains(['{', '}']), "{place}: {}", answer.why);
            // The answer as it is shown is right, whatever was rounded.
            assert_eq!(question.check(&answer.shown, &answer.truth), Verdict::Right, "{place}");
            if matches!(question.answer, Answer::Number { .. }) {
                assert!(!question.check("123456", &answer.truth).is_right(), "{place}");
            }
        }
    }
}

/// The machine that the texts describe.
#[test]
fn sizes_in_the_texts_are_those_of_the_machine() {
    let document = ConfigSource::default().document().expect("embedded");
    let memory = MachineConfig::from_document(&document).expect("embedded").memory;
    let text = |name: &str| lessons().into_iter().find(|one| one.name == name).expect(name).text;
    let (l1d, ways) = (memory.l1d.size_bytes / 1024, memory.l1d.ways);
    let sets = text("03-set-conflict");
    assert!(sets.contains(&format!("{l1d} KiB has {ways} **ways**")), "{sets}");
    assert!(sets.contains(&format!("{} KiB apart", l1d / u64::from(ways))), "{sets}");
    let tlb = text("06-tlb");
    assert!(tlb.contains(&format!("holds {} of them", memory.dtlb.entries)), "{tlb}");
    assert!(tlb.contains(&format!("the L2 TLB {}", memory.l2_tlb.entries)), "{tlb}");
}

/// Numbers that a `why` may have outside braces and code: none of them is a count.
const PLAIN: [&str; 3] = ["4 bytes in each of two lines", "64 bytes", "10 microseconds"];

#[test]
fn numbers_of_explanations_come_from_the_model() {
    for (name, text) in LESSONS {
        let file: toml::Table = text.parse().expect(name);
        for question in file["question"].as_array().expect(name) {
            let why = question["why"].as_str().expect(name);
            let mut rest = why.to_owned();
            PLAIN.iter().for_each(|plain| rest = rest.replace(plain, ""));
            let (mut is_code, mut depth, mut last) = (false, 0, ' ');
            for letter in rest.chars() {
                match letter {
                    '`' => is_code = !is_code,
                    '{' if !is_code => depth += 1,
                    '}' if !is_code => depth -= 1,
                    _ => {}
                }
                let is_number = letter.is_ascii_digit() && !last.is_ascii_alphanumeric();
                assert!(is_code || depth > 0 || !is_number, "{name}: a typed number in: {why}");
                last = letter;
            }
        }
    }
}

#[test]
fn a_lesson_serializes_without_its_answers() {
    for (name, text) in LESSONS {
        let lesson = Lesson::parse(text, name).expect(name);
        let json = serde_json::to_string(&lesson).expect(name);
        for secret in ["\"why\"", "\"right\"", "\"holds\"", "\"case\""] {
            assert!(!json.contains(secret), "{name}: {secret}");
        }
        assert!(json.contains("\"ask\"") && json.contains("\"setups\""), "{name}");
    }
    for (_, answers) in solved() {
        assert!(serde_json::to_string(&answers).expect("numbers").contains("\"why\""));
    }
}

#[test]
fn the_notation_explains_every_word_of_the_setups_and_nothing_else() {
    let signs = |lesson: &Lesson| -> Vec<String> {
        lesson.notation().into_iter().map(|term| term.sign).collect()
    };
    for lesson in &lessons() {
        let signs = signs(lesson);
        let words: Vec<&str> = signs.iter().flat_map(|sign| sign.split([' ', '&'])).collect();
        for setup in &lesson.setups {
            let Run::Scenario(scenario) = &setup.run else { continue };
            let text = format!("{} , {}", scenario.given, scenario.done);
            for word in text.split([' ', ';', '&', ',', '\n']).filter(|word| !word.is_empty()) {
                let is_place = word.starts_with("0x") || word.parse::<u64>().is_ok();
                let is_named = scenario.names.iter().any(|(name, _)| name == word);
                let is_line = word.len() == 2 && word.starts_with('a');
                let is_known = words.contains(&word) || is_place || is_named || is_line;
                assert!(is_known, "{}: nothing explains '{word}': {signs:?}", lesson.name);
            }
        }
    }
    let first = signs(&lessons()[0]);
    assert_eq!(first, ["K0", "LD8 A", "s ; t", "0x8000"], "only what occurs");
    let tenth = signs(&lessons()[9]);
    for sign in ["K3", "trained", "else { s }", "s &x 8", "s & t", "CBZ X0 taken", "LD8 A"] {
        assert!(tenth.iter().any(|own| own == sign), "{sign}: {tenth:?}");
    }
    assert!(!tenth.iter().any(|own| own == "s x 8"), "{tenth:?}");
    assert_eq!(lessons()[10].notation(), [], "a trace has no notation");
}
