//! Resources that operations take in program order and free at retirement: reorder buffer, physical
//! registers, load and branch queue (PMU guide 3.2).

/// Kind of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceKind {
    /// Reorder buffer.
    Rob,
    /// General registers and SP.
    General,
    /// NZCV.
    Flags,
    /// Vector, predicate and first-fault registers.
    Vector,
    /// Load queue.
    Load,
    /// Branch queue.
    Branch,
}

impl ResourceKind {
    /// All kinds.
    pub const ALL: [ResourceKind; 6] = [
        ResourceKind::Rob,
        ResourceKind::General,
        ResourceKind::Flags,
        ResourceKind::Vector,
        ResourceKind::Load,
        ResourceKind::Branch,
    ];
}

/// Bits of each count, in the order of [`ResourceKind::ALL`]. The highest bit shows in a
/// subtraction whether the count was sufficient.
const LANE_BITS: [u32; 6] = [12, 11, 10, 11, 10, 10];
const _: () = assert!(shift_of(5) + LANE_BITS[5] == u64::BITS, "all counts are one word");

/// Returns the lowest bit of a count.
const fn shift_of(lane: usize) -> u32 {
    let (mut shift, mut below) = (0, 0);
    while below < lane {
        shift += LANE_BITS[below];
        below += 1;
    }
    shift
}

/// The top bit of every count.
const LANE_TOPS: u64 = {
    let (mut tops, mut lane) = (0, 0);
    while lane < LANE_BITS.len() {
        tops |= 1 << (shift_of(lane) + LANE_BITS[lane] - 1);
        lane += 1;
    }
    tops
};

impl ResourceKind {
    /// Returns the largest count of this kind.
    pub const fn most(self) -> u32 {
        (1 << (LANE_BITS[self as usize] - 1)) - 1
    }
}

/// A count for each [`ResourceKind`], at most [`ResourceKind::most`] each. All counts are added and
/// compared in one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RenameResources(u64);

impl RenameResources {
    /// Returns `count` entries of one kind.
    pub const fn of(kind: ResourceKind, count: u32) -> RenameResources {
        RenameResources((count as u64) << shift_of(kind as usize))
    }

    /// Returns the count of one kind.
    #[inline]
    pub fn count(self, kind: ResourceKind) -> u32 {
        (self.0 >> shift_of(kind as usize)) as u32 & kind.most()
    }

    /// Returns the sum of all kinds.
    pub fn sum(self) -> u32 {
        ResourceKind::ALL.into_iter().map(|kind| self.count(kind)).sum()
    }

    /// Returns each count, limited to the count in `limit`.
    #[must_use]
    pub fn at_most(self, limit: RenameResources) -> RenameResources {
        ResourceKind::ALL.into_iter().fold(RenameResources::default(), |all, kind| {
            all.plus(RenameResources::of(kind, self.count(kind).min(limit.count(kind))))
        })
    }

    /// Returns the sum of both.
    #[inline]
    #[must_use]
    pub fn plus(self, more: RenameResources) -> RenameResources {
        RenameResources(self.0 + more.0)
    }

    /// Returns the difference to `less`, which must not exceed any count.
    #[inline]
    #[must_use]
    pub fn minus(self, less: RenameResources) -> RenameResources {
        RenameResources(self.0 - less.0)
    }

    /// Returns true when no count exceeds `limit`.
    #[inline]
    pub fn within(self, limit: RenameResources) -> bool {
        ((limit.0 | LANE_TOPS) - self.0) & LANE_TOPS == LANE_TOPS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode;

    #[test]
    fn counts_are_compared_kind_by_kind() {
        let limit = ResourceKind::ALL.into_iter().fold(RenameResources::default(), |all, kind| {
            all.plus(RenameResources::of(kind, 5 + kind as u32))
        });
        assert!(limit.within(limit) && RenameResources::default().within(limit));
        for kind in ResourceKind::ALL {
            let above = limit.plus(RenameResources::of(kind, 1));
            assert!(!above.within(limit), "{kind:?}");
            assert_eq!((above.count(kind), above.at_most(limit)), (6 + kind as u32, limit));
            assert_eq!(above.minus(limit), RenameResources::of(kind, 1));
        }
        let most = ResourceKind::ALL.into_iter().fold(RenameResources::default(), |all, kind| {
            all.plus(RenameResources::of(kind, kind.most()))
        });
        assert!(most.within(most) && !most.within(limit) && limit.within(most));
        assert_eq!(
            ResourceKind::ALL.map(|kind| most.count(kind)),
            ResourceKind::ALL.map(ResourceKind::most)
        );
    }

    #[test]
    fn an_instruction_takes_a_register_for_each_result_and_the_entries_of_its_queues() {
        let counts = |word| ResourceKind::ALL.map(|kind| decode(word).entries.count(kind));
        assert_eq!(counts(0xa8c1_7bfd), [0, 3, 0, 0, 1, 0], "ldp x29, x30, [sp], #16");
        assert_eq!(counts(0xeb01_001f), [0, 0, 1, 0, 0, 0], "cmp x0, x1");
        assert_eq!(
            counts(0x3d80_0020),
            [0; 6],
            "str q0, [x1]: the store queue is not one of these"
        );
        assert_eq!(counts(0x9400_0001), [0, 1, 0, 0, 0, 1], "bl");
        assert_eq!(counts(0x4e28_4820), [0, 0, 0, 1, 0, 0], "aese v0.16b, v1.16b");
        assert!(decode(0x3d80_0020).stores && !decode(0xa8c1_7bfd).stores);
    }
}
