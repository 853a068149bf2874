//! Ready cycle of each architectural register's value, and its producer: register renaming from the
//! consumers' point of view.

use crate::units::stamp::Stamp;
use sim_isa::{Inst, Reg};

/// Registers, [`Reg::READY`] and [`Reg::NOWHERE`].
const NAMES: usize = Reg::COUNT + 2;

/// Places for them: any [`Reg`] is an index, so that the host need not check it.
const PLACES: usize = 1 << u8::BITS;

/// Ready cycles of the youngest value of every register.
#[derive(Clone, Debug)]
pub(crate) struct Scoreboard {
    ready: [Stamp; PLACES],
    /// Cycle in which an accumulator operand of `family` may already issue.
    early: [Stamp; PLACES],
    family: [u8; PLACES],
}

impl Default for Scoreboard {
    fn default() -> Self {
        let nothing = [Stamp::default(); PLACES];
        Scoreboard { ready: nothing, early: nothing, family: [0; PLACES] }
    }
}

/// Content of a scoreboard, to return to after a wrong path.
#[derive(Clone, Debug)]
pub(crate) struct SavedRegisters {
    ready: [Stamp; NAMES],
    early: [Stamp; NAMES],
    family: [u8; NAMES],
}

/// Ready cycles of the sources of an instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SourcesReady {
    /// Sources that form the address.
    pub address: Stamp,
    /// All other sources.
    pub data: Stamp,
}

impl SourcesReady {
    /// Returns when all sources are ready.
    #[inline]
    pub(crate) fn all(self) -> Stamp {
        self.address.max(self.data)
    }
}

impl Scoreboard {
    /// Returns the present content.
    #[inline(always)]
    pub(crate) fn saved(&self) -> SavedRegisters {
        SavedRegisters {
            ready: *self.ready.first_chunk().expect("it has more places than names"),
            early: *self.early.first_chunk().expect("it has more places than names"),
            family: *self.family.first_chunk().expect("it has more places than names"),
        }
    }

    /// Returns to a former content.
    pub(crate) fn restore(&mut self, saved: &SavedRegisters) {
        self.ready[..NAMES].copy_from_slice(&saved.ready);
        self.early[..NAMES].copy_from_slice(&saved.early);
        self.family[..NAMES].copy_from_slice(&saved.family);
    }

    /// Returns when the sources of `inst` are ready. The consumer reads an accumulator of the same
    /// family late, so the accumulator may be ready later (LLVM's N2 model: read-advance lists).
    #[inline]
    pub(crate) fn sources(&self, inst: &Inst) -> SourcesReady {
        if inst.accumulate.family != 0 {
            return self.sources_forwarded(inst);
        }
        let (address, data) = inst.srcs().split_at(inst.n_addr_srcs.min(inst.n_srcs).into());
        let last = |srcs: &[Reg]| {
            srcs.iter().fold(Stamp::default(), |last, src| last.max(self.ready(*src)))
        };
        SourcesReady { address: last(address), data: last(data) }
    }

    /// Returns when all sources of `inst` are ready.
    #[inline(always)]
    pub(crate) fn all_sources(&self, inst: &Inst) -> Stamp {
        if inst.accumulate.family != 0 {
            return self.sources_forwarded(inst).all();
        }
        // Nearly all instructions have at most three sources. The host cannot predict the number,
        // so all three are read.
        let [first, second, third, rest @ ..] = &inst.srcs;
        let few = self.ready(*first).max(self.ready(*second)).max(self.ready(*third));
        if inst.n_srcs <= 3 {
            return few;
        }
        rest.iter().fold(few, |last, src| last.max(self.ready(*src)))
    }

    /// Returns when the sources are ready, for a store with its own [`sim_isa::PathClass`]. It has
    /// at most four sources; the first one or two form the address.
    #[inline(always)]
    pub(crate) fn store_sources(&self, inst: &Inst) -> SourcesReady {
        let [first, second, third, fourth, ..] = inst.srcs;
        let [first, second, third, fourth] =
            [self.ready(first), self.ready(second), self.ready(third), self.ready(fourth)];
        let is_address = inst.n_addr_srcs == 2;
        let none = Stamp::default();
        let (offset, data) = if is_address { (second, none) } else { (none, second) };
        SourcesReady { address: first.max(offset), data: data.max(third).max(fourth) }
    }

    /// Returns when the sources are ready, for an instruction with an accumulator operand.
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

    /// Writes a new value of `dst`, ready in the cycle of `ready`.
    #[inline]
    pub(crate) fn write(&mut self, dst: Reg, ready: Stamp) {
        self.ready[dst.0 as usize] = ready;
        self.family[dst.0 as usize] = 0;
    }

    /// Writes new values of all destinations of `inst`, ready in the cycle of `ready`.
    #[inline(always)]
    pub(crate) fn write_all(&mut self, inst: &Inst, ready: Stamp) {
        let [first, second, rest @ ..] = &inst.dsts;
        self.write(*first, ready);
        self.write(*second, ready);
        if inst.n_dsts > 2 {
            rest.iter().for_each(|dst| self.write(*dst, ready));
        }
    }

    /// Writes a new value of `dst`, which accumulator operands of `family` may read in `early`.
    #[inline]
    pub(crate) fn write_accumulator(&mut self, dst: Reg, ready: Stamp, family: u8, early: Stamp) {
        self.ready[dst.0 as usize] = ready;
        self.early[dst.0 as usize] = early;
        self.family[dst.0 as usize] = family;
    }

    /// Makes `dst` another name of the value in `src` (a move done by rename).
    #[inline]
    pub(crate) fn copy(&mut self, dst: Reg, src: Reg) {
        let (to, from) = (dst.0 as usize, src.0 as usize);
        self.ready[to] = self.ready[from];
        self.early[to] = self.early[from];
        self.family[to] = self.family[from];
    }

    /// Returns when the youngest value of `reg` is ready.
    #[inline]
    pub(crate) fn ready(&self, reg: Reg) -> Stamp {
        self.ready[reg.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::stamp::OpRef;
    use sim_isa::decode;

    /// Returns every instruction of the decoder's corpus.
    fn corpus() -> Vec<Inst> {
        let text = include_str!("../../../sim-isa/tests/corpus/agreed.txt");
        let word = |line: &str| u32::from_str_radix(line.split(" | ").next()?, 16).ok();
        text.lines().filter_map(word).map(decode).collect()
    }

    /// Returns a scoreboard on which only this register is ready late.
    fn late(reg: Reg) -> Scoreboard {
        let mut scoreboard = Scoreboard::default();
        scoreboard.write(reg, LATE);
        scoreboard
    }

    const LATE: Stamp = Stamp::new(100, OpRef::NONE);

    #[test]
    fn an_offset_register_is_an_address_source_of_a_store() {
        // `str x0, [x1, x2]` and `str x0, [x1]`
        for word in [0xf822_6820, 0xf900_0020] {
            let inst = decode(word);
            for (place, src) in inst.srcs().iter().enumerate() {
                let ready = late(*src).store_sources(&inst);
                let is_address = place < usize::from(inst.n_addr_srcs);
                assert_eq!(ready.address == LATE, is_address, "{word:08x}: source {place}");
                assert_eq!(ready.data == LATE, !is_address, "{word:08x}: source {place}");
            }
        }
    }

    #[test]
    fn an_instruction_waits_for_every_source() {
        let many = |inst: &&Inst| inst.n_srcs > 3 && inst.accumulate.family == 0;
        let insts = corpus();
        assert!(insts.iter().any(|inst| many(&inst)), "four sources and more");
        for inst in insts.iter().filter(many) {
            for src in inst.srcs().iter().filter(|src| src.0 < Reg::READY.0) {
                assert_eq!(late(*src).all_sources(inst), LATE, "{:08x}", inst.word);
            }
        }
    }

    #[test]
    fn every_destination_is_written() {
        let insts = corpus();
        assert!(insts.iter().any(|inst| inst.n_dsts > 2), "three destinations and more");
        for inst in &insts {
            let mut scoreboard = Scoreboard::default();
            scoreboard.write_all(inst, LATE);
            for dst in inst.dsts() {
                assert_eq!(scoreboard.ready(*dst), LATE, "{:08x}", inst.word);
            }
        }
    }

    #[test]
    fn no_instruction_without_a_family_has_an_accumulator() {
        for inst in corpus().iter().filter(|inst| inst.accumulate.family == 0) {
            let takes = (0..usize::from(inst.n_srcs)).any(|i| inst.accumulate.takes(i));
            assert!(!takes, "{:08x}", inst.word);
        }
    }
}
