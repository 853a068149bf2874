//! Physical pages of a system's virtual pages: the map of the trace, from the pairs that the engine
//! reported with every access (guide 3.2.18).

use super::super::wire::page;
use sim_trace::{PageEntry, PageMap, PageMemory};
use std::collections::{BTreeMap, HashMap};

/// Bytes of a page.
const BYTES: u64 = 4096;
/// Address bits of a table in `TTBR0_EL1`; above them is the ASID, below them are flags.
const TABLE: u64 = 0x0000_ffff_ffff_fffe;
/// The address range in which Linux maps all physical memory in one piece, at one offset.
const LINEAR_MAP: std::ops::Range<u64> = 0xffff_0000_0000_0000..0xffff_8000_0000_0000;

/// The address space of a processor, by the address of its table; 0 until one is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Space(u64);

impl Space {
    /// Handles a write of `TTBR0_EL1`.
    pub(crate) fn enter(&mut self, table: u64) {
        self.0 = table & TABLE;
    }

    fn key(self, virt: u64) -> (u64, u64) {
        (if virt >> 63 == 1 { 0 } else { self.0 }, virt & !(BYTES - 1))
    }
}

/// A report that a page was used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageUse {
    pub(crate) virt: u64,
    pub(crate) phys: u64,
    /// Uses, as bits of [`page`].
    pub(crate) bits: u32,
    /// Number among the reports of all processors, whose streams are read one after the other.
    pub(crate) order: u64,
}

/// The recorded properties of one virtual page.
#[derive(Clone, Copy, Debug)]
struct Use {
    phys: u64,
    bits: u32,
    /// It had several physical pages.
    has_moved: bool,
    /// Number of the report that gave the physical page.
    order: u64,
}

/// The pages of all address spaces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pages {
    /// Space (0 for the kernel's half) and virtual page.
    uses: BTreeMap<(u64, u64), Use>,
    /// Pages that `DC ZVA` wrote.
    zeroed: BTreeMap<(u64, u64), ()>,
}

impl Pages {
    /// Records the use of a page by a processor in `space`.
    pub(crate) fn note(&mut self, space: Space, report: PageUse) {
        let PageUse { virt, phys, bits, order } = report;
        let new = Use { phys, bits, has_moved: false, order };
        let usage = self.uses.entry(space.key(virt)).or_insert(new);
        usage.has_moved |= usage.phys != phys;
        usage.bits |= bits;
        if order >= usage.order {
            (usage.phys, usage.order) = (phys, order);
        }
    }

    /// Records that `DC ZVA` wrote at `virt` in `space`. The engine does not report the physical
    /// address.
    pub(super) fn note_zeroed(&mut self, space: Space, virt: u64) {
        self.zeroed.insert(space.key(virt), ());
    }

    /// Returns whether code in the page of `virt`, in the kernel's half, was executed.
    pub(super) fn is_kernel_code(&self, virt: u64) -> bool {
        let usage = self.uses.get(&(0, virt & !(BYTES - 1)));
        usage.is_some_and(|usage| usage.bits & page::EXECUTE != 0)
    }

    /// Returns the map of the kernel's half and of the address space with the most pages, and what
    /// it leaves out.
    pub(super) fn map(mut self) -> (Option<PageMap>, Vec<String>) {
        self.add_zeroed();
        let mut sizes: BTreeMap<u64, usize> = BTreeMap::new();
        for ((space, _), _) in self.uses.iter().filter(|((_, virt), _)| virt >> 63 == 0) {
            *sizes.entry(*space).or_default() += 1;
        }
        let main = sizes.iter().max_by_key(|(_, size)| **size).map(|(space, _)| *space);
        let mut remarks = Vec::new();
        if sizes.len() > 1 {
            let others: usize =
                sizes.iter().filter(|(space, _)| Some(**space) != main).map(|s| s.1).sum();
            remarks.push(format!(
                "the page map has the largest of {} address spaces: {others} pages of the others are absent",
                sizes.len()
            ));
        }
        let is_in = |space: u64, virt: u64| virt >> 63 == 1 || Some(space) == main;
        let kept = self.uses.iter().filter(|((space, virt), _)| is_in(*space, *virt));
        let moved = kept.clone().filter(|(_, usage)| usage.has_moved).count();
        if moved > 0 {
            remarks.push(format!("{moved} pages had several physical pages: the map has the last"));
        }
        let entries: Vec<PageEntry> =
            kept.filter_map(|((_, virt), usage)| usage.entry(*virt)).collect();
        if entries.is_empty() {
            return (None, remarks);
        }
        match PageMap::new(BYTES, entries) {
            Ok(map) => (Some(map), remarks),
            Err(error) => {
                remarks.push(format!("the page map could not be made: {error}"));
                (None, remarks)
            }
        }
    }

    /// Adds pages that were only zeroed, at their place in the linear map, and makes all zeroed
    /// pages writable.
    fn add_zeroed(&mut self) {
        let mut distances: HashMap<u64, usize> = HashMap::new();
        for ((_, virt), usage) in &self.uses {
            if LINEAR_MAP.contains(virt) {
                *distances.entry(virt.wrapping_sub(usage.phys)).or_default() += 1;
            }
        }
        let distance = distances.iter().max_by_key(|(d, count)| (**count, **d)).map(|(d, _)| *d);
        for key in std::mem::take(&mut self.zeroed).into_keys() {
            if let Some(usage) = self.uses.get_mut(&key) {
                usage.bits |= page::WRITE;
            } else if let Some(distance) = distance.filter(|_| LINEAR_MAP.contains(&key.1)) {
                let phys = key.1.wrapping_sub(distance);
                let new = Use { phys, bits: page::WRITE, has_moved: false, order: 0 };
                self.uses.insert(key, new);
            }
        }
    }
}

impl Use {
    /// Returns the entry of a map; `None` for addresses that no table of 48 bits has.
    fn entry(&self, virt: u64) -> Option<PageEntry> {
        let is_48_bits = matches!(virt >> 48, 0 | 0xffff) && self.phys >> 48 == 0;
        let has = |bit| self.bits & bit != 0;
        is_48_bits.then(|| PageEntry {
            virt,
            bytes: BYTES,
            phys: self.phys,
            memory: if has(page::DEVICE) { PageMemory::Device } else { PageMemory::Cacheable },
            tagged: false,
            write: has(page::WRITE),
            execute: has(page::EXECUTE),
            global: virt >> 63 == 1,
            contiguous: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: u64 = 0xffff_8000_0800_0000;
    const LINEAR: u64 = 0xffff_0000_0000_0000;

    /// Notes uses in the order of this list.
    fn note(pages: &mut Pages, space: Space, uses: &[(u64, u64, u32)]) {
        for &(virt, phys, bits) in uses {
            let order = pages.uses.len() as u64 + 1;
            pages.note(space, PageUse { virt, phys, bits, order });
        }
    }

    fn space(table: u64) -> Space {
        let mut space = Space::default();
        space.enter(table);
        space
    }

    #[test]
    fn the_map_has_the_kernel_and_the_largest_space() {
        let mut pages = Pages::default();
        note(&mut pages, Space::default(), &[(KERNEL, 0x4020_0000, page::EXECUTE)]);
        let uses = [
            (0x40_0000, 0x5000_0000, page::READ),
            (0x40_1000, 0x5000_1000, page::READ),
            (0x40_1000, 0x5000_2000, page::WRITE),
        ];
        note(&mut pages, space(0x0001_0000_4100_0000), &uses);
        let other = [(0x40_0000, 0x6000_0000, page::READ)];
        note(&mut pages, space(0x0002_0000_4200_0000), &other);
        // The ASID is not part of the table's address.
        let device = [(0x40_2000, 0x5000_3000, page::READ | page::DEVICE)];
        note(&mut pages, space(0x0007_0000_4100_0000), &device);
        assert!(pages.is_kernel_code(KERNEL + 8) && !pages.is_kernel_code(KERNEL + 0x1000));
        let (map, remarks) = pages.map();
        let map = map.expect("there are entries");
        let entries: Vec<_> =
            map.entries().iter().map(|e| (e.virt, e.phys, e.write, e.execute, e.global)).collect();
        let expected = [
            (0x40_0000, 0x5000_0000, false, false, false),
            (0x40_1000, 0x5000_2000, true, false, false),
            (0x40_2000, 0x5000_3000, false, false, false),
            (KERNEL, 0x4020_0000, false, true, true),
        ];
        assert_eq!(entries, expected);
        assert_eq!(map.entries()[2].memory, PageMemory::Device);
        assert_eq!(remarks.len(), 2, "{remarks:?}");
        assert!(remarks[0].contains("2 address spaces: 1 pages"), "{remarks:?}");
        assert!(remarks[1].starts_with("1 pages had several"), "{remarks:?}");
    }

    #[test]
    fn zeroed_pages_may_be_written_and_lie_in_the_linear_map() {
        let (mut pages, space) = (Pages::default(), Space::default());
        let uses = [
            (LINEAR + 0x1000, 0x4000_1000, page::READ),
            (LINEAR + 0x2000, 0x4000_2000, page::READ),
        ];
        note(&mut pages, space, &uses);
        for virt in [LINEAR + 0x1040, LINEAR + 0x7fc0, KERNEL] {
            pages.note_zeroed(space, virt);
        }
        let (map, _) = pages.map();
        let map = map.expect("there are entries");
        let entries: Vec<_> = map.entries().iter().map(|e| (e.virt, e.phys, e.write)).collect();
        let expected = [
            (LINEAR + 0x1000, 0x4000_1000, true),
            (LINEAR + 0x2000, 0x4000_2000, false),
            (LINEAR + 0x7000, 0x4000_7000, true),
        ];
        assert_eq!(entries, expected);
    }

    #[test]
    fn the_map_does_not_depend_on_which_processor_is_read_first() {
        let uses = [(0x5000_0000, 4), (0x5000_1000, 9), (0x5000_2000, 6)];
        let uses =
            uses.map(|(phys, order)| PageUse { virt: KERNEL, phys, bits: page::READ, order });
        for start in 0..uses.len() {
            let mut pages = Pages::default();
            for report in uses.iter().cycle().skip(start).take(uses.len()) {
                pages.note(Space::default(), *report);
            }
            let (map, remarks) = pages.map();
            let map = map.expect("there is an entry");
            assert_eq!(map.entries()[0].phys, 0x5000_1000, "the last one, from {start}");
            assert!(remarks[0].starts_with("1 pages had several"), "{remarks:?}");
        }
    }

    #[test]
    fn nothing_seen_is_no_map() {
        assert_eq!(Pages::default().map(), (None, Vec::new()));
    }
}
