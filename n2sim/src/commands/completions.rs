//! `n2sim completions`: completions of the command line for a shell.

use std::io::Write;

use clap::{Args as ClapArgs, Command, ValueEnum};
use clap_complete::Shell;

use crate::files::output::Output;
use crate::verdict::Verdict;

/// Print completions of the command line for a shell
#[derive(Clone, Debug, ClapArgs)]
#[command(
    after_help = "Example: n2sim completions bash > ~/.local/share/bash-completion/completions/n2sim"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: ShellName,
}

/// A shell whose completions are tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ShellName {
    Bash,
    Zsh,
    Fish,
}

impl From<ShellName> for Shell {
    fn from(shell: ShellName) -> Shell {
        match shell {
            ShellName::Bash => Shell::Bash,
            ShellName::Zsh => Shell::Zsh,
            ShellName::Fish => Shell::Fish,
        }
    }
}

/// Prints the completions of `command`, which is the whole command line.
///
/// # Errors
/// If the output cannot be written.
pub(crate) fn run(args: &CompletionsArgs, mut command: Command) -> anyhow::Result<Verdict> {
    // The generator panics when its output fails; memory does not.
    let mut text = Vec::new();
    clap_complete::generate(Shell::from(args.shell), &mut command, "n2sim", &mut text);
    let mut out = Output::create(None)?;
    out.write_all(&text)?;
    out.finish()?;
    Ok(Verdict::Good)
}
