//! Time is counted in cycles of the core clock, from 0 at the start of the run.

/// A point in time, or a length of time, in core clock cycles.
pub type Cycle = u64;

/// "Never", and the ready time of something that is not scheduled.
pub const NEVER: Cycle = Cycle::MAX;
