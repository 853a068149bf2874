//! Links between crosspoints, each with a calendar of flits for every channel: one flit leaves in a
//! cycle of the mesh. Key `memory.mesh.link-contention`.
//!
//! A message books each link of its way when its first flit is there, and waits at a link that is
//! taken. Its other flits follow as soon as the link is free. Messages do not come in time order: a
//! later one may take an earlier free cycle. Not modeled: buffers and credits, so a message that
//! waits keeps no other one from its link; ports between agents and crosspoints.

use sim_core::Cycle;
use sim_core::chi::{Channel, Message};
use sim_core::mesh_counts::{Crosspoint, FloorPlan, Side};

/// Words of a calendar; it knows the last 16,384 cycles of the mesh, more than the flits of all
/// lines that 64 cores can ask for at once.
const WORDS: usize = 256;

/// Cycles of one word, a bit for each that is taken.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    number: u64,
    taken: u64,
}

/// Cycles of the mesh in which one channel of one link carries a flit.
#[derive(Clone, Debug)]
struct Calendar([Word; WORDS]);

impl Calendar {
    /// Books the first free cycle at or after `at`. Cycles older than the calendar have no limit.
    fn book(&mut self, at: u64) -> u64 {
        let bits = u64::from(u64::BITS);
        let (mut number, mut first) = (at / bits, at % bits);
        loop {
            let word = &mut self.0[number as usize % WORDS];
            if word.number < number {
                *word = Word { number, taken: 0 };
            } else if word.number > number {
                return number * bits + first;
            }
            let free = !word.taken & u64::MAX << first;
            if free != 0 {
                let bit = u64::from(free.trailing_zeros());
                word.taken |= 1 << bit;
                return number * bits + bit;
            }
            (number, first) = (number + 1, 0);
        }
    }
}

/// Links of one mesh.
#[derive(Clone, Debug)]
pub(crate) struct Links {
    /// By crosspoint, side and channel.
    calendars: Vec<Calendar>,
    plan: FloorPlan,
    hop_cycles: Cycle,
    /// Cycles of the mesh in 100 cycles of a core.
    clock_percent: u64,
}

impl Links {
    /// Creates idle links.
    pub(crate) fn new(plan: FloorPlan, hop_cycles: Cycle, clock_percent: u32) -> Links {
        let calendars = plan.crosspoints() * SIDES * Channel::ALL.len();
        let calendars = vec![Calendar([Word::default(); WORDS]); calendars];
        Links { calendars, plan, hop_cycles, clock_percent: clock_percent.into() }
    }

    /// Sends a message that is at the crosspoint `from` at `at`. Returns the cycles for which it
    /// waits at links. `stall` gets each crosspoint and side where a flit waits, and the cycles of
    /// the mesh.
    pub(crate) fn send(
        &mut self,
        (from, to): (Crosspoint, Crosspoint),
        message: Message,
        at: Cycle,
        mut stall: impl FnMut(usize, Side, u64),
    ) -> Cycle {
        let Links { calendars, plan, hop_cycles, clock_percent } = self;
        let (mut waited, mut now) = (0, at);
        plan.route(plan.number(from), plan.number(to), |crosspoint, side| {
            let channel = message.channel();
            let link = (crosspoint * SIDES + side as usize) * Channel::ALL.len();
            let calendar = &mut calendars[link + channel as usize];
            let first = now * *clock_percent / 100;
            let mut slot = calendar.book(first);
            let mut stalled = slot - first;
            if slot > first {
                let leaves = (slot * 100).div_ceil(*clock_percent);
                waited += leaves.saturating_sub(now);
                now = now.max(leaves);
            }
            for _ in 1..message.flits() {
                let next = calendar.book(slot + 1);
                stalled += next - (slot + 1);
                slot = next;
            }
            if stalled > 0 {
                stall(crosspoint, side, stalled);
            }
            now += *hop_cycles;
        });
        waited
    }
}

/// Sides of a crosspoint.
const SIDES: usize = Side::South as usize + 1;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(column: u32) -> Crosspoint {
        Crosspoint { column, row: 0 }
    }

    /// Three crosspoints in a row, with a mesh of half the clock of a core.
    fn links() -> Links {
        let cores = vec![at(0), at(1)];
        let (homes, memories) = (vec![at(2)], vec![at(2)]);
        let plan = FloorPlan { columns: 3, rows: 1, cores, homes, memories, corner: at(2) };
        Links::new(plan, 4, 50)
    }

    #[test]
    fn a_second_message_of_a_cycle_waits_one_cycle_of_the_mesh_on_its_first_link() {
        let mut links = links();
        let mut send = |to, message, when| links.send((at(0), at(to)), message, when, |_, _, _| ());
        assert_eq!(send(2, Message::ReadUnique, 100), 0);
        assert_eq!(send(2, Message::ReadUnique, 100), 2, "then each link is free when it comes");
        assert_eq!(send(1, Message::ReadUnique, 100), 4);
        assert_eq!(send(2, Message::CompAck, 100), 0, "another channel");
        assert_eq!(send(2, Message::ReadUnique, 106), 0, "the link is free again");
    }

    #[test]
    fn a_line_holds_a_link_for_two_cycles_and_may_meet_another_one_later() {
        let mut links = links();
        let mut send =
            |from, message, when| links.send((at(from), at(2)), message, when, |_, _, _| ());
        assert_eq!(send(0, Message::CompData, 100), 0);
        assert_eq!(send(0, Message::CompData, 100), 4);
        // The lines are at the second link from cycle 104 to 112.
        assert_eq!(send(1, Message::CompData, 104), 8);
    }

    #[test]
    fn a_message_of_an_odd_cycle_waits_less() {
        let mut links = links();
        let mut send = |when| links.send((at(0), at(1)), Message::ReadUnique, when, |_, _, _| ());
        assert_eq!([send(100), send(101), send(101)], [0, 1, 3]);
    }

    #[test]
    fn cycles_older_than_the_calendar_have_no_limit() {
        let mut calendar = Calendar([Word::default(); WORDS]);
        let now = 100_000;
        assert_eq!([calendar.book(now), calendar.book(now)], [now, now + 1]);
        let old = now - 64 * WORDS as u64;
        assert_eq!([calendar.book(old), calendar.book(old)], [old, old]);
        let full = [0; 200].map(|_| calendar.book(now + 64));
        assert_eq!(full.last(), Some(&(now + 64 + 199)));
    }
}
