//! Coherence among the cores, as the home node decides it. PMU guide 3.2.12.
//!
//! A line is either owned by one core, which may modify it without a request, or clean in several.
//! The filter's decision takes effect at once for the source and the time of the data. Cores that
//! lose a copy find a snoop in their queue. Lines that several cores read stay in the system level
//! cache.

use sim_core::chi::Message;
use sim_core::mesh_counts::{Agent, HomeEvent};
use sim_core::{Cycle, LineAddr, Snoop};

use crate::uncore::Uncore;
use crate::uncore::quantum_log::Logged;
use crate::uncore::snoop_filter::{Holders, OtherSharers, cores_of};
use crate::units::request::{CoherenceRequest, SnoopRequest, invalidates};

/// Reply of the home node to a coherence request; the other holders have been snooped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HomeReply {
    /// Core that sends the line.
    pub(crate) peer: Option<usize>,
    /// Cycle in which the snoop is at that core.
    pub(crate) peer_snooped: Cycle,
    /// The system level cache held the line.
    pub(crate) in_slc: bool,
    /// The system level cache transferred modified data.
    pub(crate) dirty_from_slc: bool,
    /// Other cores may have a copy.
    pub(crate) shared: bool,
    /// The snoop filter has an entry for the line. False while the mesh is not counted.
    pub(crate) in_filter: bool,
    /// Cores that were snooped.
    pub(crate) snooped: usize,
    /// A core sends the line to the requester itself.
    pub(crate) forwards: bool,
}

impl Uncore {
    /// Selects the supplier of a line, snoops the other cores, and records `core` as a holder. `at`
    /// is the cycle in which the home node has looked the line up.
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
        // A filter of one core is not modeled. It would find the lines that the core holds.
        let upgrades = request == CoherenceRequest::Upgrade;
        let finds = || self.filter.as_ref().map_or(upgrades, |filter| filter.has(line));
        let in_filter = self.traffic.is_counting() && finds();
        let stays = request == CoherenceRequest::Code || is_held && !request.takes_away();
        let slc = self.slc_read(line, stays);
        let peer_sends = sharers == OtherSharers::Owned || is_held && slc.is_none();
        let peer = cores_of(&others).next().filter(|_| peer_sends && request.needs_data());
        // A writer gets the line from its owner, but not from one of several that share it.
        let forwards = peer.is_some()
            && request.takes_data_itself()
            && (!request.takes_away() || others.len() == 1);
        let by = forwards.then_some(core as u32);
        let (snooped, peer_snooped) = if is_held {
            self.snoop_others((core, by), &others, line, request, peer, at)
        } else {
            (0, at)
        };
        if peer.is_some() && !request.takes_away() {
            // Sharing is detected: the home node can serve the line from now on.
            self.keep_at_home(line, false, at);
        }
        let alone = request.takes_away() || request == CoherenceRequest::Read && !is_held;
        self.others = others;
        self.grant(core, line, alone, at);
        HomeReply {
            peer,
            peer_snooped,
            in_slc: slc.is_some(),
            dirty_from_slc: !stays && slc == Some(true),
            shared: self.filter.is_some() && !alone,
            in_filter,
            snooped,
            forwards,
        }
    }

    /// Snoops all other holders if the request of `core` takes the line away, otherwise only the
    /// supplying peer, which sends the line to `receiver`. Returns the number of snooped cores, and
    /// when the snoop is at the peer.
    fn snoop_others(
        &mut self,
        (core, receiver): (usize, Option<u32>),
        others: &Holders,
        line: LineAddr,
        request: CoherenceRequest,
        peer: Option<usize>,
        at: Cycle,
    ) -> (usize, Cycle) {
        let (mut snooped, mut peer_snooped) = (0, at);
        for other in cores_of(others) {
            let forward = peer == Some(other);
            if forward || request.takes_away() {
                let to = receiver.filter(|_| forward);
                let message = request.snoop_message(to.is_some());
                let at = self.sent_to_core(other, line, message, at);
                let snoop = SnoopRequest::new(request.snoop(), line, at);
                if forward {
                    peer_snooped = at;
                }
                self.snoop(other, SnoopRequest { forward, requester: to, message, ..snoop });
                self.count_pair_snoop(core, other, line);
                snooped += 1;
                if to.is_some() {
                    self.raise(line, HomeEvent::ForwardingSnoop);
                }
            }
        }
        (snooped, peer_snooped)
    }

    /// Records a core as a holder of a line. If another line loses its filter entry to it, that
    /// line leaves all caches.
    pub(crate) fn grant(&mut self, core: usize, line: LineAddr, alone: bool, at: Cycle) {
        let Some(filter) = self.filter.as_mut() else { return };
        let Some(lost) = filter.grant(core, line, alone, &mut self.others) else { return };
        let holders = std::mem::take(&mut self.others);
        for holder in cores_of(&holders) {
            let at = self.at_core(holder, lost, at);
            let snoop = SnoopRequest::new(Snoop::CleanInvalidate, lost, at);
            self.snoop(holder, SnoopRequest { evicts: true, ..snoop });
            self.count_pair_eviction(core, holder, lost);
        }
        self.count_eviction(lost, holders.len());
        self.others = holders;
    }

    /// Records that a core no longer holds a line.
    pub(crate) fn drop_holder(&mut self, core: usize, line: LineAddr) {
        self.log(core, line, None, Logged::Drop);
        self.forget_holder(core, line);
    }

    /// Removes a core from the holders of a line.
    pub(crate) fn forget_holder(&mut self, core: usize, line: LineAddr) {
        if let Some(filter) = self.filter.as_mut() {
            filter.drop_holder(core, line);
        }
    }

    /// Sends a maintenance operation by address to the other cores that hold the line. `held` says
    /// whether this core held it before. Returns when the answer is at the core.
    pub(crate) fn broadcast(
        &mut self,
        core: usize,
        snoop: Snoop,
        line: LineAddr,
        held: bool,
        at: Cycle,
    ) -> Cycle {
        self.log(core, line, Some(at), Logged::Maintenance { snoop, held });
        let mut others = std::mem::take(&mut self.others);
        let request = maintenance_message(snoop);
        self.request(Agent::Core(core as u32), line, request);
        let accepted = self.admit(core, line, request, at);
        let mut last = accepted.home;
        let in_filter = held || self.filter.as_ref().is_some_and(|filter| filter.has(line));
        self.count_look_up(line, self.slc_state(line).is_some(), in_filter);
        if let Some(filter) = &self.filter {
            filter.other_sharers(core, line, &mut others);
            for other in cores_of(&others) {
                let message = SnoopRequest::new(snoop, line, at).message;
                let at = self.sent_to_core(other, line, message, accepted.home);
                self.snoop(other, SnoopRequest::new(snoop, line, at));
                self.count_pair_snoop(core, other, line);
                last = last.max(self.snoop_answered(other, line, at));
                if invalidates(snoop) {
                    self.forget_holder(other, line);
                }
            }
        }
        self.count_snoops(line, others.len());
        self.others = others;
        self.end_maintenance(core, line, accepted, last)
    }

    /// Updates the directory after an external agent snooped `core`.
    pub(crate) fn note_external_snoop(&mut self, core: usize, snoop: Snoop, line: LineAddr) {
        match snoop {
            // A writer now holds the line alone and supplies the next request.
            Snoop::Unique | Snoop::MakeInvalid => self.set_external(line, true),
            // Maintenance removes the line from every cache.
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

/// Returns the request of maintenance by address.
fn maintenance_message(snoop: Snoop) -> Message {
    match snoop {
        Snoop::Clean => Message::CleanShared,
        Snoop::Invalidate => Message::MakeInvalid,
        _ => Message::CleanInvalid,
    }
}
