//! Loops of real A64 instructions with the addresses of their loads.
//!
//! A kernel is endless: after the last address it starts again with the first.

use std::path::Path;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use sim_core::LINE_BYTES;
use sim_trace::{Access, Meta, Summary, TraceError, TraceWriter};

/// Address of the loop.
pub(super) const CODE: u64 = 0x40_0000;
/// Address of the data, aligned to any block size.
pub(super) const DATA: u64 = 0x10_0000_0000;

/// Loads in one iteration.
const LOADS: usize = 16;
/// Size of a vector register in bytes.
const VECTOR_BYTES: u64 = 16;

/// `ldr x0, [x0]`
const LDR_CHASE: u32 = 0xf940_0000;
/// `ldr q0, [x0]`; register in bits 0 to 4, offset in units of 16 bytes from bit 10.
const LDR_VECTOR: u32 = 0x3dc0_0000;
/// `add x0, x0, #256`
const ADD_256: u32 = 0x9104_0000;
/// `subs x1, x1, #1`
pub(super) const SUBS: u32 = 0xf100_0421;
/// `b.ne .`; distance in words from bit 5.
pub(super) const B_NE: u32 = 0x5400_0001;

/// Order of the visited places.
#[derive(Clone, Debug)]
enum Order {
    /// From the first to the last.
    Rising(u64),
    /// One random cycle through all of them.
    Shuffled(Vec<u32>),
}

/// A loop and its data.
#[derive(Clone, Debug)]
pub struct Kernel {
    name: String,
    words: Vec<u32>,
    order: Order,
    /// Distance between places in bytes.
    place_bytes: u64,
    /// Extra offset against the places before, so that addresses with one page offset do not share
    /// a cache set.
    skew_bytes: u64,
    /// Consecutive places with the same offset.
    places_per_skew: u64,
    load_bytes: u64,
}

impl Kernel {
    /// Creates a pointer chase over every line of the footprint in random order.
    pub fn chase(footprint_bytes: u64, seed: u64) -> Kernel {
        Kernel {
            name: format!("chase-{footprint_bytes}"),
            words: closed(vec![LDR_CHASE; LOADS]),
            order: shuffled(footprint_bytes / LINE_BYTES, seed),
            place_bytes: LINE_BYTES,
            skew_bytes: 0,
            places_per_skew: 1,
            load_bytes: 8,
        }
    }

    /// Creates a pointer chase over every line of the footprint, in the order of the reversed bits
    /// of its number: each step changes the page and keeps the low bits of the set.
    pub fn reversed_chase(footprint_bytes: u64) -> Kernel {
        Kernel {
            name: format!("reversed-{footprint_bytes}"),
            order: reversed(footprint_bytes / LINE_BYTES),
            ..Kernel::chase(LINE_BYTES, 0)
        }
    }

    /// Creates a pointer chase with one address on each of `pages` pages, in random order.
    pub fn one_per_page(pages: u64, page_bytes: u64, seed: u64) -> Kernel {
        Kernel {
            name: format!("pages-{pages}"),
            words: closed(vec![LDR_CHASE; LOADS]),
            order: shuffled(pages, seed),
            place_bytes: page_bytes,
            skew_bytes: LINE_BYTES,
            places_per_skew: 1,
            load_bytes: 8,
        }
    }

    /// Creates a pointer chase with one address on each of `pages` pages, in random order. Two
    /// neighbors have the same offset, for a cache whose set depends on the lowest bit of the
    /// page's number.
    pub fn one_per_page_of_two(pages: u64, page_bytes: u64, seed: u64) -> Kernel {
        Kernel { places_per_skew: 2, ..Kernel::one_per_page(pages, page_bytes, seed) }
    }

    /// Creates a stream of independent 16-byte loads over all bytes of the footprint.
    pub fn stream(footprint_bytes: u64) -> Kernel {
        let vector = |i| LDR_VECTOR | i << 10 | i;
        let mut words: Vec<u32> = (0..LOADS as u32).map(vector).collect();
        words.push(ADD_256);
        Kernel {
            name: format!("stream-{footprint_bytes}"),
            words: closed(words),
            order: Order::Rising(footprint_bytes / VECTOR_BYTES),
            place_bytes: VECTOR_BYTES,
            skew_bytes: 0,
            places_per_skew: 1,
            load_bytes: VECTOR_BYTES,
        }
    }

    /// Returns the name, which includes the footprint.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the words of the loop, from [`Kernel::code`]. The last one branches to the first.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Returns the address of the loop.
    pub fn code(&self) -> u64 {
        CODE
    }

    /// Returns the number of loads in an iteration; they are the first words.
    pub fn loads_per_turn(&self) -> usize {
        LOADS
    }

    /// Returns the bytes of one load.
    pub fn load_bytes(&self) -> u64 {
        self.load_bytes
    }

    /// Returns the number of loads after which the addresses repeat.
    pub fn period(&self) -> u64 {
        match &self.order {
            Order::Rising(places) => *places,
            Order::Shuffled(places) => places.len() as u64,
        }
    }

    /// Returns the address of a load by its number from the start of the run.
    pub fn address(&self, load: u64) -> u64 {
        let place = match &self.order {
            Order::Rising(places) => load % places,
            Order::Shuffled(places) => places[(load % places.len() as u64) as usize].into(),
        };
        DATA + place * self.place_bytes + self.offset(place)
    }

    /// Returns the offset of a place's address from its start.
    fn offset(&self, place: u64) -> u64 {
        place / self.places_per_skew * self.skew_bytes % self.place_bytes
    }

    /// Writes `loads` loads, rounded up to whole iterations, as a trace.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path, loads: u64) -> Result<Summary, TraceError> {
        let mut writer = TraceWriter::create(path, self.meta())?;
        let block = writer.define_block(CODE, &self.words)?;
        let length = self.words.len() as u16;
        let mut accesses = [Access::default(); LOADS];
        for turn in 0..loads.div_ceil(LOADS as u64) {
            for (i, access) in accesses.iter_mut().enumerate() {
                let addr = self.address(turn * LOADS as u64 + i as u64);
                *access = Access { index: i as u16, addr };
            }
            writer.push_block(0, block, length, &accesses, None)?;
        }
        writer.finish()
    }

    fn meta(&self) -> Meta {
        Meta {
            producer: format!("n2sim {}", env!("CARGO_PKG_VERSION")),
            command: vec![self.name.clone()],
            // The former name of the command stays, so that traces of kernels stay the same.
            engine: "n2sim ladder".to_owned(),
            gaps: vec!["a loop that was never executed: its stream was generated".to_owned()],
            ..Meta::default()
        }
    }
}

/// Returns the body with a countdown and a branch back.
fn closed(body: Vec<u32>) -> Vec<u32> {
    let mut words = body;
    words.push(SUBS);
    let back = (words.len() as u32).wrapping_neg();
    words.push(B_NE | (back & 0x7_ffff) << 5);
    words
}

fn shuffled(places: u64, seed: u64) -> Order {
    let places = u32::try_from(places).expect("a footprint has fewer than 2^32 places");
    let mut order: Vec<u32> = (0..places).collect();
    order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    Order::Shuffled(order)
}

/// Returns all places in the order of their reversed bits.
fn reversed(places: u64) -> Order {
    let places = u32::try_from(places).expect("a footprint has fewer than 2^32 places");
    let bits = places.max(2).next_power_of_two().trailing_zeros();
    let all = 0..places.max(2).next_power_of_two();
    let in_order = all.map(|place| place.reverse_bits() >> (u32::BITS - bits));
    Order::Shuffled(in_order.filter(|place| *place < places).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_chase_visits_every_line_once_per_cycle() {
        let kernel = Kernel::chase(64 * 1024, 7);
        let lines: BTreeSet<u64> = (0..kernel.period()).map(|i| kernel.address(i)).collect();
        let expected: BTreeSet<u64> = (0..1024).map(|i| DATA + 64 * i).collect();
        assert_eq!(lines, expected);
        assert_eq!(kernel.address(0), kernel.address(kernel.period()));
        assert_ne!(
            (0..8).map(|i| kernel.address(i)).collect::<Vec<_>>(),
            (0..8).map(|i| Kernel::chase(64 * 1024, 8).address(i)).collect::<Vec<_>>(),
            "another seed, another order"
        );
    }

    #[test]
    fn a_reversed_chase_visits_every_line_once_and_changes_the_page() {
        let kernel = Kernel::reversed_chase(96 * 1024);
        let addresses: Vec<u64> = (0..kernel.period()).map(|i| kernel.address(i)).collect();
        let lines: BTreeSet<u64> = addresses.iter().copied().collect();
        assert_eq!(lines, (0..1536).map(|i| DATA + 64 * i).collect());
        assert!(addresses.windows(2).all(|two| two[0] / 4096 != two[1] / 4096));
    }

    #[test]
    fn each_page_has_one_load_in_a_cache_set_of_its_own() {
        let kernel = Kernel::one_per_page(64, 4096, 7);
        let addresses = || (0..64).map(|i| kernel.address(i));
        assert_eq!(addresses().map(|a| a / 4096).collect::<BTreeSet<_>>().len(), 64);
        assert_eq!(addresses().map(|a| a % 4096).collect::<BTreeSet<_>>().len(), 64);
    }

    #[test]
    fn the_loop_consists_of_the_expected_words() {
        let kernel = Kernel::stream(4096);
        let insts: Vec<sim_isa::Inst> =
            kernel.words().iter().map(|w| sim_isa::decode(*w)).collect();
        let loads = insts.iter().filter(|inst| inst.mem.op == sim_isa::MemOp::Load);
        assert_eq!(loads.count(), kernel.loads_per_turn());
        let branch = insts.last().expect("a loop ends with its branch");
        assert_eq!(i64::from(branch.offset), -4 * (kernel.words().len() as i64 - 1));
        assert_eq!((kernel.address(1) - kernel.address(0), kernel.period()), (16, 256));
    }
}
