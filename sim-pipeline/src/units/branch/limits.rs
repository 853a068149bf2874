//! Size limits of the direction predictor, within which the configuration stays.

/// Largest number of tagged tables.
pub const MAX_TABLES: usize = 8;
/// Longest history, in branches.
pub const MAX_HISTORY: u32 = 1024;
/// Largest log2 of the entries of a tagged table: the index of an entry among those of all tables
/// has 16 bits.
pub const MAX_TAGGED_BITS: u32 = 13;
/// Widest index register in bits: one bit remains for the shift.
pub const MAX_FOLDED_BITS: u32 = u16::BITS - 1;
