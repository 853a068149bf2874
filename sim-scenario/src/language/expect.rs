//! Expected counts after the last step.
//!
//! An expectation is a sum, statements, or both, separated by `;` or `,`:
//!
//! * a **sum** of reference vectors and events: `V2 + walk ld + L2D_CACHE_WR 1`, or with a minus:
//!   `2 V3 - LD_SPEC 1`. It determines every event; unnamed ones are 0. Printed sums and aliases
//!   are derived from their parts, so only the parts are added;
//! * **statements** about single events: `L1D_TLB 1`, `CPU_CYCLES 10..20`, `STALL >= 5`.
//!
//! With `others = "zero"` every event that is neither named nor derived from a named one must be 0.
//! Clocks, stalls and totals of instructions and operations are exempt, because they always count.
//! A stated sum without stated parts leaves its parts open. Next to a sum, a statement only
//! repeats a count and must agree with the sum.

use sim_core::PmuEvent;
use sim_core::pmu_event::{COUNT, Group, RelationKind};

use super::bound::{Bound, event_named, parse_bound};
use super::counters::{ExpectedCounter, parse_expected_counter};
use super::cursor::Cursor;
use super::error::{Fault, Problem};
use super::pmu_registers::{ExpectedRegister, parse_expected_register};
use super::pmu_statements::{PmuStatement, parse_pmu_statement};
use super::profiling::{ProfileClaim, parse_profile_claim};
use super::vectors::{self, Reading};

/// Expected counts of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The event.
    pub event: PmuEvent,
    /// Expected counts.
    pub bound: Bound,
}

/// Expected counts of every compared event, in the order of the event table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expectation {
    /// Events with their expected counts.
    pub events: Vec<Expected>,
    /// Expected PMU counters.
    pub counters: Vec<ExpectedCounter>,
    /// Expected PMU registers.
    pub registers: Vec<ExpectedRegister>,
    /// Expected results of sampled operations.
    pub profile: Vec<ProfileClaim>,
    /// Other statements about the PMU.
    pub statements: Vec<PmuStatement>,
}

/// Expectation as written, before derived events are resolved.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) reading: Reading,
    sum: Option<[u64; COUNT]>,
    stated: Vec<(PmuEvent, Bound, usize)>,
    counters: Vec<ExpectedCounter>,
    registers: Vec<ExpectedRegister>,
    profile: Vec<ProfileClaim>,
    statements: Vec<PmuStatement>,
    pub(super) others_open: bool,
    /// Events of the boxes on the path, each of which counts at least once.
    pub(super) path: Vec<PmuEvent>,
    pub(super) path_offset: usize,
}

impl Draft {
    /// Reads a whole expectation text.
    pub(super) fn parse(&mut self, cursor: &mut Cursor) -> Result<(), Fault> {
        loop {
            self.parse_part(cursor)?;
            if cursor.is_done() {
                return Ok(());
            }
            if !(cursor.take(";") || cursor.take(",")) {
                return Err(cursor.expected("'+', '-', ';' or ','"));
            }
        }
    }

    /// States the count of one event.
    pub(super) fn state(&mut self, event: PmuEvent, bound: Bound, at: usize) -> Result<(), Fault> {
        if let Some((_, first, _)) = self.stated.iter().find(|(known, ..)| *known == event) {
            return Err(contradiction(event, *first, bound, "it is stated twice", at));
        }
        self.stated.push((event, bound, at));
        Ok(())
    }

    /// Reads a sum or one statement.
    fn parse_part(&mut self, cursor: &mut Cursor) -> Result<(), Fault> {
        if let Some(counter) = parse_expected_counter(cursor)? {
            self.counters.push(counter);
            return Ok(());
        }
        if let Some(statement) = parse_pmu_statement(cursor)? {
            self.statements.push(statement);
            return Ok(());
        }
        if let Some(register) = parse_expected_register(cursor)? {
            self.registers.push(register);
            return Ok(());
        }
        if let Some(claim) = parse_profile_claim(cursor)? {
            self.profile.push(claim);
            return Ok(());
        }
        let start = cursor.clone();
        let offset = cursor.offset();
        let mut sum = [0; COUNT];
        let is_vector = parse_term(cursor, self.reading, &mut sum);
        if !matches!(is_vector, Ok(true)) && !starts_sum(cursor, &is_vector) {
            *cursor = start;
            let event = parse_event(cursor)?;
            let bound = parse_bound(cursor)?;
            return self.state(event, bound, offset);
        }
        is_vector?;
        loop {
            if cursor.take("+") {
                parse_term(cursor, self.reading, &mut sum)?;
            } else if cursor.take("-") {
                subtract_term(cursor, self.reading, &mut sum)?;
            } else {
                break;
            }
        }
        match self.sum.replace(sum) {
            None => Ok(()),
            Some(_) => {
                let (expected, found) = ("one sum; join its parts with '+'", "a second sum");
                let (expected, found) = (expected.to_owned(), found.to_owned());
                Err(Fault::new(offset, Problem::Expected { expected, found }))
            }
        }
    }

    /// Determines the expected counts of every event.
    pub(super) fn resolve(&self) -> Result<Expectation, Fault> {
        let mut bounds: [Option<Bound>; COUNT] = [None; COUNT];
        for (event, bound, _) in &self.stated {
            bounds[*event as usize] = Some(*bound);
        }
        for event in PmuEvent::ALL.into_iter().filter(|event| parts(*event).is_empty()) {
            self.resolve_leaf(event, &mut bounds)?;
        }
        for event in PmuEvent::ALL.into_iter().filter(|event| !parts(*event).is_empty()) {
            self.resolve_derived(event, &mut bounds)?;
        }
        for event in &self.path {
            self.resolve_path(*event, &mut bounds)?;
        }
        let known = |event: PmuEvent| bounds[event as usize].map(|bound| Expected { event, bound });
        let events = PmuEvent::ALL.into_iter().filter_map(known).collect();
        let (counters, registers) = (self.counters.clone(), self.registers.clone());
        let (statements, profile) = (self.statements.clone(), self.profile.clone());
        Ok(Expectation { events, counters, registers, statements, profile })
    }

    /// Resolves an event that is not derived from others: stated, in the sum, or 0.
    fn resolve_leaf(
        &self,
        event: PmuEvent,
        bounds: &mut [Option<Bound>; COUNT],
    ) -> Result<(), Fault> {
        let bound = &mut bounds[event as usize];
        if let Some(sum) = &self.sum {
            let in_sum = Bound::exactly(sum[event as usize]);
            let is_determined = in_sum.min > 0 || (always_looked_at(event) && !self.others_open);
            if let Some(stated) = bound.filter(|stated| is_determined && !stated.holds(in_sum.min))
            {
                let at = self.offset_of(event);
                let because = "from the sum; what a statement adds belongs into the sum";
                return Err(contradiction(event, stated, in_sum, because, at));
            }
            if is_determined {
                *bound = Some(in_sum);
            }
        } else if bound.is_none() && !self.others_open && always_looked_at(event) {
            let part_of_stated = self.stated.iter().any(|(stated, ..)| {
                let parts = parts(*stated);
                let all_open = parts.iter().all(|part| !self.is_stated(*part));
                parts.contains(&event) && all_open
            });
            if !part_of_stated {
                *bound = Some(Bound::exactly(0));
            }
        }
        Ok(())
    }

    /// Resolves a printed or implied sum, or an alias, from its parts.
    fn resolve_derived(
        &self,
        event: PmuEvent,
        bounds: &mut [Option<Bound>; COUNT],
    ) -> Result<(), Fault> {
        let residue = self.sum.as_ref().map_or(0, |sum| sum[event as usize]);
        let exact = |part: &PmuEvent| bounds[*part as usize].and_then(Bound::exact);
        let total: Option<u64> = parts(event).iter().map(exact).sum();
        let Some(total) = total else { return Ok(()) };
        let derived = Bound::exactly(total + residue);
        match bounds[event as usize] {
            Some(stated) if !stated.holds(derived.min) => {
                let because = "from its parts";
                Err(contradiction(event, stated, derived, because, self.offset_of(event)))
            }
            _ => {
                bounds[event as usize] = Some(derived);
                Ok(())
            }
        }
    }

    fn resolve_path(
        &self,
        event: PmuEvent,
        bounds: &mut [Option<Bound>; COUNT],
    ) -> Result<(), Fault> {
        let bound = &mut bounds[event as usize];
        let by_path = Bound { min: 1, max: u64::MAX };
        let known = bound.unwrap_or(Bound { min: 0, max: u64::MAX });
        if known.max == 0 {
            return Err(contradiction(event, known, by_path, "from the path", self.path_offset));
        }
        *bound = Some(Bound { min: known.min.max(1), ..known });
        Ok(())
    }

    fn is_stated(&self, event: PmuEvent) -> bool {
        self.stated.iter().any(|(stated, ..)| *stated == event)
    }

    fn offset_of(&self, event: PmuEvent) -> usize {
        let stated = self.stated.iter().find(|(stated, ..)| *stated == event);
        stated.map_or(self.path_offset, |(.., at)| *at)
    }
}

/// Returns true if the text so far begins a sum: a `+` or `-` follows, or it failed as a sum does.
fn starts_sum(cursor: &mut Cursor, term: &Result<bool, Fault>) -> bool {
    match term {
        Ok(_) => cursor.clone().take("+") || cursor.clone().take("-"),
        Err(_) => false,
    }
}

/// Reads one term and adds it. Returns true for a vector, false for a single event.
fn parse_term(
    cursor: &mut Cursor,
    reading: Reading,
    sum: &mut [u64; COUNT],
) -> Result<bool, Fault> {
    let times = cursor.number()?;
    if let Some(vector) = parse_vector(cursor, reading) {
        for event in vector.events {
            add(&mut sum[*event as usize], times.unwrap_or(1), cursor)?;
        }
        return Ok(true);
    }
    if times.is_some() {
        return Err(cursor.expected("a vector after its factor, as in 2 V3"));
    }
    let offset = cursor.offset();
    let event = parse_event(cursor)?;
    let count = cursor.need_number("a count")?;
    let parts = parts(event);
    // Only the bus counts something beyond its parts: snoops.
    if !parts.is_empty() && event != PmuEvent::BUS_ACCESS {
        let names: Vec<&str> = parts.iter().map(|part| part.mnemonic()).collect();
        let event = event.mnemonic();
        let problem = Problem::DerivedInSum { event, parts: names.join(", ") };
        return Err(Fault::new(offset, problem));
    }
    add(&mut sum[event as usize], count, cursor)?;
    Ok(false)
}

/// Reads one term and subtracts it: `2 V1 - LD_SPEC 1`.
fn subtract_term(
    cursor: &mut Cursor,
    reading: Reading,
    sum: &mut [u64; COUNT],
) -> Result<(), Fault> {
    let mut less = [0; COUNT];
    parse_term(cursor, reading, &mut less)?;
    for (total, less) in sum.iter_mut().zip(less) {
        let rest = total.checked_sub(less);
        *total = rest.ok_or_else(|| cursor.expected("a '-' of no more than the sum has so far"))?;
    }
    Ok(())
}

fn add(total: &mut u64, more: u64, cursor: &mut Cursor) -> Result<(), Fault> {
    *total = total.checked_add(more).ok_or_else(|| cursor.expected("counts of 64 bits"))?;
    Ok(())
}

/// Reads a vector, if it is next.
fn parse_vector(cursor: &mut Cursor, reading: Reading) -> Option<&'static vectors::Vector> {
    let mut ahead = cursor.clone();
    let mut name = ahead.word()?.to_owned();
    if let Some(side) = ahead.peek_word().filter(|_| name == "tlb2" || name == "walk") {
        name = format!("{name} {side}");
        ahead.word();
    }
    let vector = vectors::find(&name, reading)?;
    *cursor = ahead;
    Some(vector)
}

pub(super) fn parse_event(cursor: &mut Cursor) -> Result<PmuEvent, Fault> {
    let offset = cursor.offset();
    let mut ahead = cursor.clone();
    let Some(name) = ahead.word().filter(|word| !word.starts_with(|c: char| c.is_ascii_digit()))
    else {
        return Err(cursor.expected("an event or a vector (V1 to V9, walk ld, tlb2 st ...)"));
    };
    *cursor = ahead;
    event_named(name, offset)
}

/// Returns the events from which `event` is derived, as a counter shows it; empty for most.
fn parts(event: PmuEvent) -> &'static [PmuEvent] {
    [RelationKind::AliasOf, RelationKind::SumOf, RelationKind::ImpliedSumOf]
        .into_iter()
        .find_map(|kind| event.relation(kind))
        .unwrap_or_default()
}

/// Returns false for events that count in every case: clocks, stalls, totals.
fn always_looked_at(event: PmuEvent) -> bool {
    use PmuEvent::{BUS_CYCLES, CNT_CYCLES, CPU_CYCLES};
    use PmuEvent::{INST_RETIRED, INST_SPEC, OP_RETIRED, OP_SPEC};
    let runs = [CPU_CYCLES, BUS_CYCLES, CNT_CYCLES, INST_RETIRED, INST_SPEC, OP_RETIRED, OP_SPEC];
    event.info().group != Group::Pipeline && !runs.contains(&event)
}

fn contradiction(
    event: PmuEvent,
    first: Bound,
    second: Bound,
    because: &'static str,
    at: usize,
) -> Fault {
    let (first, second) = (first.to_string(), second.to_string());
    let problem = Problem::Contradiction { event: event.mnemonic(), first, second, because };
    Fault::new(at, problem)
}
