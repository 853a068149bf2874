//! Page sizes of a replay.

/// Block size of the pages of cases that do not need small ones, as an override.
const BLOCKS: &str = "memory.pages.block-bytes=2097152";

/// A page size of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// Pages of the machine's configuration.
    Small,
    /// Blocks of 2 MiB.
    Blocks,
}

impl Pages {
    /// Both, in the order of the replays.
    pub const BOTH: [Pages; 2] = [Pages::Small, Pages::Blocks];

    /// Returns what the configuration of the machine gets besides.
    pub fn overrides(self) -> Option<&'static str> {
        (self == Pages::Blocks).then_some(BLOCKS)
    }
}
