//! Reads profiles and program files as a whole.

use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use sim_files::File;

/// Bytes of the largest profile that is read: an hour of records of a busy machine.
const BYTES_MAX: u64 = 8 << 30;

/// Reads a whole file. Refuses devices, which may have no end.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    if file.as_std().metadata()?.file_type().is_char_device() {
        return Err(io::Error::other("it is a device, not a file"));
    }
    let mut bytes = Vec::new();
    file.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(io::Error::other(format!("it has more than {BYTES_MAX} bytes")));
    }
    Ok(bytes)
}
