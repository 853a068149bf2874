//! n2sim: benches.
