//! Operations on the elements of vectors of 16 bytes.

use sim_isa::encode::{FloatBinary, Instruction, VectorKind};

use super::float::{binary, fused};
use super::registers::Registers;

/// Executes an instruction of this file; returns false for others.
pub(super) fn execute(registers: &mut Registers, instruction: &Instruction) -> bool {
    match *instruction {
        Instruction::VectorZero { d } => registers.set_vector(d, 0),
        Instruction::Vector { kind, element, d, n, m } => {
            let [old, a, b] = [d, n, m].map(|number| registers.vector(number, 16));
            let bits = 8 * u32::from(element.clamp(1, 8));
            let mask = u128::MAX >> (128 - bits);
            let value = (0..128 / bits).fold(0, |value, at| {
                let part = |vector: u128| vector >> (at * bits) & mask;
                let result = operate(kind, element, part(old), [part(a), part(b)]);
                value | (result & mask) << (at * bits)
            });
            registers.set_vector(d, value);
        }
        _ => return false,
    }
    true
}

fn operate(kind: VectorKind, element: u8, old: u128, [a, b]: [u128; 2]) -> u128 {
    let float = |kind| match element {
        8 => binary::<f64>(kind, a, b),
        _ => binary::<f32>(kind, a, b),
    };
    match kind {
        VectorKind::Add => a.wrapping_add(b),
        VectorKind::Sub => a.wrapping_sub(b),
        VectorKind::Mul => a.wrapping_mul(b),
        VectorKind::And => a & b,
        VectorKind::Orr => a | b,
        VectorKind::Eor => a ^ b,
        VectorKind::Fadd => float(FloatBinary::Fadd),
        VectorKind::Fmul => float(FloatBinary::Fmul),
        VectorKind::Fmla if element == 8 => fused::<f64>(old, a, b),
        VectorKind::Fmla => fused::<f32>(old, a, b),
    }
}
