//! Another model's view of an instruction: what it says about the timing where it differs from this
//! model. For comparisons; a run of a trace has no views.

use serde::Deserialize;
use sim_isa::{BranchKind, Inst, Reg};

use crate::timing::{Distances, Timing, USES, Unit, Use, Work, updates_base};

/// Differences of one instruction, in cycles from its issue unless noted. What is not given stays
/// as it is in this model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct View {
    /// Issue of a reader of a result, whatever the reader does with it; not of flags and of an
    /// updated base.
    pub result: Option<u8>,
    /// Issue of a reader that adds or compares the result as it is.
    pub plain: Option<u8>,
    /// Issue of a reader that shifts, extends or multiplies the result.
    pub shifted: Option<u8>,
    /// Issue of a multiply-add, integer or vector, that accumulates on the result.
    pub accumulator: Option<u8>,
    /// Issue of a reader of the flags.
    pub flags: Option<u8>,
    /// Issue of a reader of the updated base of an access.
    pub base: Option<u8>,
    /// Use of all operands but the flags.
    pub reads: Option<Reads>,
    /// Use of the last operand.
    pub reads_last: Option<Reads>,
    /// Unit that executes the instruction. The instruction is then the older or the younger of a
    /// pair.
    pub unit: Option<ViewUnit>,
    /// Cycles until the unit takes the next instruction.
    pub busy: Option<u16>,
    /// Issue cycles, in which nothing else issues if there are several.
    pub cycles: Option<u8>,
    /// The instruction shares its cycle with no other.
    pub alone: Option<bool>,
    /// Cycle in which it writes its first result. The instruction waits until this is not before
    /// the last result of older instructions.
    pub first_write: Option<u8>,
    /// Cycle in which it writes its last result, for younger instructions that wait.
    pub last_write: Option<u8>,
    /// Bytes of an access.
    pub bytes: Option<u16>,
    /// True of an access that uses the L1 cache although its hint says that it need not.
    pub temporal: Option<bool>,
    /// False of an instruction that neither branches nor does work in the memory system.
    pub works: Option<bool>,
}

/// Use of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    /// Added or compared as it is.
    Plain,
    /// Shifted, extended or multiplied.
    Shifted,
    /// Needed as early as an address.
    Address,
}

/// A unit that executes one instruction at a time; `Integer` two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ViewUnit {
    /// Either integer unit.
    Integer,
    /// Integer multiplier.
    Multiply,
    /// Integer divider.
    Divide,
    /// Branch unit.
    Branch,
    /// The only unit of vector and floating-point arithmetic.
    Vector,
    /// The only unit of floating-point products, quotients and roots.
    VectorMultiply,
}

impl Reads {
    fn how(self) -> Use {
        match self {
            Reads::Plain => Use::Plain,
            Reads::Shifted => Use::Shifted,
            Reads::Address => Use::Address,
        }
    }
}

impl View {
    /// Adds the differences of another view; where both give a value, the other one counts.
    pub fn add(&mut self, other: &View) {
        macro_rules! take {
            ($($field:ident),*) => { $(if other.$field.is_some() { self.$field = other.$field; })* };
        }
        take!(result, plain, shifted, accumulator, flags, base, reads, reads_last, unit);
        take!(busy, cycles, alone, first_write, last_write, bytes, temporal, works);
    }

    /// Changes the timing of an instruction to this view.
    pub(crate) fn apply(&self, inst: &Inst, timing: &mut Timing) {
        self.apply_to_results(inst, timing);
        self.apply_to_issue(timing);
        let srcs = &mut timing.srcs[..usize::from(timing.n_srcs)];
        for (_, used) in srcs.iter_mut().filter(|(reg, _)| *reg != Reg::NZCV.0) {
            *used = self.reads.map_or(*used, Reads::how);
        }
        if let (Some(reads), Some((_, used))) = (self.reads_last, srcs.last_mut()) {
            *used = reads.how();
        }
    }

    /// Returns the earliest cycle of an issue, if older instructions write their last result in the
    /// cycle `written`.
    pub(crate) fn earliest(&self, written: u64) -> u64 {
        self.first_write.map_or(0, |first| written.saturating_sub(first.into()))
    }

    /// Returns the cycles from the issue to the last result; 0 if younger instructions do not wait.
    pub(crate) fn written(&self) -> u64 {
        self.last_write.map_or(0, u64::from)
    }

    fn apply_to_results(&self, inst: &Inst, timing: &mut Timing) {
        let n_dsts = usize::from(timing.n_dsts);
        for (i, (reg, distances)) in timing.dsts[..n_dsts].iter_mut().enumerate() {
            match () {
                () if *reg == Reg::NZCV.0 => set_all(distances, self.flags),
                () if updates_base(inst, i) => set_all(distances, self.base),
                () => self.apply_to_result(distances),
            }
        }
        timing.may_be_early &=
            self.result.is_none() && self.plain.is_none() && self.flags.is_none();
    }

    fn apply_to_result(&self, distances: &mut Distances) {
        set_all(distances, self.result);
        let by_use = [
            (Use::Plain, self.plain),
            (Use::Shifted, self.shifted),
            (Use::Accumulator, self.accumulator),
            (Use::VectorAccumulator, self.accumulator),
        ];
        for (how, distance) in by_use {
            distances[how as usize] = distance.unwrap_or(distances[how as usize]);
        }
    }

    fn apply_to_issue(&self, timing: &mut Timing) {
        if let Some(unit) = self.unit {
            timing.is_older_only = false;
            timing.busy = 1;
            timing.unit = match unit {
                ViewUnit::Integer => Unit::Integer,
                ViewUnit::Multiply => Unit::Multiply,
                ViewUnit::Divide => Unit::Divide,
                ViewUnit::Branch => Unit::Branch,
                ViewUnit::Vector => Unit::OnlyVector,
                ViewUnit::VectorMultiply => Unit::OnlyVectorMultiply,
            };
        }
        timing.busy = self.busy.unwrap_or(timing.busy);
        if let Some(cycles) = self.cycles {
            timing.more_cycles = cycles.saturating_sub(1);
            timing.is_alone = cycles > 1;
        }
        timing.is_alone = self.alone.unwrap_or(timing.is_alone);
        timing.bytes = self.bytes.unwrap_or(timing.bytes);
        timing.is_non_temporal &= self.temporal != Some(true);
        if self.works == Some(false) {
            (timing.work, timing.branch) = (Work::None, BranchKind::None);
        }
        timing.settle();
    }
}

fn set_all(distances: &mut Distances, distance: Option<u8>) {
    if let Some(distance) = distance {
        *distances = [distance; USES];
    }
}
