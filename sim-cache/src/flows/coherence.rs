//! Coherence among the cores, as the home node decides it. PMU guide 3.2.12.
//!
//! A line is either one core's alone, who may modify it without asking, or clean in several. The
//! filter's word counts at once, for the source and the time of the data; the cores that have to give
//! something up find a snoop in their mailbox. What several cores read stays in the system level cache.

use sim_core::{Cycle, EventSink, LineAddr, Snoop};

use crate::core_memory::{CoreMemory, CorePort, MemorySystem};
use crate::flows::snoop::{SnoopRequest, invalidates};
use crate::uncore::Uncore;
use crate::uncore::snoop_filter::{Elsewhere, Holders, cores_of};

/// What a core wants of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// Its data, to read.
    Read,
    /// Its data, to execute: other cores are likely to want it too.
    Code,
    /// Its data, to write.
    Own,
    /// To write a copy that it has.
    Upgrade,
    /// To overwrite all of it.
    Claim,
}

impl Want {
    pub(crate) fn takes_away(self) -> bool {
        matches!(self, Want::Own | Want::Upgrade | Want::Claim)
    }

    fn needs_data(self) -> bool {
        !matches!(self, Want::Upgrade | Want::Claim)
    }

    /// What the other holders are told.
    fn snoop(self) -> Snoop {
        match self {
            Want::Read | Want::Code => Snoop::Forward,
            Want::Own | Want::Upgrade => Snoop::Unique,
            Want::Claim => Snoop::MakeInvalid,
        }
    }
}

/// Where a line was found, the others told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// The core that sends it.
    pub(crate) giver: Option<usize>,
    /// The system level cache had it.
    pub(crate) in_slc: bool,
    /// The system level cache gave it away, modified.
    pub(crate) taken_dirty: bool,
    /// Other cores may have a copy.
    pub(crate) shared: bool,
}

impl Uncore {
    /// Decides who gives a line, tells the other cores, and notes that `core` has it now. `at`: when
    /// the home node has looked it up.
    pub(crate) fn settle(&mut self, core: usize, line: LineAddr, want: Want, at: Cycle) -> Found {
        let mut others = std::mem::take(&mut self.others);
        let elsewhere = match &self.filter {
            Some(filter) => filter.elsewhere(core, line, &mut others),
            None => Elsewhere::Nothing,
        };
        let is_held = elsewhere != Elsewhere::Nothing;
        let stays = want == Want::Code || is_held && !want.takes_away();
        let slc = self.slc_read(line, stays);
        let gives = elsewhere == Elsewhere::Owned || is_held && slc.is_none();
        let giver = cores_of(&others).next().filter(|_| gives && want.needs_data());
        if is_held {
            self.tell(&others, line, want, giver, at);
        }
        if giver.is_some() && !want.takes_away() {
            // Sharing is detected: from now on the home node can serve the line.
            self.keep_at_home(line, false, at);
        }
        let alone = want.takes_away() || want == Want::Read && !is_held;
        self.others = others;
        self.grant(core, line, alone, at);
        Found {
            giver,
            in_slc: slc.is_some(),
            taken_dirty: !stays && slc == Some(true),
            shared: self.filter.is_some() && !alone,
        }
    }

    /// Snoops all other holders if the line is taken away, else only the one that gives it.
    fn tell(
        &mut self,
        others: &Holders,
        line: LineAddr,
        want: Want,
        giver: Option<usize>,
        at: Cycle,
    ) {
        for other in cores_of(others) {
            let forward = giver == Some(other);
            if forward || want.takes_away() {
                let at = self.at_core(other, line, at);
                self.mail.send(other, SnoopRequest { line, snoop: want.snoop(), forward, at });
            }
        }
    }

    /// Notes that a core has a line; a line that lost its entry for that leaves all caches.
    pub(crate) fn grant(&mut self, core: usize, line: LineAddr, alone: bool, at: Cycle) {
        let Some(filter) = self.filter.as_mut() else { return };
        let Some(lost) = filter.grant(core, line, alone, &mut self.others) else { return };
        let holders = std::mem::take(&mut self.others);
        for holder in cores_of(&holders) {
            let at = self.at_core(holder, lost, at);
            self.mail.send(holder, SnoopRequest::new(Snoop::CleanInvalidate, lost, at));
        }
        self.others = holders;
    }

    /// Notes that a core no longer has a line.
    pub(crate) fn left(&mut self, core: usize, line: LineAddr) {
        if let Some(filter) = self.filter.as_mut() {
            filter.left(core, line);
        }
    }

    /// A maintenance operation by address of one core reaches the others that have the line.
    pub(crate) fn broadcast(&mut self, core: usize, snoop: Snoop, line: LineAddr, at: Cycle) {
        let mut others = std::mem::take(&mut self.others);
        if let Some(filter) = &self.filter {
            filter.elsewhere(core, line, &mut others);
            let home = self.at_home_node(core, line, at);
            for other in cores_of(&others) {
                let at = self.at_core(other, line, home);
                self.mail.send(other, SnoopRequest::new(snoop, line, at));
                if invalidates(snoop) {
                    self.left(other, line);
                }
            }
        }
        self.others = others;
    }

    /// An agent that is no core snooped `core`.
    pub(crate) fn snooped_from_outside(&mut self, core: usize, snoop: Snoop, line: LineAddr) {
        match snoop {
            // A writer has the line alone now: who wants it next gets it from there.
            Snoop::Unique | Snoop::MakeInvalid => self.set_taken(line, true),
            // Maintenance takes the line out of every cache.
            Snoop::CleanInvalidate | Snoop::Invalidate => self.set_taken(line, false),
            Snoop::Shared | Snoop::Forward | Snoop::Clean => {}
        }
        let Some(filter) = self.filter.as_mut() else { return };
        if invalidates(snoop) {
            filter.left(core, line);
        } else if snoop != Snoop::Clean && filter.says(core, line).is_some() {
            filter.share(line);
        }
    }
}

impl CoreMemory {
    /// True when the newest data of a line is here.
    fn is_modified(&self, line: LineAddr) -> bool {
        let caches = [&self.l1d, &self.l2];
        caches.iter().any(|c| c.probe(line).is_some_and(|place| c.state(place).is_dirty()))
    }

    /// Drops every copy.
    fn forget(&mut self, line: LineAddr) {
        for cache in [&mut self.l1i, &mut self.l1d, &mut self.l2] {
            cache.remove(line);
        }
    }

    /// Answers the snoops that wait, before anything else is looked up.
    #[cold]
    #[inline(never)]
    pub(crate) fn answer_mail<S: EventSink>(&mut self, uncore: &mut Uncore, sink: &mut S) {
        let requests = uncore.mail.take(self.number);
        for request in &requests {
            if self.may_write(request.line) {
                self.drain_held_line(request.line, request.at, uncore, sink);
            }
            self.answer_snoop(*request, uncore, sink);
            if invalidates(request.snoop) {
                uncore.left(self.number, request.line);
            }
        }
        // Stores that are being merged into a line that went must ask for it again, behind all answers.
        for request in &requests {
            self.drain_held_line(request.line, request.at, uncore, sink);
        }
        uncore.mail.put_back(self.number, requests);
    }
}

impl MemorySystem {
    /// A setup put a line into the caches of a core: the others and the filter agree, silently.
    pub(crate) fn agree(&mut self, core: usize, line: LineAddr) {
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
                caches.forget(line);
                self.uncore.left(other, line);
            } else {
                is_held = true;
                caches.change_copies(line, |state| state.with_dirty(false).with_shared(true));
            }
        }
        self.uncore.grant(core, line, !is_held, 0);
        self.cores[core].change_copies(line, |state| state.with_shared(is_held));
    }

    /// Lets a core answer the snoops that wait for it, as it does before its next access.
    pub fn answer_snoops<S: EventSink>(&mut self, core: usize, sink: &mut S) {
        let CorePort { core, uncore, .. } = self.port(core);
        core.answer_mail(uncore, sink);
    }

    /// True when no line that one core may modify is anywhere else, and the snoop filter knows every
    /// line of every L2 and no other. Snoops that wait must have been answered.
    pub fn is_coherent(&self) -> bool {
        let Some(filter) = &self.uncore.filter else { return true };
        let truly_there = filter.entries().all(|(line, holders, owned)| {
            let alone = holders.len() == 1;
            (alone || !owned) && cores_of(&holders).all(|c| self.cores[c].l2.probe(line).is_some())
        });
        let known = self.cores.awake().all(|(number, core)| {
            let lines = core.l2.lines().chain(core.l1d.lines());
            lines.into_iter().all(|(line, state)| match filter.says(number, line) {
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

    /// Two cores of the committed configuration.
    fn two_cores() -> MemorySystem {
        #[derive(serde::Deserialize)]
        struct Tables {
            memory: crate::MemoryConfig,
            semantics: crate::SemanticsConfig,
        }
        let text = include_str!("../../configs/neoverse-n2.toml");
        let tables: Tables = toml::from_str(text).expect("the committed configuration is complete");
        MemorySystem::new(&tables.memory, &tables.semantics, 2, 1)
    }

    #[test]
    fn a_line_that_the_filter_knows_and_no_core_has_is_not_coherent() {
        let mut memory = two_cores();
        assert!(memory.is_coherent());
        memory.uncore.grant(0, LineAddr(5), true, 0);
        assert!(!memory.is_coherent());
    }
}
