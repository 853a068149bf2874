//! The memory side: each block against its section of the manual, then the measured latencies.

mod bus;
mod cache;
mod config;
mod l2;
mod ladder;
mod maintenance;
mod micro_tlb;
mod pages;
mod prefetcher;
mod read_allocate;
mod snoop_control;
mod store_buffer;
mod walker;

use serde::Deserialize;
use sim_a53::memory::{ClusterMemory, DataAccess, FetchReply, LoadReply, MemoryConfig, StoreReply};
use sim_a53::{A53Counts, A53Event};

/// The file with the defaults. It has tables of other parts, too.
#[derive(Deserialize)]
struct File {
    memory: MemoryConfig,
}

/// Returns the defaults.
fn defaults() -> MemoryConfig {
    let text = include_str!("../../configs/cortex-a53/machine.toml");
    let file: File = toml::from_str(text).expect("the file of defaults has every memory table");
    file.memory
}

/// Returns the defaults without prefetches, so that counts are those of the demand alone.
fn quiet() -> MemoryConfig {
    let mut config = defaults();
    config.prefetch.outstanding = 0;
    config.l1i.next_line_prefetch = false;
    config
}

/// A cluster with its counts, and a clock that the accesses move.
struct Bench {
    memory: ClusterMemory,
    counts: [A53Counts; 4],
    now: u64,
}

impl Bench {
    fn new(config: &MemoryConfig, cores: usize) -> Bench {
        assert_eq!(config.problems(), []);
        let counts = std::array::from_fn(|_| A53Counts::default());
        Bench { memory: ClusterMemory::new(config, cores, 1), counts, now: 1000 }
    }

    fn load_of(&mut self, core: usize, access: DataAccess) -> LoadReply {
        let reply = self.memory.load(core, access, self.now, &mut self.counts[core]);
        self.now = reply.ready.max(self.now) + 3;
        reply
    }

    /// Loads 8 bytes on core 0. Returns the cycles beyond a hit.
    fn load(&mut self, addr: u64) -> u64 {
        let start = self.now;
        self.load_of(0, plain(addr, 8)).ready - start
    }

    /// Stores on core 0, one in a cycle.
    fn store(&mut self, addr: u64, bytes: u32) -> StoreReply {
        self.store_on(0, addr, bytes)
    }

    fn store_on(&mut self, core: usize, addr: u64, bytes: u32) -> StoreReply {
        let reply = self.memory.store(core, plain(addr, bytes), self.now, &mut self.counts[core]);
        self.now = reply.accepted.max(self.now) + 1;
        reply
    }

    fn fetch(&mut self, pc: u64) -> FetchReply {
        let reply = self.memory.fetch(0, pc, self.now, &mut self.counts[0]);
        self.now = reply.ready + 1;
        reply
    }

    /// Empties the store buffer of a core, and waits until all is quiet.
    fn settle(&mut self, core: usize) {
        self.now = self.memory.drain(core, self.now, &mut self.counts[core]) + 1000;
    }

    /// Touches the pages of addresses, so that translations are present and hit no more.
    fn warm_pages(&mut self, addrs: &[u64]) {
        for addr in addrs {
            self.load(addr & !0xFFF | 0xFC0);
        }
        self.now += 1000;
        self.forget();
    }

    /// Sets all counts to zero.
    fn forget(&mut self) {
        self.counts = std::array::from_fn(|_| A53Counts::default());
    }

    /// Returns a count of core 0.
    fn count(&self, event: A53Event) -> u64 {
        self.counts[0].value(event)
    }

    /// Returns counts of core 0.
    fn all<const N: usize>(&self, events: [A53Event; N]) -> [u64; N] {
        events.map(|event| self.count(event))
    }
}

fn plain(addr: u64, bytes: u32) -> DataAccess {
    DataAccess { addr, bytes, non_temporal: false, exclusive: false }
}
