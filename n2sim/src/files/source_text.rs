//! Text of source files that the line table of a program names.

use std::io::Read;
use std::path::Path;

use sim_files::File;

/// Largest source file that is read, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Returns the text of a source file, or `None` if it is not there, not a text or too large. The
/// text is optional, as are the lines of a program.
pub(crate) fn read(file: &str) -> Option<String> {
    let path = Path::new(file);
    // A relative name belongs to an unknown directory, and a device or a pipe has no end.
    if !path.is_absolute() || !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MAX_BYTES + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > MAX_BYTES || bytes.contains(&0) {
        return None;
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn only_texts_with_a_whole_path_are_read() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = |name: &str, bytes: &[u8]| {
            let path = directory.path().join(name);
            std::fs::write(&path, bytes).expect("a file");
            path.to_str().expect("UTF-8").to_owned()
        };
        assert_eq!(read(&path("a.c", b"int a;\n")).as_deref(), Some("int a;\n"));
        assert_eq!(read(&path("latin.c", b"/* \xe9 */")).as_deref(), Some("/* \u{fffd} */"));
        assert_eq!(read(&path("program", b"\x7fELF\0")), None);
        assert_eq!(read(directory.path().to_str().expect("UTF-8")), None, "a directory");
        assert_eq!(read("src/main.rs"), None, "not a whole path");
        assert_eq!(read("/dev/zero"), None);
    }
}
