//! Governing predicate of an SVE instruction: its register, and the bits that control the elements
//! (Arm ARM, SVE predicates).

use sim_core::{Activity, PmuEvent};

use crate::inst::MemOp;
use crate::{Inst, decode};

/// Bytes of a vector, and bits of a predicate.
const VECTOR_BYTES: u32 = 16;

/// Predicate that controls the elements of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Governing {
    /// Number of the predicate register, 0 to 15.
    pub register: u8,
    /// Bytes of an element. The lowest predicate bit of each element controls it.
    pub element_bytes: u8,
}

impl Governing {
    /// Returns the governing predicate of `word`. Returns `None` for an instruction without one,
    /// for a prefetch, and for an instruction whose elements this function does not know.
    ///
    /// ```
    /// use sim_isa::Governing;
    /// let ld1w = Governing::of(0xa540_a461); // LD1W {Z1.S}, P1/Z, [X3]
    /// assert_eq!(ld1w, Some(Governing { register: 1, element_bytes: 4 }));
    /// assert_eq!(Governing::of(0x0420_0000), None); // ADD Z0.B, Z0.B, Z0.B
    /// ```
    pub fn of(word: u32) -> Option<Governing> {
        let inst = decode(word);
        let is_governed = inst.is_sve && inst.events.contains(PmuEvent::SVE_PRED_FULL_SPEC);
        if !is_governed || is_prefetch(&inst) {
            return None;
        }
        let register = crate::decode::governing_register(word)?;
        Some(Governing { register, element_bytes: element_bytes(&inst)? })
    }

    /// Returns the number of elements of the vector.
    pub fn elements(self) -> u32 {
        VECTOR_BYTES / u32::from(self.element_bytes)
    }

    /// Returns the activity under the predicate `bits`, and the active elements, with bit 0 for the
    /// first.
    pub fn activity(self, bits: u16) -> (Activity, u16) {
        let elements = self.elements();
        let bytes = u32::from(self.element_bytes);
        let is_active = |element: &u32| bits >> (element * bytes) & 1 == 1;
        let active = (0..elements).filter(is_active).fold(0, |mask, element| mask | 1 << element);
        let activity = match u16::count_ones(active) {
            0 => Activity::None,
            all if all == elements => Activity::All,
            _ => Activity::Partial,
        };
        (activity, active)
    }
}

fn is_prefetch(inst: &Inst) -> bool {
    matches!(inst.mem.op, MemOp::PrefetchInst | MemOp::PrefetchLoad | MemOp::PrefetchStore)
}

fn element_bytes(inst: &Inst) -> Option<u8> {
    if inst.mem.op != MemOp::None {
        // Any bit activates a load of one element to all lanes, so each byte counts as an element.
        let elements = inst.mem.elements;
        return Some(if elements <= 1 { 1 } else { VECTOR_BYTES as u8 / elements });
    }
    let floats = [PmuEvent::FP_HP_SPEC, PmuEvent::FP_SP_SPEC, PmuEvent::FP_DP_SPEC];
    if let Some(log) = floats.iter().position(|event| inst.events.contains(*event)) {
        return Some(2 << log);
    }
    let word = inst.word;
    let of_size = 1 << (word >> 22 & 3);
    match word >> 24 {
        0x25 => Some(if works_on_bits(word) { 1 } else { of_size }),
        // Shifts by immediate have the size in two fields before the distance.
        0x04 if word >> 19 & 7 == 0 && word >> 13 & 7 == 0b100 => {
            let size = word >> 20 & 0xc | word >> 8 & 3;
            (size != 0).then(|| 1 << size.ilog2())
        }
        0x04 | 0x05 | 0x24 | 0x44 | 0x45 => Some(of_size),
        _ => None,
    }
}

/// Returns true for predicate logic, breaks and tests: one bit per byte, whatever the size field
/// holds. `PNEXT` has a size.
fn works_on_bits(word: u32) -> bool {
    let is_next = word & 0xff3f_fe10 == 0x2519_c400;
    word >> 14 & 3 == 0b01 || word >> 14 & 3 == 0b11 && !is_next
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words are those that GNU as assembles, with the number of the predicate and the bytes of
    /// an element.
    #[test]
    fn a_word_names_its_predicate_and_the_width_of_its_elements() {
        let cases = [
            (0xa540_a461, Some((1, 4))),  // ld1w {z1.s}, p1/z, [x3]
            (0xa420_a861, Some((2, 2))),  // ld1b {z1.h}, p2/z, [x3]
            (0x8540_cc61, Some((3, 1))),  // ld1rw {z1.s}, p3/z, [x3]
            (0xa5a0_f061, Some((4, 8))),  // ld2d {z1.d, z2.d}, p4/z, [x3]
            (0xa400_3061, Some((4, 1))),  // ld1rqb {z1.b}, p4/z, [x3]
            (0xe424_40e2, Some((0, 2))),  // st1b {z2.h}, p0, [x7, x4]
            (0xa480_f461, Some((5, 2))),  // ldnt1h {z1.h}, p5/z, [x3]
            (0x8560_40a0, Some((0, 4))),  // ld1w {z0.s}, p0/z, [x5, z0.s, sxtw #2]
            (0xc5a1_d820, Some((6, 8))),  // ld1d {z0.d}, p6/z, [z1.d, #8]
            (0x85c0_0020, None),          // prfb pldl1keep, p0, [x1]
            (0x0440_0c20, Some((3, 2))),  // add z0.h, p3/m, z0.h, z1.h
            (0x0440_8fa0, Some((3, 4))),  // asr z0.s, p3/m, z0.s, #3
            (0x0400_8da0, Some((3, 1))),  // asr z0.b, p3/m, z0.b, #3
            (0x04c3_8900, Some((2, 8))),  // lsl z0.d, p2/m, z0.d, #40
            (0x6580_8420, Some((1, 4))),  // fadd z0.s, p1/m, z0.s, z1.s
            (0x65cb_a420, Some((1, 8))),  // fcvt z0.d, p1/m, z1.s
            (0x4561_9001, Some((4, 2))),  // match p1.h, p4/z, z0.h, z1.h
            (0x45a2_c820, Some((2, 4))),  // histcnt z0.s, p2/z, z1.s, z2.s
            (0x44c4_a843, Some((2, 8))),  // sadalp z3.d, p2/m, z2.s
            (0x2503_9c00, Some((7, 1))),  // cmpeq p0.b, p7/z, z0.b, #3
            (0x24e0_dc10, Some((7, 8))),  // cmphi p0.d, p7/z, z0.d, #3
            (0x2560_a824, Some((10, 2))), // cntp x4, p10, p1.h
            (0x2502_6c20, Some((11, 1))), // and p0.b, p11/z, p1.b, p2.b
            (0x2550_e420, Some((9, 1))),  // ptest p9, p1.b
            (0x2558_c060, Some((3, 1))),  // pfirst p0.b, p3, p0.b
            (0x2599_c460, Some((3, 4))),  // pnext p0.s, p3, p0.s
            (0x2590_7020, Some((12, 1))), // brkb p0.b, p12/z, p1.b
            (0x05a2_f420, None), // sel z0.s, p13, z1.s, z2.s: it chooses, no element is off
            (0x059e_4020, Some((14, 4))), // mov z0.s, p14/m, #1
            (0x05a1_8c20, Some((3, 4))), // compact z0.s, p3, z1.s
            (0x0560_ac20, Some((3, 2))), // lasta w0, p3, z1.h
            (0x0481_2800, Some((2, 4))), // uaddv d0, p2, z0.s
            (0x0481_c840, Some((2, 4))), // mad z0.s, p2/m, z1.s, z2.s
            (0x0406_8a40, Some((2, 2))), // sqshl z0.h, p2/m, z0.h, #2
            (0x05a2_3020, None), // tbl z0.s, {z1.s}, z2.s
            (0x8580_4000, None), // ldr z0, [x0]
        ];
        for (word, expected) in cases {
            let found = Governing::of(word).map(|found| (found.register, found.element_bytes));
            assert_eq!(found, expected, "{word:#x}");
        }
    }

    #[test]
    fn a_predicate_counts_by_its_lowest_bit_of_each_element() {
        let words = Governing { register: 0, element_bytes: 4 };
        assert_eq!(words.activity(0xffff), (Activity::All, 0b1111));
        assert_eq!(words.activity(0x1111), (Activity::All, 0b1111));
        assert_eq!(words.activity(0x0011), (Activity::Partial, 0b0011));
        assert_eq!(words.activity(0xeeee), (Activity::None, 0));
        let bytes = Governing { register: 0, element_bytes: 1 };
        assert_eq!(bytes.activity(0x8001), (Activity::Partial, 0x8001));
    }
}
