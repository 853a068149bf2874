//! Two threads that count in parallel (`traces/src/sharing.c`) and eight that read a table
//! (`traces/src/readers.c`), in the default order: counters that share a line compete for it, and
//! take it from readers; others have their line alone.

use sim_core::PmuEvent;
use sim_core::chi::Message;
use sim_core::mesh_counts::{AgentKind, HomeEvent};
use sim_core::mesh_sums::{broken_sums, snoops_of_pairs};
use sim_machine::{ConfigSource, MachineConfig, Outcome, RunHeader, RunOptions, Session};
use sim_tests::repository;
use sim_tests::trace_check::check_session;

/// Additions of each thread.
const ROUNDS: u64 = 8_000;

fn run(name: &str, order: &str) -> Outcome {
    let overrides = [format!("threads.order={order}")];
    let overrides = if order.is_empty() { &[][..] } else { &overrides };
    let source = ConfigSource { overrides, ..ConfigSource::default() };
    let document = source.document().expect("the profile is embedded");
    let config = MachineConfig::from_document(&document).expect("a machine");
    let is_parallel = ["readers", "queue", "samplesort"].iter().any(|one| name.starts_with(one));
    let folder = if is_parallel { "parallel" } else { "threads" };
    let path = repository().join(format!("traces/{folder}/{name}.n2t"));
    let session =
        Session::open(&path, config, RunHeader::default()).expect("a good trace").with_mesh();
    let outcome = session.run(&RunOptions::default(), &mut |_| {}).expect("it runs");
    assert_eq!(broken_sums(&outcome.mesh), Vec::<String>::new(), "{name}");
    let (received, of_pairs) = snoops_of_pairs(&outcome.mesh);
    assert_eq!(received, of_pairs, "{name}");
    outcome
}

/// Returns the names of all committed traces of several threads, with their folders.
fn threaded() -> Vec<String> {
    let of = |folder: &str| {
        let files = std::fs::read_dir(repository().join("traces").join(folder)).expect("a folder");
        let paths = files.map(|file| file.expect("a file").path());
        let traces = paths.filter(|path| path.extension().is_some_and(|end| end == "n2t"));
        traces.map(|path| path.display().to_string()).collect::<Vec<_>>()
    };
    let mut all = [of("parallel"), of("threads")].concat();
    all.sort();
    all
}

#[test]
fn any_number_of_cpus_of_the_host_gives_the_same_counts() {
    let traces = threaded();
    assert!(traces.len() >= 10, "{traces:?}");
    for path in traces {
        let counts = |cpus: Option<usize>| {
            let document = ConfigSource::default().document().expect("the profile is embedded");
            let config = MachineConfig::from_document(&document).expect("a machine");
            let path = std::path::Path::new(&path);
            let session = Session::open(path, config, RunHeader::default()).expect("a good trace");
            let session = cpus.into_iter().fold(session, Session::on_cpus);
            let outcome = session.run(&RunOptions::default(), &mut |_| {}).expect("it runs");
            assert_eq!(outcome.quanta.is_some(), cpus.is_some(), "{path:?}");
            let of_core = |counts: sim_core::Counts| PmuEvent::ALL.map(|event| counts.value(event));
            let cores = outcome.cores.iter().map(|core| of_core(core.counts.unpack()));
            cores.collect::<Vec<_>>()
        };
        let exact = counts(None);
        let [one, two, eight] = [1, 2, 8].map(|cpus| counts(Some(cpus)));
        assert!(one == two && two == eight, "{path}");
        for event in PmuEvent::ALL {
            let sum = |cores: &[[u64; PmuEvent::ALL.len()]]| -> u64 {
                cores.iter().map(|core| core[event as usize]).sum()
            };
            let (exact, quanta) = (sum(&exact), sum(&two));
            let is_close = exact <= 1_000 || exact.abs_diff(quanta) * 100 < exact;
            assert!(is_close, "{path}: {event:?} {exact} and {quanta}");
        }
    }
}

#[test]
fn threads_that_share_cores_keep_all_identities() {
    let sets = ["threads.slice-cycles=5000", "threads.switch-cycles=500"];
    let mut switches = 0;
    for (path, cores) in threaded().iter().flat_map(|path| [1, 2, 3].map(|cores| (path, cores))) {
        let overrides = [sets[0].to_owned(), sets[1].to_owned(), format!("threads.cores={cores}")];
        let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
        let document = source.document().expect("the profile is embedded");
        let config = MachineConfig::from_document(&document).expect("a machine");
        let session = Session::open(path.as_ref(), config, RunHeader::default());
        let session = session.expect("a good trace").with_mesh();
        if let Err(faults) = check_session(&session, None) {
            panic!("{path} on {cores} cores: {faults:?}");
        }
        let outcome = session.run(&RunOptions::default(), &mut |_| {}).expect("it runs");
        assert_eq!(broken_sums(&outcome.mesh), Vec::<String>::new(), "{path} on {cores} cores");
        let (received, of_pairs) = snoops_of_pairs(&outcome.mesh);
        assert_eq!(received, of_pairs, "{path} on {cores} cores");
        switches += outcome.cores.iter().map(|core| core.waits.switches).sum::<u64>();
    }
    assert!(switches > 1_000, "{switches}");
}

/// Returns the count of the thread with the fewest occurrences.
fn least(outcome: &Outcome, event: PmuEvent) -> u64 {
    outcome.cores.iter().map(|core| core.counts.value(event)).min().expect("two threads")
}

fn most(outcome: &Outcome, event: PmuEvent) -> u64 {
    outcome.cores.iter().map(|core| core.counts.value(event)).max().expect("two threads")
}

#[test]
fn counters_in_one_line_compete_for_it_by_default() {
    for kind in ["atomic", "exclusive", "plain"] {
        let adjacent = run(&format!("{kind}_adjacent"), "");
        let padded = run(&format!("{kind}_padded"), "");
        for event in [PmuEvent::L1D_CACHE_REFILL, PmuEvent::L1D_CACHE_INVAL] {
            let (together, apart) = (least(&adjacent, event), most(&padded, event));
            assert!(together > 500, "{kind}: {} {together}", event.mnemonic());
            assert!(apart < 40, "{kind}: {} {apart}", event.mnemonic());
        }
    }
}

#[test]
fn the_mesh_sees_what_the_cores_ask_for() {
    for name in ["queue", "samplesort"] {
        let outcome = run(name, "");
        let mesh = &outcome.mesh;
        assert_eq!(mesh.plan.cores.len(), outcome.cores.len());
        let reads = [Message::ReadNotSharedDirty, Message::ReadUnique];
        let reads = reads.map(|read| mesh.sent_by(AgentKind::Core, read)).iter().sum::<u64>();
        let lines = outcome.memory();
        let of_program = lines.data_lines + lines.fetch_lines + lines.preload_lines;
        assert_eq!(reads, of_program + lines.prefetch_lines + lines.walk_lines, "{name}");
        let claims = mesh.sent_by(AgentKind::Core, Message::MakeUnique);
        assert_eq!(claims, lines.claimed_lines, "{name}");
        assert!(mesh.of_homes(HomeEvent::ForwardingSnoop) > 100, "{name}");
    }
}

#[test]
fn atomics_wait_for_the_line_that_they_share() {
    let cycles = |name: &str| most(&run(name, ""), PmuEvent::CPU_CYCLES);
    let (together, apart) = (cycles("atomic_adjacent"), cycles("atomic_padded"));
    assert!(together > 4 * apart, "{together} and {apart} cycles");
}

#[test]
fn the_recorded_order_of_atomics_is_that_of_the_host() {
    let by_host = run("atomic_adjacent", "recorded");
    let by_default = run("atomic_adjacent", "");
    let free = run("atomic_adjacent", "free");
    let lost = |outcome: &Outcome| outcome.total().value(PmuEvent::L1D_CACHE_INVAL);
    assert!(lost(&by_host) * 10 < lost(&by_default), "{} {}", lost(&by_host), lost(&by_default));
    assert!(lost(&by_default) * 2 > lost(&free), "{} {}", lost(&by_default), lost(&free));
    // When they were recorded the second thread began when the first one had finished.
    let waited = |outcome: &Outcome| outcome.cores[1].waits.shares().0;
    assert!(waited(&by_host) > 40.0, "{} %", waited(&by_host));
    assert!(waited(&by_default) < 1.0, "{} %", waited(&by_default));
}

#[test]
fn counters_beside_what_all_threads_read_slow_every_reader() {
    let (together, apart) = (run("readers_adjacent", ""), run("readers_padded", ""));
    assert_eq!((together.cores.len(), apart.cores.len()), (8, 8));
    for event in [PmuEvent::L1D_CACHE_REFILL, PmuEvent::L1D_CACHE_INVAL] {
        let (fewest, most) = (least(&together, event), most(&apart, event));
        assert!(fewest > 2 * most, "{}: {fewest} and {most}", event.mnemonic());
    }
    let (fastest, slowest) =
        (least(&together, PmuEvent::CPU_CYCLES), most(&apart, PmuEvent::CPU_CYCLES));
    assert!(fastest * 2 > slowest * 3, "{fastest} and {slowest} cycles");
}

#[test]
fn the_default_order_shows_false_sharing_that_the_recorded_order_hides() {
    let lost = |order| run("readers_adjacent", order).total().value(PmuEvent::L1D_CACHE_INVAL);
    let (causal, recorded, free) = (lost(""), lost("recorded"), lost("free"));
    assert!(causal * 10 > free * 9, "{causal} by default, {free} in free order");
    assert!(recorded * 3 < causal, "{recorded} in recorded order, {causal} by default");
}

#[test]
fn contended_exclusives_are_reported_and_marked() {
    let adjacent = run("exclusive_adjacent", "");
    let lost = adjacent.header.contended_exclusives;
    assert!(lost > 100 && lost <= 2 * ROUNDS, "{lost}");
    assert_eq!(adjacent.total().value(PmuEvent::STREX_FAIL_SPEC), 0, "as recorded");
    let caveat = sim_machine::caveats::caveat(PmuEvent::STREX_FAIL_SPEC, &adjacent.header);
    assert_eq!(caveat, Some("recorded outcome"));
    let note = format!("{lost} store-exclusives stored as recorded");
    assert!(adjacent.notes.iter().any(|text| text.starts_with(&note)), "{:?}", adjacent.notes);
    let padded = run("exclusive_padded", "");
    assert_eq!(padded.header.contended_exclusives, 0);
    assert_eq!(sim_machine::caveats::caveat(PmuEvent::STREX_FAIL_SPEC, &padded.header), None);
}
