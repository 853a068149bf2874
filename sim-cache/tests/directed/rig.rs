//! One core's memory without a pipeline: steps with exact times, and expectations as text.

use std::collections::BTreeMap;

use serde::Deserialize;
use sim_cache::{
    CacheLevel, MemoryConfig, MemorySystem, MemoryType, PageTarget, SemanticsConfig, TlbLevel,
};
use sim_core::pmu_event::Group;
use sim_core::{
    AccessOutcome, Counts, Cycle, Maintenance, MemKind, MemReply, MemRequest, MemoryPort, PmuEvent,
    Snoop, VirtAddr,
};

/// Cycles longer than any access, after which nothing is in flight.
const SETTLE: Cycle = 10_000;

/// Tables of the configuration that this crate reads.
#[derive(Clone, Deserialize)]
pub(crate) struct Tables {
    pub(crate) memory: MemoryConfig,
    pub(crate) semantics: SemanticsConfig,
}

impl Tables {
    /// Returns the committed guide profile with the K0 conditions: identity map, prefetchers off.
    pub(crate) fn quiet() -> Tables {
        let mut tables = Tables::committed();
        tables.memory.pages.mapping = sim_cache::config::PageMapping::Identity;
        tables.memory.prefetch.l1d = false;
        tables.memory.prefetch.stores = false;
        tables.memory.prefetch.l2_stream = false;
        tables.memory.prefetch.l1i_next_line = false;
        tables
    }

    /// Returns the committed guide profile.
    pub(crate) fn committed() -> Tables {
        toml::from_str(include_str!("../../../configs/neoverse-n2/machine.toml"))
            .expect("the committed configuration is complete")
    }
}

/// Initial states of the conformance cases.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Base {
    /// Everything is empty.
    K0,
    /// The pages used are in both TLB levels.
    K1,
    /// In addition, the lines used are clean in the L2.
    K2,
    /// In addition, the lines used are clean in the L1 of their side.
    K3,
}

/// Memory system, the counts so far, and the time.
pub(crate) struct Rig {
    pub(crate) memory: MemorySystem,
    pub(crate) counts: Counts,
    pub(crate) now: Cycle,
}

impl Rig {
    /// Creates an initial state for data at `data` and code at `code`.
    pub(crate) fn new(base: Base, data: &[u64], code: &[u64]) -> Rig {
        Rig::with(&Tables::quiet(), base, data, code)
    }

    /// Creates the same as [`Rig::new`] with other tables.
    pub(crate) fn with(tables: &Tables, base: Base, data: &[u64], code: &[u64]) -> Rig {
        let memory = MemorySystem::new(&tables.memory, &tables.semantics, 1, 1);
        let mut rig = Rig { memory, counts: Counts::default(), now: SETTLE };
        for (addrs, tlb, l1) in
            [(data, TlbLevel::L1d, CacheLevel::L1d), (code, TlbLevel::L1i, CacheLevel::L1i)]
        {
            for addr in addrs {
                if base >= Base::K1 {
                    rig.warm(*addr, TlbLevel::L2).warm(*addr, tlb);
                }
                if base >= Base::K2 {
                    rig.place(*addr, CacheLevel::L2, false);
                }
                if base >= Base::K3 {
                    rig.place(*addr, l1, false);
                }
            }
        }
        rig
    }

    pub(crate) fn warm(&mut self, addr: u64, level: TlbLevel) -> &mut Rig {
        self.memory.warm_tlb(0, VirtAddr(addr), level).expect("the page is mapped");
        self
    }

    pub(crate) fn place(&mut self, addr: u64, level: CacheLevel, dirty: bool) -> &mut Rig {
        self.memory.place_line(0, VirtAddr(addr), level, dirty).expect("the page is mapped");
        self
    }

    /// Empties both TLB levels.
    pub(crate) fn empty_tlbs(&mut self) -> &mut Rig {
        self.memory.flush_tlbs();
        self
    }

    /// Leaves the translations of these pages in the L2 TLB only.
    pub(crate) fn only_l2_tlb(&mut self, pages: &[u64]) -> &mut Rig {
        self.memory.flush_tlbs();
        for page in pages {
            self.warm(*page, TlbLevel::L2);
        }
        self
    }

    pub(crate) fn unmap(&mut self, addr: u64) -> &mut Rig {
        self.memory.map_page(VirtAddr(addr), None);
        self
    }

    pub(crate) fn non_cacheable(&mut self, addr: u64) -> &mut Rig {
        let target =
            PageTarget { frame: addr >> 12, memory: MemoryType::NonCacheable, tagged: false };
        self.memory.map_page(VirtAddr(addr), Some(target));
        self
    }

    pub(crate) fn request(kind: MemKind, bytes: u32, addr: u64) -> MemRequest {
        MemRequest::new(VirtAddr(0x40_0000), VirtAddr(addr), bytes, kind)
    }

    /// Performs an access that needs no separate translation, at the current time.
    pub(crate) fn access(&mut self, kind: MemKind, bytes: u32, addr: u64) -> MemReply {
        let request = Rig::request(kind, bytes, addr);
        self.memory.port(0).access(request, self.now, &mut self.counts)
    }

    /// Performs a system instruction with this operand.
    pub(crate) fn maintain(&mut self, maintenance: Maintenance, operand: u64) -> MemReply {
        self.access(MemKind::Maintain(maintenance), 0, operand)
    }

    pub(crate) fn ld(&mut self, bytes: u32, addr: u64) -> MemReply {
        self.access(MemKind::Load, bytes, addr)
    }

    /// Performs a store: its address half, then its data half unless the address faults.
    pub(crate) fn st_as(&mut self, kind: MemKind, bytes: u32, addr: u64) -> MemReply {
        let request = Rig::request(kind, bytes, addr);
        let mut port = self.memory.port(0);
        let address = port.translate_store(request, self.now, &mut self.counts);
        if address.outcome.has(AccessOutcome::FAULT) {
            return address;
        }
        port.access(request, address.done, &mut self.counts)
    }

    pub(crate) fn st(&mut self, bytes: u32, addr: u64) -> MemReply {
        self.st_as(MemKind::Store, bytes, addr)
    }

    pub(crate) fn zva(&mut self, addr: u64) -> MemReply {
        self.st_as(MemKind::ZeroLine, 64, addr)
    }

    /// Performs a snoop by an external agent.
    pub(crate) fn snoop(&mut self, snoop: Snoop, addr: u64) -> &mut Rig {
        let (addr, counts) = (VirtAddr(addr), &mut self.counts);
        self.memory.snoop(0, snoop, addr, self.now, counts).expect("the page is mapped");
        self
    }

    /// Performs a stash into the L2 by an I/O agent.
    pub(crate) fn stash(&mut self, addr: u64) -> &mut Rig {
        let (addr, counts) = (VirtAddr(addr), &mut self.counts);
        self.memory.stash(0, addr, self.now, counts).expect("the page is mapped");
        self
    }

    /// Performs a load-exclusive, a store-exclusive that succeeds, or `CLREX`.
    pub(crate) fn exclusive(&mut self, kind: MemKind, addr: u64) -> MemReply {
        let request = MemRequest { exclusive: true, ..Rig::request(kind, 8, addr) };
        let mut port = self.memory.port(0);
        if kind == MemKind::Store {
            port.translate_store(request, self.now, &mut self.counts);
        }
        port.access(request, self.now, &mut self.counts)
    }

    pub(crate) fn fetch(&mut self, pc: u64) -> MemReply {
        self.memory.port(0).fetch(VirtAddr(pc), self.now, &mut self.counts)
    }

    /// Advances time until nothing is in flight: the `;` between two steps.
    pub(crate) fn then(&mut self) -> &mut Rig {
        self.now += SETTLE;
        self
    }

    pub(crate) fn value(&self, event: PmuEvent) -> u64 {
        self.counts.value(event)
    }

    /// Compares every event of sections 4.1 to 4.6. Events that `expected` does not name must be 0.
    #[track_caller]
    pub(crate) fn expect(&self, expected: &str) {
        let expected = parse(expected);
        let wrong: Vec<String> = memory_events()
            .filter_map(|event| {
                let right = expected.get(event.mnemonic()).copied().unwrap_or(0);
                let counted = i64::try_from(self.value(event)).expect("counts are small");
                let text = format!("{}: expected {right}, counted {counted}", event.mnemonic());
                (counted != right).then_some(text)
            })
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

/// Returns the events of guide sections 4.1 to 4.6.
pub(crate) fn memory_events() -> impl Iterator<Item = PmuEvent> {
    let groups = [Group::Tlb, Group::L1d, Group::L1i, Group::L2, Group::Llc, Group::Memory];
    PmuEvent::ALL.into_iter().filter(move |event| groups.contains(&event.info().group))
}

/// Counts of one access per column: V1..V3 load from DRAM, L2, L1; V4..V6 store; V7..V9 fetch.
const VECTORS: &str = "
MEM_ACCESS              1 1 1 1 1 1 0 0 0
MEM_ACCESS_RD           1 1 1 0 0 0 0 0 0
MEM_ACCESS_WR           0 0 0 1 1 1 0 0 0
L1D_TLB                 1 1 1 1 1 1 0 0 0
L1D_TLB_RD              1 1 1 0 0 0 0 0 0
L1D_TLB_WR              0 0 0 1 1 1 0 0 0
L1I_TLB                 0 0 0 0 0 0 1 1 1
L1D_CACHE               1 1 1 1 1 1 0 0 0
L1D_CACHE_RD            1 1 1 0 0 0 0 0 0
L1D_CACHE_WR            0 0 0 1 1 1 0 0 0
L1D_CACHE_REFILL        1 1 0 1 1 0 0 0 0
L1D_CACHE_REFILL_RD     1 1 0 0 0 0 0 0 0
L1D_CACHE_LMISS_RD      1 1 0 0 0 0 0 0 0
L1D_CACHE_REFILL_WR     0 0 0 1 1 0 0 0 0
L1D_CACHE_REFILL_INNER  0 1 0 0 1 0 0 0 0
L1D_CACHE_REFILL_OUTER  1 0 0 1 0 0 0 0 0
L1I_CACHE               0 0 0 0 0 0 1 1 1
L1I_CACHE_REFILL        0 0 0 0 0 0 1 1 0
L1I_CACHE_LMISS         0 0 0 0 0 0 1 1 0
L2D_CACHE               1 1 0 1 1 0 1 1 0
L2D_CACHE_RD            1 1 0 0 0 0 1 1 0
L2D_CACHE_WR            0 0 0 1 1 0 0 0 0
L2D_CACHE_REFILL        1 0 0 1 0 0 1 0 0
L2D_CACHE_REFILL_RD     1 0 0 1 0 0 1 0 0
L2D_CACHE_LMISS_RD      1 0 0 1 0 0 1 0 0
BUS_ACCESS              1 0 0 1 0 0 1 0 0
BUS_ACCESS_RD           1 0 0 0 0 0 1 0 0
BUS_ACCESS_WR           0 0 0 1 0 0 0 0 0
LL_CACHE_RD             1 0 0 1 0 0 1 0 0
LL_CACHE_MISS_RD        1 0 0 1 0 0 1 0 0";

/// Counts that translation adds: tlb2 ld, walk ld, tlb2 st, walk st, tlb2 if, walk if.
const TRANSLATION: &str = "
L2D_TLB            1 1 1 1 1 1
L2D_TLB_RD         1 1 0 0 1 1
L2D_TLB_WR         0 0 1 1 0 0
DTLB_WALK          0 1 0 1 0 0
ITLB_WALK          0 0 0 0 0 1
L2D_TLB_REFILL     0 1 0 1 0 1
L2D_TLB_REFILL_RD  0 1 0 0 0 1
L2D_TLB_REFILL_WR  0 0 0 1 0 0
L1D_TLB_REFILL     1 1 1 1 0 0
L1D_TLB_REFILL_RD  1 1 0 0 0 0
L1D_TLB_REFILL_WR  0 0 1 1 0 0
L1I_TLB_REFILL     0 0 0 0 1 1";

const TRANSLATION_NAMES: [&str; 6] =
    ["tlb2 ld", "walk ld", "tlb2 st", "walk st", "tlb2 if", "walk if"];

/// Parses terms joined by `+`: `V1`, `2 V3`, `walk ld`, `EVENT`, `EVENT 2`, `EVENT -1`.
fn parse(expected: &str) -> BTreeMap<String, i64> {
    let mut sum = BTreeMap::new();
    for term in expected.split('+').map(str::trim).filter(|term| !term.is_empty()) {
        let (times, name) = match term.split_once(' ') {
            Some((times, name)) if times.parse::<i64>().is_ok() => {
                (times.parse().expect("just tried"), name)
            }
            _ => (1, term),
        };
        let column = name.strip_prefix('V').and_then(|n| n.parse::<usize>().ok());
        let addition = TRANSLATION_NAMES.iter().position(|known| *known == name);
        if let Some(column) = column {
            add_column(&mut sum, VECTORS, column - 1, times);
        } else if let Some(column) = addition {
            add_column(&mut sum, TRANSLATION, column, times);
        } else {
            let (event, n) = name.rsplit_once(' ').unwrap_or((name, "1"));
            assert!(PmuEvent::from_name(event).is_ok(), "no event in the term '{term}'");
            let n: i64 = n.parse().expect("an event is followed by a number");
            *sum.entry(event.to_owned()).or_default() += times * n;
        }
    }
    sum
}

fn add_column(sum: &mut BTreeMap<String, i64>, table: &str, column: usize, times: i64) {
    for row in table.lines().filter(|row| !row.is_empty()) {
        let mut fields = row.split_whitespace();
        let event = fields.next().expect("a row begins with an event");
        let n: i64 = fields.nth(column).and_then(|n| n.parse().ok()).expect("a row is complete");
        *sum.entry(event.to_owned()).or_default() += times * n;
    }
}

/// Lines that share one set of the L1 and one set of the L2.
pub(crate) const A: [u64; 5] = [0x10_0000, 0x10_4000, 0x10_8000, 0x10_C000, 0x11_0000];

/// Returns nine lines of one set of the 1 MiB L2.
pub(crate) fn l2_set() -> [u64; 9] {
    std::array::from_fn(|i| 0x20_0000 + 0x2_0000 * i as u64)
}
