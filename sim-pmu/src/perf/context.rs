//! Which groups of events are on a core's counters. Pinned groups come first, and one without room is
//! in error from then on. The others come in the order of their list, up to the first that finds no
//! room; while one waits, every tick moves the first that is on to the end of the list.

use std::ops::Range;

use super::driver::Driver;

/// Where a group stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It waits for its turn.
    Inactive,
    /// It counts.
    Active,
    /// It was pinned and found no room.
    Error,
}

/// A group as the scheduler sees it.
#[derive(Clone, Debug)]
pub(crate) struct Scheduled {
    /// The numbers of its events.
    pub(crate) events: Range<usize>,
    pub(crate) pinned: bool,
    pub(crate) exclusive: bool,
}

#[derive(Clone, Debug)]
struct Slot {
    group: Scheduled,
    state: State,
    /// Time at which it was put on last.
    since: u64,
    /// Time for which it was on before that.
    running: u64,
    was_on: bool,
}

/// The groups of one core.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    slots: Vec<Slot>,
    /// The pinned groups, as asked for.
    pinned: Vec<usize>,
    /// The others, in the order of their turns.
    flexible: Vec<usize>,
    /// A group waits.
    must_rotate: bool,
    /// An exclusive group is on.
    is_exclusive: bool,
}

impl Context {
    /// With nothing on the counters.
    pub(crate) fn new(groups: Vec<Scheduled>) -> Context {
        let (pinned, flexible) = (0..groups.len()).partition(|&number| groups[number].pinned);
        let slot =
            |group| Slot { group, state: State::Inactive, since: 0, running: 0, was_on: false };
        Context {
            slots: groups.into_iter().map(slot).collect(),
            pinned,
            flexible,
            must_rotate: false,
            is_exclusive: false,
        }
    }

    /// Puts on what fits.
    pub(crate) fn schedule_in(&mut self, driver: &mut Driver, now: u64) {
        let mut has_room = true;
        for number in self.pinned.clone() {
            if !self.try_group(number, has_room, driver, now) {
                has_room = false;
                self.slots[number].state = State::Error;
            }
        }
        self.schedule_flexible(driver, now);
    }

    /// Takes everything off.
    pub(crate) fn schedule_out(&mut self, driver: &mut Driver, now: u64) {
        for number in 0..self.slots.len() {
            self.take_off(number, driver, now);
        }
        self.is_exclusive = false;
    }

    /// The tick: whose turn ends goes to the end of the list, and everything that is not pinned is put on
    /// anew. True if there was a turn to end.
    pub(crate) fn tick(&mut self, driver: &mut Driver, now: u64) -> bool {
        if !self.must_rotate {
            return false;
        }
        let is_on = |number: &usize| self.slots[*number].state == State::Active;
        let first = self.flexible.iter().position(is_on).unwrap_or_default();
        for number in self.flexible.clone() {
            self.take_off(number, driver, now);
        }
        if first < self.flexible.len() {
            let rotated = self.flexible.remove(first);
            self.flexible.push(rotated);
        }
        self.schedule_flexible(driver, now);
        true
    }

    /// Time for which a group was on, up to now, and whether it ever was.
    pub(crate) fn running(&self, group: usize, now: u64) -> (u64, bool) {
        let slot = &self.slots[group];
        let present = if slot.state == State::Active { now - slot.since } else { 0 };
        (slot.running + present, slot.was_on)
    }

    /// True while a group waits for its turn.
    pub(crate) fn must_rotate(&self) -> bool {
        self.must_rotate
    }

    /// True if a pinned group found no room.
    pub(crate) fn is_in_error(&self, group: usize) -> bool {
        self.slots[group].state == State::Error
    }

    fn schedule_flexible(&mut self, driver: &mut Driver, now: u64) {
        let mut has_room = true;
        self.must_rotate = false;
        for i in 0..self.flexible.len() {
            if !self.try_group(self.flexible[i], has_room, driver, now) {
                has_room = false;
                self.must_rotate = true;
            }
        }
    }

    /// Puts a group on if it may and can; true if it is on or out of the game.
    fn try_group(&mut self, number: usize, has_room: bool, driver: &mut Driver, now: u64) -> bool {
        let Scheduled { events, pinned, exclusive } = self.slots[number].group.clone();
        match self.slots[number].state {
            State::Active | State::Error => return true,
            State::Inactive => {}
        }
        let others = if pinned { &self.pinned } else { &self.flexible };
        let has_company = others.iter().any(|&other| self.slots[other].state == State::Active);
        let may_go_on = has_room && !self.is_exclusive && !(exclusive && has_company);
        if !may_go_on || !driver.start(events) {
            return false;
        }
        self.is_exclusive |= exclusive;
        let slot = &mut self.slots[number];
        (slot.state, slot.since, slot.was_on) = (State::Active, now, true);
        true
    }

    fn take_off(&mut self, number: usize, driver: &mut Driver, now: u64) {
        let slot = &mut self.slots[number];
        if slot.state != State::Active {
            return;
        }
        driver.stop(slot.group.events.clone());
        slot.state = State::Inactive;
        slot.running += now - slot.since;
        if slot.group.exclusive {
            self.is_exclusive = false;
        }
    }
}
