//! Targets of the back end: load-to-use, throughputs, latencies, forwarding, window sizes.

mod kernels;
mod words;

use super::Target;
use kernels::{Filler, chain_in_memory, knee, latency, throughput};
use sim_machine::config::MachineConfig;
use words as w;

const A710: &str = "Chips and Cheese, A710";
const A725: &str = "Chips and Cheese, A725";
const N2: &str = "Chips and Cheese, N2";
/// Reason why register moves are faster than measured in the profile `guide`.
const MOVES: &str = "one move in four is made at rename, the others take one of four integer pipes \
    (LLVM's N2 model); with the three pipes of the profile silicon it is within 10 %";
/// Reason why simple integer operations are faster than measured.
const FOUR_PIPES: &str = "four single-cycle integer pipes, as LLVM's N2 model says; the profile \
    silicon has the three that were measured";

/// Reason why logical operations are faster than measured, in both profiles.
const LOGIC: &str = "another measurement contradicts this one: scalar Keccak, four fifths of it EOR and BIC, \
    runs 3.7 operations a cycle on two clouds (docs/silicon.md), which takes four pipes";

/// Creates a row; the reason is kept only for deviations beyond 10 %.
fn row(
    (id, what): (&'static str, &'static str),
    published: f64,
    ours: f64,
    source: &'static str,
    reason: &'static str,
) -> Target {
    let mut target = Target { id, what, published, ours, source, reason };
    if target.error().abs() <= 0.1 {
        target.reason = "";
    }
    target
}

/// Measures T1, T14 to T17 and T27 to T29.
pub fn measure(config: &MachineConfig) -> Vec<Target> {
    let mut rows = integer(config);
    rows.extend(vector(config));
    rows.extend(moves(config));
    rows.extend(forwarding(config));
    rows.extend(sizes(config));
    rows
}

/// Measures T1, T14 and T16.
fn integer(config: &MachineConfig) -> Vec<Target> {
    let chase = chain_in_memory(config, &[(w::ldr_x(0, 0), 0)]);
    let adds = throughput(config, |i| w::add_x(1 + i % 12, 1 + i % 12));
    let mixed = throughput(config, |i| match i % 4 {
        3 => w::madd_x(13 + i / 4 % 4, 20, 21, 22),
        _ => w::add_x(1 + i % 12, 1 + i % 12),
    });
    let logic = throughput(config, |i| w::eor_x(1 + i % 12, 1 + i % 12, 20));
    let multiplies = throughput(config, |i| w::mul_x(1 + i % 12, 20, 21));
    let multiply = latency(config, w::mul_x(1, 1, 2));
    vec![
        row(("T1", "L1D load-to-use, cycles"), 4.0, chase, A710, ""),
        row(("T14a", "adds per cycle"), 3.0, adds, N2, FOUR_PIPES),
        row(
            ("T14b", "adds with a MADD in four, per cycle"),
            3.0,
            mixed,
            A710,
            "published as above 3; the MADD takes the pipe that adds leave free",
        ),
        row(("T14c", "logical operations per cycle"), 3.0, logic, N2, LOGIC),
        row(("T16a", "integer multiplies per cycle"), 2.0, multiplies, A725, ""),
        row(("T16b", "integer multiply, cycles"), 2.0, multiply, A725, ""),
    ]
}

/// Measures T15: throughput and latency of each vector operation. The chain goes through a factor,
/// not through the sum of a multiply-add.
fn vector(config: &MachineConfig) -> Vec<Target> {
    let rate = |id, what, published, word: fn(u32, u32, u32) -> u32| {
        let ours = throughput(config, |i| word(i % 16, 30, 31));
        row((id, what), published, ours, A710, "")
    };
    let time = |id, what, published, word: fn(u32, u32, u32) -> u32| {
        row((id, what), published, latency(config, word(1, 1, 2)), A710, "")
    };
    vec![
        rate("T15a", "vector FP adds per cycle", 2.0, w::fadd_4s),
        time("T15b", "vector FP add, cycles", 2.0, w::fadd_4s),
        rate("T15c", "vector FMAs per cycle", 2.0, w::fmla_4s),
        time("T15d", "vector FMA, cycles", 4.0, w::fmla_4s),
        rate("T15e", "vector int32 adds per cycle", 2.0, w::add_4s),
        time("T15f", "vector int32 add, cycles", 2.0, w::add_4s),
        rate("T15g", "vector int32 multiplies per cycle", 1.0, w::mul_4s),
        time("T15h", "vector int32 multiply, cycles", 4.0, w::mul_4s),
    ]
}

/// Measures T17.
fn moves(config: &MachineConfig) -> Vec<Target> {
    let apart = throughput(config, |i| w::mov_x(1 + i % 8, 10 + i % 8));
    let chain = throughput(config, |i| w::mov_x(1 + i % 2, 2 - i % 2));
    let zeroes = throughput(config, |i| w::movz_0(1 + i % 8));
    vec![
        row(("T17a", "independent register moves per cycle"), 3.85, apart, A710, MOVES),
        row(("T17b", "dependent register moves per cycle"), 1.37, chain, A710, ""),
        row(
            ("T17c", "zeroed registers per cycle"),
            5.76,
            zeroes,
            A710,
            "five rename slots per cycle are the most that a slot model gives (HC33: five MOPs)",
        ),
    ]
}

/// Measures T27: a store and a load of its address, each pair after the load before.
fn forwarding(config: &MachineConfig) -> Vec<Target> {
    let hit = chain_in_memory(config, &[(w::str_x(1, 5), 0), (w::ldr_x(1, 5), 0)]);
    let failed = chain_in_memory(config, &[(w::str_x(1, 5), 0), (w::ldur_x_4(1, 5), 4)]);
    vec![
        row(("T27a", "store and load that it forwards to, cycles"), 5.0, hit, A725, ""),
        row(("T27b", "store and load of half its bytes, cycles"), 10.5, failed, A725, ""),
    ]
}

/// Measures T28 and T29: how many operations fit between two loads that miss and still overlap. The
/// entries of both loads and the architectural registers are added.
fn sizes(config: &MachineConfig) -> Vec<Target> {
    let size = |filler: Filler, of_the_rest: usize| (knee(config, &filler) + of_the_rest) as f64;
    let free = |word: fn(u32) -> u32| Filler { word, addr: None, waits: false };
    let near = |word: fn(u32) -> u32| Filler { word, addr: Some(0x8000), waits: false };
    let waiting = |word: fn(u32) -> u32| Filler { word, addr: None, waits: true };
    let rob = size(free(|i| w::movz_0(1 + i % 4)), 2);
    let general = size(free(|i| w::add_x(1 + i % 4, 20)), 2 + 31);
    let vector = size(free(|i| w::fadd_d(1 + i % 4, 20, 21)), 32);
    let flags = size(free(|_| w::cmp_x(3, 4)), 1);
    let loads = size(near(|i| w::ldr_x(1 + i % 4, 20)), 2);
    let stores = size(near(|_| w::str_x(3, 20)), 0);
    let branches = size(free(|_| w::cbz_x_over_one(3)), 0);
    let one_pipe = size(waiting(|i| w::mul_4s(1 + i % 4, 0, 0)), 0);
    let both_pipes = size(waiting(|i| w::fadd_d(1 + i % 4, 0, 0)), 0);
    vec![
        row(("T28a", "reorder buffer, entries"), 160.0, rob, N2, ""),
        row(("T28b", "general registers"), 147.0, general, N2, ""),
        row(("T28c", "vector registers"), 124.0, vector, A710, ""),
        row(("T28d", "flag registers"), 46.0, flags, A710, ""),
        row(("T28e", "load queue, entries"), 111.0, loads, N2, ""),
        row(("T28f", "store queue, entries"), 51.0, stores, N2, ""),
        row(("T28g", "branches in flight"), 44.0, branches, A710, ""),
        row(("T29a", "vector operations that wait for one pipe"), 30.0, one_pipe, A710, ""),
        row(("T29b", "vector operations that wait for both pipes"), 52.0, both_pipes, N2, ""),
    ]
}
