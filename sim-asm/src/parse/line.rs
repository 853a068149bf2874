//! One line: labels and a statement.

use super::operand::{Placed, Tokens, operands};
use super::token::{Token, tokens};
use crate::error::Fault;

/// A directive or an instruction with its operands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Statement {
    /// The mnemonic or the directive with its dot, in lower case.
    pub(crate) name: String,
    /// Column of the name.
    pub(crate) column: u32,
    pub(crate) operands: Vec<Placed>,
    /// Column after the last token.
    pub(crate) end: u32,
}

/// The content of a line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    /// Labels with their columns.
    pub(crate) labels: Vec<(String, u32)>,
    pub(crate) statement: Option<Statement>,
}

/// Directives whose operands mean nothing here: compilers write them.
fn is_ignored(name: &str) -> bool {
    const NAMES: [&str; 9] =
        [".global", ".globl", ".type", ".size", ".arch", ".cpu", ".file", ".ident", ".loc"];
    NAMES.contains(&name) || name.starts_with(".cfi_")
}

/// Parses one line.
pub(crate) fn line(text: &str) -> Result<Line, Fault> {
    if text.split_whitespace().next().is_some_and(is_ignored) {
        return Ok(Line { labels: Vec::new(), statement: None });
    }
    let all = tokens(text)?;
    let end = u32::try_from(text.trim_end().chars().count() + 1).unwrap_or(u32::MAX);
    let mut tokens = Tokens { all: &all, next: 0, end };
    let mut labels = Vec::new();
    loop {
        let column = tokens.column();
        let Some(token) = tokens.peek() else { return Ok(Line { labels, statement: None }) };
        let Token::Word(word) = token else {
            let text = "a line begins with a label, a directive or an instruction";
            return Err(Fault::new(column, text));
        };
        let word = word.clone();
        tokens.next += 1;
        if tokens.takes(':') {
            labels.push((word, column));
            continue;
        }
        let name = word.to_ascii_lowercase();
        let operands = operands(&mut tokens)?;
        return Ok(Line { labels, statement: Some(Statement { name, column, operands, end }) });
    }
}
