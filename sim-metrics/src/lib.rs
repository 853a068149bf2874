//! n2sim: metrics.
