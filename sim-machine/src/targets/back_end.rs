//! Targets of the back end: load-to-use, throughputs, latencies, forwarding, sizes of the window.

use super::Target;
use crate::config::MachineConfig;

/// Measures T1, T14 to T17, T27 and T28.
pub fn measure(_config: &MachineConfig) -> Vec<Target> {
    Vec::new()
}
