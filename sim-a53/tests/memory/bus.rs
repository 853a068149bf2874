//! External memory: limits of outstanding linefills.

use sim_a53::A53Event::{EXT_MEM_REQ, EXT_MEM_REQ_NC};

use super::{Bench, plain, quiet};

// Given: six lines of warm pages, in memory. Stimulus: loads in the same cycle. Expect: the first
// three overlap; the fourth waits for the first buffer. Section: TRM 6.1.
#[test]
fn three_load_misses_are_outstanding() {
    let config = quiet();
    let mut bench = Bench::new(&config, 1);
    bench.warm_pages(&[0x10000]);
    let now = bench.now;
    let ready = [0, 1, 2, 3, 4, 5].map(|line| {
        let access = plain(0x10000 + line * 64, 8);
        bench.memory.load(0, access, now, &mut bench.counts[0]).ready - now
    });
    let miss = u64::from(config.l2.miss_cycles + config.bus.latency_cycles);
    assert_eq!(ready[0], miss);
    assert!(ready[2] <= miss + 2 * u64::from(config.bus.line_cycles) + 4, "{ready:?}");
    assert!(ready[3] >= 2 * miss && ready[5] < 3 * miss, "{ready:?}");
    assert_eq!(bench.all([EXT_MEM_REQ, EXT_MEM_REQ_NC]), [6, 0]);
}
