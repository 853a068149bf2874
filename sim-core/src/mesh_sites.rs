//! Places of the model that count the mesh, and machines with one faulty place, for the test that
//! every place matters.
//!
//! Only builds with debug assertions know the places. In others `times` is the constant 1.

#[cfg(debug_assertions)]
use std::{cell::RefCell, collections::BTreeSet, panic::Location};

use crate::chi::Message;
use crate::mesh_counts::{DvmEvent, HomeEvent};

/// Message or event that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Counted {
    /// A message between agents.
    Message(Message),
    /// An event of a home node.
    Home(HomeEvent),
    /// An event of the DVM node.
    Dvm(DvmEvent),
}

/// A place that counts a message or an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// Source file.
    pub file: &'static str,
    /// Line in the file, from 1.
    pub line: u32,
    /// Column in the line, from 1.
    pub column: u32,
    /// Message or event that the place counts.
    pub counted: Counted,
}

/// Places and fault of the model in one thread.
#[cfg(debug_assertions)]
#[derive(Default)]
struct State {
    /// Places since learning began; `None` if nothing learns.
    learned: Option<BTreeSet<Site>>,
    /// Place with a fault, and how often it counts instead of once.
    fault: Option<(Site, u64)>,
}

#[cfg(debug_assertions)]
thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Returns how often the calling place counts: once, unless it has a fault.
#[cfg(debug_assertions)]
#[track_caller]
pub(crate) fn times(counted: Counted) -> u64 {
    let (file, line, column) = {
        let caller = Location::caller();
        (caller.file(), caller.line(), caller.column())
    };
    let site = Site { file, line, column, counted };
    STATE.with_borrow_mut(|state| {
        if let Some(learned) = &mut state.learned {
            learned.insert(site);
        }
        state.fault.filter(|(faulty, _)| *faulty == site).map_or(1, |(_, times)| times)
    })
}

/// Returns how often the calling place counts: once.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub(crate) fn times(_: Counted) -> u64 {
    1
}

/// Returns the places of the model that count in this thread while `work` runs.
#[cfg(debug_assertions)]
pub fn learn(work: impl FnOnce()) -> BTreeSet<Site> {
    STATE.with_borrow_mut(|state| state.learned = Some(BTreeSet::new()));
    work();
    STATE.with_borrow_mut(|state| state.learned.take()).unwrap_or_default()
}

/// Makes a place count `times` times instead of once, in this thread. `None` ends the fault.
#[cfg(debug_assertions)]
pub fn set_fault(fault: Option<(Site, u64)>) {
    STATE.with_borrow_mut(|state| state.fault = fault);
}
