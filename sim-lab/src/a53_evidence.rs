//! Evidence of a run on a Cortex-A53 for the validation of formulas: exact counts, and ground-truth
//! values from the steps of the model and from the decoder, not from the events.

use sim_a53::seen::{FetchedFrom, LoadedFrom, Purpose, Seen, Source, WrittenTo};
use sim_a53::slots::{LostTo, SLOTS};
use sim_a53::{
    A53Condition, A53Config, A53CoreOutcome, A53Counts, A53Error, A53Event, A53Sink, run_with_sinks,
};
use sim_core::PmuEvent;
use sim_isa::{BranchKind, MemOp, Program};
use sim_machine::caveats;
use sim_metrics::validator::{A53Evidence, A53Surplus};
use sim_metrics::{Truth, Truths};
use sim_trace::TraceFile;

/// Bytes of a line, and of a beat of the bus.
const LINE_BYTES: f64 = 64.0;
const BEAT_BYTES: f64 = 16.0;

/// Properties of a static instruction, from the decoder.
#[derive(Clone, Copy, Debug, Default)]
struct Kind {
    loads: bool,
    stores: bool,
    accesses: bool,
    branch: BranchKind,
}

/// Sink that collects the ground truth of one core.
#[derive(Clone, Debug)]
struct TruthSink<'a> {
    kinds: &'a [Kind],
    counts: A53Counts,
    truths: Truths,
    surplus: A53Surplus,
    /// Kind of the instruction that runs.
    current: Kind,
    /// Purpose of the line that is requested.
    purpose: Option<Purpose>,
    /// A wrong path executes.
    is_wrong: bool,
}

impl AsRef<A53Counts> for TruthSink<'_> {
    fn as_ref(&self) -> &A53Counts {
        &self.counts
    }
}

impl<'a> TruthSink<'a> {
    fn new(kinds: &'a [Kind]) -> TruthSink<'a> {
        TruthSink {
            kinds,
            counts: A53Counts::default(),
            truths: Truths::default(),
            surplus: A53Surplus::default(),
            current: Kind::default(),
            purpose: None,
            is_wrong: false,
        }
    }

    fn add(&mut self, truth: Truth, more: f64) {
        self.truths.set(truth, self.truths.value(truth).unwrap_or(0.0) + more);
    }

    /// Adds an instruction, or with -1 takes it away.
    fn retire(&mut self, kind: Kind, times: f64) {
        self.add(Truth::Retired, times);
        for (is_it, truth) in [
            (kind.loads, Truth::Loads),
            (kind.stores, Truth::Stores),
            (kind.accesses, Truth::L1dAccesses),
        ] {
            if is_it {
                self.add(truth, times);
            }
        }
        let own = match kind.branch {
            BranchKind::None => return,
            BranchKind::ExceptionReturn => {
                self.surplus.exception_returns += times;
                return;
            }
            BranchKind::Direct | BranchKind::Conditional | BranchKind::Call => {
                Truth::ImmediateBranches
            }
            BranchKind::Indirect | BranchKind::IndirectCall | BranchKind::Return => {
                Truth::IndirectBranches
            }
        };
        self.add(Truth::Branches, times);
        self.add(own, times);
        if kind.branch == BranchKind::Return {
            self.add(Truth::Returns, times);
        }
    }

    fn load(&mut self, from: LoadedFrom) {
        if self.is_wrong {
            self.surplus.wrong_loads += 1.0;
            self.surplus.wrong_refills += f64::from(u8::from(from == LoadedFrom::Refill));
            return;
        }
        self.surplus.lookups += 1.0;
        match from {
            LoadedFrom::Refill => self.surplus.load_refills += 1.0,
            LoadedFrom::LineInFlight => self.surplus.load_waits += 1.0,
            LoadedFrom::L1d | LoadedFrom::StoreBuffer => {}
        }
    }

    fn write(&mut self, to: WrittenTo) {
        match to {
            WrittenTo::Refill => self.add(Truth::L1dMisses, 1.0),
            WrittenTo::Gathered => {
                self.add(Truth::L1dMisses, 1.0);
                self.surplus.streamed += 1.0;
            }
            WrittenTo::L1d | WrittenTo::SharedLine => {}
        }
    }

    /// Adds a line that an L1 cache received.
    fn supply(&mut self, source: Source) {
        let Some(purpose) = self.purpose.take() else { return };
        self.add(Truth::BytesRead, LINE_BYTES);
        match source {
            Source::Memory => self.add(Truth::MemoryRequests, 1.0),
            Source::OtherCore => self.add(Truth::SnoopedLines, 1.0),
            Source::L2 | Source::OwnL1d => {}
        }
        let from_memory = f64::from(u8::from(source == Source::Memory));
        let surplus = &mut self.surplus;
        match purpose {
            Purpose::Load | Purpose::Store | Purpose::Fetch => {
                self.add(Truth::L2Accesses, 1.0);
                self.add(Truth::L2Misses, from_memory);
            }
            Purpose::FetchPrefetch | Purpose::DataPrefetch => {
                surplus.prefetched += 1.0;
                surplus.prefetched_memory_lines += from_memory;
                if purpose == Purpose::FetchPrefetch {
                    surplus.fetch_prefetched += 1.0;
                }
                self.add(Truth::PrefetchedLines, 1.0);
            }
            Purpose::SoftwarePrefetch => {
                surplus.software_lines += 1.0;
                surplus.software_memory_lines += from_memory;
            }
            Purpose::Walk => surplus.descriptor_lines += from_memory,
        }
    }

    fn idle(&mut self, cause: LostTo, cycles: f64) {
        let truth = match cause {
            LostTo::LoadMiss => Truth::IdleLoadMiss,
            LostTo::Store => Truth::IdleStore,
            LostTo::SimdInterlock => Truth::IdleSimd,
            LostTo::AddressInterlock => Truth::IdleAddress,
            LostTo::OtherInterlock => Truth::IdleInterlock,
            LostTo::InstCache => Truth::IdleL1i,
            LostTo::InstTlb => Truth::IdleItlb,
            LostTo::FrontEnd => Truth::IdleFrontEnd,
            LostTo::Pairing | LostTo::WideAccess | LostTo::End => Truth::IdleOther,
        };
        self.add(truth, cycles);
    }

    fn translate(&mut self, is_fetch: bool, walks: bool) {
        let (misses, of_walks) = match is_fetch {
            true => (Truth::ItlbMisses, Truth::ItlbWalks),
            false => (Truth::DtlbMisses, Truth::DtlbWalks),
        };
        self.add(misses, 1.0);
        if walks {
            self.add(of_walks, 1.0);
            self.add(Truth::Walks, 1.0);
        }
    }

    fn send(&mut self, bytes: f64) {
        self.surplus.moved_out += 1.0;
        self.add(Truth::BytesWritten, bytes);
    }
}

impl A53Sink for TruthSink<'_> {
    fn raise(&mut self, event: A53Event, cycle: u64, times: u64) {
        if self.is_wrong {
            match event {
                A53Event::BR_PRED => self.surplus.wrong_branches += times as f64,
                A53Event::BR_INDIRECT_SPEC => self.surplus.wrong_indirect += times as f64,
                _ => {}
            }
        }
        self.counts.raise(event, cycle, times);
    }

    fn signal(&mut self, condition: A53Condition, cycle: u64, times: u64) {
        self.counts.signal(condition, cycle, times);
    }

    fn begin(&mut self, inst: u32, _: u64) {
        self.current = self.kinds[inst as usize];
        self.retire(self.current, 1.0);
    }

    fn see(&mut self, seen: Seen) {
        match seen {
            Seen::WrongPath(begins) => self.is_wrong = begins,
            Seen::Idle(cause, cycles) => self.idle(cause, cycles as f64),
            Seen::Abandoned => {
                self.surplus.abandoned += 1.0;
                self.retire(self.current, -1.0);
            }
            Seen::FailedExclusive => {
                self.surplus.failed_exclusives += 1.0;
                self.add(Truth::Stores, -1.0);
                self.add(Truth::L1dAccesses, -1.0);
            }
            Seen::Mispredicted => self.add(Truth::Mispredicted, 1.0),
            Seen::LoadMissed => {
                self.surplus.load_misses += 1.0;
                self.add(Truth::L1dMisses, 1.0);
            }
            Seen::Fetched(from) => {
                self.add(Truth::L1iAccesses, 1.0);
                if from != FetchedFrom::L1i {
                    self.add(Truth::L1iMisses, 1.0);
                }
                if from == FetchedFrom::LineInFlight {
                    self.surplus.fetch_waits += 1.0;
                }
            }
            Seen::Loaded(from) => self.load(from),
            Seen::SoftwarePrefetch { .. } => self.surplus.software_prefetches += 1.0,
            Seen::Stored => self.surplus.lookups += 1.0,
            Seen::Uncached if self.is_wrong => self.surplus.wrong_uncached += 1.0,
            Seen::Uncached => self.surplus.uncached += 1.0,
            Seen::UncachedBeats { beats, requests, is_read } => {
                let bytes = if is_read { Truth::BytesRead } else { Truth::BytesWritten };
                self.add(bytes, beats as f64 * BEAT_BYTES);
                self.add(Truth::MemoryRequests, requests as f64);
            }
            Seen::Written(to) => self.write(to),
            Seen::Streamed { beats, to_memory } => {
                self.send(beats as f64 * BEAT_BYTES);
                self.add(Truth::StreamedLines, 1.0);
                self.add(Truth::MemoryRequests, f64::from(u8::from(to_memory)));
            }
            Seen::MicroTlbMissed { is_fetch, walks } => self.translate(is_fetch, walks),
            Seen::Descriptor { hit } => {
                self.surplus.descriptors += 1.0;
                self.surplus.descriptor_misses += f64::from(u8::from(!hit));
            }
            Seen::Requested(purpose) => self.purpose = Some(purpose),
            Seen::Supplied(source) => self.supply(source),
            Seen::Evicted { moved: true, .. } => self.send(LINE_BYTES),
            Seen::L2VictimWritten => {
                self.surplus.l2_victims += 1.0;
                self.add(Truth::MemoryRequests, 1.0);
            }
            Seen::Evicted { moved: false, .. }
            | Seen::FetchPrefetchDropped
            | Seen::Buffered { .. }
            | Seen::ReadAllocateBegan
            | Seen::Walked { .. } => {}
        }
    }
}

/// Returns what the decoder says about each static instruction of a trace.
fn kinds(trace: &TraceFile) -> Vec<Kind> {
    let mut program = Program::new();
    let insts = trace.statics().insts().iter();
    let kind = insts.map(|code| {
        let id = program.intern(code.pc, code.word);
        let inst = program.inst(id);
        let is_atomic = inst.mem.op.is_atomic();
        let loads = is_atomic || inst.mem.op == MemOp::Load;
        let stores = is_atomic || inst.mem.op == MemOp::Store;
        let accesses = loads || stores || inst.mem.op == MemOp::ZeroLine;
        Kind { loads, stores, accesses, branch: inst.branch }
    });
    kind.collect()
}

/// Runs a trace, at most `limit` instructions of each thread, and returns its evidence. All cores
/// are added.
///
/// # Errors
/// Those of [`sim_a53::run`].
pub fn examine(
    trace: &TraceFile,
    config: &A53Config,
    limit: Option<u64>,
) -> Result<A53Evidence, A53Error> {
    let kinds = kinds(trace);
    let runs = run_with_sinks(trace, config, limit, |_| TruthSink::new(&kinds))?;
    let mut all = TruthSink::new(&kinds);
    for (outcome, sink) in &runs {
        all.counts.add(&sink.counts);
        all.surplus.add(&sink.surplus);
        for truth in Truth::ALL.iter().chain(Truth::OF_A53_ONLY) {
            if truth.quotient().is_none() {
                all.add(*truth, sink.truths.value(*truth).unwrap_or(0.0));
            }
        }
        let issued = outcome.slots.issued as f64;
        all.add(Truth::Cycles, outcome.cycles as f64);
        all.add(Truth::Slots, (SLOTS * outcome.cycles) as f64);
        all.add(Truth::IssuedSlots, issued);
    }
    let moved = [Truth::BytesRead, Truth::BytesWritten].map(|truth| all.truths.value(truth));
    all.add(Truth::BytesMoved, moved.into_iter().flatten().sum());
    let longest = runs.iter().map(|(outcome, _): &(A53CoreOutcome, _)| outcome.cycles).max();
    Ok(A53Evidence {
        trace: trace.path().to_string_lossy().into_owned(),
        counts: A53Event::ALL.map(|event| all.counts.value(event) as f64).to_vec(),
        truths: all.truths,
        surplus: all.surplus,
        cores: runs.len() as u32,
        seconds: longest.unwrap_or_default() as f64 / config.cluster.clock_hz as f64,
        is_user_only: !trace.meta().machine.full_system,
        doubts: doubts(trace),
    })
}

/// Returns the events with unreliable counts. What an event of that name depends on is known of the
/// Neoverse N2; any other event depends on everything.
fn doubts(trace: &TraceFile) -> Vec<(A53Event, &'static str)> {
    let lacks = caveats::lacks(trace);
    let doubt = |event: A53Event| {
        let lack = match PmuEvent::from_name(event.mnemonic()) {
            Ok(same) => caveats::doubt(same, &lacks),
            Err(_) => lacks.iter().copied().min(),
        };
        lack.map(|lack| (event, lack.label()))
    };
    A53Event::ALL.into_iter().filter_map(doubt).collect()
}
