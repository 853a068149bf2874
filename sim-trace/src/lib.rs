//! n2sim: trace.
