//! Event groups multiplexed on six counters, as Linux schedules them.

use sim_core::PmuEvent::{self, *};
use sim_core::{EventSink, Notice, Privilege};
use sim_pmu::counter::CounterCount;
use sim_pmu::perf::{Group, Levels, PerfEvent, PerfSession, PerfSetup, Reading, Status};

const TICK: u64 = 100;
const SEVEN: [PmuEvent; 7] =
    [LD_SPEC, ST_SPEC, DP_SPEC, ASE_SPEC, VFP_SPEC, CRYPTO_SPEC, BR_IMMED_SPEC];

fn singles(events: &[PmuEvent]) -> Vec<Group> {
    events.iter().map(|event| Group::single(*event)).collect()
}

fn group(events: &[PmuEvent]) -> Group {
    Group { events: events.iter().copied().map(PerfEvent::new).collect(), ..Group::default() }
}

fn counting(groups: &[Group]) -> PerfSession {
    let mut session = PerfSession::new(PerfSetup::new(groups, CounterCount::default()), TICK);
    session.notify(Notice::Counting(true));
    session
}

/// Runs `cycles` cycles, each with one occurrence of every event of [`SEVEN`].
fn run(session: &mut PerfSession, cycles: u64) {
    for _ in 0..cycles {
        SEVEN.iter().for_each(|event| session.raise(*event));
        session.raise(CPU_CYCLES);
    }
}

fn running(session: &mut PerfSession) -> Vec<u64> {
    session.readings().iter().map(|reading| reading.running).collect()
}

fn statuses(session: &mut PerfSession) -> Vec<Status> {
    session.readings().iter().map(|reading| reading.status).collect()
}

#[test]
fn six_events_and_cycles_are_exact() {
    let mut session = counting(&singles(&[&SEVEN[..6], &[CPU_CYCLES]].concat()));
    run(&mut session, 1_234);
    session.notify(Notice::Counting(false));
    assert_eq!(session.readings(), [Reading::exact(1_234, 1_234); 7]);
    assert_eq!(session.rotations(), 0, "no event waits");
}

#[test]
fn a_seventh_event_waits_for_the_first_tick() {
    let mut session = counting(&singles(&SEVEN));
    run(&mut session, TICK - 1);
    assert_eq!(statuses(&mut session)[5..], [Status::Counted, Status::NotCounted]);
    assert_eq!(session.readings()[6], Reading { enabled: TICK - 1, ..Reading::default() });
    run(&mut session, 2);
    assert_eq!(statuses(&mut session), [Status::Counted; 7]);
    assert_eq!(running(&mut session), [TICK, TICK + 1, TICK + 1, TICK + 1, TICK + 1, TICK + 1, 1]);
    assert_eq!(session.readings()[0].scaled(), Some(TICK + 1), "the rate was even");
}

#[test]
fn rotation_gives_every_event_the_same_time() {
    let mut session = counting(&singles(&SEVEN));
    run(&mut session, 7 * TICK);
    assert_eq!(running(&mut session), [6 * TICK; 7]);
    assert!(session.readings().iter().all(|reading| reading.scaled() == Some(7 * TICK)));
    assert_eq!(session.rotations(), 7);
}

#[test]
fn all_ticks_during_a_sleep_are_served() {
    let mut session = counting(&singles(&SEVEN));
    session.count(CPU_CYCLES, 7 * TICK + 1);
    assert_eq!(session.rotations(), 7);
    assert_eq!(running(&mut session)[..6], [6 * TICK + 1; 6]);
}

/// For an event in bursts the estimate depends on the time slices and is wrong, as with perf.
#[test]
fn an_uneven_rate_causes_a_wrong_estimate() {
    let mut session = counting(&singles(&SEVEN));
    session.count(LD_SPEC, 1_000);
    run(&mut session, 2 * TICK);
    assert_eq!(session.readings()[0].scaled(), Some((1_000 + TICK) * 2));
}

#[test]
fn a_group_is_scheduled_as_a_whole_or_not_at_all() {
    let mut session = counting(&[group(&SEVEN[..4]), group(&SEVEN[4..])]);
    run(&mut session, 4 * TICK);
    assert_eq!(running(&mut session), [2 * TICK; 7], "4 + 3 events do not fit and are multiplexed");
}

/// The scheduler stops at the first group that does not fit, even if a later one would fit.
#[test]
fn no_group_overtakes_a_waiting_group() {
    let groups = [group(&SEVEN[..4]), group(&SEVEN[4..]), group(&SEVEN[..2])];
    let mut session = counting(&groups);
    run(&mut session, TICK - 1);
    let on = running(&mut session).into_iter().map(|cycles| cycles > 0);
    assert_eq!(on.filter(|is_on| *is_on).count(), 4);
}

#[test]
fn pinned_groups_come_first_and_stay() {
    let pinned = Group { pinned: true, ..group(&SEVEN[..5]) };
    let mut session = counting(&[singles(&SEVEN[5..]), vec![pinned]].concat());
    run(&mut session, 4 * TICK);
    let expected = [vec![2 * TICK; 2], vec![4 * TICK; 5]].concat();
    assert_eq!(running(&mut session), expected, "two groups share the remaining counters");
}

#[test]
fn a_pinned_group_that_does_not_fit_stays_in_error() {
    let pinned = |events: &[PmuEvent]| Group { pinned: true, ..group(events) };
    let mut session = counting(&[pinned(&SEVEN[..4]), pinned(&SEVEN[4..])]);
    run(&mut session, 4 * TICK);
    let expected = [[Status::Counted; 4].as_slice(), &[Status::NotCounted; 3]].concat();
    assert_eq!(statuses(&mut session), expected);
    assert_eq!(session.readings()[6], Reading::default(), "not even enabled");
}

#[test]
fn an_exclusive_group_is_alone() {
    let alone = Group { exclusive: true, ..group(&SEVEN[..1]) };
    let mut session = counting(&[alone, group(&SEVEN[1..3])]);
    run(&mut session, 4 * TICK);
    assert_eq!(running(&mut session), [2 * TICK; 3]);
}

#[test]
fn a_group_that_never_fits_is_cut_or_split() {
    let mut session = counting(&[group(&SEVEN)]);
    run(&mut session, 2 * TICK);
    let expected = [[Status::Counted; 6].as_slice(), &[Status::NotSupported]].concat();
    assert_eq!(statuses(&mut session), expected);
    assert_eq!(running(&mut session)[..6], [2 * TICK; 6]);

    let mut session = counting(&[Group { weak: true, ..group(&SEVEN) }]);
    run(&mut session, 7 * TICK);
    assert_eq!(running(&mut session), [6 * TICK; 7]);
}

/// Counters have 32 bits. Their overflow interrupts extend the totals to 64 bits.
#[test]
fn only_groups_that_do_not_fit_are_multiplexed() {
    let is_multiplexed = |groups: &[Group]| {
        PerfSession::new(PerfSetup::new(groups, CounterCount::default()), TICK).is_multiplexed()
    };
    assert!(!is_multiplexed(&singles(&SEVEN[..6])));
    assert!(is_multiplexed(&singles(&SEVEN)));
    assert!(!is_multiplexed(&[group(&SEVEN)]), "the seventh is refused");
    let exclusive = Group { exclusive: true, ..group(&[LD_SPEC]) };
    assert!(is_multiplexed(&[exclusive, group(&[ST_SPEC])]));
    let pinned = Group { pinned: true, ..group(&SEVEN[..4]) };
    assert!(!is_multiplexed(&[pinned.clone(), pinned]), "the second is in error for good");
}

#[test]
fn nothing_is_lost_at_32_bits() {
    let long = |event| PerfEvent { is_long: true, ..PerfEvent::new(event) };
    let mut groups = singles(&[LD_SPEC, BUS_CYCLES, CPU_CYCLES]);
    groups.push(Group { events: vec![long(LD_SPEC)], ..Group::default() });
    let mut session = PerfSession::new(PerfSetup::new(&groups, CounterCount::default()), u64::MAX);
    session.notify(Notice::Counting(true));
    let (loads, cycles) = ((5 << 32) + 17, (9 << 32) + 3);
    for part in [loads - 12_345, 12_345] {
        session.count(LD_SPEC, part);
        // A reading passes all pending counts to the counters.
        session.readings();
    }
    session.count(CPU_CYCLES, cycles);
    let values: Vec<u64> = session.readings().iter().map(|reading| reading.value).collect();
    assert_eq!(values, [loads, cycles, cycles, loads]);
}

/// Counts from one overflow of a 32-bit counter to the next.
const TO_OVERFLOW: u64 = (1 << 31) - 1;

/// Three counters with a `CHAIN` above each. The second counts the sum of two events.
const CHAINS: [PmuEvent; 6] = [LD_SPEC, CHAIN, L1D_CACHE, CHAIN, DP_SPEC, CHAIN];

fn values(session: &mut PerfSession) -> Vec<u64> {
    session.readings().iter().map(|reading| reading.value).collect()
}

#[test]
fn chain_counts_the_overflows_of_the_counter_below_however_counts_arrive() {
    let total = 5 * TO_OVERFLOW;
    for step in [total, TO_OVERFLOW, TO_OVERFLOW - 1, TO_OVERFLOW + 1, 1 << 20, 1 << 33] {
        let mut session = counting(&[group(&CHAINS)]);
        let mut left = total - 1;
        while left > 0 {
            let n = step.min(left);
            session.count(LD_SPEC, n);
            session.count(L1D_CACHE_WR, n / 3);
            session.count(L1D_CACHE_RD, n - n / 3);
            session.count(CPU_CYCLES, 1);
            left -= n;
        }
        session.raise(DP_SPEC);
        assert_eq!(values(&mut session), [total - 1, 4, total - 1, 4, 1, 0], "steps of {step}");
        session.raise(LD_SPEC);
        session.raise(L1D_CACHE_WR);
        session.count(DP_SPEC, TO_OVERFLOW);
        assert_eq!(values(&mut session), [total, 5, total, 5, TO_OVERFLOW + 1, 1]);
    }
}

#[test]
fn chains_that_are_multiplexed_count_the_overflows_of_their_own_slices() {
    let counted = [LD_SPEC, L1D_CACHE, DP_SPEC, ST_SPEC];
    let mut session = counting(&counted.map(|event| group(&[event, CHAIN])));
    for _ in 0..7 {
        for event in [LD_SPEC, L1D_CACHE_RD, DP_SPEC, ST_SPEC] {
            session.count(event, TO_OVERFLOW + 9);
        }
        session.count(CPU_CYCLES, TICK);
    }
    let slices: Vec<u64> = running(&mut session).iter().map(|cycles| cycles / TICK).collect();
    assert_eq!(slices.iter().sum::<u64>(), 6 * 7, "six counters, seven slices: {slices:?}");
    for (number, value) in values(&mut session).into_iter().enumerate() {
        let is_chain = number % 2 == 1;
        let of_slice = if is_chain { 1 } else { TO_OVERFLOW + 9 };
        assert_eq!(value, slices[number] * of_slice, "event {number}");
    }
}

#[test]
fn levels_are_filtered_by_the_registers() {
    let at = |user, kernel, hypervisor| {
        let levels = Levels { user, kernel, hypervisor };
        let event = PerfEvent { levels, ..PerfEvent::new(LD_SPEC) };
        Group { events: vec![event], ..Group::default() }
    };
    let groups = [at(true, false, false), at(false, true, false), at(false, false, true)];
    let counts = |host: bool| {
        let mut session = counting(&groups);
        for (level, loads) in [(0, 3), (1, 50), (2, 700), (0, 4)] {
            session.notify(Notice::Privilege(Privilege {
                level,
                e2h: host,
                tge: host,
                secure: false,
            }));
            session.count(LD_SPEC, loads);
        }
        session.readings().iter().map(|reading| reading.value).collect::<Vec<_>>()
    };
    assert_eq!(counts(false), [7, 50, 700], "a kernel at EL1 over a hypervisor");
    assert_eq!(counts(true), [7, 750, 0], "a kernel at EL2; its guests count as kernels");
}

#[test]
fn time_outside_the_window_is_not_counted() {
    let mut session = counting(&singles(&SEVEN));
    run(&mut session, 150);
    session.notify(Notice::Counting(false));
    run(&mut session, 1_000);
    session.notify(Notice::Counting(true));
    run(&mut session, 150);
    session.notify(Notice::Counting(false));
    assert_eq!(session.cycles(), 300);
    assert_eq!(session.rotations(), 3);
    assert!(session.readings().iter().all(|reading| reading.enabled == 300));
    assert_eq!(session.readings().iter().map(|r| r.running).sum::<u64>(), 6 * 300);
}

#[test]
fn each_core_has_its_own_counters_and_the_sum_is_scaled() {
    let mut session =
        PerfSession::new(PerfSetup::new(&singles(&SEVEN), CounterCount::default()), TICK);
    for (core, cycles) in [(0, TICK / 2), (1, 7 * TICK)] {
        session.notify(Notice::Core(core));
        session.notify(Notice::Counting(true));
        run(&mut session, cycles);
    }
    let by_core = session.readings_by_core();
    assert_eq!(by_core[0][6].status, Status::NotCounted);
    let (enabled, running) = (7 * TICK + TICK / 2, 6 * TICK);
    let expected = Reading { value: running, enabled, running, status: Status::Counted };
    assert_eq!(session.readings()[6], expected);
    assert_eq!(expected.scaled(), Some(enabled));
}
