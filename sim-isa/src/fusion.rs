//! Kinds of fused pairs, as a bit set per instruction.

/// Kinds of pairs that an instruction may be part of, one bit each, found once at decode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fusion {
    pub(crate) first_of: u8,
    pub(crate) second_of: u8,
}

impl Fusion {
    /// Any kind that depends on the words alone, so that both words must be compared.
    pub(crate) const BY_WORD: u8 = 1;
    pub(crate) const COMPARE_AND_SELECT: u8 = 1 << 1;
    pub(crate) const COMPARE_AND_BRANCH: u8 = 1 << 2;

    /// Returns whether a second instruction of kind `second` fuses with a first one of this kind.
    /// Returns `None` where the words decide; [`crate::fuses`] then compares them.
    #[inline]
    pub fn leads(self, second: Fusion) -> Option<bool> {
        match self.first_of & second.second_of {
            Fusion::BY_WORD => None,
            kinds => Some(kinds != 0),
        }
    }
}
