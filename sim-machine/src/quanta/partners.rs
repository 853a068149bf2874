//! Threads that begin the next quantum as one group, because they competed for lines in the last
//! one. A group that comes together during a quantum runs it twice.

use super::group::{Group, Member};

/// Partners of each thread.
pub(super) struct Partners {
    /// Lowest number of the threads that each thread runs with; its own if it runs alone.
    first: Vec<usize>,
}

impl Partners {
    pub(super) fn new(threads: usize) -> Partners {
        Partners { first: (0..threads).collect() }
    }

    /// Divides the threads of a quantum into groups. No group has more than half of several
    /// threads: such threads begin alone.
    pub(super) fn divide<'a>(&self, members: Vec<Member<'a>>) -> Vec<Vec<Member<'a>>> {
        let mut sizes = vec![0; self.first.len()];
        members.iter().for_each(|member| sizes[self.first[member.free.thread]] += 1);
        let most = (members.len() / 2).max(1);
        let mut groups: Vec<Vec<Member>> = (0..sizes.len()).map(|_| Vec::new()).collect();
        for member in members {
            let first = self.first[member.free.thread];
            let place = if sizes[first] > most { member.free.thread } else { first };
            groups[place].push(member);
        }
        groups.retain(|group| !group.is_empty());
        groups
    }

    /// Learns from a quantum which threads competed for lines.
    pub(super) fn learn(&mut self, group: &Group) {
        for (thread, first) in group.memory.competitors() {
            self.first[thread] = first;
        }
    }
}
