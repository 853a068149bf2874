//! How an instruction orders its thread among others: what a recorder needs to know so that the order in
//! which threads synchronized is kept (Arm ARM, B2.3).

use sim_core::PmuEvent;

use crate::decode;
use crate::inst::{MemOp, Special};

/// When an instruction is to be given its number among all that synchronize, so that one which sees what
/// another one did has the higher number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ordering {
    /// Before it runs: others may see what it did, or what was done before it, as soon as it has.
    pub before: bool,
    /// Behind its access: what it read was there then.
    pub behind: bool,
}

impl Ordering {
    /// That of `word`; `None` for an instruction that orders nothing.
    ///
    /// ```
    /// use sim_isa::Ordering;
    /// let unlock = Ordering::of(0x889f_fc1f); // STLR WZR, [X0]
    /// assert_eq!(unlock, Some(Ordering { before: true, behind: false }));
    /// let swap = Ordering::of(0xb8e1_8002); // SWPAL W1, W2, [X0]
    /// assert_eq!(swap, Some(Ordering { before: true, behind: true }));
    /// assert_eq!(Ordering::of(0xb940_0001), None); // LDR W1, [X0]
    /// ```
    pub fn of(word: u32) -> Option<Ordering> {
        let inst = decode(word);
        let is_barrier =
            matches!(inst.special, Special::DataMemoryBarrier | Special::DataSyncBarrier);
        let is_atomic =
            matches!(inst.mem.op, MemOp::AtomicLoad | MemOp::AtomicStore | MemOp::AtomicSwap);
        let acquires = inst.events.contains(PmuEvent::RC_LD_SPEC);
        let releases = inst.events.contains(PmuEvent::RC_ST_SPEC);
        let before = releases || is_barrier;
        // What another one stored between a load-exclusive and its store may be what it was before: an
        // engine that compares values lets such a store succeed.
        let behind = acquires || is_atomic || inst.mem.exclusive;
        (before || behind).then_some(Ordering { before, behind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_have_their_number_before_and_what_reads_behind() {
        let cases = [
            (0x885f_fc01u32, (false, true)), // ldaxr w1, [x0]
            (0x885f_7c01, (false, true)),    // ldxr w1, [x0]
            (0x8802_7c01, (false, true)),    // stxr w2, w1, [x0]
            (0x8802_fc01, (true, true)),     // stlxr w2, w1, [x0]
            (0x88df_fc01, (false, true)),    // ldar w1, [x0]
            (0xb8bf_c001, (false, true)),    // ldapr w1, [x0]
            (0x889f_fc01, (true, false)),    // stlr w1, [x0]
            (0xb821_0002, (false, true)),    // ldadd w1, w2, [x0]
            (0xb8a1_0002, (false, true)),    // ldadda w1, w2, [x0]
            (0xb861_001f, (true, true)),     // staddl w1, [x0]
            (0x88e1_7c02, (false, true)),    // casa w1, w2, [x0]
            (0x88e1_fc02, (true, true)),     // casal w1, w2, [x0]
            (0x0820_fc02, (true, true)),     // caspl w0, w1, w2, w3, [x0]
            (0xd503_3bbf, (true, false)),    // dmb ish
            (0xd503_3f9f, (true, false)),    // dsb sy
        ];
        for (word, (before, behind)) in cases {
            assert_eq!(Ordering::of(word), Some(Ordering { before, behind }), "{word:#x}");
        }
        // str, ldp, isb, svc, nop, add
        for word in
            [0xb900_0001u32, 0xa940_0440, 0xd503_3fdf, 0xd400_0001, 0xd503_201f, 0x8b01_0000]
        {
            assert_eq!(Ordering::of(word), None, "{word:#x}");
        }
    }
}
