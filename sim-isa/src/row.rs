//! One row of an encoding table: the bit picture, the registers, the cost, what it counts and
//! touches.

use sim_core::TagUse;

use crate::inst::{BranchKind, Faulting, MemOp, Rename, Special};
use crate::uops::Cost;

/// One encoding, or a group of encodings that differ in nothing this crate describes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Bit picture, see [`crate::fields`].
    pub(crate) bits: &'static str,
    /// Registers, see [`crate::operands`].
    pub(crate) regs: &'static str,
    pub(crate) cost: Cost,
    pub(crate) counts: Counts,
    pub(crate) mem: Mem,
    pub(crate) branch: BranchKind,
    pub(crate) special: Special,
    pub(crate) rename: Rename,
}

/// The part of the architecture that a whole table belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Domain {
    /// General registers, branches, system, scalar memory.
    Integer,
    /// Scalar floating point.
    ScalarFp,
    /// Advanced SIMD.
    Simd,
    /// Scalable vectors.
    Sve,
}

/// Which data-processing events an encoding raises (PMU guide 4.9 and 4.13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counts {
    /// None: branches, memory, system, moves between or inside register files.
    Nothing,
    /// DP_SPEC.
    DataProcessing,
    /// The class event of the domain alone: logic, permutation, predicates.
    Plain,
    /// The class event and integer arithmetic of the largest element.
    Int(Elem),
    /// The class event and floating-point arithmetic: largest element, operations per element.
    Fp(Elem, u8),
    /// As that, of a conversion with integers of another size: its floating-point element, and the larger one.
    FpConvert(Elem, Elem),
    /// CRYPTO_SPEC, and for SVE the class event.
    Crypto,
    /// The event of the barrier that the row is: DMB_SPEC, DSB_SPEC or ISB_SPEC.
    Barrier,
}

/// The largest element type of an operation, fixed or told by a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Elem {
    /// 8 bits.
    B,
    /// 16 bits.
    H,
    /// 32 bits.
    S,
    /// 64 bits.
    D,
    /// Logarithm of bytes in field `z`.
    Z,
    /// Twice what field `z` says: widening, long and narrowing forms.
    Wide,
    /// Field `y` of a floating-point encoding: 0 single, 1 double, 3 half.
    Y,
    /// The highest set bit of field `z` of a shift by immediate: `tsz` of 4 bits.
    Tsz,
    /// As `Tsz`, twice as wide.
    TszWide,
}

/// Memory shape of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mem {
    pub(crate) op: MemOp,
    pub(crate) size: Size,
    /// Bytes by which an address is judged aligned; 0: the element of field `z`.
    pub(crate) align: u8,
    pub(crate) acquire: bool,
    pub(crate) release: bool,
    pub(crate) exclusive: bool,
    pub(crate) scattered: bool,
    /// First-fault or non-fault load.
    pub(crate) faulting: Faulting,
    /// Reads or writes allocation tags; whether others are checked depends on their base.
    pub(crate) tags: TagUse,
}

/// How many bytes an access covers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Size {
    /// A fixed number.
    Bytes(u16),
    /// So many elements of `1 << z` bytes.
    Elems(u16),
    /// So many vector registers of 8 or 16 bytes (bit 30).
    Regs(u16),
    /// SVE contiguous load: memory and register element in the `dtype` field `e`.
    LoadType,
    /// One element of an SVE replicating load, by the same field.
    LoadTypeOne,
    /// SVE contiguous store: register element `e`, memory element `z`, both logarithms.
    StoreType,
}

impl Mem {
    pub(crate) const NONE: Mem = Mem::new(MemOp::None, Size::Bytes(0), 1);

    const fn new(op: MemOp, size: Size, align: u8) -> Mem {
        Mem {
            op,
            size,
            align,
            acquire: false,
            release: false,
            exclusive: false,
            scattered: false,
            faulting: Faulting::Every,
            tags: TagUse::Checked,
        }
    }
}

/// A load or store of any kind; `align` 0 means the element of field `z`.
pub(crate) const fn mem(
    bits: &'static str,
    regs: &'static str,
    cost: Cost,
    op: MemOp,
    size: Size,
    align: u8,
) -> Row {
    let mut row = other(bits, regs, cost);
    row.mem = Mem::new(op, size, align);
    row
}

/// A load of `1 << z` bytes a register.
pub(crate) const fn load(
    bits: &'static str,
    regs: &'static str,
    cost: Cost,
    size: Size,
    align: u8,
) -> Row {
    mem(bits, regs, cost, MemOp::Load, size, align)
}

/// A store.
pub(crate) const fn store(
    bits: &'static str,
    regs: &'static str,
    cost: Cost,
    size: Size,
    align: u8,
) -> Row {
    mem(bits, regs, cost, MemOp::Store, size, align)
}

/// Integer data processing.
pub(crate) const fn dp(bits: &'static str, regs: &'static str, cost: Cost) -> Row {
    counting(bits, regs, cost, Counts::DataProcessing)
}

/// A branch.
pub(crate) const fn branch(
    bits: &'static str,
    regs: &'static str,
    cost: Cost,
    kind: BranchKind,
) -> Row {
    let mut row = other(bits, regs, cost);
    row.branch = kind;
    row
}

/// A hole in the encoding of the rows behind it.
pub(crate) const fn unallocated(bits: &'static str) -> Row {
    counting(bits, "=", crate::uops::UNKNOWN, Counts::Nothing).special(Special::Unknown)
}

/// `DMB`, `DSB` or `ISB`.
pub(crate) const fn barrier(bits: &'static str, special: Special) -> Row {
    counting(bits, "=", crate::uops::NONE, Counts::Barrier).special(special)
}

/// Anything that raises no data-processing event.
pub(crate) const fn other(bits: &'static str, regs: &'static str, cost: Cost) -> Row {
    counting(bits, regs, cost, Counts::Nothing)
}

/// A vector operation without arithmetic type.
pub(crate) const fn plain(bits: &'static str, regs: &'static str, cost: Cost) -> Row {
    counting(bits, regs, cost, Counts::Plain)
}

/// Vector integer arithmetic on elements of at most `elem`.
pub(crate) const fn int(bits: &'static str, regs: &'static str, cost: Cost, elem: Elem) -> Row {
    counting(bits, regs, cost, Counts::Int(elem))
}

/// Floating-point arithmetic, one operation an element.
pub(crate) const fn fp(bits: &'static str, regs: &'static str, cost: Cost, elem: Elem) -> Row {
    counting(bits, regs, cost, Counts::Fp(elem, 1))
}

/// Floating-point multiply-add, two operations an element.
pub(crate) const fn fma(bits: &'static str, regs: &'static str, cost: Cost, elem: Elem) -> Row {
    counting(bits, regs, cost, Counts::Fp(elem, 2))
}

/// Floating-point dot or matrix product of `ops` operations a result element.
pub(crate) const fn fp_ops(
    bits: &'static str,
    regs: &'static str,
    cost: Cost,
    elem: Elem,
    ops: u8,
) -> Row {
    counting(bits, regs, cost, Counts::Fp(elem, ops))
}

/// A conversion between floating-point elements and larger integers, one operation for each of these.
pub(crate) const fn fp_lanes(
    bits: &'static str,
    regs: &'static str,
    cost: Cost,
    elem: Elem,
    larger: Elem,
) -> Row {
    counting(bits, regs, cost, Counts::FpConvert(elem, larger))
}

/// A cryptographic operation.
pub(crate) const fn crypto(bits: &'static str, regs: &'static str, cost: Cost) -> Row {
    counting(bits, regs, cost, Counts::Crypto)
}

const fn counting(bits: &'static str, regs: &'static str, cost: Cost, counts: Counts) -> Row {
    Row {
        bits,
        regs,
        cost,
        counts,
        mem: Mem::NONE,
        branch: BranchKind::None,
        special: Special::None,
        rename: Rename::Normal,
    }
}

impl Row {
    /// Done at rename without a pipe.
    pub(crate) const fn renamed(mut self, rename: Rename) -> Row {
        self.rename = rename;
        self
    }

    /// Stops the flow.
    pub(crate) const fn special(mut self, special: Special) -> Row {
        self.special = special;
        self
    }

    /// Load-acquire.
    pub(crate) const fn acquire(mut self) -> Row {
        self.mem.acquire = true;
        self
    }

    /// Store-release.
    pub(crate) const fn release(mut self) -> Row {
        self.mem.release = true;
        self
    }

    /// Load-exclusive or store-exclusive.
    pub(crate) const fn exclusive(mut self) -> Row {
        self.mem.exclusive = true;
        self
    }

    /// Reads or writes allocation tags.
    pub(crate) const fn tags(mut self, tags: TagUse) -> Row {
        self.mem.tags = tags;
        self
    }

    /// Gather or scatter.
    pub(crate) const fn scattered(mut self) -> Row {
        self.mem.scattered = true;
        self
    }

    /// First-fault load.
    pub(crate) const fn first_fault(mut self) -> Row {
        self.mem.faulting = Faulting::First;
        self
    }

    /// Non-fault load.
    pub(crate) const fn non_fault(mut self) -> Row {
        self.mem.faulting = Faulting::Never;
        self
    }
}
