//! Runs the commands of a page as a reader would, and holds or writes what they print. The lines
//! that say what produced a result (`# n2sim ...` on the error output) are left out, as in the
//! book.

use std::path::Path;
use std::process::Command as Process;

use super::page::{Block, Command, Page};
use super::repository;

/// The directories that a reader finds at the top of the repository.
const FOLDERS: [&str; 4] = ["docs", "traces", "tests", "configs"];
/// The line after a command whose exit code is not 0.
const EXIT_CODE: &str = "# exit code ";

/// Runs all commands of a page in order, in a folder of its own. Says where they print something
/// else; or writes what they print into the page.
pub(crate) fn check(page: &Page, bless: bool) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    for name in FOLDERS {
        std::os::unix::fs::symlink(repository().join(name), folder.path().join(name)).unwrap();
    }
    let mut faults = Vec::new();
    let mut text = page.text.clone();
    for block in &page.blocks {
        let mut now = String::new();
        for command in block.commands() {
            let printed = run(&command, folder.path()).unwrap_or_else(|fault| {
                faults.push(format!("{}:{}: {fault}", page.name(), command.line));
                command.output.clone()
            });
            if !bless && printed != command.output {
                let place = format!("{}:{}", page.name(), command.line);
                let Command { words, output, .. } = &command;
                faults.push(format!(
                    "{place}: {words}\nthe book shows\n{output}it prints\n{printed}"
                ));
            }
            now += &format!("$ {}\n{printed}", command.words);
        }
        if bless && !now.is_empty() {
            text = replaced(&text, block, &now);
        }
    }
    if bless && text != page.text {
        std::fs::write(&page.path, text).unwrap();
    }
    faults
}

/// The page with what a block shows now. The first block of this text is the one, or has the same
/// commands.
fn replaced(text: &str, block: &Block, now: &str) -> String {
    text.replacen(&format!("```console\n{}```", block.text), &format!("```console\n{now}```"), 1)
}

/// Returns the output of a command with its errors in between, without spaces at the ends of lines.
fn run(command: &Command, folder: &Path) -> Result<String, String> {
    let program = Path::new(env!("CARGO_BIN_EXE_n2sim"));
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let script = format!("exec 2>&1\n{}", command.words);
    let mut shell = Process::new("sh");
    shell.args(["-c", &script]).env("PATH", path).current_dir(folder);
    let output = shell.output().map_err(|error| error.to_string())?;
    let (_, wanted) = command.words.split_once(EXIT_CODE).unwrap_or(("", "0"));
    let code = output.status.code().map_or(String::from("none"), |code| code.to_string());
    if code != wanted {
        let printed = String::from_utf8_lossy(&output.stdout);
        return Err(format!("{}: exit code {code}, not {wanted}\n{printed}", command.words));
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    let lines = printed.lines().filter(|line| !line.starts_with("# "));
    Ok(lines.map(|line| format!("{}\n", line.trim_end())).collect())
}
