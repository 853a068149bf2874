//! Measured latencies and bandwidths: sbc-bench, Amlogic S905X at 1.413 GHz, and RK3399.

use super::{Bench, defaults, plain};

/// Load-to-use of a hit, which the core adds.
const HIT: u64 = 3;

/// Returns the addresses of a chase through `bytes` bytes: one line in each step, in bit-reversed
/// order, so that each step changes the page and keeps the set.
fn reversed(base: u64, bytes: u64) -> Vec<u64> {
    let lines = bytes / 64;
    let bits = lines.trailing_zeros();
    (0..lines).map(|line| base + (line.reverse_bits() >> (64 - bits)) * 64).collect()
}

/// Returns tenths of a cycle per line of `chains` chases that run beside each other, once all lines
/// have been touched. Each chain has its part of the lines.
fn chase(bytes: u64, chains: usize, steps: usize) -> u64 {
    let mut bench = Bench::new(&defaults(), 1);
    let order = reversed(1 << 30, bytes);
    let part = order.len() / chains;
    let mut free = vec![bench.now; chains];
    let mut start = 0;
    let warm = order.len().min(400_000) / chains;
    for step in 0..warm + steps {
        if step == warm {
            start = free.iter().copied().max().unwrap_or(0);
        }
        for (chain, free) in free.iter_mut().enumerate() {
            // One load enters in a cycle, in program order.
            bench.now = (*free).max(bench.now + 1);
            let addr = order[chain * part + step % part];
            let reply = bench.memory.load(0, plain(addr, 8), bench.now, &mut bench.counts[0]);
            *free = reply.ready + HIT;
        }
    }
    let end = free.iter().copied().max().unwrap_or(0);
    (end - start) * 10 / (steps * chains) as u64
}

/// Returns tenths of a cycle that a random read in `bytes` bytes takes more than an L1 hit; each
/// address depends on the read before and on some arithmetic.
fn random_reads(bytes: u64) -> u64 {
    let mut bench = Bench::new(&defaults(), 1);
    let (mut seed, mut extra, reads) = (12345_u64, 0, 60_000);
    for read in 0..2 * reads {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let cycles = bench.load((1 << 30) + (seed >> 33) % bytes);
        extra += if read < reads { 0 } else { cycles };
        bench.now += 15;
    }
    extra * 10 / reads
}

/// Returns bytes in 100 cycles of a fill with stores of 16 bytes.
fn fill(bytes: u64) -> u64 {
    let mut bench = Bench::new(&defaults(), 1);
    let start = bench.now;
    for addr in (0..bytes).step_by(16) {
        bench.store((1 << 30) + addr, 16);
    }
    bytes * 100 / (bench.now - start)
}

/// Returns bytes in 100 cycles of a copy with loads and stores of 16 bytes, which waits for each
/// load.
fn copy(bytes: u64) -> u64 {
    let mut bench = Bench::new(&defaults(), 1);
    let start = bench.now;
    for addr in (0..bytes).step_by(64) {
        for part in (0..64).step_by(16) {
            let from = plain((1 << 30) + addr + part, 16);
            let reply = bench.memory.load(0, from, bench.now, &mut bench.counts[0]);
            bench.now = reply.ready + 2;
        }
        for part in (0..64).step_by(16) {
            bench.store((1 << 31) + addr + part, 16);
        }
    }
    bytes * 100 / (bench.now - start)
}

fn expect_within(what: &str, value: u64, low: u64, high: u64) {
    println!("{what}: {value} ({low} to {high})");
    assert!((low..=high).contains(&value), "{what}: {value} is not within {low} to {high}");
}

#[test]
fn print_ladder() {
    for kb in [16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768] {
        println!(
            "{kb} KB: chase {} random {}",
            chase(kb * 1024, 1, 20_000),
            random_reads(kb * 1024)
        );
    }
    for chains in [1, 2, 4, 8] {
        println!(
            "{chains}: 256K {} 16M {}",
            chase(256 * 1024, chains, 20_000),
            chase(16 << 20, chains, 20_000)
        );
    }
    println!("fill {} copy {}", fill(16 << 20), copy(16 << 20));
    expect_within("x", 1, 1, 1);
}
