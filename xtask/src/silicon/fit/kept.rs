//! Results of finished replays in a file, so that an interrupted fit goes on where it was.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use sim_calibrate::digest;

/// Cycles of finished replays by what determines them.
pub(super) struct Kept {
    file: Mutex<std::fs::File>,
    known: Mutex<HashMap<u64, f64>>,
}

impl Kept {
    /// Opens the file, or starts it. A line that was not written to its end is left out.
    pub(super) fn open(path: &Path) -> Result<Kept> {
        let text = if path.exists() { std::fs::read_to_string(path)? } else { String::new() };
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let known = whole.lines().filter_map(|line| {
            let (name, cycles) = line.split_once(' ')?;
            Some((u64::from_str_radix(name, 16).ok()?, cycles.parse().ok()?))
        });
        let known = Mutex::new(known.collect());
        let file = OpenOptions::new().append(true).create(true).open(path);
        let file = file.with_context(|| format!("opening {}", path.display()))?;
        let length = if whole.is_empty() { 0 } else { whole.len() + 1 };
        file.set_len(length as u64)?;
        Ok(Kept { file: Mutex::new(file), known })
    }

    /// Returns the result of a replay that `described` determines, and makes it if it is new.
    pub(super) fn or_make(
        &self,
        described: &str,
        make: impl FnOnce() -> Result<f64>,
    ) -> Result<f64> {
        let name = digest(described.as_bytes());
        let known = |kept: &Kept| {
            kept.known.lock().unwrap_or_else(PoisonError::into_inner).get(&name).copied()
        };
        if let Some(cycles) = known(self) {
            return Ok(cycles);
        }
        let cycles = make()?;
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(name, cycles);
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(file, "{name:016x} {cycles:?}")?;
        Ok(cycles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finished_replay_is_not_made_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("kept");
        let kept = Kept::open(&path).expect("it can be opened");
        assert_eq!(kept.or_make("one", || Ok(1.25)).expect("it is made"), 1.25);
        assert!(kept.or_make("two", || anyhow::bail!("no machine")).is_err());
        let again = Kept::open(&path).expect("it can be opened");
        assert_eq!(again.or_make("one", || anyhow::bail!("made again")).expect("known"), 1.25);
        std::fs::write(&path, "00000000000000ff 2.5\n0123 4").expect("it can be written");
        for _ in 0..2 {
            let damaged = Kept::open(&path).expect("it can be opened");
            assert_eq!(damaged.known.lock().expect("not poisoned").len(), 1);
        }
    }
}
