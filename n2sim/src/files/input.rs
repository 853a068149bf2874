//! Text files that users write or make: whole ones, of a length that such a file can have.

use std::io::{self, Read};
use std::path::Path;

use sim_files::File;

/// Bytes of the longest text that is read: a day of counts in intervals of a second.
const BYTES_MAX: u64 = 256 << 20;

/// Reads a text. A device without end, or a file that is something else, is refused before it
/// fills the memory.
pub(crate) fn text(path: &Path) -> io::Result<String> {
    bounded(path, BYTES_MAX)
}

fn bounded(path: &Path, max: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        return Err(io::Error::other(format!("it has more than {max} bytes")));
    }
    // Zero bytes are UTF-8, but no text.
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(io::Error::other("it is no text (UTF-8)")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_refused() {
        let told = |path: &str, max| bounded(Path::new(path), max).expect_err(path).to_string();
        assert_eq!(told("/dev/zero", 1000), "it has more than 1000 bytes");
        let program = std::env::current_exe().expect("the test's own file");
        let told = bounded(&program, u64::MAX - 1).expect_err("a program").to_string();
        assert_eq!(told, "it is no text (UTF-8)");
        assert_eq!(bounded(Path::new("/dev/null"), 0).expect("empty"), "");
    }
}
