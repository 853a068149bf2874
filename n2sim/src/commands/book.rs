//! `n2sim book`: writes the book as a static site.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use sim_core::Shown;
use sim_report::book::{self, SiteFile};

use crate::files::output::Output;
use crate::files::packed;
use crate::host::call;
use crate::verdict::Verdict;

/// Sources of the book, as the build script packs them.
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/book.z"));
/// Name of the page that a reader opens first.
const ENTRY: &str = "index.html";

/// Write the book about the core's events as a site that opens from disk
#[derive(Debug, Args)]
#[command(after_help = "Examples: n2sim book -o book\n          \
    xdg-open book/index.html")]
pub(crate) struct BookArgs {
    /// Directory of the site: a new or empty one, or one with an earlier site
    ///
    /// It gets chapters with their figures, exercises with folded answers, slides for each chapter,
    /// and a search. The pages need no network and no server.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

/// Writes all files of the site, or none.
///
/// # Errors
/// If the directory has files that are not of a site, or a file cannot be written.
pub(crate) fn run(args: &BookArgs) -> anyhow::Result<Verdict> {
    let files = book::site(&packed::unpack(PACKED)?);
    let directory = &args.output;
    let is_new = refuse_others(directory, &files)?;
    if is_new {
        let context = || format!("cannot write {}", directory.shown());
        std::fs::create_dir(directory).with_context(context)?;
    }
    let written = write_all(directory, &files);
    if written.is_err() && is_new {
        // It is empty again; the error that matters is the first one.
        let _ = std::fs::remove_dir(directory);
    }
    written?;
    let entry = directory.join(ENTRY);
    writeln!(call::stderr(), "n2sim: open {}", entry.shown())?;
    Ok(Verdict::Good)
}

/// Returns whether the directory is new. Refuses one with files that no site has.
fn refuse_others(directory: &Path, files: &[SiteFile]) -> anyhow::Result<bool> {
    let shown = directory.shown();
    if !directory.exists() {
        let parent = directory.parent().filter(|parent| !parent.as_os_str().is_empty());
        if let Some(missing) = parent.filter(|parent| !parent.is_dir()) {
            anyhow::bail!("cannot write {shown}: there is no directory {}", missing.shown());
        }
        return Ok(true);
    }
    let context = || format!("cannot write the book into {shown}");
    let names: BTreeSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
    for entry in std::fs::read_dir(directory).with_context(context)? {
        let name = entry.with_context(context)?.file_name();
        let is_own = name.to_str().is_some_and(|name| names.contains(name));
        // Temporary files of a killed process are removed before the first new one.
        let is_temporary = name.to_str().is_some_and(|name| name.starts_with(".n2sim-"));
        anyhow::ensure!(
            is_own || is_temporary,
            "{shown} has other files, such as {}; name a new or empty directory",
            Path::new(&name).shown()
        );
    }
    Ok(false)
}

fn write_all(directory: &Path, files: &[SiteFile]) -> anyhow::Result<()> {
    let mut outputs = Vec::with_capacity(files.len());
    for file in files {
        let mut output = Output::create(Some(&directory.join(&file.name)))?;
        output.write_all(file.text.as_bytes())?;
        outputs.push(output);
    }
    Output::finish_all(outputs)
}
