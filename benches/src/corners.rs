//! Loops that are expensive for the simulator rather than for the core: each uses one rare part of
//! the model all the time. Their streams are generated; they were never executed.

use std::path::Path;

use sim_core::{Activity, LINE_BYTES};
use sim_trace::{Access, BlockId, Further, Meta, PageEntry, PageMap, StreamEvent};
use sim_trace::{TraceError, TraceWriter};

/// Address of the loop.
const CODE: u64 = 0x40_0000;
/// Address of a kernel's handler of calls: vector 0x400 of its table.
const HANDLER: u64 = 0xffff_8000_0000_0400;
/// Address of the data: the start of blocks of 1 GiB.
const DATA: u64 = 0x10_0000_0000;
const GIB: u64 = 1 << 30;
/// Bytes that stay in the L1 D-cache.
const SMALL: u64 = 16 << 10;
/// Bytes that no cache holds.
const LARGE: u64 = 256 << 20;
/// Pages of the loop that misses in the TLBs: more than the L2 TLB has entries.
const PAGES: u64 = 3072;
/// Instructions of each thread of a loop with a single thread.
const INSTRUCTIONS: u64 = 400_000;

/// `udiv x0, x0, x1`; the destination is in bits 0 to 4.
const UDIV: u32 = 0x9ac1_0800;
/// `fdiv d0, d0, d1`
const FDIV: u32 = 0x1e61_1800;
/// `fdiv v0.2d, v0.2d, v1.2d`
const FDIV_VECTOR: u32 = 0x6e61_fc00;
/// `fsqrt d0, d0`
const FSQRT: u32 = 0x1e61_c000;
/// `udiv z8.d, p0/m, z8.d, z1.d`
const UDIV_SVE: u32 = 0x04d5_0028;
/// `ld1d {z8.d}, p0/z, [x0, z0.d]`
const GATHER: u32 = 0xc5c0_c008;
/// `ld1w {z8.s}, p0/z, [x0, z0.s, uxtw]`
const GATHER_WORDS: u32 = 0x8500_4008;
/// `st1d {z8.d}, p0, [x0, z0.d]`
const SCATTER: u32 = 0xe580_a008;
/// `svc #0`
const SVC: u32 = 0xd400_0001;
/// `eret`
const ERET: u32 = 0xd69f_03e0;
/// `ldxr x8, [x0]`
const LDXR: u32 = 0xc85f_7c08;
/// `stxr w9, x8, [x0]`
const STXR: u32 = 0xc809_7c08;
/// `ldadd x1, x8, [x0]`
const LDADD: u32 = 0xf821_0008;
/// `cas x8, x1, [x0]`
const CAS: u32 = 0xc8a8_7c01;
/// `swpal x1, x8, [x0]`
const SWPAL: u32 = 0xf8e1_8008;
/// `ldar x8, [x0]`
const LDAR: u32 = 0xc8df_fc08;
/// `stlr x8, [x0]`
const STLR: u32 = 0xc89f_fc08;
/// `dmb ish`
const DMB: u32 = 0xd503_3bbf;
/// `isb`
const ISB: u32 = 0xd503_3fdf;
/// `ldr x8, [x0]`
const LDR: u32 = 0xf940_0008;
/// `ldr x2, [x2]`
const LDR_CHASE: u32 = 0xf940_0042;
/// `strb w8, [x0]`
const STRB: u32 = 0x3900_0008;
/// `str x8, [x0]`
const STR: u32 = 0xf900_0008;
/// `ld4 {v0.16b-v3.16b}, [x0]`
const LD4: u32 = 0x4c40_0000;
/// `add x8, x1, #1`; the destination is in bits 0 to 4.
const ADD: u32 = 0x9100_0428;
/// `mul x8, x1, x1`
const MUL: u32 = 0x9b01_7c28;
/// `fadd v8.4s, v1.4s, v2.4s`
const FADD: u32 = 0x4e22_d428;
/// `tbz w2, #0, .+4`; the distance in words is in bits 5 to 18.
const TBZ: u32 = 0x3600_0002;
/// `b .`; the distance in words is in bits 0 to 25.
const B: u32 = 0x1400_0000;

/// One loop.
#[derive(Clone, Copy, Debug)]
pub struct Corner {
    /// Name of the loop, of its benchmark and of its trace.
    pub name: &'static str,
    /// Changes of the configuration.
    pub overrides: &'static [&'static str],
    /// The run has an observer of every event and operation.
    pub is_observed: bool,
    body: Body,
}

/// Content of a loop.
#[derive(Clone, Copy, Debug)]
enum Body {
    /// These words on every thread. Accesses go to the next addresses.
    Straight { words: &'static [u32], data: Data, threads: u32 },
    /// These words, whose vector accesses have this number of elements at the next addresses.
    Elements { words: &'static [u32], count: usize, data: Data },
    /// A system call; the kernel is not in the trace.
    Call,
    /// A system call into a kernel that is in the trace, and the return.
    Kernel,
    /// `words`, then a branch over the first half of a long block, taken at random.
    Coin { words: &'static [u32], data: Data },
}

/// Order of the addresses of accesses.
#[derive(Clone, Copy, Debug)]
enum Data {
    /// All at one address.
    Same,
    /// Consecutive words of eight bytes of a footprint.
    Words(u64),
    /// Words of eight bytes that cross the ends of lines.
    AcrossLines,
    /// Lines of a footprint in random order.
    Random(u64),
    /// Pages that are more than the TLBs hold; their lines share a set of each cache.
    Pages,
}

const MIX: [u32; 12] =
    [LDR, ADD, MUL, FADD, STR, ADD + 1, FADD + 1, LDR + 2, ADD + 3, MUL + 4, STR, ADD + 5];
const TINY: &[&str] = &[
    "pipeline.window.rob=8",
    "pipeline.window.load-queue=4",
    "pipeline.window.store-queue=4",
    "pipeline.window.branch-queue=2",
    "pipeline.window.int-queue=4",
    "pipeline.window.int-queue-one-pipe=2",
    "pipeline.window.mem-queue=4",
    "pipeline.window.mem-queue-stores=2",
    "pipeline.window.vec-queue=4",
    "pipeline.window.vec-queue-one-pipe=2",
];

const fn corner(name: &'static str, body: Body) -> Corner {
    Corner { name, overrides: &[], is_observed: false, body }
}

/// A loop without accesses.
const fn compute(name: &'static str, words: &'static [u32]) -> Corner {
    corner(name, Body::Straight { words, data: Data::Same, threads: 1 })
}

const fn access(name: &'static str, words: &'static [u32], data: Data) -> Corner {
    corner(name, Body::Straight { words, data, threads: 1 })
}

const fn elements(name: &'static str, words: &'static [u32], count: usize, data: Data) -> Corner {
    corner(name, Body::Elements { words, count, data })
}

const fn shared(name: &'static str, words: &'static [u32], threads: u32) -> Corner {
    corner(name, Body::Straight { words, data: Data::Words(4 * LINE_BYTES), threads })
}

/// Exclusive pairs of 16 threads on one word.
const SHARED_EXCLUSIVES: Body =
    Body::Straight { words: &[LDXR, ADD, STXR], data: Data::Same, threads: 16 };

/// Returns eight copies of an instruction whose destination is register 0, with 8 to 15 instead.
const fn apart(to_0: u32) -> [u32; 8] {
    [to_0 + 8, to_0 + 9, to_0 + 10, to_0 + 11, to_0 + 12, to_0 + 13, to_0 + 14, to_0 + 15]
}

/// All loops.
pub const CORNERS: &[Corner] = &[
    compute("udiv", &apart(UDIV)),
    compute("udiv-chain", &[UDIV; 8]),
    compute("fdiv", &apart(FDIV)),
    compute("fdiv-chain", &[FDIV; 8]),
    compute("fdiv-vector", &apart(FDIV_VECTOR)),
    compute("fsqrt", &apart(FSQRT)),
    compute("fsqrt-chain", &[FSQRT; 8]),
    compute("udiv-sve", &[UDIV_SVE; 8]),
    compute("divide-mix", &[UDIV | 8, ADD + 1, FDIV | 9, FADD + 2, MUL + 3, FSQRT | 12, ADD + 5]),
    elements("gather", &[GATHER; 4], 2, Data::Words(SMALL)),
    elements("gather-words", &[GATHER_WORDS; 4], 4, Data::Random(SMALL)),
    elements("gather-dram", &[GATHER, ADD], 2, Data::Random(LARGE)),
    elements("scatter", &[SCATTER, ADD], 2, Data::Random(SMALL)),
    access("ld4", &[LD4, ADD], Data::Words(SMALL)),
    corner("calls", Body::Call),
    corner("exceptions", Body::Kernel),
    access("exclusives", &[LDXR, ADD, STXR], Data::Same),
    access("atomics", &[LDADD, CAS, SWPAL], Data::Words(SMALL)),
    access("ordered", &[LDAR, ADD, STLR, DMB], Data::Words(SMALL)),
    compute("isb", &[ADD, ISB, ADD + 1]),
    access("chase-dram", &[LDR_CHASE, ADD], Data::Random(LARGE)),
    access("pages", &[LDR, STR], Data::Pages),
    access("across-lines", &[LDR, STR], Data::AcrossLines),
    access("forward-fail", &[STRB, LDR], Data::Same),
    Corner { overrides: TINY, ..access("tiny-window", &MIX, Data::Words(SMALL)) },
    corner("coin", Body::Coin { words: &[ADD], data: Data::Same }),
    corner("coin-divide", Body::Coin { words: &[UDIV | 2, ADD], data: Data::Same }),
    corner("coin-dram", Body::Coin { words: &[LDR_CHASE], data: Data::Random(LARGE) }),
    shared("threads-8", &MIX, 8),
    shared("threads-16", &MIX, 16),
    shared("atomics-8", &[LDADD, ADD, CAS], 8),
    shared("atomics-16", &[LDADD, ADD, CAS], 16),
    corner("exclusives-16", SHARED_EXCLUSIVES),
    Corner { is_observed: true, ..access("observed", &MIX, Data::Words(SMALL)) },
];

impl Corner {
    /// Writes the loop as a trace. Returns its number of instructions.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<u64, TraceError> {
        let mut stream = Stream::create(self, path)?;
        match self.body {
            Body::Straight { words, data, threads } => stream.straight(words, data, threads)?,
            Body::Elements { words, count, data } => stream.elements(words, count, data)?,
            Body::Call => stream.calls()?,
            Body::Kernel => stream.kernel()?,
            Body::Coin { words, data } => stream.coin(words, data)?,
        }
        Ok(stream.writer.finish()?.instructions)
    }
}

/// Addresses of accesses, one after the other.
struct Addresses {
    data: Data,
    turn: u64,
    random: u64,
}

impl Addresses {
    fn new(data: Data) -> Addresses {
        Addresses { data, turn: 0, random: 1 }
    }

    fn next(&mut self) -> u64 {
        let turn = self.turn;
        self.turn += 1;
        // A multiplicative generator is random enough for addresses.
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let offset = match self.data {
            Data::Same => 0,
            Data::Words(bytes) => 8 * turn % bytes,
            Data::AcrossLines => LINE_BYTES * turn % SMALL + LINE_BYTES - 4,
            Data::Random(bytes) => (self.random >> 33) % (bytes / LINE_BYTES) * LINE_BYTES,
            Data::Pages => turn.wrapping_mul(1_000_003) % PAGES * 4096,
        };
        DATA + offset
    }

    fn is_heads(&self) -> bool {
        self.random >> 62 & 1 == 1
    }
}

/// Stream under construction.
struct Stream {
    writer: TraceWriter,
}

impl Stream {
    fn create(corner: &Corner, path: &Path) -> Result<Stream, TraceError> {
        let mut meta = Meta { command: vec![corner.name.to_owned()], ..Meta::default() };
        meta.machine.full_system = matches!(corner.body, Body::Kernel);
        let mut writer = TraceWriter::create(path, meta)?;
        if let Body::Straight { data, .. } | Body::Coin { data, .. } = corner.body {
            let bytes = if matches!(data, Data::Pages) { 4096 } else { GIB };
            let count = if bytes == GIB { 1 } else { PAGES };
            let pages = (0..count).map(|n| {
                let at = DATA + n * bytes;
                PageEntry { virt: at, bytes, phys: at, write: true, ..PageEntry::default() }
            });
            let map = PageMap::new(4096, pages.collect());
            writer.page_map(&map.map_err(|_| TraceError::Rejected("a page map of a loop"))?)?;
        }
        Ok(Stream { writer })
    }

    /// Defines a loop around `body`. Returns it, its length, and the places of its accesses.
    fn closed(&mut self, body: &[u32]) -> Result<(BlockId, u16, Vec<u16>), TraceError> {
        let back = (body.len() as u32).wrapping_neg() & 0x3ff_ffff;
        let words = [body, &[B | back]].concat();
        let block = self.writer.define_block(CODE, &words)?;
        Ok((block, words.len() as u16, places(body)))
    }

    fn straight(&mut self, body: &[u32], data: Data, threads: u32) -> Result<(), TraceError> {
        let (block, length, places) = self.closed(body)?;
        let mut addresses = Addresses::new(data);
        while self.writer.instructions() < INSTRUCTIONS {
            for thread in 0..threads {
                let accesses = accesses_at(&places, &mut addresses);
                self.writer.push_block(thread, block, length, &accesses, None)?;
            }
        }
        Ok(())
    }

    fn elements(&mut self, body: &[u32], count: usize, data: Data) -> Result<(), TraceError> {
        let (block, length, places) = self.closed(body)?;
        let mut addresses = Addresses::new(data);
        while self.writer.instructions() < INSTRUCTIONS {
            let vectors: Vec<Vec<u64>> =
                places.iter().map(|_| (0..count).map(|_| addresses.next()).collect()).collect();
            let accesses: Vec<Access> = places
                .iter()
                .zip(&vectors)
                .map(|(&index, elements)| Access { index, addr: elements[0] })
                .collect();
            self.writer.push_block(0, block, length, &accesses, None)?;
            for (index, elements) in places.iter().zip(&vectors) {
                let further = Further::of(elements).unwrap_or_default();
                let (back, activity) = (length - index, Activity::All);
                let event = StreamEvent::Elements { back, activity, active: 0, further };
                self.writer.push_event(0, event)?;
            }
        }
        Ok(())
    }

    fn calls(&mut self) -> Result<(), TraceError> {
        let block = self.writer.define_block(CODE, &[ADD, ADD + 1, SVC])?;
        let back = self.writer.define_block(CODE + 12, &[ADD, B | 0x3ff_fffc])?;
        let call = StreamEvent::Syscall { number: 178, args: [0; 6], result: Some(1) };
        while self.writer.instructions() < INSTRUCTIONS {
            self.writer.push_block(0, block, 3, &[], Some(call))?;
            self.writer.push_block(0, back, 2, &[], None)?;
        }
        Ok(())
    }

    fn kernel(&mut self) -> Result<(), TraceError> {
        let block = self.writer.define_block(CODE, &[ADD, ADD + 1, SVC])?;
        let back = self.writer.define_block(CODE + 12, &[ADD, B | 0x3ff_fffc])?;
        let handler = self.writer.define_block(HANDLER, &[ADD, MUL, ERET])?;
        let syndrome = 0x15 << 26;
        let (vector, abandoned) = (0x400, false);
        let call = StreamEvent::Exception { vector, abandoned, level: 1, syndrome, state: 0 };
        while self.writer.instructions() < INSTRUCTIONS {
            self.writer.push_block(0, block, 3, &[], Some(call))?;
            self.writer.push_block(0, handler, 3, &[], None)?;
            self.writer.push_block(0, back, 2, &[], None)?;
        }
        Ok(())
    }

    fn coin(&mut self, body: &[u32], data: Data) -> Result<(), TraceError> {
        let half = [ADD, MUL, FADD, ADD + 1].repeat(16);
        let skip = half.len() as u32 + 1;
        let head = [body, &[TBZ | skip << 5]].concat();
        let all = (head.len() + 2 * half.len()) as u32;
        let last = B | (0x400_0000 - all);
        let words = [head.as_slice(), &half, &half, &[last]].concat();
        let (first, second) = (head.len(), head.len() + half.len());
        let at = |index: usize| CODE + 4 * index as u64;
        let branch = self.writer.define_block(at(0), &words[..first])?;
        let straight = self.writer.define_block(at(first), &words[first..])?;
        let over = self.writer.define_block(at(second), &words[second..])?;
        let lengths = [words.len() - first, words.len() - second].map(|length| length as u16);
        let (places, mut addresses) = (places(body), Addresses::new(data));
        while self.writer.instructions() < INSTRUCTIONS {
            let accesses = accesses_at(&places, &mut addresses);
            addresses.next();
            self.writer.push_block(0, branch, first as u16, &accesses, None)?;
            match addresses.is_heads() {
                true => self.writer.push_block(0, over, lengths[1], &[], None)?,
                false => self.writer.push_block(0, straight, lengths[0], &[], None)?,
            }
        }
        Ok(())
    }
}

/// Returns the indexes of the accesses among these words.
fn places(words: &[u32]) -> Vec<u16> {
    let is_access = |word: u32| sim_isa::decode(word).mem.op != sim_isa::MemOp::None;
    (0u16..).zip(words).filter(|(_, word)| is_access(**word)).map(|(at, _)| at).collect()
}

/// Returns one access for each place.
fn accesses_at(places: &[u16], addresses: &mut Addresses) -> Vec<Access> {
    places.iter().map(|&index| Access { index, addr: addresses.next() }).collect()
}
