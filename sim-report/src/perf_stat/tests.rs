use sim_core::{Counts, EventSink, Packed, PmuEvent};
use sim_machine::{CoreOutcome, Outcome, RunHeader};

use super::*;
use crate::stat::{self, Counted, Selected, StatOptions};
use sim_pmu::perf::{PerfEvent, Reading, Status};

/// Returns the outcome of two threads; the second ran half as long.
fn outcome() -> Outcome {
    let core = |stream, scale: u64| {
        let mut counts = Counts::default();
        for (event, n) in [
            (PmuEvent::CPU_CYCLES, 1_000_000),
            (PmuEvent::INST_RETIRED, 1_500_000),
            (PmuEvent::BR_PRED, 100_000),
            (PmuEvent::BR_MIS_PRED, 4_560),
            (PmuEvent::L1D_CACHE_RD, 300_000),
            (PmuEvent::L1D_CACHE_WR, 100_000),
        ] {
            counts.count(event, n * scale);
        }
        CoreOutcome {
            stream,
            is_counted: true,
            counts: Packed::from(&counts),
            ..CoreOutcome::default()
        }
    };
    let header = RunHeader { trace: "traces/hash.n2t".into(), ..RunHeader::default() };
    Outcome {
        header,
        cores: vec![core(0, 2), core(1, 1)],
        clock_hz: 2_000_000_000,
        ..Outcome::default()
    }
}

fn select(names: &[&str]) -> Vec<Selected> {
    let selected = |name: &&str| {
        let event = PmuEvent::from_name(name.trim_end_matches(":k")).expect("a known event");
        Selected { name: (*name).to_owned(), event: PerfEvent::new(event) }
    };
    names.iter().map(selected).collect()
}

/// Returns a report in which every event is counted all the time; an event with `:k` is refused.
fn report(names: &[&str], per_thread: bool) -> StatReport {
    let (outcome, events) = (outcome(), select(names));
    let mut readings = stat::exact(&outcome, &events);
    for core in &mut readings {
        for (reading, _) in core.iter_mut().zip(names).filter(|(_, name)| name.ends_with(":k")) {
            *reading = Reading { status: Status::NotSupported, ..Reading::default() };
        }
    }
    let counted = Counted { events: &events, readings: &readings, truth: None };
    let counted = (!names.is_empty()).then_some(counted);
    let threads = Owner::threads(&outcome);
    let owners = per_thread.then_some(threads.as_slice());
    let options = StatOptions { counted, owners, has_stall_slot_erratum: false, errors: None };
    StatReport::new(&outcome, &options)
}

/// Returns a report of multiplexed events, with their exact counts.
fn multiplexed(readings: &[Reading]) -> StatReport {
    let events = select(&["inst_retired", "r10", "l1d_cache", "ld_spec"]);
    let truth =
        [vec![Reading::exact(1_000, 4_000), Reading::exact(0, 4_000), Reading::exact(70, 4_000)]];
    let truth = truth.map(|mut truth| {
        truth.push(Reading::exact(5, 4_000));
        truth
    });
    let readings = [readings.to_vec()];
    let counted = Counted { events: &events, readings: &readings, truth: Some(&truth) };
    let options = StatOptions {
        counted: Some(counted),
        owners: None,
        has_stall_slot_erratum: false,
        errors: None,
    };
    StatReport::new(&Outcome { cores: outcome().cores[..1].to_vec(), ..outcome() }, &options)
}

fn uneven() -> [Reading; 4] {
    let part = |value, running| Reading { value, enabled: 4_000, running, status: Status::Counted };
    let never = Reading { enabled: 4_000, ..Reading::default() };
    [part(330, 1_334), part(0, 2_000), Reading::exact(70, 4_000), never]
}

#[test]
fn a_multiplexed_event_shows_its_time_running_and_its_error() {
    let expected = "
 Performance counter stats for 'traces/hash.n2t':

               989      inst_retired                     truth              1,000  error    -1.10%  (33.35%)
                 0      r10                              truth                  0  error    +0.00%  (50.00%)
                70      l1d_cache                        truth                 70  error    +0.00%
     <not counted>      ld_spec                          truth                  5  error         -  (0.00%)

       0.001000000 seconds time elapsed (modeled)

";
    assert_eq!(text(|out| write_text(out, &multiplexed(&uneven()))), expected);
    let csv = "\
989,,inst_retired,667,33.00,,,1000,-1.1000
0,,r10,1000,50.00,,,0,0.0000
70,,l1d_cache,2000,100.00,,,70,0.0000
<not counted>,,ld_spec,0,0.00,,,5,
";
    assert_eq!(text(|out| write_csv(out, &multiplexed(&uneven()), ",")), csv);
    let json = text(|out| write_json(out, &multiplexed(&uneven())));
    let lines: Vec<&str> = json.lines().collect();
    assert!(
        lines[0]
            .ends_with("\"pcnt-running\" : 33.00, \"truth\" : 1000, \"error-percent\" : -1.1000}"),
        "{json}"
    );
    assert!(lines[3].ends_with("\"pcnt-running\" : 0.00, \"truth\" : 5}"), "{json}");
    for line in lines {
        serde_json::from_str::<serde_json::Value>(line).expect("each line is a JSON object");
    }
}

const NAMES: [&str; 6] =
    ["cpu_cycles", "inst_retired", "r10", "br_pred", "cpu_cycles:k", "ldst_spec"];

fn text(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("memory can be written");
    String::from_utf8(out).expect("the report is text")
}

#[test]
fn text_has_the_columns_of_perf() {
    let expected = "
 Performance counter stats for 'traces/hash.n2t':

         3,000,000      cpu_cycles                       #    2.000 GHz
         4,500,000      inst_retired                     #    1.50  insn per cycle
            13,680      r10                              #    4.56% of all branches
           300,000      br_pred
   <not supported>      cpu_cycles:k
                 0      ldst_spec

       0.001000000 seconds time elapsed (modeled)

";
    assert_eq!(text(|out| write_text(out, &report(&NAMES, false))), expected);
}

#[test]
fn csv_has_the_fields_of_perf() {
    let expected = "\
3000000,,cpu_cycles,1500000,100.00,2.000,GHz
4500000,,inst_retired,1500000,100.00,1.50,insn per cycle
13680,,r10,1500000,100.00,4.56,of all branches
300000,,br_pred,1500000,100.00,,
<not supported>,,cpu_cycles:k,0,100.00,,
0,,ldst_spec,1500000,100.00,,
";
    assert_eq!(text(|out| write_csv(out, &report(&NAMES, false), ",")), expected);
}

#[test]
fn json_has_the_keys_of_perf_in_their_order() {
    let expected = r#"{"counter-value" : "3000000.000000", "unit" : "", "event" : "cpu_cycles", "event-runtime" : 1500000, "pcnt-running" : 100.00, "metric-value" : "2.000000", "metric-unit" : "GHz"}
{"counter-value" : "4500000.000000", "unit" : "", "event" : "inst_retired", "event-runtime" : 1500000, "pcnt-running" : 100.00, "metric-value" : "1.500000", "metric-unit" : "insn per cycle"}
{"counter-value" : "13680.000000", "unit" : "", "event" : "r10", "event-runtime" : 1500000, "pcnt-running" : 100.00, "metric-value" : "4.560000", "metric-unit" : "of all branches"}
{"counter-value" : "300000.000000", "unit" : "", "event" : "br_pred", "event-runtime" : 1500000, "pcnt-running" : 100.00}
{"counter-value" : "<not supported>", "unit" : "", "event" : "cpu_cycles:k", "event-runtime" : 0, "pcnt-running" : 100.00}
{"counter-value" : "0.000000", "unit" : "", "event" : "ldst_spec", "event-runtime" : 1500000, "pcnt-running" : 100.00}
"#;
    let json = text(|out| write_json(out, &report(&NAMES, false)));
    assert_eq!(json, expected);
    for line in json.lines() {
        serde_json::from_str::<serde_json::Value>(line).expect("each line is a JSON object");
    }
}

#[test]
fn rows_begin_with_the_thread_event_by_event() {
    let report = report(&["inst_retired", "cpu_cycles"], true);
    let csv = "\
hash-0;3000000;;inst_retired;1000000;100.00;1.50;insn per cycle
hash-1;1500000;;inst_retired;500000;100.00;1.50;insn per cycle
hash-0;2000000;;cpu_cycles;1000000;100.00;2.000;GHz
hash-1;1000000;;cpu_cycles;500000;100.00;2.000;GHz
";
    assert_eq!(text(|out| write_csv(out, &report, ";")), csv);
    let first = text(|out| write_text(out, &report)).lines().nth(3).map(str::to_owned);
    let expected = "            hash-0                3,000,000      inst_retired                     #    1.50  insn per cycle";
    assert_eq!(first.as_deref(), Some(expected));
    let json = text(|out| write_json(out, &report));
    assert!(json.starts_with("{\"thread\" : \"hash-0\", \"counter-value\" : \"3000000"), "{json}");
}

#[test]
fn without_a_selection_every_event_is_printed_once() {
    let report = report(&[], false);
    let mut names: Vec<&str> = report.rows().map(|row| row.name.as_str()).collect();
    assert_eq!(names.len(), 147);
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 147);
    let text = text(|out| write_text(out, &report));
    assert!(text.contains("\n TLBs and table walks (PMU guide 4.1):\n"), "{text}");
}

#[test]
fn digits_are_grouped_by_three() {
    let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (12_345_678, "12,345,678")];
    for (number, expected) in cases {
        assert_eq!(grouped(number), expected);
    }
}

/// Returns a report of two cores in the interval that ends after 0.1 ms, with one core less in the
/// next interval.
fn interval(owners: Option<&[Owner]>, number: u64) -> StatReport {
    let events = select(&["r11", "ld_spec"]);
    let both = [Reading::exact(200_000, 200_000), Reading::exact(5, 200_000)].to_vec();
    let readings = if number == 1 { [both.clone(), both] } else { [both, Vec::new()] };
    let counted = Counted { events: &events, readings: &readings, truth: None };
    let options =
        StatOptions { counted: Some(counted), owners, has_stall_slot_erratum: false, errors: None };
    StatReport::new(&outcome(), &options).at(number * 100_000)
}

#[test]
fn rows_begin_with_the_end_of_the_interval() {
    let csv = |owners: &[Owner]| text(|out| write_csv(out, &interval(Some(owners), 2), ","));
    assert_eq!(
        csv(&[Owner::Cpu(0), Owner::Cpu(1)]),
        "0.000200000,CPU0,200000,,r11,100000,100.00,2.000,GHz\n\
         0.000200000,CPU1,<not counted>,,r11,0,100.00,,\n\
         0.000200000,CPU0,5,,ld_spec,100000,100.00,,\n\
         0.000200000,CPU1,<not counted>,,ld_spec,0,100.00,,\n"
    );
    let cores = [Owner::Core(0), Owner::Core(1)];
    let rows = csv(&cores);
    let rows: Vec<&str> = rows.lines().collect();
    assert_eq!(rows[1], "0.000200000,S0-D0-C0,1,5,,ld_spec,100000,100.00,,");
    assert_eq!(rows[2], "0.000200000,S0-D0-C1,1,<not counted>,,r11,0,100.00,,");
    let json = text(|out| write_json(out, &interval(Some(&cores), 1)));
    let start = "{\"interval\" : 0.000100000, \"core\" : \"S0-D0-C0\", \"counters\" : 1, \"counter-value\" : \"200000.000000\"";
    assert!(json.starts_with(start), "{json}");
}

/// The columns are those of perf 6.1 on a real machine, except for the wider name.
#[test]
fn intervals_have_the_columns_of_perf() {
    let together = text(|out| write_text_interval(out, &interval(None, 1), true));
    let expected = "\
#           time             counts unit events
     0.000100000            400,000      r11                              #    2.000 GHz
     0.000100000                 10      ld_spec
";
    assert_eq!(together, expected);
    let of = |owner| {
        let text = text(|out| write_text_interval(out, &interval(Some(&[owner]), 1), true));
        let line = |at| text.lines().nth(at).map(str::to_owned).unwrap_or_default();
        [line(0), line(2)]
    };
    let core = [
        "#           time core            cpus             counts unit events",
        "     0.000100000 S0-D0-C0           1                  5      ld_spec",
    ];
    assert_eq!(of(Owner::Core(0)), core);
    let cpu = [
        "#           time CPU                    counts unit events",
        "     0.000100000 CPU0                        5      ld_spec",
    ];
    assert_eq!(of(Owner::Cpu(0)), cpu);
    let later = text(|out| write_text_interval(out, &interval(None, 2), false));
    assert!(later.starts_with("     0.000200000 "), "one heading is enough: {later}");
}

#[test]
fn a_function_name_that_contains_the_separator_is_quoted() {
    let owners = [Owner::Function("max(int, \"int\")".into()), Owner::Function("main".into())];
    let csv = text(|out| write_csv(out, &interval(Some(&owners), 1), ","));
    assert!(csv.starts_with("0.000100000,\"max(int, \"\"int\"\")\",200000,,r11,"), "{csv}");
    assert!(csv.contains("\n0.000100000,main,5,,ld_spec,"), "{csv}");
}
