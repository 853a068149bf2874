//! Targets of the front end and of branch prediction: fetch width, taken branches, mispredictions,
//! return depth, targets, patterns.

mod code;
mod kernels;
pub mod wrong_path;

use super::Target;
use sim_machine::config::MachineConfig;

const A710: &str = "Chips and Cheese, Cortex-A710";
const A725: &str = "Chips and Cheese, Cortex-A725 beside Cortex-A710";
const N2: &str = "Chips and Cheese, Neoverse N2 (Yitian 710)";
const HC33: &str = "Arm, Hot Chips 33";

/// Measures T18 to T24.
pub fn measure(config: &MachineConfig) -> Vec<Target> {
    let mut rows = delivery(config);
    rows.extend(taken_branches(config));
    rows.extend(predictors(config));
    rows
}

fn row(
    id: &'static str,
    what: &'static str,
    published: f64,
    ours: f64,
    source: &'static str,
) -> Target {
    Target { id, what, published, ours, source, reason: "" }
}

fn delivery(config: &MachineConfig) -> Vec<Target> {
    vec![
        row("T18a", "NOP per cycle, MOP cache, pairs fused", 10.0, kernels::nops(config), A725),
        row("T18b", "NOP and MOV per cycle, MOP cache", 5.0, kernels::unfused(config), N2),
        Target {
            reason: "published as a lower bound: above 3. Ours is the fetch width, because prediction runs ahead of fetch by more than an L2 access",
            ..row("T19", "NOP per cycle, code in L2", 3.0, kernels::nops_from_l2(config), N2)
        },
    ]
}

fn taken_branches(config: &MachineConfig) -> Vec<Target> {
    let knee = |spacing, from, cycles| kernels::taken_knee(config, spacing, from, cycles) as f64;
    let few = 1.0 / kernels::taken(config, 32, 16);
    let many = kernels::taken(config, 4096, 64);
    vec![
        row("T20a", "taken branches per cycle, 32 branches", 2.0, few, HC33),
        row("T20b", "branches up to which it is two per cycle", 64.0, knee(16, 16, 0.55), HC33),
        row("T20c", "branches at one per cycle, 8 bytes apart", 2048.0, knee(8, 512, 1.05), A710),
        row("T20d", "branches at one per cycle, 16 bytes apart", 1024.0, knee(16, 256, 1.05), A710),
        row("T20e", "branches at one per cycle, 32 bytes apart", 512.0, knee(32, 128, 1.05), A710),
        row("T20f", "cycles of a branch, 4096 of them 64 bytes apart", 3.0, many, A710),
        row("T20g", "branches that the main BTB knows", 8192.0, knee(16, 4096, 3.5), HC33),
    ]
}

fn predictors(config: &MachineConfig) -> Vec<Target> {
    let penalty = kernels::mispredict_cycles(config);
    let depth = kernels::return_depth(config) as f64;
    let targets = kernels::target_knee(config, 1, 16) as f64;
    let branches = kernels::indirect_knee(config, 8, 128) as f64;
    let alone = kernels::pattern_knee(config, 1, 1024) as f64;
    let many = kernels::pattern_knee(config, 512, 16) as f64;
    vec![
        row("T21", "cycles of a misprediction", 10.0, penalty, HC33),
        row("T22", "depth of calls with every return predicted", 14.0, depth, A710),
        row("T23a", "targets of one indirect branch", 64.0, targets, A710),
        row("T23b", "indirect branches of 8 targets each", 512.0, branches, A710),
        row("T24a", "random pattern learned by one branch", 3072.0, alone, A725),
        Target {
            reason: "tables that hold 512 such patterns hold longer ones of a single branch than was measured; the sizes keep to the single branch",
            ..row("T24b", "random pattern learned by 512 branches", 32.0, many, A725)
        },
    ]
}
