//! Path class of an instruction, set at decode. It selects the path of the instruction through the
//! pipeline.

/// Path class of an instruction. Each class rules out checks that its path through the pipeline
/// omits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathClass {
    /// No guarantee: barriers, system instructions, exclusive stores, gathers, three or more MOPs.
    #[default]
    General,
    /// One micro-operation that computes and takes its pipe for one cycle, in one slot, without an
    /// access; includes branches.
    Alu,
    /// One load of consecutive bytes, in one slot. All sources form the address; the access orders
    /// nothing and is not exclusive; the micro-operation takes its pipe for one cycle.
    Load,
    /// One load of consecutive bytes to any number of registers, and one micro-operation that
    /// updates the base, in one slot; otherwise like [`PathClass::Load`].
    LoadUpdate,
    /// Address and data of one store of consecutive bytes, one micro-operation each, in one slot;
    /// the access orders nothing and is not exclusive.
    Store,
    /// A store that updates its base, in two slots: address, data and base, one micro-operation
    /// each; otherwise like [`PathClass::Store`].
    TwoMopStoreUpdate,
    /// Completed at rename, in one slot. A register move that rename does not complete takes the
    /// path of [`PathClass::Alu`].
    Eliminated,
}
