//! Branch target buffers: a nano BTB without bubble in front of the main BTB (HC33).

/// Which buffer knew a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BtbHit {
    /// The nano BTB: no bubble.
    Nano,
    /// The main BTB: a bubble.
    Main,
    /// Neither.
    Miss,
}

const WAYS: usize = 4;
/// No branch is at an address that is not a multiple of four.
const EMPTY: u64 = u64::MAX;

/// One set-associative buffer with least-recently-used replacement by position.
#[derive(Clone, Debug)]
struct Table {
    /// `(pc, target)`, most recently used first in each set.
    entries: Box<[[(u64, u64); WAYS]]>,
}

impl Table {
    fn new(entries: usize) -> Table {
        Table { entries: vec![[(EMPTY, 0); WAYS]; entries / WAYS].into_boxed_slice() }
    }

    fn set(&mut self, pc: u64) -> &mut [(u64, u64); WAYS] {
        let index = (pc >> 2) ^ (pc >> 13);
        let mask = self.entries.len() - 1;
        &mut self.entries[index as usize & mask]
    }

    /// The target, and the entry becomes the most recently used one.
    fn look_up(&mut self, pc: u64) -> Option<u64> {
        let set = self.set(pc);
        let way = set.iter().position(|(tag, _)| *tag == pc)?;
        set[..=way].rotate_right(1);
        Some(set[0].1)
    }

    fn insert(&mut self, pc: u64, target: u64) {
        let set = self.set(pc);
        let way = set.iter().position(|(tag, _)| *tag == pc).unwrap_or(WAYS - 1);
        set[..=way].rotate_right(1);
        set[0] = (pc, target);
    }
}

/// Both buffers.
#[derive(Clone, Debug)]
pub struct Btb {
    nano: Table,
    main: Table,
}

impl Btb {
    /// Empty buffers; both sizes are powers of two and multiples of four.
    pub fn new(nano_entries: usize, main_entries: usize) -> Btb {
        Btb { nano: Table::new(nano_entries), main: Table::new(main_entries) }
    }

    /// Who knows the branch at `pc`, and its last target. A main hit moves into the nano BTB.
    pub fn look_up(&mut self, pc: u64) -> (BtbHit, Option<u64>) {
        if let Some(target) = self.nano.look_up(pc) {
            return (BtbHit::Nano, Some(target));
        }
        match self.main.look_up(pc) {
            Some(target) => {
                self.nano.insert(pc, target);
                (BtbHit::Main, Some(target))
            }
            None => (BtbHit::Miss, None),
        }
    }

    /// Remembers a taken branch.
    pub fn train(&mut self, pc: u64, target: u64) {
        self.nano.insert(pc, target);
        self.main.insert(pc, target);
    }
}
