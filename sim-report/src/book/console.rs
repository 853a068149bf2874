//! Blocks of code: commands of a terminal with their output, and files.

use maud::{Markup, html};

/// Returns a block. In a `console` block, lines that begin with `$ ` and their continuations after
/// a backslash are commands.
pub(super) fn block(language: &str, text: &str) -> Markup {
    let text = text.trim_end_matches('\n');
    if language != "console" {
        return html! { pre.code { code { (text) } } };
    }
    let mut continues = false;
    html! {
        pre.console { code {
            @for (at, line) in text.lines().enumerate() {
                @let is_command = continues || line.starts_with("$ ");
                @let () = continues = is_command && line.ends_with('\\');
                @if at > 0 { "\n" }
                @if is_command { (command(line)) } @else { (line) }
            }
        } }
    }
}

fn command(line: &str) -> Markup {
    let (prompt, words) = match line.strip_prefix("$ ") {
        Some(words) => ("$ ", words),
        None => ("", line),
    };
    let (words, note) = words.split_at(words.find(" # ").unwrap_or(words.len()));
    html! {
        @if !prompt.is_empty() { span.prompt { (prompt) } }
        b.command { (words) }
        @if !note.is_empty() { span.quiet { (note) } }
    }
}
