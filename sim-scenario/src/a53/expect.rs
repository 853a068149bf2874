//! Expected counts.
//!
//! `LD_RETIRED 1, MEM_ACCESS 1 ; core 1: EXT_SNOOP 1` lists what cores 0 and 1 count. A number may
//! be a bound: `1..5`, `>= 1`, `<= 5`. Names are those of `n2sim list events --core cortex-a53`,
//! `TWO_RETIRED` (cycles in which two instructions retire, bit 8 of the bus), `L2_CACHE_ERR`,
//! `SNOOP_FILTER_ERR` and `SIMD_RETENTION` (bits 26 to 28), `LOST_EXCLUSIVES` (store-exclusives
//! that succeed although their monitor is open), and `LOST_` with a cause, in issue slots: two for
//! each cycle.
//!
//! An event that is not listed must be 0, for core 0 and for each core that the text names. Three
//! groups are compared only where a case lists them:
//!
//! * what every program raises: `INST_RETIRED`, `CPU_CYCLES`, `BUS_CYCLES`, `L1I_CACHE` and
//!   `TWO_RETIRED`, each by itself;
//! * the stalls, 0xE0 to 0xE8: all of them in a case that lists one;
//! * lost issue slots: all causes in a case that lists one.

use sim_a53::slots::LostTo;
use sim_a53::{A53Condition, A53CoreOutcome, A53Event};

use super::given::parse_core;
use crate::language::Bound;
use crate::language::bound::parse_bound;
use crate::language::cursor::Cursor;
use crate::language::error::{Fault, Problem};

/// Something that a case expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// An event.
    Event(A53Event),
    /// Cycles in which two instructions retired.
    TwoRetired,
    /// Cycles of a condition of the event bus that has no number.
    Condition(A53Condition),
    /// Store-exclusives that succeeded although their monitor was open.
    LostExclusives,
    /// Issue slots that were lost to a cause.
    Lost(LostTo),
}

/// A measure with its expected value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The core.
    pub core: usize,
    /// The measure.
    pub measure: Measure,
    /// Allowed counts.
    pub bound: Bound,
}

/// Group of measures that are compared together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    /// Zero unless listed.
    Usual,
    /// Compared only if it is listed itself.
    Always,
    Stall,
    Slot,
}

/// Causes of lost slots by the name that a case uses.
const LOST: [(&str, LostTo); 11] = [
    ("LOST_LOAD_MISS", LostTo::LoadMiss),
    ("LOST_STORE", LostTo::Store),
    ("LOST_SIMD_INTERLOCK", LostTo::SimdInterlock),
    ("LOST_ADDRESS_INTERLOCK", LostTo::AddressInterlock),
    ("LOST_OTHER_INTERLOCK", LostTo::OtherInterlock),
    ("LOST_INST_CACHE", LostTo::InstCache),
    ("LOST_INST_TLB", LostTo::InstTlb),
    ("LOST_FRONT_END", LostTo::FrontEnd),
    ("LOST_PAIRING", LostTo::Pairing),
    ("LOST_WIDE_ACCESS", LostTo::WideAccess),
    ("LOST_END", LostTo::End),
];

impl Measure {
    /// Returns every measure.
    pub fn all() -> impl Iterator<Item = Measure> {
        let events = A53Event::ALL.into_iter().map(Measure::Event);
        let lost = LostTo::ALL.into_iter().map(Measure::Lost);
        let conditions = A53Condition::ALL.into_iter().map(Measure::Condition);
        let others = [Measure::TwoRetired, Measure::LostExclusives];
        events.chain(others).chain(conditions).chain(lost)
    }

    /// Returns its name in a case.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Event(event) => event.mnemonic(),
            Measure::TwoRetired => "TWO_RETIRED",
            Measure::LostExclusives => "LOST_EXCLUSIVES",
            Measure::Condition(condition) => condition.name(),
            Measure::Lost(cause) => {
                LOST.iter().find(|(_, lost)| *lost == cause).map_or("", |(name, _)| *name)
            }
        }
    }

    /// Returns its value in the result of a core.
    pub fn of(self, outcome: &A53CoreOutcome) -> u64 {
        match self {
            Measure::Event(event) => outcome.counts.value(event),
            Measure::TwoRetired => outcome.two_retired,
            Measure::LostExclusives => outcome.lost_exclusives,
            Measure::Condition(condition) => outcome.counts.cycles_of(condition),
            Measure::Lost(cause) => outcome.slots.lost(cause),
        }
    }

    fn group(self) -> Group {
        match self {
            Measure::Event(
                A53Event::INST_RETIRED
                | A53Event::CPU_CYCLES
                | A53Event::BUS_CYCLES
                | A53Event::L1I_CACHE,
            )
            | Measure::TwoRetired => Group::Always,
            Measure::Event(event) if (0xE0..=0xE8).contains(&event.code()) => Group::Stall,
            Measure::Event(_) | Measure::Condition(_) | Measure::LostExclusives => Group::Usual,
            Measure::Lost(_) => Group::Slot,
        }
    }
}

/// Reads a whole `expect` text. `others_open` leaves out what it does not list.
pub(super) fn parse(cursor: &mut Cursor<'_>, others_open: bool) -> Result<Vec<Expected>, Fault> {
    let mut listed: Vec<Expected> = Vec::new();
    let mut cores = vec![0];
    let mut core = 0;
    while !cursor.is_done() {
        if cursor.peek_word() == Some("core") {
            core = parse_core(cursor)?;
            if !cursor.take(":") {
                return Err(cursor.expected("':' after the number of the core"));
            }
            if !cores.contains(&core) {
                cores.push(core);
            }
        }
        let offset = cursor.offset();
        let measure = parse_measure(cursor)?;
        if listed.iter().any(|old| old.core == core && old.measure == measure) {
            let expected = "each event once".to_owned();
            let found = format!("{} again", measure.name());
            return Err(Fault::new(offset, Problem::Expected { expected, found }));
        }
        listed.push(Expected { core, measure, bound: parse_bound(cursor)? });
        if !cursor.is_done() && !cursor.take(",") && !cursor.take(";") {
            return Err(cursor.expected("',' before the next event, or ';' before the next core"));
        }
    }
    if !others_open {
        cores.into_iter().for_each(|core| add_zeros(&mut listed, core));
    }
    Ok(listed)
}

/// Adds what must be 0 because the case does not list it.
fn add_zeros(listed: &mut Vec<Expected>, core: usize) {
    let own = |of: &Expected| of.core == core;
    let lists = |group| listed.iter().any(|of| own(of) && of.measure.group() == group);
    let (stalls, slots) = (lists(Group::Stall), lists(Group::Slot));
    let is_zero = |measure: &Measure| match measure.group() {
        Group::Usual => true,
        Group::Always => false,
        Group::Stall => stalls,
        Group::Slot => slots,
    };
    let is_listed = |measure: &Measure| listed.iter().any(|of| own(of) && of.measure == *measure);
    let zeros: Vec<Expected> = Measure::all()
        .filter(|measure| is_zero(measure) && !is_listed(measure))
        .map(|measure| Expected { core, measure, bound: Bound::exactly(0) })
        .collect();
    listed.extend(zeros);
}

fn parse_measure(cursor: &mut Cursor<'_>) -> Result<Measure, Fault> {
    let offset = cursor.offset();
    let Some(name) = cursor.word() else { return Err(cursor.expected("the name of an event")) };
    let found = Measure::all().find(|measure| measure.name().eq_ignore_ascii_case(name));
    found.ok_or_else(|| {
        let hint = "'n2sim list events --core cortex-a53' lists events; LOST_LOAD_MISS and others \
                    are lost slots"
            .to_owned();
        Fault::new(offset, Problem::UnknownA53Event(name.to_owned(), hint))
    })
}
