//! The micro-TLBs and the main TLB: their sizes.

use sim_a53::A53Event::*;

use super::{Bench, defaults, quiet};

/// Loads once from each of some pages.
fn touch(bench: &mut Bench, pages: u64) {
    for page in 0..pages {
        // Lines of different sets, so that the L1 data cache does not matter.
        bench.load((1 << 30) + page * 4096 + page % 64 * 64);
    }
}

// Given: empty TLBs. Stimulus: loads from 10 and from 11 pages in turn. Expect: 10 pages stay; each
// of 11 refills, after the main TLB, without a walk. Section: TRM 5.2.1.
#[test]
fn ten_pages_fit_into_the_data_micro_tlb() {
    for (pages, refills) in [(10, 0), (11, 11)] {
        let mut bench = Bench::new(&quiet(), 1);
        touch(&mut bench, pages);
        bench.now += 1000;
        bench.forget();
        touch(&mut bench, pages);
        assert_eq!(bench.count(L1D_TLB_REFILL), refills);
        assert_eq!(bench.count(L1D_CACHE), bench.count(MEM_ACCESS));
    }
}

// Given: empty TLBs. Stimulus: fetches from 10 and from 11 pages in turn. Expect: the same for the
// instruction side. Section: TRM 5.2.1.
#[test]
fn ten_pages_fit_into_the_instruction_micro_tlb() {
    for (pages, refills) in [(10, 0), (11, 11)] {
        let mut bench = Bench::new(&quiet(), 1);
        for round in 0..2 {
            if round == 1 {
                bench.forget();
            }
            (0..pages).for_each(|page| _ = bench.fetch(page * 4096 + page * 64));
        }
        assert_eq!(bench.count(L1I_TLB_REFILL), refills);
    }
}

// Given: a micro-TLB miss that hits the main TLB and the L1 cache. Stimulus: a load. Expect: the
// refill time. Section: TRM 5.2.2.
#[test]
fn a_refill_from_the_main_tlb_takes_its_cycles() {
    let mut bench = Bench::new(&quiet(), 1);
    touch(&mut bench, 11);
    bench.now += 1000;
    assert_eq!(bench.load(1 << 30), u64::from(defaults().micro_tlb.refill_cycles));
}

// Given: empty TLBs. Stimulus: rounds over 512 and over 768 pages. Expect: 512 pages need no walk
// in the second round; 768 do. Section: TRM 5.2.2.
#[test]
fn five_hundred_and_twelve_pages_fit_into_the_main_tlb() {
    for (pages, walks) in [(512, false), (768, true)] {
        let mut bench = Bench::new(&quiet(), 1);
        touch(&mut bench, pages);
        bench.forget();
        touch(&mut bench, pages);
        assert_eq!(bench.count(MEM_ACCESS), pages);
        assert_eq!(bench.count(L1D_CACHE) > pages, walks);
    }
}
