//! Slot ledger and rename stage in 10,000 random scenarios (PMU guide 4.7). Each has a random
//! program of real A64 words, random addresses, latencies and exceptions, a random machine, and
//! counting windows cut at random positions.
//!
//! The test recomputes invariants that hold for all programs from public data: the counts, the lost
//! slots by cause, and the timeline of every instruction.

use crate::random::{Random, STEPS, Scenario, corpus, default_config};
use crate::rare::{begin, disturb, rare};
use sim_core::{Counts, Cycle, LostSlots, OpTimeline, PmuEvent, RootCause, StallCause};
use sim_pipeline::{PipelineConfig, SLOTS};

const SCENARIOS: u64 = 10_000;

/// Counts at the start of a window.
#[derive(Clone, Default)]
struct Opened {
    counts: Counts,
    lost: LostSlots,
}

/// Checks of one scenario.
struct Check {
    seed: u64,
    rob: usize,
    retire_width: usize,
    counts: Counts,
    opened: Opened,
    /// Retirement cycle of each operation, or an earlier cycle.
    retired: Vec<Cycle>,
    last_retired: Cycle,
    last_renamed: Cycle,
    /// Cycles of the window in which a correct-path operation was renamed.
    busy: u64,
    /// Word of the instruction that ran last.
    word: u32,
}

impl Check {
    /// Checks the timeline of an instruction of `mops` operations.
    fn timeline(&mut self, timeline: &OpTimeline, mops: u64) {
        let seed = self.seed;
        if timeline.retired {
            let stages = [
                timeline.fetch,
                timeline.front_end,
                timeline.rename,
                timeline.issue,
                timeline.complete,
            ];
            assert!(
                stages.is_sorted(),
                "seed {seed}: {:08x}: {timeline:?} has a stage before an earlier one",
                self.word
            );
            assert!(
                timeline.complete <= timeline.retire,
                "seed {seed}: {timeline:?} retires unfinished"
            );
            assert!(timeline.rename >= self.last_renamed, "seed {seed}: renamed out of order");
            assert!(timeline.retire >= self.last_retired, "seed {seed}: retired out of order");
            self.last_retired = timeline.retire;
            self.busy += u64::from(timeline.rename > self.last_renamed && mops > 0);
            self.last_renamed = timeline.rename;
        }
        for mop in 1..=mops {
            // Only the slot of the first one and the retirement of the last one are visible.
            let (n, rob, width) = (self.retired.len(), self.rob, self.retire_width);
            if mop == 1 && n >= rob {
                let left = self.retired[n - rob];
                assert!(timeline.rename > left, "seed {seed}: more than {rob} in the buffer");
            }
            if mop == mops && n >= width {
                let before = self.retired[n - width];
                assert!(timeline.retire > before, "seed {seed}: more than {width} retire at once");
            }
            let not_before = self.retired.last().copied().unwrap_or(0);
            self.retired.push(if mop == mops { timeline.retire } else { not_before });
        }
    }

    /// Checks a counting window that ends now.
    fn window(&mut self, lost: &LostSlots) {
        let counts = self.counts.since(&self.opened.counts);
        let value = |event| counts.value(event);
        let seed = self.seed;
        let cycles = value(PmuEvent::CPU_CYCLES);
        let slots = value(PmuEvent::OP_SPEC) + value(PmuEvent::STALL_SLOT);
        assert_eq!(slots, SLOTS as u64 * cycles, "seed {seed}: the slots do not tile");
        let here = lost.since(&self.opened.lost);
        assert_eq!(here.end(true), value(PmuEvent::STALL_SLOT_FRONTEND), "seed {seed}");
        assert_eq!(here.end(false), value(PmuEvent::STALL_SLOT_BACKEND), "seed {seed}");
        assert_eq!(here.of_root(RootCause::FrontEnd), here.end(true), "seed {seed}");
        let (front, back) = (value(PmuEvent::STALL_FRONTEND), value(PmuEvent::STALL_BACKEND));
        assert_eq!(front + back, value(PmuEvent::STALL), "seed {seed}");
        assert!(front + back + self.busy <= cycles, "seed {seed}: {front} + {back} of {cycles}");
        assert!(value(PmuEvent::STALL_BACKEND_MEM) <= back, "seed {seed}");
        assert!(SLOTS as u64 * front <= value(PmuEvent::STALL_SLOT_FRONTEND), "seed {seed}");
        assert!(value(PmuEvent::STALL_SLOT_BACKEND) >= back, "seed {seed}");
        self.opened = Opened { counts: self.counts.clone(), lost: lost.clone() };
        self.busy = 0;
    }
}

/// Runs one scenario and returns its lost slots.
fn run(seed: u64, corpus: &[u32], default: &PipelineConfig) -> LostSlots {
    let mut scenario = Scenario::new(seed, corpus, &rare(seed, default));
    let config = scenario.config.clone();
    let mut pipeline = begin(seed, &config);
    let mut outside = Random(seed ^ 0xaaaa);
    let mut check = Check {
        seed: scenario.seed,
        rob: config.built().window.rob,
        retire_width: config.built().window.retire_width as usize,
        counts: Counts::default(),
        opened: Opened::default(),
        retired: Vec::new(),
        last_retired: 0,
        last_renamed: 0,
        busy: 0,
        word: 0,
    };
    for _ in 0..STEPS {
        disturb(&mut outside, &mut pipeline, &mut check.counts);
        let step = scenario.step();
        let before = check.counts.value(PmuEvent::OP_RETIRED);
        let Scenario { program, memory, .. } = &mut scenario;
        let timeline = *pipeline.run_inst(&step, program, memory, &mut check.counts);
        check.word = program.inst(step.inst.id).word;
        check.timeline(&timeline, check.counts.value(PmuEvent::OP_RETIRED) - before);
        if scenario.cuts_window() {
            pipeline.cut_window(&mut check.counts);
            check.window(pipeline.lost_slots());
        }
    }
    let end = pipeline.finish(&mut check.counts);
    check.window(pipeline.lost_slots());
    let held = pipeline.entries_held(end + 1_000_000);
    assert_eq!(held, 0, "seed {seed}: {held} entries were never returned");
    pipeline.lost_slots().clone()
}

#[test]
fn slots_tile_all_cycles_and_rename_and_retirement_are_in_order() {
    let (corpus, default) = (corpus(), default_config());
    assert!(corpus.len() > 4000, "{} words", corpus.len());
    let halves: Vec<LostSlots> = std::thread::scope(|scope| {
        let run_half = |half: u64| {
            let (corpus, default) = (&corpus, &default);
            scope.spawn(move || {
                let mut lost = LostSlots::default();
                for seed in (half..SCENARIOS).step_by(2) {
                    lost.plus(&run(seed, corpus, default));
                }
                lost
            })
        };
        let threads = [run_half(0), run_half(1)];
        threads.map(|thread| thread.join().expect("all scenarios of the half pass")).to_vec()
    });
    // The scenarios reach every cause, so that each check above was exercised.
    let missing: Vec<&str> = StallCause::ALL
        .iter()
        .filter(|cause| halves.iter().all(|half| half.of(**cause) == 0))
        .map(|cause| cause.label())
        .collect();
    assert!(missing.is_empty(), "no scenario lost a slot to {missing:?}");
}
