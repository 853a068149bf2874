//! The file of windows: TOML that people can read, checked before anything runs.

use std::fmt;

use sim_trace::TraceFile;

use super::{MOST_WINDOWS, Region, Regions, only_thread};
use crate::error::MachineError;
use crate::known::KNOWN;
use sim_core::Shown;

/// Why a file of windows cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegionsError {
    /// It is no such file.
    #[error("{file}: no file of windows, such as n2sim trace regions writes: {reason}")]
    Syntax {
        /// The file.
        file: String,
        /// What the parser says.
        reason: String,
    },
    /// Its windows contradict each other or the trace.
    #[error("{file}: window {number}: {what}")]
    Window {
        /// The file.
        file: String,
        /// Which one, counted from 1.
        number: usize,
        /// What is wrong and what would be right.
        what: String,
    },
    /// It has no windows, or too many, or they stand for another number of instructions than there are.
    #[error("{file}: {what}")]
    Whole {
        /// The file.
        file: String,
        /// What is wrong and what would be right.
        what: String,
    },
    /// It belongs to another trace.
    #[error(
        "{file}: these windows are of {named} (hash {expected}), not of {trace} (hash {found}); find its own with: n2sim trace regions {trace} -o FILE"
    )]
    OtherTrace {
        /// The file.
        file: String,
        /// The trace that it names.
        named: String,
        /// That trace's hash.
        expected: String,
        /// The trace that is to be run.
        trace: String,
        /// Its hash.
        found: String,
    },
}

/// A hash as the file has it.
pub(crate) fn hash_text(hash: u64) -> String {
    format!("{hash:016x}")
}

impl Regions {
    /// Reads the text of `file`.
    ///
    /// # Errors
    /// If it is not TOML of this form, or if its windows make no sense.
    pub fn parse(file: &str, text: &str) -> Result<Regions, RegionsError> {
        let regions: Regions = toml::from_str(text).map_err(|error| RegionsError::Syntax {
            file: file.to_owned(),
            reason: error.to_string().trim_end().to_owned(),
        })?;
        regions.check(file)?;
        Ok(regions)
    }

    /// Makes sure that the windows are of this trace.
    ///
    /// # Errors
    /// If the trace has another hash, or instructions of several threads.
    pub fn check_trace(&self, file: &str, trace: &TraceFile) -> Result<(), MachineError> {
        let thread = only_thread(trace)?;
        let found = hash_text(trace.hash());
        if self.trace_hash != found || self.instructions != thread.instructions {
            return Err(RegionsError::OtherTrace {
                file: file.to_owned(),
                named: self.trace.clone(),
                expected: self.trace_hash.clone(),
                trace: trace.path().shown().to_string(),
                found,
            }
            .into());
        }
        Ok(())
    }

    fn check(&self, file: &str) -> Result<(), RegionsError> {
        let whole = |what: String| RegionsError::Whole { file: file.to_owned(), what };
        if let Some(states) =
            self.states.as_deref().filter(|name| name.is_empty() || name.contains('/'))
        {
            let name = toml::Value::from(states);
            return Err(whole(format!("states = {name}; give the name of a file beside this one")));
        }
        if self.windows.is_empty() || self.windows.len() > MOST_WINDOWS {
            let count = self.windows.len();
            return Err(whole(format!("{count} windows; give 1 to {MOST_WINDOWS}")));
        }
        let named = if self.known.is_empty() { 0 } else { KNOWN.len() };
        if self.known.len() != named {
            let (found, right) = (self.known.len(), KNOWN.len());
            return Err(whole(format!("{found} known counts; give {right}, or none")));
        }
        let mut behind = 0;
        for (i, window) in self.windows.iter().enumerate() {
            let fault = |what| RegionsError::Window { file: file.to_owned(), number: i + 1, what };
            behind = self.check_window(window, behind).map_err(fault)?;
            let found = window.known.len();
            if found != named {
                return Err(fault(format!(
                    "{found} known counts; give {named}, as for the whole trace"
                )));
            }
        }
        let all: u128 = self.windows.iter().map(|one| u128::from(one.stands_for)).sum();
        if all != u128::from(self.instructions) {
            let there = self.instructions;
            return Err(whole(format!(
                "the windows stand for {all} instructions, the trace has {there}"
            )));
        }
        Ok(())
    }

    /// The end of the window, which must not begin before `behind`.
    fn check_window(&self, window: &Region, behind: u64) -> Result<u64, String> {
        let Region { begin, length, stands_for, .. } = *window;
        let end = begin.checked_add(length).filter(|end| *end <= self.instructions);
        match end {
            None => Err(format!(
                "{length} instructions from {begin} on reach over the end of the trace, which has {}",
                self.instructions
            )),
            Some(_) if length == 0 => Err("a length of 0; give 1 at least".to_owned()),
            Some(_) if begin < behind => {
                Err(format!("it begins at {begin}, before the end of the one before, {behind}"))
            }
            Some(_) if stands_for == 0 => Err("it stands for nothing; leave it out".to_owned()),
            Some(end) => Ok(end),
        }
    }
}

impl fmt::Display for Regions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# Windows that stand for a whole trace: n2sim estimate --regions FILE TRACE")?;
        writeln!(f, "trace = {}", toml::Value::from(self.trace.as_str()))?;
        writeln!(f, "trace-hash = {}", toml::Value::from(self.trace_hash.as_str()))?;
        writeln!(f, "instructions = {}", self.instructions)?;
        writeln!(f, "# Run in front of each window, not counted.\nwarmup = {}", self.warmup)?;
        writeln!(
            f,
            "# In front of those: go through caches, TLBs, prefetchers and predictors in order.\nlesson = {}",
            self.lesson
        )?;
        if let Some(states) = &self.states {
            writeln!(
                f,
                "# What the machine below has in front of each window; then no lesson is needed."
            )?;
            writeln!(f, "states = {}", toml::Value::from(states.as_str()))?;
        }
        if let Some(hash) = &self.known_on {
            writeln!(f, "# Configuration of a machine without a pipeline, and what it counts:")?;
            writeln!(f, "known-on = {}", toml::Value::from(hash.as_str()))?;
        }
        if !self.known.is_empty() {
            let names: Vec<&str> = KNOWN.iter().map(|event| event.mnemonic()).collect();
            writeln!(f, "# {}\nknown = {:?}", names.join(", "), self.known)?;
        }
        for Region { cluster, begin, length, stands_for, known } in &self.windows {
            let percent = 100.0 * *stands_for as f64 / self.instructions.max(1) as f64;
            write!(f, "\n[[window]] # {percent:.3} % of the trace\ncluster = {cluster}\n")?;
            writeln!(f, "begin = {begin}\nlength = {length}\nstands-for = {stands_for}")?;
            if !known.is_empty() {
                writeln!(f, "known = {known:?}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> Regions {
        let known = || (0..KNOWN.len() as u64).collect::<Vec<u64>>();
        let region = |cluster, begin, stands_for| {
            let known = known();
            Region { cluster, begin, length: 10, stands_for, known }
        };
        Regions {
            trace: "a \"b\".n2t".to_owned(),
            trace_hash: hash_text(7),
            instructions: 100,
            warmup: 5,
            lesson: 50,
            known_on: Some(hash_text(9)),
            states: Some("a.states".to_owned()),
            known: known(),
            windows: vec![region(0, 0, 30), region(1, 50, 70)],
        }
    }

    #[test]
    fn a_hash_that_is_none_is_written_as_it_was_read() {
        let odd = Regions { trace_hash: "4\\5\"6".to_owned(), ..two() };
        assert_eq!(Regions::parse("f", &odd.to_string()).expect("own text"), odd);
    }

    #[test]
    fn what_is_written_is_read_again() {
        assert_eq!(Regions::parse("f", &two().to_string()).expect("own text"), two());
    }

    #[test]
    fn windows_that_make_no_sense_are_refused() {
        type Change<'a> = &'a dyn Fn(&mut Regions);
        let told = |change: Change<'_>| {
            let mut regions = two();
            change(&mut regions);
            Regions::parse("f", &regions.to_string()).expect_err("no sense").to_string()
        };
        let cases: [(Change<'_>, &str); 11] = [
            (
                &|r| r.windows[1].begin = 91,
                "f: window 2: 10 instructions from 91 on reach over the end",
            ),
            (&|r| r.windows[1].begin = u64::MAX >> 1, "reach over the end"),
            (
                &|r| r.windows[1].begin = 9,
                "window 2: it begins at 9, before the end of the one before, 10",
            ),
            (&|r| r.windows[0].length = 0, "window 1: a length of 0"),
            (&|r| r.windows[0].stands_for = 0, "window 1: it stands for nothing"),
            (&|r| r.windows[0].stands_for = 31, "stand for 101 instructions, the trace has 100"),
            (&|r| r.known.truncate(3), "3 known counts; give 17, or none"),
            (&|r| r.known.clear(), "window 1: 17 known counts; give 0, as for the whole trace"),
            (&|r| r.windows[1].known.clear(), "window 2: 0 known counts; give 17"),
            (&|r| r.windows.clear(), "missing field `window`"),
            (&|r| r.states = Some("a/b".to_owned()), "the name of a file beside this one"),
        ];
        for (change, expected) in cases {
            let found = told(change);
            assert!(found.contains(expected), "{found}");
        }
        let negative = two().to_string().replace("warmup = 5", "warmup = -5");
        assert!(Regions::parse("f", &negative).is_err());
    }
}
