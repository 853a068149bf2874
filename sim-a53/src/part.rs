//! Counted part of a run: warm-up, limit, region between two markers.

use std::ops::Range;

use sim_core::InstFlags;

use crate::core::Core;
use crate::event::{A53Counts, A53Event};
use crate::slots::{LostTo, Slots};

/// Counted part of each thread; by default the whole thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Instructions that only warm the core and its memory.
    pub warmup: u64,
    /// Instructions to count before the thread stops.
    pub limit: Option<u64>,
    /// Markers between which instructions are counted.
    pub region: Option<Region>,
    /// Places in the stream between which the thread runs at all, on a cold core: the warm-up is
    /// there, too, and counts instructions that do not retire. By default the whole stream.
    pub span: Option<Range<u64>>,
}

/// Region of a program. It may begin and end several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Counting begins after this word, or before the instruction at this address.
    pub begin: Mark,
    /// Counting ends before it.
    pub end: Mark,
}

/// Place in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// An instruction word, such as a `HINT`.
    Word(u32),
    /// An address.
    Address(u64),
}

impl From<Option<u64>> for Part {
    fn from(limit: Option<u64>) -> Part {
        Part { limit, ..Part::default() }
    }
}

impl Part {
    /// Returns whether the part begins with the thread.
    pub(crate) fn is_from_begin(&self) -> bool {
        self.warmup == 0 && self.region.is_none()
    }
}

/// The word of `HINT #0`; the number has seven bits from bit 5 on.
const HINT: u32 = 0xD503_201F;

impl Mark {
    /// Returns the mark of `HINT #number`.
    pub fn hint(number: u32) -> Mark {
        Mark::Word(HINT | (number % 128) << 5)
    }

    fn is_at(self, (pc, word): (u64, u32)) -> bool {
        match self {
            Mark::Word(own) => own == word,
            Mark::Address(own) => own == pc,
        }
    }
}

/// Counts of a core at the begin or the end of a part.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) counts: A53Counts,
    pub(crate) cycles: u64,
    pub(crate) slots: Slots,
    pub(crate) two_retired: u64,
    pub(crate) foreign: u64,
    pub(crate) unknown: u64,
}

impl Totals {
    /// Returns the totals of a core whose clock is at `cycles`.
    pub(crate) fn of(core: &Core, counts: &A53Counts, cycles: u64) -> Totals {
        Totals {
            counts: counts.clone(),
            cycles,
            slots: core.slots(),
            two_retired: core.two_retired(),
            foreign: core.foreign(),
            unknown: core.unknown(),
        }
    }

    /// Returns what came after `begin`.
    fn since(&self, begin: &Totals) -> Totals {
        Totals {
            counts: self.counts.since(&begin.counts),
            cycles: self.cycles - begin.cycles,
            slots: self.slots.since(&begin.slots),
            two_retired: self.two_retired - begin.two_retired,
            foreign: self.foreign - begin.foreign,
            unknown: self.unknown - begin.unknown,
        }
    }

    fn add(&mut self, other: &Totals) {
        self.counts.add(&other.counts);
        self.cycles += other.cycles;
        self.slots.add(&other.slots);
        self.two_retired += other.two_retired;
        self.foreign += other.foreign;
        self.unknown += other.unknown;
    }

    /// Lets the events that count all cycles count those of the part.
    fn with_its_cycles(mut self) -> Totals {
        self.counts.set(A53Event::CPU_CYCLES, self.cycles);
        self.counts.set(A53Event::BUS_CYCLES, self.cycles);
        self
    }
}

/// Decides which instructions of one thread count, and adds up what they count.
#[derive(Debug)]
pub(crate) struct Watch {
    warmup: u64,
    /// Instructions that did not retire, if the warm-up counts them.
    abandoned: u64,
    counts_abandoned: bool,
    limit: u64,
    region: Option<Region>,
    /// Counting begins after the instruction in progress.
    begins: bool,
    /// Totals at the begin of the present part.
    open: Option<Totals>,
    /// Totals of a begin or an end after which the younger slot of the last cycle is undecided.
    undecided: Option<(Totals, bool)>,
    /// Instructions before the present part that were counted, and those when it began.
    counted: u64,
    from: u64,
    /// Sum of the ended parts.
    sum: Option<Totals>,
}

impl Watch {
    /// Returns the watch of a part; `None` if it begins with the thread.
    pub(crate) fn new(part: &Part) -> Option<Watch> {
        (!part.is_from_begin()).then(|| Watch {
            warmup: part.warmup,
            abandoned: 0,
            counts_abandoned: part.span.is_some(),
            limit: part.limit.unwrap_or(u64::MAX),
            region: part.region,
            begins: false,
            open: None,
            undecided: None,
            counted: 0,
            from: 0,
            sum: None,
        })
    }

    /// Returns whether anything was counted.
    pub(crate) fn ever_began(&self) -> bool {
        self.open.is_some() || self.sum.is_some() || self.undecided.is_some()
    }

    /// Notes whether the next instruction retires.
    pub(crate) fn note(&mut self, flags: InstFlags) {
        let is_counted = self.counts_abandoned && flags.has(InstFlags::ABANDONED);
        self.abandoned += u64::from(is_counted);
    }

    /// Looks at the next instruction: its address and word. Counting may end before it.
    pub(crate) fn before(&mut self, inst: (u64, u32), core: &Core, counts: &A53Counts) {
        let Some(region) = self.region else { return };
        let is_open = self.is_open();
        if is_open && region.end.is_at(inst) {
            self.counted += core.instructions() - self.from;
            self.mark(false, core, counts);
        } else if !is_open && core.instructions() >= self.warmup && region.begin.is_at(inst) {
            match region.begin {
                Mark::Word(_) => self.begins = true,
                Mark::Address(_) => self.begin(core, counts),
            }
        }
    }

    /// Follows an instruction. Returns whether the thread stops.
    pub(crate) fn after(&mut self, core: &Core, counts: &A53Counts) -> bool {
        self.decide(core);
        let passed = core.instructions() + self.abandoned;
        let reached = self.region.is_none() && passed >= self.warmup;
        if (self.begins || reached) && !self.is_open() {
            self.begin(core, counts);
        }
        self.begins = false;
        let counted = match self.is_open() {
            true => self.counted + (core.instructions() - self.from),
            false => self.counted,
        };
        counted >= self.limit
    }

    /// Returns whether instructions count at present.
    pub(crate) fn is_open(&self) -> bool {
        self.undecided.as_ref().map_or(self.open.is_some(), |(_, begins)| *begins)
    }

    fn begin(&mut self, core: &Core, counts: &A53Counts) {
        self.from = core.instructions();
        self.mark(true, core, counts);
    }

    /// Notes the totals up to the cycle of the last issue, this one included.
    fn mark(&mut self, begins: bool, core: &Core, counts: &A53Counts) {
        if self.undecided.take().is_some() {
            // The part ends where it began, without an instruction.
            self.sum.get_or_insert_default();
            return;
        }
        let totals = Totals::of(core, counts, core.passed());
        match core.has_undecided_slot() {
            true => self.undecided = Some((totals, begins)),
            false => self.settle(totals, begins),
        }
    }

    /// Gives the undecided slot the use that the instruction after it has made of it, or left.
    fn decide(&mut self, core: &Core) {
        let Some((mut totals, begins)) = self.undecided.take() else { return };
        if core.cycle() + 1 == totals.cycles {
            totals.slots.issued += 1;
            totals.two_retired = core.two_retired();
        } else {
            totals.slots.lose(core.last_half(), 1);
        }
        self.settle(totals, begins);
    }

    fn settle(&mut self, totals: Totals, begins: bool) {
        if begins {
            self.open = Some(totals);
            return;
        }
        let Some(open) = self.open.take() else { return };
        let part = totals.since(&open);
        match &mut self.sum {
            Some(sum) => sum.add(&part),
            None => self.sum = Some(part),
        }
    }

    /// Returns the totals of all parts. The thread has ended with the totals `end`.
    pub(crate) fn finish(mut self, end: &Totals) -> Totals {
        if end.cycles == 0 {
            // Nothing retired, so that nothing is counted.
            return Totals::default();
        }
        if let Some((mut totals, begins)) = self.undecided.take() {
            totals.slots.lose(LostTo::End, 1);
            self.settle(totals, begins);
        }
        if self.open.is_some() {
            self.settle(end.clone(), false);
        }
        self.sum.unwrap_or_default().with_its_cycles()
    }
}
