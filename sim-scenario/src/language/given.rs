//! State before the first step: a base setup and clauses that change it, in order.
//!
//! Examples: `"K3, TLBs empty"`, `"K1; 0x8000 in L1D"`, `"K2, a0..a3 dirty in L1D"`. The bases are
//!
//! * **K0** caches and TLBs empty, identity map with 4 KiB pages, Normal cacheable memory,
//!   hardware prefetchers off, data in local memory;
//! * **K1** K0, and the pages that the steps use are in both TLB levels;
//! * **K2** K1, and the lines that the steps use are clean in the L2 only;
//! * **K3** K2, and these lines are clean in the L1 of the side that uses them;
//! * **K3d** K3, with the lines used dirty in the L1 D-cache.
//!
//! Some clauses concern the machine:
//!
//! * `trained`: the branch predictors know the steps; with `taken` or `not-taken` as if every
//!   conditional branch had that direction;
//! * `own fetches`: the steps' own fetches go through the I-side and count;
//! * `at EL1`, `at EL2 E2H TGE`: the level of the program;
//! * `tag checks on`; `stage 2`: on, with nothing of it cached;
//! * `4 cores`: the machine has more than core 0, which executes the steps.
//!
//! Any other clause is a subject and a state. The subject is a list of addresses (`0x8000 0x9000`,
//! `a0..a3`), or `lines` or `pages` for all that the steps use. [`State`] lists the states.

use sim_core::{ExceptionControls, Privilege};

use super::counters::{GivenCounter, parse_given_counter};
use super::cursor::{Cursor, Names};
use super::error::{Fault, Problem};
use super::exceptions::parse_routing;
use super::meant;
use super::place::Place;
use super::profiling::{GivenProfiling, parse_given_profiling};

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

/// State of a line or a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// `unmapped`: the page has no translation.
    Unmapped,
    /// `non-cacheable`: the page is Normal non-cacheable memory.
    NonCacheable,
    /// `device`: the page is Device memory.
    Device,
    /// `read-only`: stores to the page fault.
    ReadOnly,
    /// `tagged`: the page is Tagged memory.
    Tagged,
    /// `in a 2 MiB block`: one descriptor maps the aligned 2 MiB around it.
    InBlock,
    /// `unmapped in stage 2`: stage 2 has no translation for the page.
    UnmappedInStage2,
    /// `device in stage 2`: stage 2 makes the page Device memory.
    DeviceInStage2,
    /// `an alias of the page before`: it maps to the frame of that page.
    Alias,
    /// `contiguous`: with its 15 aligned neighbors, one TLB entry may serve all.
    Contiguous,
    /// `in walk cache`: only the upper levels of the translation are cached.
    InWalkCache,
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
    /// `in SLC`: the system level cache supplies the line.
    InSlc,
    /// `in peer`: the cache of another core of this chip supplies the line.
    InPeer,
    /// `in remote`: another chip supplies the line.
    InRemote,
    /// `in DRAM`: local memory supplies the line.
    InDram,
    /// `shared`: another core holds a copy of the line.
    Shared,
    /// `1-bit error in L1D data`, ...: a fault in the RAM that holds the line.
    Faulty(Ram, Bits),
    /// `tag 3`: the allocation tag of the 16 bytes around the address.
    Tag(u8),
}

/// A RAM that can hold an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ram {
    /// Data of the L1 D-cache.
    L1dData,
    /// Tags of the L1 D-cache.
    L1dTag,
    /// Data of the L1 I-cache.
    L1iData,
    /// Tags of the L1 I-cache.
    L1iTag,
    /// Data of the L2.
    L2Data,
}

/// Number of wrong bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bits {
    /// One.
    One,
    /// Two.
    Two,
}

impl State {
    /// All states with the words that name them.
    pub const NAMED: [(&'static str, State); 32] = [
        ("unmapped", State::Unmapped),
        ("unmapped in stage 2", State::UnmappedInStage2),
        ("device in stage 2", State::DeviceInStage2),
        ("non-cacheable", State::NonCacheable),
        ("device", State::Device),
        ("read-only", State::ReadOnly),
        ("tagged", State::Tagged),
        ("in a 2 MiB block", State::InBlock),
        ("an alias of the page before", State::Alias),
        ("contiguous", State::Contiguous),
        ("in walk cache", State::InWalkCache),
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
        ("shared", State::Shared),
        ("1-bit error in L1D data", State::Faulty(Ram::L1dData, Bits::One)),
        ("2-bit error in L1D data", State::Faulty(Ram::L1dData, Bits::Two)),
        ("error in L1D tag", State::Faulty(Ram::L1dTag, Bits::One)),
        ("error in L1I data", State::Faulty(Ram::L1iData, Bits::One)),
        ("error in L1I tag", State::Faulty(Ram::L1iTag, Bits::One)),
        ("1-bit error in L2 data", State::Faulty(Ram::L2Data, Bits::One)),
        ("2-bit error in L2 data", State::Faulty(Ram::L2Data, Bits::Two)),
    ];

    /// Returns true for a state of a page, false for one of a line.
    pub fn is_of_page(self) -> bool {
        use State::{InL2Tlb, InNoTlb, InTlbs, InWalkCache};
        self.is_attribute() || matches!(self, InTlbs | InL2Tlb | InNoTlb | InWalkCache)
    }

    /// Returns true for attributes that the tables give to a page.
    pub fn is_attribute(self) -> bool {
        use State::{Alias, DeviceInStage2, UnmappedInStage2};
        use State::{Contiguous, Device, InBlock, NonCacheable, ReadOnly, Tagged, Unmapped};
        matches!(self, Unmapped | NonCacheable | Device | ReadOnly | Tagged | InBlock | Contiguous)
            || matches!(self, Alias | UnmappedInStage2 | DeviceInStage2)
    }
}

/// A clause: addresses and their state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// Addresses, or `None` for everything that the steps use.
    pub subject: Option<Vec<u64>>,
    /// State of the addresses.
    pub state: State,
}

/// State before the first step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Base setup.
    pub base: Base,
    /// Changes to the base, applied in order.
    pub clauses: Vec<Clause>,
    /// The branch predictors know the steps.
    pub trained: bool,
    /// Direction of every conditional branch during training; `None` for that of the steps.
    pub trained_taken: Option<bool>,
    /// The steps' own fetches go through the I-side.
    pub own_fetches: bool,
    /// Level of the program: EL0 by default.
    pub privilege: Privilege,
    /// Routing of exceptions.
    pub exceptions: ExceptionControls,
    /// PMU counters that run.
    pub counters: Vec<GivenCounter>,
    /// Programmed profiling.
    pub profiling: GivenProfiling,
    /// Loads and stores of Tagged memory check the tag in bits 59 to 56 of their address.
    pub tag_checks: bool,
    /// Translation has a second stage.
    pub stage2: bool,
    /// Number of cores of the machine; `None` for one.
    pub cores: Option<u32>,
    /// Configuration keys and their TOML values.
    pub set: Vec<(String, String)>,
    /// Places of these keys in the file.
    pub set_places: Vec<Place>,
}

/// Reads `"K3, TLBs empty"`.
pub(super) fn parse_given(cursor: &mut Cursor, names: &Names) -> Result<Given, Fault> {
    let base = parse_base(cursor)?;
    let mut given = Given { base, ..Given::default() };
    while !cursor.is_done() {
        if !(cursor.take(",") || cursor.take(";")) {
            return Err(cursor.expected("',' before the next clause"));
        }
        if !parse_machine(cursor, &mut given)? {
            given.clauses.push(parse_clause(cursor, names)?);
        }
    }
    Ok(given)
}

/// Reads a clause about the machine, if it is next.
fn parse_machine(cursor: &mut Cursor, given: &mut Given) -> Result<bool, Fault> {
    if cursor.take_word("trained") {
        given.trained = true;
        given.trained_taken = match cursor.take_word("taken") {
            true => Some(true),
            false => cursor.take_word("not-taken").then_some(false),
        };
    } else if cursor.take_word("own") {
        if !cursor.take_word("fetches") {
            return Err(cursor.expected("'own fetches'"));
        }
        given.own_fetches = true;
    } else if cursor.take_word("at") {
        parse_privilege(cursor, &mut given.privilege)?;
    } else if cursor.take_word("tag") {
        if !(cursor.take_word("checks") && cursor.take_word("on")) {
            return Err(cursor.expected("'tag checks on'"));
        }
        given.tag_checks = true;
    } else if cursor.take_word("stage") {
        if !cursor.take_word("2") {
            return Err(cursor.expected("'stage 2'"));
        }
        given.stage2 = true;
    } else if parse_cores(cursor, given)? {
    } else if let Some(counter) = parse_given_counter(cursor, &given.counters)? {
        given.counters.push(counter);
    } else if !parse_given_profiling(cursor, &mut given.profiling)? {
        return parse_routing(cursor, given);
    }
    Ok(true)
}

/// Reads `4 cores`, if it is next.
fn parse_cores(cursor: &mut Cursor, given: &mut Given) -> Result<bool, Fault> {
    let mut ahead = cursor.clone();
    let offset = ahead.offset();
    let Ok(Some(value)) = ahead.number() else { return Ok(false) };
    if !ahead.take_word("cores") {
        return Ok(false);
    }
    *cursor = ahead;
    let (what, range) = ("the number of cores", "2 to 64");
    let problem = Problem::OutOfRange { what, range, value };
    let cores = u32::try_from(value).ok().filter(|cores| (2..=64).contains(cores));
    given.cores = Some(cores.ok_or(Fault::new(offset, problem))?);
    Ok(true)
}

/// Reads `EL2 E2H TGE`.
fn parse_privilege(cursor: &mut Cursor, privilege: &mut Privilege) -> Result<(), Fault> {
    let levels = ["EL0", "EL1", "EL2", "EL3"];
    let Some(level) = levels.iter().position(|name| cursor.take_word(name)) else {
        return Err(cursor.expected("EL0, EL1, EL2 or EL3 after 'at'"));
    };
    privilege.level = level as u8;
    privilege.e2h |= cursor.take_word("E2H");
    privilege.tge |= cursor.take_word("TGE");
    Ok(())
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
            let problem = Problem::Expected { expected: expected.to_owned(), found };
            return Err(Fault::new(offset, problem));
        }
        return Ok(Clause { subject: None, state });
    }
    let mut ahead = cursor.clone();
    let mut subject = cursor.addresses(names).map_err(|fault| meant_subject(&mut ahead, fault))?;
    loop {
        let is_state = parse_state(&mut cursor.clone()).is_ok();
        if is_state || cursor.peek_word().is_none_or(|word| !starts_address(word, names)) {
            break;
        }
        subject.extend(cursor.addresses(names)?);
    }
    Ok(Clause { subject: Some(subject), state: parse_state(cursor)? })
}

/// Returns `fault` with the subject that its unknown name means, if it means all addresses.
fn meant_subject(cursor: &mut Cursor, fault: Fault) -> Fault {
    let Problem::UnknownName(name) = &fault.problem else { return fault };
    let Some(subject) = meant::subject(name) else { return fault };
    cursor.word();
    let written = cursor.rest().split([',', ';']).next().unwrap_or_default().trim();
    let is_state = parse_state(&mut Cursor::new(written, 0)).is_ok();
    let usual = if subject == "pages" { "contiguous" } else { "in L2" };
    let state = if is_state { written } else { usual }.to_owned();
    let problem = Problem::UnknownSubject { name: name.clone(), subject, state };
    Fault::new(fault.offset, problem)
}

fn starts_address(word: &str, names: &Names) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) || names.contains_key(word)
}

/// Reads the longest state name that is next.
fn parse_state(cursor: &mut Cursor) -> Result<State, Fault> {
    if cursor.take_word("tag") {
        let offset = cursor.offset();
        let value = cursor.need_number("an allocation tag, as in tag 3")?;
        let tag = u8::try_from(value).ok().filter(|tag| *tag < 16);
        let problem = Problem::OutOfRange { what: "an allocation tag", range: "0 to 15", value };
        return tag.map(State::Tag).ok_or(Fault::new(offset, problem));
    }
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
    format!("a state ({}, tag n)", names.join(", "))
}
