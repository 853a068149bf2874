//! Counts of each call of each function of a recorded program.

use sim_core::{Counts, DeferredSink, EventSink, InstId, Notice, PartOfInst, PmuEvent};
use sim_trace::Meta;

/// Part of the program that belongs to no function.
const OUTSIDE: u32 = u32::MAX - 1;
/// Part of code that is far from the program's own: what a function calls in the memory of the
/// cases belongs to its call.
const CALLED: u32 = u32::MAX - 2;
/// Distance of such code, in bytes; no program of cases is as long.
const FAR: u64 = 256 << 20;

/// Calls of each function before those that are counted: a trial, and one that fills the
/// predictors.
pub(crate) const TRIALS: usize = 2;

/// Sink that keeps the counts of each call of each function.
#[derive(Clone, Debug)]
pub(crate) struct CallCounts {
    /// First address and end of each function, and its number, in the order of addresses.
    ranges: Vec<(u64, u64, u32)>,
    /// The function of each static instruction.
    of_inst: PartOfInst,
    /// Counts of each call of each function.
    calls: Vec<Vec<Counts>>,
    current: u32,
    /// The core that the next counts are of. Functions are counted on the first one.
    core: usize,
    /// Receives what belongs to no function.
    rest: Counts,
}

impl CallCounts {
    /// Returns a sink for a program with these functions, as `[first, end)`.
    pub(crate) fn new(functions: impl IntoIterator<Item = (u64, u64)>) -> CallCounts {
        let numbered = functions.into_iter().zip(0..);
        let mut ranges: Vec<_> =
            numbered.map(|((first, end), number)| (first, end, number)).collect();
        let calls = vec![Vec::new(); ranges.len()];
        ranges.sort_unstable();
        CallCounts {
            ranges,
            of_inst: PartOfInst::default(),
            calls,
            current: OUTSIDE,
            core: 0,
            rest: Counts::default(),
        }
    }

    /// Returns the counts of each call of a function but the first [`TRIALS`].
    pub(crate) fn counted(&self, function: usize) -> &[Counts] {
        self.calls.get(function).and_then(|calls| calls.get(TRIALS..)).unwrap_or_default()
    }

    fn target(&mut self) -> &mut Counts {
        match self.calls.get_mut(self.current as usize).and_then(|calls| calls.last_mut()) {
            Some(counts) if self.core == 0 => counts,
            _ => &mut self.rest,
        }
    }
}

/// Returns the addresses of a function that the trace names, as `[first, end)`.
pub(crate) fn function(meta: &Meta, name: &str) -> Option<(u64, u64)> {
    let symbol = meta.symbol(name)?;
    Some((symbol.addr, symbol.addr.checked_add(symbol.size)?))
}

/// Returns the number of the function at this address.
fn function_at(ranges: &[(u64, u64, u32)], pc: u64) -> u32 {
    let after = ranges.partition_point(|(first, ..)| *first <= pc);
    let before = after.checked_sub(1).map(|at| ranges[at]);
    let is_near = |(first, ..): &(u64, u64, u32)| pc.abs_diff(*first) < FAR;
    let outside = if ranges.first().is_none_or(is_near) { OUTSIDE } else { CALLED };
    before.filter(|(_, end, _)| pc < *end).map_or(outside, |(.., number)| number)
}

impl EventSink for CallCounts {
    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        self.target().count(event, n);
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Core(core) => self.core = core,
            // What a wrong path counts belongs to the function whose branch led there.
            Notice::Part { part, on_wrong_path: false } if self.core == 0 && part != CALLED => {
                if part != self.current && part != OUTSIDE {
                    self.calls[part as usize].push(Counts::default());
                }
                self.current = part;
            }
            _ => {}
        }
    }
}

impl DeferredSink for CallCounts {
    const ATTRIBUTES: bool = true;

    fn cycles_to_deadline(&self) -> u64 {
        u64::MAX
    }

    #[inline]
    fn part_of(&mut self, inst: InstId, pc: u64) -> u32 {
        let ranges = &self.ranges;
        self.of_inst.get(inst, || function_at(ranges, pc))
    }

    fn count_all(&mut self, sum: &Counts) {
        self.target().add(sum);
    }
}
