//! What kind of operation was sampled: class and subclass of the operation type packet (SPE
//! supplement 5.3.8; SVE forms of SPEv1p1).

use sim_core::{AccessKind, AccessShape, BranchCourse, Operation, OperationKind};

/// The class: the two low bits of the packet's header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OperationClass {
    /// Neither of the others.
    #[default]
    Other,
    /// Load, store or atomic.
    Access,
    /// Branch or exception return.
    Branch,
    /// No meaning yet.
    Reserved,
}

impl OperationClass {
    /// The class of a header's two low bits.
    pub fn from_bits(bits: u8) -> OperationClass {
        match bits & 3 {
            0 => OperationClass::Other,
            1 => OperationClass::Access,
            2 => OperationClass::Branch,
            _ => OperationClass::Reserved,
        }
    }

    /// The header's two low bits.
    pub fn bits(self) -> u8 {
        self as u8
    }
}

/// Class and payload of the packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperationType {
    /// What the header says.
    pub class: OperationClass,
    /// The byte behind it.
    pub payload: u8,
}

/// What the payload of a load, store or atomic says besides its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessClass {
    /// General-purpose registers.
    General,
    /// SIMD and floating-point registers.
    Simd,
    /// Atomic, load-acquire, store-release or exclusive.
    Extended {
        /// Atomic read-modify-write.
        atomic: bool,
        /// Load-exclusive or store-exclusive.
        exclusive: bool,
        /// With acquire or release.
        ordered: bool,
    },
    /// SVE.
    Sve(SveShape),
    /// Registers that are not specified; not on N2, as those below.
    UnspecifiedRegister,
    /// A system register in memory (nested virtualization).
    SystemRegister,
    /// Allocation tags (Memory Tagging Extension).
    Tag,
    /// An instruction that copies memory.
    Copy,
    /// An instruction that sets memory.
    Set,
    /// A value that has no meaning yet.
    Unknown,
}

/// What the payload of an SVE operation says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SveShape {
    /// Effective vector length in bits: 32 times a power of two.
    pub vector_bits: u16,
    /// It has a governing predicate.
    pub predicated: bool,
    /// An access of one address per element; for other operations: floating point.
    pub gather_or_float: bool,
}

/// Bits of the payloads, as the packet descriptions place them.
const STORE: u8 = 1;
const CONDITIONAL: u8 = 1;
const INDIRECT: u8 = 1 << 1;
const EXTENDED: u8 = 1 << 1;
const SIMD: u8 = 1 << 2;
const ATOMIC: u8 = 1 << 2;
const EXCLUSIVE: u8 = 1 << 3;
const ORDERED: u8 = 1 << 4;
const SVE: u8 = 1 << 3;
const SVE_PREDICATED: u8 = 1 << 2;
const SVE_FLOATING: u8 = 1 << 1;
const SVE_SCATTERED: u8 = 1 << 7;
/// Subclasses that came after SPEv1p1.
const UNSPECIFIED: u8 = 0x10;
const TAG: u8 = 0x14;
const COPY: u8 = 0x20;
const SET: u8 = 0x24;
const SYSTEM_REGISTER: u8 = 0x30;
/// Vector length of N2's SVE.
const N2_VECTOR_BITS: u16 = 128;

fn bit(so: bool, mask: u8) -> u8 {
    if so { mask } else { 0 }
}

/// Bits 6:4: log2 of the vector length over 32 bits.
fn length_field(vector_bits: u16) -> u8 {
    let steps = (vector_bits / 32).max(1).ilog2() as u8;
    steps.min(7) << 4
}

fn length_of(payload: u8) -> u16 {
    32 << (payload >> 4 & 7)
}

impl OperationType {
    /// Neither branch nor access; `conditional` for `CSEL`, `CCMP` and kin.
    pub const fn other(conditional: bool) -> OperationType {
        OperationType { class: OperationClass::Other, payload: conditional as u8 }
    }

    /// An SVE operation that is no access.
    pub fn other_sve(shape: SveShape) -> OperationType {
        let payload = SVE
            | length_field(shape.vector_bits)
            | bit(shape.predicated, SVE_PREDICATED)
            | bit(shape.gather_or_float, SVE_FLOATING);
        OperationType { class: OperationClass::Other, payload }
    }

    /// A branch or an exception return.
    pub fn branch(conditional: bool, indirect: bool) -> OperationType {
        let payload = bit(conditional, CONDITIONAL) | bit(indirect, INDIRECT);
        OperationType { class: OperationClass::Branch, payload }
    }

    /// A load, a swap or an atomic with result (`store` false), a store or an atomic without result.
    pub fn access(store: bool, class: AccessClass) -> OperationType {
        let subclass = match class {
            AccessClass::General | AccessClass::Unknown => 0,
            AccessClass::Simd => SIMD,
            AccessClass::UnspecifiedRegister => UNSPECIFIED,
            AccessClass::SystemRegister => SYSTEM_REGISTER,
            AccessClass::Tag => TAG,
            AccessClass::Copy => COPY,
            AccessClass::Set => SET,
            AccessClass::Extended { atomic, exclusive, ordered } => {
                // EXCL is RES0 for an atomic.
                EXTENDED
                    | bit(atomic, ATOMIC)
                    | bit(exclusive && !atomic, EXCLUSIVE)
                    | bit(ordered, ORDERED)
            }
            AccessClass::Sve(shape) => {
                SVE | length_field(shape.vector_bits)
                    | bit(shape.predicated, SVE_PREDICATED)
                    | bit(shape.gather_or_float, SVE_SCATTERED)
            }
        };
        OperationType { class: OperationClass::Access, payload: subclass | bit(store, STORE) }
    }

    /// How N2 describes the first micro-operation of an instruction.
    pub fn of(operation: &Operation) -> OperationType {
        match operation.kind {
            OperationKind::Branch(BranchCourse { conditional, indirect, .. }) => {
                OperationType::branch(conditional, indirect)
            }
            OperationKind::Access(shape) => OperationType::of_access(operation, shape),
            OperationKind::Other if operation.sve => OperationType::other_sve(SveShape {
                vector_bits: N2_VECTOR_BITS,
                predicated: operation.predicated,
                gather_or_float: operation.floating,
            }),
            OperationKind::Other => OperationType::other(operation.conditional),
        }
    }

    fn of_access(operation: &Operation, shape: AccessShape) -> OperationType {
        let store = matches!(
            shape.kind,
            AccessKind::Store | AccessKind::AtomicStore | AccessKind::ZeroLine
        );
        let atomic = matches!(
            shape.kind,
            AccessKind::AtomicLoad | AccessKind::AtomicStore | AccessKind::AtomicSwap
        );
        let class = if atomic || shape.exclusive || shape.ordered {
            AccessClass::Extended { atomic, exclusive: shape.exclusive, ordered: shape.ordered }
        } else if operation.sve {
            AccessClass::Sve(SveShape {
                vector_bits: N2_VECTOR_BITS,
                predicated: operation.predicated,
                gather_or_float: shape.scattered,
            })
        } else if operation.simd {
            AccessClass::Simd
        } else {
            AccessClass::General
        };
        OperationType::access(store, class)
    }

    /// True for a branch or an exception return.
    pub fn is_branch(self) -> bool {
        self.class == OperationClass::Branch
    }

    /// True for a load, a store or an atomic.
    pub fn is_access(self) -> bool {
        self.class == OperationClass::Access
    }

    /// True for a load, a swap or an atomic with result.
    pub fn is_load(self) -> bool {
        self.is_access() && self.payload & STORE == 0
    }

    /// True for a store or an atomic without result.
    pub fn is_store(self) -> bool {
        self.is_access() && self.payload & STORE != 0
    }

    /// True for a conditional branch, or for a conditional operation that is no branch.
    pub fn is_conditional(self) -> bool {
        match self.class {
            OperationClass::Branch => self.payload & CONDITIONAL != 0,
            OperationClass::Other => self.payload == CONDITIONAL,
            _ => false,
        }
    }

    /// True for a branch whose target comes from a register.
    pub fn is_indirect(self) -> bool {
        self.is_branch() && self.payload & INDIRECT != 0
    }

    /// True for an atomic read-modify-write.
    pub fn is_atomic(self) -> bool {
        matches!(self.access_class(), Some(AccessClass::Extended { atomic: true, .. }))
    }

    /// What an access is besides its direction; `None` for what is no access.
    pub fn access_class(self) -> Option<AccessClass> {
        if !self.is_access() {
            return None;
        }
        let payload = self.payload;
        Some(match payload & !STORE {
            0 => AccessClass::General,
            SIMD => AccessClass::Simd,
            UNSPECIFIED => AccessClass::UnspecifiedRegister,
            SYSTEM_REGISTER => AccessClass::SystemRegister,
            TAG => AccessClass::Tag,
            COPY => AccessClass::Copy,
            SET => AccessClass::Set,
            _ if payload & (0xe0 | EXTENDED) == EXTENDED => AccessClass::Extended {
                atomic: payload & ATOMIC != 0,
                exclusive: payload & EXCLUSIVE != 0,
                ordered: payload & ORDERED != 0,
            },
            _ if payload & (SVE | EXTENDED) == SVE => AccessClass::Sve(SveShape {
                vector_bits: length_of(payload),
                predicated: payload & SVE_PREDICATED != 0,
                gather_or_float: payload & SVE_SCATTERED != 0,
            }),
            _ => AccessClass::Unknown,
        })
    }

    /// What an SVE operation that is no access is; `None` for all others.
    pub fn other_sve_shape(self) -> Option<SveShape> {
        let is_sve = self.class == OperationClass::Other && self.payload & 0x89 == SVE;
        is_sve.then(|| SveShape {
            vector_bits: length_of(self.payload),
            predicated: self.payload & SVE_PREDICATED != 0,
            gather_or_float: self.payload & SVE_FLOATING != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extended(atomic: bool, exclusive: bool, ordered: bool) -> AccessClass {
        AccessClass::Extended { atomic, exclusive, ordered }
    }

    #[test]
    fn payloads_are_those_of_the_packet_descriptions() {
        assert_eq!(OperationType::other(true).payload, 0x01);
        assert_eq!(OperationType::branch(true, false).payload, 0x01);
        assert_eq!(OperationType::branch(false, true).payload, 0x02);
        let access = |store, class| OperationType::access(store, class).payload;
        assert_eq!(access(false, AccessClass::General), 0x00);
        assert_eq!(access(true, AccessClass::Simd), 0x05);
        assert_eq!(access(false, extended(false, true, true)), 0x1a);
        assert_eq!(access(false, extended(true, true, true)), 0x16, "no exclusive atomic");
        let gather = SveShape { vector_bits: 128, predicated: true, gather_or_float: true };
        assert_eq!(access(false, AccessClass::Sve(gather)), 0xac);
        assert_eq!(OperationType::other_sve(gather).payload, 0x2e);
    }

    #[test]
    fn every_payload_of_an_access_reads_as_it_was_built() {
        let sve = SveShape { vector_bits: 256, predicated: false, gather_or_float: true };
        let classes = [
            AccessClass::General,
            AccessClass::Simd,
            AccessClass::UnspecifiedRegister,
            AccessClass::SystemRegister,
            AccessClass::Tag,
            AccessClass::Copy,
            AccessClass::Set,
            extended(true, false, false),
            extended(false, true, false),
            extended(false, false, true),
            AccessClass::Sve(sve),
        ];
        for class in classes {
            for store in [false, true] {
                let kind = OperationType::access(store, class);
                assert_eq!(kind.access_class(), Some(class));
                assert_eq!((kind.is_store(), kind.is_load()), (store, !store));
            }
        }
        assert_eq!(OperationType::other_sve(sve).other_sve_shape(), Some(sve));
        assert_eq!(OperationType::other(true).other_sve_shape(), None);
    }
}
