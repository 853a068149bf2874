//! Targets of the front end and of branch prediction: fetch width, taken branches, mispredictions,
//! return depth, targets, patterns.

use super::Target;
use crate::config::MachineConfig;

/// Measures T18 to T24.
pub fn measure(_config: &MachineConfig) -> Vec<Target> {
    Vec::new()
}
