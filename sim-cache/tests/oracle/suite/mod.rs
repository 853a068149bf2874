//! The oracle: a slow and obvious model of TLBs and caches, its small geometries and random
//! sequences, and the comparison with sim-cache. Shared by the test and by `cargo xtask oracle`.

mod cache;
pub(crate) mod compare;
mod data;
pub(crate) mod driver;
mod fetch;
pub(crate) mod geometry;
mod home;
mod l2;
mod maintenance;
mod model;
mod policy;
pub(crate) mod random;
mod sequence;
mod snoop;
mod tags;
mod tlb;
mod translation;
mod world;

use compare::{explain, first_difference};
use geometry::Geometry;
use random::Random;
use sequence::{Group, any_groups};

/// Returns a geometry and its sequence.
pub(crate) fn case(seed: u64, number: u64, operations: u64) -> (Geometry, Vec<Group>) {
    let geometry = Geometry::numbered(seed, number);
    let groups = any_groups(&geometry, operations, &mut Random::new(!seed, number));
    (geometry, groups)
}

/// Runs `operations` operations on geometry `number` of the series `seed`.
///
/// # Errors
///
/// Reports the first difference, with the shortest sequence that shows one.
pub(crate) fn check(seed: u64, number: u64, operations: u64) -> Result<(), String> {
    let (geometry, groups) = case(seed, number, operations);
    match first_difference(&geometry, &groups) {
        Some(_) => Err(format!("geometry {number} of seed {seed}: {}", explain(&geometry, groups))),
        None => Ok(()),
    }
}
