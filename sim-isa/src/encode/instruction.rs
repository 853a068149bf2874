//! One instruction by its operands.

use super::operand::{
    Address, AtomicKind, BarrierKind, BranchRegister, Condition, Extend, FloatBinary, FloatUnary,
    Integer, LogicKind, MoveKind, Order, PairAddress, SelectKind, ShiftKind, Transfer, UnaryKind,
    VectorKind, Width,
};

/// An instruction with its operands. Register fields hold 0 to 31; 31 is the zero register or SP,
/// as in the word. Offsets of branches and of `ADR` are bytes from the instruction.
///
/// Fields: `d` destination, `n` and `m` sources, `a` addend, `t` the register of a transfer, `t2`
/// that of its second half, `base` the base of an address, `s` the status or the source of an
/// exclusive store or atomic.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields are named once, above")]
pub enum Instruction {
    /// `NOP`.
    Nop,
    /// `MOVZ`, `MOVN`, `MOVK` of 16 bits at place 0 to 3.
    MoveWide { width: Width, kind: MoveKind, d: u8, value: u16, place: u8 },
    /// `ADD`, `SUB`, `ADDS`, `SUBS` of 12 bits, shifted left by 12 if `is_high`.
    AddImmediate {
        width: Width,
        is_sub: bool,
        sets_flags: bool,
        d: u8,
        n: u8,
        value: i64,
        is_high: bool,
    },
    /// The same of a shifted register.
    AddShifted {
        width: Width,
        is_sub: bool,
        sets_flags: bool,
        d: u8,
        n: u8,
        m: u8,
        shift: ShiftKind,
        amount: i64,
    },
    /// The same of an extended register.
    AddExtended {
        width: Width,
        is_sub: bool,
        sets_flags: bool,
        d: u8,
        n: u8,
        m: u8,
        extend: Extend,
        amount: i64,
    },
    /// `AND`, `ORR`, `EOR`, `ANDS` of a constant with a bitmask form.
    LogicImmediate { width: Width, kind: LogicKind, d: u8, n: u8, value: u64 },
    /// The same of a shifted register, which `is_inverted` inverts (`BIC`, `ORN`, `EON`, `BICS`).
    LogicShifted {
        width: Width,
        kind: LogicKind,
        is_inverted: bool,
        d: u8,
        n: u8,
        m: u8,
        shift: ShiftKind,
        amount: i64,
    },
    /// `UBFM` or `SBFM`: shifts by a constant and extensions.
    BitField { width: Width, is_signed: bool, d: u8, n: u8, rotate: u8, last: u8 },
    /// `EXTR`: bits `lowest` and up of the pair `n:m`; a rotation if both are one register.
    Extract { width: Width, d: u8, n: u8, m: u8, lowest: i64 },
    /// A shift by a register, or a division.
    Binary { width: Width, kind: Integer, d: u8, n: u8, m: u8 },
    /// An operation of one register.
    Unary { width: Width, kind: UnaryKind, d: u8, n: u8 },
    /// `MADD`, `MSUB`.
    MultiplyAdd { width: Width, is_sub: bool, d: u8, n: u8, m: u8, a: u8 },
    /// `SMADDL`, `UMADDL`: a product of 32-bit registers plus a 64-bit one.
    MultiplyLong { is_signed: bool, d: u8, n: u8, m: u8, a: u8 },
    /// `SMULH`, `UMULH`: the high half of the product.
    MultiplyHigh { is_signed: bool, d: u8, n: u8, m: u8 },
    /// `CSEL`, `CSINC`, `CSINV`, `CSNEG`.
    Select { width: Width, kind: SelectKind, d: u8, n: u8, m: u8, condition: Condition },
    /// `ADR`, or `ADRP` of the page.
    Adr { is_page: bool, d: u8, offset: i64 },
    /// `B`, or `BL` if it links.
    Branch { links: bool, offset: i64 },
    /// `B.cond`.
    BranchIf { condition: Condition, offset: i64 },
    /// `CBZ`, `CBNZ`.
    CompareBranch { width: Width, if_zero: bool, t: u8, offset: i64 },
    /// `TBZ`, `TBNZ`.
    TestBranch { if_zero: bool, t: u8, bit: i64, offset: i64 },
    /// `BR`, `BLR`, `RET`.
    BranchTo { kind: BranchRegister, n: u8 },
    /// `SVC` with a number.
    Svc(u16),
    /// `HLT` with a number.
    Hlt(u16),
    /// `DMB`, `DSB`, `ISB` with the four bits of the domain.
    Barrier { kind: BarrierKind, domain: u8 },
    /// `DC ZVA`.
    ZeroLine { t: u8 },
    /// A load, store or prefetch of one register.
    Access { transfer: Transfer, t: u8, base: u8, address: Address },
    /// A load or store of two registers (`LDP`, `STP`).
    Pair { transfer: Transfer, t: u8, t2: u8, base: u8, address: PairAddress },
    /// `LDXR`, `LDAXR` of 1, 2, 4 or 8 bytes.
    LoadExclusive { bytes: u8, order: Order, t: u8, base: u8 },
    /// `STXR`, `STLXR` of 1, 2, 4 or 8 bytes, with the status in `s`.
    StoreExclusive { bytes: u8, order: Order, s: u8, t: u8, base: u8 },
    /// `LDAR`, `STLR` of 1, 2, 4 or 8 bytes.
    Ordered { bytes: u8, is_load: bool, t: u8, base: u8 },
    /// `LDADD`, `LDCLR`, `LDEOR`, `LDSET`, `SWP` of 1, 2, 4 or 8 bytes.
    Atomic { bytes: u8, kind: AtomicKind, order: Order, s: u8, t: u8, base: u8 },
    /// `CAS`: memory becomes `t` if it equals `s`, which becomes the old value.
    CompareSwap { bytes: u8, order: Order, s: u8, t: u8, base: u8 },
    /// An operation of two scalar registers; of 64 bits if `is_double`, else of 32.
    FloatBinary { is_double: bool, kind: FloatBinary, d: u8, n: u8, m: u8 },
    /// An operation of one scalar register.
    FloatUnary { is_double: bool, kind: FloatUnary, d: u8, n: u8 },
    /// `FMADD`, `FMSUB`.
    FloatMultiplyAdd { is_double: bool, is_sub: bool, d: u8, n: u8, m: u8, a: u8 },
    /// `FCMP` with a register, or with zero.
    FloatCompare { is_double: bool, n: u8, m: Option<u8> },
    /// `FMOV` of a constant.
    FloatConstant { is_double: bool, d: u8, value: f64 },
    /// `FMOV` between a general register (`X` for `D`, `W` for `S`) and a scalar one.
    FloatTransfer { is_double: bool, to_general: bool, d: u8, n: u8 },
    /// `SCVTF`: a signed integer becomes a floating-point number.
    FromInteger { is_double: bool, width: Width, d: u8, n: u8 },
    /// `FCVTZS`: the number becomes a signed integer, rounded toward zero.
    ToInteger { is_double: bool, width: Width, d: u8, n: u8 },
    /// An operation on all elements of vectors of 16 bytes; elements of 1, 2, 4 or 8 bytes.
    Vector { kind: VectorKind, element: u8, d: u8, n: u8, m: u8 },
    /// `MOVI` of zero into a vector of 16 bytes.
    VectorZero { d: u8 },
}

impl Instruction {
    /// Returns the instruction with the distance to its target, if it has one.
    #[must_use]
    pub fn with_offset(self, distance: i64) -> Instruction {
        let mut changed = self;
        match &mut changed {
            Instruction::Adr { offset, .. }
            | Instruction::Branch { offset, .. }
            | Instruction::BranchIf { offset, .. }
            | Instruction::CompareBranch { offset, .. }
            | Instruction::TestBranch { offset, .. } => *offset = distance,
            _ => {}
        }
        changed
    }
}
