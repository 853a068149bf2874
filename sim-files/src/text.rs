//! Reads whole text files that users write or generate, up to a size limit.

use std::io::{self, Read};
use std::path::Path;

use crate::file::File;

/// Size limit of a text in bytes: a day of counts in intervals of a second.
const BYTES_MAX: u64 = 256 << 20;

/// Reads a text. Refuses devices without end and other files before they fill the memory.
///
/// # Errors
/// The file cannot be read, has more than 256 MiB, or is not UTF-8 text.
pub fn text(path: &Path) -> io::Result<String> {
    bounded(path, BYTES_MAX)
}

fn bounded(path: &Path, max: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        return Err(io::Error::other(format!("it has more than {max} bytes")));
    }
    // Zero bytes are UTF-8, but not text.
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(io::Error::other("it is not text (UTF-8)")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_not_text_are_refused() {
        let message = |path: &str, max| bounded(Path::new(path), max).expect_err(path).to_string();
        assert_eq!(message("/dev/zero", 1000), "it has more than 1000 bytes");
        let program = std::env::current_exe().expect("the test's own file");
        let message = bounded(&program, u64::MAX - 1).expect_err("a program").to_string();
        assert_eq!(message, "it is not text (UTF-8)");
        assert_eq!(bounded(Path::new("/dev/null"), 0).expect("empty"), "");
    }
}
