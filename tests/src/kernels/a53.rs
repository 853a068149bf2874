//! Measures kernels on this model's Cortex-A53, as LLVM assumes it: every access is a hit, every
//! branch is predicted, and the front end is wide.

use serde::Deserialize;
use sim_a53::bench::{LoopInst, run_path};
use sim_a53::cluster::EMBEDDED;
use sim_a53::{A53Config, View};
use sim_core::config::Document;
use sim_isa::{Inst, decode};

use super::causes::{Cause, Patterns, Viewed, causes};
use super::corpus::Kernel;
use super::llvm::{A53Figures, Core, Figures, kept};
use super::table::{Table, agrees};
use super::unroll::Unrolled;

/// Address from which each access of the loop has a line of its own: LLVM assumes that accesses do
/// not conflict.
const DATA: u64 = 0x100_0000;
/// Distance of the data of neighbors, bytes. All data fit into the L1 cache and its TLB.
const DATA_STEP: u64 = 64;
/// Iterations of the unrolled loop in the short and the long run.
const TURNS: [usize; 2] = [10, 30];

/// LLVM's view of certain instructions of the core.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct A53View {
    /// Its instructions.
    #[serde(default)]
    instructions: Patterns,
    /// LLVM's timing of them.
    timing: View,
}

impl Viewed for A53View {
    fn instructions(&self) -> &Patterns {
        &self.instructions
    }
}

/// The comparison of the Cortex-A53.
pub type A53Table = Table<A53Figures, A53View>;

/// Runs every kernel on the core with its default sizes and latencies.
pub fn table() -> A53Table {
    let config = wide_front_end();
    let found = causes(&Core::CortexA53.folder().join("causes.toml"));
    Table::measure(&kept(), found, |kernel, causes| cycles(&config, kernel, causes))
}

/// Returns the default configuration with a wide front end without bubbles.
///
/// # Panics
///
/// When the built-in configuration cannot be read.
pub fn wide_front_end() -> A53Config {
    let document = Document::from_embedded(EMBEDDED[0].name, &EMBEDDED);
    let document = document.unwrap_or_else(|error| panic!("the built-in document: {error}"));
    let mut config = A53Config::from_document(&document)
        .unwrap_or_else(|error| panic!("the built-in configuration: {error}"));
    let pipeline = &mut config.pipeline;
    (pipeline.fetch_width, pipeline.queue_entries) = (4, 64);
    (pipeline.taken_bubble, pipeline.indirect_bubble) = (0, 0);
    config
}

/// Returns the cycles of one iteration, with LLVM's view of some causes.
pub fn cycles(config: &A53Config, kernel: &Kernel, causes: &[&Cause<A53View>]) -> f64 {
    let body: Vec<Inst> = kernel.words.iter().map(|word| decode(word.word)).collect();
    let unrolled = Unrolled::of(&body);
    let copies = std::iter::repeat_n(&kernel.words, unrolled.copies).flatten();
    let mut insts: Vec<LoopInst> = copies
        .enumerate()
        .map(|(at, word)| {
            let mut inst = LoopInst::new(word.word, DATA + DATA_STEP * at as u64);
            let views = causes.iter().flat_map(|cause| cause.views(&word.text));
            views.for_each(|view| inst.view.add(&view.timing));
            inst
        })
        .collect();
    insts.push(LoopInst::new(unrolled.back(), 0));
    let path: Vec<usize> = unrolled.path.iter().copied().chain([unrolled.words]).collect();
    let [short, long] = TURNS.map(|turns| run_path(config, &insts, &path, turns).cycles);
    (long - short) as f64 / ((TURNS[1] - TURNS[0]) * unrolled.copies) as f64
}

/// Returns the share of the compared kernels that agree with LLVM when every view applies to every
/// kernel. Causes are listed by kernel; this says how far they are LLVM's timing elsewhere, too.
pub fn agreement_with_every_view(table: &A53Table) -> f64 {
    let config = wide_front_end();
    let all: Vec<&Cause<A53View>> = table.causes.iter().collect();
    let (mut agreeing, mut compared) = (0, 0);
    for row in &table.rows {
        let Some(llvm) = row.llvm else { continue };
        compared += 1;
        agreeing += u32::from(agrees(cycles(&config, &row.kernel, &all) / llvm.compared()));
    }
    f64::from(agreeing) / f64::from(compared.max(1))
}

/// Returns the causes that a kernel lists although the models agree without them.
pub fn unneeded(table: &A53Table) -> Vec<String> {
    let config = wide_front_end();
    let mut found = Vec::new();
    for row in &table.rows {
        let Some(llvm) = row.llvm else { continue };
        for without in &row.causes {
            let others = row.causes.iter().filter(|cause| *cause != without);
            let others: Vec<&Cause<A53View>> = others.map(|&i| &table.causes[i]).collect();
            if agrees(cycles(&config, &row.kernel, &others) / llvm.compared()) {
                found.push(format!("{} without {}", row.kernel.name, table.causes[*without].id));
            }
        }
    }
    found
}
