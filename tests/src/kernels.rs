//! The kernels below `tests/kernels`: small loops whose cost is compared with LLVM's model of the
//! core.
//!
//! [`corpus`] reads them, [`measure`] runs one on this model's core, [`llvm`] reads the figures of
//! `llvm-mca`, [`causes`] holds the causes of differences, [`table`] compares both models.

pub mod causes;
pub mod corpus;
pub mod llvm;
pub mod measure;
pub mod table;

use std::path::PathBuf;

/// Returns the directory of the kernels.
pub fn folder() -> PathBuf {
    crate::repository().join("tests/kernels")
}
