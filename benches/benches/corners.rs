//! Speed of the full-detail simulation on loops that use one rare part of the model all the time,
//! in simulated instructions per second of CPU time, start-up included.
//!
//! The loops stay in `target/tmp/corners` as traces for other commands.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sim_benches::ThreadTime;
use sim_benches::corners::{CORNERS, Corner};
use sim_core::{Counts, EventSink, Notice, PmuEvent};
use sim_machine::{ConfigSource, MachineConfig, RunHeader, RunOptions, Session};

const FOLDER: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/corners");

/// Observer of every event, operation and level.
#[derive(Default)]
struct Observer {
    counts: Counts,
    notices: u64,
}

impl EventSink for Observer {
    const OBSERVES_OPS: bool = true;

    fn count(&mut self, event: PmuEvent, n: u64) {
        self.counts.count(event, n);
    }

    fn notify(&mut self, _notice: Notice<'_>) {
        self.notices += 1;
    }
}

fn session(corner: &Corner, trace: &Path) -> Session {
    let overrides: Vec<String> = corner.overrides.iter().map(|one| (*one).to_owned()).collect();
    let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
    let document = source.document().expect("the embedded profile takes the overrides");
    let config = MachineConfig::from_document(&document).expect("a machine that can be");
    Session::open(trace, config, RunHeader::default()).expect("a trace that was just written")
}

/// Runs the loop once.
fn run(corner: &Corner, session: &Session) {
    let options = RunOptions::default();
    let outcome = if corner.is_observed {
        let mut observer = Observer::default();
        let outcome = session.run_with_sink(&options, &mut |_| {}, &mut observer);
        black_box((observer.counts, observer.notices));
        outcome
    } else {
        session.run(&options, &mut |_| {})
    };
    black_box(outcome.expect("a generated trace runs"));
}

fn corners(c: &mut Criterion<ThreadTime>) {
    std::fs::create_dir_all(FOLDER).expect("a folder for the traces");
    let mut group = c.benchmark_group("corners");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(1))
        .measurement_time(Duration::from_secs(1));
    for corner in CORNERS {
        let trace = Path::new(FOLDER).join(corner.name).with_extension("n2t");
        let instructions = corner.save(&trace).expect("the folder can be written");
        let session = session(corner, &trace);
        group.throughput(Throughput::Elements(instructions));
        group.bench_function(corner.name, |b| b.iter(|| run(corner, &session)));
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(ThreadTime);
    targets = corners
}
criterion_main!(benches);
