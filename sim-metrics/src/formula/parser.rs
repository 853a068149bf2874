//! Parser for perf's grammar of metric expressions: precedence climbing over the lexer's tokens.
//!
//! Operators from loosest to tightest: `a if c else b`, `|`, `^`, `&`, `< >`, `+ -`, `* / %`, a
//! leading `-`. All are left associative. A choice is allowed at the top, in parentheses, or after
//! `else`.

use super::error::{Fault, FormulaError};
use super::lexer::{Keyword, Token, Word, words};
use super::node::{BinaryOp, Node, NodeId, Op, Span};

/// Largest nesting depth of parentheses, signs and choices, which no formula in practice exceeds.
const DEPTH_MAX: usize = 200;
/// Description of an operand for messages.
const OPERAND: &str = "a number, an event, a function or a parenthesis";

/// Parsed formula whose names are not looked up yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    text: String,
    nodes: Vec<Node>,
    names: Vec<String>,
}

impl Formula {
    /// Parses a formula in perf's syntax.
    ///
    /// # Errors
    /// The text is not a formula; the error gives the column.
    pub fn parse(text: &str) -> Result<Formula, FormulaError> {
        Formula::parse_words(text, words(text, false)?)
    }

    /// Parses a formula of Arm's mesh file, which is perf's syntax with `a << n`: `a` times 2 to
    /// the power of a number. As in Python, it binds looser than a sum.
    ///
    /// # Errors
    /// The text is not a formula; the error gives the column.
    pub fn parse_with_shifts(text: &str) -> Result<Formula, FormulaError> {
        Formula::parse_words(text, words(text, true)?)
    }

    fn parse_words(text: &str, words: Vec<Word>) -> Result<Formula, FormulaError> {
        let mut parser =
            Parser { text, words, at: 0, depth: 0, nodes: Vec::new(), names: Vec::new() };
        parser.choice()?;
        if let Some(word) = parser.words.get(parser.at) {
            return Err(parser.unexpected(word.clone(), "an operator or the end"));
        }
        Ok(Formula { text: text.to_owned(), nodes: parser.nodes, names: parser.names })
    }

    /// Returns the original text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the operations, operands first. The last one is the whole formula.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the names of events and metrics, each once, in perf's spelling.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Replaces names by others of the same events, such as those with the PMU that counts them.
    /// The text stays.
    #[must_use]
    pub fn renamed(mut self, name: impl Fn(&str) -> Option<String>) -> Formula {
        for own in &mut self.names {
            if let Some(other) = name(own) {
                *own = other;
            }
        }
        self
    }
}

struct Parser<'a> {
    text: &'a str,
    words: Vec<Word>,
    at: usize,
    depth: usize,
    nodes: Vec<Node>,
    names: Vec<String>,
}

type Parsed<T> = Result<T, FormulaError>;

impl Parser<'_> {
    /// Parses `value if condition else otherwise`, or a plain expression.
    fn choice(&mut self) -> Parsed<NodeId> {
        self.nested(|parser| {
            let value = parser.shifted()?;
            if !parser.take(&Token::Keyword(Keyword::If)) {
                return Ok(value);
            }
            let condition = parser.expression(0)?;
            parser.expect(&Token::Keyword(Keyword::Else), "'else'")?;
            let otherwise = parser.choice()?;
            let span = parser.span(value).to(parser.span(otherwise));
            Ok(parser.push(Op::Choose { value, condition, otherwise }, span))
        })
    }

    /// Parses an expression, or one that is shifted by a number.
    fn shifted(&mut self) -> Parsed<NodeId> {
        const BITS: &str = "a number of bits below 64";
        let mut left = self.expression(0)?;
        while self.take(&Token::Shift) {
            let word = self.next(BITS)?;
            let bits = match word.token {
                Token::Number(bits) if bits.fract() == 0.0 && bits < 64.0 => bits,
                _ => return Err(self.unexpected(word, BITS)),
            };
            let right = self.push(Op::Number(bits.exp2()), word.span);
            let span = self.span(left).to(word.span);
            left = self.push(Op::Binary(BinaryOp::Multiply, left, right), span);
        }
        Ok(left)
    }

    /// Parses an expression whose operators bind at least as tightly as `tightness`.
    fn expression(&mut self, tightness: u8) -> Parsed<NodeId> {
        let mut left = self.operand()?;
        while let Some(&Word { token: Token::Operator(op), .. }) = self.words.get(self.at) {
            let own = binding(op);
            if own < tightness {
                break;
            }
            self.at += 1;
            let right = self.expression(own + 1)?;
            let span = self.span(left).to(self.span(right));
            left = self.push(Op::Binary(op, left, right), span);
        }
        Ok(left)
    }

    fn operand(&mut self) -> Parsed<NodeId> {
        let word = self.next(OPERAND)?;
        let op = match word.token {
            Token::Number(value) => Op::Number(value),
            Token::Literal(literal) => Op::Literal(literal),
            Token::Name(ref name) => Op::Name(self.name(name)),
            Token::Open => return self.parenthesis(word.span),
            Token::Operator(BinaryOp::Subtract) => return self.negation(word.span),
            Token::Keyword(Keyword::Min) => return self.function(BinaryOp::Min, word.span),
            Token::Keyword(Keyword::Max) => return self.function(BinaryOp::Max, word.span),
            Token::Keyword(Keyword::Ratio) => return self.function(BinaryOp::Ratio, word.span),
            Token::Keyword(keyword @ (Keyword::If | Keyword::Else)) => {
                let found = keyword.text().to_owned();
                return Err(self.error(word.span, Fault::Unexpected { found, expected: OPERAND }));
            }
            Token::Keyword(keyword) => return self.question(keyword, word.span),
            Token::Operator(_) | Token::Shift | Token::Close | Token::Comma => {
                return Err(self.unexpected(word, OPERAND));
            }
        };
        Ok(self.push(op, word.span))
    }

    fn parenthesis(&mut self, open: Span) -> Parsed<NodeId> {
        let inner = self.choice()?;
        let close = self.expect(&Token::Close, "')'")?;
        // The position of an expression in parentheses includes the parentheses.
        self.nodes[inner.index()].span = open.to(close);
        Ok(inner)
    }

    fn negation(&mut self, sign: Span) -> Parsed<NodeId> {
        self.nested(|parser| {
            let operand = parser.operand()?;
            let span = sign.to(parser.span(operand));
            Ok(parser.push(Op::Negate(operand), span))
        })
    }

    /// Parses `min(a, b)` and similar functions. As in perf, a choice as argument needs
    /// parentheses.
    fn function(&mut self, op: BinaryOp, start: Span) -> Parsed<NodeId> {
        self.nested(|parser| {
            parser.expect(&Token::Open, "'('")?;
            let first = parser.expression(0)?;
            parser.expect(&Token::Comma, "','")?;
            let second = parser.expression(0)?;
            let close = parser.expect(&Token::Close, "')'")?;
            Ok(parser.push(Op::Binary(op, first, second), start.to(close)))
        })
    }

    /// Parses a function of a name, such as `has_event(NAME)` or `strcmp_cpuid_str(MIDR)`.
    fn question(&mut self, keyword: Keyword, start: Span) -> Parsed<NodeId> {
        const NAME: &str = "a name";
        self.expect(&Token::Open, "'('")?;
        let word = self.next(NAME)?;
        let Token::Name(name) = word.token else {
            return Err(self.unexpected(word, NAME));
        };
        let op = match keyword {
            Keyword::CoreFrom => Op::CoreFrom(midr(&name).ok_or_else(|| {
                FormulaError::new(self.text, word.span, Fault::Midr(name.clone()))
            })?),
            Keyword::HasEvent => Op::HasEvent(self.name(&name)),
            Keyword::SourceCount => Op::SourceCount(self.name(&name)),
            _ => Op::AggregateCount(self.name(&name)),
        };
        let close = self.expect(&Token::Close, "')'")?;
        Ok(self.push(op, start.to(close)))
    }

    /// Runs `parse` one level deeper.
    fn nested(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<NodeId>) -> Parsed<NodeId> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let span = self.words.get(self.at).map_or(self.end(), |word| word.span);
            return Err(self.error(span, Fault::TooDeep(DEPTH_MAX)));
        }
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn next(&mut self, expected: &'static str) -> Parsed<Word> {
        let Some(word) = self.words.get(self.at) else {
            return Err(self.error(self.end(), Fault::Ends(expected)));
        };
        self.at += 1;
        Ok(word.clone())
    }

    fn take(&mut self, token: &Token) -> bool {
        let is_next = self.words.get(self.at).is_some_and(|word| word.token == *token);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, token: &Token, expected: &'static str) -> Parsed<Span> {
        let word = self.next(expected)?;
        if word.token == *token { Ok(word.span) } else { Err(self.unexpected(word, expected)) }
    }

    fn unexpected(&self, word: Word, expected: &'static str) -> FormulaError {
        let found = word.span.of(self.text).to_owned();
        self.error(word.span, Fault::Unexpected { found, expected })
    }

    fn error(&self, span: Span, fault: Fault) -> FormulaError {
        FormulaError::new(self.text, span, fault)
    }

    /// Returns the position after the last character.
    fn end(&self) -> Span {
        let end = self.text.len() as u32;
        Span { start: end, end }
    }

    fn span(&self, node: NodeId) -> Span {
        self.nodes[node.index()].span
    }

    fn push(&mut self, op: Op, span: Span) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node { op, span, text: 0 });
        id
    }

    /// Returns the number of a name, which is stored once.
    fn name(&mut self, name: &str) -> u32 {
        let known = self.names.iter().position(|own| own == name);
        let position = known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        position as u32
    }
}

/// Returns the binding strength of an operator.
fn binding(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Or => 0,
        BinaryOp::Xor => 1,
        BinaryOp::And => 2,
        BinaryOp::Less | BinaryOp::Greater => 3,
        BinaryOp::Add | BinaryOp::Subtract => 4,
        // Functions are not infix operators.
        _ => 5,
    }
}

/// Parses a MIDR as perf does: hexadecimal, with or without `0x`.
fn midr(text: &str) -> Option<u64> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    u64::from_str_radix(hex, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the formula with every operation in parentheses.
    fn shape(text: &str) -> String {
        let formula = Formula::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut shapes: Vec<String> = Vec::new();
        for node in formula.nodes() {
            let of = |id: NodeId| shapes[id.index()].clone();
            shapes.push(match node.op {
                Op::Number(value) => value.to_string(),
                Op::Name(name) => formula.names()[name as usize].clone(),
                Op::Negate(a) => format!("(-{})", of(a)),
                Op::Binary(op, a, b) => format!("({} {} {})", of(a), op.symbol(), of(b)),
                Op::Choose { value, condition, otherwise } => {
                    format!("({} ? {} : {})", of(condition), of(value), of(otherwise))
                }
                other => format!("{other:?}"),
            });
        }
        shapes.pop().expect("a formula has a node")
    }

    #[test]
    fn operators_bind_as_in_perf() {
        assert_eq!(shape("a | b ^ c & d < e + f * g"), "(a | (b ^ (c & (d < (e + (f * g))))))");
        assert_eq!(shape("a - b - c"), "((a - b) - c)");
        assert_eq!(shape("a / b * c % d"), "(((a / b) * c) % d)");
        assert_eq!(shape("-a * b"), "((-a) * b)");
        assert_eq!(shape("- -a - -b"), "((-(-a)) - (-b))");
        assert_eq!(shape("a if b | c else d if e else f"), "((b | c) ? a : (e ? d : f))");
        assert_eq!(shape("1 + (a if b else c)"), "(1 + (b ? a : c))");
        assert_eq!(
            shape("min(a, max(b, c)) / d_ratio(a, b)"),
            "((a min (b max c)) / (a d_ratio b))"
        );
    }

    fn error_of(text: &str) -> String {
        Formula::parse(text).expect_err("not a formula").to_string()
    }

    #[test]
    fn errors_are_reported_with_their_column() {
        assert_eq!(
            error_of("a +"),
            format!("column 4: the formula ends where {OPERAND} is expected")
        );
        assert_eq!(error_of("a b"), "column 3: 'b' where an operator or the end is expected");
        assert_eq!(error_of("(a"), "column 3: the formula ends where ')' is expected");
        assert_eq!(error_of("a if b"), "column 7: the formula ends where 'else' is expected");
        assert_eq!(error_of("min(a)"), "column 6: ')' where ',' is expected");
        assert_eq!(error_of("a == b").split(':').next(), Some("column 3"));
        assert_eq!(error_of("+a"), format!("column 1: '+' where {OPERAND} is expected"));
        assert_eq!(
            error_of("strcmp_cpuid_str(N2)"),
            "column 18: 'N2' is not a MIDR_EL1; write it as strcmp_cpuid_str(0x410fd493)"
        );
        assert_eq!(error_of(""), format!("column 1: the formula ends where {OPERAND} is expected"));
        assert_eq!(error_of("min(a if b else c, d)"), "column 7: 'if' where ',' is expected");
    }

    #[test]
    fn deep_nesting_does_not_overflow() {
        for text in [
            "(".repeat(60_000),
            "-".repeat(60_000),
            "min(".repeat(15_000),
            "a if a else ".repeat(5_000),
        ] {
            assert!(error_of(&text).contains("nested"), "{}", &text[..4]);
        }
        let long = "a+".repeat(30_000) + "a";
        assert_eq!(Formula::parse(&long).expect("a long sum").nodes().len(), 60_001);
    }

    #[test]
    fn the_position_of_an_operation_covers_its_text() {
        let text = "100 * (A - B) / C";
        let formula = Formula::parse(text).expect("good");
        let spans: Vec<&str> = formula.nodes().iter().map(|node| node.span.of(text)).collect();
        assert_eq!(spans, ["100", "A", "B", "(A - B)", "100 * (A - B)", "C", text]);
    }
}
