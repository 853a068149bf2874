//! Largest sizes of the direction predictor; the configuration stays within them.

/// Most tagged tables.
pub const MAX_TABLES: usize = 8;
/// Longest history, branches.
pub const MAX_HISTORY: u32 = 1024;
/// log2 of the most entries of a tagged table: the place of an entry among those of all tables has 16 bits.
pub const MAX_TAGGED_BITS: u32 = 13;
/// Widest index register: one bit is left for the shift.
pub const MAX_FOLDED_BITS: u32 = u16::BITS - 1;
