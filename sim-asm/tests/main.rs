//! Assembling and running through the public interface.

mod effects;
mod encoding;
mod texts;
