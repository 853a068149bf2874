//! A small A64 assembler and interpreter: text becomes a program, and a run of the program the
//! records that a trace-driven model replays.
//!
//! - [`assemble`] reads assembly and returns a [`Program`], or an [`AsmError`] with its place.
//! - [`run`] executes a program and returns a [`Run`]: one [`Executed`] for each instruction.
//! - [`FORMS`] lists the known mnemonics, each with an example.
//! - [`disassembly`] prints an instruction word in assembler syntax.
//! - [`EXAMPLES`] are six programs for a first look at the model.
//!
//! In scope: common instructions of one thread on general, scalar floating-point and a few vector
//! registers, and data in memory. Out of scope: system calls, exceptions, other threads (a
//! store-exclusive always succeeds), and everything that writes its own code.
//!
//! ```
//! use sim_asm::{Limits, Stop, assemble, run};
//! let program = assemble("mov x0, #2\nadd x0, x0, #3").expect("two known instructions");
//! let run = run(&program, Limits::default()).expect("no access to memory");
//! assert_eq!(run.registers.x[0], 5);
//! assert_eq!(run.stopped, Stop::End);
//! assert_eq!(run.executed[1].pc, 0x40_0004);
//! ```

mod assemble;
mod data;
pub mod disassembly;
mod error;
mod examples;
mod forms;
mod labels;
mod machine;
mod nearest;
mod parse;
mod program;
mod run;

pub use assemble::assemble;
pub use error::{AsmError, RunError, RunFault};
pub use examples::EXAMPLES;
pub use forms::{FORMS, Form};
pub use machine::Registers;
pub use program::{CODE, DATA, LARGE_DATA, Label, Program, STACK};
pub use run::{Executed, Limits, Run, Stop, run};
