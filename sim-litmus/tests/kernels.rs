//! Every kernel shows on the model what its description says.

use std::sync::OnceLock;

use sim_core::PmuEvent::{self, *};
use sim_litmus::replay::Pages;
use sim_litmus::{CountedKernel, kernels, program};
use sim_machine::{ConfigSource, MachineConfig, RunHeader, Session};

use crate::recorded::candidates;

/// Counts of a kernel: its name, an event, and the least and largest count of a round.
type Claim = (&'static str, PmuEvent, f64, f64);

/// Counts that follow from the sizes and widths of the guide, or from the instructions. Cycles are
/// those of the assumed latencies.
const CLAIMS: &[Claim] = &[
    // Chases: one load a step, which misses the levels that are too small.
    ("chase-16k", LD_SPEC, 1.0, 1.01),
    ("chase-16k", L1D_CACHE_REFILL, 0.0, 0.001),
    ("chase-16k", CPU_CYCLES, 3.7, 4.2),
    ("chase-32k", L1D_CACHE_REFILL, 0.0, 0.001),
    ("chase-32k", CPU_CYCLES, 3.7, 4.2),
    ("chase-64k", L1D_CACHE_REFILL, 0.0, 0.05),
    ("chase-128k", L1D_CACHE_REFILL, 0.9, 1.01),
    ("chase-128k", L2D_CACHE_REFILL, 0.0, 0.01),
    ("chase-128k", L1D_TLB_REFILL, 0.0, 0.01),
    ("chase-128k", CPU_CYCLES, 12.0, 14.0),
    ("chase-256k", L1D_TLB_REFILL, 0.2, 0.8),
    ("chase-256k-huge", L1D_TLB_REFILL, 0.0, 0.001),
    ("chase-256k-huge", CPU_CYCLES, 12.0, 14.0),
    ("chase-512k", L2D_CACHE_REFILL, 0.0, 0.01),
    ("chase-1m", L1D_CACHE_REFILL, 0.95, 1.01),
    ("chase-2m", L2D_CACHE_REFILL, 0.5, 0.9),
    ("chase-4m", L2D_CACHE_REFILL, 0.7, 0.9),
    ("chase-4m", LL_CACHE_MISS_RD, 0.0, 0.01),
    ("chase-4m-huge", LL_CACHE_RD, 0.7, 0.9),
    ("chase-16m", DTLB_WALK, 0.3, 0.6),
    ("chase-16m-huge", L2D_CACHE_REFILL, 0.9, 1.0),
    ("chase-16m-huge", LL_CACHE_MISS_RD, 0.0, 0.01),
    ("chase-16m-huge", L1D_TLB_REFILL, 0.0, 0.01),
    ("chase-64m", LL_CACHE_MISS_RD, 0.99, 1.01),
    ("chase-64m", DTLB_WALK, 0.8, 1.0),
    ("chase-64m-huge", LL_CACHE_MISS_RD, 0.99, 1.01),
    ("chase-64m-huge", DTLB_WALK, 0.0, 0.01),
    ("chase-64m-huge", CPU_CYCLES, 380.0, 400.0),
    ("chase-256m", LL_CACHE_MISS_RD, 0.99, 1.01),
    ("chase-256m", DTLB_WALK, 0.95, 1.0),
    // 128 pages of 2 MiB, of which the L1 data TLB has 40.
    ("chase-256m-huge", L1D_TLB_REFILL, 0.6, 0.75),
    ("chase-256m-huge", DTLB_WALK, 0.0, 0.01),
    // Pages: 40 in the L1 data TLB, 2048 in the L2 TLB.
    ("tlb-32", L1D_TLB_REFILL, 0.0, 0.001),
    ("tlb-64", L1D_TLB_REFILL, 0.9, 1.01),
    ("tlb-64", L1D_CACHE_REFILL, 0.0, 0.001),
    ("tlb-512", L1D_TLB_REFILL, 0.99, 1.01),
    ("tlb-512", L1D_CACHE_REFILL, 0.0, 0.001),
    ("tlb-512", DTLB_WALK, 0.0, 0.001),
    ("tlb-1024", DTLB_WALK, 0.0, 0.001),
    ("tlb-4096", DTLB_WALK, 0.99, 1.01),
    ("tlb-4096", L2D_CACHE_REFILL, 0.0, 0.1),
    // Streams: four loads or stores of 32 bytes are one line; prefetches cover most of the misses.
    ("load-stream-1", LD_SPEC, 2.0, 4.1),
    ("load-stream-1", LL_CACHE_MISS_RD, 0.9, 1.1),
    ("load-stream-1", CPU_CYCLES, 4.0, 20.0),
    ("load-stream-1-huge", L1D_TLB_REFILL, 0.0, 0.01),
    ("load-stream-2", LL_CACHE_MISS_RD, 0.9, 1.1),
    ("load-stream-4", LL_CACHE_MISS_RD, 0.9, 1.1),
    ("load-stream-8", LL_CACHE_MISS_RD, 0.9, 1.1),
    // A stream of full lines is written without being read.
    ("store-stream", LL_CACHE_MISS_RD, 0.0, 0.01),
    ("store-stream", L1D_CACHE_REFILL, 0.0, 0.01),
    ("copy-stream", LL_CACHE_MISS_RD, 0.9, 1.1),
    ("stride-128", LL_CACHE_MISS_RD, 0.95, 1.05),
    ("stride-1024", DTLB_WALK, 0.24, 0.26),
    ("stride-4160", DTLB_WALK, 0.99, 1.02),
    // Branches.
    ("branch-taken", BR_RETIRED, 2.0, 2.01),
    ("branch-taken", BR_MIS_PRED_RETIRED, 0.0, 0.01),
    ("branch-alternating", BR_MIS_PRED_RETIRED, 0.0, 0.01),
    ("branch-random", BR_MIS_PRED_RETIRED, 0.45, 0.55),
    ("branch-pattern-16", BR_MIS_PRED_RETIRED, 0.0, 0.01),
    ("branch-pattern-64", BR_MIS_PRED_RETIRED, 0.0, 0.02),
    ("branch-pattern-256", BR_MIS_PRED_RETIRED, 0.0, 0.25),
    ("calls-8", BR_RETURN_SPEC, 8.0, 9.0),
    ("calls-8", BR_MIS_PRED_RETIRED, 0.0, 0.02),
    ("calls-14", BR_MIS_PRED_RETIRED, 0.0, 0.02),
    ("calls-16", BR_RETURN_SPEC, 16.0, 17.0),
    ("calls-32", CPU_CYCLES, 50.0, 300.0),
    ("indirect-1", BR_MIS_PRED_RETIRED, 0.0, 0.01),
    ("indirect-4", BR_MIS_PRED_RETIRED, 0.0, 0.01),
    ("indirect-16", BR_MIS_PRED_RETIRED, 0.0, 0.01),
    ("indirect-64", BR_MIS_PRED_RETIRED, 0.0, 0.15),
    ("indirect-random-16", BR_MIS_PRED_RETIRED, 0.9, 0.97),
    ("taken-32", CPU_CYCLES, 0.5, 1.1),
    ("taken-512", CPU_CYCLES, 0.9, 1.2),
    ("taken-4096", CPU_CYCLES, 1.5, 4.0),
    ("taken-4096", BR_MIS_PRED_RETIRED, 0.0, 0.01),
    ("code-32k", L1I_CACHE_REFILL, 0.0, 0.01),
    ("code-32k", CPU_CYCLES, 3.9, 4.2),
    ("code-128k", L1I_CACHE_REFILL, 0.9, 1.2),
    // Latencies of chains, and as many results a cycle as there are pipes.
    ("add-chain", CPU_CYCLES, 0.95, 1.05),
    ("add-shifted-chain", CPU_CYCLES, 1.9, 2.1),
    ("mul-chain", CPU_CYCLES, 1.9, 2.1),
    ("udiv-chain", CPU_CYCLES, 5.0, 21.0),
    ("sdiv-chain", CPU_CYCLES, 5.0, 21.0),
    ("fadd-chain", CPU_CYCLES, 1.9, 2.1),
    ("fmul-chain", CPU_CYCLES, 2.9, 3.1),
    ("fmadd-chain", CPU_CYCLES, 1.9, 2.1),
    ("fdiv-chain", CPU_CYCLES, 6.0, 16.0),
    ("fsqrt-chain", CPU_CYCLES, 6.0, 17.0),
    ("vector-add-chain", CPU_CYCLES, 1.9, 2.1),
    ("vector-mul-chain", CPU_CYCLES, 3.9, 4.1),
    ("aes-chain", CPU_CYCLES, 1.9, 4.1),
    ("aes-chain", CRYPTO_SPEC, 2.0, 2.01),
    ("sve-add-chain", CPU_CYCLES, 1.9, 2.1),
    ("sve-add-chain", SVE_INST_SPEC, 1.0, 1.01),
    ("add-many", CPU_CYCLES, 0.25, 0.3),
    ("mul-many", CPU_CYCLES, 0.45, 1.05),
    ("fadd-many", CPU_CYCLES, 0.45, 0.55),
    ("fmul-many", CPU_CYCLES, 0.45, 0.55),
    ("fdiv-many", CPU_CYCLES, 2.5, 16.0),
    ("vector-add-many", CPU_CYCLES, 0.45, 0.55),
    ("vector-mul-many", CPU_CYCLES, 0.9, 1.1),
    ("load-many", CPU_CYCLES, 0.3, 0.36),
    ("store-many", CPU_CYCLES, 0.45, 0.55),
    // Waits.
    ("forward-same", CPU_CYCLES, 4.5, 5.5),
    ("forward-lower", CPU_CYCLES, 4.5, 5.5),
    ("forward-upper", CPU_CYCLES, 4.5, 5.5),
    ("forward-crossing", UNALIGNED_LDST_SPEC, 2.0, 2.01),
    ("forward-fails", CPU_CYCLES, 8.0, 14.0),
    ("ldadd-own", L1D_CACHE_REFILL, 0.0, 0.001),
    ("ldadd-own", CPU_CYCLES, 4.0, 16.0),
    ("ldadd-chain", CPU_CYCLES, 4.0, 16.0),
    ("cas-own", CPU_CYCLES, 4.0, 16.0),
    ("exclusive-pair", STREX_PASS_SPEC, 1.0, 1.01),
    ("exclusive-pair", STREX_FAIL_SPEC, 0.0, 0.0),
    ("store-dmb-load", DMB_SPEC, 1.0, 1.01),
    ("store-dmb-load", CPU_CYCLES, 11.0, 18.0),
    ("store-dsb", DSB_SPEC, 1.0, 1.01),
    ("isb", ISB_SPEC, 1.0, 1.01),
    ("isb", CPU_CYCLES, 15.0, 40.0),
    ("acquire-release", RC_LD_SPEC, 1.0, 1.01),
    ("acquire-release", RC_ST_SPEC, 1.0, 1.01),
    ("split-load", UNALIGNED_LD_SPEC, 2.0, 2.01),
    // Misses of independent chases overlap, and all of them miss.
    ("parallel-2", LL_CACHE_MISS_RD, 0.98, 1.01),
    ("parallel-2", CPU_CYCLES, 150.0, 210.0),
    ("parallel-4", CPU_CYCLES, 75.0, 105.0),
    ("parallel-8", CPU_CYCLES, 38.0, 55.0),
    ("parallel-16", CPU_CYCLES, 18.0, 30.0),
    ("window-72", CPU_CYCLES, 300.0, 450.0),
    ("window-144", CPU_CYCLES, 300.0, 450.0),
    ("window-180", CPU_CYCLES, 700.0, 850.0),
    ("registers-96", CPU_CYCLES, 300.0, 450.0),
    ("registers-128", CPU_CYCLES, 700.0, 850.0),
    ("branch-on-l1", BR_MIS_PRED_RETIRED, 0.45, 0.55),
    ("branch-on-slc", BR_MIS_PRED_RETIRED, 0.45, 0.55),
    ("branch-on-slc", L2D_CACHE_REFILL, 0.7, 0.9),
];

/// Returns the counts of the committed recording with values of the configuration: of all kernels
/// with such pages, or until the last of some ends.
fn replay_with(overrides: &[&str], pages: Pages, some: Option<&[&str]>) -> Vec<CountedKernel> {
    let file = kernels::open_recording().expect("the recording is committed");
    let code = kernels::code(file.meta())
        .expect("recordings/kernels.n2t is of other kernels; docs/litmus.md says how to record it");
    let end = some.map(|names| {
        let parts = kernels::parts(&file, &code).expect("the recording is whole");
        let named = parts.iter().zip(kernels::all());
        let named = named.filter(|(_, kernel)| names.contains(&kernel.id.as_str()));
        let ends: Vec<u64> = named.map(|(part, _)| part.end).collect();
        assert_eq!(ends.len(), names.len(), "{names:?}");
        ends.into_iter().max().expect("a kernel is named")
    });
    let of_pages = pages.overrides().into_iter();
    let overrides: Vec<String> =
        overrides.iter().copied().chain(of_pages).map(str::to_owned).collect();
    let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
    let document = source.document().expect("a configuration");
    let config = MachineConfig::from_document(&document).expect("a machine");
    let session = Session::of(file, config, RunHeader::default()).expect("a session");
    kernels::replay(&session, pages, &code, end, &mut |_| ()).expect("the run ends")
}

/// Returns the counts of the committed recording on the model.
fn replayed() -> &'static [CountedKernel] {
    static COUNTED: OnceLock<Vec<CountedKernel>> = OnceLock::new();
    COUNTED.get_or_init(|| {
        Pages::BOTH.into_iter().flat_map(|pages| replay_with(&[], pages, None)).collect()
    })
}

fn mean(counted: &[CountedKernel], kernel: &str, event: PmuEvent) -> f64 {
    let of_kernel = counted.iter().find(|counted| counted.kernel == kernel);
    of_kernel.and_then(|counted| counted.sample(event)).expect(kernel).mean
}

#[test]
fn every_kernel_counts_what_it_is_for() {
    let wrong: Vec<String> = CLAIMS
        .iter()
        .map(|(kernel, event, least, most)| {
            (kernel, event, least, most, mean(replayed(), kernel, *event))
        })
        .filter(|(_, _, least, most, counted)| !(**least..=**most).contains(counted))
        .map(|(kernel, event, least, most, counted)| {
            format!("{kernel}: {} {counted:.3}, not {least} to {most}", event.mnemonic())
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_kernel_is_described_claimed_and_replayed_twice() {
    let all = kernels::all();
    assert_eq!(replayed().len(), all.len());
    for (i, kernel) in all.iter().enumerate() {
        let id = kernel.id.as_str();
        assert!(all[..i].iter().all(|other| other.id != id), "{id} occurs twice");
        assert!(kernel.what.starts_with("a round is "), "{id}: {}", kernel.what);
        assert!(CLAIMS.iter().any(|(claimed, ..)| *claimed == id), "{id} has no claim");
        let counted = replayed().iter().find(|counted| counted.kernel == id).expect(id);
        assert_eq!(counted.rounds, kernel.rounds, "{id}");
        assert_eq!(counted.counts["INST_RETIRED"].len(), 2, "{id}");
        assert!(counted.counts.len() > 100, "{id}");
        // The entry and the exit are a small part.
        assert!(kernel.rounds >= 48 && kernel.counted_rounds >= 16 * kernel.rounds, "{id}");
    }
}

#[test]
fn the_program_has_every_kernel_and_its_mark() {
    let text = program::text(candidates());
    assert!(text.contains(&kernels::mark()));
    for (number, kernel) in kernels::all().iter().enumerate() {
        let row = format!("{{\"{}\", kernel_{number}_call, {}", kernel.id, kernel.rounds);
        assert!(text.contains(&row), "{row}");
    }
}

#[test]
fn the_recording_is_small() {
    let file = kernels::open_recording().expect("the recording is committed");
    assert!(kernels::recording().len() <= 600_000, "{} bytes", kernels::recording().len());
    assert!(file.instructions() <= 3_500_000, "{} instructions", file.instructions());
}

#[test]
fn a_line_that_two_cores_use_moves_between_them() {
    let file = kernels::open_recording_of_pairs().expect("the recording is committed");
    let code = kernels::pair_code(file.meta())
        .expect("recordings/pairs.n2t is of other kernels; docs/litmus.md says how to record it");
    let document = ConfigSource::default().document().expect("a configuration");
    let config = MachineConfig::from_document(&document).expect("a machine");
    let session = Session::of(file, config, RunHeader::default()).expect("a session");
    let counted = kernels::replay_pairs(&session, &code, &mut |_| ()).expect("the run ends");
    assert_eq!(counted.len(), kernels::pairs().len());
    for (kernel, event, least, most) in [
        // Both cores own their lines: as fast as one core alone.
        ("pair-apart", L1D_CACHE_REFILL, 0.0, 0.01),
        ("pair-apart", CPU_CYCLES, 13.0, 15.0),
        ("pair-add", L1D_CACHE_REFILL, 0.5, 1.01),
        ("pair-add", CPU_CYCLES, 60.0, 200.0),
        ("pair-false-sharing", L1D_CACHE_REFILL, 0.05, 1.01),
        ("pair-read", L1D_CACHE_REFILL, 0.01, 1.01),
    ] {
        let count = mean(&counted, kernel, event);
        assert!((least..=most).contains(&count), "{kernel}: {} {count}", event.mnemonic());
    }
}

/// A value of the configuration, the kernel whose cycles it changes, by how many at least and at
/// most, and one whose cycles it does not change.
type Effect = (&'static str, &'static str, f64, f64, &'static str);

/// Values that no other kernel of the table shows so well.
const EFFECTS: [Effect; 7] = [
    ("memory.l2.lookup-cycles=19", "chase-128k", 9.0, 11.0, "chase-16k"),
    ("memory.dram.access-cycles=355", "chase-64m", 95.0, 105.0, "chase-128k"),
    ("memory.l2-tlb.hit-cycles=15", "tlb-512", 9.0, 11.0, "tlb-32"),
    ("pipeline.window.rob=128", "window-144", 300.0, 450.0, "window-72"),
    ("pipeline.window.general-registers=90", "registers-96", 300.0, 450.0, "add-chain"),
    ("pipeline.execute.forward-cycles=9", "forward-same", 3.0, 4.5, "chase-16k"),
    ("pipeline.branch.redirect-cycles=13", "branch-random", 4.0, 6.0, "branch-taken"),
];

#[test]
fn a_kernel_shows_the_value_that_it_is_for() {
    for (set, kernel, least, most, other) in EFFECTS {
        let pages = kernels::all().into_iter().find(|one| one.id == kernel).expect(kernel).pages;
        let counted = replay_with(&[set], pages, Some(&[kernel, other]));
        let change = |id| mean(&counted, id, CPU_CYCLES) - mean(replayed(), id, CPU_CYCLES);
        assert!((least..=most).contains(&change(kernel)), "{set}: {kernel} {}", change(kernel));
        let other_pages =
            kernels::all().into_iter().find(|one| one.id == other).expect(other).pages;
        if other_pages == pages {
            let most = 0.05 + 0.03 * mean(replayed(), other, CPU_CYCLES);
            assert!(change(other).abs() < most, "{set}: {other} {}", change(other));
        }
    }
}
