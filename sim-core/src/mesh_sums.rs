//! Sums that the counts of a mesh keep on every run, whatever ran: requests, look-ups, snoops and
//! their answers, memory, and flits at every crosspoint.

use crate::chi::{Channel, Message};
use crate::mesh_counts::{Agent, AgentKind, DvmEvent, HomeEvent, MeshCounts, Side};

/// Answers of a core to a snoop.
const ANSWERS: [Message; 4] =
    [Message::SnpResp, Message::SnpRespFwded, Message::SnpRespData, Message::SnpRespDataFwded];

/// Returns a sentence for each sum that the counts break; none on any run of the model.
pub fn broken_sums(counts: &MeshCounts) -> Vec<String> {
    let equal = [
        ("requests at home nodes, by code and by event", requests(counts)),
        ("look-ups and accepted requests at home nodes", look_ups(counts)),
        ("requests sent back, by event and by message", retries(counts)),
        ("requests sent back and credits", credits(counts)),
        ("memory requests of home nodes and of memory controllers", memory(counts)),
        ("writes sent back by memory, by event and by message", memory_retries(counts)),
        ("writes sent back by memory and credits", memory_credits(counts)),
        ("memory requests that are not sent back and lines of memory", memory_lines(counts)),
        ("snoops by event", snoops_by_event(counts)),
        ("forwarding snoops by event and by code", forwarding(counts)),
        ("snoops and their answers", answers(counts)),
        ("lines read and lines received by cores", lines(counts)),
        ("requests at the DVM node, by code and by event", maintenance(counts)),
        ("requests at the DVM node and entries of its tracker", tracked(counts)),
        ("flits of the DVM node's snoops, by event and by message", dvm_snoops(counts)),
    ];
    let broken = equal.into_iter().filter(|(_, (one, other))| one != other);
    let broken = broken.map(|(sum, (one, other))| format!("{sum}: {one} and {other}"));
    broken.chain(flits(counts)).chain(parts(counts)).collect()
}

fn on(channel: Channel) -> impl Iterator<Item = Message> {
    Message::ALL.into_iter().filter(move |message| message.channel() == channel)
}

fn received(counts: &MeshCounts, kind: AgentKind, of: impl Iterator<Item = Message>) -> u64 {
    of.map(|message| counts.received_by(kind, message)).sum()
}

fn sent(counts: &MeshCounts, kind: AgentKind, of: impl Iterator<Item = Message>) -> u64 {
    of.map(|message| counts.sent_by(kind, message)).sum()
}

fn requests(counts: &MeshCounts) -> (u64, u64) {
    let by_code = received(counts, AgentKind::Home, on(Channel::Req));
    (by_code, counts.of_homes(HomeEvent::RequestReceived))
}

fn look_ups(counts: &MeshCounts) -> (u64, u64) {
    let all = counts.of_homes(HomeEvent::RequestReceived);
    let accepted = all.saturating_sub(counts.of_homes(HomeEvent::RequestRetried));
    (counts.of_homes(HomeEvent::CacheAccess), accepted)
}

fn retries(counts: &MeshCounts) -> (u64, u64) {
    let messages = counts.sent_by(AgentKind::Home, Message::RetryAck);
    (counts.of_homes(HomeEvent::RequestRetried), messages)
}

/// A credit answers each request that was sent back, by a home node of this chip or the other one.
fn credits(counts: &MeshCounts) -> (u64, u64) {
    let came = |message| counts.received_by(AgentKind::Core, message);
    (came(Message::RetryAck), came(Message::PCrdGrant))
}

fn memory(counts: &MeshCounts) -> (u64, u64) {
    let at_memory = received(counts, AgentKind::Memory, on(Channel::Req));
    (counts.of_homes(HomeEvent::MemoryRequest), at_memory)
}

fn memory_retries(counts: &MeshCounts) -> (u64, u64) {
    let messages = counts.sent_by(AgentKind::Memory, Message::RetryAck);
    (counts.of_homes(HomeEvent::MemoryRetried), messages)
}

fn memory_credits(counts: &MeshCounts) -> (u64, u64) {
    let came = |message| counts.received_by(AgentKind::Home, message);
    (came(Message::RetryAck), came(Message::PCrdGrant))
}

/// Memory sends the line of each read and receives that of each write.
fn memory_lines(counts: &MeshCounts) -> (u64, u64) {
    let sent_back = counts.sent_by(AgentKind::Memory, Message::RetryAck);
    let all = received(counts, AgentKind::Memory, on(Channel::Req));
    let read = counts.sent_by(AgentKind::Memory, Message::CompData);
    let written = counts.received_by(AgentKind::Memory, Message::NonCopyBackWrData);
    (all.saturating_sub(sent_back), read + written)
}

fn snoops_by_event(counts: &MeshCounts) -> (u64, u64) {
    let kinds = [
        HomeEvent::DirectedSnoop,
        HomeEvent::BroadcastSnoop,
        HomeEvent::EvictionDirectedSnoop,
        HomeEvent::EvictionBroadcastSnoop,
    ];
    let by_kind = kinds.into_iter().map(|event| counts.of_homes(event)).sum();
    (counts.of_homes(HomeEvent::SnoopSent), by_kind)
}

fn forwarding(counts: &MeshCounts) -> (u64, u64) {
    let forwards = [Message::SnpNotSharedDirtyFwd, Message::SnpUniqueFwd];
    let by_code = sent(counts, AgentKind::Home, forwards.into_iter());
    (counts.of_homes(HomeEvent::ForwardingSnoop), by_code)
}

fn answers(counts: &MeshCounts) -> (u64, u64) {
    let snoops = received(counts, AgentKind::Core, on(Channel::Snp));
    let answered = sent(counts, AgentKind::Core, ANSWERS.into_iter());
    (snoops, answered.saturating_add_signed(counts.unanswered))
}

/// Returns the snoops that cores received, and those that belong to a request of one core. They are
/// equal if no agent other than cores requests lines. Those of DVM operations and of stashes belong
/// to none.
pub fn snoops_of_pairs(counts: &MeshCounts) -> (u64, u64) {
    let others = [Message::SnpDVMOp, Message::SnpMakeInvalidStash];
    let of_pairs = on(Channel::Snp).filter(|message| !others.contains(message));
    let pairs = counts.pairs.all().map(|(_, pair)| pair.snoops + pair.evictions);
    (received(counts, AgentKind::Core, of_pairs), pairs.sum())
}

fn lines(counts: &MeshCounts) -> (u64, u64) {
    let reads = [Message::ReadNotSharedDirty, Message::ReadUnique];
    // A read that was sent back is sent again.
    let asked = sent(counts, AgentKind::Core, reads.into_iter()) - counts.reads_sent_again;
    let pulled = counts.sent_by(AgentKind::Io, Message::WriteUniqueFullStash);
    // Devices answer other requests.
    let of_devices = counts.sent_by(AgentKind::Device, Message::CompData);
    let came = counts.received_by(AgentKind::Core, Message::CompData) - of_devices;
    // A forwarded line arrives with the answer to its snoop.
    (asked + pulled, came.saturating_add_signed(counts.lines_under_way))
}

fn maintenance(counts: &MeshCounts) -> (u64, u64) {
    let kinds = [DvmEvent::Tlbi, DvmEvent::Pici, DvmEvent::Sync];
    let by_kind = kinds.into_iter().map(|event| counts.of_dvm(event)).sum();
    (counts.received(Agent::Dvm, Message::DVMOp), by_kind)
}

fn tracked(counts: &MeshCounts) -> (u64, u64) {
    let entries = counts.of_dvm(DvmEvent::TrackerAllocation);
    (counts.received(Agent::Dvm, Message::DVMOp), entries)
}

fn dvm_snoops(counts: &MeshCounts) -> (u64, u64) {
    let flits = counts.sent(Agent::Dvm, Message::SnpDVMOp) * Message::SnpDVMOp.flits();
    (counts.of_dvm(DvmEvent::SnoopFlit), flits)
}

/// Compares what enters each crosspoint with what leaves it.
fn flits(counts: &MeshCounts) -> Vec<String> {
    let plan = &counts.plan;
    let mut balance = vec![[0i64; 4]; plan.crosspoints()];
    for channel in Channel::ALL {
        for (at, sides) in counts.flits_by_side(channel).into_iter().enumerate() {
            for (side, flits) in
                [Side::East, Side::West, Side::North, Side::South].iter().zip(sides)
            {
                balance[at][channel as usize] -= flits as i64;
                if flits > 0 {
                    balance[neighbor(counts, at, *side)][channel as usize] += flits as i64;
                }
            }
        }
    }
    for agent in plan.all() {
        let at = plan.number(plan.crosspoint(agent));
        for message in Message::ALL {
            let entered =
                counts.sent(agent, message) as i64 - counts.received(agent, message) as i64;
            balance[at][message.channel() as usize] += entered * message.flits() as i64;
        }
    }
    let broken = balance.iter().enumerate().filter(|(_, channels)| **channels != [0; 4]);
    let sentence = |(at, channels): (usize, &[i64; 4])| {
        format!("flits at crosspoint {at}: {channels:?} too many")
    };
    broken.map(sentence).collect()
}

fn neighbor(counts: &MeshCounts, at: usize, side: Side) -> usize {
    let columns = counts.plan.columns as usize;
    match side {
        Side::East => at + 1,
        Side::West => at - 1,
        Side::North => at + columns,
        Side::South => at - columns,
    }
}

/// Compares parts with their whole at each home node.
fn parts(counts: &MeshCounts) -> Vec<String> {
    let pairs = [
        (HomeEvent::CacheMiss, HomeEvent::CacheAccess),
        (HomeEvent::FilterHit, HomeEvent::CacheAccess),
        (HomeEvent::FillInvalidWay, HomeEvent::CacheFill),
        (HomeEvent::CacheEviction, HomeEvent::CacheFill),
        (HomeEvent::SharedEviction, HomeEvent::FilterEviction),
        (HomeEvent::StashDataPull, HomeEvent::StashSnoop),
        (HomeEvent::RequestRetried, HomeEvent::RequestReceived),
        (HomeEvent::MemoryRetried, HomeEvent::MemoryRequest),
        (HomeEvent::AddressHazard, HomeEvent::RequestReceived),
        (HomeEvent::AtomicHazard, HomeEvent::AddressHazard),
    ];
    let slices = 0..counts.plan.homes.len() as u32;
    let check = |slice| {
        pairs.iter().filter_map(move |(part, whole)| {
            let (few, all) = (counts.of_home(slice, *part), counts.of_home(slice, *whole));
            let sentence =
                || format!("{:?}: {part:?} {few} of {all} {whole:?}", Agent::Home(slice));
            (few > all).then(sentence)
        })
    };
    slices.flat_map(check).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::LineAddr;
    use crate::mesh_counts::{Crosspoint, FloorPlan};

    fn counts() -> MeshCounts {
        let at = |column| Crosspoint { column, row: 0 };
        let (cores, homes, memories) = (vec![at(0)], vec![at(1)], vec![at(1)]);
        MeshCounts::new(FloorPlan { columns: 2, rows: 1, cores, homes, memories, corner: at(1) })
    }

    #[test]
    fn a_whole_read_keeps_every_sum_and_a_part_of_it_breaks_some() {
        let (core, home) = (Agent::Core(0), Agent::Home(0));
        let mut counts = counts();
        counts.send(core, home, Message::ReadUnique);
        let broken = broken_sums(&counts);
        assert!(broken[0].starts_with("requests at home nodes, by code and by event: 1 and 0"));
        counts.raise(0, HomeEvent::RequestReceived);
        counts.raise(0, HomeEvent::CacheAccess);
        counts.send(home, core, Message::CompData);
        assert_eq!(broken_sums(&counts), Vec::<String>::new());
        counts.raise(0, HomeEvent::MemoryRequest);
        counts.raise(0, HomeEvent::CacheFill);
        counts.raise(0, HomeEvent::FillInvalidWay);
        counts.raise(0, HomeEvent::FillInvalidWay);
        assert_eq!(broken_sums(&counts).len(), 2, "{:?}", broken_sums(&counts));
    }

    #[test]
    fn a_write_that_memory_sends_back_is_no_line() {
        let (home, memory) = (Agent::Home(0), Agent::Memory(0));
        let mut counts = counts();
        for _ in 0..2 {
            counts.raise(0, HomeEvent::MemoryRequest);
            counts.send(home, memory, Message::WriteNoSnpFull);
        }
        counts.raise(0, HomeEvent::MemoryRetried);
        counts.send(memory, home, Message::RetryAck);
        let lines = "memory requests that are not sent back and lines of memory: 1 and 0";
        let credits = "writes sent back by memory and credits: 1 and 0";
        assert_eq!(broken_sums(&counts), [credits, lines]);
        counts.send(memory, home, Message::PCrdGrant);
        counts.send(home, memory, Message::NonCopyBackWrData);
        assert_eq!(broken_sums(&counts), Vec::<String>::new());
    }

    #[test]
    fn a_snoop_needs_an_answer_or_is_under_way() {
        let mut counts = counts();
        counts.send(Agent::Home(0), Agent::Core(0), Message::SnpUnique);
        assert_eq!(broken_sums(&counts), ["snoops and their answers: 1 and 0"]);
        assert_eq!(snoops_of_pairs(&counts), (1, 0));
        counts.pairs.snoop(1, 0, LineAddr(0));
        assert_eq!(snoops_of_pairs(&counts), (1, 1));
        counts.unanswered = 1;
        assert_eq!(broken_sums(&counts), Vec::<String>::new());
    }
}
