//! A row of the lists of named instructions, and the operand after its name.

/// Operand after the name of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// No operand.
    Nothing,
    /// A data address.
    Address,
    /// Optional active elements: `none`, `all`, `1 of 4`.
    Predicate,
    /// A data address, optional further addresses, and optional `none`, `all` or `1 of 4`.
    Elements,
    /// A data address and optional `fails`: the store-exclusive does not store.
    Exclusive,
    /// An address and optional `L1` or `L2`: the set and way that hold it.
    SetAndWay,
    /// An address and optional `ASID n`: its page number, with an ASID.
    Page,
    /// Number of an ASID.
    Asid,
    /// Optional value of the register, or `ASID n` in its upper bits.
    Value,
    /// Optional number of cycles that the core sleeps.
    Sleep,
    /// No operand; the branch is always taken.
    Taken,
    /// `taken` or `not-taken`.
    Conditional,
}

/// One instruction by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedInst {
    /// Name in a step; a name of two words has one space.
    pub name: &'static str,
    /// The A64 word.
    pub word: u32,
    /// Operand after the name.
    pub operand: Operand,
}
