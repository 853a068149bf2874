//! A sink that observes operations receives every operation and does not change the run.

use sim_core::{Counts, EventSink, LostSlots, Notice, OperationKind, PmuEvent};
use sim_machine::{ConfigSource, MachineConfig, Outcome, RunHeader, RunOptions, Session};
use sim_tests::repository;

/// Instructions of each thread: enough to fill every queue, few enough for a debug build.
const LIMIT: u64 = 200_000;

/// Adds up the operations that it receives, core by core, while the run is counted.
#[derive(Default)]
struct Follower {
    is_counted: bool,
    mops: u64,
    retired: u64,
    retired_mops: u64,
    mispredicted: u64,
    branches: u64,
    clock: Counts,
    lost: LostSlots,
}

impl EventSink for Follower {
    const OBSERVES_OPS: bool = true;

    fn count(&mut self, event: PmuEvent, n: u64) {
        if self.is_counted {
            self.clock.count(event, n);
        }
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Counting(is_counted) => {
                self.is_counted = is_counted;
            }
            Notice::Operation(operation) => {
                let timeline = &operation.timeline;
                self.mops += u64::from(timeline.mops);
                if timeline.retired {
                    self.retired += 1;
                    self.retired_mops += u64::from(timeline.mops);
                    self.mispredicted += u64::from(timeline.mispredicted);
                    self.branches += u64::from(matches!(operation.kind, OperationKind::Branch(_)));
                }
            }
            Notice::Lost(lost) if self.is_counted => {
                self.lost.add(lost.cause, lost.root, lost.slots);
            }
            _ => {}
        }
    }
}

fn session(trace: &str) -> Session {
    let path = repository().join("traces").join(trace);
    let document = ConfigSource::default().document().expect("the built-in configuration");
    let config = MachineConfig::from_document(&document).expect("the built-in configuration");
    Session::open(&path, config, RunHeader::default()).expect("a committed trace")
}

fn same_counts(plain: &Outcome, followed: &Outcome) -> bool {
    plain.cores.iter().zip(&followed.cores).all(|(a, b)| a.counts == b.counts)
}

#[test]
fn observing_a_run_does_not_change_its_counts_and_covers_every_operation() {
    for trace in ["sort.n2t", "btree.n2t", "vector.n2t", "interp.n2t"] {
        let session = session(trace);
        let options = RunOptions { limit: Some(LIMIT), ..RunOptions::default() };
        let plain = session.run(&options, &mut |_| {}).expect("a run");
        let mut follower = Follower::default();
        let followed = session.run_with_sink(&options, &mut |_| {}, &mut follower).expect("a run");
        assert!(same_counts(&plain, &followed), "{trace}: the sink changed the run");

        let total = plain.total();
        let observed = [
            (PmuEvent::OP_SPEC, follower.mops),
            (PmuEvent::OP_RETIRED, follower.retired_mops),
            (PmuEvent::INST_RETIRED, follower.retired),
            (PmuEvent::BR_RETIRED, follower.branches),
            (PmuEvent::BR_MIS_PRED_RETIRED, follower.mispredicted),
            (PmuEvent::CPU_CYCLES, follower.clock.value(PmuEvent::CPU_CYCLES)),
            (PmuEvent::CNT_CYCLES, follower.clock.value(PmuEvent::CNT_CYCLES)),
        ];
        for (event, observed) in observed {
            assert_eq!(total.value(event), observed, "{trace}: {event:?}");
        }
        assert_eq!(follower.lost, plain.stalls(), "{trace}");
    }
}

/// Checks the stream positions of correct-path operations, and counts the wrong-path ones.
#[derive(Default)]
struct Numbered {
    begun: u64,
    wrong: u64,
    stored: u64,
}

impl EventSink for Numbered {
    const OBSERVES_OPS: bool = true;

    fn count(&mut self, _event: PmuEvent, _n: u64) {}

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        if let Notice::Operation(operation) = notice {
            let timeline = &operation.timeline;
            if timeline.wrong_path {
                assert!(!timeline.retired && timeline.written == 0, "{operation:?}");
                assert!(operation.number == self.begun || operation.number + 1 == self.begun);
                self.wrong += 1;
                return;
            }
            assert_eq!(operation.number, self.begun, "one after the other");
            assert!(timeline.written == 0 || timeline.written >= timeline.retire, "{operation:?}");
            self.begun += 1;
            self.stored += u64::from(timeline.written > 0);
        }
    }
}

#[test]
fn operations_have_their_position_in_the_stream() {
    let options = RunOptions { limit: Some(LIMIT), ..RunOptions::default() };
    let mut numbered = Numbered::default();
    let outcome = session("btree.n2t").run_with_sink(&options, &mut |_| (), &mut numbered);
    let total = outcome.expect("a committed trace").total();
    assert_eq!(numbered.begun, LIMIT);
    assert!(numbered.stored > 0 && numbered.wrong > 0);
    // Speculative instructions that did not retire were on a wrong path.
    let squashed = total.value(PmuEvent::INST_SPEC) - total.value(PmuEvent::INST_RETIRED);
    assert_eq!(numbered.wrong, squashed);
}
