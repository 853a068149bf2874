//! Manual pages and completions: made for every command, and read by the programs that use them.
//!
//! A test without its program passes, unless `N2SIM_TOOLS=required`.

use crate::recording::{N2SIM, in_path, must_not_be_required};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn n2sim(words: &[&str]) -> Output {
    Command::new(N2SIM).args(words).output().expect("n2sim runs")
}

/// The standard output of a command that succeeds.
fn printed(command: &mut Command) -> String {
    let output = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{command:?}: {said}");
    String::from_utf8(output.stdout).expect("text")
}

/// The commands that the help lists.
fn commands() -> Vec<String> {
    let help = printed(Command::new(N2SIM).arg("--help"));
    let lines = help.lines().take_while(|line| *line != "Options:");
    let listed = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    listed.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// A program that formats a page and warns about faults in it.
fn formatter(page: &Path) -> Option<Command> {
    let readers: [(&str, &[&str]); 3] = [
        ("man", &["--warnings", "-l"]),
        ("mandoc", &["-T", "lint", "-W", "error"]),
        ("groff", &["-man", "-ww", "-z"]),
    ];
    let (name, options) = readers.iter().find(|(name, _)| in_path(name).is_some())?;
    let mut command = Command::new(name);
    command.args(*options).arg(page).env("LC_ALL", "C.UTF-8").env("MANWIDTH", "100");
    command.env("MAN_KEEP_FORMATTING", "").env("MANPAGER", "cat");
    Some(command)
}

#[test]
fn every_command_has_a_manual_page_without_faults() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pages = folder.path().join("man1");
    printed(Command::new(N2SIM).args(["man", "--dir"]).arg(&pages));
    let names = commands();
    assert!(names.len() > 20, "{names:?}");
    for name in &names {
        assert!(pages.join(format!("n2sim-{name}.1")).is_file(), "no page of {name}");
    }
    assert!(pages.join("n2sim-trace-import.1").is_file(), "no page below a command");
    let files = pages.read_dir().expect("readable");
    let mut files: Vec<PathBuf> = files.map(|entry| entry.expect("it is there").path()).collect();
    files.sort();
    for file in &files {
        let text = std::fs::read_to_string(file).expect("readable");
        let name = file.file_stem().and_then(|name| name.to_str()).expect("a name");
        assert!(text.contains(&format!(".TH {name} 1")), "{name}: {text}");
        let Some(mut formatter) = formatter(file) else {
            must_not_be_required("man");
            continue;
        };
        printed(&mut formatter);
    }
    let stat = std::fs::read(pages.join("n2sim-stat.1")).expect("readable");
    assert_eq!(n2sim(&["man", "stat"]).stdout, stat);
    let text = String::from_utf8(stat).expect("text");
    assert!(text.contains("mux\\-interval") && text.contains("rotations"), "{text}");
}

#[test]
fn a_page_of_no_command_is_refused_with_their_names() {
    for (words, known) in [(&["man", "nothing"][..], "stat"), (&["man", "trace", "x"], "import")] {
        let output = n2sim(words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("it has: ") && said.contains(known), "{said}");
    }
}

/// The completions of a shell in a file, or nothing without the shell.
fn completions(shell: &str) -> Option<(tempfile::TempDir, PathBuf)> {
    let text = printed(Command::new(N2SIM).args(["completions", shell]));
    for name in commands() {
        assert!(text.contains(&name), "{shell}: {name}");
    }
    if in_path(shell).is_none() {
        must_not_be_required(shell);
        return None;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("completions");
    std::fs::write(&file, text).expect("writes");
    printed(Command::new(shell).arg("-n").arg(&file));
    Some((folder, file))
}

#[test]
fn bash_completes_commands_and_options() {
    let Some((_folder, file)) = completions("bash") else { return };
    let complete = |words: &str| {
        let script = format!(
            "source {}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             COMP_LINE='{words}'; COMP_POINT=${{#COMP_LINE}}; last=${{COMP_WORDS[-1]}}; \
             _n2sim n2sim \"$last\" \"${{COMP_WORDS[-2]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            file.display()
        );
        printed(Command::new("bash").args(["--norc", "-c"]).arg(script))
    };
    assert!(complete("n2sim st").lines().any(|line| line == "stat"));
    assert!(complete("n2sim run --ke").lines().any(|line| line == "--keep"));
    assert!(complete("n2sim stat --core cortex-a5").lines().any(|line| line == "cortex-a53"));
}

#[test]
fn fish_completes_commands() {
    let Some((folder, file)) = completions("fish") else { return };
    let script = format!("source {}; complete -C 'n2sim st'", file.display());
    let mut fish = Command::new("fish");
    let listed = printed(fish.env("HOME", folder.path()).args(["--no-config", "-c"]).arg(script));
    assert!(listed.lines().any(|line| line.starts_with("stat\t")), "{listed}");
}

#[test]
fn zsh_reads_its_completions() {
    let Some((folder, file)) = completions("zsh") else { return };
    // The file of a function that zsh loads by its name.
    std::fs::copy(&file, folder.path().join("_n2sim")).expect("copies");
    let script = format!(
        "fpath=({0} $fpath); autoload -Uz compinit; compinit -u -d {0}/dump; echo ${{_comps[n2sim]}}",
        folder.path().display()
    );
    let mut zsh = Command::new("zsh");
    let function = printed(zsh.env("HOME", folder.path()).args(["-f", "-c"]).arg(script));
    assert_eq!(function.trim(), "_n2sim");
}
