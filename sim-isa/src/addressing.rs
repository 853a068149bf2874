//! Formation of the address by loads and stores, and their effects on general registers (Arm ARM
//! C4.1, "Loads and stores"). SVE has rules of its own, in
//! [`SveAddressing`](crate::SveAddressing).

use crate::bits::{bit, field, register, signed};
use crate::word_class::is_sve;

/// Bytes that an atomic, an exclusive or a store of structures writes at most.
const WRITTEN_MAX: u64 = 64;

/// The address formation of an access, and its effects on general registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addressing {
    /// The base register; 31 is SP.
    pub base: usize,
    /// Added to the base before the access.
    pub offset: i64,
    /// Added to the base by the end of the instruction. `None`: by an unknown number.
    pub update: Option<i64>,
    /// General registers that it changes; 31 is the zero register.
    pub loaded: [Option<usize>; 4],
    /// Bytes that it may write, at most; 0 for a load.
    pub written: u64,
    /// General registers that it loads or stores whole, in the order of memory; 31 is the zero
    /// register.
    pub whole: [Option<usize>; 2],
}

impl Addressing {
    /// Returns the addressing of a load or store that needs no index register. Returns `None` for
    /// other words, and for a prefetch by register.
    ///
    /// ```
    /// use sim_isa::Addressing;
    /// let ldp = Addressing::of(0xa8c1_7bfd).expect("a pair"); // LDP X29, X30, [SP], #16
    /// assert_eq!((ldp.base, ldp.offset, ldp.update), (31, 0, Some(16)));
    /// assert_eq!(ldp.whole, [Some(29), Some(30)]);
    /// ```
    pub fn of(word: u32) -> Option<Addressing> {
        match word {
            w if is_sve(w) => None,
            // LDP, STP and related pairs.
            w if w & 0x3a00_0000 == 0x2800_0000 => Some(pair(w)),
            // Unsigned offset; unscaled, post-indexed, unprivileged, pre-indexed.
            w if w & 0x3b00_0000 == 0x3900_0000 || w & 0x3b20_0000 == 0x3800_0000 => {
                Some(single(w))
            }
            // Atomics of LSE.
            w if w & 0x3f20_0c00 == 0x3820_0000 => {
                Some(at_base(w, [Some(register(w, 0)), None, None, None]))
            }
            // Exclusives, CAS, ordered accesses.
            w if w & 0x3f00_0000 == 0x0800_0000 => Some(exclusive(w)),
            w if w & 0xbe00_0000 == 0x0c00_0000 => Some(structures(w)),
            _ => None,
        }
    }

    /// Returns the addressing of a load or store of one or two registers.
    fn plain(word: u32, offset: i64, update: i64, is_load: bool, bytes: u64) -> Addressing {
        Addressing {
            base: register(word, 5),
            offset,
            update: Some(update),
            loaded: [None; 4],
            written: if is_load { 0 } else { bytes },
            whole: [None; 2],
        }
    }

    /// Returns the addressing of an access with the general registers `rt`, of 64 bits each if they
    /// are `whole`.
    fn of_general(mut self, rt: [Option<usize>; 2], is_load: bool, is_whole: bool) -> Addressing {
        if is_load {
            self.loaded = [rt[0], rt[1], None, None];
        }
        if is_whole {
            self.whole = rt;
        }
        self
    }
}

/// Returns the addressing of an access exactly at the base, which may write.
fn at_base(word: u32, loaded: [Option<usize>; 4]) -> Addressing {
    Addressing { loaded, ..Addressing::plain(word, 0, 0, false, WRITTEN_MAX) }
}

/// Returns the addressing of an exclusive, CAS or ordered access. The old value or the status goes
/// to Rt, Rt2 or Rs; that of CASP to Rs and the next register.
fn exclusive(word: u32) -> Addressing {
    let rs = register(word, 16);
    at_base(word, [register(word, 0), register(word, 10), rs, (rs + 1) & 31].map(Some))
}

/// Returns the addressing of loads and stores of SIMD structures. How far a post-index moves the
/// base is not followed.
fn structures(word: u32) -> Addressing {
    let (is_post, is_load) = (bit(word, 23), bit(word, 22));
    let plain = Addressing::plain(word, 0, 0, is_load, WRITTEN_MAX);
    Addressing { update: (!is_post).then_some(0), ..plain }
}

fn pair(word: u32) -> Addressing {
    let (is_vector, is_load) = (bit(word, 26), bit(word, 22));
    let size = field(word, 30, 2);
    let scale = match (is_vector, size) {
        (true, _) => 2 + size,
        (false, 0b10) => 3,
        (false, 0b01) if !is_load => 4,
        (false, _) => 2,
    };
    let amount = signed(word, 15, 7) << scale;
    let (offset, update) = match field(word, 23, 2) {
        0b01 => (0, amount),
        0b11 => (amount, amount),
        _ => (amount, 0),
    };
    let plain = Addressing::plain(word, offset, update, is_load, 2 << scale);
    if is_vector {
        return plain;
    }
    plain.of_general([register(word, 0), register(word, 10)].map(Some), is_load, size == 0b10)
}

fn single(word: u32) -> Addressing {
    let is_vector = bit(word, 26);
    let (size, opc) = (field(word, 30, 2), field(word, 22, 2));
    let is_load = if is_vector { opc & 1 == 1 } else { opc != 0 };
    let scale = if is_vector && opc & 2 != 0 { 4 } else { size };
    let (offset, update) = match (bit(word, 24), field(word, 10, 2)) {
        (true, _) => (i64::from(field(word, 10, 12)) << scale, 0),
        (false, 0b01) => (0, signed(word, 12, 9)),
        (false, 0b11) => (signed(word, 12, 9), signed(word, 12, 9)),
        (false, _) => (signed(word, 12, 9), 0),
    };
    let plain = Addressing::plain(word, offset, update, is_load, 1 << scale);
    if is_vector {
        return plain;
    }
    plain.of_general([Some(register(word, 0)), None], is_load, size == 0b11)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_and_updates_follow_the_addressing_mode() {
        let cases = [
            (0xf940_0c01u32, (0, 24, Some(0))),  // ldr x1, [x0, #24]
            (0xf89f_8000, (0, -8, Some(0))),     // prfum pldl1keep, [x0, #-8]
            (0xf840_8401, (0, 0, Some(8))),      // ldr x1, [x0], #8
            (0xf85f_8c01, (0, -8, Some(-8))),    // ldr x1, [x0, #-8]!
            (0xa9bf_7bfd, (31, -16, Some(-16))), // stp x29, x30, [sp, #-16]!
            (0xad00_8440, (2, 16, Some(0))),     // stp q0, q1, [x2, #16]
            (0x3dc0_0420, (1, 16, Some(0))),     // ldr q0, [x1, #16]
            (0xc85f_7c41, (2, 0, Some(0))),      // ldxr x1, [x2]
            (0x4cdf_7020, (1, 0, None)),         // ld1 {v0.16b}, [x1], #16
        ];
        for (word, expected) in cases {
            let found = Addressing::of(word).map(|form| (form.base, form.offset, form.update));
            assert_eq!(found, Some(expected), "{word:#x}");
        }
        // ldr x0, [x1, x2]; ldr x0, .+8; ld1b {z0.b}; add x0, x1, x2.
        for word in [0xf862_6820u32, 0x5800_0040, 0xa400_a000, 0x8b02_0020] {
            assert_eq!(Addressing::of(word), None, "{word:#x}");
        }
    }

    #[test]
    fn a_load_changes_its_registers_and_a_store_memory() {
        let effects = |word| Addressing::of(word).map(|form| (form.loaded, form.written));
        let none = [None; 4];
        assert_eq!(effects(0xf940_0041), Some(([Some(1), None, None, None], 0))); // ldr x1, [x2]
        assert_eq!(effects(0xa940_0440), Some(([Some(0), Some(1), None, None], 0))); // ldp
        assert_eq!(effects(0xa900_0440), Some((none, 16))); // stp x0, x1, [x2]
        assert_eq!(effects(0x3900_0041), Some((none, 1))); // strb w1, [x2]
        assert_eq!(effects(0x3dc0_0020), Some((none, 0))); // ldr q0, [x1]
        assert_eq!(effects(0x3d80_0020), Some((none, 16))); // str q0, [x1]
        let casp = Some(([Some(2), Some(31), Some(0), Some(1)], 64));
        assert_eq!(effects(0x4820_7c82), casp); // casp x0, x1, x2, x3, [x4]
    }
}
