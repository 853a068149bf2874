//! Reasons why a case cannot run as a program of user mode.

use std::fmt;

/// Reason why a case is not in the program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// It runs above EL0, or a step needs EL1.
    NeedsEl1,
    /// It needs EL1 and what a module of the kernel must not do, or cannot.
    NotInModule(&'static str),
    /// It reads or programs registers of the PMU or of the sampling unit.
    Registers,
    /// Another core, another chip or an I/O agent takes part.
    OtherAgent,
    /// A conditional branch is mispredicted each time, or a fetch is squashed; no program can
    /// promise this.
    WrongPath,
    /// It counts the fetches of its own code, which the loop around the step changes.
    Fetches,
    /// It needs a machine that is configured otherwise.
    Configuration,
    /// A step faults or takes an exception.
    Exception,
    /// It needs a state that user mode cannot produce, or not alone.
    State(&'static str),
    /// A step uses registers or addresses that the program needs for itself.
    Operands(String),
    /// It says something about time or A32 alone.
    NothingToCount,
}

impl Reason {
    /// Returns the name of the group of cases with such a reason.
    pub fn group(&self) -> &'static str {
        match self {
            Reason::NeedsEl1 => "needs EL1",
            Reason::NotInModule(what) => what,
            Reason::Registers => "registers of the PMU or SPE",
            Reason::OtherAgent => "another core or agent",
            Reason::WrongPath => "wrong path of a conditional branch",
            Reason::Fetches => "fetches of its own code",
            Reason::Configuration => "another configuration",
            Reason::Exception => "faults or exceptions",
            Reason::State(_) => "a state out of reach",
            Reason::Operands(_) => "operands in use",
            Reason::NothingToCount => "nothing to count",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::State(state) => write!(f, "{}: {state}", self.group()),
            Reason::Operands(step) => write!(f, "{}: {step}", self.group()),
            _ => f.write_str(self.group()),
        }
    }
}
