//! Measures the cycles of one iteration of a kernel on this model's Neoverse N2.
//!
//! Caches are warm, prediction is perfect and the front end is wide, so that only rename, dispatch,
//! issue and execution matter.

use sim_isa::{Inst, MemOp, decode};
use sim_lab::core_bench::{CoreBench, HitMemory};
use sim_pipeline::PipelineConfig;
use sim_pipeline::config::Direction;

use super::causes::{Cause, causes};
use super::corpus::Kernel;
use super::llvm::{Core, N2Figures, kept};
use super::table::Table;
use super::unroll::Unrolled;
use super::view::View;

/// Address of the loop.
const BASE: u64 = 0x10_0000;
/// Address from which each access of the loop has lines of its own: LLVM assumes that accesses do
/// not conflict.
const DATA: u64 = 0x100_0000;
/// Distance of the data of neighbors, bytes.
const DATA_STEP: u64 = 256;
/// Iterations of the unrolled loop; the first half warms up.
const TURNS: usize = 10;

/// The comparison of the Neoverse N2.
pub type N2Table = Table<N2Figures, View>;

/// Runs every kernel on the core of `config`.
pub fn table(config: &PipelineConfig) -> N2Table {
    let config = wide_front_end(config);
    let found = causes(&Core::NeoverseN2.folder().join("causes.toml"));
    Table::measure(&kept(), found, |kernel, causes: &[&Cause<View>]| {
        cycles(&config, kernel, |text, inst| {
            causes.iter().flat_map(|cause| cause.views(text)).for_each(|view| view.apply(inst));
        })
    })
}

/// Returns the configuration with a wide front end that never mispredicts.
fn wide_front_end(config: &PipelineConfig) -> PipelineConfig {
    let mut config = config.clone();
    config.branch.direction = Direction::Perfect;
    config.front_end.fetch_width = 16;
    config.front_end.mop_width = 16;
    config.front_end.fetch_queue = 64;
    config
}

/// Returns the cycles of one iteration, with every instruction changed by `view`.
fn cycles(config: &PipelineConfig, kernel: &Kernel, view: impl Fn(&str, &mut Inst)) -> f64 {
    let body: Vec<Inst> = kernel
        .words
        .iter()
        .map(|word| {
            let mut inst = decode(word.word);
            view(&word.text, &mut inst);
            inst
        })
        .collect();
    let unrolled = Unrolled::of(&body);
    let Unrolled { copies, words, ref path } = unrolled;
    let back = decode(unrolled.back());
    let mut bench = CoreBench::new(config, HitMemory::default());
    let mut middle = 0;
    for turn in 0..TURNS {
        if turn == TURNS / 2 {
            middle = bench.retired();
        }
        for (step, &at) in path.iter().enumerate() {
            let inst = &body[at % body.len()];
            let next = path.get(step + 1).copied().unwrap_or(words);
            let addr = (inst.mem.op != MemOp::None).then_some(DATA + DATA_STEP * at as u64);
            bench.run_inst(pc(at), inst, addr, pc(next));
        }
        bench.run_inst(pc(words), &back, None, BASE);
    }
    (bench.retired() - middle) as f64 / ((TURNS - TURNS / 2) * copies) as f64
}

fn pc(at: usize) -> u64 {
    BASE + 4 * at as u64
}
