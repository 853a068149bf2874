//! Conditions that the model must confirm: comparisons of expressions, joined by `and`.

use sim_scenario::Place;

use crate::expression::{Expression, ExpressionFault, Reference, Scope, Values};
use crate::text;

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
    /// Place of the text in the file.
    pub(crate) place: Place,
    parts: Vec<Comparison>,
}

#[derive(Clone, Debug)]
struct Comparison {
    text: String,
    left: Expression,
    sign: Sign,
    right: Expression,
}

impl Condition {
    /// Reads a condition at a place.
    pub(crate) fn parse(
        text: &str,
        place: Place,
        scope: Scope<'_>,
    ) -> Result<Condition, ExpressionFault> {
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
            let (left, right) = (side(0, &part[..start])?, side(after, &part[after..])?);
            let text = part.split_whitespace().collect::<Vec<_>>().join(" ");
            parts.push(Comparison { text, left, sign: is, right });
            at += part.len() + " and ".len();
        }
        Ok(Condition { text: text.trim().to_owned(), place, parts })
    }

    /// Returns the first comparison that is false, with the values in it: `L1D_CACHE > 9 is false
    /// (L1D_CACHE = 2)`. Returns `None` if all hold.
    pub(crate) fn failure(&self, values: &dyn Values) -> Result<Option<String>, String> {
        for part in &self.parts {
            if part.holds(values)? {
                continue;
            }
            let mut named = part.left.named(values)?;
            named.extend(part.right.named(values)?);
            let mut shown: Vec<String> = Vec::new();
            for (name, value) in named {
                let one = format!("{name} = {}", text::shown(value));
                if !shown.contains(&one) {
                    shown.push(one);
                }
            }
            return Ok(Some(format!("{} is false ({})", part.text, shown.join(", "))));
        }
        Ok(None)
    }

    /// Returns the values that the condition reads.
    pub(crate) fn references(&self) -> impl Iterator<Item = &Reference> {
        self.parts.iter().flat_map(|part| part.left.references().chain(part.right.references()))
    }
}

impl Comparison {
    fn holds(&self, values: &dyn Values) -> Result<bool, String> {
        let (left, right) = (self.left.evaluate(values)?, self.right.evaluate(values)?);
        Ok(match self.sign {
            Sign::Equal => left == right,
            Sign::Unequal => left != right,
            Sign::AtMost => left <= right,
            Sign::AtLeast => left >= right,
            Sign::Less => left < right,
            Sign::Greater => left > right,
        })
    }
}

fn first_sign(text: &str) -> Option<(usize, &'static str, Sign)> {
    text.char_indices().find_map(|(at, _)| {
        let sign = SIGNS.iter().find(|(sign, _)| text[at..].starts_with(sign));
        sign.map(|(sign, is)| (at, *sign, *is))
    })
}
