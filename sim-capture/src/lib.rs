//! QEMU TCG plugin that records the executed AArch64 instructions of a program and the addresses
//! that they access.
//!
//! `n2sim capture` loads it into `qemu-aarch64` or, for a whole system, `qemu-system-aarch64`, and
//! owns the output. The plugin only appends words to a shared memory (`wire`). The recording of a
//! program that aborts, closes all of its files or is killed is therefore complete.
//!
//! The only other crate of the workspace that it uses is `sim-isa`, for the meaning of instruction
//! words. It is the only crate with `unsafe` code, because its interface is C.
//!
//! Threads of a program take numbers where they synchronize (`tickets`), which gives their order;
//! so do the processors of a system, which run in turn (`turns`).
//!
//! The recording of a program lacks what the engine does not report: addresses of `PRFM` and `DC`
//! operations, children of `fork`, and programs started by `execve`. The recording of a whole
//! system has all of them and the predicates of SVE instructions, if the engine gives register
//! values (`registers`).
#![allow(unsafe_code, reason = "the plugin interface is C; each use says why it is sound")]
#![cfg_attr(test, allow(dead_code, reason = "the engine calls the rest"))]

mod code;
mod counting;
mod gate;
mod guest;
mod mappings;
mod memory;
// The engine's functions exist only inside the engine, so tests omit the modules that call them.
#[cfg(not(test))]
mod plugin;
#[cfg(not(test))]
mod qemu;
#[cfg(not(test))]
mod registers;
#[cfg(not(test))]
mod system;
mod tickets;
#[cfg(not(test))]
mod turns;
mod wire;
