//! The recorder of `n2sim capture`: records an AArch64 program that runs under QEMU into a trace.
//!
//! The plugin `sim-capture` writes into shared memory, and this process encodes. The trace is
//! therefore complete even if the program aborts, closes all of its files, forks, or is stopped
//! with Ctrl-C.

pub(crate) mod account;
pub(crate) mod args;
mod block;
pub(crate) mod code;
mod elements;
mod elf;
mod ending;
pub(crate) mod engine;
mod known_memory;
pub(crate) mod names;
pub(crate) mod output;
pub(crate) mod plugin;
pub(crate) mod program;
mod rebuild;
pub(crate) mod recorder;
mod recording_state;
pub(crate) mod region;
mod registers;
pub(crate) mod second_run;
pub(crate) mod session;
pub(crate) mod setup;
pub(crate) mod shared_memory;
mod stream;
pub(crate) mod system;
mod tally;
mod unreported;
// The layout of the shared memory, which both sides use. The plugin is a crate that nothing links.
#[path = "../../sim-capture/src/wire.rs"]
pub(crate) mod wire;
