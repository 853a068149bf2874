//! Tokens of a formula, as perf's scanner splits them.
//!
//! A name may contain `.`, `:`, `@` and escaped `-`, `,`, `=`. The longest match wins, so
//! `0x410fd493` is a name and `1e-3` a number. `@` replaces the slash of `pmu/event/`.

use super::error::{Fault, FormulaError};
use super::machine::Literal;
use super::node::{BinaryOp, Span};

/// Largest length of a formula in bytes.
const TEXT_MAX: usize = 1 << 16;

/// Token of a formula.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number(f64),
    /// Name without escapes, with slashes.
    Name(String),
    Literal(Literal),
    Keyword(Keyword),
    Operator(BinaryOp),
    /// `<<`, in formulas of Arm's mesh only.
    Shift,
    Open,
    Close,
    Comma,
}

/// Reserved word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    If,
    Else,
    Min,
    Max,
    Ratio,
    SourceCount,
    AggregateCount,
    HasEvent,
    CoreFrom,
}

const KEYWORDS: [(&str, Keyword); 9] = [
    ("if", Keyword::If),
    ("else", Keyword::Else),
    ("min", Keyword::Min),
    ("max", Keyword::Max),
    ("d_ratio", Keyword::Ratio),
    ("source_count", Keyword::SourceCount),
    ("aggr_nr", Keyword::AggregateCount),
    ("has_event", Keyword::HasEvent),
    ("strcmp_cpuid_str", Keyword::CoreFrom),
];

impl Keyword {
    /// Returns the text of the keyword.
    pub(super) fn text(self) -> &'static str {
        KEYWORDS.iter().find(|(_, own)| *own == self).map_or("", |(text, _)| text)
    }
}

/// Token with its position.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Word {
    pub(super) token: Token,
    pub(super) span: Span,
}

/// Splits a formula into tokens. perf has no shifts: `has_shifts` is for formulas of Arm's mesh.
pub(super) fn words(text: &str, has_shifts: bool) -> Result<Vec<Word>, FormulaError> {
    if text.len() > TEXT_MAX {
        return Err(FormulaError::new(text, Span::default(), Fault::TooLong(TEXT_MAX)));
    }
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let rest = &text[at..];
        let (token, length) = match has_shifts && rest.starts_with("<<") {
            true => (Token::Shift, 2),
            false => word(rest, first)
                .map_err(|(fault, length)| FormulaError::new(text, span(at, length), fault))?,
        };
        words.push(Word { token, span: span(at, length) });
        at += length;
    }
    Ok(words)
}

fn span(at: usize, length: usize) -> Span {
    // The text is not longer than TEXT_MAX.
    Span { start: at as u32, end: (at + length) as u32 }
}

/// Returns the first token of `rest` and its length.
fn word(rest: &str, first: char) -> Result<(Token, usize), (Fault, usize)> {
    let operator = |op| Ok((Token::Operator(op), 1));
    match first {
        '(' => Ok((Token::Open, 1)),
        ')' => Ok((Token::Close, 1)),
        ',' => Ok((Token::Comma, 1)),
        '|' => operator(BinaryOp::Or),
        '^' => operator(BinaryOp::Xor),
        '&' => operator(BinaryOp::And),
        '<' => operator(BinaryOp::Less),
        '>' => operator(BinaryOp::Greater),
        '+' => operator(BinaryOp::Add),
        '-' => operator(BinaryOp::Subtract),
        '*' => operator(BinaryOp::Multiply),
        '/' => operator(BinaryOp::Divide),
        '%' => operator(BinaryOp::Remainder),
        '#' => literal(rest),
        _ => name_or_number(rest, first),
    }
}

/// Parses `#name`. As in perf, a `-` belongs to the name.
fn literal(rest: &str) -> Result<(Token, usize), (Fault, usize)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let length = 1 + rest[1..].find(|c| !is_part(c)).unwrap_or(rest.len() - 1);
    match Literal::from_name(&rest[1..length]) {
        Some(literal) => Ok((Token::Literal(literal), length)),
        None => Err((Fault::UnknownLiteral(rest[..length].to_owned()), length)),
    }
}

fn name_or_number(rest: &str, first: char) -> Result<(Token, usize), (Fault, usize)> {
    let (name, number) = (name_length(rest), number_length(rest));
    if number > 0 && number >= name {
        let value: Result<f64, _> = rest[..number].parse();
        return match value {
            Ok(value) if value.is_finite() => Ok((Token::Number(value), number)),
            _ => Err((Fault::NumberTooLarge(rest[..number].to_owned()), number)),
        };
    }
    let text = &rest[..name];
    if name == 0 {
        return Err((Fault::Character(first), first.len_utf8()));
    }
    if text == "NaN" {
        return Ok((Token::Number(f64::NAN), name));
    }
    let keyword = KEYWORDS.iter().find(|(own, _)| *own == text);
    let token = keyword.map_or_else(|| Token::Name(plain(text)), |(_, key)| Token::Keyword(*key));
    Ok((token, name))
}

/// Returns the length in bytes of the leading name: letters, digits, `_.:@?`, and `-`, `,`, `=`
/// after a backslash.
fn name_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += match byte {
            b'\\' if bytes.get(at + 1).is_some_and(|next| b"-,=".contains(next)) => 2,
            b'_' | b'.' | b':' | b'@' | b'?' => 1,
            byte if byte.is_ascii_alphanumeric() => 1,
            _ => break,
        };
    }
    at
}

/// Returns the length in bytes of the leading number: digits, one point, and an optionally negative
/// exponent.
fn number_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let whole = digits(0);
    let has_point = bytes.get(whole) == Some(&b'.');
    let fraction = if has_point { digits(whole + 1) } else { 0 };
    if whole + fraction == 0 {
        return 0;
    }
    let mantissa = whole + usize::from(has_point) + fraction;
    if bytes.get(mantissa) != Some(&b'e') {
        return mantissa;
    }
    let sign = usize::from(bytes.get(mantissa + 1) == Some(&b'-'));
    match digits((mantissa + 1 + sign).min(bytes.len())) {
        0 => mantissa,
        exponent => mantissa + 1 + sign + exponent,
    }
}

/// Returns the name that perf looks up: escapes removed, `@` replaced by a slash, `?` by the number
/// of the first unit.
fn plain(name: &str) -> String {
    name.chars()
        .filter(|c| *c != '\\')
        .map(|c| match c {
            '@' => '/',
            '?' => '0',
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token> {
        words(text, false).expect("good words").into_iter().map(|word| word.token).collect()
    }

    fn name(text: &str) -> Token {
        Token::Name(text.to_owned())
    }

    #[test]
    fn the_longest_match_wins() {
        assert_eq!(tokens("0x410fd493"), [name("0x410fd493")]);
        assert_eq!(tokens("100"), [Token::Number(100.0)]);
        assert_eq!(tokens("1e-3"), [Token::Number(0.001)]);
        assert_eq!(tokens("1e3"), [Token::Number(1000.0)]);
        assert_eq!(tokens(".5 5."), [Token::Number(0.5), Token::Number(5.0)]);
        assert_eq!(tokens("2.5.3"), [name("2.5.3")]);
        assert_eq!(tokens("1e-x").len(), 3, "1e is a name");
        assert_eq!(tokens("minimum if"), [name("minimum"), Token::Keyword(Keyword::If)]);
        assert!(matches!(tokens("NaN")[..], [Token::Number(n)] if n.is_nan()));
    }

    #[test]
    fn escapes_and_slashes_are_undone() {
        assert_eq!(
            tokens(r"armv8_pmuv3_0@event\=0x11\,long\=1@u"),
            [name("armv8_pmuv3_0/event=0x11,long=1/u")]
        );
        assert_eq!(tokens(r"topdown\-retiring"), [name("topdown-retiring")]);
        assert_eq!(tokens("a-b").len(), 3);
        assert_eq!(tokens("cha_?@x@"), [name("cha_0/x/")]);
    }

    #[test]
    fn invalid_characters_are_reported_with_their_column() {
        let error_of = |text: &str| words(text, false).expect_err("a bad word").to_string();
        assert!(
            error_of("INST_RETIRED $ 2").starts_with("column 14: "),
            "{}",
            error_of("INST_RETIRED $ 2")
        );
        assert!(error_of("é").contains('é'));
        assert!(error_of("#slots-1").contains("#slots-1"));
        assert!(error_of("1e999").contains("1e999"));
        assert!(error_of(&"1".repeat(TEXT_MAX + 1)).contains("65536"));
        assert!(error_of(r"a \").contains('\\'));
    }
}
