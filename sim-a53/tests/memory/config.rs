//! Checks of the memory tables.

use sim_a53::memory::MemoryConfig;

use super::defaults;

type Change = fn(&mut MemoryConfig);

// Given: the defaults. Stimulus: one wrong value at a time. Expect: one problem with its key.
#[test]
fn each_wrong_value_is_refused_by_its_key() {
    let cases: [(&str, Change); 14] = [
        ("memory.l1i.size-bytes", |c| c.l1i.size_bytes = 3000),
        ("memory.l1d.ways", |c| c.l1d.ways = 0),
        ("memory.l1d.size-bytes", |c| c.l1d.size_bytes = 1 << 40),
        ("memory.l2.size-bytes", |c| c.l2.size_bytes = 600_000),
        ("memory.main-tlb.entries", |c| c.main_tlb.entries = 500),
        ("memory.walker.cache-ways", |c| c.walker.cache_ways = 17),
        ("memory.micro-tlb.data-entries", |c| c.micro_tlb.data_entries = 0),
        ("memory.store-buffer.entries", |c| c.store_buffer.entries = 1),
        ("memory.l1d.linefills", |c| c.l1d.linefills = 0),
        ("memory.prefetch.streams", |c| c.prefetch.streams = 5),
        ("memory.prefetch.sequence", |c| c.prefetch.sequence = 4),
        ("memory.bus.writes", |c| c.bus.writes = 0),
        ("memory.bus.latency-cycles", |c| c.bus.latency_cycles = u32::MAX),
        ("memory.l2.line-cycles", |c| c.l2.line_cycles = 0),
    ];
    assert_eq!(defaults().problems(), []);
    for (key, change) in cases {
        let mut config = defaults();
        change(&mut config);
        let keys: Vec<String> = config.problems().into_iter().map(|found| found.key).collect();
        assert!(keys.contains(&key.to_owned()), "{key} is not in {keys:?}");
    }
}

// Given: any configuration, even a refused one. Stimulus: accesses. Expect: no panic.
#[test]
fn a_refused_configuration_does_not_stop_the_program() {
    let mut config = defaults();
    config.l1d.size_bytes = 5000;
    config.l1d.linefills = 0;
    config.l2.ways = 0;
    config.main_tlb.entries = 0;
    config.micro_tlb.data_entries = 0;
    config.store_buffer.entries = 0;
    config.bus.line_cycles = 0;
    config.bus.writes = 0;
    let mut memory = sim_a53::memory::ClusterMemory::new(&config, 9, 1);
    let mut counts = sim_a53::A53Counts::default();
    for step in 0..1000 {
        let access = super::plain(u64::MAX - step * 40, if step == 5 { 0 } else { 200 });
        memory.load(7, access, step, &mut counts);
        memory.store(7, access, step, &mut counts);
        memory.fetch(7, access.addr, step, &mut counts);
    }
    memory.finish(7, 1000, &mut counts);
}
