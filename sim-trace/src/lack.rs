//! What a trace of another tool lacks, in terms that reports can act on: which counts it spoils is
//! decided by those who know events (`sim_machine::caveats`).

use serde::{Deserialize, Serialize};

/// Something that the recorder did not write down and that n2sim had to do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Lack {
    /// The program was for another instruction set; A64 instructions stand for its own.
    InstructionSet,
    /// Instruction words: others of the same class, with the same registers and targets, stand for them.
    Words,
    /// Bytes of an access.
    Sizes,
    /// Data addresses of all instructions.
    Addresses,
    /// Instructions or accesses that a filter left out.
    Filtered,
    /// Addresses of some loads and stores, which the engine did not report.
    SomeAddresses,
    /// Addresses or predicates of SVE loads and stores: without an address they touch nothing.
    SveAccesses,
    /// Addresses of `DC ZVA`: its lines are not touched.
    ZeroedLines,
    /// Operands of `DC`, `IC` or `TLBI`: they maintain nothing.
    Maintenance,
    /// Addresses of `PRFM`: they bring nothing.
    Prefetches,
    /// Predicates of SVE instructions: all elements are taken as active.
    Predicates,
    /// Virtual data addresses: physical ones stand for them.
    VirtualAddresses,
    /// Which thread ran: all of them are one.
    Threads,
    /// Code that was never executed, so that a wrong path ends where it begins.
    Image,
    /// Something that a later version knows.
    #[serde(other)]
    Unknown,
}

impl Lack {
    /// One or two words, for the margin of a table.
    pub fn label(self) -> &'static str {
        match self {
            Lack::InstructionSet => "not A64",
            Lack::Words => "no opcodes",
            Lack::Sizes => "no sizes",
            Lack::Addresses => "no data addresses",
            Lack::Filtered => "filtered",
            Lack::SomeAddresses => "some accesses without address",
            Lack::SveAccesses => "no SVE accesses",
            Lack::ZeroedLines => "no addresses of DC ZVA",
            Lack::Maintenance => "no operands of DC, IC, TLBI",
            Lack::Prefetches => "no addresses of PRFM",
            Lack::Predicates => "no SVE predicates",
            Lack::VirtualAddresses => "physical addresses",
            Lack::Threads => "no threads",
            Lack::Image => "executed code only",
            Lack::Unknown => "lacks what this version does not know",
        }
    }

    /// The whole sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Lack::InstructionSet => {
                "the program was not A64 code: A64 instructions of the same kind stand for its own, at \
                 addresses of their own"
            }
            Lack::Words => {
                "instruction words are absent: words of the same class, with made-up registers where \
                 those are absent too, stand for them"
            }
            Lack::Sizes => "sizes of accesses are absent: 8 bytes are taken",
            Lack::Addresses => "data addresses are absent",
            Lack::Filtered => "a filter left out instructions or accesses",
            Lack::SomeAddresses => {
                "addresses of some loads and stores are absent: those access nothing"
            }
            Lack::SveAccesses => {
                "addresses or predicates of SVE loads and stores are absent: without an address they \
                 access nothing, without a predicate all elements are active"
            }
            Lack::ZeroedLines => "addresses of DC ZVA are absent: its lines are not touched",
            Lack::Maintenance => {
                "operands of cache or TLB maintenance are absent: such an instruction maintains nothing"
            }
            Lack::Prefetches => "addresses of PRFM are absent: such a prefetch brings nothing",
            Lack::Predicates => {
                "predicates of SVE instructions are absent: all elements are taken as active"
            }
            Lack::VirtualAddresses => {
                "data addresses are physical ones; they are taken for virtual addresses"
            }
            Lack::Threads => "thread numbers are absent: all threads are one stream",
            Lack::Image => {
                "code that was never executed is absent: a wrong path ends where it begins"
            }
            Lack::Unknown => "it lacks something that only a later version of n2sim knows",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_a_later_version_can_be_read() {
        let read: Vec<Lack> = serde_json::from_str(r#"["words","colors"]"#).expect("two lacks");
        assert_eq!(read, [Lack::Words, Lack::Unknown]);
        assert_eq!(
            serde_json::to_string(&Lack::VirtualAddresses).expect("text"),
            r#""virtual-addresses""#
        );
    }
}
