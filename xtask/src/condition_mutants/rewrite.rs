//! Finds the conditions of a source file and wraps each so that it can be switched at run time.

use proc_macro2::LineColumn;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, ExprBinary, ExprIf, ItemFn, ItemMod};

/// Faults that a condition can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It can be always true, or always false.
    Truth,
    /// An ordered comparison: its boundary can also be included or excluded.
    Order,
}

/// A condition of a source file.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// Line, from 1.
    pub(crate) line: usize,
    /// Its text.
    pub(crate) text: String,
    /// Its possible faults.
    pub(crate) kind: Kind,
}

/// A file with its conditions wrapped.
pub(crate) struct Rewritten {
    /// The new text.
    pub(crate) text: String,
    /// Its conditions, in the order of their numbers.
    pub(crate) sites: Vec<Site>,
}

/// Wraps every condition of `text`, numbered from `first`. Returns the new text and the conditions.
///
/// # Errors
/// The text is not valid Rust.
pub(crate) fn rewrite(text: &str, first: usize) -> syn::Result<Rewritten> {
    let file = syn::parse_file(text)?;
    let mut finder = Finder { lines: Lines::of(text), text, first, sites: vec![], edits: vec![] };
    finder.visit_file(&file);
    let Finder { sites, mut edits, .. } = finder;
    edits.sort_by_key(|edit| (edit.from, edit.order));
    let (mut out, mut at) = (String::new(), 0);
    for edit in edits {
        out.push_str(&text[at..edit.from]);
        out.push_str(&edit.insert);
        at = edit.until;
    }
    out.push_str(&text[at..]);
    Ok(Rewritten { text: out, sites })
}

struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Lines {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Lines(std::iter::once(0).chain(ends).collect())
    }

    /// Returns the byte offset of a position; columns count characters.
    fn byte(&self, text: &str, place: LineColumn) -> usize {
        let start = self.0[place.line - 1];
        let in_line = text[start..].char_indices().nth(place.column).map_or(0, |(at, _)| at);
        start + in_line
    }
}

struct Edit {
    from: usize,
    until: usize,
    insert: String,
    /// Order at one position: ends before starts, inner ends before outer ones, outer starts before
    /// inner ones.
    order: (u8, i64),
}

struct Finder<'a> {
    text: &'a str,
    lines: Lines,
    first: usize,
    sites: Vec<Site>,
    edits: Vec<Edit>,
}

impl Finder<'_> {
    fn range(&self, node: &impl Spanned) -> (usize, usize) {
        let span = node.span();
        (self.lines.byte(self.text, span.start()), self.lines.byte(self.text, span.end()))
    }

    fn insert(&mut self, at: usize, text: String, starts: bool) {
        let number = self.edits.len() as i64;
        let order = if starts { (1, number) } else { (0, -number) };
        self.edits.push(Edit { from: at, until: at, insert: text, order });
    }

    /// Wraps the parts of a condition that are joined by `&&` and `||`.
    fn leaves(&mut self, expr: &Expr) {
        match expr {
            Expr::Binary(ExprBinary { left, right, op: BinOp::And(_) | BinOp::Or(_), .. }) => {
                self.leaves(left);
                self.leaves(right);
            }
            Expr::Paren(inner) => self.leaves(&inner.expr),
            Expr::Let(binding) => self.visit_expr(&binding.expr),
            _ => self.condition(expr),
        }
    }

    fn condition(&mut self, expr: &Expr) {
        let (from, until) = self.range(expr);
        let number = self.first + self.sites.len();
        let site = Site {
            line: expr.span().start().line,
            text: self.text[from..until].split_whitespace().collect::<Vec<_>>().join(" "),
            kind: Kind::Truth,
        };
        match expr {
            Expr::Binary(binary) if is_order(&binary.op) => {
                self.sites.push(Site { kind: Kind::Order, ..site });
                let name = function_of(&binary.op);
                self.insert(from, format!("::sim_core::mutant::{name}({number}, &("), true);
                let (op, op_end) = self.range(&binary.op);
                let insert = String::from("), &(");
                self.edits.push(Edit { from: op, until: op_end, insert, order: (2, 0) });
                self.visit_expr(&binary.left);
                self.visit_expr(&binary.right);
                self.insert(until, String::from("))"), false);
            }
            _ => {
                self.sites.push(site);
                self.insert(from, format!("::sim_core::mutant::truth({number}, "), true);
                visit::visit_expr(self, expr);
                self.insert(until, String::from(")"), false);
            }
        }
    }
}

fn is_order(op: &BinOp) -> bool {
    matches!(op, BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_))
}

fn function_of(op: &BinOp) -> &'static str {
    match op {
        BinOp::Lt(_) => "less",
        BinOp::Le(_) => "at_most",
        BinOp::Gt(_) => "more",
        _ => "at_least",
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if item.ident != "tests" {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if item.sig.constness.is_none() {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if item.sig.constness.is_none() {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_const(&mut self, _item: &'ast syn::ItemConst) {}

    fn visit_impl_item_const(&mut self, _item: &'ast syn::ImplItemConst) {}

    fn visit_item_static(&mut self, _item: &'ast syn::ItemStatic) {}

    fn visit_type(&mut self, _kind: &'ast syn::Type) {}

    fn visit_expr_repeat(&mut self, _array: &'ast syn::ExprRepeat) {}

    /// Skips the condition of a loop: a loop without an end would only measure the time limit.
    fn visit_expr_while(&mut self, item: &'ast syn::ExprWhile) {
        self.visit_block(&item.body);
    }

    fn visit_expr_if(&mut self, item: &'ast ExprIf) {
        self.leaves(&item.cond);
        self.visit_block(&item.then_branch);
        if let Some((_, other)) = &item.else_branch {
            self.visit_expr(other);
        }
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if let Some((_, guard)) = &arm.guard {
            self.leaves(guard);
        }
        self.visit_expr(&arm.body);
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Binary(ExprBinary { op: BinOp::And(_) | BinOp::Or(_), .. }) => self.leaves(expr),
            Expr::Binary(ExprBinary { op: BinOp::Eq(_) | BinOp::Ne(_), .. }) => {
                self.condition(expr);
            }
            Expr::Binary(binary) if is_order(&binary.op) => self.condition(expr),
            _ => visit::visit_expr(self, expr),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_condition_is_wrapped_once() {
        let text = "fn f(a: u8, b: bool) -> bool {\n    if a < 3 && b { return a == 1; }\n    b || a > 2\n}\n";
        let rewritten = rewrite(text, 7).expect("it is Rust");
        let wrapped = "fn f(a: u8, b: bool) -> bool {\n    if ::sim_core::mutant::less(7, &(a ), &( 3)) && \
            ::sim_core::mutant::truth(8, b) { return ::sim_core::mutant::truth(9, a == 1); }\n    \
            ::sim_core::mutant::truth(10, b) || ::sim_core::mutant::more(11, &(a ), &( 2))\n}\n";
        assert_eq!(rewritten.text, wrapped);
        let lines: Vec<usize> = rewritten.sites.iter().map(|site| site.line).collect();
        assert_eq!(lines, [2, 2, 2, 3, 3]);
        assert_eq!(rewritten.sites[0].kind, Kind::Order);
    }

    #[test]
    fn tests_constants_and_loops_are_left_alone() {
        let text = "const A: bool = 1 < 2;\nconst fn g(a: u8) -> bool { a < 2 }\n\
            fn f() { while 1 < 2 {} }\nmod tests { fn t() -> bool { 1 < 2 } }\n";
        assert_eq!(rewrite(text, 1).expect("it is Rust").text, text);
    }
}
