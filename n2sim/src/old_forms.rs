//! Old forms of command lines: jobs that were options of `stat` and are commands now.

use std::ffi::{OsStr, OsString};

/// An option of `stat` that became a command.
struct Moved {
    option: &'static str,
    command: &'static str,
    /// The command has the option too, with its value.
    is_kept: bool,
}

const MOVED: [Moved; 6] = [
    Moved { option: "--counterfactual", command: "counterfactual", is_kept: false },
    Moved { option: "--plan", command: "plan", is_kept: false },
    Moved { option: "--program-pmu", command: "program-pmu", is_kept: false },
    Moved { option: "--per-function", command: "functions", is_kept: false },
    Moved { option: "--regions", command: "estimate", is_kept: true },
    Moved { option: "--jobs", command: "estimate", is_kept: true },
];

/// Options before the command that take a value.
const GLOBAL_WITH_VALUE: &str = "--max-memory";

/// Returns the words of a command line in their current form.
pub(crate) fn current(mut words: Vec<OsString>) -> Vec<OsString> {
    let Some(at) = command_at(&words).filter(|at| words[*at] == "stat") else { return words };
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let options = words.get(at..end).unwrap_or_default();
    let found = MOVED.iter().find_map(|moved| {
        let place = options.iter().position(|word| is_option(word, moved.option))?;
        Some((moved, at + place))
    });
    if let Some((moved, place)) = found {
        words[at] = moved.command.into();
        if !moved.is_kept {
            words.remove(place);
        }
    }
    words
}

/// Returns the position of the command's name: the first word that is neither an option nor its
/// value.
fn command_at(words: &[OsString]) -> Option<usize> {
    let is_value = |at: usize| words[at - 1] == GLOBAL_WITH_VALUE;
    let is_word = |at: &usize| !words[*at].as_encoded_bytes().starts_with(b"-") && !is_value(*at);
    (1..words.len()).find(is_word)
}

/// Returns whether a word is the option, alone or with its value.
fn is_option(word: &OsStr, option: &str) -> bool {
    let rest = word.as_encoded_bytes().strip_prefix(option.as_bytes());
    rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(line: &str) -> String {
        let words = current(line.split(' ').map(OsString::from).collect());
        words.join(OsStr::new(" ")).into_string().expect("text")
    }

    #[test]
    fn a_job_of_stat_becomes_its_command() {
        for (old, new) in [
            ("n2sim stat a.n2t --plan -e x", "n2sim plan a.n2t -e x"),
            ("n2sim stat --per-function a.n2t --elf b", "n2sim functions a.n2t --elf b"),
            ("n2sim stat a.n2t --counterfactual", "n2sim counterfactual a.n2t"),
            ("n2sim stat a.n2t --program-pmu", "n2sim program-pmu a.n2t"),
            ("n2sim stat --regions a.toml a.n2t", "n2sim estimate --regions a.toml a.n2t"),
            ("n2sim stat --jobs=2 a.n2t", "n2sim estimate --jobs=2 a.n2t"),
            ("n2sim --max-memory 1G stat a.n2t --plan", "n2sim --max-memory 1G plan a.n2t"),
        ] {
            assert_eq!(after(old), new);
        }
    }

    #[test]
    fn other_lines_stay() {
        for line in [
            "n2sim stat a.n2t -e x",
            "n2sim sweep a.toml --jobs 2",
            "n2sim",
            "n2sim --max-memory stat",
            "n2sim stat -- --plan",
        ] {
            assert_eq!(after(line), line);
        }
    }
}
