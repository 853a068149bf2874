//! Assembling and running through the public interface.

mod encoding;
mod semantics;
mod texts;
