//! n2sim: cache.
