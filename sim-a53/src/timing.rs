//! Timing of each instruction in the pipeline: units, issue cycles, and the distance in cycles from
//! its issue to the issue of a reader of its result.
//!
//! A distance depends on both sides: an addition takes a plain operand a stage later than a shifted
//! one, and an address is needed a stage earlier. Sources: "GCC" is its scheduling model of this
//! core (`cortex-a53.md`), "IB" the measurements of insn_bench_aarch64 on a Raspberry Pi 3.

use crate::config::{IdealPipeline, MAX_DIVIDE, PipelineConfig};
use sim_core::Maintenance;
use sim_isa::inst::{MAX_DSTS, MAX_SRCS};
use sim_isa::{
    Addressing, BranchKind, ContextWrite, Inst, MemOp, MultiplyKind, OperationClass, Program, Reg,
    Rename, Special, VectorKind,
};

/// Use of an operand by its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Adds or compares it in the second execution stage, or in the first.
    Plain,
    /// Shifts, extends or multiplies it in the first execution stage.
    Shifted,
    /// Forms an address before the first execution stage.
    Address,
    /// Stores it, or decides a branch, in the last stage.
    Late,
    /// Accumulates an integer product.
    Accumulator,
    /// Any vector operand but the next two.
    Vector,
    /// Accumulates a vector product.
    VectorAccumulator,
    /// Mixes the columns of an AES round, `AESMC`.
    AesMix,
}

/// Number of uses.
pub(crate) const USES: usize = 8;

/// Distances from the issue of a producer to that of a reader, by [`Use`].
pub(crate) type Distances = [u8; USES];

/// Constants and shifts by a constant or register: ready after the first stage (GCC).
const MOVE: Distances = [0, 1, 2, 0, 0, 2, 2, 2];
/// Additions and logic in the second stage (GCC; IB 1.00, 2.01).
const ALU: Distances = [1, 2, 3, 0, 1, 3, 3, 3];
/// Additions in the first stage, because all operands are ready: only a plain reader has the result
/// sooner (IB: two dependent additions issue together).
pub(crate) const EARLY_ALU: Distances = [0, 2, 3, 0, 1, 3, 3, 3];
/// Products of words (GCC; IB `SMULL` 3).
const PRODUCT: Distances = [2, 3, 4, 1, 1, 4, 4, 4];
/// Products of doublewords (IB `MUL X` 4).
const LONG_PRODUCT: Distances = [3, 4, 5, 2, 1, 5, 5, 5];
/// Products of doublewords with an accumulator (IB `MADD X` 5).
const LONG_SUM: Distances = [4, 5, 6, 3, 1, 6, 6, 6];
/// High halves of products (IB `UMULH` 6).
const HIGH_PRODUCT: Distances = [5, 6, 7, 4, 4, 7, 7, 7];
/// Loads of a doubleword (GCC; IB: 3 to an address).
const LOAD: Distances = [2, 3, 3, 1, 2, 3, 3, 3];
/// Loads of a word, halfword or byte (IB: 4 to an address).
const SHORT_LOAD: Distances = [2, 3, 4, 1, 2, 3, 3, 3];
/// Second register of a load of a pair (GCC; measured).
const SECOND_LOAD: Distances = [3, 4, 4, 1, 3, 4, 4, 4];
/// First register of a load of a pair (GCC; measured).
const FIRST_LOAD: Distances = [3, 4, 3, 1, 3, 4, 4, 4];
/// Updated base of an access. Assumed (1 to 2): the address unit adds in the first stage.
const BASE: Distances = [1, 1, 1, 0, 1, 3, 3, 3];
/// From a vector register to a general one (GCC: 4).
const TO_GENERAL: Distances = [4, 5, 6, 3, 4, 4, 4, 4];
/// Conversion to an integer in a general register (GCC: 5).
const TO_INTEGER: Distances = [5, 6, 7, 4, 5, 5, 5, 5];
/// Flags of a floating-point comparison (IB: one comparison and branch per cycle).
const FLOAT_FLAGS: Distances = [3, 3, 3, 0, 3, 3, 3, 3];

/// Returns distances to the next cycle, or the same one if they were that short.
fn in_next_cycle(distances: Distances) -> Distances {
    distances.map(|cycles| cycles.min(1))
}

/// Returns the distances of a vector result with this latency.
const fn vector_result(latency: u8) -> Distances {
    // A store takes vector data two stages after its issue, and a multiply-add its accumulator
    // three: one cycle after the issue of an addition, which takes four (GCC).
    let late = latency.saturating_sub(2);
    let accumulator = if latency > 4 { latency - 3 } else { 1 };
    [latency, latency, latency, late, latency, latency, accumulator, latency]
}

/// Unit that executes one instruction per cycle, or fewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// One of the two integer units, both of which every instruction finds free.
    Integer,
    /// Address generation.
    Address,
    /// Multiply-accumulate.
    Multiply,
    /// Integer divider.
    Divide,
    /// Shifter of register amounts.
    Shift,
    /// Branch unit.
    Branch,
    /// One of the 64-bit halves of the vector unit.
    HalfVector,
    /// Both halves of the vector unit.
    FullVector,
    /// The iterative divider of the vector unit.
    VectorDivide,
    /// The vector unit as another model sees it: of one instruction per cycle.
    OnlyVector,
    /// The same of floating-point products.
    OnlyVectorMultiply,
}

/// Number of units.
pub(crate) const UNITS: usize = 11;

/// Needs of an instruction that joins an older one in its cycle: a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Needs(u16);

impl Needs {
    /// Nothing: no instruction.
    pub(crate) const NONE: Needs = Needs(0);
    /// Everything.
    pub(crate) const ALL: Needs = Needs(u16::MAX);
    /// A need of every instruction.
    const ANY: Needs = Needs(1 << 15);
    /// The cycle for itself.
    const CYCLE: Needs = Needs(1 << 14);
    /// A half of the vector unit, or its registers.
    const VECTOR: Needs = Needs(1 << 13);

    /// Returns the need of a unit.
    const fn of(unit: Unit) -> Needs {
        Needs(1 << unit as u16)
    }

    /// Returns both sets together.
    #[inline(always)]
    pub(crate) const fn with(self, other: Needs) -> Needs {
        Needs(self.0 | other.0)
    }

    /// Returns whether the sets have nothing in common.
    #[inline(always)]
    pub(crate) const fn has_none_of(self, other: Needs) -> bool {
        self.0 & other.0 == 0
    }
}

/// Work of an instruction in the memory system or at write-back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Computes or branches.
    None,
    /// Loads.
    Load,
    /// Stores.
    Store,
    /// Loads, and marks the line in the exclusive monitor.
    LoadExclusive,
    /// Stores if the monitor has the line.
    StoreExclusive,
    /// Opens the monitor.
    ClearExclusive,
    /// Loads and stores.
    Atomic,
    /// Preloads data; `for_write` of `PRFM PST`.
    Prefetch {
        /// True for a store.
        for_write: bool,
    },
    /// Zeroes a line.
    ZeroLine,
    /// Maintains caches or translations.
    Maintain {
        /// The operation.
        what: Maintenance,
        /// Its operand, if that is no recorded value: 0 without one, or of the zero register.
        operand: Option<u64>,
    },
    /// Waits until the store buffer is empty.
    Barrier,
    /// Restarts the front end.
    Restart,
    /// Takes an exception.
    Exception,
    /// Writes `CONTEXTIDR`.
    ContextId,
}

/// Timing of one static instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) srcs: [(u8, Use); MAX_SRCS],
    pub(crate) dsts: [(u8, Distances); MAX_DSTS],
    pub(crate) n_srcs: u8,
    pub(crate) n_dsts: u8,
    pub(crate) unit: Unit,
    /// A further unit that has to be free; `unit` again if there is none.
    pub(crate) second_unit: Unit,
    /// Its needs as the younger instruction of a pair.
    pub(crate) needs: Needs,
    /// Needs of a younger instruction that may not join it.
    pub(crate) excludes: Needs,
    /// Cycles in which nothing else issues, after the first; the instruction issues alone if there
    /// are any.
    pub(crate) more_cycles: u8,
    /// Cycles until the unit takes the next instruction.
    pub(crate) busy: u16,
    /// It never shares a cycle.
    pub(crate) is_alone: bool,
    /// It shares a cycle only as the older of two.
    pub(crate) is_older_only: bool,
    /// It may execute in the first stage, with the result sooner for plain readers.
    pub(crate) may_be_early: bool,
    /// Vector or floating-point work.
    pub(crate) is_vector: bool,
    /// The access is a vector load or store.
    pub(crate) is_vector_access: bool,
    /// It neither branches nor does other work, is no vector work and known, so that its results
    /// are all there is.
    pub(crate) only_computes: bool,
    pub(crate) work: Work,
    pub(crate) branch: BranchKind,
    pub(crate) pc: u64,
    /// Target of a direct branch.
    pub(crate) target: u64,
    pub(crate) bytes: u16,
    pub(crate) align: u8,
    pub(crate) is_exclusive: bool,
    pub(crate) is_non_temporal: bool,
    /// It belongs to an extension that the core does not have.
    pub(crate) is_foreign: bool,
    /// The decoder does not know the word.
    pub(crate) is_unknown: bool,
}

impl Timing {
    /// Returns the timing of a static instruction.
    pub(crate) fn of(program: &Program, id: u32, config: &PipelineConfig) -> Timing {
        let inst = program.inst(id);
        let class = inst.operation_class();
        let mut timing = Timing {
            srcs: [(0, Use::Plain); MAX_SRCS],
            dsts: [(0, ALU); MAX_DSTS],
            n_srcs: inst.n_srcs,
            n_dsts: inst.n_dsts,
            unit: Unit::Integer,
            second_unit: Unit::Integer,
            needs: Needs::NONE,
            excludes: Needs::ALL,
            more_cycles: 0,
            busy: 1,
            is_alone: false,
            is_older_only: false,
            may_be_early: false,
            is_vector: false,
            is_vector_access: false,
            only_computes: false,
            work: work_of(inst),
            branch: inst.branch,
            pc: program.pc(id),
            target: if has_direct_target(inst.branch) { program.target(id) } else { 0 },
            bytes: inst.mem.bytes.max(1),
            align: inst.mem.align,
            is_exclusive: inst.mem.exclusive,
            is_non_temporal: inst.is_non_temporal_pair(),
            is_foreign: is_foreign(inst),
            is_unknown: inst.special == Special::Unknown,
        };
        timing.set_units(inst, class, config);
        timing.set_operands(inst, class);
        timing.settle();
        timing.spare(&config.ideal);
        timing
    }

    /// Leaves out the costs that the configuration leaves out.
    pub(crate) fn spare(&mut self, ideal: &IdealPipeline) {
        if ideal.latency {
            self.busy = 1;
            // An addition always finds its operands ready for the first stage.
            let of = |own| if self.may_be_early { EARLY_ALU } else { own };
            self.dsts = self.dsts.map(|(reg, own)| (reg, in_next_cycle(of(own))));
            self.may_be_early = false;
        }
        if ideal.issue {
            (self.needs, self.excludes) = (Needs::ANY, Needs::NONE);
            self.more_cycles = 0;
        }
    }

    /// Sets what follows from the rest: the pairs, and whether it only computes. GCC's model names
    /// the units; qsdr measured the pairs of vector operations and accesses.
    pub(crate) fn settle(&mut self) {
        let is_full = matches!(self.unit, Unit::FullVector | Unit::VectorDivide);
        let has_vector = self.is_vector || self.is_vector_access;
        self.second_unit = match self.unit {
            Unit::FullVector => Unit::VectorDivide,
            unit => unit,
        };
        self.needs = Needs::ANY
            .with(Needs::of(self.unit))
            .with(if has_vector { Needs::VECTOR } else { Needs::NONE })
            .with(if self.is_alone || self.is_older_only { Needs::CYCLE } else { Needs::NONE });
        self.excludes = match self.unit {
            _ if self.is_alone => Needs::ALL,
            Unit::Integer | Unit::HalfVector => Needs::CYCLE,
            // No half is left for another vector operation, or for vector data of an access.
            _ if is_full => Needs::CYCLE.with(Needs::VECTOR),
            unit => Needs::CYCLE.with(Needs::of(unit)),
        };
        self.only_computes = self.work == Work::None
            && self.branch == BranchKind::None
            && !(has_vector || self.is_foreign || self.is_unknown);
    }

    fn set_units(&mut self, inst: &Inst, class: OperationClass, config: &PipelineConfig) {
        let (unit, busy) = match class {
            OperationClass::Move
            | OperationClass::Alu
            | OperationClass::ShiftedAlu
            | OperationClass::BitField
            | OperationClass::Crc => (Unit::Integer, 1),
            OperationClass::Shift => (Unit::Shift, 1),
            OperationClass::Multiply(kind) => (Unit::Multiply, multiply_cycles(kind)),
            OperationClass::Divide { is_64 } => {
                let cycles = if is_64 { config.divide_64 } else { config.divide_32 };
                (Unit::Divide, cycles as u16)
            }
            OperationClass::Branch => (Unit::Branch, 1),
            OperationClass::Memory => (Unit::Address, 1),
            OperationClass::System => (Unit::Integer, 1),
            OperationClass::Vector(kind) => vector_unit(inst, kind),
        };
        (self.unit, self.busy) = (unit, busy);
        self.may_be_early = class == OperationClass::Alu;
        self.is_vector = matches!(class, OperationClass::Vector(_));
        self.is_older_only = matches!(unit, Unit::Divide | Unit::FullVector | Unit::VectorDivide);
        self.is_alone = class == OperationClass::System && inst.rename != Rename::Nop;
        if class == OperationClass::Memory {
            self.set_access(inst);
        }
    }

    fn set_access(&mut self, inst: &Inst) {
        let is_vector = |regs: &[Reg]| regs.iter().any(|reg| (33..65).contains(&reg.0));
        self.is_vector_access = is_vector(inst.dsts()) || is_vector(inst.srcs());
        // Loads take one cycle for eight bytes, stores one for sixteen (manual 2.1.6; IB `STP Q`).
        let width = if matches!(inst.mem.op, MemOp::Store) { 16 } else { 8 };
        let cycles = match self.is_pair_of_words(inst) {
            true => PAIR_OF_WORDS,
            false => inst.mem.bytes.div_ceil(width).clamp(1, 32) as u8,
        };
        self.more_cycles = cycles - 1;
        self.is_alone = cycles > 1;
    }

    /// Returns whether an instruction is `LDP W`, `LDNP W` or `LDPSW`.
    fn is_pair_of_words(&self, inst: &Inst) -> bool {
        let mem = &inst.mem;
        let is_pair = mem.bytes == 8 && mem.register_bytes == 4 && !mem.exclusive;
        is_pair && mem.op == MemOp::Load && !self.is_vector_access
    }

    fn set_operands(&mut self, inst: &Inst, class: OperationClass) {
        for (i, reg) in inst.srcs().iter().enumerate() {
            self.srcs[i] = (reg.0, use_of(inst, class, i));
        }
        for (i, reg) in inst.dsts().iter().enumerate() {
            self.dsts[i] = (reg.0, distances_of(inst, class, self, i));
        }
    }
}

/// Cycles of a load of two words to general registers (IB 0.33 a cycle).
const PAIR_OF_WORDS: u8 = 3;

/// Returns the cycles after which the multiplier takes the next product (IB).
fn multiply_cycles(kind: MultiplyKind) -> u16 {
    match kind {
        MultiplyKind::Word => 1,
        MultiplyKind::Doubleword { adds: false } => 2,
        MultiplyKind::Doubleword { adds: true } => 3,
        MultiplyKind::High => 4,
    }
}

/// Returns the unit of a vector operation, and the cycles after which it takes the next one.
fn vector_unit(inst: &Inst, kind: VectorKind) -> (Unit, u16) {
    match kind {
        // GCC: S 14 and D 29 for divisions; IB: S 9 and D 20 for square roots.
        VectorKind::Divide { is_64: false, is_root: false } => (Unit::VectorDivide, 14),
        VectorKind::Divide { is_64: true, is_root: false } => (Unit::VectorDivide, 29),
        VectorKind::Divide { is_64: false, is_root: true } => (Unit::VectorDivide, 9),
        VectorKind::Divide { is_64: true, is_root: true } => (Unit::VectorDivide, 20),
        _ if inst.is_full_vector() => (Unit::FullVector, vector_cycles(kind)),
        _ => (Unit::HalfVector, vector_cycles(kind)),
    }
}

/// Returns the cycles after which the vector unit takes the next operation (IB).
fn vector_cycles(kind: VectorKind) -> u16 {
    match kind {
        VectorKind::Twice => 2,
        VectorKind::Lookup { steps } => steps.into(),
        _ => 1,
    }
}

fn work_of(inst: &Inst) -> Work {
    match inst.mem.op {
        MemOp::Load if inst.mem.exclusive => Work::LoadExclusive,
        MemOp::Load => Work::Load,
        MemOp::Store if inst.mem.exclusive => Work::StoreExclusive,
        MemOp::Store => Work::Store,
        MemOp::AtomicLoad | MemOp::AtomicStore | MemOp::AtomicSwap => Work::Atomic,
        MemOp::PrefetchLoad => Work::Prefetch { for_write: false },
        MemOp::PrefetchStore => Work::Prefetch { for_write: true },
        MemOp::ZeroLine => Work::ZeroLine,
        _ if let Some(what) = inst.maintenance => {
            Work::Maintain { what, operand: inst.maintenance_operand(None) }
        }
        _ if matches!(inst.context_write, Some(ContextWrite::ContextId(_))) => Work::ContextId,
        _ => match inst.special {
            Special::DataMemoryBarrier | Special::DataSyncBarrier => Work::Barrier,
            Special::InstSyncBarrier => Work::Restart,
            Special::ClearExclusive => Work::ClearExclusive,
            Special::SupervisorCall
            | Special::HypervisorCall
            | Special::SecureMonitorCall
            | Special::Breakpoint
            | Special::Undefined => Work::Exception,
            _ => Work::None,
        },
    }
}

fn has_direct_target(branch: BranchKind) -> bool {
    matches!(branch, BranchKind::Direct | BranchKind::Conditional | BranchKind::Call)
}

/// Returns true for SVE and for atomics of LSE, which came after Armv8.0.
fn is_foreign(inst: &Inst) -> bool {
    inst.is_sve || inst.mem.op.is_atomic() || inst.mem.elements > 0
}

/// Returns the use of source `i`.
fn use_of(inst: &Inst, class: OperationClass, i: usize) -> Use {
    match class {
        OperationClass::Memory if i < usize::from(inst.n_addr_srcs) => Use::Address,
        OperationClass::Memory | OperationClass::Branch => match inst.branch {
            // A target register is needed as early as an address.
            BranchKind::Indirect | BranchKind::IndirectCall | BranchKind::Return => Use::Address,
            _ => Use::Late,
        },
        OperationClass::Multiply(_) if i == 2 => Use::Accumulator,
        // The last operand is shifted; the zero register as the first one is not listed.
        OperationClass::ShiftedAlu if i + 1 < usize::from(inst.n_srcs) => Use::Plain,
        OperationClass::ShiftedAlu
        | OperationClass::BitField
        | OperationClass::Shift
        | OperationClass::Crc
        | OperationClass::Multiply(_)
        | OperationClass::Divide { .. } => Use::Shifted,
        OperationClass::Vector(
            VectorKind::MultiplyAdd | VectorKind::Long | VectorKind::Collect | VectorKind::Twice,
        ) if inst.accumulate.family != 0 && i == usize::from(inst.accumulate.src) => {
            Use::VectorAccumulator
        }
        OperationClass::Vector(VectorKind::AesMix) => Use::AesMix,
        OperationClass::Vector(VectorKind::FromGeneral { .. }) if inst.srcs()[i].0 < 32 => {
            Use::Plain
        }
        OperationClass::Vector(_) => Use::Vector,
        OperationClass::Move | OperationClass::Alu | OperationClass::System => Use::Plain,
    }
}

/// Returns the distances of destination `i`.
fn distances_of(inst: &Inst, class: OperationClass, timing: &Timing, i: usize) -> Distances {
    match class {
        OperationClass::Move | OperationClass::Shift => MOVE,
        OperationClass::Multiply(MultiplyKind::Word) => PRODUCT,
        OperationClass::Multiply(MultiplyKind::Doubleword { adds: false }) => LONG_PRODUCT,
        OperationClass::Multiply(MultiplyKind::Doubleword { adds: true }) => LONG_SUM,
        OperationClass::Multiply(MultiplyKind::High) => HIGH_PRODUCT,
        OperationClass::Divide { .. } => divided(timing.busy),
        OperationClass::Memory => loaded(inst, timing, i),
        OperationClass::Vector(kind) => vector_distances(inst, kind, i),
        _ => ALU,
    }
}

/// Returns the distances of a quotient that takes this many cycles.
fn divided(cycles: u16) -> Distances {
    let cycles = cycles.min(MAX_DIVIDE as u16) as u8;
    [cycles - 1, cycles, cycles + 1, cycles - 1, cycles, cycles, cycles, cycles]
}

/// Returns whether destination `i` of an access is its updated base.
pub(crate) fn updates_base(inst: &Inst, i: usize) -> bool {
    inst.dsts()[i].0 <= Reg::SP.0
        && i + 1 == usize::from(inst.n_dsts)
        && inst.operation_class() == OperationClass::Memory
        && Addressing::of(inst.word).is_some_and(|form| form.update != Some(0))
}

fn loaded(inst: &Inst, timing: &Timing, i: usize) -> Distances {
    let reg = inst.dsts()[i];
    match (reg.0, inst.mem.register_bytes) {
        _ if updates_base(inst, i) => BASE,
        (0..=31, 8..) if timing.more_cycles > 0 && i == 0 => FIRST_LOAD,
        (0..=31, 8..) if timing.more_cycles > 0 => SECOND_LOAD,
        (0..=31, 8..) => LOAD,
        (0..=31, _) => SHORT_LOAD,
        // Measured (qsdr): D 3, Q 4, two more cycles for each further register.
        (_, 16..) => vector_result(4 + 2 * i as u8),
        _ => vector_result(3 + i as u8),
    }
}

fn vector_distances(inst: &Inst, kind: VectorKind, i: usize) -> Distances {
    let reg = inst.dsts()[i];
    match kind {
        _ if reg == Reg::NZCV => FLOAT_FLAGS,
        VectorKind::ToGeneral { converts: false } => TO_GENERAL,
        VectorKind::ToGeneral { converts: true } => TO_INTEGER,
        // IB: 1.01, 2.01, 3.01 and 4.02.
        VectorKind::Logic => vector_result(1),
        VectorKind::Simple | VectorKind::FromGeneral { converts: false } => vector_result(2),
        VectorKind::Lookup { steps } => vector_result(1 + steps),
        VectorKind::NewtonStep => vector_result(8),
        VectorKind::Twice => {
            // IB: 2.02 through the accumulator.
            let mut distances = vector_result(4);
            distances[Use::VectorAccumulator as usize] = 2;
            distances
        }
        VectorKind::Long | VectorKind::Float | VectorKind::FromGeneral { converts: true } => {
            vector_result(4)
        }
        // GCC: rounds of SHA 5, `SHA1SU` 4, others 3.
        VectorKind::HashRound => vector_result(5),
        VectorKind::HashSchedule => vector_result(4),
        VectorKind::Collect | VectorKind::Crypto => vector_result(3),
        VectorKind::AesRound => {
            // `AESMC` takes the round's result a cycle later: 3.25 cycles for both (sbc-bench).
            let mut distances = vector_result(3);
            distances[Use::AesMix as usize] = 1;
            distances
        }
        VectorKind::AesMix => vector_result(2),
        VectorKind::MultiplyAdd => {
            // A chain through the accumulator takes four cycles (IB).
            let mut distances = vector_result(8);
            distances[Use::VectorAccumulator as usize] = 4;
            distances
        }
        VectorKind::Divide { is_64: false, is_root: false } => vector_result(18),
        VectorKind::Divide { is_64: true, is_root: false } => vector_result(33),
        VectorKind::Divide { is_64: false, is_root: true } => vector_result(12),
        VectorKind::Divide { is_64: true, is_root: true } => vector_result(22),
    }
}
