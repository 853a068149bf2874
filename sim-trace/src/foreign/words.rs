//! Stand-in A64 words for instructions with known class, registers and target only (Arm
//! architecture, "A64 base instruction descriptions").

/// Register of a stand-in word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reg {
    /// General register X0 to X30.
    X(u8),
    /// Stack pointer.
    Sp,
    /// Vector register V0 to V31.
    V(u8),
    /// Condition flags.
    Flags,
}

/// Class of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Integer,
    /// Slow integer operation.
    Multiply,
    Float,
    /// Load, with the size of one register in bytes.
    Load(u8),
    /// Store, with the size of one register in bytes.
    Store(u8),
    /// Load and store of the same address.
    ReadModifyWrite,
    Jump,
    IndirectJump,
    Call,
    IndirectCall,
    Return,
    Conditional,
}

/// Known properties of an instruction without a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sketch<'a> {
    pub(super) class: Class,
    /// Address of the instruction.
    pub(super) pc: u64,
    /// Target of a direct branch, if known.
    pub(super) target: Option<u64>,
    /// Source registers; for a load or store the base register comes first.
    pub(super) reads: &'a [Reg],
    pub(super) writes: &'a [Reg],
    /// Distance that a load or store adds to its base register, if it updates the register.
    pub(super) base_step: Option<i64>,
}

const NOP: u32 = 0xd503_201f;
/// Number of the zero register.
const ZR: u32 = 31;

/// Returns a word with the properties of `sketch`.
pub(super) fn word(sketch: &Sketch<'_>) -> u32 {
    let regs = Regs::of(sketch);
    match sketch.class {
        Class::Integer => regs.integer(),
        Class::Multiply => {
            0x9b00_0000 | regs.x(1) << 16 | regs.addend() << 10 | regs.x(0) << 5 | regs.out()
        }
        Class::Float => regs.float(),
        Class::Load(bytes) => regs.transfer(bytes, true, sketch.base_step),
        Class::Store(bytes) => regs.transfer(bytes, false, sketch.base_step),
        // LDADD of 8 bytes.
        Class::ReadModifyWrite => 0xf820_0000 | regs.x(1) << 16 | regs.base() << 5 | regs.out(),
        Class::Jump => 0x1400_0000 | distance(sketch, 26),
        Class::Call => 0x9400_0000 | distance(sketch, 26),
        Class::Conditional if !regs.reads_flags && !regs.reads_x.is_empty() => {
            0xb500_0000 | distance(sketch, 19) << 5 | regs.x(0)
        }
        Class::Conditional => 0x5400_0001 | distance(sketch, 19) << 5,
        Class::IndirectJump => 0xd61f_0000 | regs.branch_source() << 5,
        Class::IndirectCall => 0xd63f_0000 | regs.branch_source() << 5,
        Class::Return => 0xd65f_03c0,
    }
}

/// Returns the branch field of `bits` bits: the distance to the target in words, or two words if
/// the target is unknown or too far.
fn distance(sketch: &Sketch<'_>, bits: u32) -> u32 {
    let distance = sketch.target.map(|target| target.wrapping_sub(sketch.pc).cast_signed());
    let reach = 1i64 << (bits + 1);
    let words = match distance {
        Some(bytes) if bytes % 4 == 0 && (-reach..reach).contains(&bytes) => bytes / 4,
        _ => 2,
    };
    words as u32 & ((1 << bits) - 1)
}

/// Registers of a sketch by kind.
struct Regs {
    reads_x: Vec<u32>,
    reads_v: Vec<u32>,
    writes_x: Vec<u32>,
    writes_v: Vec<u32>,
    reads_sp: bool,
    writes_sp: bool,
    reads_flags: bool,
    writes_flags: bool,
}

impl Regs {
    fn of(sketch: &Sketch<'_>) -> Regs {
        let xs = |regs: &[Reg]| -> Vec<u32> {
            let general = regs.iter().filter_map(|reg| match reg {
                Reg::X(n) => Some(u32::from(*n).min(30)),
                _ => None,
            });
            general.collect()
        };
        let vs = |regs: &[Reg]| -> Vec<u32> {
            let vector = regs.iter().filter_map(|reg| match reg {
                Reg::V(n) => Some(u32::from(*n) & 31),
                _ => None,
            });
            vector.collect()
        };
        Regs {
            reads_x: xs(sketch.reads),
            reads_v: vs(sketch.reads),
            writes_x: xs(sketch.writes),
            writes_v: vs(sketch.writes),
            reads_sp: sketch.reads.contains(&Reg::Sp),
            writes_sp: sketch.writes.contains(&Reg::Sp),
            reads_flags: sketch.reads.contains(&Reg::Flags),
            writes_flags: sketch.writes.contains(&Reg::Flags),
        }
    }

    /// Returns general source register number `n`, or the zero register.
    fn x(&self, n: usize) -> u32 {
        self.reads_x.get(n).copied().unwrap_or(ZR)
    }

    fn v(&self, n: usize) -> u32 {
        self.reads_v.get(n).copied().unwrap_or(0)
    }

    /// Returns the general destination register, or the zero register.
    fn out(&self) -> u32 {
        self.writes_x.first().copied().unwrap_or(ZR)
    }

    /// Returns the index register of a load.
    fn index(&self) -> Option<u32> {
        self.reads_x.get(usize::from(!self.reads_sp)).copied()
    }

    fn addend(&self) -> u32 {
        self.x(2)
    }

    /// Returns the register that an indirect branch reads.
    fn branch_source(&self) -> u32 {
        self.reads_x.first().copied().unwrap_or(16)
    }

    /// Returns the base register: SP if it is a source, else the first source.
    fn base(&self) -> u32 {
        if self.reads_sp { 31 } else { self.reads_x.first().copied().unwrap_or(31) }
    }

    fn integer(&self) -> u32 {
        let (n, m, d) = (self.x(0), self.x(1), self.out());
        if self.writes_sp {
            // ADD SP, Xn or SP, #16.
            let n = if self.reads_x.is_empty() { 31 } else { n };
            return 0x9100_401f | n << 5;
        }
        if self.writes_flags {
            return 0xab00_0000 | m << 16 | n << 5 | d; // ADDS
        }
        if self.writes_x.is_empty() {
            return NOP;
        }
        if self.reads_flags {
            return 0x9a80_0000 | m << 16 | n << 5 | d; // CSEL
        }
        match self.reads_x.len() {
            0 if self.reads_sp => 0x9100_43e0 | d, // ADD Xd, SP, #16
            0 => 0xd280_0020 | d,                  // MOVZ Xd, #1
            1 => 0x9100_0400 | n << 5 | d,         // ADD Xd, Xn, #1
            2 => 0x8b00_0000 | m << 16 | n << 5 | d,
            _ => 0x9b00_0000 | m << 16 | self.addend() << 10 | n << 5 | d,
        }
    }

    fn float(&self) -> u32 {
        let (n, m) = (self.v(0), self.v(1));
        let Some(&d) = self.writes_v.first() else {
            return match (self.writes_flags, self.writes_x.first()) {
                (true, _) => 0x1e60_2000 | m << 16 | n << 5, // FCMP
                (_, Some(d)) => 0x9e78_0000 | n << 5 | d,    // FCVTZS
                _ => NOP,
            };
        };
        match self.reads_v.len() {
            0 if self.reads_x.is_empty() => 0x1e6e_1000 | d, // FMOV #1.0
            0 => 0x9e62_0000 | self.x(0) << 5 | d,           // SCVTF
            1 => 0x1e60_c000 | n << 5 | d,                   // FABS
            2 => 0x1e60_2800 | m << 16 | n << 5 | d,         // FADD
            _ => 0x1f40_0000 | m << 16 | self.v(2) << 10 | n << 5 | d,
        }
    }

    /// Returns the word of a load or store of one or two registers.
    fn transfer(&self, bytes: u8, is_load: bool, step: Option<i64>) -> u32 {
        let (x, v) = match is_load {
            true => (&self.writes_x[..], &self.writes_v[..]),
            false => (&self.reads_x[..], &self.reads_v[..]),
        };
        let is_vector = !v.is_empty();
        let mut base = self.base();
        let mut data: Vec<u32> = if is_vector { v.to_vec() } else { x.to_vec() };
        if !is_vector && !is_load && !self.reads_sp && !data.is_empty() {
            data.remove(0);
        }
        let first = data.first().copied().unwrap_or(if is_vector { 0 } else { ZR });
        // The registers of a pair must differ, and so must data and updated base.
        let second = data.get(1).copied().filter(|second| *second != first);
        if step.is_some() && !is_vector && (base == first || Some(base) == second) {
            base = (0..30).find(|reg| *reg != first && Some(*reg) != second).unwrap_or(0);
        }
        let load = u32::from(is_load) << 22;
        let step = step.map(|step| step.clamp(-256, 255));
        match second {
            Some(second) => {
                let (form, scale) = pair_form(bytes, is_vector);
                let form = if step.is_some() { form & !0x0100_0000 | 0x0080_0000 } else { form };
                let imm = (step.unwrap_or(0) / scale).clamp(-64, 63) as u32 & 0x7f;
                form | load | imm << 15 | second << 10 | base << 5 | first
            }
            None => {
                let form = single_form(bytes, is_vector);
                let form = match (step, self.index().filter(|_| is_load)) {
                    // Post-indexed: bit 24 clear, 01 in bits 11 and 10.
                    (Some(step), _) => form & !0x0100_0000 | (step as u32 & 0x1ff) << 12 | 0x400,
                    // Register offset: bit 24 clear, bit 21 set, 10 in bits 11 and 10, LSL.
                    (None, Some(index)) => form & !0x0100_0000 | 0x0020_6800 | index << 16,
                    (None, None) => form,
                };
                form | load | base << 5 | first
            }
        }
    }
}

/// Returns STR with an unsigned offset of zero, by the size of its register in bytes. For a 128-bit
/// vector, bit 23 extends the size field.
fn single_form(bytes: u8, is_vector: bool) -> u32 {
    match (is_vector, bytes) {
        (false, 1) => 0x3900_0000,
        (false, 2) => 0x7900_0000,
        (false, 4) => 0xb900_0000,
        (false, _) => 0xf900_0000,
        (true, 1) => 0x3d00_0000,
        (true, 2) => 0x7d00_0000,
        (true, 4) => 0xbd00_0000,
        (true, 16..) => 0x3d80_0000,
        (true, _) => 0xfd00_0000,
    }
}

/// Returns STP with an offset of zero, and the scale of its offset in bytes.
fn pair_form(bytes: u8, is_vector: bool) -> (u32, i64) {
    match (is_vector, bytes) {
        (false, ..=4) => (0x2900_0000, 4),
        (false, _) => (0xa900_0000, 8),
        (true, ..=4) => (0x2d00_0000, 4),
        (true, 16..) => (0xad00_0000, 16),
        (true, _) => (0x6d00_0000, 8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word_of(class: Class, reads: &[Reg], writes: &[Reg]) -> u32 {
        let target = Some(0x0ff0);
        word(&Sketch { class, pc: 0x1000, target, reads, writes, base_step: None })
    }

    #[test]
    fn words_match_those_of_an_assembler() {
        use Reg::{Flags, Sp, V, X};
        let cases: [(Class, &[Reg], &[Reg], u32); 25] = [
            (Class::Integer, &[X(1), X(2)], &[X(0)], 0x8b02_0020), // add x0, x1, x2
            (Class::Integer, &[X(1)], &[X(0)], 0x9100_0420),       // add x0, x1, #1
            (Class::Integer, &[X(1), X(2)], &[Flags], 0xab02_003f), // cmn x1, x2
            (Class::Integer, &[X(1), X(2), Flags], &[X(0)], 0x9a82_0020), // csel x0, x1, x2, eq
            (Class::Integer, &[Sp], &[Sp], 0x9100_43ff),           // add sp, sp, #16
            (Class::Integer, &[], &[], 0xd503_201f),               // nop
            (Class::Multiply, &[X(1), X(2)], &[X(0)], 0x9b02_7c20), // mul x0, x1, x2
            (Class::Float, &[V(1), V(2)], &[V(0)], 0x1e62_2820),   // fadd d0, d1, d2
            (Class::Float, &[V(1), V(2), V(3)], &[V(0)], 0x1f42_0c20), // fmadd d0, d1, d2, d3
            (Class::Float, &[V(1), V(2)], &[Flags], 0x1e62_2020),  // fcmp d1, d2
            (Class::Load(8), &[X(2)], &[X(1)], 0xf940_0041),       // ldr x1, [x2]
            (Class::Load(1), &[X(2)], &[X(1)], 0x3940_0041),       // ldrb w1, [x2]
            (Class::Load(16), &[X(2)], &[V(1)], 0x3dc0_0041),      // ldr q1, [x2]
            (Class::Load(8), &[Sp], &[X(1), X(2)], 0xa940_0be1),   // ldp x1, x2, [sp]
            (Class::Load(8), &[X(2), X(3)], &[X(1)], 0xf863_6841), // ldr x1, [x2, x3]
            (Class::Load(4), &[X(3), Sp], &[X(1)], 0xb863_6be1),   // ldr w1, [sp, x3]
            (Class::Load(16), &[X(2), X(3)], &[V(1)], 0x3ce3_6841), // ldr q1, [x2, x3]
            (Class::Load(1), &[X(2), X(3)], &[X(1)], 0x3863_6841), // ldrb w1, [x2, x3]
            (Class::Store(4), &[X(2), X(1)], &[], 0xb900_0041),    // str w1, [x2]
            (Class::Store(8), &[X(1), X(2), Sp], &[], 0xa900_0be1), // stp x1, x2, [sp]
            (Class::Conditional, &[Flags], &[], 0x54ff_ff81),      // b.ne -16
            (Class::Conditional, &[X(3)], &[], 0xb5ff_ff83),       // cbnz x3, -16
            (Class::Call, &[], &[X(30)], 0x97ff_fffc),             // bl -16
            (Class::IndirectJump, &[X(9)], &[], 0xd61f_0120),      // br x9
            (Class::Return, &[X(30)], &[], 0xd65f_03c0),           // ret
        ];
        for (class, reads, writes, expected) in cases {
            let found = word_of(class, reads, writes);
            assert_eq!(found, expected, "{class:?}: {found:#010x} for {expected:#010x}");
        }
    }

    #[test]
    fn base_registers_are_updated() {
        let load = |step, writes: &[Reg]| {
            let reads = &[Reg::X(2)];
            word(&Sketch {
                class: Class::Load(8),
                pc: 0,
                target: None,
                reads,
                writes,
                base_step: Some(step),
            })
        };
        assert_eq!(load(8, &[Reg::X(1)]), 0xf840_8441); // ldr x1, [x2], #8
        assert_eq!(load(-16, &[Reg::X(1)]), 0xf85f_0441); // ldr x1, [x2], #-16
        assert_eq!(load(16, &[Reg::X(1), Reg::X(3)]), 0xa8c1_0c41); // ldp x1, x3, [x2], #16
        assert_eq!(load(16, &[Reg::V(1)]), 0xfc41_0441); // ldr d1, [x2], #16
    }

    #[test]
    fn targets_out_of_reach_are_replaced() {
        let far = |target| {
            let sketch = Sketch {
                class: Class::Conditional,
                pc: 0x1000,
                target,
                reads: &[Reg::Flags],
                writes: &[],
                base_step: None,
            };
            word(&sketch)
        };
        assert_eq!(far(Some(0x1000 + (1 << 20))), 0x5400_0041);
        assert_eq!(far(Some(0x1003)), 0x5400_0041);
        assert_eq!(far(None), 0x5400_0041);
    }
}
