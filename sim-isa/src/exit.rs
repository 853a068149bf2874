//! The addresses at which a program may continue after an instruction word. Only branches of A64
//! matter; other words continue at the next word.

use crate::bits::signed;

/// The possible continuations after a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// To the next word: no branch.
    Next(u64),
    /// To the one target of a branch.
    To(u64),
    /// To the next word, or to the target of a branch.
    Either {
        /// Address of the next word.
        next: u64,
        /// Address of the target.
        target: u64,
    },
    /// Anywhere, by a register.
    Anywhere,
}

impl Exit {
    /// Returns the exit of `word` at `pc`.
    ///
    /// ```
    /// use sim_isa::Exit;
    /// let cbz = Exit::of(0x1000, 0xb400_0040); // CBZ X0, .+8
    /// assert_eq!(cbz, Exit::Either { next: 0x1004, target: 0x1008 });
    /// assert!(cbz.allows(0x1004) && !cbz.allows(0x100c));
    /// ```
    pub fn of(pc: u64, word: u32) -> Exit {
        let next = pc.wrapping_add(4);
        let target = |low: u32, bits: u32| pc.wrapping_add_signed(signed(word, low, bits) * 4);
        match word {
            // B, BL.
            w if w & 0x7c00_0000 == 0x1400_0000 => Exit::To(target(0, 26)),
            // B.cond, BC.cond; CBZ, CBNZ.
            w if w & 0xff00_0000 == 0x5400_0000 || w & 0x7e00_0000 == 0x3400_0000 => {
                Exit::Either { next, target: target(5, 19) }
            }
            // TBZ, TBNZ.
            w if w & 0x7e00_0000 == 0x3600_0000 => Exit::Either { next, target: target(5, 14) },
            // BR, BLR, RET, ERET and their authenticating forms.
            w if w & 0xfe00_0000 == 0xd600_0000 => Exit::Anywhere,
            _ => Exit::Next(next),
        }
    }

    /// Returns true if the program may continue at `pc`.
    #[inline]
    pub fn allows(self, pc: u64) -> bool {
        match self {
            Exit::Next(only) | Exit::To(only) => pc == only,
            Exit::Either { next, target } => pc == next || pc == target,
            Exit::Anywhere => true,
        }
    }

    /// Returns true for a branch, which ends a block even if it leads to the next word.
    #[inline]
    pub fn is_branch(self) -> bool {
        !matches!(self, Exit::Next(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_branch_form_allows_its_continuations_only() {
        let at = 0x1000;
        let cases: &[(u32, &[u64], &[u64])] = &[
            (0xd503_201f, &[0x1004], &[0x1000, 0x1008]),        // nop
            (0x1400_0002, &[0x1008], &[0x1004]),                // b +8
            (0x97ff_ffff, &[0x0ffc], &[0x1004]),                // bl -4
            (0x54ff_ffe0, &[0x0ffc, 0x1004], &[0x1008]),        // b.eq -4
            (0xb400_0040, &[0x1008, 0x1004], &[0x0ffc]),        // cbz x0, +8
            (0x3607_ffe0, &[0x0ffc, 0x1004], &[0x1008]),        // tbz w0, #0, -4
            (0xd65f_03c0, &[0x1004, 0xdead_0000, 0x1000], &[]), // ret
            (0xd400_0001, &[0x1004], &[0x1008]),                // svc #0
        ];
        for &(word, legal, illegal) in cases {
            let exit = Exit::of(at, word);
            assert!(legal.iter().all(|&pc| exit.allows(pc)), "{word:#x}");
            assert!(!illegal.iter().any(|&pc| exit.allows(pc)), "{word:#x}");
        }
    }

    #[test]
    fn exits_follow_the_branch_forms() {
        let (at, next) = (0x1000, 0x1004);
        assert_eq!(Exit::of(at, 0x1400_0002), Exit::To(0x1008)); // b +8
        assert_eq!(Exit::of(at, 0x97ff_ffff), Exit::To(0x0ffc)); // bl -4
        assert_eq!(Exit::of(at, 0x54ff_ffe0), Exit::Either { next, target: 0x0ffc }); // b.eq -4
        assert_eq!(Exit::of(at, 0xb400_0040), Exit::Either { next, target: 0x1008 }); // cbz x0, +8
        assert_eq!(Exit::of(at, 0xd65f_03c0), Exit::Anywhere); // ret
        assert_eq!(Exit::of(at, 0xd503_201f), Exit::Next(next)); // nop
        assert!(Exit::of(at, 0x1400_0001).is_branch()); // b +4
        assert!(!Exit::of(at, 0xd400_0001).is_branch()); // svc #0
    }
}
