//! Decisions of the home nodes with two cores: holders, supplier and snooped cores of a line.
//!
//! A line is owned by one core, or clean in both. The home node's decision takes effect at once; a
//! core sees it before it next uses its memory. Lines that both cores read stay in the system level
//! cache.

use std::collections::BTreeSet;

use sim_core::{DataSource, Snoop};

use super::model::{Oracle, home_set};

/// Cores that have a line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holders {
    pub(crate) cores: BTreeSet<usize>,
    /// The only holder, which may write the line without a request.
    pub(crate) owned: bool,
}

/// Snoop that waits for a core.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuedSnoop {
    pub(crate) line: u64,
    pub(crate) snoop: Snoop,
    /// This core sends the data, modified or not.
    pub(crate) gives: bool,
}

/// Request of a core for a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CoherenceRequest {
    Read,
    Code,
    /// Data to write.
    Own,
    /// Ownership of a copy that the core holds.
    Upgrade,
    /// Ownership without data, to overwrite the line.
    Claim,
}

/// Answer of the home node.
pub(crate) struct Granted {
    pub(crate) source: DataSource,
    pub(crate) dirty: bool,
    pub(crate) shared: bool,
}

impl Oracle {
    /// Switches the core that acts.
    pub(crate) fn switch_to(&mut self, number: usize) {
        if let Some(other) = self.other.as_mut().filter(|other| other.number == number) {
            std::mem::swap(&mut self.core, other);
        }
    }

    pub(crate) fn drop_holder(&mut self, line: u64) {
        let number = self.core.number;
        let Some(holders) = self.holders.get_mut(&line) else { return };
        holders.cores.remove(&number);
        if holders.cores.is_empty() {
            self.holders.remove(&line);
        }
    }

    /// Returns whether the other core has the line, according to the home node.
    fn other_core_has(&self, line: u64) -> bool {
        let number = self.core.number;
        self.holders.get(&line).is_some_and(|h| h.cores.iter().any(|core| *core != number))
    }

    fn snoop_other(&mut self, snoop: QueuedSnoop) {
        if let Some(other) = &mut self.other {
            other.queued_snoops.push(snoop);
        }
    }

    /// Sends a `DC` by address of this core to the other if it has the line.
    pub(crate) fn broadcast(&mut self, line: u64, snoop: Snoop) {
        if self.other_core_has(line) {
            self.snoop_other(QueuedSnoop { line, snoop, gives: false });
            if snoop != Snoop::Clean {
                // Only this core can have the line now.
                let number = self.core.number;
                let holders = self.holders.entry(line).or_default();
                holders.cores.retain(|core| *core == number);
                if holders.cores.is_empty() {
                    self.holders.remove(&line);
                }
            }
        }
    }

    pub(crate) fn request_from_home(&mut self, line: u64, request: CoherenceRequest) -> Granted {
        self.external.remove(&line);
        let takes_away = matches!(
            request,
            CoherenceRequest::Own | CoherenceRequest::Upgrade | CoherenceRequest::Claim
        );
        let shared = self.other_core_has(line);
        let is_owned = shared && self.holders[&line].owned;
        let stays = request == CoherenceRequest::Code || (shared && !takes_away);
        let in_slc = self.read_slc(line, stays);
        let needs_data = !matches!(request, CoherenceRequest::Upgrade | CoherenceRequest::Claim);
        let gives = needs_data && shared && (is_owned || in_slc.is_none());
        let snoop = match request {
            CoherenceRequest::Read | CoherenceRequest::Code => Snoop::Forward,
            CoherenceRequest::Own | CoherenceRequest::Upgrade => Snoop::Unique,
            CoherenceRequest::Claim => Snoop::MakeInvalid,
        };
        if shared && (gives || takes_away) {
            self.snoop_other(QueuedSnoop { line, snoop, gives });
        }
        if gives && !takes_away {
            self.send_to_slc(line, false);
        }
        let alone = takes_away || (request == CoherenceRequest::Read && !shared);
        let number = self.core.number;
        self.make_room_for(line);
        let holders = self.holders.entry(line).or_default();
        if alone {
            holders.cores.clear();
        }
        holders.cores.insert(number);
        holders.owned = alone;
        Granted {
            source: match (gives, in_slc) {
                (true, _) => DataSource::Peer,
                (false, Some(_)) => DataSource::Slc,
                (false, None) => DataSource::Dram,
            },
            dirty: !stays && in_slc == Some(true),
            shared: self.other.is_some() && !alone,
        }
    }

    /// Requests a line that an external agent holds alone. A reader leaves it a clean copy, and the
    /// data returns to the home node; a writer leaves it none.
    pub(crate) fn request_from_agent(&mut self, line: u64, request: CoherenceRequest) -> Granted {
        self.request_from_home(line, request);
        let shared = request != CoherenceRequest::Own;
        if shared {
            self.holders.get_mut(&line).expect("it was granted").owned = false;
            self.send_to_slc(line, true);
        }
        Granted { source: DataSource::Peer, dirty: false, shared }
    }

    /// Makes room in the finite snoop filter. The replaced line, each way of a set in turn, leaves
    /// every cache.
    fn make_room_for(&mut self, line: u64) {
        if self.other.is_none() || self.holders.contains_key(&line) {
            return;
        }
        let filter = &self.config.snoop_filter;
        let sets = u64::from(filter.slice_lines / filter.ways);
        let set = home_set(line, self.config.slc.slices.into(), sets);
        let (ways, next) =
            self.filter.entry(set).or_insert_with(|| (vec![None; filter.ways as usize], 0));
        // The line may have had an entry before.
        ways.iter_mut().filter(|way| **way == Some(line)).for_each(|way| *way = None);
        let is_free = |way: &Option<u64>| way.is_none_or(|l| !self.holders.contains_key(&l));
        let way = ways.iter().position(is_free).unwrap_or_else(|| {
            let way = *next;
            *next = (way + 1) % ways.len();
            way
        });
        let Some(lost) = ways[way].replace(line) else { return };
        let Some(holders) = self.holders.remove(&lost) else { return };
        let snoop = QueuedSnoop { line: lost, snoop: Snoop::CleanInvalidate, gives: false };
        for core in [Some(&mut self.core), self.other.as_mut()].into_iter().flatten() {
            if holders.cores.contains(&core.number) {
                core.queued_snoops.push(snoop);
            }
        }
    }

    /// Returns whether a line in the system level cache is dirty, or `None` if it is absent.
    /// Removes it unless it `stays`.
    pub(crate) fn read_slc(&mut self, line: u64, stays: bool) -> Option<bool> {
        let slc = self.slc.as_mut()?;
        if !stays {
            return slc.remove(line).map(|line| line.dirty);
        }
        slc.find(line);
        slc.look(line).map(|line| line.dirty)
    }

    /// Answers the waiting snoops of this core, before its next operation.
    pub(crate) fn answer_queued_snoops(&mut self) {
        let queued = std::mem::take(&mut self.core.queued_snoops);
        for QueuedSnoop { line, snoop, gives } in queued.iter().copied() {
            self.drain_if_owned(line);
            self.answer_snoop(line, snoop, gives);
            if !matches!(snoop, Snoop::Shared | Snoop::Forward | Snoop::Clean) {
                self.drop_holder(line);
            }
        }
        // Bytes that wait for a lost line request it again after all answers.
        queued.iter().for_each(|snoop| self.drain_if_held(snoop.line));
    }
}
