//! The kernels below `tests/kernels`: small loops whose cost is compared with LLVM's model of the
//! core.
//!
//! [`corpus`] reads them, [`measure`] and [`a53`] run one on this model's cores, [`llvm`] reads the
//! figures of `llvm-mca`, [`causes`] holds the causes of differences, [`table`] compares both
//! models, [`page`] writes the comparison.

pub mod a53;
pub mod causes;
pub mod corpus;
pub mod llvm;
pub mod measure;
pub mod page;
pub mod table;
pub mod unroll;
pub mod view;

use std::path::PathBuf;

/// Returns the directory of the kernels.
pub fn folder() -> PathBuf {
    crate::repository().join("tests/kernels")
}
