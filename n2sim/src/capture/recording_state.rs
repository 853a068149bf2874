//! The state that all threads of a recording share.

use std::collections::HashMap;

use super::block::BlockInfo;
use super::code::Code;
use super::system::ending::SystemStream;
use super::tally::Tally;

/// The state that all threads of a recording share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Blocks by the plugin's number.
    pub(crate) blocks: Vec<BlockInfo>,
    /// Registers are followed all the time, because the program has maintenance or prefetches. For
    /// a large `memset`, which zeroes lines, the last few blocks are enough.
    pub(crate) follows: bool,
    /// Pages of the program's code, where literals lie.
    pub(crate) code: Code,
    /// Signal handlers by address.
    pub(crate) handlers: HashMap<u64, u32>,
    /// Counts of recorded and missing data.
    pub(crate) tally: Tally,
    /// True while the plugin reports every block that ended early.
    pub(crate) is_exact: bool,
    /// The state of a whole system beyond a program; `None` for a program.
    pub(crate) system: Option<SystemStream>,
    /// Once the recording is paused it will not be resumed.
    pub(crate) ends_for_good: bool,
    /// The recording ended because the program reached a place.
    pub(crate) is_over: bool,
}
