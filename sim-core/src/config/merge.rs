//! Merging of an overlay into a base: known keys only, and values of the same type only.

use toml_edit::{Item, TableLike, Value};

use super::fault::Problem;
use super::units;
use crate::spelling::edit_distance;

/// Hint about the units of numbers on the command line ([`super::units`]).
const UNITS: &str =
    "; write digits, as in 65536 (--set takes 64K, 2M, 1G and 64KiB, 2MiB, 1GiB too)";

/// Returns all problems that prevent merging `over` into `base`.
pub(super) fn check(base: &dyn TableLike, over: &dyn TableLike) -> Vec<Problem> {
    let mut problems = Vec::new();
    check_table(base, base, over, "", &mut problems);
    problems
}

fn check_table(
    root: &dyn TableLike,
    base: &dyn TableLike,
    over: &dyn TableLike,
    prefix: &str,
    problems: &mut Vec<Problem>,
) {
    for (key, item) in over.iter() {
        let path = format!("{prefix}{key}");
        let Some(old) = base.get(key) else {
            problems.push(Problem::new(&path, unknown(root, &path)));
            continue;
        };
        match (old.as_table_like(), item.as_table_like()) {
            (Some(old), Some(new)) => {
                check_table(root, old, new, &format!("{path}."), problems);
            }
            _ if !fits(old, item) => {
                let found = if item.is_float() { "one with a fraction" } else { kind(item) };
                let text = item.as_str().filter(|_| old.is_integer());
                let remedy = text.map(|text| digits(&path, text)).unwrap_or_default();
                let message = format!("`{path}` is {}, not {found}{remedy}", kind(old));
                problems.push(Problem::new(&path, message));
            }
            _ => {}
        }
    }
}

/// Returns the remedy for a text in place of a whole number: the digits of `128 KiB`.
fn digits(path: &str, text: &str) -> String {
    let number = units::resolve(path, &text.replace(' ', ""));
    number.map_or_else(|| UNITS.to_owned(), |number| format!("; write {number}"))
}

/// Merges `over` into `base`. Each changed value gets a comment with `reason` and its old value.
pub(super) fn apply(base: &mut dyn TableLike, over: &dyn TableLike, reason: &str) {
    for (key, item) in over.iter() {
        let old = base.get_mut(key).expect("the overlay was checked against its base");
        if let Some(new) = item.as_table_like() {
            let old = old.as_table_like_mut().expect("the overlay was checked against its base");
            apply(old, new, reason);
        } else {
            replace(old, item, reason);
        }
    }
}

fn replace(old: &mut Item, new: &Item, reason: &str) {
    let (Some(before), Some(after)) = (old.as_value(), new.as_value()) else {
        *old = new.clone();
        return;
    };
    let was = format!("{}: {}", before.clone().decorated("", ""), comment_of(before));
    let was = was.trim_end_matches([':', ' ']);
    let source = comment_of(after);
    let remark = if source.is_empty() {
        format!(" # [{reason}; was {was}]")
    } else {
        format!(" # {source} [{reason}; was {was}]")
    };
    let mut value = after.clone();
    if let (Value::Float(_), Value::Integer(whole)) = (before, after) {
        value = Value::from(*whole.value() as f64);
    }
    *old = Item::Value(value.decorated(" ", remark));
}

/// Returns the comment after a value, without its `#`.
fn comment_of(value: &Value) -> String {
    let suffix = value.decor().suffix().and_then(|raw| raw.as_str()).unwrap_or_default();
    suffix.trim().trim_start_matches('#').trim().to_owned()
}

/// Returns true if `new` may replace `old`.
fn fits(old: &Item, new: &Item) -> bool {
    let is_whole_float = old.is_float() && new.is_integer();
    is_whole_float || old.type_name() == new.type_name()
}

fn kind(item: &Item) -> &'static str {
    match item.type_name() {
        "string" => "a string",
        "integer" => "a whole number",
        "float" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "table" | "inline table" => "a table",
        "array of tables" => "a list of tables",
        _ => "a date",
    }
}

/// Returns the message for a key that `root` does not have.
fn unknown(root: &dyn TableLike, path: &str) -> String {
    let mut keys = Vec::new();
    collect(root, "", &mut keys);
    let closest = keys.iter().min_by_key(|key| {
        let (own, wrong) = (leaf(key), leaf(path));
        let in_same_table = table_of(key) == table_of(path);
        let begins_alike = in_same_table && own.starts_with(wrong);
        (own != wrong && !begins_alike, edit_distance(key, path))
    });
    match closest {
        Some(key) => format!("unknown key `{path}`; the closest existing key is `{key}`"),
        None => format!("unknown key `{path}`; the base has no keys at all"),
    }
}

/// Returns the last part of a dotted key.
fn leaf(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or_default()
}

/// Returns all parts of a dotted key but the last.
fn table_of(key: &str) -> &str {
    key.rsplit_once('.').map_or("", |(table, _)| table)
}

fn collect(table: &dyn TableLike, prefix: &str, keys: &mut Vec<String>) {
    for (key, item) in table.iter() {
        let path = format!("{prefix}{key}");
        if let Some(inner) = item.as_table_like() {
            collect(inner, &format!("{path}."), keys);
        }
        keys.push(path);
    }
}

/// Returns the item at `path`.
pub(super) fn get<'t>(table: &'t dyn TableLike, path: &[String]) -> Option<&'t Item> {
    let (first, rest) = path.split_first()?;
    let item = table.get(first)?;
    if rest.is_empty() { Some(item) } else { get(item.as_table_like()?, rest) }
}

/// Removes and returns the item at `path`.
pub(super) fn remove(table: &mut dyn TableLike, path: &[String]) -> Option<Item> {
    let (first, rest) = path.split_first()?;
    if rest.is_empty() {
        return table.remove(first);
    }
    remove(table.get_mut(first)?.as_table_like_mut()?, rest)
}

/// Returns the path of the innermost key or value that covers byte `at` of `text`; empty if none
/// does.
pub(super) fn path_at(text: &str, at: usize) -> Vec<String> {
    let mut path = Vec::new();
    if let Ok(document) = toml_edit::Document::parse(text) {
        descend(document.as_table(), at, &mut path);
    }
    path
}

fn descend(table: &dyn TableLike, at: usize, path: &mut Vec<String>) -> bool {
    for (name, item) in table.iter() {
        path.push(name.to_owned());
        let inner_has_it = item.as_table_like().is_some_and(|inner| descend(inner, at, path));
        let key_span = table.key(name).and_then(toml_edit::Key::span);
        let covers = [key_span, item.span()].into_iter().flatten().any(|span| span.contains(&at));
        if inner_has_it || covers {
            return true;
        }
        path.pop();
    }
    false
}
