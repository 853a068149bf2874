//! The charts: translation, fetch, load, store, the request of a line, and lines that leave.

use super::Steps;
use crate::event::A53Event::{self, *};
use crate::seen::{FetchedFrom, LoadedFrom, Purpose, Source, WrittenTo};

/// Chart of one kind of access.
#[derive(Clone, Copy, Debug)]
pub struct A53Flow {
    /// Short name, for the command line.
    pub name: &'static str,
    /// Title.
    pub title: &'static str,
    /// Boxes. One that no edge enters is an entry.
    pub boxes: &'static [A53Box],
    /// Edges.
    pub edges: &'static [A53Edge],
}

/// Box of a chart.
#[derive(Clone, Copy, Debug)]
pub struct A53Box {
    /// Name, unique in its chart.
    pub name: &'static str,
    /// Events that a visit raises, with the number of occurrences.
    pub events: &'static [(A53Event, u64)],
    /// Number of visits.
    pub visits: fn(&Steps) -> u64,
}

/// Edge of a chart.
#[derive(Clone, Copy, Debug)]
pub struct A53Edge {
    /// Name of the box that it leaves.
    pub from: &'static str,
    /// Name of the box that it enters.
    pub to: &'static str,
    /// Decision; empty if there is no other way.
    pub label: &'static str,
    /// Number of times that it was taken.
    pub taken: fn(&Steps) -> u64,
}

const fn place(
    name: &'static str,
    events: &'static [(A53Event, u64)],
    visits: fn(&Steps) -> u64,
) -> A53Box {
    A53Box { name, events, visits }
}

const fn edge(
    from: &'static str,
    to: &'static str,
    label: &'static str,
    taken: fn(&Steps) -> u64,
) -> A53Edge {
    A53Edge { from, to, label, taken }
}

/// Beats of 128 bits of a line, each of which is an access of the bus.
const BEATS: u64 = 4;

/// Returns the misses of both micro-TLBs that the main TLB answers, or that need a walk.
fn answered(steps: &Steps, walks: bool) -> u64 {
    steps.micro_tlb.iter().map(|of_side| of_side[usize::from(walks)]).sum()
}

fn requests(steps: &Steps) -> u64 {
    steps.supplied.as_flattened().iter().sum()
}

fn loads(steps: &Steps) -> u64 {
    steps.loaded.iter().sum()
}

/// Charts of all accesses.
#[rustfmt::skip]
pub const FLOWS: &[A53Flow] = &[
    A53Flow { name: "translation", title: "Translation: micro-TLBs, main TLB, walk", boxes: &[
        place("miss of the micro-TLB, fetch", &[(L1I_TLB_REFILL, 1)], |s| s.micro_tlb[1].iter().sum()),
        place("miss of the micro-TLB, data", &[(L1D_TLB_REFILL, 1)], |s| s.micro_tlb[0].iter().sum()),
        place("main TLB lookup", &[], |s| answered(s, false) + answered(s, true)),
        place("walk", &[], |s| answered(s, true)),
        place("all tables", &[], |s| s.walked[0]),
        place("last table", &[], |s| s.walked[1]),
        place("micro-TLB refilled", &[], |s| answered(s, false) + answered(s, true)),
        place("descriptor read", &[(L1D_CACHE, 1)], |s| s.descriptors.iter().sum()),
        place("linefill of the L1 D-cache", &[(L1D_CACHE_REFILL, 1)], |s| s.descriptors[0]),
        place("descriptor", &[], |s| s.descriptors.iter().sum()),
    ], edges: &[
        edge("miss of the micro-TLB, fetch", "main TLB lookup", "", |s| s.micro_tlb[1].iter().sum()),
        edge("miss of the micro-TLB, data", "main TLB lookup", "", |s| s.micro_tlb[0].iter().sum()),
        edge("main TLB lookup", "micro-TLB refilled", "hit", |s| answered(s, false)),
        edge("main TLB lookup", "walk", "miss", |s| answered(s, true)),
        edge("walk", "all tables", "table not in the walk cache", |s| s.walked[0]),
        edge("walk", "last table", "hit of the walk cache", |s| s.walked[1]),
        edge("all tables", "micro-TLB refilled", "", |s| s.walked[0]),
        edge("last table", "micro-TLB refilled", "", |s| s.walked[1]),
        edge("descriptor read", "descriptor", "hit", |s| s.descriptors[1]),
        edge("descriptor read", "linefill of the L1 D-cache", "miss", |s| s.descriptors[0]),
        edge("linefill of the L1 D-cache", "descriptor", "", |s| s.descriptors[0]),
    ] },
    A53Flow { name: "fetch", title: "Fetch: L1 I-cache", boxes: &[
        place("lookup of the L1 I-cache", &[(L1I_CACHE, 1)], |s| s.fetched.iter().sum()),
        place("wait for a prefetch", &[(L1I_CACHE_REFILL, 1)], |s| s.fetched(FetchedFrom::LatePrefetch)),
        place("wait for an older miss", &[], |s| s.fetched(FetchedFrom::LineInFlight)),
        place("linefill", &[(L1I_CACHE_REFILL, 1)], |s| s.fetched(FetchedFrom::Refill)),
        place("instructions", &[], |s| s.fetched.iter().sum()),
        place("prefetch of the next line", &[], |s| s.requested(Purpose::FetchPrefetch) + s.prefetch_dropped),
        place("requested", &[], |s| s.requested(Purpose::FetchPrefetch)),
        place("dropped", &[(PREFETCH_LINEFILL_DROP, 1)], |s| s.prefetch_dropped),
    ], edges: &[
        edge("lookup of the L1 I-cache", "instructions", "hit", |s| s.fetched(FetchedFrom::L1i)),
        edge("lookup of the L1 I-cache", "wait for a prefetch", "prefetch on its way", |s| s.fetched(FetchedFrom::LatePrefetch)),
        edge("lookup of the L1 I-cache", "wait for an older miss", "line on its way", |s| s.fetched(FetchedFrom::LineInFlight)),
        edge("lookup of the L1 I-cache", "linefill", "miss", |s| s.fetched(FetchedFrom::Refill)),
        edge("wait for a prefetch", "instructions", "", |s| s.fetched(FetchedFrom::LatePrefetch)),
        edge("wait for an older miss", "instructions", "", |s| s.fetched(FetchedFrom::LineInFlight)),
        edge("linefill", "instructions", "", |s| s.fetched(FetchedFrom::Refill)),
        edge("prefetch of the next line", "requested", "buffer free", |s| s.requested(Purpose::FetchPrefetch)),
        edge("prefetch of the next line", "dropped", "one on its way", |s| s.prefetch_dropped),
    ] },
    A53Flow { name: "load", title: "Load: L1 D-cache and prefetches", boxes: &[
        place("lookup of the L1 D-cache", &[(L1D_CACHE, 1), (MEM_ACCESS, 1)], loads),
        place("bytes of the store buffer", &[], |s| s.loaded(LoadedFrom::StoreBuffer)),
        place("wait for an older miss", &[], |s| s.loaded(LoadedFrom::LineInFlight)),
        place("linefill", &[(L1D_CACHE_REFILL, 1)], |s| s.loaded(LoadedFrom::Refill)),
        place("data", &[], loads),
        place("software prefetch", &[(L1D_CACHE, 1)], |s| s.software.iter().sum()),
        place("linefill without a refill event", &[], |s| s.software[0]),
        place("line in the L1 D-cache", &[], |s| s.software.iter().sum()),
        place("stream of the prefetcher", &[(PREFETCH_LINEFILL, 1)], |s| s.requested(Purpose::DataPrefetch)),
        place("line requested ahead", &[], |s| s.requested(Purpose::DataPrefetch)),
    ], edges: &[
        edge("lookup of the L1 D-cache", "data", "hit", |s| s.loaded(LoadedFrom::L1d)),
        edge("lookup of the L1 D-cache", "bytes of the store buffer", "bytes stored before", |s| s.loaded(LoadedFrom::StoreBuffer)),
        edge("lookup of the L1 D-cache", "wait for an older miss", "line on its way", |s| s.loaded(LoadedFrom::LineInFlight)),
        edge("lookup of the L1 D-cache", "linefill", "miss", |s| s.loaded(LoadedFrom::Refill)),
        edge("bytes of the store buffer", "data", "", |s| s.loaded(LoadedFrom::StoreBuffer)),
        edge("wait for an older miss", "data", "", |s| s.loaded(LoadedFrom::LineInFlight)),
        edge("linefill", "data", "", |s| s.loaded(LoadedFrom::Refill)),
        edge("software prefetch", "line in the L1 D-cache", "hit", |s| s.software[1]),
        edge("software prefetch", "linefill without a refill event", "miss", |s| s.software[0]),
        edge("linefill without a refill event", "line in the L1 D-cache", "", |s| s.software[0]),
        edge("stream of the prefetcher", "line requested ahead", "", |s| s.requested(Purpose::DataPrefetch)),
    ] },
    A53Flow { name: "store", title: "Store: store buffer, L1 D-cache, read-allocate mode", boxes: &[
        place("store to a line", &[(L1D_CACHE, 1), (MEM_ACCESS, 1)], |s| s.stored),
        place("part of 128 bits", &[], |s| s.buffered.iter().sum()),
        place("merges with the open entry", &[], |s| s.buffered[1]),
        place("takes an entry", &[], |s| s.buffered[0]),
        place("entry is written", &[], |s| s.written.iter().sum()),
        place("copies elsewhere invalidated", &[], |s| s.written(WrittenTo::SharedLine)),
        place("linefill", &[(L1D_CACHE_REFILL, 1)], |s| s.written(WrittenTo::Refill)),
        place("line of the L1 D-cache", &[], |s| s.written.iter().sum::<u64>() - s.written(WrittenTo::Gathered)),
        place("gathered in read-allocate mode", &[], |s| s.written(WrittenTo::Gathered)),
        place("read-allocate mode begins", &[(READ_ALLOC_ENTER, 1)], |s| s.read_allocate),
        place("burst past the L1 D-cache", &[(L2D_CACHE, 1)], |s| s.streamed.iter().sum()),
        place("beat of a burst", &[(BUS_ACCESS, 1), (BUS_ACCESS_ST, 1)], |s| s.streamed_beats),
        place("L2 cache", &[], |s| s.streamed[0]),
        place("external memory", &[(EXT_MEM_REQ, 1)], |s| s.streamed[1]),
    ], edges: &[
        edge("part of 128 bits", "merges with the open entry", "same 128 bits", |s| s.buffered[1]),
        edge("part of 128 bits", "takes an entry", "others", |s| s.buffered[0]),
        edge("entry is written", "line of the L1 D-cache", "hit", |s| s.written(WrittenTo::L1d)),
        edge("entry is written", "copies elsewhere invalidated", "hit, shared", |s| s.written(WrittenTo::SharedLine)),
        edge("entry is written", "linefill", "miss", |s| s.written(WrittenTo::Refill)),
        edge("entry is written", "gathered in read-allocate mode", "miss of a stream", |s| s.written(WrittenTo::Gathered)),
        edge("copies elsewhere invalidated", "line of the L1 D-cache", "", |s| s.written(WrittenTo::SharedLine)),
        edge("linefill", "line of the L1 D-cache", "", |s| s.written(WrittenTo::Refill)),
        edge("burst past the L1 D-cache", "L2 cache", "into the L2 cache", |s| s.streamed[0]),
        edge("burst past the L1 D-cache", "external memory", "past the L2 cache", |s| s.streamed[1]),
    ] },
    A53Flow { name: "line", title: "Request of a line: snoop control unit, L2 cache, other cores, memory", boxes: &[
        place("load", &[], |s| s.requested(Purpose::Load)),
        place("store", &[], |s| s.requested(Purpose::Store)),
        place("fetch", &[], |s| s.requested(Purpose::Fetch)),
        place("next line of a fetch", &[], |s| s.requested(Purpose::FetchPrefetch)),
        place("prefetcher", &[], |s| s.requested(Purpose::DataPrefetch)),
        place("software prefetch", &[], |s| s.requested(Purpose::SoftwarePrefetch)),
        place("walk", &[], |s| s.requested(Purpose::Walk)),
        place("lookup of L2 tags and L1 tags", &[(BUS_ACCESS, BEATS), (BUS_ACCESS_LD, BEATS), (L2D_CACHE, 1)], requests),
        place("L2 cache", &[], |s| s.supplied(Source::L2)),
        place("L1 D-cache of another core", &[(EXT_SNOOP, 1)], |s| s.supplied(Source::OtherCore)),
        place("own L1 D-cache", &[], |s| s.supplied(Source::OwnL1d)),
        place("external memory", &[(L2D_CACHE_REFILL, 1), (EXT_MEM_REQ, 1)], |s| s.supplied(Source::Memory)),
    ], edges: &[
        edge("load", "lookup of L2 tags and L1 tags", "", |s| s.requested(Purpose::Load)),
        edge("store", "lookup of L2 tags and L1 tags", "", |s| s.requested(Purpose::Store)),
        edge("fetch", "lookup of L2 tags and L1 tags", "", |s| s.requested(Purpose::Fetch)),
        edge("next line of a fetch", "lookup of L2 tags and L1 tags", "", |s| s.requested(Purpose::FetchPrefetch)),
        edge("prefetcher", "lookup of L2 tags and L1 tags", "", |s| s.requested(Purpose::DataPrefetch)),
        edge("software prefetch", "lookup of L2 tags and L1 tags", "", |s| s.requested(Purpose::SoftwarePrefetch)),
        edge("walk", "lookup of L2 tags and L1 tags", "", |s| s.requested(Purpose::Walk)),
        edge("lookup of L2 tags and L1 tags", "L2 cache", "hit of the L2 cache", |s| s.supplied(Source::L2)),
        edge("lookup of L2 tags and L1 tags", "L1 D-cache of another core", "another core has it", |s| s.supplied(Source::OtherCore)),
        edge("lookup of L2 tags and L1 tags", "own L1 D-cache", "a fetch of own data", |s| s.supplied(Source::OwnL1d)),
        edge("lookup of L2 tags and L1 tags", "external memory", "nowhere in the cluster", |s| s.supplied(Source::Memory)),
    ] },
    A53Flow { name: "victim", title: "Lines that leave the L1 D-cache and the L2 cache", boxes: &[
        place("victim of the L1 D-cache", &[], |s| s.evicted.iter().sum::<u64>() + s.dropped),
        place("write-back", &[(L1D_CACHE_WB, 1)], |s| s.evicted[1]),
        place("moved over the bus", &[(BUS_ACCESS, BEATS), (BUS_ACCESS_ST, BEATS), (L2D_CACHE, 1)], |s| s.evicted.iter().sum()),
        place("dropped", &[], |s| s.dropped),
        place("changed victim of the L2 cache", &[(L2D_CACHE_WB, 1)], |s| s.l2_victims),
        place("written to memory", &[], |s| s.l2_victims),
    ], edges: &[
        edge("victim of the L1 D-cache", "write-back", "changed", |s| s.evicted[1]),
        edge("victim of the L1 D-cache", "moved over the bus", "clean", |s| s.evicted[0]),
        edge("victim of the L1 D-cache", "dropped", "clean, no L2 cache", |s| s.dropped),
        edge("write-back", "moved over the bus", "", |s| s.evicted[1]),
        edge("changed victim of the L2 cache", "written to memory", "", |s| s.l2_victims),
    ] },
    A53Flow { name: "uncached", title: "Memory that no cache keeps: bursts past the caches", boxes: &[
        place("load or store to a line", &[(MEM_ACCESS, 1)], |s| s.uncached),
        place("request on the bus", &[(EXT_MEM_REQ, 1), (EXT_MEM_REQ_NC, 1)], |s| s.uncached_requests.iter().sum()),
        place("read of a load or fetch", &[], |s| s.uncached_requests[1]),
        place("write of the store buffer", &[], |s| s.uncached_requests[0]),
        place("beat that is read", &[(BUS_ACCESS, 1), (BUS_ACCESS_LD, 1)], |s| s.uncached_beats[1]),
        place("beat that is written", &[(BUS_ACCESS, 1), (BUS_ACCESS_ST, 1)], |s| s.uncached_beats[0]),
    ], edges: &[
        edge("request on the bus", "read of a load or fetch", "read", |s| s.uncached_requests[1]),
        edge("request on the bus", "write of the store buffer", "write", |s| s.uncached_requests[0]),
    ] },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_join_boxes_of_their_chart() {
        for flow in FLOWS {
            let is_box = |name: &str| flow.boxes.iter().filter(|own| own.name == name).count() == 1;
            for edge in flow.edges {
                assert!(is_box(edge.from) && is_box(edge.to), "{}: {}", flow.name, edge.label);
            }
        }
    }
}
