//! Sizes, widths and latencies of the core: the `[pipeline.*]` tables of a configuration.

use crate::units::resource::ShortRing;
use serde::Deserialize;
use sim_core::config::Problem;
use sim_isa::{Costs, DivideTime, PipeMask, ResourceKind, Spared, UopCounts};

/// Largest issue queue.
const MAX_QUEUE: usize = UopCounts::MAX as usize;
/// Largest store queue.
const MAX_STORES: usize = 4096;

/// The `[pipeline]` table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PipelineConfig {
    /// Fetch and decode.
    pub front_end: FrontEndConfig,
    /// Branch prediction.
    pub branch: BranchConfig,
    /// Rename, reorder buffer, registers, queues.
    pub window: WindowConfig,
    /// Operations that dispatch accepts per cycle, by pipe type.
    pub dispatch: DispatchConfig,
    /// Execution latencies that the instruction tables do not contain.
    pub execute: ExecuteConfig,
    /// Wrong-path execution.
    pub wrong_path: WrongPathConfig,
    /// Idealized parts, which cost no time or have no limit.
    pub ideal: IdealCore,
}

/// `[pipeline.front-end]`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FrontEndConfig {
    /// Instructions per cycle from the L1 I-cache.
    pub fetch_width: u32,
    /// MOPs per cycle from the MOP cache.
    pub mop_width: u32,
    /// MOP cache sets of 32-byte code blocks; a power of two.
    pub mop_cache_sets: usize,
    /// MOP cache ways.
    pub mop_cache_ways: usize,
    /// MOPs that each way of a MOP cache set has room for.
    pub mop_cache_mops_per_way: usize,
    /// MOPs between decode and rename.
    pub fetch_queue: usize,
    /// Fetch windows that prediction may run ahead of fetch.
    pub target_queue: usize,
    /// Cycles from prediction to fetch.
    pub predict_to_fetch_cycles: u64,
    /// Cycles from fetch to rename through the MOP cache.
    pub mop_to_rename_cycles: u64,
    /// Cycles from fetch to rename through L1I and decode.
    pub fetch_to_rename_cycles: u64,
}

/// `[pipeline.branch]`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BranchConfig {
    /// Predictor of the direction of conditional branches.
    pub direction: Direction,
    /// Entries of the nano BTB, each for a branch and the branch that is predicted with it.
    pub nano_btb_entries: usize,
    /// Regions of 32 bytes in the first level of the main BTB, with up to four branches each.
    pub btb_regions: usize,
    /// Branches in the second level of the main BTB.
    pub btb_entries: usize,
    /// Cycles of a prediction from the main BTB, for up to two taken branches; at least 1. The nano
    /// BTB takes one cycle.
    pub btb_cycles: u64,
    /// Extra cycles of a prediction whose region comes from the second level of the main BTB.
    pub btb_bubble_cycles: u64,
    /// Cycles from fetch until decode redirects fetch after a taken branch that missed all BTBs.
    pub resteer_cycles: u64,
    /// Cycles from the resolution of a mispredicted branch until prediction restarts.
    pub redirect_cycles: u64,
    /// Cycles from the retirement of an `ISB` until prediction restarts. No younger instruction is
    /// fetched before.
    pub isb_cycles: u64,
    /// Entries of the return stack.
    pub return_stack: usize,
    /// log2 of the entries of the bimodal table.
    pub bimodal_bits: u32,
    /// log2 of the entries of each tagged direction table.
    pub tagged_bits: u32,
    /// Bits to which a history is folded for the index. A branch reaches two to this power entries
    /// of each tagged table, which its address selects.
    pub folded_bits: u32,
    /// History lengths of the tagged direction tables, ascending, in branches.
    pub history_lengths: Vec<u32>,
    /// log2 of the counters of the gshare predictor, and number of directions in its index.
    pub gshare_bits: u32,
    /// log2 of the entries of the table that is indexed by the path to an indirect branch.
    pub indirect_path_bits: u32,
    /// Total number of targets of indirect branches.
    pub indirect_targets: usize,
}

/// Direction predictor, key `pipeline.branch.direction`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Tagged tables of geometric history lengths, the class of the core's predictor.
    Tage,
    /// One table of counters by address and last directions: a simple baseline.
    Gshare,
    /// Perfect directions and targets, and no branch is found late.
    Perfect,
}

/// `[pipeline.window]`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct WindowConfig {
    /// Reorder buffer entries (MOPs).
    pub rob: usize,
    /// MOPs retired per cycle.
    pub retire_width: u32,
    /// Speculative general registers.
    pub general_registers: usize,
    /// Speculative vector and predicate registers.
    pub vector_registers: usize,
    /// Speculative flag registers.
    pub flag_registers: usize,
    /// Load queue entries.
    pub load_queue: usize,
    /// Store queue entries.
    pub store_queue: usize,
    /// Branches in flight.
    pub branch_queue: usize,
    /// Entries of the branch and integer issue queues together.
    pub int_queue: usize,
    /// Entries of the branch and integer issue queues that operations limited to M0 can take.
    pub int_queue_one_pipe: usize,
    /// Entries of the load/store issue queues together.
    pub mem_queue: usize,
    /// Entries of the load/store issue queues that feed the pipes for stores.
    pub mem_queue_stores: usize,
    /// Entries of the vector issue queues together.
    pub vec_queue: usize,
    /// Entries of the vector issue queues that operations limited to one vector pipe can take.
    pub vec_queue_one_pipe: usize,
    /// Number of consecutive MOPs among which rename completes at most one register move.
    pub move_interval: u32,
    /// Cycles from rename to the first possible issue.
    pub rename_to_issue_cycles: u64,
}

impl WindowConfig {
    /// Returns a table in which every structure is as large as the model can count.
    fn unlimited(&self) -> WindowConfig {
        let most = |kind: ResourceKind| kind.most() as usize;
        WindowConfig {
            rob: most(ResourceKind::Rob),
            retire_width: u32::MAX,
            general_registers: most(ResourceKind::General),
            vector_registers: most(ResourceKind::Vector),
            flag_registers: most(ResourceKind::Flags),
            load_queue: most(ResourceKind::Load),
            store_queue: MAX_STORES,
            branch_queue: most(ResourceKind::Branch),
            int_queue: MAX_QUEUE,
            int_queue_one_pipe: MAX_QUEUE,
            mem_queue: MAX_QUEUE,
            mem_queue_stores: MAX_QUEUE,
            vec_queue: MAX_QUEUE,
            vec_queue_one_pipe: MAX_QUEUE,
            ..self.clone()
        }
    }
}

/// `[pipeline.dispatch]`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DispatchConfig {
    /// Micro-operations of any type.
    pub uops: u8,
    /// Branches, and integer operations that only the single-cycle pipes take.
    pub branch_single: u8,
    /// Multi-cycle integer operations that M0 or M1 takes.
    pub multi: u8,
    /// Multi-cycle integer operations that only M0 takes.
    pub multi0: u8,
    /// Vector operations that only V0 takes.
    pub vector0: u8,
    /// Vector operations that only V1 takes.
    pub vector1: u8,
    /// Loads and store addresses.
    pub load_store: u8,
    /// Time at which an operation that several integer pipes can execute gets its pipe.
    pub integer_pipe: IntegerPipe,
}

/// Key `pipeline.dispatch.integer-pipe`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IntegerPipe {
    /// At issue: any free pipe, as if one queue served all pipes.
    Any,
    /// At dispatch: round robin among the pipes that it may use.
    InTurn,
}

/// `[pipeline.execute]`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ExecuteConfig {
    /// Single-cycle integer operations that M0 also takes: four per cycle instead of three.
    pub single_cycle_on_m0: OnM0,
    /// Pipes of operations that read and write the flags (`ADCS`, `SBCS`, `CCMP`, `CCMN`).
    pub carry: CarryPipes,
    /// Latency of divides and square roots, whose operands a trace does not contain.
    pub divide: Divide,
    /// Extra cycles until an operation other than a hash operation can read the result of a hash
    /// round (`SHA1*`, `SHA256*`, `SHA512*`, `SM3*`, `SM4*`).
    pub hash_forward_cycles: u64,
    /// Cycles from a store's data to the value of the load that it forwards to.
    pub forward_cycles: u64,
    /// Cycles that a load waits after the write of an older store that covers it only in part.
    pub forward_fail_cycles: u64,
    /// Entries of the memory dependence predictor, for loads that have passed a store to their
    /// address.
    pub dependence_entries: usize,
    /// Banks of the L1 D-cache, each of which reads one line per cycle, selected by the lowest bits
    /// of the line number. A power of two; 0 means no limit.
    pub load_banks: usize,
    /// Cycles from the time the L1 has all older accesses until a barrier releases younger ones
    /// (`DMB` without `LD` or `ST`, `DSB`).
    pub barrier_cycles: u64,
    /// Stores that leave the store queue per cycle.
    pub store_drain_width: u32,
    /// Aligned bytes that a store leaving the store queue writes as one piece. A store that touches
    /// two pieces takes two of the stores per cycle. A power of two.
    pub store_drain_bytes: u64,
    /// Cycles of a system register write, after all older operations have retired.
    pub system_write_cycles: u64,
    /// Cycles of a system register read.
    pub system_read_cycles: u64,
    /// Cycles from an exception-generating instruction's retirement to the next fetch, without the
    /// kernel.
    pub exception_cycles: u64,
}

/// Key `pipeline.execute.single-cycle-on-m0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnM0 {
    /// M0 takes all single-cycle integer operations.
    All,
    /// M0 takes `AND`, `BIC`, `ORR`, `ORN`, `EOR` and `EON`, with and without flags.
    Logic,
    /// M0 takes no single-cycle integer operation.
    None,
}

/// Key `pipeline.execute.carry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CarryPipes {
    /// The pipes of other single-cycle operations.
    All,
    /// M0 and M1: two per cycle.
    Multi,
}

/// Key `pipeline.execute.divide`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Divide {
    /// Longest of the published range: 12 or 20 cycles for integers, by size. Floating point blocks
    /// its pipe until the result is ready.
    Worst,
    /// 8 or 12 cycles for integers, as for a quotient of half the register's bits. Floating point
    /// takes as long as in the worst case, but blocks its pipe only for the time measured on a
    /// related core.
    Typical,
    /// Shortest of the published range: 5 cycles for integers, 7 for floating point.
    Best,
}

impl ExecuteConfig {
    /// Returns the pipes of the single-cycle operations that M0 does not take.
    fn without_m0() -> PipeMask {
        PipeMask(PipeMask::I.0 & !PipeMask::M0.0)
    }

    /// Returns the costs of instructions, without the idealized ones.
    fn costs(&self) -> Costs {
        let (integer, logic) = match self.single_cycle_on_m0 {
            OnM0::All => (PipeMask::I, PipeMask::I),
            OnM0::Logic => (ExecuteConfig::without_m0(), PipeMask::I),
            OnM0::None => (ExecuteConfig::without_m0(), ExecuteConfig::without_m0()),
        };
        Costs {
            integer,
            logic,
            carry: if self.carry == CarryPipes::All { integer } else { PipeMask::M },
            divide: match self.divide {
                Divide::Worst => DivideTime::Worst,
                Divide::Typical => DivideTime::Typical,
                Divide::Best => DivideTime::Best,
            },
            hash_forward: self.hash_forward_cycles as u8,
            spared: Spared::default(),
        }
    }
}

/// `[pipeline.wrong-path]`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct WrongPathConfig {
    /// Set if the wrong path is executed after a mispredicted branch.
    pub enabled: bool,
}

/// `[pipeline.ideal]`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct IdealCore {
    /// Fetch, decode and the L1 I-cache never delay an instruction; only prediction does.
    pub fetch: bool,
    /// Reorder buffer, registers, queues and retirement have only the limits of the model.
    pub window: bool,
    /// A micro-operation never waits for a pipe, for dispatch width, or for its turn to leave the
    /// store queue.
    pub pipes: bool,
    /// Computation takes one cycle.
    pub latency: bool,
    /// Barriers, acquires and releases order nothing.
    pub ordering: bool,
}

impl IdealCore {
    /// Returns the costs that decode leaves out.
    fn spared(self) -> Spared {
        Spared { latency: self.latency, ordering: self.ordering }
    }
}

/// Longest delay of a stage, in cycles: far beyond any core. Sums of such delays cannot overflow.
const MAX_DELAY: u64 = 100_000;
/// Largest number of load banks.
const MAX_BANKS: usize = 64;
/// Largest number of extra cycles of a hash result.
const MAX_HASH_FORWARD: u64 = 32;
/// Largest number of entries or sets of a predictor or of the MOP cache.
const MAX_ENTRIES: usize = 1 << 20;

impl PipelineConfig {
    /// Returns the instruction costs of this machine.
    #[must_use]
    pub fn costs(&self) -> Costs {
        Costs { spared: self.ideal.spared(), ..self.execute.costs() }
    }

    /// Returns a problem for every value that cannot be built; empty for a valid machine.
    pub fn problems(&self) -> Vec<Problem> {
        let mut found = Vec::new();
        let mut check = |ok: bool, key: &str, message: String| {
            if !ok {
                found.push(Problem::new(format!("pipeline.{key}"), message));
            }
        };
        for (key, value, limit) in self.sizes() {
            let text = format!("{value} is outside 1 to {limit}");
            check((1..=limit).contains(&value), key, text);
        }
        for (key, cycles) in self.delays() {
            let text = format!("{cycles} cycles are more than {MAX_DELAY}");
            check(cycles <= MAX_DELAY, key, text);
        }
        let f = &self.front_end;
        let sets = f.mop_cache_sets;
        let ok = sets.is_power_of_two() && sets <= MAX_ENTRIES;
        let text =
            format!("{sets} sets: must be a power of two (a bit field), at most {MAX_ENTRIES}");
        check(ok, "front-end.mop-cache-sets", text);
        let b = &self.branch;
        for (key, entries, least) in [
            ("branch.nano-btb-entries", b.nano_btb_entries, 4),
            ("branch.btb-regions", b.btb_regions, 4),
            ("branch.btb-entries", b.btb_entries, 8),
            ("branch.indirect-targets", b.indirect_targets, 64),
        ] {
            let ok = entries.is_power_of_two() && (least..=MAX_ENTRIES).contains(&entries);
            let text =
                format!("{entries} entries: must be a power of two from {least} to {MAX_ENTRIES}");
            check(ok, key, text);
        }
        for (key, bits, most) in [
            ("branch.bimodal-bits", b.bimodal_bits, 20),
            ("branch.tagged-bits", b.tagged_bits, crate::units::branch::limits::MAX_TAGGED_BITS),
            ("branch.folded-bits", b.folded_bits, crate::units::branch::limits::MAX_FOLDED_BITS),
            ("branch.gshare-bits", b.gshare_bits, 20),
            ("branch.indirect-path-bits", b.indirect_path_bits, 20),
        ] {
            check((4..=most).contains(&bits), key, format!("{bits} is outside 4 to {most}"));
        }
        let banks = self.execute.load_banks;
        check(
            banks == 0 || banks.is_power_of_two() && banks <= MAX_BANKS,
            "execute.load-banks",
            format!("{banks} banks: must be 0 or a power of two up to {MAX_BANKS}"),
        );
        let bytes = self.execute.store_drain_bytes;
        check(
            bytes.is_power_of_two() && (16..=64).contains(&bytes),
            "execute.store-drain-bytes",
            format!("{bytes} bytes: must be 16, 32 or 64"),
        );
        let cycles = self.execute.hash_forward_cycles;
        check(
            cycles <= MAX_HASH_FORWARD,
            "execute.hash-forward-cycles",
            format!("{cycles} cycles are more than {MAX_HASH_FORWARD}"),
        );
        let lengths = &b.history_lengths;
        let ascending = lengths.windows(2).all(|pair| pair[0] < pair[1]);
        let ok = ascending
            && (1..=crate::units::branch::limits::MAX_TABLES).contains(&lengths.len())
            && lengths.iter().all(|l| (1..=crate::units::branch::limits::MAX_HISTORY).contains(l));
        let text = format!("{lengths:?}: 1 to 8 ascending lengths from 1 to 1024 are needed");
        check(ok, "branch.history-lengths", text);
        found
    }

    /// Returns the configuration that the stages are built from. Ideal parts become sizes and
    /// widths without a limit; such a size is the largest that the model can count.
    #[must_use]
    pub fn built(&self) -> PipelineConfig {
        let mut built = self.clone();
        if self.ideal.fetch {
            built.front_end.mop_width = u32::MAX;
        }
        if self.ideal.window {
            built.window = self.window.unlimited();
        }
        if self.ideal.pipes {
            let d = &mut built.dispatch;
            let limits = [
                &mut d.uops,
                &mut d.branch_single,
                &mut d.multi,
                &mut d.multi0,
                &mut d.vector0,
                &mut d.vector1,
                &mut d.load_store,
            ];
            limits.into_iter().for_each(|limit| *limit = u8::MAX);
            built.dispatch.integer_pipe = IntegerPipe::Any;
            built.execute.load_banks = 0;
            built.execute.store_drain_width = u32::MAX;
        }
        built
    }

    /// Returns key and value of every delay that may be 0.
    fn delays(&self) -> [(&'static str, u64); 13] {
        let (f, b, e) = (&self.front_end, &self.branch, &self.execute);
        [
            ("front-end.predict-to-fetch-cycles", f.predict_to_fetch_cycles),
            ("front-end.mop-to-rename-cycles", f.mop_to_rename_cycles),
            ("front-end.fetch-to-rename-cycles", f.fetch_to_rename_cycles),
            ("branch.btb-bubble-cycles", b.btb_bubble_cycles),
            ("branch.resteer-cycles", b.resteer_cycles),
            ("branch.redirect-cycles", b.redirect_cycles),
            ("branch.isb-cycles", b.isb_cycles),
            ("execute.forward-cycles", e.forward_cycles),
            ("execute.forward-fail-cycles", e.forward_fail_cycles),
            ("execute.barrier-cycles", e.barrier_cycles),
            ("execute.system-write-cycles", e.system_write_cycles),
            ("execute.system-read-cycles", e.system_read_cycles),
            ("execute.exception-cycles", e.exception_cycles),
        ]
    }

    /// Returns key, value and largest sensible value of every size and width.
    fn sizes(&self) -> [(&'static str, usize, usize); 33] {
        let (f, b, w, d) = (&self.front_end, &self.branch, &self.window, &self.dispatch);
        let most = |kind: ResourceKind| kind.most() as usize;
        [
            ("front-end.fetch-width", f.fetch_width as usize, 16),
            ("front-end.mop-width", f.mop_width as usize, 16),
            ("front-end.mop-cache-ways", f.mop_cache_ways, 16),
            ("front-end.mop-cache-mops-per-way", f.mop_cache_mops_per_way, 64),
            ("front-end.fetch-queue", f.fetch_queue, ShortRing::MOST),
            ("front-end.target-queue", f.target_queue, ShortRing::MOST),
            ("branch.btb-cycles", b.btb_cycles as usize, 64),
            ("branch.return-stack", b.return_stack, 64),
            ("window.rob", w.rob, most(ResourceKind::Rob)),
            ("window.retire-width", w.retire_width as usize, 32),
            ("window.general-registers", w.general_registers, most(ResourceKind::General)),
            ("window.vector-registers", w.vector_registers, most(ResourceKind::Vector)),
            ("window.flag-registers", w.flag_registers, most(ResourceKind::Flags)),
            ("window.load-queue", w.load_queue, most(ResourceKind::Load)),
            ("window.store-queue", w.store_queue, MAX_STORES),
            ("window.branch-queue", w.branch_queue, most(ResourceKind::Branch)),
            ("window.int-queue", w.int_queue, MAX_QUEUE),
            ("window.mem-queue", w.mem_queue, MAX_QUEUE),
            ("window.vec-queue", w.vec_queue, MAX_QUEUE),
            ("window.int-queue-one-pipe", w.int_queue_one_pipe, MAX_QUEUE),
            ("window.mem-queue-stores", w.mem_queue_stores, MAX_QUEUE),
            ("window.vec-queue-one-pipe", w.vec_queue_one_pipe, MAX_QUEUE),
            ("window.move-interval", w.move_interval as usize, 64),
            ("dispatch.uops", d.uops.into(), 64),
            ("dispatch.branch-single", d.branch_single.into(), 64),
            ("dispatch.multi", d.multi.into(), 64),
            ("dispatch.multi0", d.multi0.into(), 64),
            ("dispatch.vector0", d.vector0.into(), 64),
            ("dispatch.vector1", d.vector1.into(), 64),
            ("dispatch.load-store", d.load_store.into(), 64),
            ("execute.store-drain-width", self.execute.store_drain_width as usize, 16),
            ("execute.dependence-entries", self.execute.dependence_entries, 1024),
            ("window.rename-to-issue-cycles", w.rename_to_issue_cycles as usize, 64),
        ]
    }
}
