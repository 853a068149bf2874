//! One row of an encoding table: the bit picture, the registers, the cost, the events and the
//! memory access.

use sim_core::TagUse;

use crate::inst::{BranchKind, Faulting, MemOp, Rename, Special};
use crate::uops::Cost;

/// One encoding, or a group of encodings with identical descriptions in this crate.
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

/// Part of the architecture to which a whole table belongs.
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

/// Data-processing events that an encoding raises (PMU guide 4.9 and 4.13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counts {
    /// None: branches, memory, system, moves between or inside register files.
    Nothing,
    /// DP_SPEC.
    DataProcessing,
    /// The class event of the domain only: logic, permutation, predicates.
    Plain,
    /// The class event and integer arithmetic of the largest element.
    Int(Elem),
    /// The class event and floating-point arithmetic: largest element, operations per element.
    Fp(Elem, u8),
    /// The class event and floating-point arithmetic of a conversion with integers of another size:
    /// the floating-point element, and the larger of the two.
    FpConvert(Elem, Elem),
    /// CRYPTO_SPEC, and for SVE the class event.
    Crypto,
    /// The event of the barrier: DMB_SPEC, DSB_SPEC or ISB_SPEC.
    Barrier,
}

/// Largest element type of an operation, fixed or from a field.
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
    /// Twice the size in field `z`: widening, long and narrowing forms.
    Wide,
    /// Field `y` of a floating-point encoding: 0 single, 1 double, 3 half.
    Y,
    /// Highest set bit of field `z` of a shift by immediate: `tsz` of 4 bits.
    Tsz,
    /// Twice the size in field `tsz` of a shift by immediate.
    TszWide,
}

/// Memory access of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mem {
    pub(crate) op: MemOp,
    pub(crate) size: Size,
    /// Alignment in bytes at which an address counts as aligned; 0: the element of field `z`.
    pub(crate) align: u8,
    pub(crate) acquire: bool,
    pub(crate) release: bool,
    pub(crate) exclusive: bool,
    pub(crate) scattered: bool,
    /// First-fault or non-fault load.
    pub(crate) faulting: Faulting,
    /// Reads or writes allocation tags. For other accesses, the base decides whether they are
    /// checked.
    pub(crate) tags: TagUse,
}

/// Size of an access.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Size {
    /// A fixed number of bytes.
    Bytes(u16),
    /// A number of elements of `1 << z` bytes.
    Elems(u16),
    /// A number of vector registers of 8 or 16 bytes (bit 30).
    Regs(u16),
    /// SVE contiguous load: memory and register element from the `dtype` field `e`.
    LoadType,
    /// One element of an SVE replicating load, from the `dtype` field `e`.
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

/// Creates a row for a load or store of any kind; `align` 0 means the element of field `z`.
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

/// Creates a row for a load of `1 << z` bytes per register.
pub(crate) const fn load(
    bits: &'static str,
    regs: &'static str,
    cost: Cost,
    size: Size,
    align: u8,
) -> Row {
    mem(bits, regs, cost, MemOp::Load, size, align)
}

/// Creates a row for a store.
pub(crate) const fn store(
    bits: &'static str,
    regs: &'static str,
    cost: Cost,
    size: Size,
    align: u8,
) -> Row {
    mem(bits, regs, cost, MemOp::Store, size, align)
}

/// Creates a row for integer data processing.
pub(crate) const fn dp(bits: &'static str, regs: &'static str, cost: Cost) -> Row {
    counting(bits, regs, cost, Counts::DataProcessing)
}

/// Creates a row for a branch.
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

/// Creates a row for an unallocated hole in the encodings of the rows that follow.
pub(crate) const fn unallocated(bits: &'static str) -> Row {
    counting(bits, "=", crate::uops::UNKNOWN, Counts::Nothing).special(Special::Unknown)
}

/// Creates a row for `DMB`, `DSB` or `ISB`.
pub(crate) const fn barrier(bits: &'static str, special: Special) -> Row {
    counting(bits, "=", crate::uops::NONE, Counts::Barrier).special(special)
}

/// Creates a row for an instruction that raises no data-processing event.
pub(crate) const fn other(bits: &'static str, regs: &'static str, cost: Cost) -> Row {
    counting(bits, regs, cost, Counts::Nothing)
}

/// Creates a row for a vector operation without an arithmetic type.
pub(crate) const fn plain(bits: &'static str, regs: &'static str, cost: Cost) -> Row {
    counting(bits, regs, cost, Counts::Plain)
}

/// Creates a row for vector integer arithmetic on elements of at most `elem`.
pub(crate) const fn int(bits: &'static str, regs: &'static str, cost: Cost, elem: Elem) -> Row {
    counting(bits, regs, cost, Counts::Int(elem))
}

/// Creates a row for floating-point arithmetic with one operation per element.
pub(crate) const fn fp(bits: &'static str, regs: &'static str, cost: Cost, elem: Elem) -> Row {
    counting(bits, regs, cost, Counts::Fp(elem, 1))
}

/// Creates a row for a floating-point multiply-add with two operations per element.
pub(crate) const fn fma(bits: &'static str, regs: &'static str, cost: Cost, elem: Elem) -> Row {
    counting(bits, regs, cost, Counts::Fp(elem, 2))
}

/// Creates a row for a floating-point dot or matrix product with `ops` operations per result
/// element.
pub(crate) const fn fp_ops(
    bits: &'static str,
    regs: &'static str,
    cost: Cost,
    elem: Elem,
    ops: u8,
) -> Row {
    counting(bits, regs, cost, Counts::Fp(elem, ops))
}

/// Creates a row for a conversion between floating-point elements and larger integers, with one
/// operation for each integer.
pub(crate) const fn fp_lanes(
    bits: &'static str,
    regs: &'static str,
    cost: Cost,
    elem: Elem,
    larger: Elem,
) -> Row {
    counting(bits, regs, cost, Counts::FpConvert(elem, larger))
}

/// Creates a row for a cryptographic operation.
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
    /// Marks the row as completed at rename without a pipe.
    pub(crate) const fn renamed(mut self, rename: Rename) -> Row {
        self.rename = rename;
        self
    }

    /// Marks the row as special for the flow of the pipeline.
    pub(crate) const fn special(mut self, special: Special) -> Row {
        self.special = special;
        self
    }

    /// Marks the row as load-acquire.
    pub(crate) const fn acquire(mut self) -> Row {
        self.mem.acquire = true;
        self
    }

    /// Marks the row as store-release.
    pub(crate) const fn release(mut self) -> Row {
        self.mem.release = true;
        self
    }

    /// Marks the row as load-exclusive or store-exclusive.
    pub(crate) const fn exclusive(mut self) -> Row {
        self.mem.exclusive = true;
        self
    }

    /// Marks the row as a reader or writer of allocation tags.
    pub(crate) const fn tags(mut self, tags: TagUse) -> Row {
        self.mem.tags = tags;
        self
    }

    /// Marks the row as a gather or scatter.
    pub(crate) const fn scattered(mut self) -> Row {
        self.mem.scattered = true;
        self
    }

    /// Marks the row as a first-fault load.
    pub(crate) const fn first_fault(mut self) -> Row {
        self.mem.faulting = Faulting::First;
        self
    }

    /// Marks the row as a non-fault load.
    pub(crate) const fn non_fault(mut self) -> Row {
        self.mem.faulting = Faulting::Never;
        self
    }
}
