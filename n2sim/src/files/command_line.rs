//! The words of the command line and the files that they name.

use crate::host::call;
use sim_core::Shown;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Returns the words, the program's own name first. Bytes that are not UTF-8 become replacement
/// characters.
pub(crate) fn words() -> impl Iterator<Item = String> {
    call::words().into_iter().map(|word| word.to_string_lossy().into_owned())
}

/// Refuses an output file that another word of the command line names, because the command would
/// overwrite its input.
pub(crate) fn refuse_input(output: &Path) -> anyhow::Result<()> {
    // Names of commands are not names of files.
    let words = call::words();
    let is_nested = words.get(1).is_some_and(|word| word == "trace");
    let rest = words.iter().skip(if is_nested { 3 } else { 2 });
    if is_input(output, rest.map(|word| word.as_os_str())) {
        let name = output.shown();
        anyhow::bail!("{name}: this command reads that file; give another file to write (-o)");
    }
    Ok(())
}

/// Returns whether more words name the file than those that spell it as the output, which is one.
fn is_input<'a>(output: &Path, words: impl Iterator<Item = &'a OsStr>) -> bool {
    let identity = |path: &Path| path.metadata().ok().map(|found| (found.dev(), found.ino()));
    let Some(own) = identity(output).filter(|_| output.is_file()) else { return false };
    let (mut naming, mut spelling) = (0, 0);
    for word in words {
        spelling += u32::from(parts(word).any(|part| part == output));
        naming += u32::from(parts(word).any(|part| identity(part) == Some(own)));
    }
    naming > spelling.min(1)
}

/// Returns the possible file names in a word: all of it, or part of `--option=NAME` or `-oNAME`.
fn parts(word: &OsStr) -> impl Iterator<Item = &Path> {
    let bytes = word.as_bytes();
    let equals = bytes.iter().position(|byte| *byte == b'=').map(|at| &bytes[at + 1..]);
    let short = bytes.strip_prefix(b"-").filter(|rest| !rest.starts_with(b"-"));
    let attached = short.and_then(|rest| rest.get(1..));
    let parts = [Some(bytes), equals, attached].into_iter().flatten();
    parts.map(|part| Path::new(OsStr::from_bytes(part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_that_another_word_names_is_an_input() {
        let directory = tempfile::tempdir().expect("a directory");
        let (file, link) = (directory.path().join("a.n2t"), directory.path().join("b.n2t"));
        std::fs::write(&file, "x").expect("room");
        std::os::unix::fs::symlink(&file, &link).expect("links are possible");
        let is = |words: &[String]| is_input(&file, words.iter().map(OsStr::new));
        let [name, other] = [&file, &link].map(|path| path.display().to_string());
        let words =
            |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert!(!is(&words(&["stat", "c.n2t", "-o", &name])));
        assert!(!is(&words(&["stat", "c.n2t", &format!("--output={name}")])));
        assert!(!is(&words(&["validate", "c.n2t", "--a.n2t", &name])), "the name of an option");
        assert!(is(&words(&["stat", &name, "-o", &name])));
        assert!(is(&words(&["stat", &other, &format!("-o{name}")])), "by another name");
        assert!(is(&words(&["stat", &format!("--config={other}"), "-o", &name])));
        assert!(is(&words(&["spe", &other, "--csv", "prefix"])), "a name that was made up");
        assert!(!is_input(Path::new("/nowhere"), std::iter::empty()), "nothing is there");
    }
}
