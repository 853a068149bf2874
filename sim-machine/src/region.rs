//! Counted part of a run: warm-up, limit, region of interest.

use crate::error::MachineError;
use sim_isa::Program;
use sim_trace::Meta;

/// Start or end of a region of interest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Marker {
    /// A `HINT #n` instruction, which is not counted itself.
    Hint(u32),
    /// First instruction of a function.
    Symbol(String),
}

/// Region of interest. It begins after a hint or with a symbol, and ends before `end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roi {
    /// Start of counting.
    pub begin: Marker,
    /// End of counting.
    pub end: Marker,
}

/// Counted part of each thread; by default the whole thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunOptions {
    /// Number of instructions that only warm the machine.
    pub warmup: u64,
    /// Number of instructions to count before the thread stops.
    pub limit: Option<u64>,
    /// Markers between which instructions are counted.
    pub roi: Option<Roi>,
}

impl RunOptions {
    /// Returns the number of the first instruction that no thread runs.
    pub(crate) fn last_instruction(&self) -> u64 {
        match (&self.roi, self.limit) {
            (None, Some(limit)) => self.warmup.saturating_add(limit),
            _ => u64::MAX,
        }
    }

    /// Returns true if a thread may stop before [`RunOptions::last_instruction`].
    pub(crate) fn may_stop_sooner(&self) -> bool {
        self.roi.is_some() && self.limit.is_some()
    }
}

impl std::fmt::Display for Marker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Marker::Hint(number) => write!(f, "HINT #{number}"),
            Marker::Symbol(name) => write!(f, "function {name}"),
        }
    }
}

/// Marker in the form that is compared with each instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Word(u32),
    Address(u64),
}

/// Returns the instruction word of `HINT #number`.
pub const fn hint_word(number: u32) -> u32 {
    0xD503_201F | (number & 0x7F) << 5
}

impl Mark {
    fn resolve(marker: &Marker, meta: &Meta, trace: &str) -> Result<Mark, MachineError> {
        match marker {
            Marker::Hint(number) => Ok(Mark::Word(hint_word(*number))),
            Marker::Symbol(name) => {
                meta.symbol(name).map(|symbol| Mark::Address(symbol.addr)).ok_or_else(|| {
                    let known = meta.symbols.len();
                    let (trace, name) = (trace.to_owned(), name.clone());
                    MachineError::UnknownSymbol { trace, name, known }
                })
            }
        }
    }

    fn is_at(self, id: u32, program: &Program) -> bool {
        match self {
            Mark::Word(word) => program.inst(id).word == word,
            Mark::Address(address) => program.pc(id) == address,
        }
    }
}

/// Change of counting around the next instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// No change.
    None,
    /// Counting begins before the instruction.
    OpenBefore,
    /// Counting begins after the instruction.
    OpenAfter,
    /// Counting ends before the instruction.
    CloseBefore,
    /// Counting ends before the instruction and the thread stops.
    Stop,
}

/// Decides for each instruction of one thread whether counting begins or ends.
#[derive(Clone, Debug)]
pub(crate) struct RegionWatch {
    warmup: u64,
    limit: u64,
    roi: Option<(Mark, Mark)>,
    /// Instructions of warm-up left.
    warming: u64,
    counted: u64,
    open: bool,
    ever_open: bool,
    /// Number of instructions before the next possible change.
    quiet: u64,
    /// The thread continues after the limit, so the pipeline does not drain there.
    goes_on: bool,
}

impl RegionWatch {
    /// Resolves the markers with the symbols of the trace.
    pub(crate) fn new(
        options: &RunOptions,
        meta: &Meta,
        trace: &str,
    ) -> Result<RegionWatch, MachineError> {
        let roi = match &options.roi {
            Some(roi) => Some((
                Mark::resolve(&roi.begin, meta, trace)?,
                Mark::resolve(&roi.end, meta, trace)?,
            )),
            None => None,
        };
        Ok(RegionWatch {
            warmup: options.warmup,
            limit: options.limit.unwrap_or(u64::MAX),
            roi,
            warming: options.warmup,
            counted: 0,
            open: false,
            ever_open: false,
            quiet: 0,
            goes_on: false,
        })
    }

    /// Creates a watch for instructions of which none is counted.
    pub(crate) fn uncounted() -> RegionWatch {
        RegionWatch { quiet: u64::MAX, ..RegionWatch::window(0, u64::MAX) }
    }

    /// Creates a watch for instructions that are all counted, after counting has begun.
    pub(crate) fn counted() -> RegionWatch {
        RegionWatch {
            open: true,
            ever_open: true,
            quiet: u64::MAX,
            ..RegionWatch::window(0, u64::MAX)
        }
    }

    /// Creates a watch for a window after which the thread continues.
    pub(crate) fn window(warmup: u64, length: u64) -> RegionWatch {
        RegionWatch {
            warmup,
            limit: length,
            roi: None,
            warming: warmup,
            counted: 0,
            open: false,
            ever_open: false,
            quiet: 0,
            goes_on: true,
        }
    }

    /// Returns true if the thread continues after the limit.
    pub(crate) fn goes_on(&self) -> bool {
        self.goes_on
    }

    /// Returns true once counting has begun.
    pub(crate) fn ever_open(&self) -> bool {
        self.ever_open
    }

    /// Returns the change at the next instruction. Must be called once for each instruction.
    #[inline]
    pub(crate) fn before(&mut self, id: u32, program: &Program) -> Change {
        if self.quiet > 0 {
            self.quiet -= 1;
            return Change::None;
        }
        self.look(id, program)
    }

    /// Passes up to `most` instructions that precede any change. Returns their number.
    #[inline]
    pub(crate) fn pass_quiet(&mut self, most: usize) -> usize {
        let passed = self.quiet.min(most as u64);
        self.quiet -= passed;
        passed as usize
    }

    /// Returns the change at an instruction and finds how many later ones change nothing.
    fn look(&mut self, id: u32, program: &Program) -> Change {
        let change = self.change(id, program);
        match change {
            Change::OpenBefore => {
                (self.open, self.ever_open, self.counted) = (true, true, self.counted + 1);
            }
            Change::OpenAfter => (self.open, self.ever_open) = (true, true),
            Change::CloseBefore | Change::Stop => self.open = false,
            Change::None => self.counted += u64::from(self.open),
        }
        if self.open && self.roi.is_none() {
            self.quiet = self.limit.saturating_sub(self.counted);
            self.counted += self.quiet;
        }
        change
    }

    fn change(&mut self, id: u32, program: &Program) -> Change {
        if self.open {
            if self.counted >= self.limit {
                return Change::Stop;
            }
            let ends = self.roi.is_some_and(|(_, end)| end.is_at(id, program));
            return if ends { Change::CloseBefore } else { Change::None };
        }
        if self.counted >= self.limit {
            return Change::Stop;
        }
        if self.warming > 0 {
            self.warming -= 1;
            return Change::None;
        }
        match self.roi {
            None => Change::OpenBefore,
            Some((begin @ Mark::Word(_), _)) if begin.is_at(id, program) => Change::OpenAfter,
            Some((begin @ Mark::Address(_), _)) if begin.is_at(id, program) => Change::OpenBefore,
            Some(_) => Change::None,
        }
    }

    /// Returns the requested number of warm-up instructions.
    pub(crate) fn warmup(&self) -> u64 {
        self.warmup
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOP: u32 = 0xD503_201F;

    /// Returns the positions of the counted instructions in a stream of words.
    fn counted(words: &[u32], options: &RunOptions) -> Vec<usize> {
        let mut program = Program::new();
        let mut watch = RegionWatch::new(options, &Meta::default(), "t").expect("no symbols");
        let mut open = false;
        let mut counted = Vec::new();
        for (i, word) in words.iter().enumerate() {
            let id = program.intern(4 * i as u64, *word);
            match watch.before(id, &program) {
                Change::None => counted.extend(open.then_some(i)),
                Change::OpenBefore => {
                    open = true;
                    counted.push(i);
                }
                Change::OpenAfter => open = true,
                Change::CloseBefore => open = false,
                Change::Stop => break,
            }
        }
        counted
    }

    #[test]
    fn everything_is_counted_by_default() {
        assert_eq!(counted(&[NOP; 3], &RunOptions::default()), [0, 1, 2]);
    }

    #[test]
    fn warm_up_and_limit_select_the_middle_of_a_stream() {
        let options = RunOptions { warmup: 2, limit: Some(3), roi: None };
        assert_eq!(counted(&[NOP; 9], &options), [2, 3, 4]);
    }

    #[test]
    fn only_instructions_between_the_markers_are_counted() {
        // HINT #40 and HINT #41.
        let [begin, end] = [0xD503_251F, 0xD503_253F];
        assert_eq!([hint_word(40), hint_word(41)], [begin, end]);
        let words = [NOP, begin, NOP, NOP, end, NOP, begin, NOP, end];
        let roi = Roi { begin: Marker::Hint(40), end: Marker::Hint(41) };
        let options = RunOptions { roi: Some(roi), ..RunOptions::default() };
        assert_eq!(counted(&words, &options), [2, 3, 7]);
    }
}
