//! Words, numbers and punctuation of one line.

use super::number::number;
use crate::error::Fault;

/// One token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name, a directive with its dot, or a register.
    Word(String),
    /// An integer without its sign.
    Integer(i128),
    /// A number with a point or an exponent.
    Float(f64),
    /// Any other character.
    Sign(char),
}

/// A token and its first column, from 1.
pub(super) type PlacedToken = (Token, u32);

/// Splits a line into tokens. Comments and the `#` of immediates are left out.
pub(super) fn tokens(text: &str) -> Result<Vec<PlacedToken>, Fault> {
    let letters: Vec<char> = text.chars().collect();
    let mut found: Vec<PlacedToken> = Vec::new();
    let mut at = 0;
    let mut hash = None;
    while let Some(letter) = letters.get(at).copied() {
        let column = u32::try_from(at + 1).unwrap_or(u32::MAX);
        let is_comment = letter == ';'
            || (letter == '/' && letters.get(at + 1) == Some(&'/'))
            || (letter == '#' && found.is_empty());
        if is_comment {
            break;
        }
        // A number begins at its `#`.
        let start = hash.unwrap_or(column);
        if letter.is_whitespace() || letter == '#' {
            hash = (letter == '#').then_some(start);
            at += 1;
            continue;
        }
        hash = None;
        if is_word(letter) {
            let length = word_length(&letters[at..]);
            let word: String = letters[at..at + length].iter().collect();
            found.push((word_or_number(word, start)?, start));
            at += length;
        } else {
            found.push((Token::Sign(letter), start));
            at += 1;
        }
    }
    Ok(found)
}

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == '.' || letter == '$'
}

/// Letters of a word; `1.5e-3` is one word.
fn word_length(letters: &[char]) -> usize {
    let is_decimal = letters[0].is_ascii_digit() && letters.get(1) != Some(&'x');
    let mut length = 0;
    for (at, letter) in letters.iter().enumerate() {
        let is_exponent = is_decimal
            && at > 0
            && matches!(letter, '-' | '+')
            && matches!(letters[at - 1], 'e' | 'E')
            && letters.get(at + 1).is_some_and(char::is_ascii_digit);
        if !is_word(*letter) && !is_exponent {
            break;
        }
        length += 1;
    }
    length
}

fn word_or_number(word: String, column: u32) -> Result<Token, Fault> {
    if !word.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(Token::Word(word));
    }
    if let Some(value) = number(&word) {
        return Ok(Token::Integer(value));
    }
    let is_float = word.contains(['.', 'e', 'E']) && !word.starts_with("0x");
    match word.parse::<f64>() {
        Ok(value) if is_float => Ok(Token::Float(value)),
        _ => Err(Fault::new(
            column,
            format!("{word} is not a number of at most 64 bits (42, 0x2a, 0b101010 or 1.5)"),
        )),
    }
}
