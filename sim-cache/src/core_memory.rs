//! The private memory of one core: TLBs, walker, L1 caches, L2, prefetchers, bus port.
//!
//! Each flow of PMU guide chapter 5 through these units is a file of `flows`. Translation (5.1 to
//! 5.3) is in `translate`, the L1 D-cache (5.4, 5.5) in `l1d_load` and `l1d_store`, the L1 I-cache
//! (5.6) in `l1i_fetch`, the L2 (5.7, 5.8) in `l2`.

use sim_core::{Cycle, LINE_BYTES, LineAddr, StateVisitor, WarmState};

use crate::config::{
    FarAtomics, IdealData, IdealMemory, MemoryConfig, PageCross, SemanticsConfig, WalkReads,
};
use crate::uncore::dvm::DvmOperation;
use crate::units::address_space::AddressSpace;
use crate::units::bandwidth::Bandwidth;
use crate::units::bus::BusPort;
use crate::units::cache::Cache;
use crate::units::error_source::ErrorSource;
use crate::units::exclusive_monitor::ExclusiveMonitor;
use crate::units::l2_streams::L2Streams;
use crate::units::l2_tlb::L2Tlb;
use crate::units::memory_stats::MemoryStats;
use crate::units::miss_intervals::MissIntervals;
use crate::units::mshr::Mshrs;
use crate::units::prefetch::{DataPrefetcher, StoreStreams};
use crate::units::tlb::L1Tlb;
use crate::units::waits::Waits;
use crate::units::walker::Walker;
use crate::units::write_stream::WriteStreams;

/// Latencies of one core's part, in cycles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CoreLatencies {
    /// L1 I-cache hit.
    pub(crate) l1i_hit: Cycle,
    /// L1 D-cache hit, load-to-use.
    pub(crate) l1d_hit: Cycle,
    /// Extra cycles of a load split over two cycles.
    pub(crate) split: Cycle,
    /// Recall of a copy from another set of the L1 D-cache.
    pub(crate) alias: Cycle,
    /// L2 lookup.
    pub(crate) l2_lookup: Cycle,
    /// Arrival of the first beat until use.
    pub(crate) fill: Cycle,
    /// L2 TLB lookup.
    pub(crate) l2_tlb: Cycle,
    /// Walker overhead of a level.
    pub(crate) walk_level: Cycle,
    /// Descriptor read over the side port.
    pub(crate) walk_read: Cycle,
}

/// Switches and limits of the prefetchers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrefetchSwitches {
    /// L1 D-cache stride and stream.
    pub(crate) l1d: bool,
    /// L1 I-cache next line.
    pub(crate) l1i: bool,
    /// L2 stream.
    pub(crate) l2: bool,
    /// Stores prefetch into the L2 once their address is known.
    pub(crate) stores: bool,
    /// Lines of one L2 prefetch request.
    pub(crate) l2_degree: u64,
    /// The L2 stream continues into the page that the L1 D prefetcher names.
    pub(crate) l2_page_cross: bool,
    /// Limit of the L1 D prefetcher at a page without translation.
    pub(crate) page_cross: PageCross,
}

/// Private part of the memory system of one core.
#[derive(Clone, Debug)]
pub struct CoreMemory {
    /// Number of the core.
    pub(crate) number: usize,
    pub(crate) latencies: CoreLatencies,
    pub(crate) semantics: SemanticsConfig,
    pub(crate) space: AddressSpace,
    pub(crate) itlb: L1Tlb,
    pub(crate) dtlb: L1Tlb,
    pub(crate) l2_tlb: L2Tlb,
    /// Lookups of the L2 TLB in flight.
    pub(crate) l2_tlb_lookups: Mshrs,
    pub(crate) walker: Walker,
    pub(crate) l1i: Cache,
    pub(crate) l1i_mshrs: Mshrs,
    /// Set if the core's own writes remove copies from the L1 I-cache.
    pub(crate) coherent_fetch: bool,
    pub(crate) l1d: Cache,
    pub(crate) l1d_mshrs: Mshrs,
    pub(crate) write_streams: WriteStreams,
    pub(crate) monitor: ExclusiveMonitor,
    /// Rule for the atomics that leave the core.
    pub(crate) far_atomics: FarAtomics,
    /// Parts that cost no time; read only where an access misses.
    pub(crate) ideal: IdealMemory,
    pub(crate) l2: Cache,
    pub(crate) l2_port: Bandwidth,
    /// Port of the L2 for stores that stream past the L1 D-cache.
    pub(crate) l2_write_port: Bandwidth,
    pub(crate) l2_queue: Mshrs,
    /// Buffer of victims; `None` if these take entries of the queue.
    pub(crate) write_backs: Option<Mshrs>,
    pub(crate) bus: BusPort,
    /// Latest completions of the operations that this core sent to all.
    pub(crate) sent_to_all: DvmOperation,
    pub(crate) l2_misses: MissIntervals,
    pub(crate) errors: ErrorSource,
    pub(crate) l2_streams: L2Streams,
    pub(crate) prefetcher: DataPrefetcher,
    pub(crate) store_streams: StoreStreams,
    pub(crate) prefetch: PrefetchSwitches,
    /// Line of the last store whose address became known. Further stores to this line in succession
    /// prefetch nothing.
    pub(crate) last_store_line: LineAddr,
    pub(crate) stats: MemoryStats,
    /// Waits of the present refill and of the last load that missed.
    pub(crate) waits: Waits,
}

impl CoreMemory {
    /// Creates empty caches and TLBs. The configuration was validated.
    pub(crate) fn new(
        config: &MemoryConfig,
        semantics: SemanticsConfig,
        number: usize,
        seed: u64,
    ) -> CoreMemory {
        let (l1i, l1d, l2, prefetch) = (&config.l1i, &config.l1d, &config.l2, &config.prefetch);
        CoreMemory {
            number,
            latencies: CoreLatencies::new(config),
            semantics,
            space: AddressSpace::new(config.pages.asid_from),
            itlb: L1Tlb::new(config.itlb.entries),
            dtlb: L1Tlb::new(config.dtlb.entries),
            l2_tlb: L2Tlb::new(&config.l2_tlb),
            l2_tlb_lookups: Mshrs::new(config.l2_tlb.lookups),
            walker: Walker::new(&config.walker),
            l1i: Cache::new(l1i.size_bytes, l1i.ways, l1i.replacement, seed).indexed_virtually(),
            l1i_mshrs: Mshrs::new(l1i.mshrs),
            coherent_fetch: l1i.coherent,
            l1d: Cache::new(l1d.size_bytes, l1d.ways, l1d.replacement, seed ^ 1)
                .indexed_virtually(),
            l1d_mshrs: Mshrs::new(l1d.mshrs),
            write_streams: WriteStreams::new(l1d.write_stream_lines, l1d.merge_idle_cycles),
            monitor: ExclusiveMonitor::default(),
            far_atomics: config.far_atomics,
            ideal: config.ideal,
            l2: Cache::new(l2.line_bytes(), l2.line_ways(), l2.replacement, seed ^ 2),
            l2_port: Bandwidth::rate(l2.read_bytes_per_cycle, LINE_BYTES as u32),
            l2_write_port: Bandwidth::rate(l2.write_bytes_per_cycle, LINE_BYTES as u32),
            l2_queue: Mshrs::new(l2.queue_entries),
            write_backs: (l2.write_back_entries > 0).then(|| Mshrs::new(l2.write_back_entries)),
            bus: BusPort::new(&config.bus, semantics.bus_unit),
            sent_to_all: DvmOperation::default(),
            l2_misses: MissIntervals::new(),
            errors: ErrorSource::new(&config.errors, seed ^ 4 ^ (number as u64) << 32),
            l2_streams: L2Streams::new(prefetch),
            prefetcher: DataPrefetcher::new(prefetch),
            store_streams: StoreStreams::new(prefetch),
            prefetch: PrefetchSwitches {
                l1d: prefetch.l1d,
                l1i: prefetch.l1i_next_line,
                l2: prefetch.l2_stream,
                stores: prefetch.stores,
                l2_degree: prefetch.l2_degree_lines.into(),
                l2_page_cross: prefetch.l2_page_cross,
                page_cross: prefetch.l1d_page_cross,
            },
            last_store_line: LineAddr(u64::MAX),
            stats: MemoryStats::default(),
            waits: Waits::default(),
        }
    }

    /// Returns whether data accesses cost no time beyond the L1 D-cache.
    pub(crate) fn is_ideal_beyond_l1(&self) -> bool {
        self.ideal.data == IdealData::BeyondL1
    }

    /// Returns whether data accesses cost no time beyond the L2.
    pub(crate) fn is_ideal_beyond_l2(&self) -> bool {
        self.ideal.data >= IdealData::BeyondL2
    }

    /// Returns whether the descriptor reads of walks go through the L2.
    pub(crate) fn walks_read_l2(&self) -> bool {
        self.semantics.walk_reads != WalkReads::SidePort
    }
}

impl CoreLatencies {
    fn new(config: &MemoryConfig) -> CoreLatencies {
        CoreLatencies {
            l1i_hit: config.l1i.hit_cycles.into(),
            l1d_hit: config.l1d.hit_cycles.into(),
            split: config.l1d.split_cycles.into(),
            alias: config.l1d.alias_cycles.into(),
            l2_lookup: config.l2.lookup_cycles.into(),
            fill: config.l2.fill_cycles.into(),
            l2_tlb: config.l2_tlb.hit_cycles.into(),
            walk_level: config.walker.level_cycles.into(),
            walk_read: config.walker.read_cycles.into(),
        }
    }
}

impl WarmState for CoreMemory {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        self.space.visit(visitor);
        self.itlb.visit(visitor);
        self.dtlb.visit(visitor);
        self.l2_tlb.visit(visitor);
        self.l1i.visit(visitor);
        self.l1d.visit(visitor);
        self.l2.visit(visitor);
        let l2 = &self.l2;
        for l1 in [&mut self.l1i, &mut self.l1d] {
            l1.retain(|line| l2.probe(line).is_some());
        }
        self.l1d.retain_one_copy();
        self.write_streams.visit(visitor);
        self.l2_streams.visit(visitor);
        self.prefetcher.visit(visitor);
        self.store_streams.visit(visitor);
        visitor.one(&mut self.last_store_line.0);
    }
}
