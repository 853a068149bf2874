//! Banks of the L1 D-cache as loads see them (key `pipeline.execute.load-banks`). Each bank reads
//! one line per cycle, and loads of that line share the read. A load whose bank reads another line
//! gets its data a cycle later.

use sim_core::Cycle;

const LINE_SHIFT: u32 = 6;
/// Cycles that are kept. Concurrent loads are closer together, unless one waits for a miss.
const CYCLES: u64 = 1 << 8;
/// Entry of a bank that has read nothing.
const NOTHING: u64 = u64::MAX;

/// Lines that each bank reads, by cycle.
#[derive(Clone, Debug)]
pub(crate) struct LoadBanks {
    /// Low halves of cycle and line number. An entry with another cycle than the requested one is
    /// old, and its bank is free.
    reads: Box<[u64]>,
    /// Number of banks less one, and log2 of the number.
    mask: u64,
    shift: u32,
}

impl LoadBanks {
    /// Returns this number of banks, a power of two, selected by the lowest bits of the line
    /// number. 0 means no limit.
    pub(crate) fn new(banks: usize) -> LoadBanks {
        LoadBanks {
            reads: vec![NOTHING; banks * CYCLES as usize].into_boxed_slice(),
            mask: (banks as u64).saturating_sub(1),
            shift: (banks as u64).max(1).trailing_zeros(),
        }
    }

    /// Returns the cycle in which a load that issues in `issue` can read its bank.
    #[inline(always)]
    pub(crate) fn read(&mut self, addr: u64, issue: Cycle) -> Cycle {
        if self.reads.is_empty() {
            return issue;
        }
        let line = addr >> LINE_SHIFT;
        let mut cycle = issue;
        loop {
            let at = ((cycle % CYCLES) << self.shift | line & self.mask) as usize;
            let (key, entry) = (cycle << 32 | line & 0xffff_ffff, &mut self.reads[at]);
            let is_free = (*entry ^ key) >> 32 != 0;
            if is_free || *entry == key {
                *entry = key;
                return cycle;
            }
            cycle += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bank_reads_one_line_per_cycle_and_loads_of_that_line_share_it() {
        let mut banks = LoadBanks::new(2);
        assert_eq!(banks.read(0x1000, 10), 10);
        assert_eq!(banks.read(0x1038, 10), 10, "the same line");
        assert_eq!(banks.read(0x1040, 10), 10, "the other bank");
        assert_eq!(banks.read(0x1080, 10), 11);
        assert_eq!(banks.read(0x1100, 10), 12);
        assert_eq!(banks.read(0x1080, 11), 11, "shared again");
        assert_eq!(banks.read(0x1200, 10 + CYCLES), 10 + CYCLES, "an old entry");
    }

    #[test]
    fn without_banks_no_load_waits() {
        let mut banks = LoadBanks::new(0);
        assert!((0..8).all(|line| banks.read(line << 7, 3) == 3));
    }
}
