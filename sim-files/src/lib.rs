//! Files of n2sim.
//!
//! * Results appear under their name only when they are complete and on the disk.
//! * Temporary files are removed however the process ends.
//! * System calls that read inputs or write results go through one place ([`calls`]), so that tests
//!   can make each of them fail.

pub mod calls;
mod file;
mod live;
mod new_directory;
mod new_file;
mod scratch;
pub mod stale;
mod text;

pub use file::{File, output, read, read_to_string, spawn};
pub use live::remove_all;
pub use new_directory::NewDirectory;
pub use new_file::{Kept, NewFile, Unfinished};
pub use scratch::{Scratch, ScratchDirectory};
pub use text::text;
