//! Steps of the model that a sink may observe: what happened, independent of the events that count
//! it. A sink that does not observe them costs nothing, because [`A53Sink::see`] is empty there.
//!
//! [`A53Sink::see`]: crate::event::A53Sink::see

use crate::slots::LostTo;

/// Step of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Cycles in which nothing issued, all of one cause.
    Idle(LostTo, u64),
    /// A wrong path begins, or with false ends: it does the steps in between.
    WrongPath(bool),
    /// An instruction was executed that does not retire.
    Abandoned,
    /// A store-exclusive failed.
    FailedExclusive,
    /// A branch was predicted wrongly.
    Mispredicted,
    /// A load waited for its line.
    LoadMissed,
    /// A fetch of a line.
    Fetched(FetchedFrom),
    /// A prefetch of the next line was dropped.
    FetchPrefetchDropped,
    /// Lookup of the L1 D-cache for one line of a load.
    Loaded(LoadedFrom),
    /// Lookup of the L1 D-cache for a software prefetch.
    SoftwarePrefetch {
        /// The line was there.
        hit: bool,
    },
    /// A store to cacheable memory was offered to the store buffer: the first part in each line.
    Stored,
    /// A load from, or a store to, memory that no cache keeps: the first part in each line.
    Uncached,
    /// Bytes moved on the bus past the caches, in beats of 128 bits.
    UncachedBeats {
        /// Number of beats.
        beats: u64,
        /// Number of requests.
        requests: u64,
        /// They were read.
        is_read: bool,
    },
    /// Bytes of a store took an entry of the store buffer, or merged with the open one.
    Buffered {
        /// They merged.
        merged: bool,
    },
    /// An entry of the store buffer was written.
    Written(WrittenTo),
    /// Read-allocate mode began.
    ReadAllocateBegan,
    /// Bytes left the core past its L1 D-cache, in beats of 128 bits.
    Streamed {
        /// Number of beats.
        beats: u64,
        /// They went to external memory, not into the L2 cache.
        to_memory: bool,
    },
    /// An address was not in a micro-TLB.
    MicroTlbMissed {
        /// The address is that of a fetch.
        is_fetch: bool,
        /// The main TLB did not have it either.
        walks: bool,
    },
    /// The walker began, with or without a hit of its cache.
    Walked {
        /// The walk cache had the last table.
        from_walk_cache: bool,
    },
    /// The walker read a descriptor through the L1 D-cache.
    Descriptor {
        /// The line of the descriptor was there.
        hit: bool,
    },
    /// A line is requested outside the L1 caches; the source follows.
    Requested(Purpose),
    /// Origin of the requested line.
    Supplied(Source),
    /// A line left the L1 D-cache.
    Evicted {
        /// It was changed.
        dirty: bool,
        /// It was moved over the bus.
        moved: bool,
    },
    /// A changed line left the L2 cache.
    L2VictimWritten,
}

/// Origin of a fetched line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchedFrom {
    /// The L1 I-cache.
    L1i,
    /// A prefetch that was still on its way.
    LatePrefetch,
    /// A line that an earlier fetch had requested and that was still on its way.
    LineInFlight,
    /// A line that the fetch requested.
    Refill,
}

/// Origin of the bytes of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadedFrom {
    /// The L1 D-cache.
    L1d,
    /// An entry of the store buffer, or stored bytes of a line on its way.
    StoreBuffer,
    /// A line that was requested before and was still on its way.
    LineInFlight,
    /// A line that the load requested.
    Refill,
}

/// Destination of an entry of the store buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenTo {
    /// A line of the L1 D-cache.
    L1d,
    /// A line of the L1 D-cache whose copies elsewhere were invalidated first.
    SharedLine,
    /// A line that the store requested.
    Refill,
    /// The line being gathered in read-allocate mode.
    Gathered,
}

/// Purpose of a requested line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A load.
    Load,
    /// A store.
    Store,
    /// A fetch.
    Fetch,
    /// The prefetch of the next line of a fetch.
    FetchPrefetch,
    /// The data prefetcher.
    DataPrefetch,
    /// A software prefetch.
    SoftwarePrefetch,
    /// A descriptor of a walk.
    Walk,
}

/// Source of a requested line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The L2 cache.
    L2,
    /// The L1 D-cache of another core.
    OtherCore,
    /// The core's own L1 D-cache, for a fetch.
    OwnL1d,
    /// External memory.
    Memory,
}
