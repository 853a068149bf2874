//! Impossible hardware is refused with its key and a remedy; the committed tables are valid.

use sim_cache::MemoryConfig;
use sim_cache::config::ReplacementKind;

use super::rig::Tables;

/// Change that makes one value impossible.
type Break = fn(&mut MemoryConfig);

#[test]
fn the_committed_tables_have_no_problem() {
    assert_eq!(Tables::committed().memory.problems(), []);
}

#[test]
fn each_impossible_value_is_refused_by_its_key() {
    let cases: [(&str, &str, Break); 27] = [
        ("memory.l1d.size-bytes", "384 sets", |m| m.l1d.size_bytes = 98_304),
        ("memory.l1i.ways", "1 to 16", |m| m.l1i.ways = 32),
        ("memory.l1i.ways", "binary tree", |m| {
            (m.l1i.ways, m.l1i.size_bytes) = (3, 3 * 64 * 256);
        }),
        ("memory.l2.size-bytes", "at least 131072", |m| m.l2.size_bytes = 65_536),
        ("memory.l2.record-ways", "use fewer", |m| m.l2.record_ways = 8),
        ("memory.l2.record-ways", "another replacement", |m| {
            (m.l2.record_ways, m.l2.replacement) = (1, ReplacementKind::TreePlru);
        }),
        ("memory.l2-tlb.entries", "power of two", |m| m.l2_tlb.entries = 1280),
        ("memory.dtlb.entries", "1 to 255", |m| m.dtlb.entries = 0),
        ("memory.slc.slices", "power of two", |m| m.slc.slices = 12),
        ("memory.l1d.mshrs", "1 to 64", |m| m.l1d.mshrs = 0),
        ("memory.pages.page-bytes", "4096, 16384", |m| m.pages.page_bytes = 8192),
        ("memory.pages.block-bytes", "2097152", |m| m.pages.block_bytes = 32 << 20),
        ("memory.dram.line-cycles", "1 to 32", |m| m.dram.line_cycles = 0),
        ("memory.dram.banks", "power of two", |m| m.dram.banks = 12),
        ("memory.dram.row-bytes", "64 to 65536", |m| m.dram.row_bytes = 32),
        ("memory.dram.activate-cycles", "0 to 255", |m| {
            (m.dram.banks, m.dram.activate_cycles) = (32, 256);
        }),
        ("memory.dram.write-entries", "set memory.slc.queue-entries", |m| {
            m.dram.write_entries = 64
        }),
        ("memory.dram.write-entries", "0 to 1024", |m| {
            (m.dram.write_entries, m.slc.queue_entries) = (1025, 32);
        }),
        ("memory.l2.write-back-entries", "0 to 256", |m| m.l2.write_back_entries = 257),
        ("memory.l2.size-bytes", "at most 1 GiB", |m| m.l2.size_bytes = 1 << 50),
        ("memory.slc.slice-bytes", "at most 1 GiB", |m| m.slc.slice_bytes = 1 << 50),
        ("memory.slc.slices", "at most 1 GiB", |m| m.slc.slices = 1 << 30),
        ("memory.mesh.columns", "1 to 64", |m| m.mesh.columns = 0),
        ("memory.snoop-filter.slice-lines", "power of two", |m| m.snoop_filter.slice_lines = 48),
        ("memory.snoop-filter.slice-lines", "in all", |m| m.snoop_filter.slice_lines = 1 << 20),
        ("memory.chips.remote-pages-per-256", "count=2", |m| m.chips.remote_pages_per_256 = 1),
        ("memory.l2-tlb.entries", "1 to 1048576", |m| m.l2_tlb.entries = 1 << 30),
    ];
    for (key, remedy, make_wrong) in cases {
        let mut config = Tables::committed().memory;
        make_wrong(&mut config);
        let problems = config.problems();
        assert_eq!(problems.len(), 1, "{key}: {problems:?}");
        assert_eq!(problems[0].key, key);
        assert!(problems[0].message.contains(remedy), "{problems:?}");
    }
}

#[test]
fn the_l2_tlb_of_silicon_and_a_mesh_without_cache_are_possible() {
    let mut config = Tables::committed().memory;
    (config.l2_tlb.entries, config.l2_tlb.ways) = (1280, 5);
    config.slc.slice_bytes = 0;
    (config.slc.ways, config.slc.replacement) = (12, ReplacementKind::Lru);
    assert_eq!(config.problems(), []);
}
