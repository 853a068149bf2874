//! The condition flags: how additions set them, and which condition holds.

use sim_isa::encode::{Condition, Width};

use super::registers::{Registers, cut};

/// Returns `a + b + carry`, and sets the flags if asked to.
pub(super) fn add(
    registers: &mut Registers,
    width: Width,
    [a, b]: [u64; 2],
    carry: bool,
    sets_flags: bool,
) -> u64 {
    let sum = cut(width, a.wrapping_add(b).wrapping_add(u64::from(carry)));
    if sets_flags {
        let sign = 1 << (width.bits() - 1);
        let exact = u128::from(a) + u128::from(b) + u128::from(carry);
        registers.carry = exact >> width.bits() != 0;
        registers.overflow = (a ^ sum) & (b ^ sum) & sign != 0;
        set_sign(registers, width, sum);
    }
    sum
}

/// Sets N and Z from a result.
pub(super) fn set_sign(registers: &mut Registers, width: Width, result: u64) {
    registers.negative = result >> (width.bits() - 1) & 1 == 1;
    registers.zero = result == 0;
}

/// Returns true if the flags meet the condition.
pub(super) fn holds(registers: &Registers, condition: Condition) -> bool {
    let Registers { negative, zero, carry, overflow, .. } = *registers;
    match condition {
        Condition::Eq => zero,
        Condition::Ne => !zero,
        Condition::Cs => carry,
        Condition::Cc => !carry,
        Condition::Mi => negative,
        Condition::Pl => !negative,
        Condition::Vs => overflow,
        Condition::Vc => !overflow,
        Condition::Hi => carry && !zero,
        Condition::Ls => !carry || zero,
        Condition::Ge => negative == overflow,
        Condition::Lt => negative != overflow,
        Condition::Gt => !zero && negative == overflow,
        Condition::Le => zero || negative != overflow,
        Condition::Al => true,
    }
}
