//! The help of `n2sim` itself: its commands in groups, generated from their definitions.

use clap::Command;

/// The groups of commands in the order of the help.
pub(crate) const GROUPS: [(&str, &[&str]); 7] = [
    ("Look at a run", &["report", "pipeline", "flow", "functions"]),
    (
        "Count events",
        &["run", "stat", "estimate", "plan", "sweep", "perf-stat", "program-pmu", "event-bus"],
    ),
    ("Sample", &["record", "spe"]),
    (
        "Judge",
        &[
            "check",
            "space",
            "diff",
            "validate",
            "lint",
            "litmus",
            "calibrate",
            "counterfactual",
            "scaling",
            "membench",
        ],
    ),
    ("Record and change traces", &["capture", "doctor", "trace"]),
    ("Teach", &["explain", "list", "book", "course", "playground"]),
    ("Set up a shell or a tool", &["completions", "man", "mcp"]),
];

/// Columns of a command's name.
const NAME_WIDTH: usize = 16;

/// Returns the command with a help that lists its subcommands in groups.
pub(crate) fn grouped(command: Command) -> Command {
    let mut text = String::new();
    for (title, names) in GROUPS {
        text.push_str(title);
        text.push_str(":\n");
        let listed = names.iter().filter_map(|name| command.find_subcommand(name));
        for subcommand in listed {
            text.push_str(&line(subcommand));
        }
        text.push('\n');
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{text}Options:\n{{options}}{{after-help}}"
    ))
}

/// Returns the line of one command.
fn line(command: &Command) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    format!("  {:<NAME_WIDTH$}{about}\n", command.get_name())
}
