//! Exercises: each has a difficulty, a time and a check, and every prediction is wrong until the
//! reader corrects it.

use std::process::Command;

use super::{expect_none, files, pages, repository};

#[test]
fn every_exercise_has_a_difficulty_a_time_and_a_check() {
    let mut faults = Vec::new();
    for page in pages().iter().filter(|page| page.name() != "answers.md") {
        for part in page.text.split("\n### ").skip(1) {
            let (heading, body) = part.split_once('\n').unwrap();
            let is_numbered = heading.split(' ').next().is_some_and(|word| word.contains('.'));
            let body = body.split("\n## ").next().unwrap().trim();
            let (level, rest) = body.split_once(", ").unwrap_or((body, ""));
            let has_time =
                rest.split_once(" minutes. ").is_some_and(|(n, _)| n.parse::<u8>().is_ok());
            let is_known = ["Easy", "Medium", "Hard"].contains(&level);
            if is_numbered && !(is_known && has_time && body.contains("\nCheck: `n2sim ")) {
                faults.push(format!("{}: {heading}", page.name()));
            }
        }
    }
    expect_none(&faults);
}

#[test]
fn predictions_are_wrong_by_their_numbers_only() {
    for file in files("predict", "toml") {
        let mut command = Command::new(env!("CARGO_BIN_EXE_n2sim"));
        let output = command.arg("check").arg(&file).current_dir(repository()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{}: {said}", file.display());
        assert!(said.contains(": expected "), "{}: {said}", file.display());
    }
}
