//! One core as it is observed: who is to blame for a slot, and what belongs to which instruction.
//!
//! * What was raised since the last operation belongs to the one that is told.
//! * A slot of an abandoned path is charged to the branch in front of it, or to the load that was flushed.
//! * A slot lost to the refill behind a branch, or because prediction did not know it, to that branch.
//! * A slot lost because an entry frees only at retirement (reorder buffer, load queue, registers), to
//!   the instruction for which retirement waited.
//! * Any other to the operation that came late or could not be sent on.

use sim_core::operation::AccessKind;
use sim_core::{InstId, LINE_SHIFT, Lost, Operation, OperationKind, StallCause};

use super::Seen;
use super::column::Column;
use super::profile::{Profile, cycles_of};
use super::reuse::{MOST_LINES, MOST_PAGES, Reuse, Stack};
use super::slot_class::SlotClass;
use super::timeline::Recorder;

/// What is known of one core.
#[derive(Clone, Debug)]
pub(crate) struct Core {
    pub(crate) is_counted: bool,
    pub(crate) timeline: Recorder,
    /// Raised, lost since the last operation; cycles before the first one.
    columns: [u64; Column::COUNT],
    lost: Vec<Lost>,
    cycles: u64,
    /// The instruction of the right path that was told last, and whether it was mispredicted.
    last: Option<InstId>,
    behind_branch: bool,
    /// A load that was flushed with all behind it.
    flushed: Option<InstId>,
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
    pub(crate) fn lost(&mut self, lost: Lost) {
        if self.is_counted {
            self.timeline.slots(SlotClass::of(&lost).category(), lost.slots);
            self.lost.push(lost);
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
            let class = match (life.retired, culprit == own || !self.behind_branch) {
                (true, _) => SlotClass::Retired,
                (false, true) => SlotClass::SquashedOther,
                (false, false) => SlotClass::SquashedByBranch,
            };
            self.timeline.slots(class.category(), life.mops.into());
            profile.of(Some(culprit)).slots[class.index()] += u64::from(life.mops);
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
        for lost in self.lost.drain(..) {
            let before = self.last.filter(|_| operation.life.retired && is_of_branch(lost.cause));
            let owner = lost.owner.or(before).unwrap_or(culprit);
            profile.of(Some(owner)).slots[SlotClass::of(&lost).index()] += lost.slots;
        }
    }

    fn charge_lost(&mut self, owner: Option<InstId>, profile: &mut Profile) {
        for lost in self.lost.drain(..) {
            let owner = lost.owner.or(owner);
            profile.of(owner).slots[SlotClass::of(&lost).index()] += lost.slots;
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
            seen.latencies.add(life.source, cycles_of(life), operation.wait);
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

/// Returns whether the branch before the operation that came late is charged with the slots.
fn is_of_branch(cause: StallCause) -> bool {
    use StallCause::{
        FetchBtbBubble, FetchException, FetchMispredict, FetchNoTarget, FetchResteer,
        FetchSerialise,
    };
    matches!(
        cause,
        FetchMispredict
            | FetchNoTarget
            | FetchResteer
            | FetchBtbBubble
            | FetchSerialise
            | FetchException
    )
}
