//! Ordering of threads by an instruction, for a recorder that must keep the order in which threads
//! synchronized (Arm ARM, B2.3).

use sim_core::PmuEvent;

use crate::decode;
use crate::inst::{Inst, MemOp, Special};

/// Time at which an instruction gets its number among all instructions that synchronize. An
/// instruction that observes the effect of another one must get the higher number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ordering {
    /// Before it runs, because others may observe its effect, or an earlier effect, as soon as it
    /// has run.
    pub before: bool,
    /// After its access, because the value that it read was already there.
    pub after: bool,
}

/// `ICC_SGI1R_EL1`, `ICC_ASGI1R_EL1` and `ICC_SGI0R_EL1`, without the fields `op2` and `Rt` of the
/// `MSR` that writes them: it interrupts other processors (GIC architecture, 12.2).
const MSR_ICC_SGIR: u32 = 0xd518_cb00;
/// Values of `op2` of these registers.
const SGIR_OP2: std::ops::RangeInclusive<u32> = 5..=7;

/// Returns whether `inst`, `word`, makes other processors run: it sends an interrupt, or calls the
/// firmware, which starts processors.
fn calls_processors(inst: &Inst, word: u32) -> bool {
    let is_call = matches!(inst.special, Special::HypervisorCall | Special::SecureMonitorCall);
    is_call || word & 0xffff_ff00 == MSR_ICC_SGIR && SGIR_OP2.contains(&(word >> 5 & 7))
}

impl Ordering {
    /// Returns the ordering of `word`. Returns `None` for an instruction that orders nothing.
    ///
    /// ```
    /// use sim_isa::Ordering;
    /// let unlock = Ordering::of(0x889f_fc1f); // STLR WZR, [X0]
    /// assert_eq!(unlock, Some(Ordering { before: true, after: false }));
    /// let swap = Ordering::of(0xb8e1_8002); // SWPAL W1, W2, [X0]
    /// assert_eq!(swap, Some(Ordering { before: true, after: true }));
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
        let before = releases || is_barrier || calls_processors(&inst, word);
        // Between a load-exclusive and its store, another thread may store the old value again. An
        // engine that compares values then lets the store-exclusive succeed.
        let after = acquires || is_atomic || inst.mem.exclusive;
        (before || after).then_some(Ordering { before, after })
    }
}

/// Contribution of an executed instruction to the order among threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Synchronizes {
    /// Operations younger than it observe everything before the release that it read.
    pub acquires: bool,
    /// A thread that reads its store observes everything before it.
    pub releases: bool,
    /// The instruction is a barrier: it acquires or releases through the accesses of its thread
    /// before and after it.
    pub is_fence: bool,
    /// The instruction starts, wakes or interrupts other processors.
    pub calls: bool,
}

impl Synchronizes {
    /// Returns the contribution of `word`. A relaxed atomic or exclusive contributes nothing.
    ///
    /// ```
    /// use sim_isa::Synchronizes;
    /// let add = Synchronizes::of(0xb821_0002); // LDADD W1, W2, [X0]
    /// assert_eq!(add, Synchronizes::default());
    /// let barrier = Synchronizes::of(0xd503_39bf); // DMB ISHLD
    /// assert!(barrier.acquires && barrier.is_fence && !barrier.releases && !barrier.calls);
    /// let interrupt = Synchronizes::of(0xd518_cba0); // MSR ICC_SGI1R_EL1, X0
    /// assert_eq!(interrupt, Synchronizes { calls: true, ..Synchronizes::default() });
    /// ```
    pub fn of(word: u32) -> Synchronizes {
        let inst = decode(word);
        if matches!(inst.special, Special::DataMemoryBarrier | Special::DataSyncBarrier) {
            // Bits 9 and 8 select the accesses that a DMB or DSB orders. TSB and ESB lack them and
            // order both.
            let kind = if word & 0xffff_f0df == 0xd503_309f { word >> 8 & 3 } else { 3 };
            let (acquires, releases) = (kind != 2, kind != 1);
            return Synchronizes { acquires, releases, is_fence: true, calls: false };
        }
        Synchronizes {
            acquires: inst.events.contains(PmuEvent::RC_LD_SPEC),
            releases: inst.events.contains(PmuEvent::RC_ST_SPEC),
            is_fence: false,
            calls: calls_processors(&inst, word),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_barrier_orders_the_accesses_of_its_option() {
        let fence =
            |acquires, releases| Synchronizes { acquires, releases, is_fence: true, calls: false };
        let cases = [
            (0xd503_3bbfu32, fence(true, true)), // dmb ish
            (0xd503_39bf, fence(true, false)),   // dmb ishld
            (0xd503_3abf, fence(false, true)),   // dmb ishst
            (0xd503_3f9f, fence(true, true)),    // dsb sy
            (0xd503_3d9f, fence(true, false)),   // dsb ld
            (0xd503_225f, fence(true, true)),    // tsb csync
        ];
        for (word, expected) in cases {
            assert_eq!(Synchronizes::of(word), expected, "{word:#x}");
        }
    }

    #[test]
    fn only_acquires_and_releases_synchronize() {
        let of = |acquires, releases| Synchronizes { acquires, releases, ..Default::default() };
        let cases = [
            (0x885f_fc01u32, of(true, false)), // ldaxr w1, [x0]
            (0x885f_7c01, of(false, false)),   // ldxr w1, [x0]
            (0x8802_7c01, of(false, false)),   // stxr w2, w1, [x0]
            (0x8802_fc01, of(false, true)),    // stlxr w2, w1, [x0]
            (0x88df_fc01, of(true, false)),    // ldar w1, [x0]
            (0xb8bf_c001, of(true, false)),    // ldapr w1, [x0]
            (0x889f_fc01, of(false, true)),    // stlr w1, [x0]
            (0xb821_0002, of(false, false)),   // ldadd w1, w2, [x0]
            (0xb8a1_0002, of(true, false)),    // ldadda w1, w2, [x0]
            (0xb861_001f, of(false, true)),    // staddl w1, [x0]
            (0xb8e1_0002, of(true, true)),     // ldaddal w1, w2, [x0]
            (0x0820_fc02, of(false, true)),    // caspl w0, w1, w2, w3, [x0]
            (0xb900_0001, of(false, false)),   // str w1, [x0]
        ];
        for (word, expected) in cases {
            assert_eq!(Synchronizes::of(word), expected, "{word:#x}");
        }
    }

    #[test]
    fn releases_are_numbered_before_and_reads_after_their_access() {
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
            (0xd518_cba3, (true, false)),    // msr icc_sgi1r_el1, x3
            (0xd518_cbc3, (true, false)),    // msr icc_asgi1r_el1, x3
            (0xd518_cbe3, (true, false)),    // msr icc_sgi0r_el1, x3
            (0xd400_0002, (true, false)),    // hvc #0
            (0xd400_0003, (true, false)),    // smc #0
        ];
        for (word, (before, after)) in cases {
            assert_eq!(Ordering::of(word), Some(Ordering { before, after }), "{word:#x}");
        }
        // str, ldp, isb, svc, nop, add, msr icc_dir_el1, msr icc_rpr_el1 (which is read-only)
        for word in [
            0xb900_0001u32,
            0xa940_0440,
            0xd503_3fdf,
            0xd400_0001,
            0xd503_201f,
            0x8b01_0000,
            0xd518_cb20,
            0xd518_cb60,
        ] {
            assert_eq!(Ordering::of(word), None, "{word:#x}");
        }
    }
}
