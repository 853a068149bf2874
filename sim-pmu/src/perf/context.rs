//! Event scheduler of one core. Pinned groups come first; a pinned group that does not fit enters
//! the error state for good. The other groups start in list order, up to the first that does not
//! fit. While a group waits, every tick moves the first active group to the end of the list.

use std::ops::Range;

use super::driver::Driver;
use crate::routes::CoreEvent;

/// State of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The group waits for counters.
    Inactive,
    /// The group is on counters.
    Active,
    /// The group is pinned and did not fit.
    Error,
}

/// Group as the scheduler sees it.
#[derive(Clone, Debug)]
pub(crate) struct Scheduled {
    /// Numbers of its events.
    pub(crate) events: Range<usize>,
    pub(crate) pinned: bool,
    pub(crate) exclusive: bool,
}

#[derive(Clone, Debug)]
struct Slot {
    group: Scheduled,
    state: State,
    /// Time at which the group was last scheduled in.
    since: u64,
    /// Running time before `since`.
    running: u64,
    was_active: bool,
}

/// Groups of one core.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    slots: Vec<Slot>,
    /// Pinned groups, in the requested order.
    pinned: Vec<usize>,
    /// Other groups, in rotation order.
    flexible: Vec<usize>,
    /// A group waits for counters.
    must_rotate: bool,
    /// An exclusive group is active.
    is_exclusive: bool,
}

impl Context {
    /// Creates the scheduler with no active group.
    pub(crate) fn new(groups: Vec<Scheduled>) -> Context {
        let (pinned, flexible) = (0..groups.len()).partition(|&number| groups[number].pinned);
        let slot =
            |group| Slot { group, state: State::Inactive, since: 0, running: 0, was_active: false };
        Context {
            slots: groups.into_iter().map(slot).collect(),
            pinned,
            flexible,
            must_rotate: false,
            is_exclusive: false,
        }
    }

    /// Schedules in the groups that fit.
    pub(crate) fn schedule_in<E: CoreEvent>(&mut self, driver: &mut Driver<E>, now: u64) {
        let mut has_room = true;
        for number in self.pinned.clone() {
            if !self.try_group(number, has_room, driver, now) {
                has_room = false;
                self.slots[number].state = State::Error;
            }
        }
        self.schedule_flexible(driver, now);
    }

    /// Schedules out every group.
    pub(crate) fn schedule_out<E: CoreEvent>(&mut self, driver: &mut Driver<E>, now: u64) {
        for number in 0..self.slots.len() {
            self.schedule_group_out(number, driver, now);
        }
        self.is_exclusive = false;
    }

    /// Handles a tick: moves the first active flexible group to the end of the list and schedules
    /// all flexible groups again. Returns whether a time slice ended.
    pub(crate) fn tick<E: CoreEvent>(&mut self, driver: &mut Driver<E>, now: u64) -> bool {
        if !self.must_rotate {
            return false;
        }
        let is_active = |number: &usize| self.slots[*number].state == State::Active;
        let first = self.flexible.iter().position(is_active).unwrap_or_default();
        for number in self.flexible.clone() {
            self.schedule_group_out(number, driver, now);
        }
        if first < self.flexible.len() {
            let rotated = self.flexible.remove(first);
            self.flexible.push(rotated);
        }
        self.schedule_flexible(driver, now);
        true
    }

    /// Returns the running time of a group up to now, and whether it was ever active.
    pub(crate) fn running(&self, group: usize, now: u64) -> (u64, bool) {
        let slot = &self.slots[group];
        let present = if slot.state == State::Active { now - slot.since } else { 0 };
        (slot.running + present, slot.was_active)
    }

    /// Returns whether a group waits for counters.
    pub(crate) fn must_rotate(&self) -> bool {
        self.must_rotate
    }

    /// Returns whether a pinned group did not fit.
    pub(crate) fn is_in_error(&self, group: usize) -> bool {
        self.slots[group].state == State::Error
    }

    fn schedule_flexible<E: CoreEvent>(&mut self, driver: &mut Driver<E>, now: u64) {
        let mut has_room = true;
        self.must_rotate = false;
        for i in 0..self.flexible.len() {
            if !self.try_group(self.flexible[i], has_room, driver, now) {
                has_room = false;
                self.must_rotate = true;
            }
        }
    }

    /// Schedules in a group if that is allowed and possible. Returns `false` if the group has to
    /// wait.
    fn try_group<E: CoreEvent>(
        &mut self,
        number: usize,
        has_room: bool,
        driver: &mut Driver<E>,
        now: u64,
    ) -> bool {
        let Scheduled { events, pinned, exclusive } = self.slots[number].group.clone();
        match self.slots[number].state {
            State::Active | State::Error => return true,
            State::Inactive => {}
        }
        let others = if pinned { &self.pinned } else { &self.flexible };
        let shares_counters = others.iter().any(|&other| self.slots[other].state == State::Active);
        let may_start = has_room && !self.is_exclusive && !(exclusive && shares_counters);
        if !may_start || !driver.start(events) {
            return false;
        }
        self.is_exclusive |= exclusive;
        let slot = &mut self.slots[number];
        (slot.state, slot.since, slot.was_active) = (State::Active, now, true);
        true
    }

    fn schedule_group_out<E: CoreEvent>(
        &mut self,
        number: usize,
        driver: &mut Driver<E>,
        now: u64,
    ) {
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
