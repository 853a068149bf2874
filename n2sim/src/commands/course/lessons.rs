//! The lessons of a course, and their solutions.

use std::path::{Path, PathBuf};

use anyhow::Context;
use sim_core::Shown;
use sim_course::{LESSONS, Lesson, Results, Solved};

use super::traces::Traces;

/// A lesson with its file.
pub(super) struct Loaded {
    pub(super) lesson: Lesson,
    /// Name of the file, without a folder.
    pub(super) file: String,
    pub(super) text: String,
    /// Folder of the file; `None` for a lesson of n2sim.
    pub(super) folder: Option<PathBuf>,
}

/// A lesson with its answers.
pub(super) struct Solution<'a> {
    pub(super) loaded: &'a Loaded,
    pub(super) lesson: &'a Lesson,
    pub(super) results: Results,
    pub(super) answers: Vec<Solved>,
}

impl Loaded {
    /// Runs the setups of the lesson and answers its questions.
    pub(super) fn solve(&self) -> anyhow::Result<Solution<'_>> {
        let mut traces = Traces::of(self.folder.as_deref());
        let results = self.lesson.run(&mut traces)?;
        let answers = self.lesson.answers(&results)?;
        Ok(Solution { loaded: self, lesson: &self.lesson, results, answers })
    }
}

/// Reads the lessons of a folder in the order of their names, or those of n2sim.
pub(super) fn load(folder: Option<&Path>) -> anyhow::Result<Vec<Loaded>> {
    let Some(folder) = folder else {
        let own = |(file, text): &(&str, &str)| {
            let (file, text) = ((*file).to_owned(), (*text).to_owned());
            Ok(Loaded { lesson: Lesson::parse(&text, &file)?, file, text, folder: None })
        };
        return LESSONS.iter().map(own).collect();
    };
    let context = || format!("cannot read the directory {}", folder.shown());
    let mut paths = Vec::new();
    for entry in folder.read_dir().with_context(context)? {
        let path = entry.with_context(context)?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() {
        anyhow::bail!(
            "{} has no lesson files (*.toml); name a directory that has some",
            folder.shown()
        );
    }
    paths.iter().map(|path| load_file(path)).collect()
}

/// Reads one lesson file.
pub(super) fn load_file(path: &Path) -> anyhow::Result<Loaded> {
    let name = path.shown().to_string();
    let text = sim_files::text(path).with_context(|| format!("cannot read the lesson {name}"))?;
    let lesson = Lesson::parse(&text, &name)?;
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Loaded { lesson, file, text, folder: Some(folder) })
}
