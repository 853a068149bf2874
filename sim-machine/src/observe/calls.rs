//! Callers: how often each call was executed, and the cycles of the function that it entered.

use std::collections::BTreeMap;

use sim_core::BranchCourse;

/// Most different calls kept. Cycles after any other call count for its caller.
pub const MOST: usize = 4096;
/// Most nested calls of a thread that are followed; the outermost are dropped.
const DEPTH_MAX: usize = 4096;
/// Size of an instruction in bytes.
const INST_BYTES: u64 = 4;

/// Call from one place to one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Address of the call.
    pub site: u64,
    /// Address that it enters.
    pub target: u64,
    /// Number of executions.
    pub calls: u64,
    /// Cycles between call and return, without those of inner calls. A call that has not returned
    /// has them up to the end of the counted part.
    pub cycles: u64,
}

/// Calls of a run.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    all: Vec<Call>,
    numbers: BTreeMap<(u64, u64), u32>,
    /// Last call that was looked up, because calls in loops repeat.
    last: u32,
}

impl Calls {
    /// Returns all calls, in the order of their first executions.
    pub fn all(&self) -> &[Call] {
        &self.all
    }

    /// Returns the number of a call; `None` if there are too many.
    fn number(&mut self, site: u64, target: u64) -> Option<u32> {
        let is_last = |call: &Call| (call.site, call.target) == (site, target);
        if self.all.get(self.last as usize).is_some_and(is_last) {
            return Some(self.last);
        }
        let next = self.all.len();
        let number = match self.numbers.get(&(site, target)) {
            Some(number) => *number,
            None if next == MOST => return None,
            None => {
                self.all.push(Call { site, target, calls: 0, cycles: 0 });
                self.numbers.insert((site, target), next as u32);
                next as u32
            }
        };
        self.last = number;
        Some(number)
    }
}

/// Position of one core in its calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Position {
    /// Return address and number of each call that has not returned, the innermost last.
    open: Vec<(u64, Option<u32>)>,
    /// Cycles since the last call or return.
    cycles: u64,
}

impl Position {
    #[inline]
    pub(crate) fn pass(&mut self, cycles: u64) {
        self.cycles += cycles;
    }

    /// Follows a branch of the correct path.
    #[inline]
    pub(crate) fn branch(
        &mut self,
        pc: u64,
        branch: BranchCourse,
        is_counted: bool,
        calls: &mut Calls,
    ) {
        if branch.call {
            self.call(pc, branch.target, is_counted, calls);
        } else if branch.function_return {
            self.return_to(branch.target, calls);
        }
    }

    fn call(&mut self, pc: u64, target: Option<u64>, is_counted: bool, calls: &mut Calls) {
        self.charge(calls);
        let Some(target) = target else { return };
        if self.open.len() == DEPTH_MAX {
            self.open.drain(..DEPTH_MAX / 2);
        }
        let number = calls.number(pc, target);
        if let (Some(number), true) = (number, is_counted) {
            calls.all[number as usize].calls += 1;
        }
        self.open.push((pc.wrapping_add(INST_BYTES), number));
    }

    /// Ends the call that returns to `target`, and all calls inside it. A return to any other
    /// address ends none.
    fn return_to(&mut self, target: Option<u64>, calls: &mut Calls) {
        self.charge(calls);
        if let Some(at) = self.open.iter().rposition(|(back, _)| Some(*back) == target) {
            self.open.truncate(at);
        }
    }

    /// Adds the cycles since the last call or return to the innermost call.
    pub(crate) fn charge(&mut self, calls: &mut Calls) {
        let cycles = std::mem::take(&mut self.cycles);
        if let Some(number) = self.open.iter().rev().find_map(|(_, number)| *number) {
            calls.all[number as usize].cycles += cycles;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(target: u64) -> BranchCourse {
        BranchCourse { call: true, target: Some(target), ..BranchCourse::default() }
    }

    fn back(target: u64) -> BranchCourse {
        let target = Some(target);
        BranchCourse { function_return: true, target, ..BranchCourse::default() }
    }

    #[test]
    fn cycles_belong_to_the_innermost_call() {
        let (mut at, mut calls) = (Position::default(), Calls::default());
        at.pass(1);
        at.branch(0x100, call(0x800), true, &mut calls);
        at.pass(10);
        at.branch(0x804, call(0x900), true, &mut calls);
        at.pass(100);
        at.branch(0x90c, back(0x808), true, &mut calls);
        at.pass(1000);
        at.branch(0x80c, back(0x104), true, &mut calls);
        at.branch(0x100, call(0x800), true, &mut calls);
        at.pass(5);
        at.branch(0x80c, back(0x104), true, &mut calls);
        let outer = Call { site: 0x100, target: 0x800, calls: 2, cycles: 1015 };
        let inner = Call { site: 0x804, target: 0x900, calls: 1, cycles: 100 };
        assert_eq!(calls.all(), [outer, inner]);
        assert!(at.open.is_empty());
    }

    #[test]
    fn a_call_that_does_not_return_has_its_cycles_up_to_the_end() {
        let (mut at, mut calls) = (Position::default(), Calls::default());
        at.branch(0x100, call(0x800), true, &mut calls);
        at.pass(10);
        at.charge(&mut calls);
        assert_eq!(calls.all(), [Call { site: 0x100, target: 0x800, calls: 1, cycles: 10 }]);
    }

    #[test]
    fn memory_is_bounded() {
        let (mut at, mut calls) = (Position::default(), Calls::default());
        for n in 0..2 * MOST as u64 {
            at.branch(4 * n, call(0x10_0000), true, &mut calls);
            at.pass(1);
        }
        assert_eq!(calls.all().len(), MOST);
        assert!(at.open.len() <= DEPTH_MAX);
    }
}
