//! Coherence among the cores, as the home node decides it. PMU guide 3.2.12.
//!
//! A line is either one core's alone, who may modify it without asking, or clean in several. The
//! filter's word counts at once, for the source and the time of the data; the cores that have to give
//! something up find a snoop in their mailbox. What several cores read stays in the system level cache.

use sim_core::{Cycle, LineAddr, Snoop};

use crate::uncore::Uncore;
use crate::uncore::snoop_filter::{Holders, OtherSharers, cores_of};
use crate::units::request::{CoherenceRequest, SnoopRequest, invalidates};

/// Where a line was found, the others told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HomeReply {
    /// The core that sends it.
    pub(crate) peer: Option<usize>,
    /// The system level cache had it.
    pub(crate) in_slc: bool,
    /// The system level cache gave it away, modified.
    pub(crate) dirty_from_slc: bool,
    /// Other cores may have a copy.
    pub(crate) shared: bool,
}

impl Uncore {
    /// Decides who gives a line, tells the other cores, and notes that `core` has it now. `at`: when
    /// the home node has looked it up.
    pub(crate) fn resolve(
        &mut self,
        core: usize,
        line: LineAddr,
        request: CoherenceRequest,
        at: Cycle,
    ) -> HomeReply {
        let mut others = std::mem::take(&mut self.others);
        let sharers = match &self.filter {
            Some(filter) => filter.other_sharers(core, line, &mut others),
            None => OtherSharers::Nothing,
        };
        let is_held = sharers != OtherSharers::Nothing;
        let stays = request == CoherenceRequest::Code || is_held && !request.takes_away();
        let slc = self.slc_read(line, stays);
        let peer_sends = sharers == OtherSharers::Owned || is_held && slc.is_none();
        let peer = cores_of(&others).next().filter(|_| peer_sends && request.needs_data());
        if is_held {
            self.snoop_others(&others, line, request, peer, at);
        }
        if peer.is_some() && !request.takes_away() {
            // Sharing is detected: from now on the home node can serve the line.
            self.keep_at_home(line, false, at);
        }
        let alone = request.takes_away() || request == CoherenceRequest::Read && !is_held;
        self.others = others;
        self.grant(core, line, alone, at);
        HomeReply {
            peer,
            in_slc: slc.is_some(),
            dirty_from_slc: !stays && slc == Some(true),
            shared: self.filter.is_some() && !alone,
        }
    }

    /// Snoops all other holders if the line is taken away, else only the one that gives it.
    fn snoop_others(
        &mut self,
        others: &Holders,
        line: LineAddr,
        request: CoherenceRequest,
        peer: Option<usize>,
        at: Cycle,
    ) {
        for other in cores_of(others) {
            let forward = peer == Some(other);
            if forward || request.takes_away() {
                let at = self.at_core(other, line, at);
                self.snoops.send(other, SnoopRequest { line, snoop: request.snoop(), forward, at });
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
            self.snoops.send(holder, SnoopRequest::new(Snoop::CleanInvalidate, lost, at));
        }
        self.others = holders;
    }

    /// Notes that a core no longer has a line.
    pub(crate) fn drop_holder(&mut self, core: usize, line: LineAddr) {
        if let Some(filter) = self.filter.as_mut() {
            filter.drop_holder(core, line);
        }
    }

    /// A maintenance operation by address of one core reaches the others that have the line.
    pub(crate) fn broadcast(&mut self, core: usize, snoop: Snoop, line: LineAddr, at: Cycle) {
        let mut others = std::mem::take(&mut self.others);
        if let Some(filter) = &self.filter {
            filter.other_sharers(core, line, &mut others);
            let home = self.at_home_node(core, line, at);
            for other in cores_of(&others) {
                let at = self.at_core(other, line, home);
                self.snoops.send(other, SnoopRequest::new(snoop, line, at));
                if invalidates(snoop) {
                    self.drop_holder(other, line);
                }
            }
        }
        self.others = others;
    }

    /// An agent that is no core snooped `core`.
    pub(crate) fn note_external_snoop(&mut self, core: usize, snoop: Snoop, line: LineAddr) {
        match snoop {
            // A writer has the line alone now: who wants it next gets it from there.
            Snoop::Unique | Snoop::MakeInvalid => self.set_external(line, true),
            // Maintenance takes the line out of every cache.
            Snoop::CleanInvalidate | Snoop::Invalidate => self.set_external(line, false),
            Snoop::Shared | Snoop::Forward | Snoop::Clean => {}
        }
        let Some(filter) = self.filter.as_mut() else { return };
        if invalidates(snoop) {
            filter.drop_holder(core, line);
        } else if snoop != Snoop::Clean && filter.ownership(core, line).is_some() {
            filter.share(line);
        }
    }
}
