//! Speed of the full-detail simulation, in simulated instructions per second, on every committed
//! trace. Compare figures of one run only; shared machines are noisy.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sim_benches::committed_traces;
use sim_machine::{ConfigSource, MachineConfig, RunHeader, RunOptions, Session};

/// Instructions of each trace in one iteration, enough to make the start-up negligible.
const INSTRUCTIONS: u64 = 2_000_000;

fn session(trace: &Path) -> Session {
    let document = ConfigSource::default().document().expect("the embedded profile merges");
    let config = MachineConfig::from_document(&document).expect("the embedded profile is valid");
    let header = RunHeader { trace: trace.display().to_string(), ..RunHeader::default() };
    Session::open(trace, config, header).expect("a committed trace opens")
}

fn simulate(c: &mut Criterion) {
    let mut group = c.benchmark_group("simulate");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(1))
        .measurement_time(Duration::from_secs(5));
    for trace in committed_traces() {
        let session = session(&trace);
        let name = trace.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let options = RunOptions { limit: Some(INSTRUCTIONS), ..RunOptions::default() };
        group.throughput(Throughput::Elements(session.instructions().min(INSTRUCTIONS)));
        group.bench_function(name, |b| {
            b.iter(|| {
                black_box(session.run(&options, &mut |_| {}).expect("a committed trace runs"))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, simulate);
criterion_main!(benches);
