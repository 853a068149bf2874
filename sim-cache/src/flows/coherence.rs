//! Answers of the cores to snoops that wait for them. PMU guide 3.2.12. The decisions of the home
//! node are in `uncore/coherence`.

use sim_core::{EventSink, LineAddr};

use crate::core_memory::CoreMemory;
use crate::memory_system::{CorePort, MemorySystem};
use crate::uncore::Uncore;
use crate::uncore::snoop_filter::cores_of;
use crate::units::request::invalidates;

impl CoreMemory {
    /// Returns whether this core holds modified data of a line.
    fn is_modified(&self, line: LineAddr) -> bool {
        let caches = [&self.l1d, &self.l2];
        caches.iter().any(|c| c.probe(line).is_some_and(|entry| c.state(entry).is_dirty()))
    }

    /// Removes every copy of a line, without counting.
    fn drop_copies(&mut self, line: LineAddr) {
        for cache in [&mut self.l1i, &mut self.l1d, &mut self.l2] {
            cache.remove(line);
        }
    }

    /// Answers the waiting snoops. Runs before any other lookup of this core.
    #[cold]
    #[inline(never)]
    pub(crate) fn answer_queued_snoops<S: EventSink>(&mut self, uncore: &mut Uncore, sink: &mut S) {
        let requests = uncore.snoops.take(self.number);
        for request in &requests {
            if self.may_write(request.line) {
                self.drain_held_line(request.line, request.at, uncore, sink);
            }
            self.answer_snoop(*request, uncore, sink);
            if invalidates(request.snoop) {
                uncore.drop_holder(self.number, request.line);
            }
        }
        // Stores that are still merged into a lost line request it again, after all answers.
        for request in &requests {
            self.drain_held_line(request.line, request.at, uncore, sink);
        }
        uncore.snoops.put_back(self.number, requests);
    }
}

impl MemorySystem {
    /// Makes the other cores and the snoop filter consistent with a line that a setup placed in one
    /// core's caches. Counts nothing.
    pub(crate) fn restore_coherence(&mut self, core: usize, line: LineAddr) {
        if self.uncore.filter.is_none() {
            return;
        }
        let alone = self.cores[core].is_modified(line);
        let mut is_held = false;
        for other in (0..self.cores.len()).filter(|other| *other != core) {
            let caches = &mut self.cores[other];
            if caches.l2.probe(line).is_none() {
                continue;
            }
            if caches.is_modified(line) {
                self.uncore.keep_at_home(line, true, 0);
            }
            if alone {
                caches.drop_copies(line);
                self.uncore.drop_holder(other, line);
            } else {
                is_held = true;
                caches.change_copies(line, |state| state.with_dirty(false).with_shared(true));
            }
        }
        self.uncore.grant(core, line, !is_held, 0);
        self.cores[core].change_copies(line, |state| state.with_shared(is_held));
    }

    /// Makes a core answer the snoops that wait for it, as the core does before its next access.
    pub fn answer_snoops<S: EventSink>(&mut self, core: usize, sink: &mut S) {
        let CorePort { core, uncore, .. } = self.port(core);
        core.answer_queued_snoops(uncore, sink);
    }

    /// Returns whether a snoop waits for any core.
    pub fn has_snoops(&self) -> bool {
        self.uncore.snoops.waiting().0 > 0
    }

    /// Returns whether the state is coherent. A line that one core may modify must have no other
    /// copy, and the snoop filter must track exactly the lines of all L2 caches. All waiting snoops
    /// must have been answered.
    pub fn is_coherent(&self) -> bool {
        let Some(filter) = &self.uncore.filter else { return true };
        let truly_there = filter.entries().all(|(line, holders, owned)| {
            let alone = holders.len() == 1;
            (alone || !owned) && cores_of(&holders).all(|c| self.cores[c].l2.probe(line).is_some())
        });
        let known = self.cores.awake().all(|(number, core)| {
            let lines = core.l2.lines().chain(core.l1d.lines());
            lines.into_iter().all(|(line, state)| match filter.ownership(number, line) {
                None => false,
                Some(true) => true,
                Some(false) => state.is_shared() && !state.is_dirty(),
            })
        });
        truly_there && known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns two cores of the committed configuration.
    fn two_cores() -> MemorySystem {
        #[derive(serde::Deserialize)]
        struct Tables {
            memory: crate::MemoryConfig,
            semantics: crate::SemanticsConfig,
        }
        let text = include_str!("../../../configs/neoverse-n2/machine.toml");
        let tables: Tables = toml::from_str(text).expect("the committed configuration is complete");
        MemorySystem::new(&tables.memory, &tables.semantics, 2, 1)
    }

    #[test]
    fn a_line_in_the_filter_that_no_core_holds_is_not_coherent() {
        let mut memory = two_cores();
        assert!(memory.is_coherent());
        memory.uncore.grant(0, LineAddr(5), true, 0);
        assert!(!memory.is_coherent());
    }
}
