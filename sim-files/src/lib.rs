//! Files of n2sim.
//!
//! * Results appear under their name only when they are complete and on the disk.
//! * Temporary files are removed however the process ends.
//! * A target without files, such as a browser, has only [`File`]: bytes in memory.
//! * System calls that read inputs or write results go through one place ([`calls`]), so that tests
//!   can make each of them fail.

#[cfg(unix)]
pub mod calls;
#[cfg(unix)]
mod file;
#[cfg(unix)]
mod live;
#[cfg(not(unix))]
mod memory_file;
#[cfg(unix)]
mod new_directory;
#[cfg(unix)]
mod new_file;
#[cfg(unix)]
mod scratch;
#[cfg(unix)]
pub mod stale;
#[cfg(unix)]
mod temporary;
#[cfg(unix)]
mod text;

#[cfg(unix)]
pub use file::{File, output, read, read_to_string, spawn};
#[cfg(unix)]
pub use live::remove_all;
#[cfg(not(unix))]
pub use memory_file::File;
#[cfg(unix)]
pub use new_directory::NewDirectory;
#[cfg(unix)]
pub use new_file::{Kept, NewFile, Unfinished};
#[cfg(unix)]
pub use scratch::{Scratch, ScratchDirectory};
#[cfg(unix)]
pub use text::text;
