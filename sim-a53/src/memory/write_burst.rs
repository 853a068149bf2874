//! Writes of a core on their way to memory that no cache keeps.

use super::store_buffer::LineBytes;

/// Burst that is being gathered, and the writes before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteBurst {
    /// Bytes of the burst.
    pub(crate) gathered: Option<LineBytes>,
    /// Cycle in which all writes are complete.
    pub(crate) complete: u64,
}
