//! Causes of differences between LLVM's model and this one, as data: `causes.toml` of each core.
//!
//! A cause may have views: LLVM's numbers for certain instructions. The kernel then runs on this
//! model's core with them, and if the cause is complete the two agree.

use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::read;

/// One cause, with the views of one core's instructions.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Cause<V> {
    /// Short name.
    pub id: String,
    /// Description in one line.
    pub text: String,
    /// Evidence that LLVM is wrong, or that silicon differs.
    pub source: String,
    /// LLVM's view.
    #[serde(default = "Vec::new")]
    pub view: Vec<V>,
    /// The kernels that differ because of it.
    pub kernels: Vec<String>,
}

/// A view of certain instructions.
pub trait Viewed {
    /// Returns the instructions that it is about.
    fn instructions(&self) -> &Patterns;
}

/// Names of instructions: mnemonics, or texts with `*` for any part; without such names all. Those
/// with a `!` in front are excluded.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Patterns(Vec<String>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File<V> {
    #[serde(default = "Vec::new")]
    cause: Vec<Cause<V>>,
}

/// Reads all causes of a file.
///
/// # Panics
///
/// When the file cannot be read or is not valid.
pub fn causes<V: DeserializeOwned>(path: &Path) -> Vec<Cause<V>> {
    let file: File<V> =
        toml::from_str(&read(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    file.cause
}

impl<V: Viewed> Cause<V> {
    /// Returns its views of the instruction with this text.
    pub fn views<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a V> {
        self.view.iter().filter(|view| view.instructions().contain(text))
    }
}

impl Patterns {
    fn contain(&self, text: &str) -> bool {
        let (mut names, mut fit) = (false, false);
        for pattern in &self.0 {
            match pattern.strip_prefix('!') {
                Some(excluded) if fits(text, excluded) => return false,
                Some(_) => {}
                None => {
                    names = true;
                    fit |= fits(text, pattern);
                }
            }
        }
        fit || !names
    }
}

fn fits(text: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        Some((head, tail)) => text.strip_prefix(head).is_some_and(|rest| tail_fits(rest, tail)),
        None => text.split(' ').next() == Some(pattern),
    }
}

/// Returns true when the text ends like the part of a pattern after its first `*`.
fn tail_fits(text: &str, tail: &str) -> bool {
    match tail.split_once('*') {
        Some((middle, rest)) => {
            text.split_once(middle).is_some_and(|(_, after)| tail_fits(after, rest))
        }
        None => text.ends_with(tail),
    }
}
