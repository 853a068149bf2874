//! Places in a scenario file, for messages.

/// Line and column in a scenario file, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Line number.
    pub line: usize,
    /// Column number in characters.
    pub column: usize,
}
