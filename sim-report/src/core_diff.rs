//! One trace on two cores: cycles, a stack of cycles per instruction, and the events that both
//! cores have.

mod text;

use serde::Serialize;
use sim_a53::slots::{LostTo, SLOTS};
use sim_a53::{A53CoreOutcome, A53Event};
use sim_core::{Counts, PmuEvent, RootCause, StallCause};
use sim_machine::Outcome;
use sim_metrics::identities::SLOTS_PER_CYCLE;

use crate::stalls::Ledger;

pub use text::{write_csv, write_json, write_markdown, write_text};

/// Use of the slots of a cycle, in groups that every core has. Slots are those of rename on a
/// Neoverse N2 and those of issue on a Cortex-A53.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlotGroup {
    /// Slots with an operation, those of a wrong path included.
    Operations,
    /// Empty after a misprediction or a taken branch.
    Branches,
    /// Empty because of fetch or decode: misses of instructions and their translations, width.
    Fetch,
    /// Empty because of loads, stores and barriers.
    Memory,
    /// Empty because of operands, units, queues and pairing.
    Execution,
    /// Empty before the first and after the last instruction, during sleep, and in waits for
    /// another thread.
    Idle,
}

impl SlotGroup {
    /// Number of groups.
    pub const COUNT: usize = 6;
    /// Every group, in the order of the table.
    pub const ALL: [SlotGroup; SlotGroup::COUNT] = [
        SlotGroup::Operations,
        SlotGroup::Branches,
        SlotGroup::Fetch,
        SlotGroup::Memory,
        SlotGroup::Execution,
        SlotGroup::Idle,
    ];

    /// Returns the name in tables.
    pub fn label(self) -> &'static str {
        match self {
            SlotGroup::Operations => "operations",
            SlotGroup::Branches => "mispredictions, taken branches",
            SlotGroup::Fetch => "other fetch and decode",
            SlotGroup::Memory => "loads, stores, barriers",
            SlotGroup::Execution => "operands, units, queues",
            SlotGroup::Idle => "start, end, sleep",
        }
    }

    fn of_a53(cause: LostTo) -> SlotGroup {
        match cause {
            LostTo::LoadMiss | LostTo::Store => SlotGroup::Memory,
            LostTo::SimdInterlock
            | LostTo::AddressInterlock
            | LostTo::OtherInterlock
            | LostTo::Pairing
            | LostTo::WideAccess => SlotGroup::Execution,
            LostTo::InstCache | LostTo::InstTlb => SlotGroup::Fetch,
            LostTo::FrontEnd => SlotGroup::Branches,
            LostTo::End => SlotGroup::Idle,
        }
    }

    fn of_back_end(root: RootCause) -> SlotGroup {
        match root {
            RootCause::Barrier => SlotGroup::Memory,
            RootCause::OtherThread => SlotGroup::Idle,
            root if root.is_memory() => SlotGroup::Memory,
            _ => SlotGroup::Execution,
        }
    }

    fn of_front_end(cause: StallCause) -> SlotGroup {
        match cause {
            StallCause::FetchMispredict
            | StallCause::FetchNoTarget
            | StallCause::FetchResteer
            | StallCause::FetchBtbBubble
            | StallCause::FetchPredictWidth => SlotGroup::Branches,
            StallCause::FetchEnd | StallCause::FetchAsleep => SlotGroup::Idle,
            _ => SlotGroup::Fetch,
        }
    }
}

/// Run of a trace on one core.
#[derive(Clone, Debug)]
pub struct CoreRun {
    /// Name of the core.
    pub core: &'static str,
    /// Clock in Hz.
    pub clock_hz: u64,
    /// Cycles of all threads together.
    pub cycles: u64,
    /// Cycles of the thread that ran longest.
    pub longest: u64,
    /// Retired instructions of all threads together.
    pub instructions: u64,
    /// Slots in a cycle.
    pub slots_per_cycle: u64,
    /// Slots by group, in the order of [`SlotGroup::ALL`].
    slots: [u64; SlotGroup::COUNT],
    /// Number, name and count of each event.
    events: Vec<(u16, &'static str, u64)>,
}

impl CoreRun {
    /// Describes a run on Cortex-A53 cores.
    pub fn of_a53(cores: &[A53CoreOutcome], clock_hz: u64) -> CoreRun {
        let sum = |event| cores.iter().map(|core| core.counts.value(event)).sum::<u64>();
        let mut slots = [0; SlotGroup::COUNT];
        for core in cores {
            slots[SlotGroup::Operations as usize] += core.slots.issued;
            for cause in LostTo::ALL {
                slots[SlotGroup::of_a53(cause) as usize] += core.slots.lost(cause);
            }
        }
        CoreRun {
            core: "cortex-a53",
            clock_hz,
            cycles: sum(A53Event::CPU_CYCLES),
            longest: cores.iter().map(|core| core.cycles).max().unwrap_or_default(),
            instructions: sum(A53Event::INST_RETIRED),
            slots_per_cycle: SLOTS,
            slots,
            events: A53Event::ALL
                .into_iter()
                .filter(|event| sim_a53::event::never_raised(*event).is_none())
                .map(|event| (event.code(), event.mnemonic(), sum(event)))
                .collect(),
        }
    }

    /// Describes a run on Neoverse N2 cores.
    pub fn of_n2(outcome: &Outcome) -> CoreRun {
        let mut counts = Counts::default();
        outcome.cores.iter().for_each(|core| counts.add(&core.counts.unpack()));
        let ledger = Ledger::new(&outcome.cores);
        let mut slots = [0; SlotGroup::COUNT];
        slots[SlotGroup::Operations as usize] = ledger.used;
        for cause in StallCause::ALL.into_iter().filter(|cause| cause.is_frontend()) {
            slots[SlotGroup::of_front_end(cause) as usize] += ledger.stalled.of(cause);
        }
        for root in RootCause::back_end() {
            let group = SlotGroup::of_back_end(root);
            slots[group as usize] += ledger.stalled.of_root(root);
        }
        CoreRun {
            core: "neoverse-n2",
            clock_hz: outcome.clock_hz,
            cycles: counts.value(PmuEvent::CPU_CYCLES),
            longest: outcome.elapsed_cycles(),
            instructions: counts.value(PmuEvent::INST_RETIRED),
            slots_per_cycle: SLOTS_PER_CYCLE,
            slots,
            events: PmuEvent::ALL
                .into_iter()
                .map(|event| (event.code(), event.mnemonic(), counts.value(event)))
                .collect(),
        }
    }

    /// Returns the instructions per cycle.
    pub fn ipc(&self) -> f64 {
        self.instructions as f64 / self.cycles.max(1) as f64
    }

    /// Returns the time of the thread that ran longest, in seconds.
    pub fn seconds(&self) -> f64 {
        self.longest as f64 / self.clock_hz as f64
    }

    /// Returns the cycles per instruction that the slots of a group make up.
    pub fn cycles_per_instruction(&self, group: SlotGroup) -> f64 {
        let slots = self.slots[group as usize] as f64;
        slots / self.slots_per_cycle as f64 / self.instructions.max(1) as f64
    }
}

/// An event that both cores have, with the counts of the first and of the second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SharedEvent {
    /// Event number.
    pub number: u16,
    /// Name on the first core.
    pub name: &'static str,
    /// Name on the second core, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_name: Option<&'static str>,
    /// Counts of both.
    pub counts: [u64; 2],
}

/// First number of the events that each core defines for itself.
const OWN_EVENTS: u16 = 0xC0;

/// A trace on two cores.
#[derive(Clone, Debug)]
pub struct CoreDiff {
    /// Name of the trace.
    pub trace: String,
    /// Both runs.
    pub runs: [CoreRun; 2],
    /// Events that both cores have, in the order of their numbers.
    pub events: Vec<SharedEvent>,
}

impl CoreDiff {
    /// Compares two runs of one trace.
    pub fn new(trace: String, runs: [CoreRun; 2]) -> CoreDiff {
        let [first, second] = &runs;
        let shared = |(number, name, count): &(u16, &'static str, u64)| {
            let others = second.events.iter();
            let (_, other, other_count) =
                others.copied().find(|(other, ..)| other == number && *number < OWN_EVENTS)?;
            let other_name = (other != *name).then_some(other);
            Some(SharedEvent { number: *number, name, other_name, counts: [*count, other_count] })
        };
        let events = first.events.iter().filter_map(shared).collect();
        CoreDiff { trace, runs, events }
    }
}
