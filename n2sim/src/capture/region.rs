//! `--from` and `--to`: the places in a program between which it is recorded.

use super::program::Program;
use super::shared_memory::SharedMemory;
use super::wire::{self, control};
use anyhow::{Result, bail};
use sim_core::Shown;
use std::fmt;
use std::str::FromStr;

/// Highest number of a hint.
const LAST_HINT: u32 = 127;

/// A place in the program, as the command line names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// `HINT #n`, a no-operation.
    Hint(u32),
    /// An address of the program's file.
    Address(u64),
    /// The first instruction of a function.
    Function(String),
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Place, String> {
        if let Some(digits) = text.strip_prefix("0x") {
            let addr = u64::from_str_radix(digits, 16).ok().filter(|addr| addr.is_multiple_of(4));
            return addr.map(Place::Address).ok_or_else(|| "no address of an instruction".into());
        }
        match text.parse() {
            Ok(number) if number <= LAST_HINT => Ok(Place::Hint(number)),
            Ok(number) => Err(format!("HINT #{number} does not exist; use 0 to {LAST_HINT}")),
            Err(_) if text.is_empty() => {
                Err("give a function, the number of a hint or an address 0x...".into())
            }
            Err(_) => Ok(Place::Function(text.to_owned())),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Hint(number) => write!(f, "HINT #{number}"),
            Place::Address(addr) => write!(f, "{addr:#x}"),
            Place::Function(name) => write!(f, "{name}"),
        }
    }
}

impl Place {
    /// Returns kind and value for the plugin.
    fn mark(&self, option: &str, program: &Program) -> Result<(u64, u64)> {
        let addr = match self {
            Place::Hint(number) => {
                return Ok((wire::MARK_WORD, u64::from(0xd503_201f | number << 5)));
            }
            Place::Address(addr) => *addr,
            Place::Function(name) => match (program.function(name), program.functions()) {
                (Some(addr), _) => addr,
                (None, 0) => bail!(
                    "{option} {name}: {} has no names of functions (it is stripped): give the \
                     number of a hint or an address 0x... of its file",
                    program.path.shown()
                ),
                (None, count) => bail!(
                    "{option} {name}: {} has {count} functions, and none of that name",
                    program.path.shown()
                ),
            },
        };
        Ok((wire::MARK_ADDRESS, addr))
    }
}

/// The recorded part of a run; all of it without places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Region {
    /// The start of the recording, each time that control arrives there.
    pub(crate) from: Option<Place>,
    /// The end of the recording.
    pub(crate) to: Option<Place>,
}

impl Region {
    /// Announces the region to the plugin before it starts.
    pub(crate) fn announce(&self, program: &Program, memory: &SharedMemory) -> Result<()> {
        if self.from.is_some() && self.from == self.to {
            bail!("--from and --to name the same place: nothing lies between");
        }
        let from = self.from.as_ref().map(|place| place.mark("--from", program)).transpose()?;
        let to = self.to.as_ref().map(|place| place.mark("--to", program)).transpose()?;
        for (index, mark) in [(control::MARK_FROM, from), (control::MARK_TO, to)] {
            if let Some((kind, value)) = mark {
                memory.set(index, kind)?;
                memory.set(index + 1, value)?;
            }
        }
        if let Some(start) = program.relocatable_from {
            memory.set(control::IS_MOVABLE, 1)?;
            memory.set(control::FILE_START, start)?;
        }
        Ok(())
    }

    /// Returns whether recording ends for good at the end of the region.
    pub(crate) fn ends_for_good(&self) -> bool {
        self.from.is_none() && self.to.is_some()
    }

    /// Returns the region in words, if it is not the whole run.
    pub(crate) fn describe(&self) -> Option<String> {
        let from = self.from.as_ref().map(|place| format!("from {place}"));
        let to = self.to.as_ref().map(|place| format!("to {place}"));
        let parts: Vec<String> = from.into_iter().chain(to).collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_hints_addresses_or_functions() {
        assert_eq!("40".parse(), Ok(Place::Hint(40)));
        assert_eq!("0x400120".parse(), Ok(Place::Address(0x40_0120)));
        assert_eq!("main".parse(), Ok(Place::Function("main".to_owned())));
        for (text, reason) in
            [("128", "0 to 127"), ("0x3", "address"), ("0xg", "address"), ("", "function")]
        {
            let message = text.parse::<Place>().expect_err(text);
            assert!(message.contains(reason), "{message}");
        }
    }

    #[test]
    fn a_region_says_what_it_is() {
        assert_eq!(Region::default().describe(), None);
        let region =
            Region { from: Some(Place::Function("main".into())), to: Some(Place::Hint(41)) };
        assert_eq!(region.describe().as_deref(), Some("from main to HINT #41"));
        assert!(!region.ends_for_good());
    }
}
