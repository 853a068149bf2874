//! Issue slots: two in each cycle, each of which issues an instruction or is lost to one cause.

/// Issue slots in a cycle.
pub const SLOTS: u64 = 2;

/// Cause of a lost issue slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum LostTo {
    /// Write-back is stalled by a load miss.
    LoadMiss,
    /// Write-back is stalled by a store or a barrier.
    Store,
    /// The next instruction waits for an operand or a unit, and is vector or floating-point work.
    SimdInterlock,
    /// The next instruction is a load or store that waits for its address operand.
    AddressInterlock,
    /// The next instruction waits for another operand or unit.
    OtherInterlock,
    /// The instruction queue is empty during an L1I miss.
    InstCache,
    /// The instruction queue is empty during a miss of the micro-TLB for instructions.
    InstTlb,
    /// The instruction queue is empty for another reason: a misprediction, a taken branch.
    FrontEnd,
    /// The next instruction cannot issue together with the one before it.
    Pairing,
    /// A load or store of more bytes than one cycle moves occupies the address unit.
    WideAccess,
    /// The program has ended, and its last instructions leave the pipeline.
    End,
}

impl LostTo {
    /// Every cause.
    pub const ALL: [LostTo; 11] = [
        LostTo::LoadMiss,
        LostTo::Store,
        LostTo::SimdInterlock,
        LostTo::AddressInterlock,
        LostTo::OtherInterlock,
        LostTo::InstCache,
        LostTo::InstTlb,
        LostTo::FrontEnd,
        LostTo::Pairing,
        LostTo::WideAccess,
        LostTo::End,
    ];

    /// Returns a short description.
    pub fn title(self) -> &'static str {
        match self {
            LostTo::LoadMiss => "write-back stalled by a load miss",
            LostTo::Store => "write-back stalled by a store or barrier",
            LostTo::SimdInterlock => "vector operand or unit not ready",
            LostTo::AddressInterlock => "address operand not ready",
            LostTo::OtherInterlock => "other operand or unit not ready",
            LostTo::InstCache => "instruction queue empty: L1I miss",
            LostTo::InstTlb => "instruction queue empty: micro-TLB miss",
            LostTo::FrontEnd => "instruction queue empty: misprediction or taken branch",
            LostTo::Pairing => "no pair",
            LostTo::WideAccess => "further cycle of a wide load or store",
            LostTo::End => "end of the program",
        }
    }
}

/// Number of issue slots by use. Issued and lost slots together are twice the cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slots {
    /// Slots that issued an instruction.
    pub issued: u64,
    lost: [u64; LostTo::ALL.len()],
}

impl Slots {
    /// Returns the slots that were lost to a cause.
    pub fn lost(&self, cause: LostTo) -> u64 {
        self.lost[cause as usize]
    }

    /// Returns all slots.
    pub fn total(&self) -> u64 {
        self.issued + self.lost.iter().sum::<u64>()
    }

    /// Returns the slots after `before`.
    pub(crate) fn since(&self, before: &Slots) -> Slots {
        Slots {
            issued: self.issued - before.issued,
            lost: std::array::from_fn(|cause| self.lost[cause] - before.lost[cause]),
        }
    }

    pub(crate) fn add(&mut self, other: &Slots) {
        self.issued += other.issued;
        self.lost.iter_mut().zip(&other.lost).for_each(|(own, more)| *own += more);
    }

    #[inline]
    pub(crate) fn lose(&mut self, cause: LostTo, slots: u64) {
        self.lost[cause as usize] += slots;
    }
}
