//! Ground-truth values of the mesh: what its agents did and what cores received, as the model
//! counts both where they happen.
//!
//! Many of them are the counts that the PMU returns as well. Misses, hits of the snoop filter,
//! hazards and occasions to snoop are events of home nodes. Requests and snoops by kind are in the
//! table of messages that watchpoints read. For these, a comparison checks the formula and not the
//! event. [`basis`] says which values are counted in another place.

use sim_core::LINE_BYTES;
use sim_core::chi::{Channel, Message};
use sim_core::mesh_counts::{AgentKind, HomeEvent, MeshCounts};

use crate::truth::{Truth, Truths};

/// Bytes of a data flit.
const FLIT_BYTES: u64 = 32;

/// Lines that cores read from outside, by their supplier, as the cores count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SuppliedLines {
    /// From the system level cache.
    pub slc: u64,
    /// From another core.
    pub peer: u64,
    /// From memory.
    pub memory: u64,
    /// From another chip.
    pub remote: u64,
}

impl SuppliedLines {
    /// Returns the lines of all suppliers.
    pub fn all(&self) -> u64 {
        self.slc + self.peer + self.memory + self.remote
    }
}

/// Relation of a ground-truth value to the events of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// The truth is counted in another place than the events.
    Independent,
    /// A part of the truth is counted in another place.
    Partly,
    /// The truth is a sum of the counts that the PMU returns.
    SameCounts,
}

impl Basis {
    /// Returns the sentence for a verdict.
    pub fn sentence(self) -> &'static str {
        match self {
            Basis::Independent => "its truth is counted in another place than its events",
            Basis::Partly => {
                "a part of its truth is counted in another place than its events; for the other \
                 part, this checks the formula only"
            }
            Basis::SameCounts => {
                "its truth is the same count as the event: this checks the formula only"
            }
        }
    }
}

/// Returns the relation of a truth to a formula with events of these names, without its divisors.
/// That of a quotient is the one of its dividend.
pub fn basis(truth: Truth, events: &[&str]) -> Basis {
    let has = |part: &str| events.iter().any(|name| name.to_ascii_lowercase().contains(part));
    let reads_messages = has("_wp_") || has("watchpoint");
    // The table of messages against an event that home nodes raise.
    let against = |event: &str| match has(event) && !reads_messages {
        true => Basis::Independent,
        false => Basis::SameCounts,
    };
    match truth.quotient().map_or(truth, |quotient| quotient.part) {
        Truth::MeshLines
        | Truth::MeshSlcLines
        | Truth::MeshPeerLines
        | Truth::MeshMemoryLines
        | Truth::MeshRemoteLines
        | Truth::MeshSlcBytes
        | Truth::MeshPeerBytes => Basis::Independent,
        Truth::MeshMovedLines
        | Truth::MeshCoreBytes
        | Truth::MeshSlcBothBytes
        | Truth::MeshOtherAccepted => Basis::Partly,
        Truth::MeshSentBack => against("pocq_retry"),
        Truth::MeshMemorySentBack => against("mc_retries"),
        Truth::MeshMemoryRequests
        | Truth::MeshMemoryReads
        | Truth::MeshMemoryBytes
        | Truth::MeshMemoryReadBytes => against("mc_reqs"),
        Truth::MeshForwards => against("snp_fwded"),
        _ => Basis::SameCounts,
    }
}

/// Returns the ground-truth values of a run of some seconds.
pub fn truths(counts: &MeshCounts, lines: &SuppliedLines, seconds: f64) -> Truths {
    let mut truths = Truths::default();
    truths.set(Truth::MeshSeconds, seconds);
    truths.set(Truth::MeshCycles, counts.cycles as f64);
    let all = requests(counts).into_iter().chain(look_ups(counts)).chain(moved(counts, lines));
    for (truth, value) in all.chain(codes(counts)) {
        truths.set(truth, value as f64);
    }
    truths
}

fn on(channel: Channel) -> impl Iterator<Item = Message> {
    Message::ALL.into_iter().filter(move |message| message.channel() == channel)
}

fn sent(counts: &MeshCounts, kind: AgentKind, channel: Channel) -> u64 {
    on(channel).map(|message| counts.sent_by(kind, message)).sum()
}

fn received(counts: &MeshCounts, kind: AgentKind, channel: Channel) -> u64 {
    on(channel).map(|message| counts.received_by(kind, message)).sum()
}

/// Returns the data flits that agents of a kind sent or received.
fn flits(count: impl Fn(Message) -> u64) -> u64 {
    on(Channel::Dat).map(|message| message.flits() * count(message)).sum()
}

/// Requests by sender and receiver.
fn requests(counts: &MeshCounts) -> Vec<(Truth, u64)> {
    let by = |kind| sent(counts, kind, Channel::Req);
    let at = |kind| received(counts, kind, Channel::Req);
    let (cores, io, remote) = (by(AgentKind::Core), by(AgentKind::Io), by(AgentKind::Gateway));
    vec![
        (Truth::MeshCoreRequests, cores),
        (Truth::MeshIoRequests, io),
        (Truth::MeshRemoteRequests, remote),
        (Truth::MeshRequests, cores + io + remote),
        (Truth::MeshArrivals, at(AgentKind::Home)),
        (Truth::MeshMemoryReads, counts.received_by(AgentKind::Memory, Message::ReadNoSnp)),
        (Truth::MeshMemoryRequests, at(AgentKind::Memory)),
        (Truth::MeshMemorySentBack, counts.sent_by(AgentKind::Memory, Message::RetryAck)),
        (Truth::MeshDeviceRequests, at(AgentKind::Device)),
        (Truth::MeshGatewayRequests, at(AgentKind::Gateway)),
    ]
}

/// Look-ups of home nodes, and their snoops.
fn look_ups(counts: &MeshCounts) -> Vec<(Truth, u64)> {
    let event = |event| counts.of_homes(event);
    let sent_back = counts.sent_by(AgentKind::Home, Message::RetryAck);
    let accepted = received(counts, AgentKind::Home, Channel::Req).saturating_sub(sent_back);
    let (misses, hits) = (event(HomeEvent::CacheMiss), event(HomeEvent::FilterHit));
    let forwarding = [Message::SnpNotSharedDirtyFwd, Message::SnpUniqueFwd];
    let occasions = [
        HomeEvent::DirectedSnoop,
        HomeEvent::BroadcastSnoop,
        HomeEvent::EvictionDirectedSnoop,
        HomeEvent::EvictionBroadcastSnoop,
    ];
    let sent_by_homes = |message| counts.sent_by(AgentKind::Home, message);
    vec![
        (Truth::MeshSentBack, sent_back),
        (Truth::MeshAccepted, accepted),
        (Truth::MeshHazards, event(HomeEvent::AddressHazard)),
        (Truth::MeshSlcMisses, misses),
        (Truth::MeshSlcHits, accepted.saturating_sub(misses)),
        (Truth::MeshFilterHits, hits),
        (Truth::MeshFilterMisses, accepted.saturating_sub(hits)),
        (Truth::MeshSnooping, occasions.into_iter().map(event).sum()),
        (Truth::MeshSnoops, sent(counts, AgentKind::Home, Channel::Snp)),
        (Truth::MeshForwards, forwarding.into_iter().map(sent_by_homes).sum()),
    ]
}

/// Lines and bytes that moved.
fn moved(counts: &MeshCounts, lines: &SuppliedLines) -> Vec<(Truth, u64)> {
    let written = counts.sent_by(AgentKind::Core, Message::CopyBackWrData);
    let moved = lines.all() + written;
    let of = |kind| {
        let down = flits(|message| counts.received_by(kind, message)) * FLIT_BYTES;
        (down, flits(|message| counts.sent_by(kind, message)) * FLIT_BYTES)
    };
    let (memory, io) = (of(AgentKind::Memory), of(AgentKind::Io));
    let sent_back = counts.sent_by(AgentKind::Home, Message::RetryAck);
    let accepted = received(counts, AgentKind::Home, Channel::Req).saturating_sub(sent_back);
    let (asked, most) = asked(counts);
    vec![
        (Truth::MeshAskedLines, asked),
        (Truth::MeshAskedMostLines, most),
        (Truth::MeshAskedBytes, asked * LINE_BYTES),
        (Truth::MeshAskedMostBytes, most * LINE_BYTES),
        (Truth::MeshLines, lines.all()),
        (Truth::MeshSlcLines, lines.slc),
        (Truth::MeshPeerLines, lines.peer),
        (Truth::MeshMemoryLines, lines.memory),
        (Truth::MeshRemoteLines, lines.remote),
        (Truth::MeshOtherAccepted, accepted.saturating_sub(lines.peer + lines.memory)),
        (Truth::MeshWrittenLines, written),
        (Truth::MeshMovedLines, moved),
        (Truth::MeshCoreBytes, moved * LINE_BYTES),
        (Truth::MeshSlcBytes, lines.slc * LINE_BYTES),
        (Truth::MeshPeerBytes, lines.peer * LINE_BYTES),
        (Truth::MeshSlcBothBytes, (lines.slc + written) * LINE_BYTES),
        (Truth::MeshMemoryReadBytes, memory.1),
        (Truth::MeshMemoryBytes, memory.0 + memory.1),
        (Truth::MeshIoReadBytes, io.0),
        (Truth::MeshIoWrittenBytes, io.1),
    ]
}

/// Returns the requests of cores that may move a line: the least and the most that this may mean.
fn asked(counts: &MeshCounts) -> (u64, u64) {
    use Message::{MakeReadUnique, ReadNotSharedDirty, ReadUnique, WriteBackFull};
    let sum = |all: &[Message]| -> u64 {
        all.iter().map(|own| counts.sent_by(AgentKind::Core, *own)).sum()
    };
    let least = sum(&[ReadNotSharedDirty, ReadUnique, MakeReadUnique, WriteBackFull]);
    (least, least + sum(&[Message::WriteEvictOrEvict, Message::WriteCleanFull]))
}

/// Requests at home nodes by their operation.
fn codes(counts: &MeshCounts) -> Vec<(Truth, u64)> {
    let at = |message| counts.received_by(AgentKind::Home, message);
    vec![
        (Truth::MeshReads, at(Message::ReadNotSharedDirty)),
        (Truth::MeshReadUniques, at(Message::ReadUnique)),
        (Truth::MeshMakeReadUniques, at(Message::MakeReadUnique)),
        (Truth::MeshMakeUniques, at(Message::MakeUnique)),
        (Truth::MeshWriteBacks, at(Message::WriteBackFull)),
        (Truth::MeshWriteEvicts, at(Message::WriteEvictOrEvict)),
        (Truth::MeshEvicts, at(Message::Evict)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::mesh_counts::{Agent, Crosspoint, FloorPlan};
    use std::collections::BTreeSet;

    fn counts() -> MeshCounts {
        let at = |column| Crosspoint { column, row: 0 };
        let (cores, homes, memories) = (vec![at(0); 2], vec![at(1)], vec![at(1)]);
        MeshCounts::new(FloorPlan { columns: 2, rows: 1, cores, homes, memories, corner: at(1) })
    }

    /// Three reads: one from memory, one from the cache, one from another core; and a write-back.
    #[test]
    fn a_few_requests_have_exact_values() {
        let (core, home, memory) = (Agent::Core(0), Agent::Home(0), Agent::Memory(0));
        let mut counts = counts();
        for _ in 0..3 {
            counts.send(core, home, Message::ReadNotSharedDirty);
        }
        counts.raise(0, HomeEvent::CacheMiss);
        counts.raise(0, HomeEvent::CacheMiss);
        counts.send(home, memory, Message::ReadNoSnp);
        counts.send(memory, home, Message::CompData);
        counts.send(home, Agent::Core(1), Message::SnpNotSharedDirtyFwd);
        counts.raise(0, HomeEvent::FilterHit);
        counts.send(core, home, Message::WriteBackFull);
        counts.send(core, home, Message::CopyBackWrData);
        counts.cycles = 1000;
        let lines = SuppliedLines { slc: 1, peer: 1, memory: 1, remote: 0 };
        let truths = truths(&counts, &lines, 1e-6);
        for (truth, value) in [
            (Truth::MeshCoreRequests, 4.0),
            (Truth::MeshAccepted, 4.0),
            (Truth::MeshSlcMissRatio, 0.5),
            (Truth::MeshFilterHitRatio, 0.25),
            (Truth::MeshBySlc, 1.0 / 3.0),
            (Truth::MeshServedBySlc, 0.5),
            (Truth::MeshMemoryEach, 0.25),
            (Truth::MeshMemoryReadsEach, 0.25),
            (Truth::MeshMemoryReadBandwidth, 64e6),
            (Truth::MeshSlcBothBandwidth, 128e6),
            (Truth::MeshMovedRate, 4.0),
            (Truth::MeshCoreBandwidth, 256e6),
            (Truth::MeshMemoryBandwidth, 64e6),
            (Truth::MeshOfCores, 1.0),
            (Truth::MeshWriteBackRate, 1.0),
        ] {
            let found = truths.value(truth).expect("there is a whole");
            assert!((found - value).abs() < 1e-9 * value, "{truth:?}: {found}");
        }
    }

    /// A read and a write, which was sent back once.
    #[test]
    fn a_write_that_memory_sent_back_is_a_third_of_three_requests() {
        let (home, memory) = (Agent::Home(0), Agent::Memory(0));
        let mut counts = counts();
        let requests = [Message::ReadNoSnp, Message::WriteNoSnpFull, Message::WriteNoSnpFull];
        for request in requests {
            counts.send(home, memory, request);
        }
        counts.send(memory, home, Message::RetryAck);
        counts.cycles = 500;
        let truths = truths(&counts, &SuppliedLines::default(), 1.0);
        assert_eq!(truths.value(Truth::MeshMemorySentBackRatio), Some(1.0 / 3.0));
        assert_eq!(truths.value(Truth::MeshMemorySentBackRate), Some(2.0));
    }

    /// Two reads, one write-back, a WriteEvictOrEvict and a WriteCleanFull; an atomic.
    #[test]
    fn requests_that_may_move_a_line_have_a_least_and_a_most() {
        let (core, home) = (Agent::Core(0), Agent::Home(0));
        let mut counts = counts();
        for message in [
            Message::ReadNotSharedDirty,
            Message::ReadUnique,
            Message::WriteBackFull,
            Message::WriteEvictOrEvict,
            Message::WriteCleanFull,
            Message::AtomicLoad,
        ] {
            counts.send(core, home, message);
        }
        let truths = truths(&counts, &SuppliedLines::default(), 1.0);
        assert_eq!(truths.value(Truth::MeshAskedLines), Some(3.0));
        assert_eq!(truths.value(Truth::MeshAskedMostBytes), Some(5.0 * 64.0));
    }

    /// Lines of peers that came without a forwarding snoop, and lines of another chip.
    #[test]
    fn shares_of_the_accepted_requests_add_up_to_one() {
        let mut counts = counts();
        for _ in 0..10 {
            counts.send(Agent::Core(0), Agent::Home(0), Message::ReadUnique);
        }
        counts.send(Agent::Home(0), Agent::Core(1), Message::SnpUniqueFwd);
        let lines = SuppliedLines { slc: 1, peer: 3, memory: 2, remote: 4 };
        let truths = truths(&counts, &lines, 1.0);
        let parts = [Truth::MeshServedBySlc, Truth::MeshServedByPeers, Truth::MeshServedByMemory];
        let parts = parts.map(|truth| truths.value(truth).expect("ten requests"));
        assert!((parts.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{parts:?}");
        assert_eq!(parts[1], 0.3);
    }

    #[test]
    fn a_truth_is_independent_only_of_events_that_count_elsewhere() {
        let retry = |name| basis(Truth::MeshSentBackRatio, &[name, "PMU_HNF_POCQ_REQS_RECVD"]);
        assert_eq!(retry("PMU_HNF_POCQ_RETRY"), Basis::Independent);
        assert_eq!(retry("CMN_HNF_WP_TXRSP_RETRYACK_COUNT"), Basis::SameCounts);
        let of_memory = |name| basis(Truth::MeshMemorySentBackRate, &[name]);
        assert_eq!(of_memory("PMU_HNF_MC_RETRIES"), Basis::Independent);
        assert_eq!(of_memory("CMN_SNF_WP_TXRSP_RETRY_COUNT"), Basis::SameCounts);
        assert_eq!(basis(Truth::MeshPeerBandwidth, &["PMU_HNF_SNP_FWDED"]), Basis::Independent);
        assert_eq!(basis(Truth::MeshMemoryRate, &["PMU_HNF_MC_REQS"]), Basis::Independent);
        assert_eq!(basis(Truth::MeshMemoryRate, &["CMN_SNF_WP_RXREQ_COUNT"]), Basis::SameCounts);
        assert_eq!(basis(Truth::MeshSlcMissRatio, &["PMU_HNF_CACHE_MISS"]), Basis::SameCounts);
    }

    #[test]
    fn every_value_has_one_name_and_a_sentence() {
        let all = || Truth::ALL.iter().chain(Truth::OF_A53_ONLY).chain(Truth::OF_MESH);
        let names: BTreeSet<&str> = all().map(|truth| truth.name()).collect();
        assert_eq!(names.len(), all().count());
        for truth in Truth::OF_MESH {
            assert!(truth.definition().ends_with('.') && truth.name().starts_with("mesh."));
            assert_eq!(Truth::of_mesh(truth.name()), Some(*truth));
            if let Some(quotient) = truth.quotient() {
                let parts = [quotient.part, quotient.whole];
                assert!(parts.iter().all(|part| part.quotient().is_none()), "{truth:?}");
            }
        }
        assert_eq!(Truth::of_mesh("ipc"), None);
        assert_eq!(Truth::from_name("mesh.slc.miss_ratio"), None, "a value of the mesh");
    }
}
