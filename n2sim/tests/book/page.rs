//! A page of the book as the test sees it: its blocks, headings, links and words of code.

use std::path::{Path, PathBuf};

/// A page with its parts.
pub(crate) struct Page {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) blocks: Vec<Block>,
}

/// A fenced block.
pub(crate) struct Block {
    /// Line of the text's first line, from 1.
    pub(crate) line: usize,
    pub(crate) language: String,
    pub(crate) text: String,
    /// The file that was named last above the block.
    pub(crate) named: Option<String>,
}

/// A command of a `console` block with what the book shows of it.
pub(crate) struct Command {
    pub(crate) line: usize,
    pub(crate) words: String,
    pub(crate) output: String,
}

/// A link.
pub(crate) struct Link {
    pub(crate) line: usize,
    pub(crate) target: String,
}

impl Page {
    pub(crate) fn read(path: &Path) -> Page {
        let text = std::fs::read_to_string(path).unwrap();
        let blocks = blocks(&text);
        Page { path: path.to_owned(), text, blocks }
    }

    pub(crate) fn name(&self) -> String {
        self.path.file_name().unwrap().to_string_lossy().into_owned()
    }

    /// The lines outside of blocks, with their numbers.
    fn prose(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut is_block = false;
        (1..).zip(self.text.lines()).filter(move |(_, line)| {
            let is_fence = line.starts_with("```");
            is_block ^= is_fence;
            !is_block && !is_fence
        })
    }

    /// The texts of its headings.
    pub(crate) fn headings(&self) -> impl Iterator<Item = &str> {
        let headings = self.prose().filter(|(_, line)| line.starts_with('#'));
        headings.map(|(_, line)| line.trim_start_matches('#').trim())
    }

    /// The names by which links reach its headings: small letters, digits and dashes.
    pub(crate) fn anchors(&self) -> impl Iterator<Item = String> {
        self.headings().map(|heading| {
            let small = heading.to_lowercase();
            let kept =
                small.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
    }

    /// Links and pictures in its prose.
    pub(crate) fn links(&self) -> impl Iterator<Item = Link> {
        self.prose().flat_map(|(line, text)| {
            let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
            targets.map(move |(target, _)| Link { line, target: target.to_owned() })
        })
    }

    /// Returns the words between backticks in its prose.
    pub(crate) fn code_words(&self) -> impl Iterator<Item = (usize, String)> {
        self.prose().flat_map(|(line, text)| {
            text.split('`').skip(1).step_by(2).map(move |word| (line, word.to_owned()))
        })
    }
}

impl Block {
    /// Returns the commands of a `console` block: lines that begin with `$ `, continued after a
    /// backslash.
    pub(crate) fn commands(&self) -> Vec<Command> {
        let mut commands: Vec<Command> = Vec::new();
        if self.language != "console" {
            return commands;
        }
        let mut continues = false;
        for (line, text) in (self.line..).zip(self.text.lines()) {
            match (text.strip_prefix("$ "), commands.last_mut()) {
                (Some(words), _) => {
                    let (words, output) = (words.to_owned(), String::new());
                    commands.push(Command { line, words, output });
                }
                (None, Some(last)) if continues => last.words += &format!("\n{text}"),
                (None, Some(last)) => last.output += &format!("{}\n", text.trim_end()),
                (None, None) => panic!("line {line}: a console block begins with a command"),
            }
            continues =
                text.ends_with('\\') && commands.last().is_some_and(|c| c.output.is_empty());
        }
        commands
    }
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open: Option<Block> = None;
    let mut named = None;
    for (line, content) in (1..).zip(text.lines()) {
        match (&mut open, content.strip_prefix("```")) {
            (None, Some(language)) => {
                let (language, text) = (language.to_owned(), String::new());
                open = Some(Block { line: line + 1, language, text, named: named.clone() });
            }
            (Some(block), None) => block.text += &format!("{content}\n"),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, None) => named = last_file(content).or(named),
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

/// The last file of the book between backticks.
fn last_file(line: &str) -> Option<String> {
    let words = line.split('`').skip(1).step_by(2);
    let files = words.filter(|word| word.starts_with("docs/book/") && word.ends_with(".toml"));
    files.last().map(str::to_owned)
}
