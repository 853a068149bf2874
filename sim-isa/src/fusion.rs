//! Kinds of fused pairs, as a bit set per instruction.

/// The kinds of pairs that an instruction may be part of: one bit each, found out once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fusion {
    pub(crate) first_of: u8,
    pub(crate) second_of: u8,
}

impl Fusion {
    /// Any kind that depends on words alone: the pair is looked at.
    pub(crate) const BY_WORD: u8 = 1;
    pub(crate) const COMPARE_AND_SELECT: u8 = 1 << 1;
    pub(crate) const COMPARE_AND_BRANCH: u8 = 1 << 2;

    /// Whether a second instruction of this kind joins one of this kind; `None` where only the words tell: then
    /// [`crate::fuses`] decides.
    #[inline]
    pub fn leads(self, second: Fusion) -> Option<bool> {
        match self.first_of & second.second_of {
            Fusion::BY_WORD => None,
            kinds => Some(kinds != 0),
        }
    }
}
