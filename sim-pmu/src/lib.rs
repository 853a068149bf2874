//! n2sim: pmu.
