//! Exception level of the program, from the exceptions of the trace and their returns.

use sim_core::Privilege;

use crate::event::A53Note;

/// Most exceptions whose return level is kept. Beyond it, the oldest is dropped.
const MAX_NESTED: usize = 16;

/// Level of the program, and the levels to which it returns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Levels {
    now: Privilege,
    returns: Vec<Privilege>,
    /// The kernel has the upper half of the addresses and programs the lower half.
    kernel_is_above: bool,
}

impl Levels {
    /// Returns the level.
    pub(crate) fn now(&self) -> Privilege {
        self.now
    }

    /// Follows a step of the program. Returns the level from now on; `None` if the step is an
    /// access to a register, which changes none.
    pub(crate) fn follow(&mut self, note: A53Note) -> Option<Privilege> {
        match note {
            A53Note::Begin { pc } => self.begin(pc),
            A53Note::Enter(to) => self.enter(to),
            A53Note::Return { next } => self.leave(next),
            A53Note::Register(_) => return None,
        }
        Some(self.now)
    }

    /// Begins a stream with a kernel at the address `pc`.
    fn begin(&mut self, pc: u64) {
        self.kernel_is_above = true;
        self.now = Privilege { level: level_of(pc), ..Privilege::default() };
    }

    /// Takes an exception to a level; `None` takes it to the kernel, or to the same level above it.
    fn enter(&mut self, to: Option<Privilege>) {
        if self.returns.len() == MAX_NESTED {
            self.returns.remove(0);
        }
        self.returns.push(self.now);
        self.now = to.unwrap_or(Privilege { level: self.now.level.max(1), ..self.now });
    }

    /// Returns from an exception to the address `next`. A kernel may return to another program than
    /// the one that it interrupted, so that its address decides.
    fn leave(&mut self, next: Option<u64>) {
        let resumed = next.filter(|_| self.kernel_is_above && self.now.level == 1);
        self.now = self.returns.pop().unwrap_or_else(|| {
            let below = self.now.level.saturating_sub(1);
            Privilege { level: if self.now.is_local() { 0 } else { below }, ..self.now }
        });
        if let Some(pc) = resumed {
            self.now.level = level_of(pc);
        }
    }
}

fn level_of(pc: u64) -> u8 {
    (pc >> 63) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(level: u8) -> Option<Privilege> {
        Some(Privilege { level, ..Privilege::default() })
    }

    #[test]
    fn returns_go_back_through_the_levels() {
        let mut levels = Levels::default();
        let mut seen = Vec::new();
        for step in [at(1), at(3), None, at(0), at(0), at(0)] {
            match step {
                Some(to) if to.level == 0 => levels.leave(Some(0x1000)),
                to => levels.enter(to),
            }
            seen.push(levels.now().level);
        }
        assert_eq!(seen, [1, 3, 3, 3, 1, 0]);
    }

    #[test]
    fn a_kernel_returns_to_the_half_of_the_next_address() {
        let mut levels = Levels::default();
        levels.begin(0xFFFF_8000_0000_0000);
        assert_eq!(levels.now().level, 1);
        levels.leave(Some(0x1000));
        assert_eq!(levels.now().level, 0);
        levels.enter(None);
        levels.enter(at(1));
        levels.leave(Some(0x2000));
        assert_eq!(levels.now().level, 0, "another program was chosen");
    }

    #[test]
    fn deep_nesting_forgets_the_oldest_level() {
        let mut levels = Levels::default();
        (0..20).for_each(|_| levels.enter(at(1)));
        (0..16).for_each(|_| levels.leave(None));
        assert_eq!((levels.now().level, levels.returns.len()), (1, 0));
        levels.leave(None);
        assert_eq!(levels.now().level, 0);
    }
}
