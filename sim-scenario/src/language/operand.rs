//! One row of the lists of named instructions, and what follows its name in a step.

/// What follows the name of an instruction in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// Nothing.
    Nothing,
    /// A data address.
    Address,
    /// Perhaps what its governing predicate lets work: `none`, `all`, `1 of 4`.
    Predicate,
    /// A data address, perhaps those of further elements, and perhaps `none`, `all`, `1 of 4`.
    Elements,
    /// A data address, then perhaps `fails`: the store-exclusive does not store.
    Exclusive,
    /// An address, then perhaps `L1` or `L2`: the set and way that hold it.
    SetAndWay,
    /// An address, then perhaps `ASID n`: its page number, with an ASID.
    Page,
    /// The number of an ASID.
    Asid,
    /// Perhaps a value for the register, or `ASID n` in its upper bits.
    Value,
    /// Perhaps how many cycles the core sleeps.
    Sleep,
    /// Nothing; the branch is always taken.
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
    /// What follows the name.
    pub operand: Operand,
}
