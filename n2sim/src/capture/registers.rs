//! Rebuilds the address of `DC ZVA`, which the engine does not report.
//!
//! Register values are followed forward over the last few blocks: a base register becomes known at
//! an ordinary access with a reported address, and stays known through moves, additions and masks.
//! Every later access through a known register checks the prediction.

/// Number of general registers, SP among them.
const REGISTERS: usize = 32;
const SP: usize = 31;

/// What is known of the general registers.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownRegisters {
    values: [Option<u64>; REGISTERS],
    /// Accesses whose base was known before.
    pub(super) checked: u64,
    /// Of these, those where the known value was wrong.
    pub(super) wrong: u64,
}

/// Bits `low..low + bits` of `word`.
fn field(word: u32, low: u32, bits: u32) -> usize {
    (word >> low & ((1 << bits) - 1)) as usize
}

/// Signed bits `low..low + bits` of `word`.
fn signed(word: u32, low: u32, bits: u32) -> i64 {
    i64::from((word << (32 - low - bits)).cast_signed() >> (32 - bits))
}

/// How an access forms its address and what it does to general registers.
struct Addressing {
    /// Added to the base before the access.
    offset: i64,
    /// Added to the base by the end of the instruction; `None`: the base becomes unknown.
    update: Option<i64>,
    /// Loaded general registers.
    loaded: [Option<usize>; 3],
}

impl KnownRegisters {
    /// Forgets all values, keeps the statistics.
    pub(super) fn forget(&mut self) {
        self.values = [None; REGISTERS];
    }

    /// The value of X`n`; 31 is the zero register.
    pub(super) fn x(&self, n: usize) -> Option<u64> {
        if n == SP { Some(0) } else { self.values[n] }
    }

    fn set_x(&mut self, n: usize, value: Option<u64>) {
        if n != SP {
            self.values[n] = value;
        }
    }

    /// Follows one executed instruction; `addr` is its reported address.
    pub(super) fn step(&mut self, pc: u64, word: u32, addr: Option<u64>) {
        match field(word, 25, 4) {
            0b1000 | 0b1001 => self.immediate(pc, word),
            0b0101 | 0b1101 => self.register(word),
            0b1010 | 0b1011 => self.system(pc, word),
            0b0111 | 0b1111 => self.vector(word),
            0b0100 | 0b0110 | 0b1100 | 0b1110 => self.memory(word, addr),
            _ => self.set_x(field(word, 0, 5), None),
        }
    }

    fn immediate(&mut self, pc: u64, word: u32) {
        let (rd, rn) = (field(word, 0, 5), field(word, 5, 5));
        let is_64 = word >> 31 == 1;
        let narrow = |value: u64| if is_64 { value } else { value & 0xffff_ffff };
        match field(word, 23, 3) {
            // ADR, ADRP.
            0b000 | 0b001 => {
                let imm = signed(word, 5, 19) << 2 | field(word, 29, 2) as i64;
                let value = if is_64 {
                    (pc & !0xfff).wrapping_add_signed(imm << 12)
                } else {
                    pc.wrapping_add_signed(imm)
                };
                self.set_x(rd, Some(value));
            }
            // ADD, SUB: register 31 is SP except as a destination that sets flags.
            0b010 => {
                let imm = (field(word, 10, 12) as u64) << (12 * field(word, 22, 1));
                let value = self.values[rn].map(|base| {
                    let is_sub = field(word, 30, 1) == 1;
                    narrow(if is_sub { base.wrapping_sub(imm) } else { base.wrapping_add(imm) })
                });
                let sets_flags = field(word, 29, 1) == 1;
                if !(sets_flags && rd == SP) {
                    self.values[rd] = value;
                }
            }
            // AND, ORR, EOR, ANDS: register 31 is SP except for ANDS.
            0b100 => {
                let opc = field(word, 29, 2);
                let value = match (self.x(rn), bit_mask(word)) {
                    (Some(n), Some(mask)) => Some(match opc {
                        0b01 => n | mask,
                        0b10 => n ^ mask,
                        _ => n & mask,
                    }),
                    _ => None,
                };
                if !(opc == 0b11 && rd == SP) {
                    self.values[rd] = value.map(narrow);
                }
            }
            // MOVN, MOVZ, MOVK.
            0b101 => {
                let shift = 16 * field(word, 21, 2) as u32;
                let imm = (field(word, 5, 16) as u64) << shift;
                let value = match field(word, 29, 2) {
                    0b00 => Some(!imm),
                    0b10 => Some(imm),
                    _ => self.x(rd).map(|old| old & !(0xffff << shift) | imm),
                };
                self.set_x(rd, value.map(narrow));
            }
            _ => self.set_x(rd, None),
        }
    }

    fn register(&mut self, word: u32) {
        let (rd, rn, rm) = (field(word, 0, 5), field(word, 5, 5), field(word, 16, 5));
        let is_logical = word & 0x1f00_0000 == 0x0a00_0000;
        let is_add_shifted = word & 0x1f20_0000 == 0x0b00_0000;
        let is_shift_left = field(word, 22, 2) == 0;
        let operands = self.x(rn).zip(self.x(rm));
        let value = match operands {
            Some((n, m)) if (is_logical || is_add_shifted) && is_shift_left => {
                let m = m.wrapping_shl(field(word, 10, 6) as u32);
                let value = if is_logical {
                    let m = if field(word, 21, 1) == 1 { !m } else { m };
                    match field(word, 29, 2) {
                        0b01 => n | m,
                        0b10 => n ^ m,
                        _ => n & m,
                    }
                } else if field(word, 30, 1) == 1 {
                    n.wrapping_sub(m)
                } else {
                    n.wrapping_add(m)
                };
                Some(if word >> 31 == 1 { value } else { value & 0xffff_ffff })
            }
            _ => None,
        };
        let is_compare = word & 0x3fe0_0000 == 0x3a40_0000; // CCMP and CCMN write flags only.
        if !is_compare {
            // An extended-register ADD may write SP; it is not followed.
            if word & 0x1f20_0000 == 0x0b20_0000 && rd == SP {
                self.values[SP] = None;
            }
            self.set_x(rd, value);
        }
    }

    fn system(&mut self, pc: u64, word: u32) {
        let is_call = word & 0xfc00_0000 == 0x9400_0000 || word & 0xfffe_f800 == 0xd63e_0800;
        let is_blr = word & 0xfeff_f000 == 0xd63f_0000;
        if is_call || is_blr {
            self.set_x(30, Some(pc.wrapping_add(4)));
        } else if word & 0xff20_0000 == 0xd520_0000 {
            self.set_x(field(word, 0, 5), None); // MRS, SYSL
        } else if word & 0xffe0_001f == 0xd400_0001 {
            self.set_x(0, None); // SVC
        }
    }

    /// Only conversions and moves to general registers matter.
    fn vector(&mut self, word: u32) {
        let converts = word & 0x5f20_0000 == 0x1e20_0000 && field(word, 10, 6) == 0
            || word & 0x5f20_0000 == 0x1e00_0000;
        let moves_lane =
            word & 0xbfe0_8400 == 0x0e00_0400 && matches!(field(word, 11, 4), 0b0101 | 0b0111);
        if converts || moves_lane {
            self.set_x(field(word, 0, 5), None);
        }
    }

    fn memory(&mut self, word: u32, addr: Option<u64>) {
        let base = field(word, 5, 5);
        let Some(form) = addressing(word) else {
            // A form whose address is not followed; its registers are forgotten.
            for register in [field(word, 0, 5), field(word, 10, 5), field(word, 16, 5)] {
                self.set_x(register, None);
            }
            if word & 0x0c80_0000 == 0x0c80_0000 {
                self.values[base] = None;
            }
            return;
        };
        if let Some(addr) = addr {
            let learned = addr.wrapping_add_signed(-form.offset);
            if let Some(known) = self.values[base] {
                self.checked += 1;
                self.wrong += u64::from(known != learned);
            }
            self.values[base] = Some(learned);
        }
        let updated = match form.update {
            Some(update) => self.values[base].map(|value| value.wrapping_add_signed(update)),
            None => None,
        };
        self.values[base] = updated;
        for register in form.loaded.into_iter().flatten() {
            self.set_x(register, None);
        }
    }
}

/// The addressing of a load or store; `None` for forms that are not followed.
fn addressing(word: u32) -> Option<Addressing> {
    let rt = field(word, 0, 5);
    let (rt2, rs) = (field(word, 10, 5), field(word, 16, 5));
    let is_vector = field(word, 26, 1) == 1;
    let size = field(word, 30, 2) as u32;
    let general = |register: usize, is_load: bool| (is_load && !is_vector).then_some(register);
    // LDP, STP and kin.
    if word & 0x3a00_0000 == 0x2800_0000 {
        let scale = match (is_vector, size) {
            (true, _) => 2 + size,
            (false, 0b10) => 3,
            (false, _) => {
                if size == 0b01 && field(word, 22, 1) == 0 {
                    4
                } else {
                    2
                }
            }
        };
        let offset = signed(word, 15, 7) << scale;
        let is_load = field(word, 22, 1) == 1;
        let loaded = [general(rt, is_load), general(rt2, is_load), None];
        return Some(match field(word, 23, 2) {
            0b01 => Addressing { offset: 0, update: Some(offset), loaded },
            0b11 => Addressing { offset, update: Some(offset), loaded },
            _ => Addressing { offset, update: Some(0), loaded },
        });
    }
    let opc = field(word, 22, 2);
    let is_load = opc != 0;
    let loaded = [general(rt, is_load), None, None];
    // Unsigned offset.
    if word & 0x3b00_0000 == 0x3900_0000 {
        let scale = if is_vector && opc & 2 != 0 { 4 } else { size };
        let offset = (field(word, 10, 12) as i64) << scale;
        return Some(Addressing { offset, update: Some(0), loaded });
    }
    // Unscaled, post-indexed, unprivileged, pre-indexed.
    if word & 0x3b20_0000 == 0x3800_0000 {
        let offset = signed(word, 12, 9);
        return Some(match field(word, 10, 2) {
            0b01 => Addressing { offset: 0, update: Some(offset), loaded },
            0b11 => Addressing { offset, update: Some(offset), loaded },
            _ => Addressing { offset, update: Some(0), loaded },
        });
    }
    // Atomics of LSE; exclusives, CAS, ordered accesses. Both return values in rt or rs.
    let is_atomic = word & 0x3b20_0c00 == 0x3820_0000 && !is_vector;
    let is_exclusive = word & 0x3f00_0000 == 0x0800_0000;
    if is_atomic || is_exclusive {
        let loaded = [Some(rt), is_exclusive.then_some(rt2), is_exclusive.then_some(rs)];
        return Some(Addressing { offset: 0, update: Some(0), loaded });
    }
    // SIMD structures: the post-index amount is not followed.
    if word & 0xbe00_0000 == 0x0c00_0000 {
        let is_post = field(word, 23, 1) == 1;
        return Some(Addressing { offset: 0, update: (!is_post).then_some(0), loaded: [None; 3] });
    }
    None
}

/// The mask of a logical immediate.
fn bit_mask(word: u32) -> Option<u64> {
    let (n, immr, imms) = (field(word, 22, 1), field(word, 16, 6), field(word, 10, 6));
    let length_bits = (n << 6 | !imms & 0x3f) as u32;
    let size = 1u32 << length_bits.checked_ilog2()?;
    let ones = (imms as u32 & (size - 1)) + 1;
    let rotate = immr as u32 & (size - 1);
    if size < 2 || ones == size {
        return None;
    }
    let element = (1u64 << ones) - 1;
    let all = if size == 64 { u64::MAX } else { (1 << size) - 1 };
    let rotated =
        if rotate == 0 { element } else { (element >> rotate | element << (size - rotate)) & all };
    Some((0..64 / size).fold(0, |mask, copy| mask | rotated << (copy * size)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(program: &[(u32, Option<u64>)]) -> KnownRegisters {
        let mut registers = KnownRegisters::default();
        for (index, &(word, addr)) in program.iter().enumerate() {
            registers.step(0x1000 + 4 * index as u64, word, addr);
        }
        registers
    }

    #[test]
    fn a_base_is_learned_from_an_access_and_kept_through_arithmetic() {
        let registers = run(&[
            (0xf940_0c01, Some(0x8018)), // ldr x1, [x0, #24]
            (0x9101_0002, None),         // add x2, x0, #0x40
            (0x927a_e443, None),         // and x3, x2, #~0x3f
            (0xaa03_03e4, None),         // mov x4, x3
            (0xd100_4084, None),         // sub x4, x4, #0x10
        ]);
        assert_eq!(registers.x(0), Some(0x8000));
        assert_eq!(registers.x(1), None);
        assert_eq!(registers.x(2), Some(0x8040));
        assert_eq!(registers.x(3), Some(0x8040));
        assert_eq!(registers.x(4), Some(0x8030));
    }

    #[test]
    fn the_bytes_of_memset_lead_to_its_zeroed_lines() {
        let registers = run(&[
            (0x4e01_0c20, None),         // dup v0.16b, w1
            (0xad00_0000, Some(0x9010)), // stp q0, q0, [x0]
            (0x927a_e403, None),         // and x3, x0, #~0x3f
            (0x9101_0063, None),         // add x3, x3, #0x40
        ]);
        assert_eq!(registers.x(3), Some(0x9040));
    }

    #[test]
    fn writeback_moves_the_base_and_a_load_forgets_its_destination() {
        let registers = run(&[
            (0xf840_8401, Some(0x100)), // ldr x1, [x0], #8
            (0xa9bf_7bfd, Some(0x7f0)), // stp x29, x30, [sp, #-16]!
            (0xd280_0021, None),        // mov x1, #1
            (0xf940_0001, Some(0x108)), // ldr x1, [x0]
        ]);
        assert_eq!(registers.x(0), Some(0x108));
        assert_eq!(registers.values[SP], Some(0x7f0));
        assert_eq!(registers.x(1), None);
        assert_eq!((registers.checked, registers.wrong), (1, 0));
    }

    #[test]
    fn a_wrong_prediction_is_counted_and_repaired() {
        let registers = run(&[
            (0xf940_0001, Some(0x100)), // ldr x1, [x0]
            (0xf940_0001, Some(0x900)), // ldr x1, [x0]
        ]);
        assert_eq!((registers.checked, registers.wrong), (1, 1));
        assert_eq!(registers.x(0), Some(0x900));
    }

    #[test]
    fn logical_immediates_repeat_their_element() {
        assert_eq!(bit_mask(0x927a_e443), Some(!0x3f));
        assert_eq!(bit_mask(0x9200_f041), Some(0x5555_5555_5555_5555)); // and x1, x2, #0x55..
        assert_eq!(bit_mask(0x9240_0c41), Some(0xf)); // and x1, x2, #0xf
    }
}
