//! Shared parts of the benches: the traces to measure on, and a clock that other jobs do not
//! disturb.

pub mod corners;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use sim_trace::{Access, Meta, TraceError, TraceWriter};

/// Returns the committed traces, in order of name; none if the directory has none.
pub fn committed_traces() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces");
    let mut traces: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "n2t"))
        .collect();
    traces.sort();
    traces
}

/// Writes a synthetic trace of about `instructions`: 512 blocks of 2 to 9 instructions in loops of
/// 8, a third of them with an address, half of those strided and half random. It compresses and
/// predicts better than a program: use it only where no recorded trace is available.
///
/// # Errors
/// If the trace cannot be written.
pub fn write_synthetic(path: &Path, instructions: u64) -> Result<(), TraceError> {
    const LDR: u32 = 0xf940_0041;
    const RET: u32 = 0xd65f_03c0;
    let mut writer = TraceWriter::create(path, Meta::default())?;
    let mut blocks = Vec::new();
    for i in 0..512u64 {
        let len = 2 + (i * 5 % 8) as usize;
        let mut words = vec![LDR; len];
        words[len - 1] = RET;
        blocks.push((writer.define_block(0x10000 + 64 * i, &words)?, len as u16));
    }
    let mut random = 1u64;
    let mut turn = 0u64;
    while writer.instructions() < instructions {
        // A multiplicative generator is random enough for addresses.
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (id, len) = blocks[(turn / 64 % 64 * 8 + turn % 8) as usize];
        let strided = Access { index: 0, addr: 0x40_0000 + 8 * turn };
        let scattered = Access { index: 1, addr: 0x80_0000 + (random >> 44) };
        let accesses = [strided, scattered];
        writer.push_block(0, id, len, &accesses[..1 + usize::from(len > 4)], None)?;
        turn += 1;
    }
    writer.finish().map(drop)
}

/// CPU time of the measuring thread, so that a busy machine does not halve a figure. Wall time
/// where the system does not report it (`/proc/thread-self/schedstat`).
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadTime;

impl ThreadTime {
    fn now() -> Duration {
        let nanoseconds = fs::read_to_string("/proc/thread-self/schedstat")
            .ok()
            .and_then(|text| text.split(' ').next()?.parse().ok());
        let wall = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        nanoseconds.map_or_else(wall, Duration::from_nanos)
    }
}

impl Measurement for ThreadTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        // The kernel updates the figure when the thread is scheduled.
        std::thread::yield_now();
        ThreadTime::now()
    }

    fn end(&self, start: Duration) -> Duration {
        std::thread::yield_now();
        // Below the clock's resolution a span may look empty; criterion divides by it.
        ThreadTime::now().saturating_sub(start).max(Duration::from_nanos(1))
    }

    fn add(&self, a: &Duration, b: &Duration) -> Duration {
        *a + *b
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        value.as_nanos() as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        const WALL: &WallTime = &WallTime;
        WALL.formatter()
    }
}
