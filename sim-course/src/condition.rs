//! Conditions that the model must confirm: comparisons of expressions, joined by `and`.

use crate::expression::{Expression, ExpressionFault, Reference, Scope, Values};

/// Signs, the longer ones first.
const SIGNS: [(&str, Sign); 6] = [
    ("==", Sign::Equal),
    ("!=", Sign::Unequal),
    ("<=", Sign::AtMost),
    (">=", Sign::AtLeast),
    ("<", Sign::Less),
    (">", Sign::Greater),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Equal,
    Unequal,
    AtMost,
    AtLeast,
    Less,
    Greater,
}

/// Comparisons that hold together.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    /// Text as written.
    pub(crate) text: String,
    parts: Vec<(Expression, Sign, Expression)>,
}

impl Condition {
    /// Reads a condition.
    pub(crate) fn parse(text: &str, scope: Scope<'_>) -> Result<Condition, ExpressionFault> {
        let mut parts = Vec::new();
        let mut at = 0;
        for part in text.split(" and ") {
            let side = |from: usize, side: &str| {
                Expression::parse(side, scope).map_err(|(offset, text)| (at + from + offset, text))
            };
            let Some((start, sign, is)) = first_sign(part) else {
                let text = "a condition compares: write L1D_CACHE > 0, with ==, !=, <, >, <= or >=";
                return Err((at, String::from(text)));
            };
            let after = start + sign.len();
            parts.push((side(0, &part[..start])?, is, side(after, &part[after..])?));
            at += part.len() + " and ".len();
        }
        Ok(Condition { text: text.trim().to_owned(), parts })
    }

    /// Returns whether all comparisons hold.
    pub(crate) fn holds(&self, values: &dyn Values) -> Result<bool, String> {
        for (left, sign, right) in &self.parts {
            let (left, right) = (left.evaluate(values)?, right.evaluate(values)?);
            let holds = match sign {
                Sign::Equal => left == right,
                Sign::Unequal => left != right,
                Sign::AtMost => left <= right,
                Sign::AtLeast => left >= right,
                Sign::Less => left < right,
                Sign::Greater => left > right,
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the values that the condition reads.
    pub(crate) fn references(&self) -> impl Iterator<Item = &Reference> {
        self.parts.iter().flat_map(|(left, _, right)| left.references().chain(right.references()))
    }
}

fn first_sign(text: &str) -> Option<(usize, &'static str, Sign)> {
    text.char_indices().find_map(|(at, _)| {
        let sign = SIGNS.iter().find(|(sign, _)| text[at..].starts_with(sign));
        sign.map(|(sign, is)| (at, *sign, *is))
    })
}
