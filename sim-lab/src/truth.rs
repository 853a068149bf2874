//! Ground-truth values of a run, for the validation of formulas: fills [`sim_metrics::truth`]. An
//! observer of the run knows for each event whether the instruction that raised it retired. Slots,
//! lines and walks come from the [`Outcome`].

use sim_core::{
    AccessKind, AccessOutcome, Counts, EventSink, FlowEdge, Notice, Operation, OperationKind,
    PmuEvent, StallCause,
};
use sim_metrics::identities::SLOTS_PER_CYCLE;
use sim_metrics::validator::L2Lines;
use sim_metrics::{Truth, Truths};

use sim_machine::outcome::Outcome;

/// Observer of a run that separates retired from squashed instructions.
#[derive(Clone, Debug, Default)]
pub struct TruthSink {
    cores: Vec<CoreTruth>,
    now: usize,
}

/// Ground truth of one core.
#[derive(Clone, Debug)]
struct CoreTruth {
    is_counted: bool,
    /// Events since the last operation; they belong to the next one.
    events: Vec<(PmuEvent, u64)>,
    edges: Vec<FlowEdge>,
    /// Events of retired instructions.
    retired: Counts,
    retired_edges: [u64; FlowEdge::COUNT],
    all_edges: [u64; FlowEdge::COUNT],
    /// The next operations are younger than a mispredicted branch.
    on_wrong_path: bool,
    tally: OperationTally,
}

/// Sums over all operations.
#[derive(Clone, Copy, Debug, Default)]
struct OperationTally {
    retired: u64,
    squashed: u64,
    retired_ops: u64,
    squashed_ops: u64,
    /// Squashed micro-operations younger than a mispredicted branch.
    mispredict_ops: u64,
    branches: u64,
    immediate: u64,
    returns: u64,
    mispredicted: u64,
    accesses: u64,
    l1_misses: u64,
    l1_refills: u64,
    outside: u64,
    l2_refills: u64,
    tlb_misses: u64,
    walks: u64,
    loads: u64,
    load_cycles: u64,
    load_misses: u64,
    miss_cycles: u64,
}

impl Default for CoreTruth {
    fn default() -> Self {
        CoreTruth {
            is_counted: false,
            events: Vec::new(),
            edges: Vec::new(),
            retired: Counts::default(),
            retired_edges: [0; FlowEdge::COUNT],
            all_edges: [0; FlowEdge::COUNT],
            on_wrong_path: false,
            tally: OperationTally::default(),
        }
    }
}

impl CoreTruth {
    fn forget(&mut self) {
        self.events.clear();
        self.edges.clear();
    }

    fn operation(&mut self, operation: &Operation) {
        if self.is_counted {
            self.tally.add(operation, self.on_wrong_path);
            if operation.timeline.retired {
                for (event, n) in &self.events {
                    self.retired.count(*event, *n);
                }
                for edge in &self.edges {
                    self.retired_edges[*edge as usize] += 1;
                }
            }
        }
        if operation.timeline.retired {
            self.on_wrong_path = operation.timeline.mispredicted;
        }
        self.forget();
    }
}

impl OperationTally {
    fn add(&mut self, operation: &Operation, on_wrong_path: bool) {
        let timeline = &operation.timeline;
        let ops = u64::from(timeline.mops);
        if !timeline.retired {
            self.squashed += 1;
            self.squashed_ops += ops;
            self.mispredict_ops += if on_wrong_path { ops } else { 0 };
            return;
        }
        self.retired += 1;
        self.retired_ops += ops;
        match operation.kind {
            OperationKind::Branch(course) if !course.exception_return => {
                self.branches += 1;
                self.immediate += u64::from(!course.indirect);
                self.returns += u64::from(course.function_return);
                self.mispredicted += u64::from(timeline.mispredicted);
            }
            OperationKind::Access(access) => self.access(operation, access.kind),
            _ => {}
        }
    }

    fn access(&mut self, operation: &Operation, kind: AccessKind) {
        let timeline = &operation.timeline;
        let met = |what| u64::from(timeline.outcome.has(what));
        let is_miss = timeline.outcome.has(AccessOutcome::L1_MISS);
        self.accesses += 1;
        self.l1_misses += u64::from(is_miss);
        self.l1_refills += met(AccessOutcome::L1_REFILL);
        self.outside += u64::from(is_miss && timeline.source.is_outside());
        self.l2_refills += met(AccessOutcome::L2_MISS);
        self.tlb_misses += met(AccessOutcome::L1_TLB_MISS);
        self.walks += met(AccessOutcome::WALK);
        if kind == AccessKind::Load {
            let cycles = timeline.complete.saturating_sub(timeline.issue);
            self.loads += 1;
            self.load_cycles += cycles;
            if is_miss {
                self.load_misses += 1;
                self.miss_cycles += cycles;
            }
        }
    }

    fn plus(&mut self, other: &OperationTally) {
        let OperationTally {
            retired,
            squashed,
            retired_ops,
            squashed_ops,
            mispredict_ops,
            branches,
            immediate,
            returns,
            mispredicted,
            accesses,
            l1_misses,
            l1_refills,
            outside,
            l2_refills,
            tlb_misses,
            walks,
            loads,
            load_cycles,
            load_misses,
            miss_cycles,
        } = other;
        for (total, more) in [
            (&mut self.retired, retired),
            (&mut self.squashed, squashed),
            (&mut self.retired_ops, retired_ops),
            (&mut self.squashed_ops, squashed_ops),
            (&mut self.mispredict_ops, mispredict_ops),
            (&mut self.branches, branches),
            (&mut self.immediate, immediate),
            (&mut self.returns, returns),
            (&mut self.mispredicted, mispredicted),
            (&mut self.accesses, accesses),
            (&mut self.l1_misses, l1_misses),
            (&mut self.l1_refills, l1_refills),
            (&mut self.outside, outside),
            (&mut self.l2_refills, l2_refills),
            (&mut self.tlb_misses, tlb_misses),
            (&mut self.walks, walks),
            (&mut self.loads, loads),
            (&mut self.load_cycles, load_cycles),
            (&mut self.load_misses, load_misses),
            (&mut self.miss_cycles, miss_cycles),
        ] {
            *total += more;
        }
    }
}

impl EventSink for TruthSink {
    const OBSERVES_OPS: bool = true;

    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        self.cores[self.now].events.push((event, n));
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Edge(edge) => {
                let core = &mut self.cores[self.now];
                core.edges.push(edge);
                core.all_edges[edge as usize] += u64::from(core.is_counted);
            }
            Notice::Core(core) => {
                self.now = core;
                if core >= self.cores.len() {
                    self.cores.resize_with(core + 1, CoreTruth::default);
                }
            }
            Notice::Counting(is_counted) => {
                self.cores[self.now].forget();
                self.cores[self.now].is_counted = is_counted;
            }
            Notice::Operation(operation) => {
                self.cores[self.now].operation(operation);
            }
            Notice::Squashed => {
                let core = &mut self.cores[self.now];
                core.on_wrong_path = false;
                core.forget();
            }
            _ => {}
        }
    }
}

/// Ground-truth values of a run, and the counts of retired instructions.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// Ground-truth values of all cores together.
    pub truths: Truths,
    /// Events raised by retired instructions. Clocks and stalls belong to no instruction.
    pub retired: Counts,
    /// Differences between L2 events and the accesses that needed the L2.
    pub l2: L2Lines,
}

/// Causes of slots lost while the front end refills after a flush.
const RECOVERY: [StallCause; 3] =
    [StallCause::FetchMispredict, StallCause::FetchNoTarget, StallCause::FetchMemoryOrder];
/// Front-end causes that come from its widths.
const FETCH_WIDTHS: [StallCause; 2] = [StallCause::FetchPredictWidth, StallCause::FetchWidth];
/// Front-end causes with nothing to fetch.
const NO_WORK: [StallCause; 2] = [StallCause::FetchAsleep, StallCause::FetchEnd];

impl TruthSink {
    /// Returns the ground-truth values of the observed run.
    pub fn ledger(&self, outcome: &Outcome) -> Ledger {
        let mut tally = OperationTally::default();
        let mut retired = Counts::default();
        let (mut retired_edges, mut all_edges) = ([0; FlowEdge::COUNT], [0; FlowEdge::COUNT]);
        for core in &self.cores {
            tally.plus(&core.tally);
            retired.add(&core.retired);
            for edge in 0..FlowEdge::COUNT {
                retired_edges[edge] += core.retired_edges[edge];
                all_edges[edge] += core.all_edges[edge];
            }
        }
        let mut truths = Truths::default();
        slots(outcome, &tally, &mut truths);
        instructions(&tally, &retired, &mut truths);
        caches(outcome, &tally, &mut truths);
        translations(outcome, &tally, [&retired_edges, &all_edges], &mut truths);
        Ledger { truths, retired, l2: l2_lines(outcome, &tally) }
    }
}

fn l2_lines(outcome: &Outcome, tally: &OperationTally) -> L2Lines {
    let memory = outcome.memory();
    let streamed_reads = memory.streamed_lines - memory.claimed_lines;
    let asked = (memory.data_lines + memory.preload_lines).saturating_sub(streamed_reads);
    let fetched = memory.fetch_lines.saturating_sub(memory.next_line_lines);
    let waits = tally.outside.saturating_sub(tally.l2_refills)
        + memory.fetch_waits_outside.saturating_sub(fetched);
    L2Lines {
        wrong_paths: asked.saturating_sub(tally.l2_refills) as f64,
        streamed_writes: memory.streamed_writes as f64,
        streamed: memory.streamed_lines as f64,
        claimed: memory.claimed_lines as f64,
        claims_on_bus: memory.claimed_lines as f64,
        waits: waits as f64,
    }
}

fn slots(outcome: &Outcome, tally: &OperationTally, truths: &mut Truths) {
    let counts = outcome.total();
    let lost = outcome.stalls();
    let sum = |is_wanted: &dyn Fn(StallCause) -> bool| -> u64 {
        StallCause::ALL
            .into_iter()
            .filter(|cause| is_wanted(*cause))
            .map(|cause| lost.of(cause))
            .sum()
    };
    let recovery = sum(&|cause| RECOVERY.contains(&cause));
    let frontend = sum(&|cause| cause.is_frontend());
    let backend = sum(&|cause| !cause.is_frontend());
    let widths = sum(&|cause| FETCH_WIDTHS.contains(&cause));
    let no_work = sum(&|cause| NO_WORK.contains(&cause));
    // The full structure does not matter; what it waited for does.
    let memory = lost.memory();
    let order = lost.of(StallCause::FetchMemoryOrder);
    let cycles = counts.value(PmuEvent::CPU_CYCLES);
    for (truth, value) in [
        (Truth::Cycles, cycles),
        (Truth::FrontendIdle, counts.value(PmuEvent::STALL_FRONTEND)),
        (Truth::BackendIdle, counts.value(PmuEvent::STALL_BACKEND)),
        (Truth::Slots, SLOTS_PER_CYCLE * cycles),
        (Truth::RetiredSlots, tally.retired_ops),
        (Truth::SquashedSlots, tally.squashed_ops),
        (Truth::RecoverySlots, recovery),
        (Truth::BadSlots, tally.squashed_ops + recovery),
        (Truth::FrontendSlots, frontend - recovery),
        (Truth::EmptyFrontendSlots, frontend),
        (Truth::BackendSlots, backend),
        (Truth::FetchLatencySlots, frontend - recovery - widths - no_work),
        (Truth::FetchBandwidthSlots, widths),
        (Truth::MemorySlots, memory),
        (Truth::CoreSlots, backend - memory),
        (Truth::MispredictSlots, tally.mispredict_ops + recovery - order),
    ] {
        truths.set(truth, value as f64);
    }
}

fn instructions(tally: &OperationTally, retired: &Counts, truths: &mut Truths) {
    let of = |event| retired.value(event);
    for (truth, value) in [
        (Truth::Retired, tally.retired),
        (Truth::Executed, tally.retired + tally.squashed),
        (Truth::RetiredOps, tally.retired_ops),
        (Truth::ExecutedOps, tally.retired_ops + tally.squashed_ops),
        (Truth::SquashedOps, tally.squashed_ops),
        (Truth::Loads, of(PmuEvent::LD_SPEC)),
        (Truth::Stores, of(PmuEvent::ST_SPEC)),
        (Truth::Integer, of(PmuEvent::DP_SPEC)),
        (Truth::Simd, of(PmuEvent::ASE_SPEC)),
        (Truth::Float, of(PmuEvent::VFP_SPEC)),
        (Truth::Crypto, of(PmuEvent::CRYPTO_SPEC)),
        (Truth::Sve, of(PmuEvent::SVE_INST_SPEC)),
        (Truth::Branches, tally.branches),
        (Truth::ImmediateBranches, tally.immediate),
        (Truth::IndirectBranches, tally.branches - tally.immediate),
        (Truth::Returns, tally.returns),
        (Truth::Mispredicted, tally.mispredicted),
        (Truth::LoadCycles, tally.load_cycles),
        (Truth::MissCycles, tally.miss_cycles),
        (Truth::TimedLoads, tally.loads),
        (Truth::TimedMisses, tally.load_misses),
        (Truth::FloatOps, of(PmuEvent::FP_SCALE_OPS_SPEC) + of(PmuEvent::FP_FIXED_OPS_SPEC)),
    ] {
        truths.set(truth, value as f64);
    }
}

fn caches(outcome: &Outcome, tally: &OperationTally, truths: &mut Truths) {
    let (counts, memory) = (outcome.total(), outcome.memory());
    let lookups = counts.value(PmuEvent::L1I_CACHE).saturating_sub(memory.next_line_lookups);
    let lines = memory.slc_lines + memory.peer_lines + memory.dram_lines + memory.remote_lines;
    for (truth, value) in [
        (Truth::L1dAccesses, tally.accesses),
        (Truth::L1dMisses, tally.l1_misses),
        (Truth::L1dRefills, tally.l1_refills),
        (Truth::L1iAccesses, lookups),
        (Truth::L1iMisses, memory.fetch_waits),
        (Truth::L2Accesses, tally.l1_misses + memory.fetch_waits),
        (Truth::L2Misses, tally.outside + memory.fetch_waits_outside),
        (Truth::L2DataAccesses, tally.l1_misses),
        (Truth::L2DataMisses, tally.outside),
        (Truth::OutsideLines, lines),
        (Truth::SlcMisses, lines - memory.slc_lines),
        (Truth::SlcHits, memory.slc_lines),
        (Truth::PrefetchedLines, memory.prefetch_lines),
        (Truth::RemoteLines, memory.remote_lines),
        (Truth::BytesRead, memory.read_bytes),
        (Truth::BytesWritten, memory.written_bytes),
        (Truth::BytesMoved, memory.read_bytes + memory.written_bytes),
    ] {
        truths.set(truth, value as f64);
    }
}

fn translations(
    outcome: &Outcome,
    tally: &OperationTally,
    [retired, all]: [&[u64; FlowEdge::COUNT]; 2],
    truths: &mut Truths,
) {
    use FlowEdge::{
        FetchL2TlbMiss, FetchTlbMiss, LoadL2TlbMiss, LoadTlbMiss, LoadTlbPreloadMiss,
        StoreL2TlbMiss, StoreTlbMiss, StoreTlbPreloadMiss,
    };
    let of = |edges: &[FlowEdge]| -> u64 { edges.iter().map(|edge| retired[*edge as usize]).sum() };
    let memory = outcome.memory();
    let fetches = outcome.total().value(PmuEvent::L1I_TLB);
    let data = of(&[LoadTlbMiss, LoadTlbPreloadMiss, StoreTlbMiss, StoreTlbPreloadMiss]);
    let data_misses = of(&[LoadL2TlbMiss, StoreL2TlbMiss]);
    let walks = [memory.data_walks, memory.fetch_walks];
    for (truth, value) in [
        (Truth::DtlbAccesses, tally.accesses),
        (Truth::DtlbMisses, tally.tlb_misses),
        (Truth::DtlbWalks, tally.walks),
        (Truth::ItlbAccesses, fetches.saturating_sub(memory.next_line_lookups)),
        (Truth::ItlbMisses, all[FetchTlbMiss as usize]),
        (Truth::ItlbWalks, memory.fetch_walks.walks),
        (Truth::L2TlbAccesses, data + of(&[FetchTlbMiss])),
        (Truth::L2TlbMisses, data_misses + of(&[FetchL2TlbMiss])),
        (Truth::L2TlbDataAccesses, data),
        (Truth::L2TlbDataMisses, data_misses),
        (Truth::WalkCycles, walks.iter().map(|side| side.cycles).sum()),
        (Truth::Walks, walks.iter().map(|side| side.walks).sum()),
    ] {
        truths.set(truth, value as f64);
    }
}
