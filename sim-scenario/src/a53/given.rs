//! State of caches and TLBs before the first instruction.
//!
//! A base, then clauses that say where single lines and pages are instead:
//!
//! * **cold**: nothing in any cache or TLB;
//! * **mapped**: the pages of code and data are in all TLBs of the cores that use them, and the
//!   code is in their L1 I-caches;
//! * **warm**: mapped, and the data lines are clean in the L1 D-caches of the cores that use them.
//!
//! A clause is a list of addresses, `data` or `code` (all that the steps of the core use), a state,
//! and a core if it is not core 0: `0x8000 dirty in L1D of core 1`. States of lines: `in no cache`,
//! `in L1D`, `dirty in L1D`, `in L1I`, `in L2`, `dirty in L2`. States of pages: `in no TLB`,
//! `in micro-TLBs`, `in main TLB`, `in walk cache`, `with descriptors in L1D` (and in no TLB).
//! A line or page with a clause is only where its clauses say. Hardware prefetches are off.
//!
//! `0x8000 with an error in L1D` spoils what is in a RAM by the base or an earlier clause: `L1I`,
//! `L1D`, `main TLB`, `L2`, `snoop filter` (the tag of a line in the L1 D-cache of the core).

use sim_a53::memory::{HeldLine, HeldPage, Ram};

use crate::language::cursor::{Cursor, Names};
use crate::language::error::{Fault, Problem};

/// State of lines and pages without a clause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Base {
    /// In no cache and no TLB.
    #[default]
    Cold,
    /// Pages in all TLBs, code in the L1 I-cache.
    Mapped,
    /// Mapped, and data in the L1 D-cache.
    Warm,
}

/// Subject of a clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Addresses.
    Addresses(Vec<u64>),
    /// Everything that the steps of the core load, store and maintain.
    Data,
    /// The instructions of the steps of the core.
    Code,
}

/// Place of a line or a page; `None` is nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// A line.
    Line(Option<HeldLine>),
    /// A page.
    Page(Option<HeldPage>),
    /// An error of what a RAM has.
    Error(Ram),
}

/// Subject and place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// Lines or pages.
    pub subject: Subject,
    /// Their place.
    pub held: Held,
    /// Core whose caches and TLBs have them.
    pub core: usize,
}

/// State before the first step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// State of all that no clause names.
    pub base: Base,
    /// Clauses in order.
    pub clauses: Vec<Clause>,
}

impl Given {
    /// Returns the cores that clauses name.
    pub(super) fn cores(&self) -> impl Iterator<Item = usize> {
        self.clauses.iter().map(|clause| clause.core)
    }
}

/// States by name.
const STATES: [(&str, Held); 16] = [
    ("in no cache", Held::Line(None)),
    ("in L1D", Held::Line(Some(HeldLine::L1d { dirty: false }))),
    ("dirty in L1D", Held::Line(Some(HeldLine::L1d { dirty: true }))),
    ("in L1I", Held::Line(Some(HeldLine::L1i))),
    ("in L2", Held::Line(Some(HeldLine::L2 { dirty: false }))),
    ("dirty in L2", Held::Line(Some(HeldLine::L2 { dirty: true }))),
    ("in no TLB", Held::Page(None)),
    ("in micro-TLBs", Held::Page(Some(HeldPage::MicroTlbs))),
    ("in main TLB", Held::Page(Some(HeldPage::MainTlb))),
    ("in walk cache", Held::Page(Some(HeldPage::WalkCache))),
    ("with descriptors in L1D", Held::Page(Some(HeldPage::Descriptors))),
    ("with an error in L1I", Held::Error(Ram::L1i)),
    ("with an error in L1D", Held::Error(Ram::L1d)),
    ("with an error in main TLB", Held::Error(Ram::MainTlb)),
    ("with an error in L2", Held::Error(Ram::L2)),
    ("with an error in snoop filter", Held::Error(Ram::SnoopFilter)),
];

/// Reads `warm, 0x8000 in L2, 0x9000 dirty in L1D of core 1`.
pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Given, Fault> {
    let bases = [("cold", Base::Cold), ("mapped", Base::Mapped), ("warm", Base::Warm)];
    let base = bases.iter().find(|(name, _)| cursor.take_word(name));
    let Some((_, base)) = base else { return Err(cursor.expected("cold, mapped or warm")) };
    let mut given = Given { base: *base, clauses: Vec::new() };
    while !cursor.is_done() {
        if !cursor.take(",") {
            return Err(cursor.expected("',' before the next clause"));
        }
        given.clauses.push(parse_clause(cursor)?);
    }
    Ok(given)
}

fn parse_clause(cursor: &mut Cursor<'_>) -> Result<Clause, Fault> {
    let subject = if cursor.take_word("data") {
        Subject::Data
    } else if cursor.take_word("code") {
        Subject::Code
    } else {
        let names = Names::new();
        let mut addresses = vec![cursor.address(&names)?];
        while cursor.peek_word().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()))
        {
            addresses.push(cursor.address(&names)?);
        }
        Subject::Addresses(addresses)
    };
    let held = parse_state(cursor)?;
    let core = match cursor.take_word("of") {
        true => parse_core(cursor)?,
        false => 0,
    };
    Ok(Clause { subject, held, core })
}

fn parse_state(cursor: &mut Cursor<'_>) -> Result<Held, Fault> {
    for (name, held) in STATES {
        let mut ahead = cursor.clone();
        if name.split(' ').all(|word| ahead.take_word(word)) {
            *cursor = ahead;
            return Ok(held);
        }
    }
    let names: Vec<&str> = STATES.iter().map(|(name, _)| *name).collect();
    Err(cursor.expected(&format!("a state ({})", names.join(", "))))
}

/// Reads `core 1`.
pub(super) fn parse_core(cursor: &mut Cursor<'_>) -> Result<usize, Fault> {
    if !cursor.take_word("core") {
        return Err(cursor.expected("'core' and its number"));
    }
    let offset = cursor.offset();
    let value = cursor.need_number("the number of a core")?;
    if value >= sim_a53::MAX_CORES as u64 {
        let problem = Problem::OutOfRange { what: "a core", range: "0 to 3", value };
        return Err(Fault::new(offset, problem));
    }
    Ok(value as usize)
}
