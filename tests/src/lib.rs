//! n2sim: tests.
