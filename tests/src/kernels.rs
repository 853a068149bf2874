//! The kernels below `tests/kernels`: small loops whose cost is compared with LLVM's model of the core.
//!
//! [`corpus`] reads them, [`measure`] runs one on this model's core, [`llvm`] reads what `llvm-mca` said,
//! [`causes`] says why the two differ, [`table`] puts all of it side by side.

pub mod causes;
pub mod corpus;
pub mod llvm;
pub mod measure;
pub mod table;

use std::path::PathBuf;

/// Where the kernels are.
pub fn folder() -> PathBuf {
    crate::repository().join("tests/kernels")
}
