//! `n2sim man`: manual pages, generated from the definitions of the arguments.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args as ClapArgs, Command};
use clap_mangen::Man;
use sim_core::Shown;

use crate::files::output::Output;
use crate::verdict::Verdict;

/// Print the manual page of a command, or write those of all commands
#[derive(Clone, Debug, ClapArgs)]
#[command(after_help = "Examples: n2sim man stat | man -l -\n          \
    n2sim man --dir ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// The command, such as stat or trace import [default: n2sim itself]
    #[arg(conflicts_with = "dir")]
    command: Vec<String>,
    /// Write n2sim.1 and n2sim-COMMAND.1 of every command into DIR
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints or writes pages of `command`, which is the whole command line.
///
/// # Errors
/// If there is no such command, or the output cannot be written.
pub(crate) fn run(args: &ManArgs, command: Command) -> anyhow::Result<Verdict> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    if let Some(directory) = &args.dir {
        let context = || format!("cannot write {}", directory.shown());
        std::fs::create_dir_all(directory).with_context(context)?;
        write_all(&command, directory)?;
        return Ok(Verdict::Good);
    }
    let mut out = Output::create(None)?;
    out.write_all(&page(find(&command, &args.command, "n2sim")?)?)?;
    out.finish()?;
    Ok(Verdict::Good)
}

/// Writes the pages of a command and of all below it.
fn write_all(command: &Command, directory: &Path) -> anyhow::Result<()> {
    let path = directory.join(format!("{}.1", name(command)));
    let mut out = Output::create(Some(&path))?;
    out.write_all(&page(command)?)?;
    out.finish()?;
    command.get_subcommands().try_for_each(|one| write_all(one, directory))
}

/// Returns the command that these words name.
fn find<'a>(command: &'a Command, words: &[String], of: &str) -> anyhow::Result<&'a Command> {
    let Some((word, rest)) = words.split_first() else { return Ok(command) };
    match command.find_subcommand(word) {
        Some(found) => find(found, rest, &format!("{of} {word}")),
        None if !command.has_subcommands() => {
            anyhow::bail!("{of} has no commands below it: leave '{}' out", word.shown())
        }
        None => {
            let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
            anyhow::bail!("{of} has no command '{}'; it has: {}", word.shown(), names.join(", "))
        }
    }
}

/// Returns the name of a command's page: `n2sim-stat`.
fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// Returns the page of a command.
fn page(command: &Command) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    let version = concat!("n2sim ", env!("CARGO_PKG_VERSION"));
    Man::new(command.clone()).source(version).manual("n2sim").render(&mut page)?;
    Ok(page)
}
