//! The files of a course kit.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::lessons::Solution;
use super::traces::Traces;
use super::{page, slides, texts};
use crate::plural::number_of;
use sim_course::Run;

/// Minutes of a lecture hour.
const HOUR: u64 = 45;

/// Returns all files with their content, by their paths in the kit.
pub(super) fn files(solved: &[Solution<'_>]) -> anyhow::Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut files = BTreeMap::new();
    let mut add = |path: &str, content: Vec<u8>| files.insert(Path::new(path).to_owned(), content);
    add("README.md", readme(solved).into_bytes());
    add("answers.toml", sheet(solved).into_bytes());
    add("students/index.html", page::index(solved).into_bytes());
    add("teacher/solutions.html", page::solutions(solved).into_bytes());
    for one in solved {
        let name = &one.lesson.name;
        add(&format!("lessons/{}", one.loaded.file), one.loaded.text.clone().into_bytes());
        add(&format!("students/{name}.html"), page::lesson(one.lesson).into_bytes());
        add(&format!("slides/{name}.html"), slides::html(one).into_bytes());
        let traces = Traces::of(one.loaded.folder.as_deref());
        for setup in &one.lesson.setups {
            if let Run::Trace(run) = &setup.run {
                let bytes = traces.bytes(&run.trace)?.into_owned();
                add(&format!("traces/{}", run.trace), bytes);
            }
        }
    }
    Ok(files)
}

/// Returns the sheet that students fill.
fn sheet(solved: &[Solution<'_>]) -> String {
    let mut text = String::from(
        "# Answers. Save a copy with your name, and write between the quotes: answer1 = \"12\".\n\
         # A number may have commas (1,234) or be a fraction (1/8). For a choice, write its text or its number.\n\
         # Leave out what you do not know.\n\
         student = \"Your Name\"\n",
    );
    for one in solved {
        let _ = writeln!(text, "\n[\"{}\"] # {}", one.lesson.name, one.lesson.title);
        for (at, question) in one.lesson.questions.iter().enumerate() {
            let _ = writeln!(text, "answer{} = \"\" # {}", at + 1, texts::wanted(question));
        }
    }
    text
}

/// Returns the plan of the course for the teacher.
fn readme(solved: &[Solution<'_>]) -> String {
    let mut text = String::from(README_HEAD);
    let setups = solved.iter().flat_map(|one| &one.lesson.setups);
    if setups.into_iter().any(|setup| matches!(setup.run, Run::Trace(_))) {
        text.push_str("| `traces/` | recorded programs that some lessons run |\n");
    }
    text.push_str("\nGive students `students/` and `answers.toml` only.\n");
    let minutes: u64 = solved.iter().map(|one| one.lesson.minutes).sum();
    let _ = writeln!(text, "\n## Plan\n");
    let _ = writeln!(
        text,
        "{}, {} of class. An hour is {HOUR} minutes: first the slides up to the first question, then the\n\
         class guesses and fills the sheet, then the answers.\n",
        number_of(solved.len(), "lesson"),
        number_of(minutes, "minute")
    );
    text.push_str("| hour | lesson | minutes | level | points | title |\n| --- | --- | --- | --- | --- | --- |\n");
    let (mut hour, mut used) = (1, 0);
    for Solution { lesson, .. } in solved {
        if used > 0 && used + lesson.minutes > HOUR {
            (hour, used) = (hour + 1, 0);
        }
        used += lesson.minutes;
        let _ = writeln!(
            text,
            "| {hour} | {} | {} | {} | {} | {} |",
            lesson.name,
            lesson.minutes,
            lesson.level.name(),
            lesson.points(),
            lesson.title
        );
    }
    text + README_END
}

const README_HEAD: &str = "# A course about PMU events

For the teacher. Every page and slide is one file that works from disk, without a network.

| file | for |
| --- | --- |
| `students/index.html` and the pages beside it | students: the lessons without answers |
| `answers.toml` | students: one copy each |
| `slides/*.html` | the lecture; the answer of each question is on the slide after it |
| `teacher/solutions.html` | you: all answers with their explanations |
| `lessons/*.toml` | the lessons as files; change them, and write your own |
";

const README_END: &str = "
## Grade

Collect the sheets into a directory, one file a student, and run

```console
$ n2sim course --grade sheets/*.toml --lessons lessons
```

It prints a line for each student, and the answers that are not right with their distance from the true ones. `--json` prints
one object for each student, for a table of your own. The true answers are computed again each time, from the files in
`lessons`: nothing there contains a typed number.

## Change a lesson, or write one

Copy a file of `lessons`, change it, and check it:

```console
$ n2sim course --check lessons/my-lesson.toml
```

A fault is reported with line and column. `docs/course.md` of n2sim describes the format on one page. To make a kit of your
lessons, run

```console
$ n2sim course new-kit --lessons lessons
```
";
