//! Brings a memory system into the state that a case is given.
//!
//! Base and clauses are first worked out to one wish per line and per page, the last word on each
//! holding; then the wishes are carried out on the empty system, in the order in which the case
//! names its addresses.

use crate::language::{Action, Base, Bits, Given, Ram, State, Step, Xt};
use rustc_hash::FxHashMap;
use sim_cache::{
    CacheLevel, Defect, Mapping, MemorySystem, MemoryType, NotMapped, PageTarget, TlbLevel,
};
use sim_core::{DataSource, LINE_BYTES, PhysAddr, VirtAddr};

/// Bytes of a page of the identity map (guide conformance setups: 4 KiB).
const PAGE_BYTES: u64 = 4096;
/// Bytes of a block of the level above (Arm architecture, 4 KiB granule).
const BLOCK_BYTES: u64 = 2 << 20;
/// Pages under one contiguous hint (Arm architecture, 4 KiB granule).
const CONTIGUOUS_PAGES: u64 = 16;
/// Levels of a walk above the last.
const UPPER_LEVELS: u32 = 3;
/// Bytes that share an allocation tag (Arm architecture, MTE).
const TAG_BYTES: u64 = 16;

/// Which L1 a step uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Side {
    Data,
    Fetch,
}

/// One line or page with what is wished for it.
#[derive(Clone, Copy, Debug)]
struct Wish {
    addr: u64,
    side: Side,
    state: State,
}

/// Wishes for lines or pages, the last word on each, in the order of their first naming. A case may name a
/// million of them.
#[derive(Debug)]
struct WishList {
    unit: u64,
    wishes: Vec<Wish>,
    places: FxHashMap<(u64, Side), usize>,
}

impl WishList {
    fn new(unit: u64) -> WishList {
        WishList { unit, wishes: Vec::new(), places: FxHashMap::default() }
    }

    /// Adds a wish, or changes the one that its line or page has on the same side.
    fn put(&mut self, wish: Wish) {
        let next = self.wishes.len();
        let place = *self.places.entry((wish.addr / self.unit, wish.side)).or_insert(next);
        match self.wishes.get_mut(place) {
            Some(known) => known.state = wish.state,
            None => self.wishes.push(wish),
        }
    }

    /// The last word on a line or page: of both sides, if the steps use both.
    fn name(&mut self, addr: u64, state: State) {
        let known =
            [Side::Data, Side::Fetch].map(|side| self.places.get(&(addr / self.unit, side)));
        if known == [None; 2] {
            return self.put(Wish { addr, side: Side::Data, state });
        }
        for place in known.into_iter().flatten() {
            self.wishes[*place].state = state;
        }
    }
}

/// All wishes of a case, lines and pages apart, in the order of their first naming.
#[derive(Debug)]
struct Wishes {
    lines: WishList,
    pages: WishList,
    attributes: Vec<Wish>,
    /// The attributes of each page.
    by_page: FxHashMap<u64, Vec<State>>,
    sources: WishList,
    /// What is done to lines when they are where they were wished: shared, tagged, broken.
    marks: Vec<Wish>,
}

impl Default for Wishes {
    fn default() -> Wishes {
        Wishes {
            lines: WishList::new(LINE_BYTES),
            pages: WishList::new(PAGE_BYTES),
            attributes: Vec::new(),
            by_page: FxHashMap::default(),
            sources: WishList::new(LINE_BYTES),
            marks: Vec::new(),
        }
    }
}

/// Sets `memory`, which must be empty, to what `given` says for `steps`.
///
/// # Errors
///
/// A line or a translation of an unmapped page was asked for by name.
pub(super) fn apply(
    given: &Given,
    steps: &[Step],
    memory: &mut MemorySystem,
) -> Result<(), NotMapped> {
    if given.stage2 {
        memory.enable_stage2(PAGE_BYTES).expect("4 KiB is a granule");
    }
    let mut wishes = Wishes::default();
    wishes.base(given.base, steps);
    for clause in &given.clauses {
        match &clause.subject {
            Some(addrs) => addrs.iter().for_each(|addr| wishes.name(*addr, clause.state)),
            None => wishes.all(clause.state),
        }
    }
    wishes.carry_out(memory)?;
    memory.set_tag_checks(given.tag_checks);
    Ok(())
}

impl Wishes {
    /// What the base setup wishes for everything that the steps use.
    fn base(&mut self, base: Base, steps: &[Step]) {
        let tlb = if base >= Base::K1 { State::InTlbs } else { State::InNoTlb };
        let all = || steps.iter().flat_map(|step| std::iter::once(step).chain(&step.other_path));
        for (addr, side) in all().flat_map(used_lines) {
            let line = match (base, side) {
                (Base::K0 | Base::K1, _) => State::InNoCache,
                (Base::K2, _) => State::InL2,
                (Base::K3, Side::Data) => State::InL1d,
                (Base::K3d, Side::Data) => State::DirtyInL1d,
                (Base::K3 | Base::K3d, Side::Fetch) => State::InL1i,
            };
            self.lines.put(Wish { addr, side, state: line });
            self.pages.put(Wish { addr, side, state: tlb });
        }
        for addr in all().filter_map(managed_code) {
            self.pages.put(Wish { addr, side: Side::Data, state: tlb });
        }
    }

    /// A clause about one address; both sides if the steps use its page or line on both.
    fn name(&mut self, addr: u64, state: State) {
        let wish = Wish { addr, side: Side::Data, state };
        match state {
            _ if state.is_attribute() => {
                let of_page = self.by_page.entry(addr / PAGE_BYTES).or_default();
                if !of_page.contains(&state) {
                    of_page.push(state);
                }
                self.attributes.push(wish);
            }
            State::Shared | State::Faulty(..) | State::Tag(_) => self.marks.push(wish),
            State::InSlc | State::InPeer | State::InRemote | State::InDram => {
                self.sources.put(wish);
            }
            _ if state.is_of_page() => self.pages.name(addr, state),
            _ => self.lines.name(addr, state),
        }
    }

    /// A clause about all lines or all pages that the steps use.
    fn all(&mut self, state: State) {
        let list = if state.is_of_page() { &self.pages } else { &self.lines };
        for addr in list.wishes.iter().map(|wish| wish.addr).collect::<Vec<_>>() {
            self.name(addr, state);
        }
    }

    fn carry_out(&self, memory: &mut MemorySystem) -> Result<(), NotMapped> {
        for wish in &self.attributes {
            describe(wish, memory);
        }
        for wish in &self.sources.wishes {
            self.supply(wish, memory)?;
        }
        for wish in self.pages.wishes.iter().filter(|wish| !self.is_unmapped(wish.addr)) {
            translate(wish, memory)?;
        }
        for wish in self.lines.wishes.iter().filter(|wish| !self.is_uncacheable(wish.addr)) {
            place(wish, memory)?;
        }
        for wish in &self.marks {
            mark(wish, memory)?;
        }
        Ok(())
    }

    fn supply(&self, wish: &Wish, memory: &mut MemorySystem) -> Result<(), NotMapped> {
        let addr = VirtAddr(wish.addr);
        let source = match wish.state {
            State::InSlc => return memory.place_line(0, addr, CacheLevel::Slc, false),
            State::InPeer => DataSource::Peer,
            State::InRemote => DataSource::Remote,
            _ => DataSource::Dram,
        };
        memory.set_data_source(addr, Some(source))
    }

    fn has(&self, addr: u64, state: State) -> bool {
        let of_page = self.by_page.get(&(addr / PAGE_BYTES));
        of_page.is_some_and(|states| states.contains(&state))
    }

    fn is_unmapped(&self, addr: u64) -> bool {
        self.has(addr, State::Unmapped) || self.has(addr, State::UnmappedInStage2)
    }

    fn is_uncacheable(&self, addr: u64) -> bool {
        let uncached = [State::NonCacheable, State::Device, State::DeviceInStage2];
        self.is_unmapped(addr) || uncached.iter().any(|state| self.has(addr, *state))
    }
}

/// One address of each line that a step uses.
fn used_lines(step: &Step) -> Vec<(u64, Side)> {
    match step.action {
        Action::Fetch { addr } => vec![(addr, Side::Fetch)],
        Action::Snoop { addr, .. } | Action::Stash { addr } => vec![(addr, Side::Data)],
        Action::Execute { word, operand: Some(Xt::Address(addr)), elements, .. } => {
            if managed_code(step).is_some() {
                return vec![(addr, Side::Fetch)];
            }
            let mem = sim_isa::decode(word).mem;
            let bytes = if mem.scattered { mem.align.into() } else { mem.bytes };
            let all = std::iter::once(&addr).chain(elements.further());
            all.flat_map(|addr| data_lines(untagged(*addr), bytes.max(1).into())).collect()
        }
        Action::Execute {
            operand: Some(Xt::SetAndWay { addr, .. } | Xt::Page { addr, .. }),
            ..
        } => vec![(addr, Side::Data)],
        Action::ExecuteA32 { operand: Some(Xt::Address(addr)), .. } => vec![(addr, Side::Data)],
        _ => Vec::new(),
    }
}

/// One address of each line from `addr` on for `bytes`.
fn data_lines(addr: u64, bytes: u64) -> impl Iterator<Item = (u64, Side)> {
    let last = addr.saturating_add(bytes - 1);
    let lines = addr / LINE_BYTES..=last / LINE_BYTES;
    lines.map(move |line| (addr.max(line * LINE_BYTES), Side::Data))
}

/// The address of `IC IVAU`: a line of code that the data side translates.
fn managed_code(step: &Step) -> Option<u64> {
    const IC_IVAU: u32 = 0xD50B_7520;
    match step.action {
        Action::Execute { word, operand: Some(Xt::Address(addr)), .. } => {
            (word & !0x1F == IC_IVAU).then_some(addr)
        }
        _ => None,
    }
}

/// The address without the tag that the top byte of a pointer may carry.
fn untagged(addr: u64) -> u64 {
    ((addr << 8) as i64 >> 8) as u64
}

/// Gives the tables one more attribute of a page, or maps the block around it.
fn describe(wish: &Wish, memory: &mut MemorySystem) {
    let addr = VirtAddr(wish.addr);
    let target = memory.page_target(addr).unwrap_or_default();
    let target = match wish.state {
        State::UnmappedInStage2 | State::DeviceInStage2 => {
            map_stage2(wish, memory);
            return;
        }
        State::Unmapped => None,
        State::Alias => memory.page_target(VirtAddr(wish.addr.saturating_sub(PAGE_BYTES))),
        State::Device => Some(PageTarget { memory: MemoryType::Device, ..target }),
        State::NonCacheable => Some(PageTarget { memory: MemoryType::NonCacheable, ..target }),
        State::Tagged => Some(PageTarget { tagged: true, ..target }),
        _ => {
            map_around(wish, memory);
            return;
        }
    };
    memory.map_page(addr, target);
}

/// Changes what stage 2 says of a page; stage 1 maps it to itself.
fn map_stage2(wish: &Wish, memory: &mut MemorySystem) {
    let page = PhysAddr(wish.addr / PAGE_BYTES * PAGE_BYTES);
    let device = Mapping { memory: MemoryType::Device, ..Mapping::normal(page, PAGE_BYTES) };
    let mapping = (wish.state == State::DeviceInStage2).then_some(device);
    memory.map_stage2(page, mapping).expect("scenarios have the 4 KiB granule in both stages");
}

/// Maps a page, a block or a range of pages to itself.
fn map_around(wish: &Wish, memory: &mut MemorySystem) {
    let (range, bytes) = match wish.state {
        State::InBlock => (BLOCK_BYTES, BLOCK_BYTES),
        State::Contiguous => (CONTIGUOUS_PAGES * PAGE_BYTES, PAGE_BYTES),
        _ => (PAGE_BYTES, PAGE_BYTES),
    };
    let mapping = Mapping {
        contiguous: wish.state == State::Contiguous,
        read_only: wish.state == State::ReadOnly,
        ..Mapping::normal(PhysAddr(wish.addr / range * range), bytes)
    };
    let mapped = memory.map_block(VirtAddr(wish.addr), mapping);
    mapped.expect("scenarios have the 4 KiB granule, and the output is aligned");
}

fn translate(wish: &Wish, memory: &mut MemorySystem) -> Result<(), NotMapped> {
    let addr = VirtAddr(wish.addr);
    if wish.state == State::InNoTlb {
        return Ok(());
    }
    if wish.state == State::InWalkCache {
        memory.warm_walk_cache(0, addr, UPPER_LEVELS);
        return Ok(());
    }
    memory.warm_tlb(0, addr, TlbLevel::L2)?;
    if wish.state == State::InL2Tlb {
        return Ok(());
    }
    let level = if wish.side == Side::Fetch { TlbLevel::L1i } else { TlbLevel::L1d };
    memory.warm_tlb(0, addr, level)
}

/// What is done to a line where it is.
fn mark(wish: &Wish, memory: &mut MemorySystem) -> Result<(), NotMapped> {
    let addr = VirtAddr(wish.addr);
    match wish.state {
        State::Shared => memory.share_line(0, addr),
        State::Faulty(ram, bits) => {
            let defect = match bits {
                Bits::One => Defect::Correctable,
                Bits::Two => Defect::Uncorrectable,
            };
            memory.inject(0, addr, ram_of(ram), defect)
        }
        State::Tag(tag) => {
            memory.set_tag(VirtAddr(wish.addr / TAG_BYTES * TAG_BYTES), TAG_BYTES, tag);
            Ok(())
        }
        _ => Ok(()),
    }
}

fn ram_of(ram: Ram) -> sim_cache::Ram {
    match ram {
        Ram::L1dData => sim_cache::Ram::L1dData,
        Ram::L1dTag => sim_cache::Ram::L1dTag,
        Ram::L1iData => sim_cache::Ram::L1iData,
        Ram::L1iTag => sim_cache::Ram::L1iTag,
        Ram::L2Data => sim_cache::Ram::L2Data,
    }
}

fn place(wish: &Wish, memory: &mut MemorySystem) -> Result<(), NotMapped> {
    let (level, dirty) = match wish.state {
        State::InL1d => (CacheLevel::L1d, false),
        State::DirtyInL1d => (CacheLevel::L1d, true),
        State::InL1i => (CacheLevel::L1i, false),
        State::InL2 => (CacheLevel::L2, false),
        State::DirtyInL2 => (CacheLevel::L2, true),
        _ => return Ok(()),
    };
    memory.place_line(0, VirtAddr(wish.addr), level, dirty)
}
