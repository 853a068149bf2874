//! General and vector registers, and the flags.

use sim_isa::encode::Width;

/// Registers of the program's thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    /// X0 to X30.
    pub x: [u64; 31],
    /// SP.
    pub sp: u64,
    /// V0 to V31; the low 64 bits are D0 to D31.
    pub v: [u128; 32],
    /// Flag N.
    pub negative: bool,
    /// Flag Z.
    pub zero: bool,
    /// Flag C.
    pub carry: bool,
    /// Flag V.
    pub overflow: bool,
}

impl Registers {
    /// Register `number` with 31 as the zero register; the low 32 bits for W.
    pub(crate) fn get(&self, width: Width, number: u8) -> u64 {
        cut(width, self.x.get(usize::from(number)).copied().unwrap_or(0))
    }

    /// Register `number` with 31 as SP.
    pub(crate) fn get_sp(&self, width: Width, number: u8) -> u64 {
        cut(width, self.x.get(usize::from(number)).copied().unwrap_or(self.sp))
    }

    /// Writes register `number`, or nothing for the zero register.
    pub(crate) fn set(&mut self, width: Width, number: u8, value: u64) {
        if let Some(register) = self.x.get_mut(usize::from(number)) {
            *register = cut(width, value);
        }
    }

    /// Writes register `number` with 31 as SP.
    pub(crate) fn set_sp(&mut self, width: Width, number: u8, value: u64) {
        *self.x.get_mut(usize::from(number)).unwrap_or(&mut self.sp) = cut(width, value);
    }

    /// The low bytes of a vector register.
    pub(crate) fn vector(&self, number: u8, bytes: u8) -> u128 {
        self.v[usize::from(number & 31)] & (u128::MAX >> (128 - 8 * u32::from(bytes)))
    }

    /// Writes a vector register.
    pub(crate) fn set_vector(&mut self, number: u8, value: u128) {
        self.v[usize::from(number & 31)] = value;
    }
}

/// The part of a value that a register of a width holds.
pub(crate) fn cut(width: Width, value: u64) -> u64 {
    match width {
        Width::X => value,
        Width::W => value & 0xffff_ffff,
    }
}
