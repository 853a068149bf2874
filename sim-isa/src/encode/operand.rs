//! Operands and kinds of the instructions of [`super::Instruction`].

/// The part of a general register that an instruction uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// The low 32 bits; the others become zero.
    W,
    /// All 64 bits.
    X,
}

impl Width {
    /// Returns the number of bits, 32 or 64.
    pub const fn bits(self) -> u32 {
        match self {
            Width::W => 32,
            Width::X => 64,
        }
    }
}

/// An integer operation of two registers without a shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the instruction of its name")]
pub enum Integer {
    Udiv = 2,
    Sdiv = 3,
    Lslv = 8,
    Lsrv = 9,
    Asrv = 10,
    Rorv = 11,
}

/// An operation of one register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the instruction of its name")]
pub enum UnaryKind {
    Rbit = 0,
    /// Reverses the bytes of the whole register.
    Rev = 2,
    Clz = 4,
}

/// A move of a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveKind {
    /// `MOVN`: the inverted constant.
    Not = 0,
    /// `MOVZ`: zeros beside the constant.
    Zero = 2,
    /// `MOVK`: the other bits stay.
    Keep = 3,
}

/// An operation on each bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the instruction of its name")]
pub enum LogicKind {
    And = 0,
    Orr = 1,
    Eor = 2,
    Ands = 3,
}

/// A shift of the last operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the shift of its name")]
pub enum ShiftKind {
    Lsl = 0,
    Lsr = 1,
    Asr = 2,
    Ror = 3,
}

/// An extension of the last operand from its low 8, 16, 32 or 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the extension of its name")]
pub enum Extend {
    Uxtb = 0,
    Uxth = 1,
    Uxtw = 2,
    Uxtx = 3,
    Sxtb = 4,
    Sxth = 5,
    Sxtw = 6,
    Sxtx = 7,
}

/// A condition on the flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the condition of its name")]
pub enum Condition {
    Eq = 0,
    Ne = 1,
    Cs = 2,
    Cc = 3,
    Mi = 4,
    Pl = 5,
    Vs = 6,
    Vc = 7,
    Hi = 8,
    Ls = 9,
    Ge = 10,
    Lt = 11,
    Gt = 12,
    Le = 13,
    Al = 14,
}

impl Condition {
    /// Every condition with its name, in the order of the encoding.
    pub const ALL: [(&'static str, Condition); 15] = [
        ("eq", Condition::Eq),
        ("ne", Condition::Ne),
        ("cs", Condition::Cs),
        ("cc", Condition::Cc),
        ("mi", Condition::Mi),
        ("pl", Condition::Pl),
        ("vs", Condition::Vs),
        ("vc", Condition::Vc),
        ("hi", Condition::Hi),
        ("ls", Condition::Ls),
        ("ge", Condition::Ge),
        ("lt", Condition::Lt),
        ("gt", Condition::Gt),
        ("le", Condition::Le),
        ("al", Condition::Al),
    ];

    /// Returns the opposite condition; that of `AL`, which has none, is `AL`.
    pub fn inverted(self) -> Condition {
        let index = self as usize;
        if index == 14 { Condition::Al } else { Condition::ALL[index ^ 1].1 }
    }
}

/// A selection between two registers: the first one if the condition holds, or the second one
/// changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectKind {
    /// `CSEL`: the second register itself.
    Same,
    /// `CSINC`: plus one.
    Increment,
    /// `CSINV`: inverted.
    Invert,
    /// `CSNEG`: negated.
    Negate,
}

/// A branch to the address in a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the instruction of its name")]
pub enum BranchRegister {
    Br = 0,
    Blr = 1,
    Ret = 2,
}

/// A barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the instruction of its name")]
pub enum BarrierKind {
    Dsb = 4,
    Dmb = 5,
    Isb = 6,
}

/// A transfer between memory and one register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// Stores the low bytes of a general register.
    Store {
        /// Bytes: 1, 2, 4 or 8.
        bytes: u8,
    },
    /// Loads a general register and fills it with zeros.
    Load {
        /// Bytes: 1, 2, 4 or 8.
        bytes: u8,
    },
    /// Loads a general register and fills it with the sign.
    LoadSigned {
        /// Bytes: 1, 2 or 4 (`LDRSW`).
        bytes: u8,
        /// The part of the register that the sign fills.
        to: Width,
    },
    /// Stores the low bytes of a vector register.
    StoreVector {
        /// Bytes: 1, 2, 4, 8 or 16.
        bytes: u8,
    },
    /// Loads a vector register and fills it with zeros.
    LoadVector {
        /// Bytes: 1, 2, 4, 8 or 16.
        bytes: u8,
    },
    /// `PRFM`; the register field holds the operation.
    Prefetch,
}

impl Transfer {
    /// Returns the bytes of the access. A prefetch has those of its addressing, 8.
    pub const fn bytes(self) -> u8 {
        match self {
            Transfer::Store { bytes }
            | Transfer::Load { bytes }
            | Transfer::LoadSigned { bytes, .. }
            | Transfer::StoreVector { bytes }
            | Transfer::LoadVector { bytes } => bytes,
            Transfer::Prefetch => 8,
        }
    }
}

/// The address of a transfer; the base register is separate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// Base plus bytes, a multiple of the size.
    Scaled(i64),
    /// Base plus -256 to 255 bytes.
    Unscaled(i64),
    /// The base is changed first, then used.
    Pre(i64),
    /// The base is used, then changed.
    Post(i64),
    /// Base plus a register.
    Register {
        /// The register.
        m: u8,
        /// Its extension: `UXTW`, `UXTX` (written `LSL`), `SXTW` or `SXTX`.
        extend: Extend,
        /// It is multiplied by the size of the access.
        is_scaled: bool,
    },
}

/// The address of a pair of registers; the base register is separate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairAddress {
    /// Base plus bytes.
    Offset(i64),
    /// The base is changed first, then used.
    Pre(i64),
    /// The base is used, then changed.
    Post(i64),
}

/// Ordering of an access among others of its thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// Younger accesses wait for it.
    pub acquires: bool,
    /// It waits for older accesses.
    pub releases: bool,
}

/// An atomic operation on memory that returns the old value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicKind {
    /// `LDADD`.
    Add = 0,
    /// `LDCLR`.
    Clear = 1,
    /// `LDEOR`.
    Eor = 2,
    /// `LDSET`.
    Set = 3,
    /// `SWP`.
    Swap = 8,
}

/// A floating-point operation of two registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the instruction of its name")]
pub enum FloatBinary {
    Fmul = 0,
    Fdiv = 1,
    Fadd = 2,
    Fsub = 3,
}

/// A floating-point operation of one register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the instruction of its name")]
pub enum FloatUnary {
    Fmov = 0,
    Fabs = 1,
    Fneg = 2,
    Fsqrt = 3,
}

/// An operation on the elements of two vectors of 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the instruction of its name")]
pub enum VectorKind {
    Add,
    Sub,
    Mul,
    Fadd,
    Fmul,
    Fmla,
    And,
    Orr,
    Eor,
}
