//! Data that a trace does not contain. Reports use it to mark counts as doubtful;
//! `sim_machine::caveats` decides which counts each kind makes doubtful.

use serde::{Deserialize, Serialize};

/// Data that the recorder did not write and that a replay does without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum MissingData {
    /// A64 code: the program used another instruction set, and A64 instructions replace its own.
    InstructionSet,
    /// Instruction words: words of the same class, with the same registers and targets, replace
    /// them.
    Words,
    /// Size of each access, in bytes.
    Sizes,
    /// Data addresses of all instructions.
    Addresses,
    /// Instructions or accesses that a filter left out.
    Filtered,
    /// Addresses of some loads and stores, which the engine did not report.
    SomeAddresses,
    /// Addresses or predicates of SVE loads and stores. Without an address they access nothing.
    SveAccesses,
    /// Addresses of `DC ZVA`. The lines that it zeroes are not accessed.
    ZeroedLines,
    /// Operands of `DC`, `IC` or `TLBI`. Such an instruction has no effect.
    Maintenance,
    /// Addresses of `PRFM`. Such an instruction prefetches nothing.
    Prefetches,
    /// Predicates of SVE instructions. All elements count as active.
    Predicates,
    /// Virtual data addresses: physical addresses replace them.
    VirtualAddresses,
    /// Thread numbers. All threads form one stream.
    Threads,
    /// Code that was never executed. A wrong path ends where such code begins.
    Image,
    /// A kind that only a later version of n2sim knows.
    #[serde(other)]
    Unknown,
}

impl MissingData {
    /// Returns a label of a few words, for the margin of a table.
    pub fn label(self) -> &'static str {
        match self {
            MissingData::InstructionSet => "not A64",
            MissingData::Words => "no opcodes",
            MissingData::Sizes => "no sizes",
            MissingData::Addresses => "no data addresses",
            MissingData::Filtered => "filtered",
            MissingData::SomeAddresses => "some accesses without address",
            MissingData::SveAccesses => "no SVE accesses",
            MissingData::ZeroedLines => "no addresses of DC ZVA",
            MissingData::Maintenance => "no operands of DC, IC, TLBI",
            MissingData::Prefetches => "no addresses of PRFM",
            MissingData::Predicates => "no SVE predicates",
            MissingData::VirtualAddresses => "physical addresses",
            MissingData::Threads => "no threads",
            MissingData::Image => "executed code only",
            MissingData::Unknown => "missing data unknown to this version",
        }
    }

    /// Returns a full sentence: what is missing, then what a replay does instead.
    pub fn sentence(self) -> &'static str {
        match self {
            MissingData::InstructionSet => {
                "the program was not A64 code: A64 instructions of the same kind, at addresses of \
                 their own, replace its instructions"
            }
            MissingData::Words => {
                "instruction words are absent: words of the same class replace them, with made-up \
                 registers where the registers are absent too"
            }
            MissingData::Sizes => "sizes of accesses are absent: 8 bytes are assumed",
            MissingData::Addresses => "data addresses are absent",
            MissingData::Filtered => "a filter left out instructions or accesses",
            MissingData::SomeAddresses => {
                "addresses of some loads and stores are absent: those access nothing"
            }
            MissingData::SveAccesses => {
                "addresses or predicates of SVE loads and stores are absent: without an address they \
                 access nothing, without a predicate all elements are active"
            }
            MissingData::ZeroedLines => {
                "addresses of DC ZVA are absent: its lines are not accessed"
            }
            MissingData::Maintenance => {
                "operands of cache or TLB maintenance are absent: such an instruction has no effect"
            }
            MissingData::Prefetches => {
                "addresses of PRFM are absent: such an instruction prefetches nothing"
            }
            MissingData::Predicates => {
                "predicates of SVE instructions are absent: all elements are assumed active"
            }
            MissingData::VirtualAddresses => {
                "data addresses are physical; they are used as virtual addresses"
            }
            MissingData::Threads => "thread numbers are absent: all threads form one stream",
            MissingData::Image => {
                "code that was never executed is absent: a wrong path ends where it begins"
            }
            MissingData::Unknown => "data is missing that only a later version of n2sim knows",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_kind_from_a_later_version_can_be_read() {
        let read: Vec<MissingData> =
            serde_json::from_str(r#"["words","colors"]"#).expect("two kinds");
        assert_eq!(read, [MissingData::Words, MissingData::Unknown]);
        assert_eq!(
            serde_json::to_string(&MissingData::VirtualAddresses).expect("text"),
            r#""virtual-addresses""#
        );
    }
}
