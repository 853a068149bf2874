//! One core as it is observed: who is to blame for a slot, and what belongs to which instruction.
//!
//! * What was raised since the last operation belongs to the one that is told.
//! * A slot of an abandoned path is charged to the branch in front of it, or to the load that was flushed.
//! * A slot lost to the refill behind a branch, or because prediction did not know it, to that branch.
//! * A slot lost because an entry frees only at retirement (reorder buffer, load queue, registers), to
//!   the instruction for which retirement waited.
//! * Any other to the operation that came late or could not be sent on.

use sim_core::operation::AccessKind;
use sim_core::{InstId, LINE_SHIFT, Operation, OperationKind, StallCause};

use super::Seen;
use super::column::Column;
use super::fate::Fate;
use super::profile::{Profile, cycles_of};
use super::reuse::{MOST_LINES, MOST_PAGES, Reuse, Stack};
use super::timeline::Recorder;

/// Retired instructions that are remembered: more than a reorder buffer holds.
const REMEMBERED: usize = 1024;

/// What is known of one core.
#[derive(Clone, Debug)]
pub(crate) struct Core {
    pub(crate) is_counted: bool,
    pub(crate) timeline: Recorder,
    /// Raised, lost since the last operation; cycles before the first one.
    columns: [u64; Column::COUNT],
    lost: Vec<(StallCause, u64)>,
    cycles: u64,
    /// The instruction of the right path that was told last, and whether it was mispredicted.
    last: Option<InstId>,
    behind_branch: bool,
    /// A load that was flushed with all behind it.
    flushed: Option<InstId>,
    retired: RetiredLast,
    page_shift: u32,
    used: Reuse<Stack>,
}

impl Core {
    /// Nothing has run yet.
    pub(crate) fn new(page_shift: u32) -> Core {
        Core {
            is_counted: false,
            timeline: Recorder::default(),
            columns: [0; Column::COUNT],
            lost: Vec::new(),
            cycles: 0,
            last: None,
            behind_branch: false,
            flushed: None,
            retired: RetiredLast::default(),
            page_shift,
            used: Reuse {
                data_lines: Stack::new(MOST_LINES),
                code_lines: Stack::new(MOST_LINES),
                data_pages: Stack::new(MOST_PAGES),
                code_pages: Stack::new(MOST_PAGES),
            },
        }
    }

    /// The clock goes on: time of the last instruction, for which it waited.
    #[inline]
    pub(crate) fn pass(&mut self, cycles: u64, profile: &mut Profile) {
        self.timeline.pass(cycles);
        match self.last {
            Some(last) => profile.of(Some(last)).cycles += cycles,
            None => self.cycles += cycles,
        }
    }

    #[inline]
    pub(crate) fn count(&mut self, column: Column, n: u64) {
        self.timeline.count(column, n);
        self.columns[column as usize] += n;
    }

    #[inline]
    pub(crate) fn lost(&mut self, cause: StallCause, slots: u64) {
        if self.is_counted {
            self.timeline.slots(Fate::Empty(cause).end(), slots);
            self.lost.push((cause, slots));
        }
    }

    /// Counting begins or ends; what is open belongs to no instruction.
    pub(crate) fn set_counted(&mut self, is_counted: bool, profile: &mut Profile) {
        self.charge_lost(None, profile);
        self.give_columns(None, profile);
        profile.of(None).cycles += std::mem::take(&mut self.cycles);
        self.is_counted = is_counted;
    }

    /// What was raised since the last operation belongs to none that comes.
    pub(crate) fn squashed(&mut self, profile: &mut Profile) {
        let culprit = self.flushed.or(self.last);
        self.charge_lost(culprit, profile);
        self.give_columns(None, profile);
        self.behind_branch = false;
        self.flushed = None;
    }

    #[inline]
    pub(crate) fn operation(&mut self, operation: &Operation, seen: &mut Seen) {
        let life = &operation.life;
        seen.profile.meet(operation);
        let own = life.inst;
        // Who is charged with what stands on an abandoned path.
        let culprit = match (life.retired, self.behind_branch, self.last) {
            (true, ..) => own,
            (false, true, Some(branch)) => branch,
            (false, ..) => *self.flushed.get_or_insert(own),
        };
        if self.is_counted {
            let profile = &mut seen.profile;
            let fate = match (life.retired, culprit == own || !self.behind_branch) {
                (true, _) => Fate::Retired,
                (false, true) => Fate::ThrownAway,
                (false, false) => Fate::BehindBranch,
            };
            self.timeline.slots(fate.end(), life.mops.into());
            profile.of(Some(culprit)).slots[fate.index()] += u64::from(life.mops);
            self.blame(operation, culprit, profile);
            self.give_columns(Some(own), profile);
            profile.of(Some(own)).cycles += std::mem::take(&mut self.cycles);
            profile.of(Some(own)).execute(operation);
        }
        if life.retired {
            self.retire(operation, seen);
        }
    }

    /// Charges what was lost since the last operation.
    #[inline]
    fn blame(&mut self, operation: &Operation, culprit: InstId, profile: &mut Profile) {
        if self.lost.is_empty() {
            return;
        }
        let life = &operation.life;
        for at in 0..self.lost.len() {
            let (cause, slots) = self.lost[at];
            let waited_for = match whose(cause) {
                Whose::TheOldest => self.retired.waited_for(half_way(life.rename, slots)),
                Whose::TheBranchBefore if life.retired => self.last,
                Whose::TheBranchBefore | Whose::ItsOwn => None,
            };
            let owner = waited_for.unwrap_or(culprit);
            profile.of(Some(owner)).slots[Fate::Empty(cause).index()] += slots;
        }
        self.lost.clear();
    }

    fn charge_lost(&mut self, owner: Option<InstId>, profile: &mut Profile) {
        for (cause, slots) in self.lost.drain(..) {
            profile.of(owner).slots[Fate::Empty(cause).index()] += slots;
        }
    }

    #[inline]
    fn give_columns(&mut self, owner: Option<InstId>, profile: &mut Profile) {
        let row = profile.of(owner);
        for (sum, n) in row.columns.iter_mut().zip(std::mem::take(&mut self.columns)) {
            *sum += n;
        }
    }

    /// The right path goes on.
    #[inline]
    fn retire(&mut self, operation: &Operation, seen: &mut Seen) {
        let life = &operation.life;
        self.last = Some(life.inst);
        self.behind_branch = life.mispredicted;
        self.flushed = None;
        self.retired.push(life.retire, life.inst);
        self.fetched(life.pc, seen);
        let OperationKind::Access(access) = operation.kind else { return };
        let addr = match access.kind {
            // Clears the line around its address.
            AccessKind::ZeroLine => life.addr >> LINE_SHIFT << LINE_SHIFT,
            _ => life.addr,
        };
        // An importer of a trace may not know where an access went.
        if addr != 0 {
            self.accessed(addr, u64::from(access.bytes), seen);
        }
        if self.is_counted && access.kind == AccessKind::Load {
            seen.latencies.add(life.source, cycles_of(life));
        }
    }

    #[inline]
    fn fetched(&mut self, pc: u64, seen: &mut Seen) {
        let line = pc >> LINE_SHIFT;
        if self.used.code_lines.last() == Some(line) {
            return;
        }
        let curves = &mut seen.curves;
        self.used.code_lines.touch(line, self.is_counted.then_some(&mut curves.code_lines));
        let page = pc >> self.page_shift;
        if self.used.code_pages.last() != Some(page) {
            self.used.code_pages.touch(page, self.is_counted.then_some(&mut curves.code_pages));
        }
    }

    #[inline]
    fn accessed(&mut self, addr: u64, bytes: u64, seen: &mut Seen) {
        let last = addr.saturating_add(bytes.max(1) - 1);
        for line in addr >> LINE_SHIFT..=last >> LINE_SHIFT {
            let curve = self.is_counted.then_some(&mut seen.curves.data_lines);
            self.used.data_lines.touch(line, curve);
        }
        for page in addr >> self.page_shift..=last >> self.page_shift {
            let curve = self.is_counted.then_some(&mut seen.curves.data_pages);
            self.used.data_pages.touch(page, curve);
        }
    }
}

/// Who is to blame for an empty slot on the right path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// The operation that came late or could not be sent on.
    ItsOwn,
    /// What stands in front of it.
    TheBranchBefore,
    /// The instruction for which retirement waited.
    TheOldest,
}

fn whose(cause: StallCause) -> Whose {
    use StallCause::*;
    match cause {
        FetchMispredict | FetchNoTarget | FetchResteer | FetchBtbBubble | FetchSerialise
        | FetchException => Whose::TheBranchBefore,
        RobMemory | RobCore | LoadQueue | IntRegisters | VecRegisters | FlagRegisters
        | BranchQueue => Whose::TheOldest,
        FetchL1iMiss | FetchItlbMiss | FetchMemoryOrder | FetchPredictWidth | FetchMopSwitch
        | FetchWidth | FetchAsleep | FetchEnd | IssueQueueInt | IssueQueueMem | IssueQueueVec
        | StoreQueue | DispatchWidth | Serialise => Whose::ItsOwn,
    }
}

/// The middle of a wait that ended at rename. At its end the oldest operation is often one that needs what
/// the wait was for: a comparison of what a load brings.
fn half_way(rename: u64, waited: u64) -> u64 {
    rename.saturating_sub(waited / 2)
}

/// When the last instructions retired.
#[derive(Clone, Debug)]
struct RetiredLast {
    ring: Box<[(u64, InstId)]>,
    pushed: usize,
}

impl Default for RetiredLast {
    fn default() -> Self {
        RetiredLast { ring: vec![(0, 0); REMEMBERED].into_boxed_slice(), pushed: 0 }
    }
}

impl RetiredLast {
    #[inline]
    fn push(&mut self, retire: u64, inst: InstId) {
        self.ring[self.pushed % REMEMBERED] = (retire, inst);
        self.pushed += 1;
    }

    /// The instruction for which retirement waited up to `cycle`: what it held was free one cycle after it
    /// retired. Of several that retired in that cycle the oldest: the others waited for it.
    fn waited_for(&self, cycle: u64) -> Option<InstId> {
        let first = self.pushed.saturating_sub(REMEMBERED);
        let at = |number: usize| self.ring[number % REMEMBERED];
        // Retirement is in order: the cycles never go down.
        let (mut low, mut high) = (first, self.pushed);
        while low < high {
            let middle = low.midpoint(high);
            if at(middle).0 + 1 < cycle { low = middle + 1 } else { high = middle }
        }
        (low < self.pushed).then(|| at(low).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retirement_waited_for_the_oldest_of_a_cycle() {
        let mut retired = RetiredLast::default();
        assert_eq!(retired.waited_for(5), None);
        for (retire, inst) in [(10, 1), (400, 2), (400, 3), (400, 4), (401, 5)] {
            retired.push(retire, inst);
        }
        assert_eq!(retired.waited_for(401), Some(2), "the load, not those behind it");
        assert_eq!(retired.waited_for(402), Some(5));
        assert_eq!(retired.waited_for(9), Some(1));
        assert_eq!(retired.waited_for(500), None);
        assert_eq!(retired.waited_for(half_way(402, 350)), Some(2), "what follows needs the load");
    }

    #[test]
    fn only_the_last_instructions_are_remembered() {
        let mut retired = RetiredLast::default();
        (0..5000).for_each(|n| retired.push(n, n as u32));
        assert_eq!(retired.waited_for(0), Some(5000 - REMEMBERED as u32));
        assert_eq!(retired.waited_for(4901), Some(4900));
    }
}
