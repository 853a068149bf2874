//! n2sim: capture.
