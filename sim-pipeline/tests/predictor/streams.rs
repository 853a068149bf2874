//! Pseudorandom streams of branches, generated from a seed.

use sim_isa::BranchKind;
use sim_pipeline::branch::Branch;

/// Branch that ran, and the address at which the program continued.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) branch: Branch,
    pub(crate) next: u64,
}

/// Xorshift generator: the same numbers on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) | 1)
    }

    /// Returns a number below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % limit
    }

    /// Returns `true` in `percent` of 100 cases.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

fn conditional(pc: u64, taken: bool) -> Step {
    let branch = Branch { pc, kind: BranchKind::Conditional, target: pc + 0x40 };
    Step { branch, next: if taken { branch.target } else { pc + 4 } }
}

fn to_target(pc: u64, kind: BranchKind, target: u64) -> Step {
    Step { branch: Branch { pc, kind, target }, next: target }
}

fn indirect(pc: u64, kind: BranchKind, next: u64) -> Step {
    Step { branch: Branch { pc, kind, target: 0 }, next }
}

/// Returns nested loops. Each inner loop has its own constant trip count.
pub(crate) fn loops(count: usize, _random: &mut Random) -> Vec<Step> {
    let mut steps = Vec::new();
    while steps.len() < count {
        for (inner, trips) in [3_u64, 7, 12, 2].into_iter().enumerate() {
            let pc = 0x1_0000 + 0x84 * inner as u64;
            (1..=trips).for_each(|trip| steps.push(conditional(pc, trip < trips)));
        }
        steps.push(to_target(0x1_0300, BranchKind::Direct, 0x1_0000));
    }
    steps
}

/// Returns conditions that depend on earlier ones: the same, the opposite, the exclusive or of two.
pub(crate) fn correlated(count: usize, random: &mut Random) -> Vec<Step> {
    let mut steps = Vec::new();
    while steps.len() < count {
        let (a, b) = (random.chance(50), random.chance(70));
        let directions = [a, b, a, !b, a ^ b, true, a & b];
        let pcs = (0..).map(|i| 0x2_0000 + 0x1c * i);
        steps.extend(pcs.zip(directions).map(|(pc, taken)| conditional(pc, taken)));
    }
    steps
}

/// Returns conditions with a bias each, without a pattern.
pub(crate) fn biased(count: usize, random: &mut Random) -> Vec<Step> {
    let step = |_| {
        let number = random.below(12);
        conditional(0x3_0000 + 12 * number, random.chance(8 * number + 5))
    };
    (0..count).map(step).collect()
}

/// Returns indirect branches: two alternating targets, a long cycle of targets, one target with
/// exceptions, and conditions that depend on the last target.
pub(crate) fn dispatch(count: usize, random: &mut Random) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut round = 0_u64;
    while steps.len() < count {
        round += 1;
        let target = |number: u64| 0x5_0000 + 0x24 * number;
        steps.push(indirect(0x4_0000, BranchKind::Indirect, target(round % 2)));
        steps.push(indirect(0x4_0010, BranchKind::IndirectCall, target(round * round % 23)));
        let exception = if random.chance(85) { 0 } else { 1 + random.below(6) };
        steps.push(indirect(0x4_0020, BranchKind::Indirect, target(exception)));
        steps.push(conditional(0x4_0030, exception.is_multiple_of(2)));
        let number = random.below(9);
        steps.push(indirect(0x4_0040 + 4 * random.below(5), BranchKind::Indirect, target(number)));
        steps.push(conditional(0x4_0080, number & 1 == 1));
    }
    steps
}

/// Returns direct and indirect calls, deeper than the return stack, and returns, of which some do
/// not return to their call.
pub(crate) fn calls(count: usize, random: &mut Random) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut callers = Vec::new();
    while steps.len() < count {
        let pc = 0x6_0000 + 0x14 * random.below(40);
        let may_call = callers.len() < 24;
        match random.below(5) {
            0 if may_call => {
                callers.push(pc);
                steps.push(to_target(pc, BranchKind::Call, 0x7_0000 + (pc & 0xfff)));
            }
            1 if may_call => {
                callers.push(pc);
                let next = 0x7_0000 + 0x40 * random.below(3);
                steps.push(indirect(pc, BranchKind::IndirectCall, next));
            }
            2 | 3 => {
                let caller = callers.pop().filter(|_| random.chance(95)).unwrap_or(0x6_1000);
                let pc = 0x7_0020 + 0x40 * random.below(3);
                steps.push(indirect(pc, BranchKind::Return, caller + 4));
            }
            _ => steps.push(conditional(pc + 8, random.chance(60))),
        }
    }
    steps
}

/// Returns the kind of the branch at a position. It changes with time, as when code is overwritten.
fn kind_at(place: u64, time: u64) -> BranchKind {
    use BranchKind::{Call, Conditional, Direct, ExceptionReturn, Indirect, Return};
    let kinds = [Direct, Conditional, Direct, Call, Conditional, Indirect, Return, Direct];
    match (place * 5 + time / 200 * 3) % 41 {
        40 => ExceptionReturn,
        number => kinds[number as usize % kinds.len()],
    }
}

/// Returns branches close together in a few regions: pairs, gaps in the stream, and code that
/// changes.
pub(crate) fn crowded(count: usize, random: &mut Random) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    while steps.len() < count {
        let time = steps.len() as u64;
        // Most branches follow shortly after the last target, some before it, some anywhere.
        let place = match steps.last() {
            Some(last) if random.chance(80) => last.next / 4 % 64 + random.below(6),
            _ => random.below(64),
        } % 64;
        let pc = 0x8_0000 + 4 * place;
        let kind = kind_at(place, time);
        let target = 0x8_0000 + 4 * ((place * 29 + 11) % 64);
        steps.push(match kind {
            BranchKind::Conditional => {
                let branch = Branch { pc, kind, target };
                Step { branch, next: if random.chance(50) { target } else { pc + 4 } }
            }
            BranchKind::Direct | BranchKind::Call => to_target(pc, kind, target),
            _ => indirect(pc, kind, target + 8 * random.below(2)),
        });
    }
    steps
}
