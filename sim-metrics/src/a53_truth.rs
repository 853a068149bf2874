//! Ground-truth values of a Cortex-A53: which of [`Truth`] its model knows, and what each means
//! there. They are of what retires, but for those of TLBs, L2 cache and bus, which loads of wrong
//! paths use, too.

use crate::truth::Truth;

/// Ground-truth values with their meaning, where it is not that of a Neoverse N2.
#[rustfmt::skip]
const MEANINGS: &[(Truth, Option<&str>)] = {
    use Truth as T;
    &[
        (T::Cycles, None),
        (T::Slots, Some("Issue slots of all cycles: two per cycle.")),
        (T::Retired, None),
        (T::Loads, Some("Retired instructions that load, including atomics; without preloads.")),
        (T::Stores, Some("Retired instructions that store, including atomics; without failed store-exclusives.")),
        (T::Branches, None),
        (T::ImmediateBranches, None),
        (T::IndirectBranches, None),
        (T::Returns, None),
        (T::Mispredicted, Some("Retired branches, without exception returns, that were predicted wrongly.")),
        (T::L1dAccesses, Some("Retired loads, stores, atomics and DC ZVA, without failed store-exclusives; a pair or a vector counts once.")),
        (T::L1dMisses, Some("Retired loads that waited for their line, and writes of the store buffer whose line was neither in the L1 D-cache nor on its way.")),
        (T::L1iAccesses, Some("Lines that the front end fetched, including wrong paths.")),
        (T::L1iMisses, Some("Fetched lines that were not in the L1 I-cache in time, including wrong paths.")),
        (T::L2Accesses, Some("Lines that loads, stores and fetches requested because an L1 cache did not have them.")),
        (T::L2Misses, Some("Lines that loads, stores and fetches requested and external memory supplied.")),
        (T::DtlbMisses, Some("Addresses of loads and stores that were not in the micro-TLB for data.")),
        (T::DtlbWalks, Some("Table walks for data.")),
        (T::ItlbMisses, Some("Fetches that were not in the micro-TLB for fetches.")),
        (T::ItlbWalks, None),
        (T::Walks, None),
        (T::PrefetchedLines, Some("Lines that the prefetchers of the L1 caches requested.")),
        (T::BytesRead, Some("Data that came from the snoop control unit into the core.")),
        (T::BytesWritten, Some("Data that left the core for the snoop control unit.")),
        (T::BytesMoved, Some("Data between the core and the snoop control unit, both ways.")),
        (T::Ipc, None),
        (T::LoadMix, None),
        (T::StoreMix, None),
        (T::BranchMix, None),
        (T::ImmediateMix, None),
        (T::IndirectMix, None),
        (T::ReturnMix, None),
        (T::BranchMissRatio, Some("Fraction of the retired branches that were predicted wrongly.")),
        (T::BranchMpki, Some("Branches that were predicted wrongly, for each 1000 retired instructions.")),
        (T::BranchPki, None),
        (T::L1dMissRatio, Some("Fraction of the retired accesses whose line was not in the L1 D-cache in time.")),
        (T::L1dMpki, None),
        (T::L1iMissRatio, None),
        (T::L1iMpki, None),
        (T::L2MissRatio, Some("Fraction of the requested lines that external memory supplied.")),
        (T::L2Mpki, Some("Lines that external memory supplied to loads, stores and fetches, for each 1000 retired instructions.")),
        (T::DtlbMpki, Some("Addresses that were not in the micro-TLB for data, for each 1000 retired instructions.")),
        (T::DtlbWalkPki, Some("Table walks for data, for each 1000 retired instructions.")),
        (T::ItlbMpki, Some("Fetches that were not in the micro-TLB for fetches, for each 1000 retired instructions.")),
        (T::ItlbWalkPki, Some("Table walks for fetches, for each 1000 retired instructions.")),
        (T::ReadBandwidth, Some("Bytes that came from the snoop control unit in each cycle.")),
        (T::WriteBandwidth, Some("Bytes that left for the snoop control unit in each cycle.")),
        (T::Bandwidth, Some("Bytes between the core and the snoop control unit in each cycle, both ways.")),
    ]
};

/// Returns every ground-truth value of a Cortex-A53, with its meaning.
pub fn all() -> impl Iterator<Item = (Truth, &'static str)> {
    let shared = MEANINGS.iter().map(|(truth, own)| (*truth, own.unwrap_or(truth.definition())));
    shared.chain(Truth::OF_A53_ONLY.iter().map(|truth| (*truth, truth.definition())))
}

/// Returns the ground-truth value of this name.
pub fn from_name(name: &str) -> Option<Truth> {
    all().map(|(truth, _)| truth).find(|truth| truth.name() == name)
}

/// Returns the meaning of a ground-truth value on a Cortex-A53; `None` if its model does not know
/// the value.
pub fn meaning(truth: Truth) -> Option<&'static str> {
    all().find(|(own, _)| *own == truth).map(|(_, meaning)| meaning)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_value_has_one_name_and_a_sentence() {
        let names: BTreeSet<&str> = all().map(|(truth, _)| truth.name()).collect();
        assert_eq!(names.len(), all().count());
        for (truth, meaning) in all() {
            assert!(meaning.ends_with('.'), "{truth:?}");
            assert_eq!(from_name(truth.name()), Some(truth));
        }
        assert_eq!(from_name("slots.frontend"), None, "a value of the Neoverse N2");
        assert_eq!(Truth::from_name("cycles.idle.l1i"), None, "a value of the Cortex-A53");
    }

    #[test]
    fn quotients_are_made_of_values_of_this_core() {
        for (truth, _) in all() {
            if let Some(quotient) = truth.quotient() {
                assert!(meaning(quotient.part).is_some(), "{truth:?}");
                assert!(meaning(quotient.whole).is_some(), "{truth:?}");
            }
        }
    }
}
