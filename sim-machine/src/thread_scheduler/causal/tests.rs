//! Scheduling by happens-before on scripts: which thread waits for which, and that none waits
//! forever.

use proptest::prelude::*;

use super::super::edges::{Arrival, Scope};
use super::*;

impl Arrivals for std::vec::IntoIter<Arrival> {
    fn next_arrival(&mut self) -> Result<Option<Arrival>, MachineError> {
        Ok(self.next())
    }

    fn first_order(&self) -> Result<Option<u64>, MachineError> {
        Ok(self.as_slice().first().map(|first| first.order))
    }
}

/// Thread of `length` instructions that take `cycles` cycles each.
#[derive(Clone, Debug)]
struct Script {
    length: u64,
    cycles: Cycle,
    arrivals: Vec<Arrival>,
}

/// Last cycle of each instruction, by thread.
type Ends = Vec<Vec<Cycle>>;

/// Runs threads whose arrivals all lie before their ends.
fn run(scripts: &[Script]) -> Ends {
    run_and_count(scripts, true).0
}

/// Runs the threads to their ends, as a session does. Also returns the number of clock queries.
fn run_and_count(scripts: &[Script], is_whole: bool) -> (Ends, u64) {
    let arrivals = scripts.iter().map(|one| one.arrivals.clone().into_iter()).collect();
    let mut at: Vec<ThreadState> = scripts
        .iter()
        .map(|one| ThreadState { ended: one.length == 0, position: 0, cycle: 0 })
        .collect();
    let mut causal = Causal::new(arrivals, at.clone(), is_whole).expect("scripts do not fail");
    let mut ends: Ends = scripts.iter().map(|_| Vec::new()).collect();
    let most = |one: &Script| one.length as usize + one.arrivals.len();
    let mut left: usize = scripts.iter().map(most).sum();
    while let Some(choice) = causal.choose().expect("scripts do not fail") {
        assert!(left > 0, "the chosen thread can continue");
        left -= 1;
        let (script, one) = (&scripts[choice.thread], &mut at[choice.thread]);
        assert!(!one.ended && one.position < choice.hold_at);
        one.cycle = one.cycle.max(choice.wait);
        while one.position < script.length.min(choice.hold_at) {
            one.cycle += script.cycles;
            ends[choice.thread].push(one.cycle);
            one.position += 1;
            if one.cycle > choice.until {
                break;
            }
        }
        one.ended = one.position >= script.length;
        causal.ran(choice.thread, *one);
    }
    assert!(at.iter().all(|one| one.ended), "every thread ends");
    (ends, causal.clocks.get())
}

/// Runs threads to their ends, with the scheduler of a window from the choice `cut` on.
fn run_in_two(scripts: &[Script], cut: usize) -> Ends {
    let arrivals = scripts.iter().map(|one| one.arrivals.clone().into_iter()).collect();
    let state = |one: &Script| ThreadState { ended: one.length == 0, position: 0, cycle: 0 };
    let mut at: Vec<ThreadState> = scripts.iter().map(state).collect();
    let mut causal = Causal::new(arrivals, at.clone(), true).expect("scripts do not fail");
    let mut ends: Ends = scripts.iter().map(|_| Vec::new()).collect();
    for choices in 0.. {
        if choices == cut {
            let mut words = Vec::new();
            let lengths: Vec<u64> = scripts.iter().map(|one| one.length).collect();
            causal.save(&lengths, &mut words).expect("scripts do not fail");
            let ready: Vec<_> = (0..at.len()).map(|i| causal.ready(i)).collect();
            let loaded = Causal::load(&words, at.clone()).expect("scripts do not fail");
            causal = loaded.expect("its own words");
            let running = ready.into_iter().enumerate().filter(|(i, _)| !at[*i].ended);
            running.for_each(|(i, ready)| causal.delay(i, ready.unwrap_or(0)));
        }
        let Some(choice) = causal.choose().expect("scripts do not fail") else { break };
        let (script, one) = (&scripts[choice.thread], &mut at[choice.thread]);
        one.cycle = one.cycle.max(choice.wait);
        while one.position < script.length.min(choice.hold_at) && one.cycle <= choice.until {
            one.cycle += script.cycles;
            ends[choice.thread].push(one.cycle);
            one.position += 1;
        }
        one.ended = one.position >= script.length;
        causal.ran(choice.thread, *one);
    }
    ends
}

const WORD: Scope = Scope::Bytes(0x8000, 8);
const NEXT_WORD: Scope = Scope::Bytes(0x8008, 8);

fn release(position: u64, order: u64, releases: Scope) -> Arrival {
    Arrival { position, order, acquires: Scope::Nowhere, releases }
}

fn acquire(position: u64, order: u64, acquires: Scope) -> Arrival {
    Arrival { position, order, acquires, releases: Scope::Nowhere }
}

fn script(length: u64, cycles: Cycle, arrivals: &[Arrival]) -> Script {
    Script { length, cycles, arrivals: arrivals.to_vec() }
}

/// Returns the last cycle of instruction 5 of 10 in the second thread. Instructions take 1 cycle in
/// the second thread and 7 in the first, where instructions 3 and 8 end in cycles 28 and 63.
fn fifth_of(first: &[Arrival], second: &[Arrival]) -> Cycle {
    run(&[script(10, 7, first), script(10, 1, second)])[1][5]
}

#[test]
fn an_acquire_waits_for_the_last_release_to_its_bytes_before_it() {
    let both = [release(3, 0, WORD), release(8, 2, WORD)];
    assert_eq!(fifth_of(&both, &[acquire(5, 1, WORD)]), 29, "the first");
    assert_eq!(fifth_of(&both, &[acquire(5, 3, WORD)]), 64, "the second");
}

#[test]
fn accesses_to_other_words_of_a_line_do_not_wait() {
    let first = [release(8, 0, WORD)];
    assert_eq!(fifth_of(&first, &[acquire(5, 1, NEXT_WORD)]), 6);
    assert_eq!(fifth_of(&first, &[release(5, 1, WORD)]), 6, "a write after a write");
    assert_eq!(fifth_of(&[acquire(8, 0, WORD)], &[release(5, 1, WORD)]), 6, "after a read");
    // Two counters of 32 bits in one word.
    let half = [release(8, 0, Scope::Bytes(0x8000, 4))];
    assert_eq!(fifth_of(&half, &[acquire(5, 1, Scope::Bytes(0x8004, 4))]), 6);
    assert_eq!(fifth_of(&half, &[acquire(5, 1, WORD)]), 64, "overlap");
}

#[test]
fn an_acquire_sees_a_release_through_updates_of_other_threads() {
    let first = script(10, 7, &[release(8, 0, WORD)]);
    let second = script(10, 1, &[release(2, 1, WORD)]);
    let third = script(10, 1, &[acquire(5, 2, WORD)]);
    assert_eq!(run(&[first, second, third])[2][5], 64);
}

#[test]
fn barriers_order_every_location_in_both_directions() {
    let all = Scope::Everywhere;
    assert_eq!(fifth_of(&[release(3, 0, all)], &[acquire(5, 1, WORD)]), 29);
    assert_eq!(fifth_of(&[release(3, 0, WORD)], &[acquire(5, 1, all)]), 29);
    assert_eq!(fifth_of(&[release(3, 0, all)], &[acquire(5, 1, all)]), 29);
    assert_eq!(fifth_of(&[acquire(3, 0, all)], &[acquire(5, 1, all)]), 6);
}

#[test]
fn a_thread_begins_after_its_creation_and_is_joined_after_its_end() {
    let made = [release(3, 0, Scope::Creation(Some(0x9000)))];
    assert_eq!(fifth_of(&made, &[acquire(5, 1, Scope::Creation(None))]), 29);
    let joins = |ending: Option<u64>, word: u64| {
        let maker = script(
            10,
            1,
            &[release(0, 0, Scope::Creation(ending)), acquire(5, 3, Scope::Bytes(word, 4))],
        );
        let made =
            script(9, 7, &[acquire(0, 1, Scope::Creation(None)), release(8, 2, Scope::Exit)]);
        run(&[maker, made])[0][5]
    };
    // The thread begins in cycle 1, and its ninth instruction ends in cycle 64.
    assert_eq!(joins(Some(0x9000), 0x9000), 65);
    assert_eq!(joins(Some(0x9000), 0xa000), 6, "another word");
    assert_eq!(joins(None, 0xa000), 65, "any word may be the one that the system cleared");
}

#[test]
fn threads_wait_after_a_cut_as_they_do_without_it() {
    let scripts = [
        script(
            20,
            7,
            &[
                release(0, 0, Scope::Creation(Some(0x9000))),
                release(8, 3, WORD),
                acquire(15, 6, NEXT_WORD),
            ],
        ),
        script(
            20,
            1,
            &[acquire(0, 1, Scope::Creation(None)), acquire(5, 4, WORD), release(9, 5, NEXT_WORD)],
        ),
        script(9, 3, &[acquire(2, 7, NEXT_WORD), release(7, 8, WORD)]),
    ];
    let whole = run(&scripts);
    assert_eq!(whole[1][0], 8, "it begins after its creation");
    for cut in 0..40 {
        assert_eq!(run_in_two(&scripts, cut), whole, "cut {cut}");
    }
}

/// A thread that makes `made` others and joins each before it makes the next.
fn made_and_joined(made: u64) -> Vec<Script> {
    let creates = |n: u64| release(2 * n, 4 * n, Scope::Creation(Some(0x9000)));
    let joins = |n: u64| acquire(2 * n + 1, 4 * n + 3, Scope::Bytes(0x9000, 4));
    let maker: Vec<Arrival> = (0..made).flat_map(|n| [creates(n), joins(n)]).collect();
    let begins = |n: u64| acquire(0, 4 * n + 1, Scope::Creation(None));
    let others = (0..made).map(|n| script(3, 1, &[begins(n), release(2, 4 * n + 2, Scope::Exit)]));
    std::iter::once(script(2 * made, 1, &maker)).chain(others).collect()
}

#[test]
fn a_thread_before_its_creation_costs_no_time() {
    let made = 2_000;
    let (ends, clocks) = run_and_count(&made_and_joined(made), true);
    // Each takes five cycles: one for creation, three to run, one for the join.
    assert!((1..=made).all(|n| ends[n as usize][2] == 5 * n - 1), "each after the one before it");
    assert!(clocks < 20 * made, "{clocks} clocks for {made} threads");
}

#[test]
fn a_missing_release_holds_no_thread() {
    let cut = script(5, 7, &[release(8, 0, WORD)]);
    let waits = script(10, 1, &[acquire(5, 1, WORD)]);
    let end = run(&[cut, waits])[1][5];
    assert!((35..=42).contains(&end), "after the end of the other one: {end}");
}

#[test]
fn a_release_without_acquires_is_dropped() {
    let count = 100_000;
    let adds = |first: u64, word: Scope| -> Vec<Arrival> {
        let add =
            |n: u64| Arrival { position: n, order: 2 * n + first, acquires: word, releases: word };
        (0..count).map(add).collect()
    };
    let waiter = vec![acquire(0, u64::MAX, WORD)];
    let all = [adds(0, WORD), adds(1, NEXT_WORD), waiter];
    let mut edges = Edges::new(all.map(Vec::into_iter).into(), true).expect("scripts do not fail");
    let hold = edges.next_hold(2).expect("scripts do not fail").expect("it waits");
    assert_eq!(hold.edges.len(), 1);
    assert!(
        (0..2).all(|thread| edges.held(thread) < 200),
        "one release for each word, and some dead"
    );
}

fn any_scope() -> impl Strategy<Value = Scope> {
    prop_oneof![
        Just(Scope::Nowhere),
        (0u64..6, 1u16..9).prop_map(|(n, bytes)| Scope::Bytes(0x8000 + 4 * n, bytes)),
        Just(Scope::Kernel),
        (0u64..4).prop_map(|n| Scope::Creation(Some(0x8000 + 6 * n))),
        Just(Scope::Creation(None)),
        Just(Scope::Exit),
        Just(Scope::Everywhere),
    ]
}

/// Threads with arbitrary tickets: lost, repeated, unordered.
fn any_script() -> impl Strategy<Value = Script> {
    let order = prop_oneof![0u64..40, any::<u64>()];
    let arrival = (0u64..70, order, any_scope(), any_scope())
        .prop_map(|(position, order, a, r)| Arrival { position, order, acquires: a, releases: r });
    let arrivals = prop::collection::vec(arrival, 0..25);
    (0u64..60, 0u64..5, arrivals)
        .prop_map(|(length, cycles, arrivals)| script(length, cycles, &arrivals))
}

/// Threads whose tickets come from one counter.
fn recorded() -> impl Strategy<Value = Vec<Script>> {
    let threads = prop::collection::vec(1u64..9, 2..5);
    let draw = (any::<prop::sample::Index>(), 1u64..20, any_scope(), any_scope());
    (threads, prop::collection::vec(draw, 0..80)).prop_map(|(threads, draws)| {
        let mut scripts: Vec<Script> =
            threads.iter().map(|cycles| script(0, *cycles, &[])).collect();
        for ((index, step, acquires, releases), order) in draws.into_iter().zip(0..) {
            let one = &mut scripts[index.index(threads.len())];
            one.length += step;
            one.arrivals.push(Arrival { position: one.length - 1, order, acquires, releases });
        }
        scripts
    })
}

/// Returns the releases of other threads that an acquire must follow, found by exhaustive search.
fn earlier<'a>(scripts: &'a [Script], of: usize, acquire: &'a Arrival) -> Vec<(usize, u64)> {
    let all = || scripts.iter().flat_map(|script| &script.arrivals);
    let overlap = |(a, n): (u64, u16), (b, m)| a < b + u64::from(m) && b < a + u64::from(n);
    let meets = |release: &Arrival| match (release.releases, acquire.acquires) {
        (Scope::Bytes(a, n), Scope::Bytes(b, m)) => overlap((a, n), (b, m)),
        // The kernel clears the words of threads that were made before, or any word.
        (Scope::Exit, Scope::Bytes(b, m)) => {
            let mut before = all().filter(|made| made.order < release.order);
            before.any(|made| match made.releases {
                Scope::Creation(word) => word.is_none_or(|word| overlap((word, 4), (b, m))),
                _ => false,
            })
        }
        (Scope::Nowhere, _) | (_, Scope::Nowhere | Scope::Exit) => false,
        (Scope::Kernel, Scope::Kernel) | (Scope::Creation(_), Scope::Creation(_)) => true,
        (Scope::Everywhere, Scope::Bytes(..)) | (_, Scope::Everywhere) => true,
        _ => false,
    };
    let others = scripts.iter().enumerate().filter(|(i, _)| *i != of);
    let all = others.flat_map(|(i, script)| script.arrivals.iter().map(move |one| (i, one)));
    let before = all.filter(|(_, one)| one.order < acquire.order && meets(one));
    before.map(|(i, one)| (i, one.position)).collect()
}

proptest! {
    #[test]
    fn an_acquire_ends_after_every_release_that_it_may_have_read(scripts in recorded()) {
        let ends = run(&scripts);
        for (i, script) in scripts.iter().enumerate() {
            for acquire in &script.arrivals {
                let end = ends[i][acquire.position as usize];
                for (j, position) in earlier(&scripts, i, acquire) {
                    prop_assert!(ends[j][position as usize] <= end, "{i} {acquire:?} {j} {position}");
                }
            }
        }
    }

    #[test]
    fn threads_that_stop_early_hide_no_release(
        mut scripts in recorded(),
        cuts in prop::collection::vec(0u64..60, 5),
    ) {
        for (script, cut) in scripts.iter_mut().zip(cuts) {
            script.length = script.length.saturating_sub(cut);
        }
        let (ends, _) = run_and_count(&scripts, false);
        for (i, script) in scripts.iter().enumerate() {
            for acquire in script.arrivals.iter().filter(|one| one.position < script.length) {
                let end = ends[i][acquire.position as usize];
                for (j, position) in earlier(&scripts, i, acquire) {
                    let has_run = ends[j].get(position as usize);
                    prop_assert!(has_run.is_none_or(|ran| *ran <= end), "{i} {acquire:?} {j} {position}");
                }
            }
        }
    }

    #[test]
    fn no_list_of_tickets_stops_a_thread(
        scripts in prop::collection::vec(any_script(), 1..5),
        is_whole: bool,
    ) {
        run_and_count(&scripts, is_whole);
    }
}
