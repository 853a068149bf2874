//! Tests with an independent reader, which accepts every file that is written.

use std::io::Cursor;

use linux_perf_data::linux_perf_event_reader::EventRecord;
use linux_perf_data::{AttributeDescription, PerfFileReader, PerfFileRecord};

use super::machine::Cpu;
use super::overflow::{OverflowEvent, OverflowProfile, OverflowSample};
use super::records::Sample;
use super::spe::{AuxChunk, Metadata, SpeProfile, SpeThread};
use super::{Machine, Mapping, PerfData};

/// Record of a load at 0x400158, as perf's own decoder prints it.
const RECORD: [u8; 64] = {
    let mut bytes = [0; 64];
    let front = [
        0xb0, 0x58, 0x01, 0x40, 0, 0, 0, 0, 0x80, 0x65, 0x92, 0x10, 0, 0, 0x49, 0, 0x52, 0x1e,
        0x01, 0x99, 4, 0, 0x98, 0x42, 0, 0xb2, 0x28, 0x89, 0x42, 0, 0, 0, 0, 0, 0x9a, 1, 0, 0xb3,
        0x28, 0x89, 0x42, 0x80, 0, 0, 0, 0x80, 0x43, 0x0b,
    ];
    let mut at = 0;
    while at < front.len() {
        bytes[at] = front[at];
        at += 1;
    }
    let time = [0x71, 0xe8, 0xcd, 0x9a, 0x3b, 0, 0, 0, 0];
    at = 0;
    while at < time.len() {
        bytes[55 + at] = time[at];
        at += 1;
    }
    bytes
};

fn machine(cpus: u32) -> Machine {
    let command = vec!["n2sim".to_owned(), "record".to_owned()];
    Machine {
        midr: 0x410f_d493,
        cpu: Cpu::default(),
        cpus,
        memory: 16 << 30,
        version: "0.1".to_owned(),
        command,
    }
}

fn mapping() -> Mapping {
    let path = "/opt/demo.elf".to_owned();
    Mapping { start: 0x40_0000, bytes: 0x1000, offset: 0, is_code: true, path }
}

fn spe(metadata: Metadata) -> PerfData {
    let chunk =
        AuxChunk { time: 1_000_002_000, bytes: RECORD.repeat(3), truncated: false, collided: true };
    let thread = |tid| SpeThread { tid, chunks: vec![chunk.clone(); 2] };
    let profile = SpeProfile {
        event: "arm_spe_0/ts_enable=1/".to_owned(),
        config: [1, 0, 0],
        period: 1024,
        counter_hz: 1_000_000_000,
        times: (1_000_000_000, 1_000_003_000),
        min_interval: 1024,
        comm: "demo".to_owned(),
        pid: 4242,
        mappings: vec![mapping()],
        threads: vec![thread(4242), thread(4243)],
        metadata,
        ..SpeProfile::default()
    };
    profile.perf_data(&machine(2))
}

/// Returns the names of all events, and all records as debug text.
fn read(file: &PerfData) -> (Vec<String>, Vec<String>) {
    let mut bytes = Vec::new();
    file.write(&mut bytes).expect("memory");
    let PerfFileReader { mut perf_file, mut record_iter } =
        PerfFileReader::parse_file(Cursor::new(&bytes)).expect("a perf.data file");
    assert_eq!(perf_file.arch().expect("a feature"), Some("aarch64"));
    assert_eq!(perf_file.cpu_id().expect("a feature"), Some("0x00000000410fd493"));
    let names = perf_file.event_attributes().iter().filter_map(AttributeDescription::name);
    let names = names.map(str::to_owned).collect();
    let mut records = Vec::new();
    while let Some(record) = record_iter.next_record(&mut perf_file).expect("a record") {
        match record {
            PerfFileRecord::EventRecord { record, .. } => {
                let parsed: EventRecord<'_> = record.parse().expect("a record of the kernel");
                records.push(format!("{parsed:?}"));
            }
            PerfFileRecord::UserRecord(record) => {
                let parsed = record.parse().expect("a record of the tool");
                records.push(format!("{parsed:?}"));
            }
        }
    }
    (names, records)
}

fn count(records: &[String], head: &str) -> usize {
    records.iter().filter(|record| record.starts_with(head)).count()
}

#[test]
fn an_independent_reader_accepts_a_profile_of_spe() {
    for metadata in [Metadata::V1, Metadata::V2] {
        let (names, records) = read(&spe(metadata));
        assert_eq!(names, ["arm_spe_0/ts_enable=1/", "dummy:u"]);
        assert_eq!(count(&records, "Mmap2"), 1, "{records:#?}");
        assert_eq!(count(&records, "Comm"), 2);
        assert_eq!(count(&records, "Fork"), 1);
        assert_eq!(count(&records, "Exit"), 2);
    }
}

#[test]
fn an_independent_reader_accepts_samples_with_their_callers() {
    let sample =
        Sample { ip: 0x40_0100, is_kernel: false, period: 1000, callers: vec![0x40_0204; 300] };
    let profile = OverflowProfile {
        events: vec![OverflowEvent {
            name: "cycles".to_owned(),
            code: 0x11,
            period: 1000,
            excluded: 0,
        }],
        comm: "a name longer than any thread has".to_owned(),
        tids: vec![7],
        mappings: vec![mapping()],
        times: (0, 9),
        samples: vec![OverflowSample { event: 0, thread: 0, time: 5, sample }],
    };
    let (names, records) = read(&profile.perf_data(&machine(1)));
    assert_eq!(names, ["cycles"]);
    let samples: Vec<&String> = records.iter().filter(|r| r.starts_with("Sample")).collect();
    let [sample] = samples[..] else { panic!("one sample: {records:#?}") };
    assert!(
        sample.contains("timestamp: Some(\n") || sample.contains("timestamp: Some(5)"),
        "{sample}"
    );
}
