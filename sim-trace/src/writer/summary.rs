//! Totals of a written trace.

/// Totals of a written trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Number of executed instructions of all streams.
    pub instructions: u64,
    /// Number of block executions.
    pub blocks: u64,
    /// Number of data addresses.
    pub accesses: u64,
    /// Number of side events.
    pub events: u64,
    /// Number of redirects that the writer added because a block could not follow the previous one.
    pub redirects: u64,
    /// Number of threads.
    pub streams: u32,
    /// Number of distinct blocks.
    pub distinct_blocks: u32,
    /// Size of the file in bytes.
    pub file_bytes: u64,
}
