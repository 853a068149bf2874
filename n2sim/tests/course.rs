//! `n2sim course`: kits, grading, lessons of a teacher.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

const N2SIM: &str = env!("CARGO_BIN_EXE_n2sim");
const LESSON: &str = r#"
title   = "Two loads"
minutes = 10
level   = "beginner"
text    = "Two loads of **one** line, `a < b`."
given   = "K1"
do      = "LD8 0x8000 ; LD8 0x8008"

[[question]]
ask   = "How many refills?"
count = "L1D_CACHE_REFILL"
why   = "One line: {answer}, for {L1D_CACHE} accesses."

[[question]]
ask    = "How many cycles does the first load take?"
cycles = true
step   = 1
within = "10 %"
points = 2
why    = "{answer} cycles; the second takes {step2.cycles}."

[[question]]
ask    = "Which one is faster?"
choice = ["the first", "the second"]
right  = 2
holds  = "step2.cycles < step1.cycles"
why    = "The second: its line is there."
"#;

fn run(folder: &Path, args: &[&str]) -> Output {
    Command::new(N2SIM).arg("course").args(args).current_dir(folder).output().unwrap()
}

fn good(folder: &Path, args: &[&str]) -> String {
    let output = run(folder, args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", said(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(folder: &Path, args: &[&str]) -> String {
    let output = run(folder, args);
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    said(&output)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn with_lesson() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("mine")).unwrap();
    fs::write(folder.path().join("mine/01-two.toml"), LESSON).unwrap();
    folder
}

/// All files of a directory by their paths in it.
fn files(directory: &Path) -> BTreeSet<String> {
    let (mut files, mut open) = (BTreeSet::new(), vec![directory.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            match entry.path() {
                path if path.is_dir() => open.push(path),
                path => {
                    files.insert(path.strip_prefix(directory).unwrap().display().to_string());
                }
            }
        }
    }
    files
}

#[test]
fn a_kit_has_all_its_parts_and_its_own_sheet_is_graded() {
    let folder = TempDir::new().unwrap();
    let printed = good(folder.path(), &["kit"]);
    assert!(printed.contains("12 lessons") && printed.contains("README.md"), "{printed}");
    let kit = folder.path().join("kit");
    let files = files(&kit);
    for part in ["README.md", "answers.toml", "students/index.html", "teacher/solutions.html"] {
        assert!(files.contains(part), "{part}: {files:?}");
    }
    assert!(files.contains("traces/matrix.n2t") && files.contains("traces/interp.n2t"));
    for (lesson, _) in sim_course::LESSONS {
        let name = lesson.trim_end_matches(".toml");
        for part in ["lessons/NAME.toml", "students/NAME.html", "slides/NAME.html"] {
            assert!(files.contains(&part.replace("NAME", name)), "{part} of {name}");
        }
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    for page in files.iter().filter(|file| file.ends_with(".html")) {
        let text = fs::read_to_string(kit.join(page)).unwrap();
        for word in ["http://", "https://", "src=", "@import"] {
            assert!(
                !text.replace("http://www.w3.org/2000/svg", "").contains(word),
                "{page}: {word}"
            );
        }
    }
    // The true answers, from the machine's own words, are all right; the empty sheet has no points.
    let lessons = ["--lessons", "kit/lessons"];
    let empty = good(folder.path(), &[&["--grade", "kit/answers.toml"], &lessons[..]].concat());
    assert!(empty.contains("Your Name     0/") && empty.contains("no answers"), "{empty}");
    let json = good(folder.path(), &["--grade", "kit/answers.toml", "--json"]);
    let grade: serde_json::Value = serde_json::from_str(&json).unwrap();
    let mut sheet = String::from("student = \"Ada\"\n");
    for lesson in grade["lessons"].as_array().unwrap() {
        sheet += &format!("[{}]\n", lesson["lesson"]);
        for question in lesson["questions"].as_array().unwrap() {
            sheet += &format!("answer{} = {}\n", question["question"], question["truth"]);
        }
    }
    fs::write(folder.path().join("ada.toml"), sheet).unwrap();
    let full = good(folder.path(), &[&["--grade", "ada.toml"], &lessons[..]].concat());
    assert!(
        full.contains(&format!("{0}/{0}", grade["of"])) && full.contains("all right"),
        "{full}"
    );
}

#[test]
fn pages_for_students_have_no_answers() {
    let folder = with_lesson();
    let printed = good(folder.path(), &["kit", "--lessons", "mine"]);
    assert!(printed.starts_with("kit: 1 lesson, 3 questions, "), "{printed}");
    let read = |path: &str| fs::read_to_string(folder.path().join("kit").join(path)).unwrap();
    let page = read("students/01-two.html");
    assert!(page.contains("How many refills?") && page.contains("a &lt; b"), "{page}");
    assert!(!page.contains("One line:") && !page.contains("its line is there"), "{page}");
    assert!(!read("answers.toml").contains("answer1 = \"1\""));
    let solutions = read("teacher/solutions.html");
    assert!(solutions.contains("One line: 1, for 2 accesses."), "{solutions}");
    let readme = read("README.md");
    assert!(readme.contains("1 lesson, 10 minutes of class") && !readme.contains("traces/"));
    let slides = read("slides/01-two.html");
    let (question, answer) = (slides.find("Question 1").unwrap(), slides.find("Answer 1").unwrap());
    assert!(question < answer && slides.find("One line: 1").unwrap() > answer);
}

#[test]
fn a_directory_with_files_is_refused_and_stays_as_it_is() {
    let folder = with_lesson();
    let message = refused(folder.path(), &["mine"]);
    assert!(message.contains("cannot write mine: the directory has files in it"), "{message}");
    assert_eq!(files(folder.path()).into_iter().collect::<Vec<_>>(), ["mine/01-two.toml"]);
    fs::create_dir(folder.path().join("empty")).unwrap();
    good(folder.path(), &["empty", "--lessons", "mine"]);
    assert!(folder.path().join("empty/README.md").is_file());
}

#[test]
fn sheets_are_graded_with_distances_and_faulty_ones_are_named() {
    let folder = with_lesson();
    let sheet = |file: &str, text: &str| fs::write(folder.path().join(file), text).unwrap();
    sheet(
        "ada.toml",
        "student = \"Ada\"\n[\"01-two\"]\nanswer1 = 1\nanswer2 = \"403 cycles\"\nanswer3 = \"b\"\n",
    );
    sheet(
        "bob.toml",
        "student = \"Bob\"\n[\"01-two\"]\nanswer1 = \"3\"\nanswer2 = \"much\"\nanswer3 = 1\n",
    );
    let table = good(folder.path(), &["--grade", "ada.toml", "bob.toml", "--lessons", "mine"]);
    let rows = [
        "Ada          4/4   4/4",
        "Bob          0/4   0/4",
        "  all right",
        "01-two question 1: 3 is 2 too high (200 %); the answer is 1",
        "01-two question 2: 'much' is not a number; write digits, such as 12 or 0.5",
        "01-two question 3: not 'the first'; the answer is the second",
    ];
    for row in rows {
        assert!(table.contains(row), "{row}\n{table}");
    }
    sheet("eve.toml", "student = \"Eve\"\n[\"01-two\"]\nanswer4 = 1\n");
    sheet("kim.toml", "student = \"Kim\"\n[\"01-too\"]\nanswer1 = 1\n");
    let output = run(
        folder.path(),
        &["--grade", "eve.toml", "ada.toml", "kim.toml", "--lessons", "mine", "--json"],
    );
    assert_eq!(output.status.code(), Some(2));
    let printed = String::from_utf8(output.stdout.clone()).unwrap();
    let ada: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(
        (&ada["student"], &ada["points"], &ada["file"]),
        (&"Ada".into(), &4.into(), &"ada.toml".into())
    );
    let message = said(&output);
    assert!(message.contains("eve.toml:3:1: lesson '01-two' has no question 4"), "{message}");
    assert!(message.contains("kim.toml:2:2: no lesson is named '01-too'"), "{message}");
    assert!(!message.contains("--lessons"), "{message}");
    let message = refused(folder.path(), &["--grade", "ada.toml"]);
    assert!(message.contains("no lesson is named '01-two'"), "{message}");
    assert!(message.ends_with("for lessons of your own add --lessons DIR\n"), "{message}");
    let message = refused(folder.path(), &["--grade", "mine/", "--lessons", "mine"]);
    assert!(message.contains("mine is a directory; name the files in it: --grade mine/*.toml"));
}

#[test]
fn a_lesson_of_a_teacher_is_checked_and_solved() {
    let folder = with_lesson();
    let printed = good(folder.path(), &["--check", "mine/01-two.toml"]);
    for line in ["mine/01-two.toml: Two loads (10 minutes, beginner, 4 points)", "     answer: 1\n"]
    {
        assert!(printed.contains(line), "{line}\n{printed}");
    }
    let bad = LESSON.replace("L1D_CACHE_REFILL", "L1D_CACHE_REFIL");
    fs::write(folder.path().join("bad.toml"), bad).unwrap();
    let message = refused(folder.path(), &["--check", "bad.toml"]);
    assert!(message.starts_with("n2sim: bad.toml:11:10: "), "{message}");
    let traced = LESSON.replace("given   = \"K1\"\n", "").replace(
        "do      = \"LD8 0x8000 ; LD8 0x8008\"",
        "trace = \"none.n2t\"\ninstructions = 1000",
    );
    let traced = &traced[..traced.find("[[question]]\nask    = \"How many cycles").unwrap()];
    fs::write(folder.path().join("traced.toml"), traced).unwrap();
    let message = refused(folder.path(), &["--check", "traced.toml"]);
    assert!(message.contains("there is no trace none.n2t; put it beside the lesson"), "{message}");
}

#[test]
fn lessons_that_run_traces_are_solved_with_the_counts_of_stat() {
    let folder = TempDir::new().unwrap();
    for (name, text) in sim_course::LESSONS.iter().filter(|(_, text)| text.contains("trace ")) {
        fs::write(folder.path().join(name), text).unwrap();
        let printed = good(folder.path(), &["--check", name, "--json"]);
        let value: serde_json::Value = serde_json::from_str(&printed).unwrap();
        let solved = value["solved"].as_array().unwrap();
        assert_eq!(solved.len(), value["lesson"]["questions"].as_array().unwrap().len());
        for one in solved {
            let why = one["why"].as_str().unwrap();
            assert!(!why.contains(['{', '}']) && !why.is_empty(), "{name}: {why}");
        }
        if name.starts_with("11") {
            // OP_SPEC + STALL_SLOT = 5 x CPU_CYCLES.
            assert_eq!(solved[4]["shown"], "5");
        } else {
            let error: f64 = solved[3]["truth"]["value"].as_f64().unwrap();
            assert!(error > 5.0, "multiplexing has an error: {error}");
        }
    }
}
