//! Costs of a Cortex-A53, and the uses of its issue slots.

use sim_a53::slots::{LostTo, SLOTS};
use sim_a53::{A53CoreOutcome, MispredictionSlots};

use super::{CoreIdeal, CoreLoss, Slots};

/// A cost that is removed, or a limit that is lifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum A53Ideal {
    /// Data accesses take the time of L1 hits.
    BeyondL1,
    /// L2 misses of data accesses take the time of L2 hits.
    BeyondL2,
    /// Misses of the micro-TLBs take no time.
    Translation,
    /// Every branch is predicted right.
    Prediction,
    /// Fetch delays nothing.
    Fetch,
    /// A result is ready in the next cycle.
    Latency,
    /// Any two instructions issue together.
    Issue,
    /// The store buffer is never full.
    StoreBuffer,
}

impl A53Ideal {
    /// All ideals.
    pub const ALL: [A53Ideal; 8] = [
        A53Ideal::BeyondL1,
        A53Ideal::BeyondL2,
        A53Ideal::Translation,
        A53Ideal::Prediction,
        A53Ideal::Fetch,
        A53Ideal::Latency,
        A53Ideal::Issue,
        A53Ideal::StoreBuffer,
    ];
}

impl CoreIdeal for A53Ideal {
    type Loss = A53Loss;
    const EACH: &'static [A53Ideal] = &A53Ideal::ALL;

    fn setting(self) -> &'static str {
        match self {
            A53Ideal::BeyondL1 => "memory.ideal.data=beyond-l1",
            A53Ideal::BeyondL2 => "memory.ideal.data=beyond-l2",
            A53Ideal::Translation => "memory.ideal.translation=true",
            A53Ideal::Prediction => "pipeline.ideal.prediction=true",
            A53Ideal::Fetch => "pipeline.ideal.fetch=true",
            A53Ideal::Latency => "pipeline.ideal.latency=true",
            A53Ideal::Issue => "pipeline.ideal.issue=true",
            A53Ideal::StoreBuffer => "memory.ideal.store-buffer=true",
        }
    }

    fn name(self) -> &'static str {
        match self {
            A53Ideal::BeyondL1 => "beyond-l1",
            A53Ideal::BeyondL2 => "beyond-l2",
            A53Ideal::Translation => "translation",
            A53Ideal::Prediction => "prediction",
            A53Ideal::Fetch => "fetch",
            A53Ideal::Latency => "latency",
            A53Ideal::Issue => "issue",
            A53Ideal::StoreBuffer => "store-buffer",
        }
    }

    fn label(self) -> &'static str {
        match self {
            A53Ideal::BeyondL1 => "memory beyond the L1",
            A53Ideal::BeyondL2 => "memory beyond the L2",
            A53Ideal::Translation => "TLB misses",
            A53Ideal::Prediction => "branch prediction",
            A53Ideal::Fetch => "fetch",
            A53Ideal::Latency => "execution latency",
            A53Ideal::Issue => "pairs and wide accesses",
            A53Ideal::StoreBuffer => "full store buffer",
        }
    }

    fn removes(self) -> &'static [A53Loss] {
        match self {
            A53Ideal::BeyondL1 => &[A53Loss::Lost(LostTo::LoadMiss), A53Loss::Lost(LostTo::Store)],
            // A load miss is one cause, wherever its line is.
            A53Ideal::BeyondL2 => &[],
            A53Ideal::Translation => &[A53Loss::Lost(LostTo::InstTlb)],
            A53Ideal::Prediction => &[A53Loss::Misprediction],
            A53Ideal::Fetch => &[
                A53Loss::Lost(LostTo::InstCache),
                A53Loss::Lost(LostTo::InstTlb),
                A53Loss::Lost(LostTo::FrontEnd),
            ],
            A53Ideal::Latency => &[
                A53Loss::Lost(LostTo::SimdInterlock),
                A53Loss::Lost(LostTo::AddressInterlock),
                A53Loss::Lost(LostTo::OtherInterlock),
            ],
            A53Ideal::Issue => &[A53Loss::Lost(LostTo::Pairing), A53Loss::Lost(LostTo::WideAccess)],
            A53Ideal::StoreBuffer => &[A53Loss::Lost(LostTo::Store)],
        }
    }

    fn charged(self, slots: &Slots) -> Option<u64> {
        let removed = self.removes();
        (!removed.is_empty()).then(|| slots.of_losses(removed))
    }

    /// Data beyond the L1 is ideal beyond the L2 as well.
    fn is_part_of_another(self) -> bool {
        self == A53Ideal::BeyondL2
    }
}

/// Use of an issue slot; every slot has exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum A53Loss {
    /// It issued an instruction.
    Issued,
    /// The queue was empty after a misprediction.
    Misprediction,
    /// It was lost to another cause. An empty queue has no misprediction before it.
    Lost(LostTo),
}

impl CoreLoss for A53Loss {
    const EACH: &'static [A53Loss] = &[
        A53Loss::Issued,
        A53Loss::Misprediction,
        A53Loss::Lost(LostTo::LoadMiss),
        A53Loss::Lost(LostTo::Store),
        A53Loss::Lost(LostTo::SimdInterlock),
        A53Loss::Lost(LostTo::AddressInterlock),
        A53Loss::Lost(LostTo::OtherInterlock),
        A53Loss::Lost(LostTo::InstCache),
        A53Loss::Lost(LostTo::InstTlb),
        A53Loss::Lost(LostTo::FrontEnd),
        A53Loss::Lost(LostTo::Pairing),
        A53Loss::Lost(LostTo::WideAccess),
        A53Loss::Lost(LostTo::End),
    ];

    fn number(self) -> usize {
        match self {
            A53Loss::Issued => 0,
            A53Loss::Misprediction => 1,
            A53Loss::Lost(cause) => 2 + cause as usize,
        }
    }

    fn label(self) -> &'static str {
        match self {
            A53Loss::Issued => "issued instructions",
            A53Loss::Misprediction => "mispredictions",
            A53Loss::Lost(LostTo::LoadMiss) => "load misses",
            A53Loss::Lost(LostTo::Store) => "stores and barriers",
            A53Loss::Lost(LostTo::SimdInterlock) => "vector interlocks",
            A53Loss::Lost(LostTo::AddressInterlock) => "address interlocks",
            A53Loss::Lost(LostTo::OtherInterlock) => "other interlocks",
            A53Loss::Lost(LostTo::InstCache) => "L1I misses",
            A53Loss::Lost(LostTo::InstTlb) => "ITLB misses",
            A53Loss::Lost(LostTo::FrontEnd) => "taken branches and restarts",
            A53Loss::Lost(LostTo::Pairing) => "no pair",
            A53Loss::Lost(LostTo::WideAccess) => "wide accesses",
            A53Loss::Lost(LostTo::End) => "end of the program",
        }
    }

    fn is_empty(self) -> bool {
        self != A53Loss::Issued
    }
}

impl Slots {
    /// Returns the slots of all cores of a run on a Cortex-A53, with the slots that each core lost
    /// after mispredictions.
    pub fn of_a53(cores: &[(A53CoreOutcome, MispredictionSlots)]) -> Slots {
        let cycles = cores.iter().map(|(core, _)| core.cycles).sum();
        let mut slots = Slots::new(cycles, SLOTS);
        for (core, mispredictions) in cores {
            let after = mispredictions.slots();
            slots.add(A53Loss::Issued, core.slots.issued);
            slots.add(A53Loss::Misprediction, after);
            for cause in LostTo::ALL {
                let lost = core.slots.lost(cause);
                let own = if cause == LostTo::FrontEnd { lost.saturating_sub(after) } else { lost };
                slots.add(A53Loss::Lost(cause), own);
            }
        }
        slots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_the_uses_are_their_places() {
        for (place, loss) in A53Loss::EACH.iter().enumerate() {
            assert_eq!(loss.number(), place, "{}", loss.label());
        }
        assert_eq!(A53Loss::EACH.len(), 2 + LostTo::ALL.len());
    }
}
