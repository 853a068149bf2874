//! The static instructions of a program: each location is decoded once, then named by a small
//! number.
//!
//! A page of 4 KiB holds 1024 locations; a hash map finds the page, an array the instruction. Code
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
/// What of an address says which location of a page it is.
const PLACE_BITS: u64 = PAGE_BYTES - WORD_BYTES;
/// A location without instruction.
const NO_INST: u32 = u32::MAX;
/// An address that no program location has: it is not a multiple of four.
const NO_PAGE: u64 = u64::MAX;

/// Words of the code image in one page, when one was given.
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
    /// Structure loads and stores count in `ASE_INST_SPEC`.
    structures_count: bool,
    /// Every instruction is [`PathClass::General`].
    without_path_classes: bool,
}

/// The page that answered last: code mostly stays where it is.
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
    /// Bytes of a page of code in the table.
    pub const PAGE_BYTES: u64 = PAGE_BYTES;

    /// An empty table.
    pub fn new() -> Program {
        Program::default()
    }

    /// An empty table of instructions that have these costs.
    pub fn costing(costs: Costs) -> Program {
        Program { costs, ..Program::default() }
    }

    /// The same table, in which loads and stores of Advanced SIMD structures (`LD1` to `LD4`, `ST1` to `ST4`) count in
    /// `ASE_INST_SPEC` if that `is` so (decision A49).
    #[must_use]
    pub fn counting_structures(self, is: bool) -> Program {
        Program { structures_count: is, ..self }
    }

    /// The same table, in which every instruction interned from now on is [`PathClass::General`], so that the core takes its
    /// general route for all of them. The shorter routes of the other shapes are held against it.
    #[must_use]
    pub fn without_path_classes(self) -> Program {
        Program { without_path_classes: true, ..self }
    }

    /// Memory in bytes of a table of so many instructions in so many pages of 4096 bytes, of which `images` are known
    /// whole. Vectors may have twice the room that is used.
    pub fn bytes(instructions: u64, pages: u64, images: u64) -> u64 {
        let instruction = (size_of::<Inst>() + size_of::<u64>()) as u64;
        let page =
            (PAGE_INSTS * size_of::<u32>() + size_of::<Image>() + size_of::<(u64, u32)>()) as u64;
        2 * (instructions * instruction + pages * page) + images * PAGE_BYTES
    }

    /// Number of static instructions.
    pub fn len(&self) -> usize {
        self.insts.len()
    }

    /// True while nothing was interned.
    pub fn is_empty(&self) -> bool {
        self.insts.is_empty()
    }

    /// The instruction behind `id`.
    #[inline]
    pub fn inst(&self, id: InstId) -> &Inst {
        &self.insts[id as usize]
    }

    /// The address of `id`.
    #[inline]
    pub fn pc(&self, id: InstId) -> u64 {
        self.pcs[id as usize]
    }

    /// The target of a direct branch, or the address of a literal load; 0 for anything else, whose
    /// target is not static.
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

    /// The number of the instruction `word` at `pc`; decodes it when the location holds another
    /// word or none. The instruction becomes the current one of its location. `pc` is a multiple of
    /// 4.
    pub fn intern(&mut self, pc: u64, word: u32) -> InstId {
        match self.current(pc) {
            Some(id) if self.insts[id as usize].word == word => id,
            _ => self.set(pc, self.decoded(word)),
        }
    }

    /// What `word` is, with the costs of this machine.
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

    /// As [`Program::intern`] for a description made by hand: what if an instruction cost something
    /// else.
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

    /// The current instruction of a location, whose page is made when it is missing.
    fn current(&mut self, pc: u64) -> Option<InstId> {
        let page = self.page_or_new(pc);
        let id = self.ids[place_of(page, pc)];
        (id != NO_INST).then_some(id)
    }

    /// Gives a location a new instruction.
    fn set(&mut self, pc: u64, inst: Inst) -> InstId {
        let page = self.page_or_new(pc);
        let id = self.insts.len() as u32;
        assert!(id != NO_INST, "a program has fewer than 2^32 - 1 static instructions");
        self.insts.push(inst);
        self.pcs.push(pc);
        self.ids[place_of(page, pc)] = id;
        id
    }

    /// The current instruction at `pc`, if it was interned or fetched before.
    #[inline]
    pub fn at(&self, pc: u64) -> Option<InstId> {
        let page = self.page(pc)?;
        let id = self.ids[place_of(page, pc)];
        (id != NO_INST && pc.is_multiple_of(WORD_BYTES)).then_some(id)
    }

    /// The current instruction at `pc`; decodes it from the code image when nobody did before.
    /// `None` outside interned code and the image.
    #[inline(always)]
    pub fn fetch(&mut self, pc: u64) -> Option<InstId> {
        // What is left of a misaligned address is the base of no page.
        if self.last.base != pc & !PLACE_BITS {
            return self.fetch_elsewhere(pc);
        }
        match self.ids[place_of(self.last.number as usize, pc)] {
            NO_INST => self.fetch_from_image(pc),
            id => Some(id),
        }
    }

    /// As [`Program::fetch`], from another page than the last one.
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

    /// Gives the code image from `base` (a multiple of 4) on, whole words, whatever the page size of the
    /// recorded machine; a page of 4096 bytes that is known in part reads as zero elsewhere.
    /// Instructions already interned stay current.
    pub fn attach_image(&mut self, base: u64, bytes: &[u8]) {
        assert!(base.is_multiple_of(WORD_BYTES), "code at {base:#x} is not aligned to its words");
        let (mut at, mut rest) = (base, bytes);
        while !rest.is_empty() {
            let room = (PAGE_BYTES - at % PAGE_BYTES) as usize;
            let (part, behind) = rest.split_at(rest.len().min(room));
            let page = self.page_or_new(at);
            let image = self.images[page].get_or_insert_with(|| Box::new([0; PAGE_INSTS]));
            for (word, chunk) in image[slot_of(at)..].iter_mut().zip(part.chunks_exact(4)) {
                *word = u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
            }
            (at, rest) = (at.wrapping_add(room as u64), behind);
        }
    }

    /// Index of the page of `pc`.
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

/// Index of the location of `pc`, which is in this page.
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
    fn images_of_any_page_size_are_fetched_from() {
        let mut program = Program::new();
        let large: Vec<u8> = RET.to_le_bytes().repeat(16_384 / 4);
        program.attach_image(0x8000, &large);
        let small: Vec<u8> = NOP.to_le_bytes().repeat(1024 / 4);
        program.attach_image(0x2_0400, &small);
        program.attach_image(0x2_0C00, &small);
        let mut word = |pc| program.fetch(pc).map(|id| program.inst(id).word);
        assert_eq!([word(0x8000), word(0xBFFC), word(0xC000)], [Some(RET), Some(RET), None]);
        assert_eq!([word(0x2_0400), word(0x2_0FFC)], [Some(NOP), Some(NOP)]);
        assert_eq!(word(0x2_0800), Some(0), "between the two nothing was recorded");
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
