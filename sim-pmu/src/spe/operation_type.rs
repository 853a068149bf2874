//! Kind of a sampled operation: class and subclass of the operation type packet (SPE supplement
//! 5.3.8; SVE forms of SPEv1p1).

use sim_core::{AccessKind, AccessShape, BranchCourse, Operation, OperationKind};

/// Operation class: the two low bits of the packet's header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OperationClass {
    /// Operation that is neither an access nor a branch.
    #[default]
    Other,
    /// Load, store or atomic.
    Access,
    /// Branch or exception return.
    Branch,
    /// Reserved value.
    Reserved,
}

impl OperationClass {
    /// Returns the class for the two low bits of a header.
    pub fn from_bits(bits: u8) -> OperationClass {
        match bits & 3 {
            0 => OperationClass::Other,
            1 => OperationClass::Access,
            2 => OperationClass::Branch,
            _ => OperationClass::Reserved,
        }
    }

    /// Returns the two low bits of the header.
    pub fn bits(self) -> u8 {
        self as u8
    }
}

/// Class and payload of the packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperationType {
    /// Class from the header.
    pub class: OperationClass,
    /// Payload byte.
    pub payload: u8,
}

/// Contents of the payload of a load, store or atomic, other than its direction.
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
        /// Acquire or release semantics.
        ordered: bool,
    },
    /// SVE access.
    Sve(SveShape),
    /// Unspecified registers. N2 does not use this value or the following ones.
    UnspecifiedRegister,
    /// System register in memory (nested virtualization).
    SystemRegister,
    /// Allocation tags (Memory Tagging Extension).
    Tag,
    /// Instruction that copies memory.
    Copy,
    /// Instruction that sets memory.
    Set,
    /// Value without a meaning.
    Unknown,
}

/// Contents of the payload of an SVE operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SveShape {
    /// Effective vector length in bits: 32 times a power of two.
    pub vector_bits: u16,
    /// The operation has a governing predicate.
    pub predicated: bool,
    /// Access with one address per element; for other operations: floating point.
    pub gather_or_float: bool,
}

/// Bits of the payloads, as in the packet descriptions.
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
/// Subclasses newer than SPEv1p1.
const UNSPECIFIED: u8 = 0x10;
const TAG: u8 = 0x14;
const COPY: u8 = 0x20;
const SET: u8 = 0x24;
const SYSTEM_REGISTER: u8 = 0x30;
/// SVE vector length of N2 in bits.
const N2_VECTOR_BITS: u16 = 128;

fn bit(so: bool, mask: u8) -> u8 {
    if so { mask } else { 0 }
}

/// Returns bits 6:4: log2 of the vector length over 32 bits.
fn length_field(vector_bits: u16) -> u8 {
    let steps = (vector_bits / 32).max(1).ilog2() as u8;
    steps.min(7) << 4
}

fn length_of(payload: u8) -> u16 {
    32 << (payload >> 4 & 7)
}

impl OperationType {
    /// Returns the type of an operation that is neither branch nor access. `conditional` is set for
    /// `CSEL`, `CCMP` and related instructions.
    pub const fn other(conditional: bool) -> OperationType {
        OperationType { class: OperationClass::Other, payload: conditional as u8 }
    }

    /// Returns the type of an SVE operation that is not an access.
    pub fn other_sve(shape: SveShape) -> OperationType {
        let payload = SVE
            | length_field(shape.vector_bits)
            | bit(shape.predicated, SVE_PREDICATED)
            | bit(shape.gather_or_float, SVE_FLOATING);
        OperationType { class: OperationClass::Other, payload }
    }

    /// Returns the type of a branch or an exception return.
    pub fn branch(conditional: bool, indirect: bool) -> OperationType {
        let payload = bit(conditional, CONDITIONAL) | bit(indirect, INDIRECT);
        OperationType { class: OperationClass::Branch, payload }
    }

    /// Returns the type of an access. `store` is false for a load, a swap or an atomic with result,
    /// and true for a store or an atomic without result.
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

    /// Returns N2's type for the first micro-operation of an instruction.
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

    /// Returns whether this is a branch or an exception return.
    pub fn is_branch(self) -> bool {
        self.class == OperationClass::Branch
    }

    /// Returns whether this is a load, a store or an atomic.
    pub fn is_access(self) -> bool {
        self.class == OperationClass::Access
    }

    /// Returns whether this is a load, a swap or an atomic with result.
    pub fn is_load(self) -> bool {
        self.is_access() && self.payload & STORE == 0
    }

    /// Returns whether this is a store or an atomic without result.
    pub fn is_store(self) -> bool {
        self.is_access() && self.payload & STORE != 0
    }

    /// Returns whether this is a conditional branch, or another conditional operation.
    pub fn is_conditional(self) -> bool {
        match self.class {
            OperationClass::Branch => self.payload & CONDITIONAL != 0,
            OperationClass::Other => self.payload == CONDITIONAL,
            _ => false,
        }
    }

    /// Returns whether this is a branch whose target comes from a register.
    pub fn is_indirect(self) -> bool {
        self.is_branch() && self.payload & INDIRECT != 0
    }

    /// Returns whether this is an atomic read-modify-write.
    pub fn is_atomic(self) -> bool {
        matches!(self.access_class(), Some(AccessClass::Extended { atomic: true, .. }))
    }

    /// Returns the class of an access, or `None` for any other operation.
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

    /// Returns the shape of an SVE operation that is not an access, or `None` for all others.
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
    fn payloads_match_the_packet_descriptions() {
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
    fn every_access_payload_decodes_to_its_inputs() {
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
