//! State of the memory side: the units of each core, and those that the cluster shares.

use super::bus::Bus;
use super::cache::Cache;
use super::config::{AsidFrom, IdealMemory, MemoryConfig};
use super::errors::Errors;
use super::l2::L2;
use super::main_tlb::{Space, TlbArray};
use super::micro_tlb::MicroTlb;
use super::monitor::Monitor;
use super::page_map::PageMap;
use super::prefetcher::Prefetcher;
use super::read_allocate::ReadAllocate;
use super::slots::{Slots, Taken};
use super::snoop_control::SnoopControl;
use super::store_buffer::StoreBuffer;
use super::walker::Walker;
use super::write_burst::WriteBurst;

/// Linefill buffers of the fetch unit: one (TRM 2.1.1).
const FETCH_BUFFERS: u32 = 1;
/// Prefetches of the fetch unit at the same time. Assumed (1 to 2): the bus takes three
/// instruction linefills of a core (TRM 7.3.1).
const FETCH_PREFETCHES: u32 = 1;

/// Units of one core, except its L1 data cache, which the snoop control unit has.
#[derive(Clone, Debug)]
pub(crate) struct CoreUnits {
    pub(crate) l1i: Cache,
    pub(crate) fetch_micro_tlb: MicroTlb,
    pub(crate) data_micro_tlb: MicroTlb,
    pub(crate) main_tlb: TlbArray,
    pub(crate) walker: Walker,
    /// ASID and VMID of the program that runs.
    pub(crate) space: Space,
    pub(crate) fetch_buffers: Slots,
    pub(crate) fetch_prefetches: Slots,
    /// Linefill buffers of loads and stores.
    pub(crate) linefills: Slots,
    /// Period of each set of the L1 data cache in which a victim leaves.
    pub(crate) sets: Box<[Taken]>,
    pub(crate) prefetcher: Prefetcher,
    pub(crate) store_buffer: StoreBuffer,
    pub(crate) read_allocate: ReadAllocate,
    pub(crate) write_burst: WriteBurst,
    pub(crate) monitor: Monitor,
}

impl CoreUnits {
    fn new(config: &MemoryConfig, sets: usize, seed: u64) -> CoreUnits {
        let (tlb, main, walk) = (&config.micro_tlb, &config.main_tlb, &config.walker);
        let (buffer, mode) = (&config.store_buffer, &config.read_allocate);
        let ahead = &config.prefetch;
        CoreUnits {
            l1i: Cache::new(config.l1i.size_bytes, config.l1i.ways, seed.wrapping_add(1)),
            fetch_micro_tlb: MicroTlb::new(tlb.instruction_entries),
            data_micro_tlb: MicroTlb::new(tlb.data_entries),
            main_tlb: TlbArray::new(main.entries, main.ways, seed.wrapping_add(2)),
            walker: Walker {
                cache: TlbArray::new(walk.cache_entries, walk.cache_ways, seed.wrapping_add(3)),
                ipa_cache: TlbArray::new(walk.ipa_entries, walk.ipa_ways, seed.wrapping_add(4)),
                taken: Taken::default(),
                read_cycles: walk.read_cycles.into(),
            },
            space: Space::default(),
            fetch_buffers: Slots::new(FETCH_BUFFERS),
            fetch_prefetches: Slots::new(FETCH_PREFETCHES),
            linefills: Slots::new(config.l1d.linefills.max(1)),
            sets: vec![Taken::default(); sets].into_boxed_slice(),
            prefetcher: Prefetcher::new(
                ahead.outstanding,
                ahead.streams,
                ahead.sequence,
                ahead.stride_lines,
            ),
            store_buffer: StoreBuffer::new(
                buffer.entries,
                buffer.merge_cycles,
                config.ideal.store_buffer,
            ),
            read_allocate: ReadAllocate::new(mode.l1_lines, mode.l2_lines),
            write_burst: WriteBurst::default(),
            monitor: Monitor::default(),
        }
    }
}

/// Latencies that no unit keeps, and switches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) refill_cycles: u64,
    pub(crate) size_cycles: u64,
    pub(crate) victim_cycles: u64,
    pub(crate) set_cycles: u64,
    pub(crate) fetch_next_line: bool,
    pub(crate) store_streams: bool,
    pub(crate) asid_in_upper: bool,
    pub(crate) ideal: IdealMemory,
}

/// All units of a cluster.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    pub(crate) cores: Box<[CoreUnits]>,
    pub(crate) snoop: SnoopControl,
    pub(crate) l2: L2,
    pub(crate) bus: Bus,
    pub(crate) rules: Rules,
    pub(crate) errors: Errors,
    pub(crate) map: PageMap,
}

impl Cluster {
    /// Creates idle units with empty caches.
    pub(crate) fn new(config: &MemoryConfig, cores: usize, seed: u64) -> Cluster {
        let cores = cores.clamp(1, 4);
        let mut snoop = SnoopControl::new(&config.l1d, &config.snoop, cores, seed);
        let sets = snoop.l1d(0).sets();
        let core_seed = |core: usize| seed.wrapping_add(0x100 * (core as u64 + 1));
        Cluster {
            cores: (0..cores).map(|core| CoreUnits::new(config, sets, core_seed(core))).collect(),
            snoop,
            l2: L2::new(&config.l2, seed),
            bus: Bus::new(&config.bus),
            rules: Rules {
                refill_cycles: config.micro_tlb.refill_cycles.into(),
                size_cycles: config.micro_tlb.size_cycles.into(),
                victim_cycles: config.l1d.victim_cycles.into(),
                set_cycles: config.l1d.set_cycles.into(),
                fetch_next_line: config.l1i.next_line_prefetch,
                store_streams: config.prefetch.stores,
                asid_in_upper: config.pages.asid_from == AsidFrom::Upper,
                ideal: config.ideal,
            },
            errors: Errors::new(&config.errors, seed.wrapping_add(0x20)),
            map: PageMap::new(&config.pages),
        }
    }
}
