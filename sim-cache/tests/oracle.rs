//! An independent, slow and obvious model of TLBs and caches. Random sequences must give the same
//! count of every memory event, and leave the same lines in the caches.

mod muted_sites;
mod properties;
mod robustness;
mod suite;

use std::collections::BTreeSet;

use suite::geometry::Geometry;

/// Geometries of the test; `cargo xtask oracle` runs any number.
const GEOMETRIES: u64 = 240;
const SEED: u64 = 1;

#[test]
fn every_geometry_counts_like_the_oracle() {
    for number in 0..GEOMETRIES {
        suite::check(SEED, number, 1500).unwrap_or_else(|report| panic!("{report}"));
    }
}

#[test]
fn geometries_are_valid_and_all_different() {
    let mut shapes = BTreeSet::new();
    for number in 0..GEOMETRIES {
        let geometry = Geometry::numbered(SEED, number);
        assert_eq!(geometry.tables.memory.problems(), [], "geometry {number}");
        shapes.insert(geometry.shape());
    }
    assert_eq!(shapes.len() as u64, GEOMETRIES);
}
