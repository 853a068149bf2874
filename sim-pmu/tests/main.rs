//! The PMU and SPE from outside, against plain second models.

mod conformance;
mod counting;
mod document;
mod external;
mod identification;
mod perf;
mod random_programs;
mod reference;
mod spe_packets;
mod spe_reference;
mod spe_uniform;
mod spe_unit;
