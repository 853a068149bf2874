//! Time in cycles of the core clock, from 0 at the start of the run.

/// A point in time, or a duration, in core clock cycles.
pub type Cycle = u64;

/// "Never"; also the ready time of an operation that is not scheduled.
pub const NEVER: Cycle = Cycle::MAX;
