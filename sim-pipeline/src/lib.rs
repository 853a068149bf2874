//! n2sim: pipeline.
