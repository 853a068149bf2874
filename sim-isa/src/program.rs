//! The static instructions of a program: each location is decoded once, then named by a small
//! number.
//!
//! A page of 4 KiB holds 1024 locations. A hash map finds the page, an array the instruction. Code
//! that changes (a JIT) gives a location a new instruction; the old one keeps its number.

use rustc_hash::FxHashMap;
use sim_core::InstId;

use crate::costs::Costs;
use crate::decode::decode;
use crate::inst::{BranchKind, Inst, MemOp};
use crate::path_class::PathClass;

const PAGE_SHIFT: u32 = 12;
const PAGE_BYTES: u64 = 1 << PAGE_SHIFT;
const PAGE_INSTS: usize = 1024;
const WORD_BYTES: u64 = 4;
/// Address bits that select the location in a page.
const PLACE_BITS: u64 = PAGE_BYTES - WORD_BYTES;
/// Marker of a location without an instruction.
const NO_INST: u32 = u32::MAX;
/// An address that no program location has: it is not a multiple of four.
const NO_PAGE: u64 = u64::MAX;

/// Words of the code image in one page, if the image is known.
type Image = Option<Box<[u32; PAGE_INSTS]>>;

/// The static instruction table of one program.
///
/// ```
/// use sim_isa::Program;
/// let mut program = Program::new();
/// let id = program.intern(0x1000, 0xd503_201f);
/// assert_eq!(program.intern(0x1000, 0xd503_201f), id);
/// assert_eq!(program.at(0x1000), Some(id));
/// assert_eq!(program.pc(id), 0x1000);
/// ```
#[derive(Default)]
pub struct Program {
    insts: Vec<Inst>,
    pcs: Vec<u64>,
    /// Current instruction of each location, page by page.
    ids: Vec<u32>,
    images: Vec<Image>,
    page_numbers: FxHashMap<u64, u32>,
    last: LastPage,
    costs: Costs,
    /// True if structure loads and stores count in `ASE_INST_SPEC`.
    structures_count: bool,
    /// True if every instruction is [`PathClass::General`].
    without_path_classes: bool,
}

/// The page of the last lookup. Most lookups stay in one page.
struct LastPage {
    base: u64,
    number: u32,
}

impl Default for LastPage {
    fn default() -> LastPage {
        LastPage { base: NO_PAGE, number: 0 }
    }
}

impl Program {
    /// Bytes of a code page in the table.
    pub const PAGE_BYTES: u64 = PAGE_BYTES;

    /// Creates an empty table.
    pub fn new() -> Program {
        Program::default()
    }

    /// Creates an empty table whose instructions have these costs.
    pub fn costing(costs: Costs) -> Program {
        Program { costs, ..Program::default() }
    }

    /// Returns this table with the rule for loads and stores of Advanced SIMD structures (`LD1` to
    /// `LD4`, `ST1` to `ST4`). They count in `ASE_INST_SPEC` if `is` is true (decision A49).
    #[must_use]
    pub fn counting_structures(self, is: bool) -> Program {
        Program { structures_count: is, ..self }
    }

    /// Returns this table with [`PathClass::General`] for every instruction interned from now on.
    /// The core then takes its general path for all of them. Tests compare the specialized paths
    /// with it.
    #[must_use]
    pub fn without_path_classes(self) -> Program {
        Program { without_path_classes: true, ..self }
    }

    /// Returns the memory in bytes of a table with this many instructions and pages of 4096 bytes,
    /// `images` of which have a code image. Vectors may reserve twice the space in use.
    pub fn bytes(instructions: u64, pages: u64, images: u64) -> u64 {
        let instruction = (size_of::<Inst>() + size_of::<u64>()) as u64;
        let page =
            (PAGE_INSTS * size_of::<u32>() + size_of::<Image>() + size_of::<(u64, u32)>()) as u64;
        2 * (instructions * instruction + pages * page) + images * PAGE_BYTES
    }

    /// Returns the number of static instructions.
    pub fn len(&self) -> usize {
        self.insts.len()
    }

    /// Returns true while no instruction is interned.
    pub fn is_empty(&self) -> bool {
        self.insts.is_empty()
    }

    /// Returns the instruction with number `id`.
    #[inline]
    pub fn inst(&self, id: InstId) -> &Inst {
        &self.insts[id as usize]
    }

    /// Returns the address of instruction `id`.
    #[inline]
    pub fn pc(&self, id: InstId) -> u64 {
        self.pcs[id as usize]
    }

    /// Returns the target of a direct branch, or the address of a literal load. Returns 0 for other
    /// instructions, whose target is not static.
    pub fn target(&self, id: InstId) -> u64 {
        let inst = self.inst(id);
        let is_direct =
            matches!(inst.branch, BranchKind::Direct | BranchKind::Conditional | BranchKind::Call);
        let is_literal = inst.mem.op != MemOp::None && inst.n_addr_srcs == 0;
        match is_direct || is_literal {
            true => self.pc(id).wrapping_add_signed(i64::from(inst.offset)),
            false => 0,
        }
    }

    /// Returns the number of the instruction `word` at `pc`. Decodes the word if the location holds
    /// another word or none. The instruction becomes the current one of its location. `pc` is a
    /// multiple of 4.
    pub fn intern(&mut self, pc: u64, word: u32) -> InstId {
        match self.current(pc) {
            Some(id) if self.insts[id as usize].word == word => id,
            _ => self.set(pc, self.decoded(word)),
        }
    }

    /// Returns the description of `word`, with the costs of this machine.
    fn decoded(&self, word: u32) -> Inst {
        let mut inst = decode(word);
        if self.costs != Costs::default() {
            self.costs.apply(&mut inst);
        }
        if self.structures_count {
            crate::events::count_structure(&mut inst);
        }
        if self.without_path_classes {
            inst.path_class = PathClass::General;
        }
        inst
    }

    /// Returns the number of a hand-made description at `pc`, like [`Program::intern`]. Used
    /// for what-if studies of instruction costs.
    pub fn intern_inst(&mut self, pc: u64, mut inst: Inst) -> InstId {
        inst.finish_decode();
        if self.without_path_classes {
            inst.path_class = PathClass::General;
        }
        match self.current(pc) {
            Some(id) if self.insts[id as usize] == inst => id,
            _ => self.set(pc, inst),
        }
    }

    /// Returns the current instruction of a location. Creates its page when it is missing.
    fn current(&mut self, pc: u64) -> Option<InstId> {
        let page = self.page_or_new(pc);
        let id = self.ids[place_of(page, pc)];
        (id != NO_INST).then_some(id)
    }

    /// Gives a location a new instruction and returns its number.
    fn set(&mut self, pc: u64, inst: Inst) -> InstId {
        let page = self.page_or_new(pc);
        let id = self.insts.len() as u32;
        assert!(id != NO_INST, "a program has fewer than 2^32 - 1 static instructions");
        self.insts.push(inst);
        self.pcs.push(pc);
        self.ids[place_of(page, pc)] = id;
        id
    }

    /// Returns the current instruction at `pc`, if it was interned or fetched before.
    #[inline]
    pub fn at(&self, pc: u64) -> Option<InstId> {
        let page = self.page(pc)?;
        let id = self.ids[place_of(page, pc)];
        (id != NO_INST && pc.is_multiple_of(WORD_BYTES)).then_some(id)
    }

    /// Returns the current instruction at `pc`, decoded from the code image if necessary. Returns
    /// `None` outside interned code and the image.
    #[inline(always)]
    pub fn fetch(&mut self, pc: u64) -> Option<InstId> {
        // The masked address of a misaligned `pc` is not the base of any page.
        if self.last.base != pc & !PLACE_BITS {
            return self.fetch_elsewhere(pc);
        }
        match self.ids[place_of(self.last.number as usize, pc)] {
            NO_INST => self.fetch_from_image(pc),
            id => Some(id),
        }
    }

    /// Returns the instruction at `pc` like [`Program::fetch`], from a page other than the last
    /// one.
    #[inline(never)]
    fn fetch_elsewhere(&mut self, pc: u64) -> Option<InstId> {
        let base = pc & !PLACE_BITS;
        let number = *self.page_numbers.get(&base)?;
        self.last = LastPage { base, number };
        self.fetch(pc)
    }

    /// Decodes the word at `pc` in the last page.
    #[inline(never)]
    fn fetch_from_image(&mut self, pc: u64) -> Option<InstId> {
        let word = self.images[self.last.number as usize].as_ref()?[slot_of(pc)];
        Some(self.intern(pc, word))
    }

    /// Attaches the code image from `base` (a multiple of 4) on, in whole words, for any page size
    /// of the recorded machine. Unknown parts of a page of 4096 bytes read as zero. Instructions
    /// already interned stay current.
    pub fn attach_image(&mut self, base: u64, bytes: &[u8]) {
        assert!(base.is_multiple_of(WORD_BYTES), "code at {base:#x} is not aligned to its words");
        let (mut at, mut rest) = (base, bytes);
        while !rest.is_empty() {
            let room = (PAGE_BYTES - at % PAGE_BYTES) as usize;
            let (part, after) = rest.split_at(rest.len().min(room));
            let page = self.page_or_new(at);
            let image = self.images[page].get_or_insert_with(|| Box::new([0; PAGE_INSTS]));
            for (word, chunk) in image[slot_of(at)..].iter_mut().zip(part.chunks_exact(4)) {
                *word = u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
            }
            (at, rest) = (at.wrapping_add(room as u64), after);
        }
    }

    /// Returns the index of the page of `pc`.
    #[inline]
    fn page(&self, pc: u64) -> Option<usize> {
        let base = page_base(pc);
        match self.last.base == base {
            true => Some(self.last.number as usize),
            false => self.page_numbers.get(&base).map(|&number| number as usize),
        }
    }

    fn page_or_new(&mut self, pc: u64) -> usize {
        let base = page_base(pc);
        if self.last.base != base {
            let next = self.images.len() as u32;
            let number = *self.page_numbers.entry(base).or_insert(next);
            if number == next {
                self.ids.extend([NO_INST; PAGE_INSTS]);
                self.images.push(None);
            }
            self.last = LastPage { base, number };
        }
        self.last.number as usize
    }
}

fn page_base(pc: u64) -> u64 {
    pc & !(PAGE_BYTES - 1)
}

/// Returns the index of the location of `pc` in this page.
#[inline]
fn place_of(page: usize, pc: u64) -> usize {
    page * PAGE_INSTS + slot_of(pc)
}

fn slot_of(pc: u64) -> usize {
    (pc % PAGE_BYTES / WORD_BYTES) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOP: u32 = 0xd503_201f;
    const RET: u32 = 0xd65f_03c0;

    #[test]
    fn another_word_at_the_same_place_gets_its_own_number_and_becomes_current() {
        let mut program = Program::new();
        let old = program.intern(0x1000, NOP);
        let new = program.intern(0x1000, RET);
        assert_ne!(old, new);
        assert_eq!(program.at(0x1000), Some(new));
        assert_eq!(program.inst(old).word, NOP);
        assert_eq!(program.pc(old), program.pc(new));
    }

    #[test]
    fn fetch_decodes_from_the_image_and_only_once() {
        let mut program = Program::new();
        let image: Vec<u8> = [NOP, RET].iter().flat_map(|word| word.to_le_bytes()).collect();
        program.attach_image(0x7000, &image);
        assert_eq!(program.at(0x7004), None);
        let id = program.fetch(0x7004).expect("the image covers the page");
        assert_eq!(program.inst(id).word, RET);
        assert_eq!(program.fetch(0x7004), Some(id));
        assert_eq!(program.len(), 1);
        assert_eq!(program.fetch(0x8000), None);
        assert_eq!(program.fetch(0x7006), None, "a misaligned address holds no instruction");
    }

    #[test]
    fn fetch_reads_images_of_any_page_size() {
        let mut program = Program::new();
        let large: Vec<u8> = RET.to_le_bytes().repeat(16_384 / 4);
        program.attach_image(0x8000, &large);
        let small: Vec<u8> = NOP.to_le_bytes().repeat(1024 / 4);
        program.attach_image(0x2_0400, &small);
        program.attach_image(0x2_0C00, &small);
        let mut word = |pc| program.fetch(pc).map(|id| program.inst(id).word);
        assert_eq!([word(0x8000), word(0xBFFC), word(0xC000)], [Some(RET), Some(RET), None]);
        assert_eq!([word(0x2_0400), word(0x2_0FFC)], [Some(NOP), Some(NOP)]);
        assert_eq!(word(0x2_0800), Some(0), "words between the images read as zero");
    }

    #[test]
    fn the_interned_word_wins_over_the_image() {
        let mut program = Program::new();
        let id = program.intern(0x7000, RET);
        program.attach_image(0x7000, &NOP.to_le_bytes());
        assert_eq!(program.fetch(0x7000), Some(id));
    }

    #[test]
    fn targets_of_branches_and_literals_are_absolute() {
        let mut program = Program::new();
        let back = program.intern(0x2000, 0x17ff_ffff); // B .-4
        let literal = program.intern(0x2004, 0x5800_0040); // LDR x0, .+8
        let indirect = program.intern(0x2008, RET);
        assert_eq!(program.target(back), 0x1ffc);
        assert_eq!(program.target(literal), 0x200c);
        assert_eq!(program.target(indirect), 0);
    }
}
