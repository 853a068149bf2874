//! `n2sim course`: writes a course kit, grades the answers of students, checks lessons.

mod check;
mod grading;
mod kit;
mod lessons;
mod markup;
mod page;
mod slides;
mod texts;
mod traces;

use std::path::PathBuf;

use anyhow::Context;
use clap::Args as ClapArgs;
use sim_core::Shown;
use sim_files::NewDirectory;

use crate::files::output::Output;
use crate::plural::number_of;
use crate::verdict::Verdict;
use std::io::Write;

/// Write a course kit, grade answers of students, or check a lesson
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples: n2sim course my-course\n          \
    n2sim course my-course --lessons my-lessons\n          \
    n2sim course --grade answers/*.toml\n          \
    n2sim course --grade ada.toml --lessons my-course/lessons --json\n          \
    n2sim course --check my-lesson.toml")]
pub(crate) struct CourseArgs {
    /// New directory for the kit: lessons, pages, slides, a sheet for answers, solutions, traces
    #[arg(value_name = "DIR", required_unless_present_any = ["grade", "check"])]
    #[arg(conflicts_with_all = ["grade", "check"])]
    dir: Option<PathBuf>,
    /// Grade these sheets of answers (answers.toml, one for each student)
    #[arg(long, value_name = "ANSWERS", num_args = 1.., conflicts_with = "check")]
    grade: Vec<PathBuf>,
    /// Check these lesson files, and print the answers that the model computes
    #[arg(long, value_name = "LESSON", num_args = 1..)]
    check: Vec<PathBuf>,
    /// Directory of lesson files (*.toml) instead of the lessons of n2sim
    #[arg(long, value_name = "DIR", conflicts_with = "check")]
    lessons: Option<PathBuf>,
    /// With --grade or --check: print one JSON object per student or lesson
    #[arg(short, long, conflicts_with = "dir")]
    json: bool,
}

/// Writes the kit, or grades, or checks.
pub(crate) fn run(args: &CourseArgs) -> anyhow::Result<Verdict> {
    if !args.check.is_empty() {
        return check::run(&args.check, args.json);
    }
    if !args.grade.is_empty() {
        return grading::run(&args.grade, args.lessons.as_deref(), args.json);
    }
    let directory = args.dir.as_deref().context("course needs the new directory of the kit")?;
    let context = || format!("cannot write {}", directory.shown());
    NewDirectory::check(directory).with_context(context)?;
    let lessons = lessons::load(args.lessons.as_deref())?;
    let solved = lessons.iter().map(lessons::Loaded::solve).collect::<anyhow::Result<Vec<_>>>()?;
    let files = kit::files(&solved)?;
    let kit = NewDirectory::beside(directory).with_context(context)?;
    for (path, content) in &files {
        let path = path.as_path();
        let context = || format!("cannot write {}", directory.join(path).shown());
        kit.write(path, content).with_context(context)?;
    }
    kit.finish().with_context(context)?;
    let mut out = Output::create(None)?;
    let questions: usize = solved.iter().map(|one| one.lesson.questions.len()).sum();
    writeln!(
        out,
        "{}: {}, {}, {}; begin with README.md",
        directory.shown(),
        number_of(solved.len(), "lesson"),
        number_of(questions, "question"),
        number_of(files.len(), "file")
    )?;
    out.finish()?;
    Ok(Verdict::Good)
}
