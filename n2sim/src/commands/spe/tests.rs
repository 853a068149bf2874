//! The command on small files: what it prints, what it writes, what it refuses.

use std::path::Path;

use clap::Parser;
use sim_core::PmuEvent;
use sim_machine::{MachineConfig, RunHeader, RunOptions, Session};
use sim_pmu::spe::{Events, InstAddress, OperationType, encode_n2};

use super::*;

fn arguments(words: &[&str]) -> SpeArgs {
    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: SpeArgs,
    }
    let words = ["spe"].iter().chain(words);
    Line::try_parse_from(words).expect("words that the command knows").args
}

fn load(pc: u64, source: u16) -> SpeRecord {
    SpeRecord {
        pc: Some(InstAddress { address: pc, level: 0, non_secure: true }),
        operation: Some(OperationType::access(false, sim_pmu::spe::AccessClass::General)),
        events: Some(Events::RETIRED.with(Events::L1D_ACCESS)),
        issue_latency: Some(4),
        total_latency: Some(8 + 10 * source),
        translation_latency: Some(1),
        virtual_address: Some(0x8000),
        data_source: Some(source),
        ..SpeRecord::default()
    }
}

/// Runs on a file of `bytes`; gives what it printed, or its complaint without the directory's name.
fn run_on(bytes: &[u8], options: &[&str]) -> Result<String, String> {
    let directory = tempfile::tempdir().expect("a directory");
    let place = |name: &str| directory.path().join(name).display().to_string();
    let (file, printed) = (place("profile"), place("printed"));
    std::fs::write(&file, bytes).expect("room");
    let args = arguments(&[&[file.as_str(), "-o", printed.as_str()], options].concat());
    match run(&args) {
        Ok(_) => Ok(std::fs::read_to_string(printed).expect("the report")),
        Err(error) => Err(format!("{error:#}").replace(&place(""), "")),
    }
}

#[test]
fn a_profile_is_summed_up() {
    let bytes = [load(0x400000, 0), load(0x400000, 8), load(0x400004, 0)].map(|it| encode_n2(&it));
    let message = run_on(&bytes.concat(), &[]).expect("a good profile");
    assert!(message.starts_with("3 sampled operations in 1 buffer\n"), "{message}");
    assert!(
        message.contains("load, L2                           1   33.33%      4.0     88.0"),
        "{message}"
    );
    let json = run_on(&bytes.concat(), &["--json"]).expect("a good profile");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["events"]["RETIRED"], 3);
    assert_eq!(json["instructions"][0]["samples"], 2);
    let packets = run_on(&bytes.concat(), &["--packets"]).expect("a good profile");
    assert!(packets.contains("00000000  PC 0x400000 el0 ns=1\n00000013  LD GP-REG\n"), "{packets}");
}

#[test]
fn damage_is_reported_with_its_place() {
    let mut bytes = [load(1, 0), load(2, 0), load(3, 0)].map(|it| encode_n2(&it)).concat();
    bytes[64 + 19] = 0x03;
    let message = run_on(&bytes, &[]).expect("two good records");
    assert!(
        message.contains(
            "damaged at byte 83 of the file: 0x03 is not a packet header; 64 bytes skipped"
        )
    );
    assert!(message.starts_with("2 sampled operations"));
}

#[test]
fn what_is_no_profile_is_refused() {
    let text = run_on(b"This is a text, and no profile at all.", &[]).expect_err("a text");
    assert!(text.contains("profile: no sample record is in it"), "{text}");
    let cut = run_on(b"PERFILE2", &[]).expect_err("a cut file");
    assert_eq!(cut, "profile: the perf.data file is cut or damaged at byte 8");
    let missing = run(&arguments(&["/nowhere/at/all"])).expect_err("no file");
    assert!(format!("{missing:#}").starts_with("/nowhere/at/all: No such file"), "{missing:#}");
    assert_eq!(
        run_on(&[], &[]).expect("nothing was sampled"),
        "0 sampled operations in 1 buffer\n"
    );
}

#[test]
fn every_record_is_a_row_of_its_table() {
    let directory = tempfile::tempdir().expect("a directory");
    let prefix = directory.path().join("samples");
    let branch = SpeRecord {
        operation: Some(OperationType::branch(true, false)),
        virtual_address: None,
        data_source: None,
        ..load(4, 0)
    };
    let bytes = [load(0x10, 0xb), branch, load(0x14, 0)].map(|it| encode_n2(&it)).concat();
    run_on(&bytes, &["--csv", &prefix.display().to_string()]).expect("a good profile");
    let table = |name: &str| {
        let path = Path::new(&directory.path().join(name)).to_owned();
        std::fs::read_to_string(path).expect("a table")
    };
    let accesses = table("samples-ldst.csv");
    let row = ",LD,0x10,0,false,false,false,GP-REG,,false,false,RETIRED:L1D-ACCESS,4,118,0x8000,1,,\
               LL-CACHE,,,";
    assert_eq!(accesses.lines().nth(1), Some(row));
    assert_eq!(accesses.lines().count(), 3);
    assert_eq!(table("samples-br.csv").lines().count(), 2);
    assert_eq!(table("samples-other.csv").lines().count(), 1);
}

#[test]
fn intervals_that_the_register_cannot_hold_are_refused() {
    for interval in ["0", "100", "8589934592"] {
        let args = arguments(&["--compare-with", "x.n2t", "--intervals", interval]);
        let message = format!("{:#}", run(&args).expect_err("a wrong interval"));
        assert!(message.contains("give multiples of 256"), "{message}");
    }
}

#[test]
fn samples_are_compared_with_every_operation() {
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/chase.n2t");
    let args = arguments(&[
        "--compare-with",
        &trace.display().to_string(),
        "--limit",
        "100000",
        "--intervals",
        "256,1024",
    ]);
    let observed = accuracy::run(&trace, &args.comparison).expect("a committed trace");
    let document = args.comparison.machine.source(&[]).document().expect("the built-in machine");
    let config = MachineConfig::from_document(&document).expect("the built-in machine");
    let session = Session::open(&trace, config, RunHeader::default()).expect("a committed trace");
    let options = RunOptions { limit: Some(100_000), ..RunOptions::default() };
    let total = session.run(&options, &mut |_| {}).expect("a run").total();
    let exact = &observed.exact;
    assert_eq!(exact.records, total.value(PmuEvent::OP_RETIRED), "all operations are sampled");
    let mispredicted = exact.with_event(Events::MISPREDICTED);
    assert_eq!(mispredicted, total.value(PmuEvent::BR_MIS_PRED_RETIRED));
    let [fine, coarse] = &observed.sampled[..] else { panic!("two intervals") };
    for sampled in [fine, coarse] {
        let funnel = sampled.funnel.expect("it was sampled here");
        let ended = funnel.collided + funnel.abandoned + funnel.filtered + funnel.dropped;
        assert_eq!(funnel.due, ended + funnel.written, "each operation ends somewhere");
        assert_eq!(funnel.written, sampled.profile.records);
        let interval = sampled.interval.expect("it was sampled here") as f64 + 127.5 + 1.0;
        let expected = funnel.population as f64 / interval;
        assert!((funnel.due as f64 / expected - 1.0).abs() < 0.05, "{funnel:?}");
        let row = truth::compare(&observed.exact, sampled);
        assert!(row.groups.measured < 5.0 * row.groups.expected + 0.01, "{row:?}");
    }
    assert!(fine.profile.records > 2 * coarse.profile.records);
}
