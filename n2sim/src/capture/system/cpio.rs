//! An initial file system for Linux: a cpio archive of the "newc" form (kernel documentation,
//! "initramfs buffer format").

use std::collections::BTreeSet;

/// Permission and kind bits of a directory.
const FOLDER: u32 = 0o040_755;
/// Kind bits of a file.
const FILE: u32 = 0o100_000;
/// A character device that its owner may read and write.
const CHARACTER_DEVICE: u32 = 0o020_600;

/// Time of the last change of every entry, which is also the date in the recorded system.
const CHANGED: u32 = 1_577_836_800;

/// An archive that grows.
#[derive(Clone, Debug, Default)]
pub(super) struct Archive {
    bytes: Vec<u8>,
    entries: u32,
    directories: BTreeSet<String>,
}

impl Archive {
    /// Adds a directory and its parents, unless they are already there.
    pub(super) fn directory(&mut self, path: &str) {
        let path = path.trim_matches('/');
        if path.is_empty() || self.directories.contains(path) {
            return;
        }
        if let Some((parent, _)) = path.rsplit_once('/') {
            self.directory(parent);
        }
        self.directories.insert(path.to_owned());
        self.entry(path, FOLDER, (0, 0), &[]);
    }

    /// Adds a file, in its directories.
    pub(super) fn file(&mut self, path: &str, permissions: u32, content: &[u8]) {
        let path = path.trim_matches('/');
        if let Some((directory, _)) = path.rsplit_once('/') {
            self.directory(directory);
        }
        self.entry(path, FILE | permissions & 0o7777, (0, 0), content);
    }

    /// Adds a character device.
    pub(super) fn character_device(&mut self, path: &str, major: u32, minor: u32) {
        let path = path.trim_matches('/');
        if let Some((directory, _)) = path.rsplit_once('/') {
            self.directory(directory);
        }
        self.entry(path, CHARACTER_DEVICE, (major, minor), &[]);
    }

    /// Returns the whole archive.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, (0, 0), &[]);
        self.bytes.resize(self.bytes.len().next_multiple_of(512), 0);
        self.bytes
    }

    fn entry(&mut self, name: &str, mode: u32, device: (u32, u32), content: &[u8]) {
        self.entries += 1;
        // Number, mode, owner, group, links, time, size, device, device of a device file, name,
        // checksum.
        let fields = [
            self.entries,
            mode,
            0,
            0,
            1,
            CHANGED,
            content.len() as u32,
            0,
            0,
            device.0,
            device.1,
            name.len() as u32 + 1,
            0,
        ];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08x}").as_bytes());
        }
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(content);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name, mode, device and content.
    type Entry = (String, u32, (u32, u32), Vec<u8>);

    /// Returns each entry, read back by the published layout.
    fn entries(bytes: &[u8]) -> Vec<Entry> {
        let mut entries = Vec::new();
        let mut at = 0;
        loop {
            assert_eq!(&bytes[at..at + 6], b"070701");
            let field = |n: usize| {
                let text = &bytes[at + 6 + 8 * n..at + 14 + 8 * n];
                u32::from_str_radix(std::str::from_utf8(text).expect("text"), 16).expect("a number")
            };
            let (mode, size, name) = (field(1), field(6) as usize, field(11) as usize);
            let device = (field(9), field(10));
            let text =
                String::from_utf8(bytes[at + 110..at + 109 + name].to_vec()).expect("a name");
            let content = (at + 110 + name).next_multiple_of(4);
            if text == "TRAILER!!!" {
                return entries;
            }
            entries.push((text, mode, device, bytes[content..content + size].to_vec()));
            at = (content + size).next_multiple_of(4);
        }
    }

    #[test]
    fn files_follow_their_directories_once() {
        let mut archive = Archive::default();
        archive.character_device("/dev/console", 5, 1);
        archive.file("/usr/bin/a", 0o755, b"abc");
        archive.file("usr/bin/b", 0o644, b"");
        let bytes = archive.finish();
        assert!(bytes.len().is_multiple_of(512));
        let expected = [
            ("dev", 0o040_755, (0, 0), &b""[..]),
            ("dev/console", 0o020_600, (5, 1), b""),
            ("usr", 0o040_755, (0, 0), b""),
            ("usr/bin", 0o040_755, (0, 0), b""),
            ("usr/bin/a", 0o100_755, (0, 0), b"abc"),
            ("usr/bin/b", 0o100_644, (0, 0), b""),
        ];
        let expected = expected.map(|(n, m, d, c)| (n.to_owned(), m, d, c.to_vec()));
        assert_eq!(entries(&bytes), expected);
    }
}
