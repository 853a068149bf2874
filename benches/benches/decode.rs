//! Speed of trace decoding alone: instructions per second of CPU time of one thread, on every
//! committed trace.

#![allow(missing_docs)]

use std::path::Path;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sim_benches::{ThreadTime, committed_traces, write_synthetic};
use sim_trace::TraceFile;

/// Decodes all streams. Returns the sum of addresses, in place of a consumer.
fn decode_all(file: &TraceFile) -> u64 {
    let mut batch = Vec::new();
    let mut sum = 0u64;
    for info in file.streams() {
        let mut reader = file.reader(info.stream).expect("a stream that the file lists");
        while reader.next_batch(&mut batch).expect("a trace that verifies") {
            sum = batch.iter().fold(sum, |sum, inst| sum.wrapping_add(inst.addr));
        }
    }
    sum
}

fn decode(c: &mut Criterion<ThreadTime>) {
    let mut group = c.benchmark_group("decode");
    group.sample_size(10).warm_up_time(Duration::from_secs(1));
    let mut traces = committed_traces();
    let synthetic = std::env::temp_dir().join(format!("n2sim-bench-{}.n2t", std::process::id()));
    if traces.is_empty() {
        write_synthetic(&synthetic, 1 << 24).expect("room for a synthetic trace");
        traces.push(synthetic.clone());
    }
    for path in &traces {
        let file = TraceFile::open(path).expect("a trace that opens");
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        group.throughput(Throughput::Elements(file.instructions()));
        group.bench_with_input(BenchmarkId::from_parameter(name), &file, |b, file| {
            b.iter(|| decode_all(file));
        });
    }
    group.finish();
    remove_if_there(&synthetic);
}

fn remove_if_there(path: &Path) {
    if path.exists() {
        let _ = std::fs::remove_file(path);
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(ThreadTime);
    targets = decode
}
criterion_main!(benches);
