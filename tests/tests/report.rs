//! The data of a report: its parts add up and agree with the counts of the run and with each other,
//! on every committed trace, and its JSON form matches the published schema.

use sim_a53::profile::run_profiled;
use sim_a53::{A53Config, A53Event};
use sim_core::chi::{Channel, Message};
use sim_core::config::Document;
use sim_core::flow::FlowGraph;
use sim_core::mesh_counts::{AgentKind, HomeEvent};
use sim_core::{Flow, PmuEvent, RootCause, StallCause};
use sim_machine::{RunOptions, Session};
use sim_metrics::Truth;
use sim_report::run_report::{A53Observed, Cost, FlowCount, Observed, SlotNode};
use sim_report::{RunReport, Symbols};
use sim_tests::trace_check::open;
use sim_tests::{formulas, read, repository};
use sim_trace::TraceFile;

use crate::schema::Schema;

/// A time slice of the six counters, short enough for several in each of the runs below.
const TICK_NS: u64 = 2_000;

fn session(trace: &str) -> Session {
    open(&repository().join(format!("traces/{trace}.n2t"))).expect("a committed trace opens")
}

fn with_report<T>(
    session: &Session,
    options: &RunOptions,
    look: impl FnOnce(&Observed<'_>, &RunReport) -> T,
) -> T {
    let observed = Observed::run(session, options, Some(TICK_NS), &mut |_| {}).expect("it runs");
    let symbols = Symbols::from_trace(session.trace());
    look(&observed, &RunReport::new(&observed, &symbols))
}

fn part(limit: u64) -> RunOptions {
    RunOptions { limit: Some(limit), ..RunOptions::default() }
}

/// Checks that every node is the sum of its children.
fn check_node(node: &SlotNode, trace: &str) {
    if !node.children.is_empty() {
        let sum: u64 = node.children.iter().map(|child| child.slots).sum();
        assert_eq!(node.slots, sum, "{trace}: {}", node.id);
    }
    let charged: u64 = node.hottest.iter().map(|place| place.slots).sum();
    assert!(charged <= node.slots, "{trace}: {}", node.id);
    node.children.iter().for_each(|child| check_node(child, trace));
}

fn check_slots(observed: &Observed<'_>, report: &RunReport, trace: &str) {
    let counts = observed.outcome.total();
    let root = &report.top_down;
    assert_eq!(root.slots, 5 * counts.value(PmuEvent::CPU_CYCLES), "{trace}: slots tile");
    check_node(root, trace);
    let of = |id: &str| root.find(id).map_or(0, |node| node.slots);
    let used = of("slots.retiring")
        + of("slots.bad_speculation.mispredicts.squashed_by_branch")
        + of("slots.bad_speculation.other_flushes.squashed_other");
    assert_eq!(used, counts.value(PmuEvent::OP_SPEC), "{trace}: used slots");
    assert_eq!(of("slots.retiring"), counts.value(PmuEvent::OP_RETIRED), "{trace}");
    let (stalls, lost) = (observed.outcome.stalls(), &report.code.total.causes);
    let front_end = StallCause::ALL.into_iter().filter(|cause| cause.is_frontend());
    let reasons = front_end
        .map(|cause| (cause.label(), stalls.of(cause)))
        .chain(RootCause::back_end().map(|root| (root.label(), stalls.of_root(root))));
    for (reason, slots) in reasons {
        let own = lost.iter().find(|own| own.name == reason).map_or(0, |own| own.slots);
        assert_eq!(own, slots, "{trace}: {reason}");
    }
    assert_eq!(of("slots.backend.memory"), stalls.memory(), "{trace}");
}

fn check_code(report: &RunReport, trace: &str) {
    let (code, run) = (&report.code, &report.run);
    assert_eq!(code.total.slots, report.top_down.slots, "{trace}");
    assert_eq!(code.total.cycles, run.cycles, "{trace}");
    assert_eq!(code.total.instructions, run.instructions, "{trace}");
    for (event, counted) in [
        ("BR_MIS_PRED_RETIRED", code.total.branch_misses),
        ("L1I_CACHE_REFILL", code.total.l1i_refills),
        ("L1D_CACHE_REFILL", code.total.l1d_refills),
        ("L2D_CACHE_REFILL", code.total.l2_refills),
        ("DTLB_WALK", code.total.dtlb_walks.expect("counted")),
        ("ITLB_WALK", code.total.itlb_walks.expect("counted")),
    ] {
        assert_eq!(Some(counted), report.count(event), "{trace}: {event}");
    }
    if code.functions_left_out == 0 {
        let sum = |of: fn(&Cost) -> u64| code.functions.iter().map(|f| of(&f.cost)).sum::<u64>();
        let total = code.total.slots - code.elsewhere.slots;
        assert_eq!(sum(|cost| cost.slots), total, "{trace}: functions");
        let cycles = code.total.cycles - code.elsewhere.cycles;
        assert_eq!(sum(|cost| cost.cycles), cycles, "{trace}: functions");
        let events: [fn(&Cost) -> u64; 6] = [
            |cost| cost.branch_misses,
            |cost| cost.l1i_refills,
            |cost| cost.l1d_refills,
            |cost| cost.l2_refills,
            |cost| cost.dtlb_walks.expect("counted"),
            |cost| cost.itlb_walks.expect("counted"),
        ];
        for (i, of) in events.into_iter().enumerate() {
            let total = of(&code.total) - of(&code.elsewhere);
            assert_eq!(sum(of), total, "{trace}: event {i} of functions");
        }
    }
    let slots = code.instructions.iter().map(|own| own.cost.slots);
    assert!(slots.is_sorted_by(|a, b| a >= b), "{trace}: the most expensive first");
    assert_eq!(Some(report.branches.retired), report.count("BR_RETIRED"), "{trace}");
    assert_eq!(Some(report.branches.mispredicted), report.count("BR_MIS_PRED_RETIRED"), "{trace}");
}

fn check_memory(observed: &Observed<'_>, report: &RunReport, trace: &str) {
    let truth = |truth| observed.evidence.truths.value(truth).unwrap_or_default() as u64;
    let loads: u64 = report.load_latencies.iter().map(|own| own.loads).sum();
    let cycles: u64 = report.load_latencies.iter().map(|own| own.cycles).sum();
    assert_eq!((loads, cycles), (truth(Truth::TimedLoads), truth(Truth::LoadCycles)), "{trace}");
    for source in &report.load_latencies {
        let sum: u64 = source.buckets.iter().map(|bucket| bucket.loads).sum();
        assert_eq!(sum, source.loads, "{trace}: {}", source.source);
    }
    for curve in &report.miss_curves {
        let (first, last) = (curve.points[0], curve.points[curve.points.len() - 1]);
        assert!(first.misses <= curve.accesses, "{trace}: {}", curve.id);
        assert!(curve.points.is_sorted_by(|a, b| a.misses >= b.misses), "{trace}: {}", curve.id);
        assert_eq!(last.misses, curve.footprint_units, "{trace}: {}", curve.id);
    }
    for flow in Flow::ALL {
        let counts = FlowCount::counts(&report.flows);
        let graph = FlowGraph::new(flow);
        assert_eq!(counts.unbalanced(&graph), [], "{trace}: {flow:?}");
    }
}

fn check_timeline(report: &RunReport, trace: &str) {
    for (line, thread) in report.timeline.threads.iter().zip(&report.threads) {
        assert_eq!(line.ends.last(), Some(&thread.cycles), "{trace}: the whole thread");
        let ipc = &line.series[0];
        assert_eq!((&*ipc.id, ipc.values.len()), ("ipc", line.ends.len()));
        let begins = std::iter::once(&0).chain(&line.ends);
        let lengths = begins.zip(&line.ends).map(|(begin, end)| end - begin);
        let retired = ipc.values.iter().zip(lengths).map(|(ipc, n)| ipc.unwrap_or(0.0) * n as f64);
        let (retired, real) = (retired.sum::<f64>(), thread.instructions as f64);
        assert!((retired - real).abs() <= real * 1e-3 + 1.0, "{trace}: {retired} of {real}");
    }
}

#[test]
fn the_parts_add_up_on_every_trace() {
    for trace in formulas::traces() {
        with_report(&session(&trace), &part(200_000), |observed, report| {
            check_slots(observed, report, &trace);
            check_code(report, &trace);
            check_memory(observed, report, &trace);
            check_timeline(report, &trace);
            let counts = observed.outcome.total();
            assert_eq!(report.events.len(), PmuEvent::ALL.len());
            for event in PmuEvent::ALL {
                assert_eq!(report.count(event.mnemonic()), Some(counts.value(event)), "{trace}");
            }
        });
    }
}

#[test]
fn a_window_in_the_middle_adds_up_as_well() {
    let options = RunOptions { warmup: 50_000, ..part(100_000) };
    for trace in ["hash", "atomics", "sort"] {
        with_report(&session(trace), &options, |observed, report| {
            check_slots(observed, report, trace);
            check_code(report, trace);
            check_memory(observed, report, trace);
            check_timeline(report, trace);
        });
    }
}

/// A report does not change the run, and two runs are equal.
#[test]
fn a_report_is_the_same_each_time_and_disturbs_no_count() {
    let (session, options) = (session("atomics"), part(50_000));
    let plain = session.run(&options, &mut |_| {}).expect("it runs");
    let first = with_report(&session, &options, |observed, report| {
        assert_eq!(observed.outcome.total(), plain.total());
        report.clone()
    });
    let again = with_report(&session, &options, |_, report| report.clone());
    assert_eq!(first, again);
}

/// Slots are charged to the load that missed, not to an operation that found no room after it.
#[test]
fn the_load_is_to_blame_for_a_full_reorder_buffer() {
    with_report(&session("hash"), &part(300_000), |_, report| {
        let waits = report.top_down.find("slots.backend.memory.load_dram").expect("it waits");
        let full = report.top_down.find("slots.backend.memory.load_dram.reorder_buffer");
        assert!(full.expect("it fills").slots * 2 > waits.slots, "{waits:?}");
        let worst = &waits.hottest[0];
        let instructions = &report.code.instructions;
        let blamed =
            instructions.iter().find(|own| own.place == worst.place).expect("it is listed");
        assert_eq!(blamed.kind, "load");
        assert!(worst.percent > 50.0, "{worst:?}");
    });
}

/// An estimate of six counters is near the count, except for an event that comes in bursts.
#[test]
fn six_counters_share_the_time() {
    with_report(&session("interp"), &part(400_000), |_, report| {
        let of = |name: &str| {
            let event = report.events.iter().find(|own| own.event == name).expect("an event");
            event.six_counters.expect("it was on a counter")
        };
        assert_eq!(of("CPU_CYCLES").percent_error, Some(0.0), "it has its own counter");
        let instructions = of("INST_RETIRED");
        assert!(instructions.percent_running < 40.0, "{instructions:?}");
        assert!(instructions.percent_error.expect("they came").abs() < 25.0, "{instructions:?}");
    });
}

#[test]
fn the_published_schema_is_that_of_the_data() {
    let path = repository().join("docs/report.schema.json");
    let message = "write it again: n2sim report --schema > docs/report.schema.json";
    assert!(read(&path) == RunReport::schema(), "{}: {message}", path.display());
}

#[test]
fn reports_are_what_the_schema_says_and_read_back() {
    let schema = serde_json::from_str(&read(&repository().join("docs/report.schema.json")));
    let schema = Schema::new(schema.expect("JSON"));
    for trace in ["matrix", "atomics"] {
        with_report(&session(trace), &part(20_000), |_, report| {
            let mut text = Vec::new();
            report.write_json(&mut text).expect("memory can be written");
            let mut json: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
            assert_eq!(schema.faults(&json), Vec::<String>::new(), "{trace}");
            let back: RunReport = serde_json::from_slice(&text).expect("a report");
            assert!(back == *report, "{trace}: what is written is what is read");
            json["run"]["cycles"] = "many".into();
            assert_eq!(schema.faults(&json), ["/run/cycles: \"many\" is not of type \"integer\""]);
            json["run"].as_object_mut().expect("an object").remove("cycles");
            assert_eq!(schema.faults(&json), ["/run: there is no cycles"]);
        });
    }
}

/// The report of a Cortex-A53 has the same form, without what that core lacks.
#[test]
fn a_report_of_a_cortex_a53_is_what_the_schema_says() {
    let embedded = &sim_a53::cluster::EMBEDDED;
    let document = Document::from_embedded(embedded[0].name, embedded).expect("the defaults");
    let config = A53Config::from_document(&document).expect("valid defaults");
    let path = repository().join("traces/threads/plain_padded.n2t");
    let trace = TraceFile::open(&path).expect("a committed trace");
    let profile = run_profiled(&trace, &config, Some(20_000)).expect("it runs");
    let exact: u64 = profile.cores.iter().map(|core| core.counts.value(A53Event::CPU_CYCLES)).sum();
    let observed = A53Observed {
        trace: &trace,
        name: String::from("plain_padded"),
        version: String::from("0"),
        config: &config,
        config_name: document.name(),
        config_hash: document.hash(),
        limit: Some(20_000),
        notes: Vec::new(),
        profile,
    };
    let report = RunReport::of_a53(&observed, &Symbols::from_trace(&trace));
    check_node(&report.top_down, "plain_padded");
    assert_eq!(report.top_down.slots, 2 * exact, "slots tile");
    assert_eq!(report.count("CPU_CYCLES"), Some(exact));
    let mut text = Vec::new();
    report.write_json(&mut text).expect("memory can be written");
    let json: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    let schema = serde_json::from_str(&read(&repository().join("docs/report.schema.json")));
    let schema = Schema::new(schema.expect("JSON"));
    assert_eq!(schema.faults(&json), Vec::<String>::new());
    let back: RunReport = serde_json::from_slice(&text).expect("a report");
    assert!(back == report, "what is written is what is read");
}

/// Eight threads read the first words of a line and count in others (`traces/src/readers.c`); two
/// threads add to the same words (`traces/src/atomics.c`).
#[test]
fn shared_lines_are_those_of_the_programs() {
    let lines = |trace: &str| {
        with_report(&session(trace), &part(100_000), |_, report| report.shared_lines.clone())
    };
    let readers = lines("parallel/readers_adjacent");
    let table = &readers[0];
    assert!(table.address == "0x420000" && table.is_false_sharing(), "{readers:?}");
    assert_eq!((table.cores, table.writers, table.variable.as_deref()), (8, 8, None));
    assert!(table.percent > 95.0 && table.cycles > 100 * table.loads, "{table:?}");
    assert!(table.loaded_at.is_sorted_by(|a, b| a.accesses >= b.accesses), "{table:?}");
    let padded = lines("parallel/readers_padded");
    assert!(padded.iter().all(|line| line.loads * 20 < table.loads), "{padded:?}");
    let both = &lines("atomics")[0];
    assert!(!both.is_false_sharing() && both.writers == 2, "{both:?}");
    assert_eq!(lines("vector"), [], "one thread shares nothing");
}

/// The numbers of the map and of the matrix add up to the counts of the mesh, on every channel.
#[test]
fn the_map_of_the_mesh_has_the_counts_of_the_run() {
    for trace in ["parallel/readers_adjacent", "parallel/queue", "threads/plain_padded"] {
        let session = session(trace).with_mesh();
        with_report(&session, &part(30_000), |observed, report| {
            let counts = &observed.outcome.mesh;
            let mesh = report.mesh.as_ref().expect("several threads");
            for channel in Channel::ALL {
                let drawn: u64 = mesh.links.iter().map(|link| link.flits.of(channel)).sum();
                let counted: u64 = counts.flits_by_side(channel).iter().flatten().sum();
                assert_eq!(drawn, counted, "{trace}: {channel:?}");
            }
            let look_ups: u64 = mesh.home_nodes.iter().map(|home| home.look_ups).sum();
            let misses: u64 = mesh.home_nodes.iter().map(|home| home.misses).sum();
            assert_eq!(look_ups, counts.of_homes(HomeEvent::CacheAccess), "{trace}");
            assert_eq!(misses, counts.of_homes(HomeEvent::CacheMiss), "{trace}");
            let sent: u64 = mesh.agents.iter().map(|agent| agent.flits_sent).sum();
            let received: u64 = mesh.agents.iter().map(|agent| agent.flits_received).sum();
            assert!(sent == received && sent > 0, "{trace}: {sent} and {received}");
        });
    }
}

/// Every snoop that a core gets belongs to a request of one core, and every line that a core sends
/// directly to another one is a line of the matrix.
#[test]
fn the_matrix_of_cores_has_every_snoop_of_the_run() {
    for trace in ["parallel/readers_adjacent", "parallel/queue", "threads/atomic_adjacent"] {
        let session = session(trace).with_mesh();
        with_report(&session, &part(30_000), |observed, report| {
            let counts = &observed.outcome.mesh;
            let is_snoop = |message: &Message| {
                message.channel() == Channel::Snp && *message != Message::SnpDVMOp
            };
            let snoops = Message::ALL.into_iter().filter(is_snoop);
            let got: u64 = snoops.map(|snoop| counts.received_by(AgentKind::Core, snoop)).sum();
            let pairs = &report.mesh.as_ref().expect("several threads").core_pairs;
            let counted: u64 = pairs.iter().map(|pair| pair.snoops + pair.evictions).sum();
            assert!(counted == got && got > 0, "{trace}: {counted} of {got} snoops");
            let lines: u64 = pairs.iter().map(|pair| pair.lines).sum();
            let peer_lines: u64 =
                observed.outcome.cores.iter().map(|core| core.memory.peer_lines).sum();
            assert!(lines > 0 && lines >= peer_lines, "{trace}: {lines} of {peer_lines} lines");
            assert!(pairs.iter().all(|pair| pair.snoops >= pair.lines), "{trace}: {pairs:?}");
        });
    }
    let alone = session("vector").with_mesh();
    with_report(&alone, &part(1_000), |_, report| assert_eq!(report.mesh, None, "one thread"));
    let uncounted = session("parallel/queue");
    with_report(&uncounted, &part(1_000), |_, report| assert_eq!(report.mesh, None));
}
