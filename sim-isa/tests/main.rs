//! Decoding through the public interface: hand-written and corpus instructions, and invariants of
//! every word.

mod instructions;
mod invariants;
mod system;
