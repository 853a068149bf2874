//! File of windows: editable TOML, checked before a run.

use std::fmt;

use sim_trace::TraceFile;

use super::error::RegionsError;
use super::windows::{MOST_WINDOWS, Region, Regions};
use crate::known_events::{KNOWN_EVENTS, SHARED_EVENTS, is_known_number, known_events};
use sim_core::Shown;

/// Returns a hash in the form of the file.
pub(crate) fn hash_text(hash: u64) -> String {
    format!("{hash:016x}")
}

impl Regions {
    /// Parses the text of `file`.
    ///
    /// # Errors
    /// If it is not TOML of this form, or if its windows are inconsistent.
    pub fn parse(file: &str, text: &str) -> Result<Regions, RegionsError> {
        let regions: Regions = toml::from_str(text).map_err(|error| RegionsError::Syntax {
            file: file.to_owned(),
            reason: error.to_string().trim_end().to_owned(),
        })?;
        regions.check(file)?;
        Ok(regions)
    }

    /// Checks that the windows belong to this trace.
    ///
    /// # Errors
    /// If the trace has another hash.
    pub fn check_trace(&self, file: &str, trace: &TraceFile) -> Result<(), RegionsError> {
        let instructions: u64 = trace.streams().iter().map(|stream| stream.instructions).sum();
        let found = hash_text(trace.hash());
        if self.trace_hash != found || self.instructions != instructions {
            return Err(RegionsError::OtherTrace {
                file: file.to_owned(),
                named: self.trace.clone(),
                expected: self.trace_hash.clone(),
                trace: trace.path().shown().to_string(),
                found,
            });
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
        let named = self.known.len();
        if !is_known_number(named) {
            let (found, right) = (self.known.len(), KNOWN_EVENTS.len());
            let of_threads = right + SHARED_EVENTS.len();
            return Err(whole(format!(
                "{found} known counts; give {right}, {of_threads} for a trace of several threads, or none"
            )));
        }
        let mut end = 0;
        for (i, window) in self.windows.iter().enumerate() {
            let fault = |what| RegionsError::Window { file: file.to_owned(), number: i + 1, what };
            end = self.check_window(window, end).map_err(fault)?;
            let found = window.known.len();
            if found != named {
                return Err(fault(format!(
                    "{found} known counts; give {named}, as for the whole trace"
                )));
            }
        }
        let all: u128 = self.windows.iter().map(|one| u128::from(one.represents)).sum();
        if all != u128::from(self.instructions) {
            let there = self.instructions;
            return Err(whole(format!(
                "the windows represent {all} instructions, the trace has {there}"
            )));
        }
        Ok(())
    }

    /// Returns the end of the window, which must not begin before `earliest`.
    fn check_window(&self, window: &Region, earliest: u64) -> Result<u64, String> {
        let Region { begin, length, represents, .. } = *window;
        let end = begin.checked_add(length).filter(|end| *end <= self.instructions);
        match end {
            None => Err(format!(
                "{length} instructions from {begin} on reach over the end of the trace, which has {}",
                self.instructions
            )),
            Some(_) if length == 0 => Err("a length of 0; give 1 at least".to_owned()),
            Some(_) if begin < earliest => {
                Err(format!("it begins at {begin}, before the end of the one before, {earliest}"))
            }
            Some(_) if represents == 0 => Err("it represents nothing; remove it".to_owned()),
            Some(end) => Ok(end),
        }
    }
}

impl fmt::Display for Regions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# Representative windows of a trace: n2sim estimate --regions FILE TRACE")?;
        writeln!(f, "trace = {}", toml::Value::from(self.trace.as_str()))?;
        writeln!(f, "trace-hash = {}", toml::Value::from(self.trace_hash.as_str()))?;
        writeln!(f, "instructions = {}", self.instructions)?;
        writeln!(
            f,
            "# Instructions that run before each window, not counted.\nwarmup = {}",
            self.warmup
        )?;
        writeln!(
            f,
            "# Instructions of functional warming before those.\nlesson = {}",
            self.functional_warmup
        )?;
        if let Some(states) = &self.states {
            writeln!(
                f,
                "# State of the machine below before each window, in place of functional warming."
            )?;
            writeln!(f, "states = {}", toml::Value::from(states.as_str()))?;
        }
        if let Some(hash) = &self.known_on {
            writeln!(f, "# Configuration of functional warming, and its counts:")?;
            writeln!(f, "known-on = {}", toml::Value::from(hash.as_str()))?;
        }
        if !self.known.is_empty() {
            let events = known_events(self.known.len());
            let names: Vec<&str> = events.map(|event| event.mnemonic()).collect();
            writeln!(f, "# {}\nknown = {:?}", names.join(", "), self.known)?;
        }
        for Region { cluster, begin, length, represents, known } in &self.windows {
            let percent = 100.0 * *represents as f64 / self.instructions.max(1) as f64;
            write!(f, "\n[[window]] # {percent:.3} % of the trace\ncluster = {cluster}\n")?;
            writeln!(f, "begin = {begin}\nlength = {length}\nstands-for = {represents}")?;
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
        let known = || (0..KNOWN_EVENTS.len() as u64).collect::<Vec<u64>>();
        let region = |cluster, begin, represents| {
            let known = known();
            Region { cluster, begin, length: 10, represents, known }
        };
        Regions {
            trace: "a \"b\".n2t".to_owned(),
            trace_hash: hash_text(7),
            instructions: 100,
            warmup: 5,
            functional_warmup: 50,
            known_on: Some(hash_text(9)),
            states: Some("a.states".to_owned()),
            known: known(),
            windows: vec![region(0, 0, 30), region(1, 50, 70)],
        }
    }

    #[test]
    fn an_invalid_hash_is_written_as_it_was_read() {
        let odd = Regions { trace_hash: "4\\5\"6".to_owned(), ..two() };
        assert_eq!(Regions::parse("f", &odd.to_string()).expect("own text"), odd);
    }

    #[test]
    fn a_written_file_is_read_again() {
        assert_eq!(Regions::parse("f", &two().to_string()).expect("own text"), two());
    }

    #[test]
    fn inconsistent_windows_are_refused() {
        type Change<'a> = &'a dyn Fn(&mut Regions);
        let message = |change: Change<'_>| {
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
            (&|r| r.windows[0].represents = 0, "window 1: it represents nothing"),
            (&|r| r.windows[0].represents = 31, "represent 101 instructions, the trace has 100"),
            (
                &|r| r.known.truncate(3),
                "3 known counts; give 17, 25 for a trace of several threads, or none",
            ),
            (&|r| r.known.clear(), "window 1: 17 known counts; give 0, as for the whole trace"),
            (&|r| r.windows[1].known.clear(), "window 2: 0 known counts; give 17"),
            (&|r| r.windows.clear(), "missing field `window`"),
            (&|r| r.states = Some("a/b".to_owned()), "the name of a file beside this one"),
        ];
        for (change, expected) in cases {
            let found = message(change);
            assert!(found.contains(expected), "{found}");
        }
        let negative = two().to_string().replace("warmup = 5", "warmup = -5");
        assert!(Regions::parse("f", &negative).is_err());
    }
}
