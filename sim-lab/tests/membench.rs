//! The modeled memory, measured as silicon is, against published values.

use sim_core::PmuEvent;
use sim_lab::membench::bandwidth::{self, Level};
use sim_lab::membench::latency::{self, PUBLISHED_SETTING};
use sim_lab::membench::target::{self, Target};
use sim_lab::membench::{Kernel, Plan, core_to_core, knees, measure};
use sim_machine::{ConfigSource, MachineConfig, Profile, RunHeader, RunOptions, Session};

fn machine(profile: Profile, overrides: &[&str]) -> MachineConfig {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    let source = ConfigSource { profile, overrides: &overrides, ..ConfigSource::default() };
    let document = source.document().expect("the profiles are embedded");
    MachineConfig::from_document(&document).expect("the profiles are machines")
}

fn guide() -> MachineConfig {
    machine(Profile::Guide, &[])
}

fn assert_met(target: &Target, model: f64) {
    let error = target.error(model) * 100.0;
    assert!(target.is_met_by(model), "{}: model {model:.2}, {error:+.1} %", target.quantity);
}

/// Returns the cycles per load of a chase over a footprint, after two passes.
fn chase(config: &MachineConfig, footprint_bytes: u64) -> f64 {
    latency::load_to_use(config, PUBLISHED_SETTING, footprint_bytes)
}

#[test]
fn an_l1_hit_takes_four_cycles_and_an_l2_hit_thirteen() {
    for footprint in [2 << 10, 16 << 10, 64 << 10] {
        assert_eq!(chase(&guide(), footprint), 4.0, "{footprint} bytes");
    }
    assert_eq!(chase(&guide(), 256 << 10), 13.0);
    assert_met(&target::L1D_LATENCY, 4.0);
    assert_met(&target::L2_LATENCY, 13.0);
}

/// Virtual bits choose the set of an L1 cache, so pages anywhere in memory fill it evenly.
#[test]
fn a_chase_through_scattered_pages_hits_the_l1_up_to_its_size() {
    let setting = latency::SETTINGS[0];
    assert_eq!((setting.page_bytes, setting.prefetch), (4096, true));
    for footprint in [48 << 10, 64 << 10] {
        let cycles = latency::load_to_use(&guide(), setting, footprint);
        assert!((4.0..=4.05).contains(&cycles), "{footprint} bytes: {cycles}");
    }
}

#[test]
fn latency_rises_at_the_size_of_each_cache() {
    // One line more than the L1 D-cache of 64 KiB holds: its set of five lines misses.
    assert!(chase(&guide(), (64 << 10) + 64) > 4.0);
    let small = machine(Profile::Guide, &["memory.l2.size-bytes=524288"]);
    assert!(chase(&small, 1 << 20) > chase(&guide(), 1 << 20) + 20.0);
}

#[test]
fn the_system_level_cache_has_the_published_latency_at_16_mib() {
    assert_met(&target::SLC_LATENCY, chase(&guide(), 16 << 20));
}

#[test]
fn memory_has_the_published_latency() {
    // Lines that were never accessed before, so no cache holds them.
    let kernel = Kernel::chase(64 << 20, 1);
    let config = PUBLISHED_SETTING.applied_to(&guide());
    let plan = Plan { warmup: 1_000, measured: 20_000 };
    assert_met(&target::DRAM_LATENCY, measure(&config, &kernel, plan).cycles_per_load());
}

#[test]
fn one_core_reads_each_level_at_the_published_rate() {
    for level in Level::ALL {
        let rate = bandwidth::read_rate(&guide(), level, true);
        assert_met(&level.target(), rate.in_unit_of_target());
    }
}

/// The knee of a fully associative TLB with true LRU lies exactly at its size.
#[test]
fn the_data_tlb_ends_exactly_at_its_configured_size() {
    for (profile, entries) in [(Profile::Guide, 40), (Profile::Silicon, 44)] {
        let config = machine(profile, &[]);
        assert_eq!(u64::from(config.memory.dtlb.entries), entries);
        let (at, after) = (knees::chain(&config, entries), knees::chain(&config, entries + 1));
        let refills = |m: &sim_lab::membench::Measurement| m.counts.value(PmuEvent::L1D_TLB_REFILL);
        assert_eq!((refills(&at), at.cycles_per_load()), (0, 4.0));
        assert_eq!((refills(&after), after.cycles_per_load()), (after.loads, 4.0 + 5.0));
    }
}

/// Consecutive pages fill the sets of the L2 TLB evenly: one more page makes one set overflow.
/// Partial entries of walks are off here, because they take entries of their own.
#[test]
fn the_l2_tlb_ends_exactly_at_its_configured_size() {
    for (profile, entries, ways) in [(Profile::Guide, 2048, 4), (Profile::Silicon, 1280, 5)] {
        let config = machine(profile, &["memory.walker.walk-cache=false"]);
        assert_eq!(u64::from(config.memory.l2_tlb.entries), entries);
        let walks = |pages| {
            let chain = knees::chain(&config, pages);
            (chain.counts.value(PmuEvent::DTLB_WALK), chain.loads / pages)
        };
        assert_eq!(walks(entries).0, 0);
        let (after, turns) = walks(entries + 1);
        assert_eq!(after, turns * (ways + 1), "the pages of one set, in every iteration");
    }
}

/// With partial entries the knee stays, less the few entries that they take.
#[test]
fn partial_entries_of_walks_take_few_entries_of_the_l2_tlb() {
    let walks = |pages| {
        let chain = knees::chain(&guide(), pages);
        chain.counts.value(PmuEvent::DTLB_WALK) as f64 / chain.loads as f64
    };
    assert_eq!(walks(1536), 0.0);
    assert!((0.001..0.02).contains(&walks(2048)), "{}", walks(2048));
    assert_eq!(walks(2560), 1.0);
}

/// Two cores alternate on one line: every compare-and-swap finds it modified in the other core.
#[test]
fn a_line_moves_between_cores_at_the_published_cost() {
    let all = [1, 127].map(|partner| core_to_core::handover(&guide(), partner));
    for handover in &all {
        assert_met(&target::CORE_TO_CORE, handover.cycles);
        let refills = handover.counts.value(PmuEvent::L1D_CACHE_REFILL);
        assert_eq!(refills, handover.swaps, "partner {}", handover.partner);
    }
    assert!(all[1].cycles > all[0].cycles, "the far corner is farther than the neighbor: {all:?}");
    let slower = machine(Profile::Guide, &["memory.bus.peer-cycles=78"]);
    let slower = core_to_core::handover(&slower, 1).cycles;
    assert!((30.0..50.0).contains(&(slower - all[0].cycles)), "{slower}");
}

/// A random chase contains no pattern for a prefetcher, not even by chance.
#[test]
fn a_random_chase_trains_no_prefetcher_of_the_l2() {
    for footprint_bytes in [8 << 20, 64 << 20] {
        let kernel = Kernel::chase(footprint_bytes, 1);
        let plan = Plan { warmup: 0, measured: 100_000 };
        let l2_refills = |config: &MachineConfig| {
            let counts = measure(config, &kernel, plan).counts;
            counts.value(PmuEvent::L2D_CACHE_REFILL)
        };
        let without = machine(Profile::Guide, &["memory.prefetch.l2-stream=false"]);
        assert_eq!(l2_refills(&guide()), l2_refills(&without), "{footprint_bytes} bytes");
    }
}

#[test]
fn a_saved_kernel_is_a_trace_that_runs_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("chase.n2t");
    let kernel = Kernel::chase(128 << 10, 1);
    let summary = kernel.save(&path, 40_000).expect("the folder can be written");
    assert_eq!(summary.instructions, 40_000 / 16 * 18);

    let session = Session::open(&path, guide(), RunHeader::default()).expect("a good trace");
    let options = RunOptions { warmup: 18_000, limit: Some(18_000), roi: None };
    let outcome = session.run(&options, &mut |_| ()).expect("it runs");
    let replayed = outcome.total().value(PmuEvent::L1D_CACHE_REFILL);
    let direct = measure(&guide(), &kernel, Plan { warmup: 16_000, measured: 16_000 });
    assert_eq!(replayed, direct.counts.value(PmuEvent::L1D_CACHE_REFILL));
    assert!(replayed > 1_000, "it misses");
}
