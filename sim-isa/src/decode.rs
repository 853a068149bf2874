//! Decodes a word into its static description: finds the row of the encoding tables and fills it
//! in.
//!
//! The tables follow the chapters of the Arm ARM's C4 index, one file each. Within a bucket the
//! first matching row wins, so a special case precedes the general one. Speed is not a concern:
//! each program location is decoded once, see [`crate::program`].

mod a32;
mod branch_sys;
mod dp_imm;
mod dp_reg;
mod fp_scalar;
mod load_store;
mod simd_fp;
mod simd_int;
mod simd_mem;
mod simd_misc;
mod sve_fp;
mod sve_int;
mod sve_mem;
mod sve_misc;

pub use a32::decode_a32;

use std::sync::OnceLock;

use sim_core::TagUse;

use crate::events::static_events;
use crate::fields::Pattern;
use crate::inst::{
    Accumulate, BranchKind, Inst, MAX_UOP_GROUPS, MemOp, MemShape, Reg, RegFile, Rename, Special,
};
use crate::micro_op::UopGroup;
use crate::operands::Operands;
use crate::row::{Counts, Domain, Elem, Row, Size};
use crate::system;
use crate::uops::{self, Cost, Uops};

/// A source index that an accumulator never has.
const NO_ACCUMULATOR: u8 = u8::MAX;

/// Every encoding table with the part of the architecture that it describes.
const TABLES: &[(Domain, &[Row])] = &[
    (Domain::Integer, dp_imm::ROWS),
    (Domain::Integer, dp_reg::ROWS),
    (Domain::Integer, branch_sys::ROWS),
    (Domain::Integer, load_store::ROWS),
    (Domain::Simd, simd_mem::ROWS),
    (Domain::ScalarFp, fp_scalar::ROWS),
    (Domain::Simd, simd_misc::ROWS),
    (Domain::Simd, simd_int::ROWS),
    (Domain::Simd, simd_fp::ROWS),
    (Domain::Sve, sve_int::ROWS),
    (Domain::Sve, sve_misc::ROWS),
    (Domain::Sve, sve_fp::ROWS),
    (Domain::Sve, sve_mem::ROWS),
];

/// A parsed row.
struct Entry {
    domain: Domain,
    row: &'static Row,
    pattern: Pattern,
    operands: Operands,
}

/// All entries and, for each value of bits 28 to 21, those that may match.
struct Index {
    entries: Vec<Entry>,
    buckets: Vec<Vec<u16>>,
}

/// Lowest of the bits that select the bucket.
const BUCKET_SHIFT: u32 = 21;
const BUCKET_MASK: u32 = 0xff << BUCKET_SHIFT;

impl Index {
    fn build() -> Index {
        let entries: Vec<Entry> = TABLES
            .iter()
            .flat_map(|(domain, rows)| rows.iter().map(|row| Entry::parse(*domain, row)))
            .collect();
        let buckets = (0..=0xff)
            .map(|bucket| {
                let may_match =
                    |e: &Entry| e.pattern.may_match(BUCKET_MASK, bucket << BUCKET_SHIFT);
                (0..entries.len()).filter(|&i| may_match(&entries[i])).map(|i| i as u16).collect()
            })
            .collect();
        Index { entries, buckets }
    }

    fn find(&self, word: u32) -> Option<&Entry> {
        let bucket = (word & BUCKET_MASK) >> BUCKET_SHIFT;
        self.buckets[bucket as usize]
            .iter()
            .map(|&i| &self.entries[i as usize])
            .find(|entry| entry.pattern.matches(word))
    }
}

fn index() -> &'static Index {
    static INDEX: OnceLock<Index> = OnceLock::new();
    INDEX.get_or_init(Index::build)
}

/// Returns the description of the A64 instruction `word`. A word that is not an instruction of
/// Neoverse N2 gets [`Special::Unknown`], one integer micro-operation of one cycle and no
/// registers.
///
/// ```
/// use sim_isa::{BranchKind, Reg, decode};
/// let ret = decode(0xd65f_03c0);
/// assert_eq!(ret.branch, BranchKind::Return);
/// assert_eq!(ret.srcs(), [Reg::x(30)]);
/// ```
pub fn decode(word: u32) -> Inst {
    let mut inst = match index().find(word) {
        Some(entry) if entry.row.special != Special::Unknown => entry.describe(word),
        _ => unknown(word),
    };
    inst.finish_decode();
    inst
}

/// Returns the number of the governing predicate of an SVE word.
pub(crate) fn governing_register(word: u32) -> Option<u8> {
    let entry = index().find(word).filter(|entry| entry.is_governed())?;
    Some(entry.pattern.field(word, b'g') as u8)
}

/// One cost that the tables can give an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostRow {
    /// Micro-operations.
    pub uops: Vec<UopGroup>,
    /// Family of late accumulator forwarding, 0 for none.
    pub family: u8,
    /// Latency from the result of the family to an accumulator operand.
    pub accumulate_latency: u8,
    /// Bit picture of the first encoding with this cost.
    pub example: &'static str,
}

impl CostRow {
    /// Returns true when `inst` has this cost.
    pub fn is_of(&self, inst: &Inst) -> bool {
        self.uops == inst.uops()
            && self.family == inst.accumulate.family
            && self.accumulate_latency == inst.accumulate.latency
    }
}

/// Returns every distinct cost of the instructions in the tables.
pub fn cost_rows() -> Vec<CostRow> {
    let mut rows: Vec<CostRow> = Vec::new();
    let known = index().entries.iter().filter(|entry| entry.row.special != Special::Unknown);
    for entry in known {
        for uops in entry.row.cost.variants() {
            let row = CostRow {
                uops: uops.groups.to_vec(),
                family: uops.family,
                accumulate_latency: uops.accumulate_latency,
                example: entry.row.bits,
            };
            let same = |other: &CostRow| CostRow { example: row.example, ..other.clone() } == row;
            if !rows.iter().any(same) {
                rows.push(row);
            }
        }
    }
    rows
}

fn unknown(word: u32) -> Inst {
    let mut inst = Inst { word, special: Special::Unknown, ..Inst::default() };
    let Cost::One(uops) = uops::UNKNOWN else { unreachable!("an unknown word has one cost") };
    set_uops(&mut inst, &uops, NO_ACCUMULATOR);
    inst
}

impl Entry {
    fn parse(domain: Domain, row: &'static Row) -> Entry {
        let entry = Entry {
            domain,
            row,
            pattern: Pattern::parse(row.bits),
            operands: Operands::parse(row.regs),
        };
        entry.check_fields();
        entry
    }

    /// Panics if a row needs a field that its picture lacks, so that an error in a table is found
    /// at once.
    fn check_fields(&self) {
        for letter in self.operands.letters().chain(self.asked_letters()) {
            assert!(
                self.pattern.width(letter) > 0,
                "the row {} has no field {}",
                self.row.bits,
                letter as char
            );
        }
    }

    /// Returns the fields that the sizes and element types of the row read.
    fn asked_letters(&self) -> impl Iterator<Item = u8> {
        let of_type = match self.row.counts {
            Counts::Int(elem) | Counts::Fp(elem, _) | Counts::FpConvert(_, elem) => match elem {
                Elem::Z | Elem::Wide | Elem::Tsz | Elem::TszWide => Some(b'z'),
                Elem::Y => Some(b'y'),
                _ => None,
            },
            _ => None,
        };
        let of_size = match self.row.mem.size {
            Size::Elems(_) | Size::StoreType => Some(b'z'),
            Size::LoadType | Size::LoadTypeOne => Some(b'e'),
            Size::Bytes(_) | Size::Regs(_) => None,
        };
        let is_typed = matches!(self.row.mem.size, Size::LoadType | Size::LoadTypeOne);
        let of_align = (self.row.mem.align == 0 && !is_typed).then_some(b'z');
        let of_branch = matches!(
            self.row.branch,
            BranchKind::Direct | BranchKind::Conditional | BranchKind::Call
        );
        of_type.into_iter().chain(of_size).chain(of_align).chain(of_branch.then_some(b'i'))
    }

    fn describe(&self, word: u32) -> Inst {
        let mut inst = Inst {
            word,
            branch: self.row.branch,
            special: self.row.special,
            rename: self.row.rename,
            is_sve: self.domain == Domain::Sve,
            accumulate: Accumulate { src: NO_ACCUMULATOR, ..Accumulate::default() },
            ..Inst::default()
        };
        self.operands.fill(&self.pattern, &mut inst);
        inst.mem = self.mem_shape(word);
        inst.mem.tags = self.tag_use(&inst);
        if self.row.special == Special::SystemWrite || self.row.mem.op == MemOp::Maintenance {
            inst.maintenance = system::maintenance(word);
            inst.context_write = system::context_write(word);
        }
        inst.offset = self.offset(word);
        let accumulator = inst.accumulate.src;
        set_uops(&mut inst, &self.uops(word), accumulator);
        inst.fp_element_ops = self.fp_element_ops(word);
        inst.events = static_events(self.row, self.domain, self.elem(word), self.is_governed());
        inst
    }

    /// Returns true for SVE rows whose picture has a governing predicate (field `g`).
    fn is_governed(&self) -> bool {
        self.domain == Domain::Sve && self.pattern.width(b'g') > 0
    }

    /// Returns the logarithm of the bytes of the largest element type, or 0 when the row has no
    /// type.
    fn elem(&self, word: u32) -> u32 {
        let (Counts::Int(elem) | Counts::Fp(elem, _) | Counts::FpConvert(_, elem)) =
            self.row.counts
        else {
            return self.pattern.field(word, b'z').min(3);
        };
        let z = self.pattern.field(word, b'z');
        match elem {
            Elem::B => 0,
            Elem::H => 1,
            Elem::S => 2,
            Elem::D => 3,
            Elem::Z => z.min(3),
            Elem::Wide => (z + 1).min(3),
            Elem::Y => match self.pattern.field(word, b'y') {
                0 => 2,
                1 => 3,
                _ => 1,
            },
            Elem::Tsz => z.max(1).ilog2().min(3),
            Elem::TszWide => (z.max(1).ilog2() + 1).min(3),
        }
    }

    /// Returns the number of elements that the operation processes.
    fn lanes(&self, word: u32) -> u32 {
        let bytes = match self.domain {
            Domain::Integer | Domain::ScalarFp => return 1,
            Domain::Sve => 16,
            // Scalar forms of Advanced SIMD have bit 28 set.
            Domain::Simd if word & 1 << 28 != 0 => return 1,
            Domain::Simd => 8 << (word >> 30 & 1),
        };
        (bytes >> self.elem(word)).max(1)
    }

    fn fp_element_ops(&self, word: u32) -> u8 {
        match self.row.counts {
            Counts::Fp(_, ops) => (self.lanes(word) * u32::from(ops)) as u8,
            Counts::FpConvert(..) => self.lanes(word) as u8,
            _ => 0,
        }
    }

    fn uops(&self, word: u32) -> Uops {
        match self.row.cost {
            Cost::One(uops) => uops,
            Cost::Elem(by_elem) => by_elem[self.elem(word) as usize],
            Cost::Q(by_q) => by_q[(word >> 30 & 1) as usize],
            Cost::Lanes(by_lanes) => by_lanes[self.lanes(word).ilog2().min(4) as usize],
        }
    }

    fn mem_shape(&self, word: u32) -> MemShape {
        let mem = &self.row.mem;
        if mem.op == MemOp::None {
            return MemShape::default();
        }
        let z = self.pattern.field(word, b'z');
        let q_bytes = 8 << (word >> 30 & 1);
        let (bytes, elem_bytes) = match mem.size {
            Size::Bytes(bytes) => (bytes, 1 << z),
            Size::Elems(count) => (count << z, 1 << z),
            Size::Regs(count) => (count * q_bytes, 1 << z),
            Size::LoadType => load_type(self.pattern.field(word, b'e')),
            Size::LoadTypeOne => {
                let (_, elem_bytes) = load_type(self.pattern.field(word, b'e'));
                (u16::from(elem_bytes), elem_bytes)
            }
            Size::StoreType => ((16 >> self.pattern.field(word, b'e')) << z, 1 << z),
        };
        MemShape {
            op: mem.op,
            bytes,
            align: if mem.align == 0 { elem_bytes } else { mem.align },
            register_bytes: self.register_bytes(bytes, elem_bytes, q_bytes),
            tags: mem.tags,
            ordered: mem.acquire || mem.release,
            exclusive: mem.exclusive,
            scattered: mem.scattered,
            elements: if self.is_governed() { self.elements(bytes, elem_bytes) } else { 0 },
            faulting: mem.faulting,
        }
    }

    /// Returns the elements of one register of an SVE access with `bytes` in total and `elem_bytes`
    /// each.
    fn elements(&self, bytes: u16, elem_bytes: u8) -> u8 {
        let mem = &self.row.mem;
        let elements = match mem.size {
            Size::LoadTypeOne => 1,
            Size::Bytes(_) if mem.align != 0 => 16 / u16::from(mem.align),
            Size::Bytes(_) => 16 / u16::from(elem_bytes),
            _ => bytes / u16::from(elem_bytes),
        };
        elements as u8
    }

    /// Returns the bytes of one register, or of one element where several make up a register.
    fn register_bytes(&self, bytes: u16, elem_bytes: u8, q_bytes: u16) -> u8 {
        let mem = &self.row.mem;
        let register = match mem.size {
            Size::Bytes(_) if mem.align != 0 => bytes.min(mem.align.into()),
            Size::Bytes(_) | Size::LoadType | Size::StoreType => bytes.min(16),
            Size::Elems(_) | Size::LoadTypeOne => elem_bytes.into(),
            Size::Regs(_) => q_bytes,
        };
        register as u8
    }

    /// Returns the use of allocation tags. Literals and the stack pointer with an immediate offset
    /// and no write-back are exempt from tag checks (Arm ARM, "tag_checked" of each load and
    /// store).
    fn tag_use(&self, inst: &Inst) -> TagUse {
        let address = &inst.srcs()[..inst.n_addr_srcs.into()];
        let index = address.iter().skip(1).any(|src| src.file() == RegFile::General);
        let by_stack = address.first() == Some(&Reg::SP) && !index;
        let is_exempt = address.is_empty() || by_stack && !inst.dsts().contains(&Reg::SP);
        match self.row.mem.tags {
            TagUse::Checked if is_exempt => TagUse::Unchecked,
            tags => tags,
        }
    }

    /// Returns the distance to a direct target or a literal, from field `i`.
    fn offset(&self, word: u32) -> i32 {
        let is_direct = matches!(
            self.row.branch,
            BranchKind::Direct | BranchKind::Conditional | BranchKind::Call
        );
        let is_literal = self.pattern.width(b'i') == 19;
        if is_direct || is_literal { self.pattern.signed_field(word, b'i') * 4 } else { 0 }
    }
}

/// Returns the bytes in memory and the bytes of a memory element of an SVE contiguous load, from
/// its `dtype`.
fn load_type(dtype: u32) -> (u16, u8) {
    // Logarithms of the memory and of the register element (Arm ARM, LD1* contiguous).
    const TYPES: [(u32, u32); 16] = [
        (0, 0),
        (0, 1),
        (0, 2),
        (0, 3),
        (2, 3),
        (1, 1),
        (1, 2),
        (1, 3),
        (1, 3),
        (1, 2),
        (2, 2),
        (2, 3),
        (0, 3),
        (0, 2),
        (0, 1),
        (3, 3),
    ];
    let (memory, register) = TYPES[dtype as usize];
    ((16 >> register) << memory, 1 << memory)
}

/// Copies the micro-operations and derives the number of operations.
fn set_uops(inst: &mut Inst, uops: &Uops, accumulator: u8) {
    assert!(uops.groups.len() <= MAX_UOP_GROUPS, "too many micro-operation groups");
    inst.uops = [UopGroup::default(); MAX_UOP_GROUPS];
    inst.uops[..uops.groups.len()].copy_from_slice(uops.groups);
    inst.n_uop_groups = uops.groups.len() as u8;
    inst.n_mops = uops.total().div_ceil(2).max(1) as u8;
    inst.accumulate = uops.accumulate(accumulator);
    if matches!(inst.rename, Rename::Nop | Rename::Zero) {
        inst.n_srcs = 0;
        inst.n_addr_srcs = 0;
    }
}
