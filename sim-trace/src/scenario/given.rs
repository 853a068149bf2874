//! The state before the first step: a base setup, then clauses that change it, in order.
//!
//! `"K3, TLBs empty"`, `"K1; 0x8000 in L1D"`, `"K2, a0..a3 dirty in L1D"`. The bases are
//!
//! * **K0** caches and TLBs empty, identity map with 4 KiB pages, Normal cacheable memory,
//!   hardware prefetchers off, data in local memory;
//! * **K1** K0, and the pages that the steps use are in both TLB levels;
//! * **K2** K1, and the lines that the steps use are clean in the L2 only;
//! * **K3** K2, and these lines are clean in the L1 of the side that uses them;
//! * **K3d** K3, with the lines used dirty in the L1 D-cache.
//!
//! `trained` as a clause means that the branch predictors know the steps. Any other clause is a
//! subject and a state. The subject is a list of addresses (`0x8000 0x9000`,
//! `a0..a3`), or `lines`, `pages`: all that the steps use. The states are those of [`State`].

use super::cursor::{Cursor, Names};
use super::error::Fault;

/// A base setup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Base {
    /// Everything cold.
    #[default]
    K0,
    /// TLBs warm.
    K1,
    /// Lines clean in the L2.
    K2,
    /// Lines clean in the L1.
    K3,
    /// Lines dirty in the L1 D-cache.
    K3d,
}

/// A state of a line or a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// `unmapped`: the page has no translation.
    Unmapped,
    /// `non-cacheable`: the page is Normal non-cacheable memory.
    NonCacheable,
    /// `device`: the page is Device memory.
    Device,
    /// `in TLBs`: in both TLB levels.
    InTlbs,
    /// `in L2 TLB`: in the L2 TLB only.
    InL2Tlb,
    /// `in no TLB`.
    InNoTlb,
    /// `in L1D`: clean in the L1 D-cache, and in the L2.
    InL1d,
    /// `dirty in L1D`: dirty in the L1 D-cache, and in the L2.
    DirtyInL1d,
    /// `in L1I`: in the L1 I-cache, and in the L2.
    InL1i,
    /// `in L2`: clean in the L2 only.
    InL2,
    /// `dirty in L2`: dirty in the L2 only.
    DirtyInL2,
    /// `in no cache`: in none of this core's caches.
    InNoCache,
    /// `in SLC`: the system level cache will supply it.
    InSlc,
    /// `in peer`: the cache of another core of this chip will supply it.
    InPeer,
    /// `in remote`: another chip will supply it.
    InRemote,
    /// `in DRAM`: local memory will supply it.
    InDram,
}

impl State {
    /// Every state with the words that name it.
    pub const NAMED: [(&'static str, State); 16] = [
        ("unmapped", State::Unmapped),
        ("non-cacheable", State::NonCacheable),
        ("device", State::Device),
        ("in TLBs", State::InTlbs),
        ("in L2 TLB", State::InL2Tlb),
        ("in no TLB", State::InNoTlb),
        ("in L1D", State::InL1d),
        ("dirty in L1D", State::DirtyInL1d),
        ("in L1I", State::InL1i),
        ("in L2", State::InL2),
        ("dirty in L2", State::DirtyInL2),
        ("in no cache", State::InNoCache),
        ("in SLC", State::InSlc),
        ("in peer", State::InPeer),
        ("in remote", State::InRemote),
        ("in DRAM", State::InDram),
    ];

    /// True for a state of a page, false for one of a line.
    pub fn is_of_page(self) -> bool {
        use State::{Device, InL2Tlb, InNoTlb, InTlbs, NonCacheable, Unmapped};
        matches!(self, Unmapped | NonCacheable | Device | InTlbs | InL2Tlb | InNoTlb)
    }
}

/// One clause: which addresses are in which state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// Addresses, or `None` for everything that the steps use.
    pub subject: Option<Vec<u64>>,
    /// Their state.
    pub state: State,
}

/// The state before the first step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Base setup.
    pub base: Base,
    /// Changes to it, applied in order.
    pub clauses: Vec<Clause>,
    /// The branch predictors know the steps.
    pub trained: bool,
    /// Configuration keys and their TOML values.
    pub set: Vec<(String, String)>,
}

/// Reads `"K3, TLBs empty"`.
pub(super) fn parse_given(cursor: &mut Cursor, names: &Names) -> Result<Given, Fault> {
    let base = parse_base(cursor)?;
    let mut given = Given { base, ..Given::default() };
    while !cursor.is_done() {
        if !(cursor.take(",") || cursor.take(";")) {
            return Err(cursor.expected("',' before the next clause"));
        }
        if cursor.take_word("trained") {
            given.trained = true;
        } else {
            given.clauses.push(parse_clause(cursor, names)?);
        }
    }
    Ok(given)
}

fn parse_base(cursor: &mut Cursor) -> Result<Base, Fault> {
    let bases = [
        ("K0", Base::K0),
        ("K1", Base::K1),
        ("K2", Base::K2),
        ("K3d", Base::K3d),
        ("K3", Base::K3),
    ];
    let found = bases.iter().find(|(name, _)| cursor.take_word(name));
    found.map(|(_, base)| *base).ok_or_else(|| cursor.expected("K0, K1, K2, K3 or K3d"))
}

fn parse_clause(cursor: &mut Cursor, names: &Names) -> Result<Clause, Fault> {
    if cursor.take_word("TLBs") {
        return match cursor.take_word("empty") {
            true => Ok(Clause { subject: None, state: State::InNoTlb }),
            false => Err(cursor.expected("'empty' after TLBs")),
        };
    }
    let pages = cursor.take_word("pages");
    if pages || cursor.take_word("lines") {
        let offset = cursor.offset();
        let state = parse_state(cursor)?;
        if state.is_of_page() != pages {
            let expected = if pages { "the state of a page" } else { "the state of a line" };
            let found = "the state of the other".to_owned();
            let problem = super::Problem::Expected { expected: expected.to_owned(), found };
            return Err(Fault::new(offset, problem));
        }
        return Ok(Clause { subject: None, state });
    }
    let mut subject = cursor.addresses(names)?;
    loop {
        let mut ahead = cursor.clone();
        if parse_state(&mut ahead).is_ok() {
            break;
        }
        if cursor.peek_word().is_none_or(|word| !starts_address(word, names)) {
            return Err(cursor.expected(&state_list()));
        }
        subject.extend(cursor.addresses(names)?);
    }
    Ok(Clause { subject: Some(subject), state: parse_state(cursor)? })
}

fn starts_address(word: &str, names: &Names) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) || names.contains_key(word)
}

/// The longest state name that stands here.
fn parse_state(cursor: &mut Cursor) -> Result<State, Fault> {
    let mut best: Option<(Cursor, usize, State)> = None;
    for (name, state) in State::NAMED {
        let mut ahead = cursor.clone();
        let matched = name.split(' ').all(|word| ahead.take_word(word));
        if matched && best.as_ref().is_none_or(|(_, length, _)| name.len() > *length) {
            best = Some((ahead, name.len(), state));
        }
    }
    let (ahead, _, state) = best.ok_or_else(|| cursor.expected(&state_list()))?;
    *cursor = ahead;
    Ok(state)
}

fn state_list() -> String {
    let names: Vec<&str> = State::NAMED.iter().map(|(name, _)| *name).collect();
    format!("a state ({})", names.join(", "))
}
