//! A QEMU TCG plugin that records which AArch64 instructions a program ran and what they touched.
//!
//! It is loaded into `qemu-aarch64` or, for a whole system, `qemu-system-aarch64` by `n2sim capture`, which owns the output: the plugin only
//! appends words to a shared memory (`wire`), so a program that aborts, closes all of its files
//! or is killed still leaves everything it did. Of the workspace it uses what an instruction word is
//! (`sim-isa`) and nothing else; it is the only crate with `unsafe` code, because its interface is C.
//!
//! Threads of a program take numbers where they synchronize (`tickets`), so that their order is known.
//!
//! Not recorded of a program, because the engine does not report it: the addresses of `PRFM` and `DC`
//! operations, children of `fork`, programs started by `execve`. A whole system has all of them, where
//! the engine gives register values (`registers`), and the predicates of SVE instructions.
#![allow(unsafe_code, reason = "the plugin interface is C; each use says why it is sound")]
#![cfg_attr(test, allow(dead_code, reason = "the engine calls the rest"))]

mod code;
mod gate;
mod guest;
mod memory;
// The engine's functions exist only inside the engine, so tests leave out what calls them.
#[cfg(not(test))]
mod plugin;
#[cfg(not(test))]
mod qemu;
#[cfg(not(test))]
mod registers;
#[cfg(not(test))]
mod system;
mod system_words;
mod tickets;
mod wire;
