//! Brings a memory system into the given state of a case.
//!
//! Base and clauses are first reduced to one placement per line and page; the last clause wins. The
//! placements are then applied to the empty system, in the order in which the case names the
//! addresses.

use crate::language::{Action, Base, Bits, Given, Ram, State, Step, Xt};
use rustc_hash::FxHashMap;
use sim_cache::{
    CacheLevel, Defect, Mapping, MemorySystem, MemoryType, NotMapped, PageTarget, TlbLevel,
};
use sim_core::{DataSource, LINE_BYTES, Maintenance, PhysAddr, VirtAddr};
use sim_isa::decode;

/// Bytes of a page of the identity map (guide conformance setups: 4 KiB).
const PAGE_BYTES: u64 = 4096;
/// Bytes of a block of the level above (Arm architecture, 4 KiB granule).
const BLOCK_BYTES: u64 = 2 << 20;
/// Pages under one contiguous hint (Arm architecture, 4 KiB granule).
const CONTIGUOUS_PAGES: u64 = 16;
/// Levels of a walk above the last one.
const UPPER_LEVELS: u32 = 3;
/// Bytes that share an allocation tag (Arm architecture, MTE).
const TAG_BYTES: u64 = 16;

/// L1 cache that a step uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Side {
    Data,
    Fetch,
}

/// One line or page with its requested state.
#[derive(Clone, Copy, Debug)]
struct Placement {
    addr: u64,
    side: Side,
    state: State,
}

/// Placements of lines or pages in the order of their first naming; later ones replace earlier
/// ones. A case may name a million of them.
#[derive(Debug)]
struct PlacementList {
    unit: u64,
    placements: Vec<Placement>,
    places: FxHashMap<(u64, Side), usize>,
}

impl PlacementList {
    fn new(unit: u64) -> PlacementList {
        PlacementList { unit, placements: Vec::new(), places: FxHashMap::default() }
    }

    /// Adds a placement, or changes the one that its line or page has on the same side.
    fn put(&mut self, placement: Placement) {
        let next = self.placements.len();
        let place =
            *self.places.entry((placement.addr / self.unit, placement.side)).or_insert(next);
        match self.placements.get_mut(place) {
            Some(known) => known.state = placement.state,
            None => self.placements.push(placement),
        }
    }

    /// Sets the state of a line or page, on both sides if the steps use both.
    fn name(&mut self, addr: u64, state: State) {
        let known =
            [Side::Data, Side::Fetch].map(|side| self.places.get(&(addr / self.unit, side)));
        if known == [None; 2] {
            return self.put(Placement { addr, side: Side::Data, state });
        }
        for place in known.into_iter().flatten() {
            self.placements[*place].state = state;
        }
    }
}

/// All placements of a case, by lines and pages, in the order of their first naming.
#[derive(Debug)]
struct Placements {
    lines: PlacementList,
    pages: PlacementList,
    attributes: Vec<Placement>,
    /// Attributes of each page.
    by_page: FxHashMap<u64, Vec<State>>,
    sources: PlacementList,
    /// Changes of placed lines: shared, tagged, faulty.
    marks: Vec<Placement>,
}

impl Default for Placements {
    fn default() -> Placements {
        Placements {
            lines: PlacementList::new(LINE_BYTES),
            pages: PlacementList::new(PAGE_BYTES),
            attributes: Vec::new(),
            by_page: FxHashMap::default(),
            sources: PlacementList::new(LINE_BYTES),
            marks: Vec::new(),
        }
    }
}

/// Sets the empty `memory` to what `given` says for `steps`.
///
/// # Errors
///
/// If a line or a translation of an unmapped page is named.
pub(super) fn apply(
    given: &Given,
    steps: &[Step],
    memory: &mut MemorySystem,
) -> Result<(), NotMapped> {
    if given.stage2 {
        memory.enable_stage2(PAGE_BYTES).expect("4 KiB is a granule");
    }
    let mut placements = Placements::default();
    placements.base(given.base, steps);
    for clause in &given.clauses {
        match &clause.subject {
            Some(addrs) => addrs.iter().for_each(|addr| placements.name(*addr, clause.state)),
            None => placements.all(clause.state),
        }
    }
    placements.carry_out(memory)?;
    memory.set_tag_checks(given.tag_checks);
    Ok(())
}

impl Placements {
    /// Adds the placements of the base setup for everything that the steps use.
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
            self.lines.put(Placement { addr, side, state: line });
            self.pages.put(Placement { addr, side, state: tlb });
        }
        for addr in all().filter_map(managed_code) {
            self.pages.put(Placement { addr, side: Side::Data, state: tlb });
        }
    }

    /// Applies a clause about one address, on both sides if the steps use both.
    fn name(&mut self, addr: u64, state: State) {
        let placement = Placement { addr, side: Side::Data, state };
        match state {
            _ if state.is_attribute() => {
                let of_page = self.by_page.entry(addr / PAGE_BYTES).or_default();
                if !of_page.contains(&state) {
                    of_page.push(state);
                }
                self.attributes.push(placement);
            }
            State::Shared | State::Faulty(..) | State::Tag(_) => self.marks.push(placement),
            State::InSlc | State::InPeer | State::InRemote | State::InDram => {
                self.sources.put(placement);
            }
            _ if state.is_of_page() => self.pages.name(addr, state),
            _ => self.lines.name(addr, state),
        }
    }

    /// Applies a clause about all lines or all pages that the steps use.
    fn all(&mut self, state: State) {
        let list = if state.is_of_page() { &self.pages } else { &self.lines };
        for addr in list.placements.iter().map(|placement| placement.addr).collect::<Vec<_>>() {
            self.name(addr, state);
        }
    }

    fn carry_out(&self, memory: &mut MemorySystem) -> Result<(), NotMapped> {
        for placement in &self.attributes {
            describe(placement, memory);
        }
        for placement in &self.sources.placements {
            self.supply(placement, memory)?;
        }
        for placement in
            self.pages.placements.iter().filter(|placement| !self.is_unmapped(placement.addr))
        {
            translate(placement, memory)?;
        }
        for placement in
            self.lines.placements.iter().filter(|placement| !self.is_uncacheable(placement.addr))
        {
            place(placement, memory)?;
        }
        for placement in &self.marks {
            mark(placement, memory)?;
        }
        Ok(())
    }

    fn supply(&self, placement: &Placement, memory: &mut MemorySystem) -> Result<(), NotMapped> {
        let addr = VirtAddr(placement.addr);
        let source = match placement.state {
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

/// Returns one address of each line that a step uses.
fn used_lines(step: &Step) -> Vec<(u64, Side)> {
    match step.action {
        Action::Fetch { addr } => vec![(addr, Side::Fetch)],
        Action::Snoop { addr, .. } | Action::Stash { addr } | Action::OtherCore { addr, .. } => {
            vec![(addr, Side::Data)]
        }
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

/// Returns one address of each line in `bytes` from `addr`.
fn data_lines(addr: u64, bytes: u64) -> impl Iterator<Item = (u64, Side)> {
    let last = addr.saturating_add(bytes - 1);
    let lines = addr / LINE_BYTES..=last / LINE_BYTES;
    lines.map(move |line| (addr.max(line * LINE_BYTES), Side::Data))
}

/// Returns the address of `IC IVAU`: a line of code that the data side translates.
fn managed_code(step: &Step) -> Option<u64> {
    match step.action {
        Action::Execute { word, operand: Some(Xt::Address(addr)), .. } => {
            let is_by_address = decode(word).maintenance == Some(Maintenance::InstByAddress);
            is_by_address.then_some(addr)
        }
        _ => None,
    }
}

/// Returns the address without the tag in its top byte.
fn untagged(addr: u64) -> u64 {
    ((addr << 8) as i64 >> 8) as u64
}

/// Adds an attribute of a page to the tables, or maps the block around it.
fn describe(placement: &Placement, memory: &mut MemorySystem) {
    let addr = VirtAddr(placement.addr);
    let target = memory.page_target(addr).unwrap_or_default();
    let target = match placement.state {
        State::UnmappedInStage2 | State::DeviceInStage2 => {
            map_stage2(placement, memory);
            return;
        }
        State::Unmapped => None,
        State::Alias => memory.page_target(VirtAddr(placement.addr.saturating_sub(PAGE_BYTES))),
        State::Device => Some(PageTarget { memory: MemoryType::Device, ..target }),
        State::NonCacheable => Some(PageTarget { memory: MemoryType::NonCacheable, ..target }),
        State::Tagged => Some(PageTarget { tagged: true, ..target }),
        _ => {
            map_around(placement, memory);
            return;
        }
    };
    memory.map_page(addr, target);
}

/// Changes the stage 2 mapping of a page; stage 1 maps it to itself.
fn map_stage2(placement: &Placement, memory: &mut MemorySystem) {
    let page = PhysAddr(placement.addr / PAGE_BYTES * PAGE_BYTES);
    let device = Mapping { memory: MemoryType::Device, ..Mapping::normal(page, PAGE_BYTES) };
    let mapping = (placement.state == State::DeviceInStage2).then_some(device);
    memory.map_stage2(page, mapping).expect("scenarios have the 4 KiB granule in both stages");
}

/// Maps a page, a block or a range of pages to itself.
fn map_around(placement: &Placement, memory: &mut MemorySystem) {
    let (range, bytes) = match placement.state {
        State::InBlock => (BLOCK_BYTES, BLOCK_BYTES),
        State::Contiguous => (CONTIGUOUS_PAGES * PAGE_BYTES, PAGE_BYTES),
        _ => (PAGE_BYTES, PAGE_BYTES),
    };
    let mapping = Mapping {
        contiguous: placement.state == State::Contiguous,
        read_only: placement.state == State::ReadOnly,
        ..Mapping::normal(PhysAddr(placement.addr / range * range), bytes)
    };
    let mapped = memory.map_block(VirtAddr(placement.addr), mapping);
    mapped.expect("scenarios have the 4 KiB granule, and the output is aligned");
}

fn translate(placement: &Placement, memory: &mut MemorySystem) -> Result<(), NotMapped> {
    let addr = VirtAddr(placement.addr);
    if placement.state == State::InNoTlb {
        return Ok(());
    }
    if placement.state == State::InWalkCache {
        memory.warm_walk_cache(0, addr, UPPER_LEVELS);
        return Ok(());
    }
    memory.warm_tlb(0, addr, TlbLevel::L2)?;
    if placement.state == State::InL2Tlb {
        return Ok(());
    }
    let level = if placement.side == Side::Fetch { TlbLevel::L1i } else { TlbLevel::L1d };
    memory.warm_tlb(0, addr, level)
}

/// Changes a placed line.
fn mark(placement: &Placement, memory: &mut MemorySystem) -> Result<(), NotMapped> {
    let addr = VirtAddr(placement.addr);
    match placement.state {
        State::Shared => memory.share_line(0, addr),
        State::Faulty(ram, bits) => {
            let defect = match bits {
                Bits::One => Defect::Correctable,
                Bits::Two => Defect::Uncorrectable,
            };
            memory.inject(0, addr, ram_of(ram), defect)
        }
        State::Tag(tag) => {
            memory.set_tag(VirtAddr(placement.addr / TAG_BYTES * TAG_BYTES), TAG_BYTES, tag);
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

fn place(placement: &Placement, memory: &mut MemorySystem) -> Result<(), NotMapped> {
    let (level, dirty) = match placement.state {
        State::InL1d => (CacheLevel::L1d, false),
        State::DirtyInL1d => (CacheLevel::L1d, true),
        State::InL1i => (CacheLevel::L1i, false),
        State::InL2 => (CacheLevel::L2, false),
        State::DirtyInL2 => (CacheLevel::L2, true),
        _ => return Ok(()),
    };
    memory.place_line(0, VirtAddr(placement.addr), level, dirty)
}
