//! Indirect target prediction: one table by address, one by address and path history.

use super::history::HistoryState;

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    tag: u32,
    target: u64,
    /// 2-bit confidence; a target is replaced when it is 0.
    confidence: u8,
}

/// Targets of `BR`, `BLR` and of returns that the return stack has lost.
#[derive(Clone, Debug)]
pub struct IndirectPredictor {
    by_address: Box<[Entry]>,
    by_path: Box<[Entry]>,
}

impl IndirectPredictor {
    /// Two empty tables of `1 << bits` entries.
    pub fn new(bits: u32) -> IndirectPredictor {
        let table = || vec![Entry::default(); 1 << bits].into_boxed_slice();
        IndirectPredictor { by_address: table(), by_path: table() }
    }

    /// The predicted target, the path table first.
    pub fn look_up(&self, pc: u64, history: &HistoryState) -> Option<u64> {
        let by_path = &self.by_path[self.path_slot(pc, history)];
        if by_path.tag == path_tag(pc, history) {
            return Some(by_path.target);
        }
        let by_address = &self.by_address[self.address_slot(pc)];
        (by_address.tag == address_tag(pc)).then_some(by_address.target)
    }

    /// Trains with the real target. The path table gets an entry when the prediction was wrong.
    pub fn train(&mut self, pc: u64, history: &HistoryState, target: u64, was_right: bool) {
        let slot = self.path_slot(pc, history);
        let tag = path_tag(pc, history);
        if self.by_path[slot].tag == tag || !was_right {
            update(&mut self.by_path[slot], tag, target);
        }
        let slot = self.address_slot(pc);
        update(&mut self.by_address[slot], address_tag(pc), target);
    }

    fn address_slot(&self, pc: u64) -> usize {
        (pc >> 2) as usize & (self.by_address.len() - 1)
    }

    fn path_slot(&self, pc: u64, history: &HistoryState) -> usize {
        let path = history.path();
        let mixed = (pc >> 2) ^ path ^ (path >> 17);
        mixed as usize & (self.by_path.len() - 1)
    }
}

fn update(entry: &mut Entry, tag: u32, target: u64) {
    if entry.tag == tag && entry.target == target {
        entry.confidence = (entry.confidence + 1).min(3);
    } else if entry.confidence == 0 || entry.tag != tag {
        *entry = Entry { tag, target, confidence: 0 };
    } else {
        entry.confidence -= 1;
    }
}

/// Tags are never 0, which marks an empty entry.
fn address_tag(pc: u64) -> u32 {
    (pc >> 2) as u32 | 1 << 31
}

fn path_tag(pc: u64, history: &HistoryState) -> u32 {
    let path = history.path();
    ((pc >> 2) ^ (path << 7) ^ (path >> 11)) as u32 | 1 << 31
}
