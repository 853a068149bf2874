//! Counts the cases of a recorded program on the model.

use std::collections::BTreeMap;

use sim_core::{Counts, DeferredSink, EventSink, InstId, Notice, PmuEvent};
use sim_machine::{MachineError, RunOptions, Session};
use sim_trace::Meta;

use crate::assembly::symbols;
use crate::counts::CountedCase;
use crate::program::{Litmus, counted_events, mark_of};
use crate::vectors;

/// Block size of the pages of cases that do not need small ones, as an override.
const BLOCKS: &str = "memory.pages.block-bytes=2097152";

/// Addresses of the functions of one case, as `[first, end)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaseCode {
    /// The function with the steps.
    pub with: (u64, u64),
    /// The function without them.
    pub without: (u64, u64),
}

/// A page size of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// Pages of the machine's configuration.
    Small,
    /// Blocks of 2 MiB.
    Blocks,
}

impl Pages {
    /// Both, in the order of the replays.
    pub const BOTH: [Pages; 2] = [Pages::Small, Pages::Blocks];

    /// Returns what the configuration of the machine gets besides.
    pub fn overrides(self) -> Option<&'static str> {
        (self == Pages::Blocks).then_some(BLOCKS)
    }

    /// Returns true if the counts of a case come from a replay with such pages.
    pub fn is_for(self, litmus: &Litmus) -> bool {
        litmus.plan.small_pages == (self == Pages::Small)
    }
}

/// Returns the functions of the cases in a recorded program; `None` if it is a program of other
/// cases.
pub fn code(meta: &Meta, cases: &[Litmus]) -> Option<Vec<CaseCode>> {
    meta.symbol(&mark_of(cases))?;
    let range = |name: &str| {
        let symbol = meta.symbol(name)?;
        Some((symbol.addr, symbol.addr.checked_add(symbol.size)?))
    };
    let of_case = |number| {
        let [with, without] = symbols(number);
        Some(CaseCode { with: range(&with)?, without: range(&without)? })
    };
    (0..cases.len()).map(of_case).collect()
}

/// Runs the recorded program on the machine of the session and returns the counts of the cases that
/// such pages are for, and whose vectors the recording shows. Calls `progress` with the number of
/// instructions so far.
///
/// # Errors
///
/// If the run fails.
pub fn replay(
    session: &Session,
    pages: Pages,
    cases: &[Litmus],
    code: &[CaseCode],
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<CountedCase>, MachineError> {
    let mut sink = CallCounts::new(code);
    session.run_deferred(&RunOptions::default(), progress, &mut sink)?;
    let has_elements = vectors::has_elements(session.trace());
    let is_shown = |litmus: &Litmus| has_elements || !litmus.plan.needs_elements();
    Ok(sink.cases(cases, |litmus| pages.is_for(litmus) && is_shown(litmus)))
}

/// Part of the program that belongs to no case.
const OUTSIDE: u32 = u32::MAX;
/// Part of code that is far from the program's own: what a function calls in the memory of the
/// cases belongs to its call.
const CALLED: u32 = u32::MAX - 2;
/// Distance of such code, in bytes; no program of cases is as long.
const FAR: u64 = 256 << 20;
/// Part of an instruction that is not looked up yet.
const UNKNOWN: u32 = u32::MAX - 1;

/// Sink that keeps the counts of each call of each function.
#[derive(Clone, Debug)]
struct CallCounts {
    /// First and last address of each function, and its number: two for each case.
    ranges: Vec<(u64, u64, u32)>,
    /// The function of each static instruction.
    of_inst: Vec<u32>,
    /// Counts of each call of each function.
    calls: Vec<Vec<Counts>>,
    current: u32,
    /// Receives what belongs to no function.
    rest: Counts,
}

impl CallCounts {
    /// Returns a sink for a program with these functions.
    fn new(code: &[CaseCode]) -> CallCounts {
        let both = code.iter().flat_map(|case| [case.with, case.without]);
        let mut ranges: Vec<_> =
            both.zip(0..).map(|((first, end), number)| (first, end, number)).collect();
        let calls = vec![Vec::new(); ranges.len()];
        ranges.sort_unstable();
        CallCounts { ranges, of_inst: Vec::new(), calls, current: OUTSIDE, rest: Counts::default() }
    }

    /// Returns the counts of the cases that `is_chosen`. The first two calls of a function, a trial
    /// and one that fills the predictors, are left out.
    fn cases(&self, cases: &[Litmus], is_chosen: impl Fn(&Litmus) -> bool) -> Vec<CountedCase> {
        let chosen = cases.iter().enumerate().filter(|(_, case)| is_chosen(case));
        chosen.filter_map(|(number, case)| self.case(number, case)).collect()
    }

    fn case(&self, number: usize, litmus: &Litmus) -> Option<CountedCase> {
        let (with, without) = (self.calls.get(2 * number)?, self.calls.get(2 * number + 1)?);
        let pairs: Vec<_> = with.iter().zip(without).skip(TRIALS).collect();
        if pairs.is_empty() {
            return None;
        }
        let rounds = f64::from(litmus.plan.rounds);
        let of_event = |event: PmuEvent| {
            let difference = |(with, without): &(&Counts, &Counts)| {
                (with.value(event) as f64 - without.value(event) as f64) / rounds
            };
            (event.mnemonic().to_owned(), pairs.iter().map(difference).collect())
        };
        let counts: BTreeMap<String, Vec<f64>> = counted_events().map(of_event).collect();
        Some(CountedCase { case: litmus.id.clone(), rounds: litmus.plan.rounds.into(), counts })
    }

    #[cold]
    fn look_up(&mut self, inst: InstId, pc: u64) -> u32 {
        let after = self.ranges.partition_point(|(first, ..)| *first <= pc);
        let before = after.checked_sub(1).map(|at| self.ranges[at]);
        let is_near = |(first, ..): &(u64, u64, u32)| pc.abs_diff(*first) < FAR;
        let outside = if self.ranges.first().is_none_or(is_near) { OUTSIDE } else { CALLED };
        let part = before.filter(|(_, end, _)| pc < *end).map_or(outside, |(.., number)| number);
        let inst = inst as usize;
        if self.of_inst.len() <= inst {
            self.of_inst.resize(inst + 1, UNKNOWN);
        }
        self.of_inst[inst] = part;
        part
    }

    fn target(&mut self) -> &mut Counts {
        match self.calls.get_mut(self.current as usize).and_then(|calls| calls.last_mut()) {
            Some(counts) => counts,
            None => &mut self.rest,
        }
    }
}

/// Calls of each function before those that are counted.
const TRIALS: usize = 2;

impl EventSink for CallCounts {
    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        self.target().count(event, n);
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        // What a wrong path counts belongs to the function whose branch led there.
        if let Notice::Part { part, on_wrong_path: false } = notice
            && part != CALLED
        {
            if part != self.current && part != OUTSIDE {
                self.calls[part as usize].push(Counts::default());
            }
            self.current = part;
        }
    }
}

impl DeferredSink for CallCounts {
    const ATTRIBUTES: bool = true;

    fn cycles_to_deadline(&self) -> u64 {
        u64::MAX
    }

    #[inline]
    fn part_of(&mut self, inst: InstId, pc: u64) -> u32 {
        match self.of_inst.get(inst as usize) {
            Some(&part) if part != UNKNOWN => part,
            _ => self.look_up(inst, pc),
        }
    }

    fn count_all(&mut self, sum: &Counts) {
        self.target().add(sum);
    }
}
