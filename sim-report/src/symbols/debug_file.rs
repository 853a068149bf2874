//! Separate debug files: the places of names and lines of a stripped file, as GDB looks for them.

use std::path::Path;

use flate2::Crc;
use object::Object;

/// Directory of separate debug files below the root of a system.
const DEBUG_ROOT: &str = "usr/lib/debug";

/// Returns the content of the debug file of `file`, which is at `path`: the one of its build
/// identity, else the one that its link names if the checksum is right.
pub(super) fn find(path: &Path, file: &object::File<'_>) -> Option<Vec<u8>> {
    let path = std::path::absolute(path).ok()?;
    by_build_id(&path, file).or_else(|| by_link(&path, file))
}

/// Returns the content of the file to which `debug`, the debug file of the file at `path`, moved
/// what it has in common with others.
pub(super) fn find_common(path: &Path, debug: &object::File<'_>) -> Option<Vec<u8>> {
    let (name, build_id) = debug.gnu_debugaltlink().ok()??;
    let name = std::str::from_utf8(name).ok()?;
    let path = std::path::absolute(path).ok()?;
    let named = Path::new(name).file_name()?;
    let candidates = roots(&path).flat_map(|root| {
        let below = root.join(name.trim_start_matches('/'));
        [below, root.join(DEBUG_ROOT).join(".dwz").join(named)]
    });
    candidates.filter_map(|candidate| read(&candidate)).find(|bytes| has_id(bytes, build_id))
}

fn by_build_id(path: &Path, file: &object::File<'_>) -> Option<Vec<u8>> {
    let build_id = file.build_id().ok()??;
    let (first, rest) = build_id.split_first()?;
    let name = Path::new(".build-id").join(hex(&[*first])).join(hex(rest) + ".debug");
    let candidates = roots(path).map(|root| root.join(DEBUG_ROOT).join(&name));
    candidates.filter_map(|candidate| read(&candidate)).find(|bytes| has_id(bytes, build_id))
}

fn by_link(path: &Path, file: &object::File<'_>) -> Option<Vec<u8>> {
    let (name, checksum) = file.gnu_debuglink().ok()??;
    let name = Path::new(std::str::from_utf8(name).ok()?).file_name()?;
    let directory = path.parent()?;
    let beside = [directory.join(name), directory.join(".debug").join(name)];
    let below = roots(path).filter_map(|root| {
        let inside = directory.strip_prefix(root).ok()?;
        Some(root.join(DEBUG_ROOT).join(inside).join(name))
    });
    let candidates = beside.into_iter().chain(below).filter(|candidate| candidate != path);
    candidates.filter_map(|candidate| read(&candidate)).find(|bytes| crc(bytes) == checksum)
}

/// Returns the directories above `path`: one of them is the root of its system, which is not
/// this machine's for a file of a foreign system.
fn roots(path: &Path) -> impl Iterator<Item = &Path> {
    path.ancestors().skip(1)
}

fn read(path: &Path) -> Option<Vec<u8>> {
    path.is_file().then(|| read_elf(path).ok()).flatten()
}

/// Largest ELF file that is read, in bytes.
const MAX_FILE: u64 = 4 << 30;
/// Directories of files that are none of a disk: some have no end.
const NO_DISK: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Returns the content of an ELF file that a user or a trace names.
///
/// # Errors
/// Fails if the path is no file of a disk, is larger than 4 GiB, or cannot be read.
pub fn read_elf(path: &Path) -> std::io::Result<Vec<u8>> {
    let refuse = |reason: &str| Err(std::io::Error::other(reason.to_owned()));
    let real = path.canonicalize()?;
    let metadata = real.metadata()?;
    if !metadata.is_file() || NO_DISK.iter().any(|directory| real.starts_with(directory)) {
        return refuse("this is not a file");
    }
    if metadata.len() > MAX_FILE {
        return refuse("it is larger than 4 GiB");
    }
    sim_files::read(path)
}

fn has_id(bytes: &[u8], build_id: &[u8]) -> bool {
    let own =
        object::File::parse(bytes).ok().and_then(|file| Some(file.build_id().ok()??.to_vec()));
    own.as_deref() == Some(build_id)
}

fn crc(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// Returns the hexadecimal digits of bytes, in the order of the bytes.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_of_a_foreign_system_is_one_of_the_directories_above() {
        let roots: Vec<&Path> = roots(Path::new("/opt/root/usr/bin/prog")).collect();
        let expected = ["/opt/root/usr/bin", "/opt/root/usr", "/opt/root", "/opt", "/"];
        assert_eq!(roots, expected.map(Path::new));
    }

    #[test]
    fn a_checksum_is_that_of_the_link() {
        // The check value of CRC-32 (ISO 3309), which a link has.
        assert_eq!(crc(b"123456789"), 0xcbf4_3926);
        assert_eq!(hex(&[0, 0x5b, 0xff]), "005bff");
    }
}
