//! Scalar floating point, by the rules for NaNs that a thread has at its start.

use std::cmp::Ordering;

use sim_isa::encode::{FloatBinary, FloatUnary, Instruction, Width};

use super::registers::{Registers, cut};

/// A number of one precision.
pub(super) trait Number: Copy + PartialOrd {
    const BYTES: u8;
    /// The result of an invalid operation.
    const DEFAULT_NAN: u128;
    /// The bit of a NaN that makes it quiet.
    const QUIET: u128;
    fn from_bits(bits: u128) -> Self;
    fn bits(self) -> u128;
    fn is_nan(self) -> bool;
    fn binary(kind: FloatBinary, a: Self, b: Self) -> Self;
    fn fused(self, b: Self, addend: Self) -> Self;
    fn root(self) -> Self;
}

macro_rules! number {
    ($float:ty, $bits:ty, $bytes:literal, $nan:literal, $quiet:literal) => {
        impl Number for $float {
            const BYTES: u8 = $bytes;
            const DEFAULT_NAN: u128 = $nan;
            const QUIET: u128 = $quiet;
            fn from_bits(bits: u128) -> Self {
                <$float>::from_bits(bits as $bits)
            }
            fn bits(self) -> u128 {
                self.to_bits().into()
            }
            fn is_nan(self) -> bool {
                self.is_nan()
            }
            fn binary(kind: FloatBinary, a: Self, b: Self) -> Self {
                match kind {
                    FloatBinary::Fmul => a * b,
                    FloatBinary::Fdiv => a / b,
                    FloatBinary::Fadd => a + b,
                    FloatBinary::Fsub => a - b,
                }
            }
            fn fused(self, b: Self, addend: Self) -> Self {
                self.mul_add(b, addend)
            }
            fn root(self) -> Self {
                self.sqrt()
            }
        }
    };
}

number!(f64, u64, 8, 0x7ff8_0000_0000_0000, 0x0008_0000_0000_0000);
number!(f32, u32, 4, 0x7fc0_0000, 0x0040_0000);

/// The bits of a result: a NaN operand is passed on as a quiet one, a signaling one first.
fn settled<N: Number>(result: N, operands: &[N]) -> u128 {
    if !result.is_nan() {
        return result.bits();
    }
    let nans = || operands.iter().filter(|operand| operand.is_nan()).map(|nan| nan.bits());
    let nan = nans().find(|bits| bits & N::QUIET == 0).or_else(|| nans().next());
    nan.map_or(N::DEFAULT_NAN, |bits| bits | N::QUIET)
}

/// The bits of an operation on two numbers given by their bits.
pub(super) fn binary<N: Number>(kind: FloatBinary, a: u128, b: u128) -> u128 {
    let (a, b) = (N::from_bits(a), N::from_bits(b));
    settled(N::binary(kind, a, b), &[a, b])
}

/// The bits of `addend + a * b`, rounded once.
pub(super) fn fused<N: Number>(addend: u128, a: u128, b: u128) -> u128 {
    let (addend, a, b) = (N::from_bits(addend), N::from_bits(a), N::from_bits(b));
    // Infinity times zero is invalid, whatever quiet NaN is added.
    let is_invalid = N::binary(FloatBinary::Fmul, a, b).is_nan() && !a.is_nan() && !b.is_nan();
    let is_signaling = addend.is_nan() && addend.bits() & N::QUIET == 0;
    if is_invalid && !is_signaling {
        return N::DEFAULT_NAN;
    }
    settled(a.fused(b, addend), &[addend, a, b])
}

/// Executes an instruction of this file; returns false for others.
pub(super) fn execute(registers: &mut Registers, instruction: &Instruction) -> bool {
    use Instruction as I;
    let (I::FloatBinary { is_double, .. }
    | I::FloatUnary { is_double, .. }
    | I::FloatMultiplyAdd { is_double, .. }
    | I::FloatCompare { is_double, .. }
    | I::FloatConstant { is_double, .. }
    | I::FloatTransfer { is_double, .. }
    | I::FromInteger { is_double, .. }
    | I::ToInteger { is_double, .. }) = *instruction
    else {
        return false;
    };
    if is_double {
        arithmetic::<f64>(registers, instruction);
    } else {
        arithmetic::<f32>(registers, instruction);
    }
    true
}

fn arithmetic<N: Number>(registers: &mut Registers, instruction: &Instruction) {
    use Instruction as I;
    let bits = |number| registers.vector(number, N::BYTES);
    let sign = 1_u128 << (8 * N::BYTES - 1);
    let (d, value) = match *instruction {
        I::FloatBinary { kind, d, n, m, .. } => (d, binary::<N>(kind, bits(n), bits(m))),
        I::FloatUnary { kind, d, n, .. } => {
            let value = match kind {
                FloatUnary::Fmov => bits(n),
                FloatUnary::Fabs => bits(n) & !sign,
                FloatUnary::Fneg => bits(n) ^ sign,
                FloatUnary::Fsqrt => {
                    let value = N::from_bits(bits(n));
                    settled(value.root(), &[value])
                }
            };
            (d, value)
        }
        I::FloatMultiplyAdd { is_sub, d, n, m, a, .. } => {
            let first = if is_sub { bits(n) ^ sign } else { bits(n) };
            (d, fused::<N>(bits(a), first, bits(m)))
        }
        I::FloatCompare { n, m, .. } => {
            let (a, b) = (N::from_bits(bits(n)), N::from_bits(m.map_or(0, bits)));
            return compare(registers, a.partial_cmp(&b));
        }
        _ => return conversions::<N>(registers, instruction),
    };
    registers.set_vector(d, value);
}

fn conversions<N: Number>(registers: &mut Registers, instruction: &Instruction) {
    use Instruction as I;
    match *instruction {
        I::FloatConstant { d, value, .. } => registers.set_vector(d, rounded::<N>(value)),
        I::FloatTransfer { to_general: true, d, n, .. } => {
            registers.set(Width::X, d, registers.vector(n, N::BYTES) as u64);
        }
        I::FloatTransfer { d, n, .. } => {
            let width = if N::BYTES == 8 { Width::X } else { Width::W };
            registers.set_vector(d, registers.get(width, n).into());
        }
        I::FromInteger { width, d, n, .. } => {
            let value = super::integer::sign(registers.get(width, n), width.bits()).cast_signed();
            let bits = match N::BYTES {
                8 => u128::from((value as f64).to_bits()),
                _ => u128::from((value as f32).to_bits()),
            };
            registers.set_vector(d, bits);
        }
        I::ToInteger { width, d, n, .. } => {
            let bits = registers.vector(n, N::BYTES);
            let value = if N::BYTES == 8 {
                f64::from_bits(bits as u64)
            } else {
                f64::from(f32::from_bits(bits as u32))
            };
            // Values outside the range become its ends, and NaN zero.
            let value = match width {
                Width::X => value as i64,
                Width::W => i64::from(value as i32),
            };
            registers.set(width, d, cut(width, value.cast_unsigned()));
        }
        _ => {}
    }
}

fn rounded<N: Number>(value: f64) -> u128 {
    if N::BYTES == 8 { value.to_bits().into() } else { (value as f32).to_bits().into() }
}

fn compare(registers: &mut Registers, order: Option<Ordering>) {
    let (negative, zero, carry, overflow) = match order {
        Some(Ordering::Less) => (true, false, false, false),
        Some(Ordering::Equal) => (false, true, true, false),
        Some(Ordering::Greater) => (false, false, true, false),
        None => (false, false, true, true),
    };
    registers.negative = negative;
    registers.zero = zero;
    registers.carry = carry;
    registers.overflow = overflow;
}
