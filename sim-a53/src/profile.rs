//! Profile of a run: the costs of each static instruction, and the run over time.
//!
//! A slot that is lost while the queue refills after a misprediction is charged to the branch, any
//! other to the instruction that waits. Cycles belong to the instruction that the core waits for.

use crate::cluster::{A53Config, A53CoreOutcome, A53Error, run_with_sinks};
use crate::event::{A53Condition, A53Counts, A53Event, A53Sink, Issued};
use crate::slots::{LostTo, SLOTS};
use sim_trace::{TraceError, TraceFile};

/// Use of an issue slot in a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotUse {
    /// It issued an instruction.
    Issued,
    /// It was lost while the queue refilled after a misprediction.
    Misprediction,
    /// It was lost to another cause.
    Lost(LostTo),
}

/// Number of uses.
pub const SLOT_USES: usize = 2 + LostTo::ALL.len();

impl SlotUse {
    /// Returns every use, in the order of their numbers.
    pub fn all() -> impl Iterator<Item = SlotUse> {
        [SlotUse::Issued, SlotUse::Misprediction].into_iter().chain(LostTo::ALL.map(SlotUse::Lost))
    }

    /// Returns its number.
    #[inline]
    pub fn index(self) -> usize {
        match self {
            SlotUse::Issued => 0,
            SlotUse::Misprediction => 1,
            SlotUse::Lost(cause) => 2 + cause as usize,
        }
    }
}

/// Events that a profile counts for each instruction and each interval.
pub const COLUMNS: [A53Event; 10] = [
    A53Event::INST_RETIRED,
    A53Event::BR_MIS_PRED,
    A53Event::PC_WRITE_RETIRED,
    A53Event::L1I_CACHE_REFILL,
    A53Event::L1D_CACHE_REFILL,
    A53Event::L2D_CACHE_REFILL,
    A53Event::L1I_TLB_REFILL,
    A53Event::L1D_TLB_REFILL,
    A53Event::PREFETCH_LINEFILL,
    A53Event::BUS_ACCESS,
];

/// Number that is no column.
const NO_COLUMN: u8 = u8::MAX;
/// Column of each event.
const COLUMN_OF: [u8; crate::event::COUNT] = column_of();

const fn column_of() -> [u8; crate::event::COUNT] {
    let mut of = [NO_COLUMN; crate::event::COUNT];
    let mut at = 0;
    while at < COLUMNS.len() {
        of[COLUMNS[at] as usize] = at as u8;
        at += 1;
    }
    of
}

/// Costs of a static instruction, or of several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct A53Cost {
    /// Cycles from the issue before its own to its own.
    pub cycles: u64,
    /// Issue slots by [`SlotUse`].
    pub slots: [u64; SLOT_USES],
    /// Counts of [`COLUMNS`].
    columns: [u64; COLUMNS.len()],
}

impl A53Cost {
    /// Returns the slots of a use.
    pub fn slots_of(&self, slot: SlotUse) -> u64 {
        self.slots[slot.index()]
    }

    /// Returns all slots.
    pub fn all_slots(&self) -> u64 {
        self.slots.iter().sum()
    }

    /// Returns the count of an event; 0 if it is not one of [`COLUMNS`].
    pub fn count(&self, event: A53Event) -> u64 {
        self.columns.get(usize::from(COLUMN_OF[event as usize])).copied().unwrap_or(0)
    }

    /// Returns whether there is no cost and no event.
    pub fn is_none(&self) -> bool {
        *self == A53Cost::default()
    }

    /// Adds another cost.
    pub fn add(&mut self, other: &A53Cost) {
        self.cycles += other.cycles;
        self.slots.iter_mut().zip(&other.slots).for_each(|(own, more)| *own += more);
        self.columns.iter_mut().zip(&other.columns).for_each(|(own, more)| *own += more);
    }

    #[inline]
    fn raise(&mut self, event: A53Event, times: u64) {
        if let Some(column) = self.columns.get_mut(usize::from(COLUMN_OF[event as usize])) {
            *column += times;
        }
    }
}

/// Most intervals of a core. The last ones are merged when there are more.
const INTERVALS: usize = 256;
/// Cycles of an interval at first.
const FIRST_STEP: u64 = 256;

/// A core over time, in intervals of equal length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intervals {
    /// Cycles of an interval.
    pub step: u64,
    /// Slots and counts of each interval; its cycles are left out.
    pub intervals: Vec<A53Cost>,
}

impl Default for Intervals {
    fn default() -> Intervals {
        Intervals { step: FIRST_STEP, intervals: Vec::with_capacity(INTERVALS) }
    }
}

impl Intervals {
    #[inline]
    fn at(&mut self, cycle: u64) -> &mut A53Cost {
        while cycle / self.step >= INTERVALS as u64 {
            self.merge();
        }
        let place = (cycle / self.step) as usize;
        if place >= self.intervals.len() {
            self.intervals.resize(place + 1, A53Cost::default());
        }
        &mut self.intervals[place]
    }

    /// Doubles the length of the intervals.
    #[cold]
    fn merge(&mut self) {
        self.step *= 2;
        let halves = self.intervals.chunks(2).map(|pair| {
            let mut sum = pair[0].clone();
            pair.iter().skip(1).for_each(|other| sum.add(other));
            sum
        });
        self.intervals = halves.collect();
    }

    /// Lengthens the intervals to `step`, which is a larger power of two times the first step.
    fn lengthen(&mut self, step: u64) {
        while self.step < step {
            self.merge();
        }
    }

    /// Adds the slots that are lost from the cycle `cycle` on.
    fn lose(&mut self, slot: SlotUse, cycle: u64, slots: u64) {
        if slots < SLOTS {
            self.at(cycle).slots[slot.index()] += slots;
            return;
        }
        let end = cycle + slots / SLOTS;
        let mut at = cycle;
        while at < end {
            let until = ((at / self.step + 1) * self.step).min(end);
            self.at(at).slots[slot.index()] += SLOTS * (until - at);
            at = until;
        }
    }
}

/// Observer of one core.
#[derive(Clone, Debug)]
struct ProfileSink {
    total: A53Counts,
    costs: Vec<A53Cost>,
    elsewhere: A53Cost,
    time: Intervals,
    /// The instruction in progress, and the mispredicted branch before it.
    current: Option<u32>,
    after: Option<u32>,
    mispredicted: bool,
    /// Last cycle that has an instruction.
    until: u64,
}

impl ProfileSink {
    fn new(insts: usize) -> ProfileSink {
        ProfileSink {
            total: A53Counts::default(),
            costs: vec![A53Cost::default(); insts],
            elsewhere: A53Cost::default(),
            time: Intervals::default(),
            current: None,
            after: None,
            mispredicted: false,
            until: 0,
        }
    }

    #[inline]
    fn cost(&mut self, inst: Option<u32>) -> &mut A53Cost {
        match inst {
            Some(inst) => &mut self.costs[inst as usize],
            None => &mut self.elsewhere,
        }
    }
}

impl AsRef<A53Counts> for ProfileSink {
    fn as_ref(&self) -> &A53Counts {
        &self.total
    }
}

impl A53Sink for ProfileSink {
    const OBSERVES_ISSUE: bool = true;

    #[inline]
    fn raise(&mut self, event: A53Event, cycle: u64, times: u64) {
        self.total.raise(event, cycle, times);
        if event == A53Event::CPU_CYCLES {
            // The end of the run gives all cycles at once.
            self.elsewhere.cycles += times.saturating_sub(self.until);
        }
        if COLUMN_OF[event as usize] != NO_COLUMN {
            self.cost(self.current).raise(event, times);
            self.time.at(cycle).raise(event, times);
            self.mispredicted |= event == A53Event::BR_MIS_PRED;
        }
    }

    fn signal(&mut self, condition: A53Condition, cycle: u64, times: u64) {
        self.total.signal(condition, cycle, times);
    }

    #[inline]
    fn begin(&mut self, inst: u32, _: u64) {
        self.after = if self.mispredicted { self.current } else { None };
        self.mispredicted = false;
        self.current = Some(inst);
    }

    #[inline]
    fn issued(&mut self, issued: &Issued) {
        let cycles = issued.issue - self.until;
        self.until = issued.issue;
        let cost = self.cost(self.current);
        cost.cycles += cycles;
        cost.slots[SlotUse::Issued.index()] += 1;
        self.time.at(issued.issue).slots[SlotUse::Issued.index()] += 1;
    }

    fn lose(&mut self, cause: LostTo, cycle: u64, slots: u64) {
        let (charged, slot) = match (cause, self.after) {
            (LostTo::FrontEnd, Some(branch)) => (Some(branch), SlotUse::Misprediction),
            // No instruction waits.
            (LostTo::End, _) => (None, SlotUse::Lost(cause)),
            _ => (self.current, SlotUse::Lost(cause)),
        };
        self.cost(charged).slots[slot.index()] += slots;
        self.time.lose(slot, cycle, slots);
    }
}

/// Profile of a run.
#[derive(Clone, Debug)]
pub struct A53Profile {
    /// Results of the cores.
    pub cores: Vec<A53CoreOutcome>,
    /// Costs of each static instruction, of all cores together.
    pub costs: Vec<A53Cost>,
    /// Costs that belong to no instruction: those after the last one.
    pub elsewhere: A53Cost,
    /// Each core over time, with the same length of intervals.
    pub time: Vec<Intervals>,
}

/// Runs a trace as [`run`](crate::run) does, and returns its profile.
///
/// # Errors
/// Those of [`run`](crate::run).
pub fn run_profiled(
    trace: &TraceFile,
    config: &A53Config,
    limit: Option<u64>,
) -> Result<A53Profile, A53Error> {
    let insts = trace.statics().len();
    let costs = (insts * size_of::<A53Cost>()) as u64;
    let bytes = costs.saturating_mul(trace.streams().len() as u64 + 1);
    let reserved = trace.budget().reserve(bytes, "the costs of the instructions of the trace");
    let _reserved = reserved
        .map_err(|problem| TraceError::Memory { path: trace.path().to_owned(), problem })?;
    let runs = run_with_sinks(trace, config, limit, |_| ProfileSink::new(insts))?;
    let mut profile = A53Profile {
        cores: Vec::new(),
        costs: vec![A53Cost::default(); insts],
        elsewhere: A53Cost::default(),
        time: Vec::new(),
    };
    let longest = runs.iter().map(|(_, sink)| sink.time.step).max().unwrap_or(FIRST_STEP);
    for (outcome, mut sink) in runs {
        profile.costs.iter_mut().zip(&sink.costs).for_each(|(sum, own)| sum.add(own));
        profile.elsewhere.add(&sink.elsewhere);
        sink.time.lengthen(longest);
        profile.cores.push(outcome);
        profile.time.push(sink.time);
    }
    Ok(profile)
}
