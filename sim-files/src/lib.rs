//! Files of n2sim: results that appear under their name only when they are complete and on the disk, temporary
//! files that no ending of the process leaves behind, and one place through which the calls go that read inputs
//! and write results, so that tests can make each of them fail.

pub mod calls;
mod file;
mod live;
mod new_file;
mod scratch;
pub mod stale;

pub use file::{File, output, read, read_to_string, spawn};
pub use live::remove_all;
pub use new_file::{Kept, NewFile, Unfinished};
pub use scratch::{Scratch, ScratchFolder};
