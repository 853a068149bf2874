//! Geometries: small memory systems of every shape, and every value of the `[semantics]` keys.

use serde::Deserialize;
use sim_cache::config::{
    BusUnit, PageMapping, ReplacementKind, StoreMissDirection, TableBaseRegister, WalkReads,
};
use sim_cache::{MemoryConfig, SemanticsConfig};

use super::random::Random;
use super::world::World;

/// Tables of a configuration that this crate reads.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Tables {
    pub(crate) memory: MemoryConfig,
    pub(crate) semantics: SemanticsConfig,
}

impl Tables {
    pub(crate) fn committed() -> Tables {
        toml::from_str(include_str!("../../../../configs/neoverse-n2/machine.toml"))
            .expect("the committed configuration is complete")
    }
}

/// Initial state of a run of oracle and model.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    pub(crate) tables: Tables,
    pub(crate) world: World,
    /// Accesses to tagged pages are checked.
    pub(crate) tag_checks: bool,
    pub(crate) two_cores: bool,
    /// Seed of the random replacement policy.
    pub(crate) seed: u64,
}

const POLICIES: [ReplacementKind; 6] = [
    ReplacementKind::Lru,
    ReplacementKind::TreePlru,
    ReplacementKind::Rrip,
    ReplacementKind::DynamicRrip,
    ReplacementKind::Random,
    ReplacementKind::VictimCounter,
];

impl Geometry {
    /// Returns geometry `number` of the series that `seed` begins.
    pub(crate) fn numbered(seed: u64, number: u64) -> Geometry {
        let mut random = Random::new(seed, number);
        let mut tables = Tables::committed();
        shape_caches(&mut tables.memory, &mut random);
        shape_tlbs(&mut tables.memory, &mut random);
        shape_prefetch(&mut tables.memory, &mut random);
        choose_semantics(&mut tables, number, &mut random);
        if tables.semantics.walk_reads != WalkReads::SidePort {
            // Whether stores that leave at the start of a group precede the end of a walk would
            // depend on time.
            tables.memory.l1d.merge_idle_cycles = 0;
        }
        leave_room(&mut tables.memory);
        let world = World::new(tables.memory.pages.page_bytes, &mut random);
        let tag_checks = random.coin();
        let two_cores = random.coin();
        Geometry { tables, world, tag_checks, two_cores, seed: random.below(1 << 32) }
    }

    /// Returns the maximum number of operations that start in one cycle. Walks through the L2 take
    /// as long as a refill, and the oracle has no clock to decide which of two ends first.
    pub(crate) fn longest_group(&self) -> u64 {
        if self.tables.semantics.walk_reads == WalkReads::SidePort { 4 } else { 1 }
    }

    /// Returns one line of text that identifies a geometry.
    pub(crate) fn shape(&self) -> String {
        format!("{:?}", self.tables)
    }
}

/// Returns a number of ways, and a policy that supports it.
fn any_ways(most: u64, random: &mut Random) -> (u32, ReplacementKind) {
    let policy = random.pick(&POLICIES);
    let ways = match policy {
        ReplacementKind::TreePlru => 1 << random.below(u64::from(most.ilog2()) + 1),
        _ => 1 + random.below(most) as u32,
    };
    (ways, policy)
}

/// Returns the index bits of an L1 cache: few, or so many that the highest are virtual page bits.
fn any_index_bits(random: &mut Random) -> u64 {
    if random.coin() { random.below(4) } else { 6 + random.below(4) }
}

fn shape_caches(memory: &mut MemoryConfig, random: &mut Random) {
    let (l1i, l1d, l2, slc) = (&mut memory.l1i, &mut memory.l1d, &mut memory.l2, &mut memory.slc);
    (l1i.ways, l1i.replacement) = any_ways(4, random);
    l1i.coherent = random.coin();
    l1i.size_bytes = (u64::from(l1i.ways) * 64) << any_index_bits(random);
    (l1d.ways, l1d.replacement) = any_ways(4, random);
    l1d.size_bytes = (u64::from(l1d.ways) * 64) << any_index_bits(random);
    l1d.write_stream_lines = random.pick(&[0, 1, 2, 4]);
    // Longer than the operations of one group, and shorter than the time between groups; or never.
    l1d.merge_idle_cycles = random.pick(&[0, 100_000]);
    (l2.ways, l2.replacement) = any_ways(8, random);
    let may_reserve = l2.ways > 1 && l2.replacement != ReplacementKind::TreePlru;
    l2.record_ways = u32::from(may_reserve && random.coin());
    l2.size_bytes = u64::from(l2.ways) * 64;
    while l2.line_bytes() < l1i.size_bytes + l1d.size_bytes {
        l2.size_bytes *= 2;
    }
    l2.size_bytes <<= random.below(3);
    (slc.ways, slc.replacement) = any_ways(8, random);
    slc.slice_bytes =
        if random.chance(20) { 0 } else { (u64::from(slc.ways) * 64) << random.below(3) };
    slc.slices = 1 << random.below(4);
    memory.snoop_filter.ways = random.pick(&[2, 4, 16]);
    memory.snoop_filter.slice_lines = memory.snoop_filter.ways << (3 + random.below(5));
}

fn shape_tlbs(memory: &mut MemoryConfig, random: &mut Random) {
    memory.itlb.entries = 1 + random.below(5) as u32;
    memory.dtlb.entries = 1 + random.below(6) as u32;
    memory.l2_tlb.ways = 1 + random.below(4) as u32;
    memory.l2_tlb.entries = memory.l2_tlb.ways << random.below(4);
    memory.walker.walk_cache = random.coin();
    memory.pages.page_bytes = random.pick(&[1 << 12, 1 << 12, 1 << 14, 1 << 16]);
    memory.pages.mapping = PageMapping::Identity;
    memory.pages.asid_from = random.pick(&[TableBaseRegister::Lower, TableBaseRegister::Upper]);
}

fn shape_prefetch(memory: &mut MemoryConfig, random: &mut Random) {
    let prefetch = &mut memory.prefetch;
    prefetch.l1d = false;
    prefetch.l1i_next_line = random.coin();
    prefetch.stores = random.coin();
    prefetch.store_distance_lines = 0;
    prefetch.l2_stream = random.coin();
    prefetch.l2_table_entries = 1 + random.below(4) as u32;
    prefetch.l2_distance_lines = 1 + random.below(6) as u32;
    prefetch.l2_degree_lines = 1 + random.below(3) as u32;
}

/// Selects semantics: two of three geometries mix the values of all keys, one uses the profile
/// `guide`.
fn choose_semantics(tables: &mut Tables, number: u64, random: &mut Random) {
    tables.memory.bus.beat_bytes = random.pick(&[8, 16, 32, 64]);
    if number.is_multiple_of(3) {
        return;
    }
    tables.semantics = SemanticsConfig {
        store_miss_l2: random.pick(&[StoreMissDirection::Write, StoreMissDirection::Read]),
        bus_unit: random.pick(&[BusUnit::Transaction, BusUnit::Beats]),
        walk_reads: random.pick(&[
            WalkReads::SidePort,
            WalkReads::SidePort,
            WalkReads::L2Silent,
            WalkReads::L2Counted,
        ]),
        extllc: random.coin(),
        prefetch_counts_in_l2: random.coin(),
        clean_victims_count: random.coin(),
        partial_walks_count: random.coin(),
        ase_structures_count: false,
    };
}

/// Sizes queues so that they never fill. Makes the outside so slow that lines in flight at the
/// start of a group are in flight at its end. Counts then do not depend on time.
fn leave_room(memory: &mut MemoryConfig) {
    memory.slc.home_node_cycles = 3000;
    (memory.walker.level_cycles, memory.walker.read_cycles, memory.walker.walks) = (0, 1, 16);
    (memory.l1i.mshrs, memory.l1d.mshrs) = (64, 64);
    (memory.l2_tlb.lookups, memory.l2.queue_entries) = (16, 256);
    (memory.l2.read_bytes_per_cycle, memory.l2.write_bytes_per_cycle) = (64, 64);
}
