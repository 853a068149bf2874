//! When the value of each architectural register can be read, and which operation makes it: renaming
//! seen from the consumers.

use crate::stamp::Stamp;
use sim_isa::{Inst, Reg};

/// Registers, [`Reg::READY`] and [`Reg::NOWHERE`].
const NAMES: usize = Reg::COUNT + 2;

/// Ready cycles of the youngest value of every register.
#[derive(Clone, Debug)]
pub struct Scoreboard {
    ready: [Stamp; NAMES],
    /// Cycle in which an accumulator operand of `family` may issue already.
    early: [Stamp; NAMES],
    family: [u8; NAMES],
}

impl Default for Scoreboard {
    fn default() -> Self {
        let nothing = [Stamp::default(); NAMES];
        Scoreboard { ready: nothing, early: nothing, family: [0; NAMES] }
    }
}

/// When the sources of an instruction are there.
#[derive(Clone, Copy, Debug, Default)]
pub struct SourcesReady {
    /// Those that form the address.
    pub address: Stamp,
    /// The others.
    pub data: Stamp,
}

impl SourcesReady {
    /// All sources.
    #[inline]
    pub fn all(self) -> Stamp {
        self.address.max(self.data)
    }
}

impl Scoreboard {
    /// When the sources of `inst` can be read; an accumulator of the same family is forwarded late
    /// in the consumer, so it may come later (LLVM's N2 model: read-advance lists).
    #[inline]
    pub fn sources(&self, inst: &Inst) -> SourcesReady {
        if inst.accumulate.family != 0 {
            return self.sources_forwarded(inst);
        }
        let (address, data) = inst.srcs().split_at(inst.n_addr_srcs.min(inst.n_srcs).into());
        let last = |srcs: &[Reg]| {
            srcs.iter().fold(Stamp::default(), |last, src| last.max(self.ready(*src)))
        };
        SourcesReady { address: last(address), data: last(data) }
    }

    /// When all sources of `inst` can be read.
    #[inline(always)]
    pub fn all_sources(&self, inst: &Inst) -> Stamp {
        if inst.accumulate.family != 0 {
            return self.sources_forwarded(inst).all();
        }
        // Nearly always that is all; how many there are nobody can predict.
        let [first, second, third, rest @ ..] = &inst.srcs;
        let few = self.ready(*first).max(self.ready(*second)).max(self.ready(*third));
        if inst.n_srcs <= 3 {
            return few;
        }
        rest.iter().fold(few, |last, src| last.max(self.ready(*src)))
    }

    /// As [`Scoreboard::sources`], for a store of a [`sim_isa::Shape`] of its own: four sources at most, the
    /// first or the first two for the address.
    #[inline(always)]
    pub fn store_sources(&self, inst: &Inst) -> SourcesReady {
        let [first, second, third, fourth, ..] = inst.srcs.map(|src| self.ready(src));
        let is_address = inst.n_addr_srcs == 2;
        let none = Stamp::default();
        let (offset, data) = if is_address { (second, none) } else { (none, second) };
        SourcesReady { address: first.max(offset), data: data.max(third).max(fourth) }
    }

    /// As [`Scoreboard::sources`], for an instruction with an accumulator operand.
    #[inline(never)]
    fn sources_forwarded(&self, inst: &Inst) -> SourcesReady {
        let mut ready = SourcesReady::default();
        for (i, src) in inst.srcs().iter().enumerate() {
            let name = src.0 as usize;
            let forwarded = inst.accumulate.takes(i) && self.family[name] == inst.accumulate.family;
            let cycle = if forwarded { self.early[name] } else { self.ready[name] };
            if i < inst.n_addr_srcs as usize {
                ready.address = ready.address.max(cycle);
            } else {
                ready.data = ready.data.max(cycle);
            }
        }
        ready
    }

    /// A new value of `dst`, ready in the cycle of `ready`.
    #[inline]
    pub fn write(&mut self, dst: Reg, ready: Stamp) {
        self.ready[dst.0 as usize] = ready;
        self.family[dst.0 as usize] = 0;
    }

    /// New values of all destinations of `inst`, ready in the cycle of `ready`.
    #[inline(always)]
    pub fn write_all(&mut self, inst: &Inst, ready: Stamp) {
        let [first, second, rest @ ..] = &inst.dsts;
        self.write(*first, ready);
        self.write(*second, ready);
        if inst.n_dsts > 2 {
            rest.iter().for_each(|dst| self.write(*dst, ready));
        }
    }

    /// A new value of `dst` that accumulator operands of `family` may take in `early`.
    #[inline]
    pub fn write_accumulator(&mut self, dst: Reg, ready: Stamp, family: u8, early: Stamp) {
        self.ready[dst.0 as usize] = ready;
        self.early[dst.0 as usize] = early;
        self.family[dst.0 as usize] = family;
    }

    /// `dst` becomes another name of what `src` holds (a move done by renaming).
    #[inline]
    pub fn copy(&mut self, dst: Reg, src: Reg) {
        let (to, from) = (dst.0 as usize, src.0 as usize);
        self.ready[to] = self.ready[from];
        self.early[to] = self.early[from];
        self.family[to] = self.family[from];
    }

    /// When the youngest value of `reg` can be read.
    #[inline]
    pub fn ready(&self, reg: Reg) -> Stamp {
        self.ready[reg.0 as usize]
    }
}
