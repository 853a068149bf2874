//! System level cache and snoop filter as one core sees them during a quantum: as they were at its
//! beginning, with the changes of this core alone.
//!
//! The whole structures stay untouched while views of them exist. Not known to a view: which line a
//! new one replaces. The whole structure decides that at the end of the quantum.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use sim_core::{LineAddr, StateVisitor, WarmState};

use crate::uncore::slc::{Put, Slc};
use crate::uncore::snoop_filter::{Holders, OtherSharers, SnoopFilter, others_of};

/// A structure, or the view of a core.
#[derive(Debug)]
pub(crate) enum Viewed<T, V> {
    /// The structure itself.
    Whole(Arc<T>),
    /// A structure that others may see at the same time.
    View(View<T, V>),
}

/// A structure at the beginning of a quantum, and what changed since.
#[derive(Debug)]
pub(crate) struct View<T, V> {
    /// `None` between two quanta.
    base: Option<Arc<T>>,
    changes: FxHashMap<LineAddr, V>,
}

/// The system level cache of a chip. A view keeps for each changed line whether it is dirty, or
/// `None` if it is absent.
pub(crate) type SlcView = Viewed<Slc, Option<bool>>;

/// The snoop filter. A view keeps for each changed line its holders, and whether one owns it.
pub(crate) type FilterView = Viewed<SnoopFilter, (Holders, bool)>;

impl<T, V> View<T, V> {
    fn base(&self) -> &T {
        self.base.as_ref().expect("a quantum has begun")
    }
}

impl<T, V> Viewed<T, V> {
    /// Makes a structure without views.
    pub(crate) fn whole(structure: T) -> Viewed<T, V> {
        Viewed::Whole(Arc::new(structure))
    }

    /// Makes a view that has not begun.
    pub(crate) fn view() -> Viewed<T, V> {
        Viewed::View(View { base: None, changes: FxHashMap::default() })
    }

    /// Returns the structure without the changes of a view.
    fn structure(&self) -> &T {
        match self {
            Viewed::Whole(whole) => whole,
            Viewed::View(view) => view.base(),
        }
    }

    /// Begins a quantum of a view of `whole`.
    pub(crate) fn begin(&mut self, whole: &Viewed<T, V>) {
        if let (Viewed::View(view), Viewed::Whole(whole)) = (self, whole) {
            view.base = Some(whole.clone());
            view.changes.clear();
        }
    }

    /// Ends a quantum of a view.
    pub(crate) fn end(&mut self) {
        if let Viewed::View(view) = self {
            view.base = None;
        }
    }
}

/// A copy of a whole structure is independent of it.
impl<T: Clone, V: Clone> Clone for Viewed<T, V> {
    fn clone(&self) -> Viewed<T, V> {
        match self {
            Viewed::Whole(whole) => Viewed::whole(T::clone(whole)),
            Viewed::View(view) => {
                Viewed::View(View { base: view.base.clone(), changes: view.changes.clone() })
            }
        }
    }
}

/// Returns a whole structure to change it.
fn changed<T>(whole: &mut Arc<T>) -> &mut T {
    Arc::get_mut(whole).expect("no quantum has begun")
}

impl SlcView {
    /// Reads a line, as [`Slc::read`] does.
    pub(crate) fn read(&mut self, line: LineAddr) -> Option<bool> {
        match self {
            Viewed::Whole(whole) => changed(whole).read(line),
            Viewed::View(_) => self.state(line),
        }
    }

    /// Removes a line, as [`Slc::take`] does.
    pub(crate) fn take(&mut self, line: LineAddr) -> Option<bool> {
        let state = match self {
            Viewed::Whole(whole) => return changed(whole).take(line),
            Viewed::View(_) => self.state(line),
        };
        if let (Viewed::View(view), Some(_)) = (self, state) {
            view.changes.insert(line, None);
        }
        state
    }

    /// Inserts a line, as [`Slc::put`] does. A view reports no way and no victim.
    pub(crate) fn put(&mut self, line: LineAddr, dirty: bool) -> Put {
        let before = match self {
            Viewed::Whole(whole) => return changed(whole).put(line, dirty),
            Viewed::View(_) => self.state(line),
        };
        if let Viewed::View(view) = self {
            view.changes.insert(line, Some(dirty || before == Some(true)));
        }
        Put { is_new: before.is_none(), ..Put::default() }
    }

    /// Returns the state of a line, as [`Slc::state`] does.
    pub(crate) fn state(&self, line: LineAddr) -> Option<bool> {
        match self {
            Viewed::Whole(whole) => whole.state(line),
            Viewed::View(view) => match view.changes.get(&line) {
                Some(state) => *state,
                None => view.base().state(line),
            },
        }
    }
}

/// Only a whole structure is saved.
impl WarmState for SlcView {
    fn visit<S: StateVisitor>(&mut self, visitor: &mut S) {
        if let Viewed::Whole(whole) = self {
            changed(whole).visit(visitor);
        }
    }
}

impl FilterView {
    /// Passes the entries of a whole structure to `visitor`; see [`SnoopFilter::visit`].
    pub(crate) fn visit<S: StateVisitor>(&mut self, cores: usize, visitor: &mut S) {
        if let Viewed::Whole(whole) = self {
            changed(whole).visit(cores, visitor);
        }
    }

    /// Returns the entry of a line in a view, which a change then finds again.
    fn entry(
        view: &mut View<SnoopFilter, (Holders, bool)>,
        line: LineAddr,
    ) -> &mut (Holders, bool) {
        let base = view.base.as_ref().expect("a quantum has begun");
        view.changes.entry(line).or_insert_with(|| base.entry(line).unwrap_or_default())
    }

    /// Returns whether any core holds the line.
    pub(crate) fn has(&self, line: LineAddr) -> bool {
        match self {
            Viewed::Whole(whole) => whole.has(line),
            Viewed::View(view) => match view.changes.get(&line) {
                Some((holders, _)) => !holders.is_empty(),
                None => view.base().has(line),
            },
        }
    }

    /// Returns how others hold a line, as [`SnoopFilter::other_sharers`] does.
    pub(crate) fn other_sharers(
        &self,
        core: usize,
        line: LineAddr,
        others: &mut Holders,
    ) -> OtherSharers {
        if let Viewed::View(view) = self
            && let Some((holders, owned)) = view.changes.get(&line)
        {
            others.clone_from(holders);
            return others_of(core, others, *owned);
        }
        self.structure().other_sharers(core, line, others)
    }

    /// Records a holder, as [`SnoopFilter::grant`] does. In a view no line loses its entry.
    pub(crate) fn grant(
        &mut self,
        core: usize,
        line: LineAddr,
        alone: bool,
        dropped: &mut Holders,
    ) -> Option<LineAddr> {
        let view = match self {
            Viewed::Whole(whole) => return changed(whole).grant(core, line, alone, dropped),
            Viewed::View(view) => view,
        };
        let (holders, owned) = FilterView::entry(view, line);
        *owned = alone;
        let core = core as u32;
        if alone {
            holders.clear();
        }
        if let Err(at) = holders.binary_search(&core) {
            holders.insert(at, core);
        }
        None
    }

    /// Removes a core from the holders of a line.
    pub(crate) fn drop_holder(&mut self, core: usize, line: LineAddr) {
        match self {
            Viewed::Whole(whole) => changed(whole).drop_holder(core, line),
            Viewed::View(view) => {
                FilterView::entry(view, line).0.retain(|holder| *holder != core as u32);
            }
        }
    }

    /// Marks a line as shared.
    pub(crate) fn share(&mut self, line: LineAddr) {
        match self {
            Viewed::Whole(whole) => changed(whole).share(line),
            Viewed::View(view) => FilterView::entry(view, line).1 = false,
        }
    }

    /// Returns the entries, as [`SnoopFilter::entries`] does, without the changes of a view.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (LineAddr, Holders, bool)> + '_ {
        self.structure().entries()
    }

    /// Returns whether a core owns a line, as [`SnoopFilter::ownership`] does.
    pub(crate) fn ownership(&self, core: usize, line: LineAddr) -> Option<bool> {
        match self {
            Viewed::Whole(whole) => whole.ownership(core, line),
            Viewed::View(view) => match view.changes.get(&line) {
                Some((holders, owned)) => {
                    holders.binary_search(&(core as u32)).is_ok().then_some(*owned)
                }
                None => view.base().ownership(core, line),
            },
        }
    }
}
