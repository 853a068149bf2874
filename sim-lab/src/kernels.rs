//! Small programs with one known bottleneck each, which a ledger of lost slots must find.
//!
//! They were never executed: their streams are generated here and written as traces for every
//! command. The markers `HINT #40` and `HINT #41` enclose the part with a single bottleneck. The
//! part before them fills caches, TLBs and predictors.

use std::path::Path;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sim_core::LINE_BYTES;
use sim_trace::{Access, BlockId, Meta, PageEntry, PageMap, Summary, TraceError, TraceWriter};

use crate::counterfactual::Ideal;
use sim_machine::region::{Marker, Roi};

/// Address of the loop.
const CODE: u64 = 0x40_0000;
/// Address of the markers.
const MARKERS: u64 = 0x3f_0000;
/// Address of the data: the start of a block of 1 GiB.
const DATA: u64 = 0x10_0000_0000;
const GIB: u64 = 1 << 30;
const SEED: u64 = 1;

/// Footprint of the DRAM chases in bytes: larger than all caches; each line is visited once.
const DRAM_BYTES: u64 = 256 << 20;
/// Footprint of the L2 chase in bytes: larger than the L1 D-cache, smaller than the L2.
const L2_BYTES: u64 = 512 << 10;
/// Pages of the TLB thrash: more than the L2 TLB has entries.
const PAGES: u64 = 3072;
/// Physical pages of the TLB thrash; their lines stay in the L1 D-cache.
const FRAMES: u64 = 16;
/// Words of code larger than the L1 I-cache and the L2: 1.5 MiB.
const CODE_WORDS: usize = 384 << 10;
/// Words of one block of that code.
const BLOCK_WORDS: usize = 256;

/// `hint #0` (`nop`); the number starts at bit 5.
const HINT: u32 = 0xd503_201f;
/// `ldr x0, [x0]`
const LDR_CHASE: u32 = 0xf940_0000;
/// `cbz x1, .+8`
const CBZ_X1: u32 = 0xb400_0041;
/// `str x1, [x0]`
const STR_X1: u32 = 0xf900_0001;
/// `sdiv x0, x0, x1`
const SDIV_X0: u32 = 0x9ac1_0c00;
/// `mul x0, x0, x1`
const MUL_X0: u32 = 0x9b01_7c00;
/// `mul x0, x1, x1`; the destination is in bits 0 to 4.
const MUL_FREE: u32 = 0x9b01_7c20;
/// `mul v0.4s, v1.4s, v1.4s`; the destination is in bits 0 to 4.
const MUL_VECTOR: u32 = 0x4ea1_9c20;
/// `add x0, x1, #1`; the destination is in bits 0 to 4.
const ADD_FREE: u32 = 0x9100_0420;
/// `tbz w2, #0, .+8`
const TBZ_W2: u32 = 0x3600_0042;
/// `dsb sy`
const DSB: u32 = 0xd503_3f9f;
/// `isb`
const ISB: u32 = 0xd503_3fdf;
/// `b .`; the distance in words is in bits 0 to 25.
const B: u32 = 0x1400_0000;

/// Bottleneck of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// A chain of loads from DRAM.
    DramChase,
    /// A chain of loads from DRAM with branches that fill the branch order buffer first.
    DramChaseBranches,
    /// A chain of loads from the L2.
    L2Chase,
    /// A chain of loads on more pages than the TLBs have entries.
    TlbThrash,
    /// Stores to consecutive lines.
    StoreStream,
    /// Divisions, each of the previous quotient.
    DivideChain,
    /// Independent multiplications, which share one pipe.
    PortMix,
    /// A branch that goes either way at random.
    MispredictedBranch,
    /// A loop of straight code, larger than the L1 I-cache and the L2.
    LargeCode,
    /// Multiplications, each of the previous product.
    MultiplyChain,
    /// `DSB` and `ISB` among independent additions.
    Barriers,
}

impl Kernel {
    /// All kernels.
    pub const ALL: [Kernel; 11] = [
        Kernel::DramChase,
        Kernel::DramChaseBranches,
        Kernel::L2Chase,
        Kernel::TlbThrash,
        Kernel::StoreStream,
        Kernel::DivideChain,
        Kernel::PortMix,
        Kernel::MispredictedBranch,
        Kernel::LargeCode,
        Kernel::MultiplyChain,
        Kernel::Barriers,
    ];

    /// Markers around the part with a single bottleneck.
    pub const ROI: Roi = Roi { begin: Marker::Hint(40), end: Marker::Hint(41) };

    /// Returns the name, which is also that of the file.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::DramChase => "dram-chase",
            Kernel::DramChaseBranches => "dram-chase-branches",
            Kernel::L2Chase => "l2-chase",
            Kernel::TlbThrash => "tlb-thrash",
            Kernel::StoreStream => "store-stream",
            Kernel::DivideChain => "divide-chain",
            Kernel::PortMix => "port-mix",
            Kernel::MispredictedBranch => "mispredicted-branch",
            Kernel::LargeCode => "large-code",
            Kernel::MultiplyChain => "multiply-chain",
            Kernel::Barriers => "barriers",
        }
    }

    /// Returns the ideal that removes the bottleneck.
    pub fn remedy(self) -> Ideal {
        match self {
            Kernel::DramChase | Kernel::DramChaseBranches => Ideal::BeyondL2,
            Kernel::L2Chase | Kernel::StoreStream => Ideal::BeyondL1,
            Kernel::TlbThrash => Ideal::Translation,
            Kernel::DivideChain | Kernel::MultiplyChain => Ideal::Latency,
            Kernel::PortMix => Ideal::Pipes,
            Kernel::MispredictedBranch => Ideal::Prediction,
            Kernel::LargeCode => Ideal::Fetch,
            Kernel::Barriers => Ideal::Ordering,
        }
    }

    /// Writes the kernel as a trace.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(self, path: &Path) -> Result<Summary, TraceError> {
        let mut stream = Stream::create(self, path)?;
        match self {
            Kernel::DramChase => stream.chase(&[LDR_CHASE; 16], DRAM_BYTES, (64, 1_000))?,
            Kernel::DramChaseBranches => {
                let part = [[LDR_CHASE].as_slice(), &[CBZ_X1; 11]].concat();
                stream.chase(&part.repeat(4), DRAM_BYTES, (64, 4_000))?;
            }
            Kernel::L2Chase => {
                let lap = L2_BYTES / LINE_BYTES / 16;
                stream.chase(&[LDR_CHASE; 16], L2_BYTES, (2 * lap, 6 * lap))?;
            }
            Kernel::TlbThrash => stream.thrash()?,
            Kernel::StoreStream => stream.stores()?,
            Kernel::DivideChain => stream.compute(&[SDIV_X0; 16], 2_000)?,
            Kernel::MultiplyChain => stream.compute(&[MUL_X0; 16], 4_000)?,
            Kernel::PortMix => {
                let pair = |n: u32| [MUL_FREE | (8 + n), MUL_VECTOR | (8 + n)];
                let body: Vec<u32> = (0..16).flat_map(pair).collect();
                stream.compute(&body, 4_000)?;
            }
            Kernel::MispredictedBranch => stream.coin()?,
            Kernel::LargeCode => stream.large_code()?,
            Kernel::Barriers => {
                let body = [[DSB, ISB].as_slice(), &[ADD_FREE | 8; 6]].concat();
                stream.compute(&body, 4_000)?;
            }
        }
        stream.writer.finish()
    }
}

/// Stream under construction.
struct Stream {
    writer: TraceWriter,
    random: Xoshiro256PlusPlus,
    markers: [BlockId; 2],
}

impl Stream {
    fn create(kernel: Kernel, path: &Path) -> Result<Stream, TraceError> {
        let meta = Meta {
            producer: format!("n2sim {}", env!("CARGO_PKG_VERSION")),
            command: vec![kernel.name().to_owned()],
            engine: "n2sim kernels".to_owned(),
            gaps: vec!["a loop that was never executed: its stream was generated".to_owned()],
            ..Meta::default()
        };
        let mut writer = TraceWriter::create(path, meta)?;
        let map = PageMap::new(4096, kernel.pages());
        writer.page_map(&map.map_err(|_| TraceError::Rejected("a page map of a kernel"))?)?;
        let begin = writer.define_block(MARKERS, &[HINT | 40 << 5])?;
        let end = writer.define_block(MARKERS + 64, &[HINT | 41 << 5])?;
        let random = Xoshiro256PlusPlus::seed_from_u64(SEED);
        Ok(Stream { writer, random, markers: [begin, end] })
    }

    /// Runs `turns.0` iterations to warm up and `turns.1` between the markers.
    fn turns(
        &mut self,
        turns: (u64, u64),
        mut turn: impl FnMut(&mut Stream) -> Result<(), TraceError>,
    ) -> Result<(), TraceError> {
        (0..turns.0).try_for_each(|_| turn(self))?;
        self.writer.push_block(0, self.markers[0], 1, &[], None)?;
        (0..turns.1).try_for_each(|_| turn(self))?;
        self.writer.push_block(0, self.markers[1], 1, &[], None)
    }

    /// Adds a loop around `body`. Its memory accesses take the next ones of `addresses`.
    fn accesses(
        &mut self,
        body: &[u32],
        turns: (u64, u64),
        mut addresses: impl Iterator<Item = u64>,
    ) -> Result<(), TraceError> {
        let words = closed(body);
        let block = self.writer.define_block(CODE, &words)?;
        let is_access = |word: u32| sim_isa::decode(word).mem.op != sim_isa::MemOp::None;
        let places: Vec<u16> =
            (0u16..).zip(body).filter(|(_, word)| is_access(**word)).map(|(at, _)| at).collect();
        self.turns(turns, |stream| {
            let accesses = places.iter().zip(addresses.by_ref());
            let accesses: Vec<Access> =
                accesses.map(|(&index, addr)| Access { index, addr }).collect();
            stream.writer.push_block(0, block, words.len() as u16, &accesses, None)
        })
    }

    /// Adds loads from all lines of a footprint in random order, repeatedly.
    fn chase(&mut self, body: &[u32], bytes: u64, turns: (u64, u64)) -> Result<(), TraceError> {
        let mut lines: Vec<u32> = (0..(bytes / LINE_BYTES) as u32).collect();
        lines.shuffle(&mut self.random);
        let addresses = lines.into_iter().map(|line| DATA + u64::from(line) * LINE_BYTES);
        let addresses: Vec<u64> = addresses.collect();
        self.accesses(body, turns, addresses.iter().copied().cycle())
    }

    /// Adds one load from each of many pages, in random order.
    fn thrash(&mut self) -> Result<(), TraceError> {
        let mut pages: Vec<u64> = (0..PAGES).collect();
        pages.shuffle(&mut self.random);
        // Pages of one frame use one line, so few lines are needed.
        let address = |page: &u64| DATA + page * GIB + page % FRAMES * LINE_BYTES;
        let addresses: Vec<u64> = pages.iter().map(address).collect();
        let lap = PAGES / 16;
        self.accesses(&[LDR_CHASE; 16], (2 * lap, 4 * lap), addresses.iter().copied().cycle())
    }

    fn stores(&mut self) -> Result<(), TraceError> {
        let addresses = (DATA..).step_by(LINE_BYTES as usize);
        self.accesses(&[STR_X1; 16], (64, 2_000), addresses)
    }

    fn compute(&mut self, body: &[u32], turns: u64) -> Result<(), TraceError> {
        self.accesses(body, (64, turns), std::iter::empty())
    }

    /// Adds a branch over one word that is taken half of the time, at random.
    fn coin(&mut self) -> Result<(), TraceError> {
        // Enough additions that prediction of the loop itself is not the limit.
        let additions = [ADD_FREE | 8; 12];
        let back = 0x400_0000 - (additions.len() as u32 + 2);
        let words = [[TBZ_W2, HINT].as_slice(), &additions, &[B | back]].concat();
        let branch = self.writer.define_block(CODE, &words[..1])?;
        let straight = self.writer.define_block(CODE + 4, &words[1..])?;
        let over = self.writer.define_block(CODE + 8, &words[2..])?;
        self.turns((1_000, 20_000), |stream| {
            let is_taken: bool = stream.random.random();
            let block = if is_taken { over } else { straight };
            let length = additions.len() as u16 + 1 + u16::from(!is_taken);
            stream.writer.push_block(0, branch, 1, &[], None)?;
            stream.writer.push_block(0, block, length, &[], None)
        })
    }

    fn large_code(&mut self) -> Result<(), TraceError> {
        // Words that need nothing but their fetch.
        let mut words = vec![HINT; CODE_WORDS];
        words[CODE_WORDS - 1] = B | (0x400_0000 - (CODE_WORDS as u32 - 1));
        let mut blocks = Vec::new();
        for (part, pc) in words.chunks(BLOCK_WORDS).zip((CODE..).step_by(4 * BLOCK_WORDS)) {
            blocks.push(self.writer.define_block(pc, part)?);
        }
        self.turns((1, 1), |stream| {
            let mut blocks = blocks.iter();
            let length = BLOCK_WORDS as u16;
            blocks.try_for_each(|block| stream.writer.push_block(0, *block, length, &[], None))
        })
    }
}

impl Kernel {
    /// Returns the page map of the data: one block, to avoid translation, or many pages.
    fn pages(self) -> Vec<PageEntry> {
        let page = |virt, bytes, phys| PageEntry {
            virt,
            bytes,
            phys,
            write: true,
            ..PageEntry::default()
        };
        if self != Kernel::TlbThrash {
            return vec![page(DATA, GIB, DATA)];
        }
        let pages = (0..PAGES).map(|n| page(DATA + n * GIB, 4096, DATA + n % FRAMES * 4096));
        pages.collect()
    }
}

/// Returns the body with a branch back to its first word.
fn closed(body: &[u32]) -> Vec<u32> {
    let back = (body.len() as u32).wrapping_neg() & 0x3ff_ffff;
    [body, &[B | back]].concat()
}
