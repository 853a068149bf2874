//! Rebuilds the addresses of `DC`, `IC` and `PRFM`, which engines without register values do not
//! report.
//!
//! Register values are followed forward over the last few blocks: a base register becomes known at
//! an ordinary access with a reported address, or where the code itself has its value (`ADRP`, a
//! literal beside the instructions), and stays known through moves, additions and masks. Every
//! later access through a known register checks the prediction.

use super::code::Code;
use super::known_memory::KnownMemory;
use sim_isa::{AddressOperand, Addressing, GeneralRegister, LiteralKind, RegisterEffect, Writes};

/// Number of general registers, SP among them.
const REGISTERS: usize = 32;
const SP: usize = 31;
/// Number of the system call that returns from a signal's handler.
const RT_SIGRETURN: u64 = 139;
/// Bytes that an access of an unknown form writes at most.
const UNKNOWN_BYTES: u64 = 64;

/// The known values of the general registers.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownRegisters {
    values: [Option<u64>; REGISTERS],
    /// Addresses of pointers in memory that registers are copies of.
    origins: [Option<u64>; REGISTERS],
    memory: KnownMemory,
    /// No other thread writes to memory.
    pub(crate) is_alone: bool,
    /// Accesses whose base was known before.
    pub(crate) checked: u64,
    /// The number of wrong ones among the checked values.
    pub(crate) wrong: u64,
}

impl KnownRegisters {
    /// Forgets all values, keeps the statistics.
    pub(crate) fn forget(&mut self) {
        self.values = [None; REGISTERS];
        self.forget_memory();
    }

    fn forget_memory(&mut self) {
        self.origins = [None; REGISTERS];
        self.memory.clear();
    }

    /// Returns the value of X`n`; 31 is the zero register.
    pub(crate) fn x(&self, n: usize) -> Option<u64> {
        if n == SP { Some(0) } else { self.values[n] }
    }

    /// Returns the value of X`n`; 31 is SP.
    fn x_or_sp(&self, n: usize) -> Option<u64> {
        self.values[n]
    }

    /// Returns the address of `word` at `pc`, of the kind that engines do not report, if it is
    /// known.
    pub(crate) fn operand(&self, pc: u64, word: u32) -> Option<u64> {
        AddressOperand::of(word)?.value(pc, |n| self.x(n as usize), |n| self.x_or_sp(n as usize))
    }

    /// Sets X`n`; 31 is the zero register.
    fn set_x(&mut self, n: usize, value: Option<u64>) {
        if n != SP {
            self.set(n, value);
        }
    }

    /// Sets X`n`; 31 is SP.
    fn set(&mut self, n: usize, value: Option<u64>) {
        (self.values[n], self.origins[n]) = (value, None);
    }

    /// Learns the value of X`n` (31 is SP), and of the pointer in memory that it is a copy of.
    pub(crate) fn learn(&mut self, n: usize, value: u64) {
        if let Some(known) = self.values[n] {
            self.checked += 1;
            self.wrong += u64::from(known != value);
        }
        self.values[n] = Some(value);
        let Some(origin) = self.origins[n] else { return };
        self.memory.set(origin, value);
        for other in 0..REGISTERS {
            if self.origins[other] == Some(origin) {
                self.values[other] = Some(value);
            }
        }
    }

    /// Forgets the general registers that `word` writes.
    fn forget_written(&mut self, word: u32) {
        for register in sim_isa::decode(word).dsts() {
            if usize::from(register.0) < REGISTERS {
                self.set(register.0.into(), None);
            }
        }
    }

    /// Follows one executed instruction of `code`; `addr` is its reported address.
    pub(crate) fn step(&mut self, pc: u64, word: u32, addr: Option<u64>, code: &Code) {
        match RegisterEffect::of(word) {
            RegisterEffect::Nothing => {}
            RegisterEffect::Set { to, value } => {
                let value = value.evaluate(pc, |n| self.values[n]);
                self.assign(to, value);
            }
            RegisterEffect::Copy { to, from } => {
                let (value, origin) = (self.values[from], self.origins[from]);
                self.assign(to, value);
                // The original may be a copy of a pointer in memory itself.
                if let Some(to) = to {
                    self.origins[to] = origin;
                }
            }
            RegisterEffect::Literal { to, offset, kind } => {
                self.assign(to, literal(pc.wrapping_add_signed(offset), kind, code));
            }
            RegisterEffect::Call => self.set_x(30, Some(pc.wrapping_add(4))),
            RegisterEffect::SupervisorCall => self.supervisor_call(),
            RegisterEffect::Access(form) => self.access(&form, addr),
            RegisterEffect::Unknown(writes) => {
                self.forget_written(word);
                match writes {
                    Writes::Nothing => {}
                    Writes::AtAddress => self.written(addr, UNKNOWN_BYTES),
                    Writes::Anywhere => self.forget_memory(),
                }
            }
        }
    }

    /// Sets a register, unless it is the zero register.
    fn assign(&mut self, to: GeneralRegister, value: Option<u64>) {
        if let Some(to) = to {
            self.set(to, value);
        }
    }

    fn supervisor_call(&mut self) {
        // The kernel may write to memory; the return of a signal brings other registers.
        match self.values[8] {
            Some(number) if number != RT_SIGRETURN => self.set_x(0, None),
            _ => self.values = [None; REGISTERS],
        }
        self.forget_memory();
    }

    fn access(&mut self, form: &Addressing, addr: Option<u64>) {
        let base = form.base;
        if let Some(addr) = addr {
            self.learn(base, addr.wrapping_add_signed(-form.offset));
        }
        if form.written > 0 {
            self.written(addr, form.written);
        }
        let stored = form.whole.map(|register| register.and_then(|register| self.x(register)));
        match form.update {
            Some(0) => {}
            Some(update) => {
                let moved = self.values[base].map(|value| value.wrapping_add_signed(update));
                self.set(base, moved);
            }
            None => self.set(base, None),
        }
        for register in form.loaded.into_iter().flatten() {
            self.set_x(register, None);
        }
        if let Some(addr) = addr.filter(|_| self.is_alone) {
            self.pointers(form, addr, stored);
        }
    }

    /// Handles a write of bytes at `addr`, or at an unknown address.
    fn written(&mut self, addr: Option<u64>, bytes: u64) {
        let Some(addr) = addr else { return self.forget_memory() };
        self.memory.forget(addr, bytes);
        for origin in &mut self.origins {
            // The distance wraps where the pointer is in front.
            let is_hit = |at: u64| at.wrapping_sub(addr) < bytes || addr.wrapping_sub(at) < 8;
            *origin = origin.filter(|at| !is_hit(*at));
        }
    }

    /// Handles whole registers that were loaded from `addr`, or stored there with the values
    /// `stored`.
    fn pointers(&mut self, form: &Addressing, addr: u64, stored: [Option<u64>; 2]) {
        for (place, register) in form.whole.into_iter().enumerate() {
            let Some(register) = register else { continue };
            let at = addr.wrapping_add(8 * place as u64);
            if form.written > 0 {
                if let Some(value) = stored[place] {
                    self.memory.set(at, value);
                }
            } else {
                self.set_x(register, self.memory.get(at));
            }
            // A base that the access moved is a copy no more.
            let is_moved = form.update != Some(0) && register == form.base;
            if register != SP && at.is_multiple_of(8) && !is_moved {
                self.origins[register] = Some(at);
            }
        }
    }
}

/// Returns the literal at `addr`, if it is known.
fn literal(addr: u64, kind: LiteralKind, code: &Code) -> Option<u64> {
    let word = || code.bytes(addr).map(u32::from_le_bytes);
    match kind {
        LiteralKind::Word => word().map(u64::from),
        LiteralKind::SignedWord => {
            word().map(|value| i64::from(value.cast_signed()).cast_unsigned())
        }
        LiteralKind::DoubleWord => code.bytes(addr).map(u64::from_le_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_isa::Special;

    fn run(program: &[(u32, Option<u64>)]) -> KnownRegisters {
        let mut registers = KnownRegisters { is_alone: true, ..KnownRegisters::default() };
        let mut code = Code::default();
        let literals = [0u64, 0x8000, 0xffff_fff0].iter().flat_map(|word| word.to_le_bytes());
        code.page(0x1000, literals.collect());
        for (index, &(word, addr)) in program.iter().enumerate() {
            registers.step(0x1000 + 4 * index as u64, word, addr, &code);
        }
        registers
    }

    #[test]
    fn a_base_is_learned_from_an_access_and_kept_through_arithmetic() {
        let registers = run(&[
            (0xf940_0c01, Some(0x8018)), // ldr x1, [x0, #24]
            (0x9101_0002, None),         // add x2, x0, #0x40
            (0x927a_e443, None),         // and x3, x2, #~0x3f
            (0xaa03_03e4, None),         // mov x4, x3
            (0xd100_4084, None),         // sub x4, x4, #0x10
        ]);
        assert_eq!(registers.x(0), Some(0x8000));
        assert_eq!(registers.x(1), None);
        assert_eq!(registers.x(2), Some(0x8040));
        assert_eq!(registers.x(3), Some(0x8040));
        assert_eq!(registers.x(4), Some(0x8030));
    }

    #[test]
    fn the_bytes_of_memset_lead_to_its_zeroed_lines() {
        let registers = run(&[
            (0x4e01_0c20, None),         // dup v0.16b, w1
            (0xad00_0000, Some(0x9010)), // stp q0, q0, [x0]
            (0x927a_e403, None),         // and x3, x0, #~0x3f
            (0x9101_0063, None),         // add x3, x3, #0x40
        ]);
        assert_eq!(registers.x(3), Some(0x9040));
    }

    #[test]
    fn a_literal_beside_the_code_is_known() {
        let registers = run(&[
            (0x5800_0040, Some(0x1008)), // ldr x0, .+8
            (0x1800_0061, Some(0x1010)), // ldr w1, .+12
            (0x9800_0042, Some(0x1010)), // ldrsw x2, .+8
            (0x5800_0ae3, Some(0x1168)), // ldr x3, of an unknown page
        ]);
        assert_eq!(registers.x(0), Some(0x8000));
        assert_eq!(registers.x(1), Some(0xffff_fff0));
        assert_eq!(registers.x(2), Some(0xffff_ffff_ffff_fff0));
        assert_eq!(registers.x(3), None);
    }

    #[test]
    fn operands_of_preloads_and_maintenance_are_where_their_registers_say() {
        let registers = run(&[
            (0xf940_0c01, Some(0x8018)), // ldr x1, [x0, #24]
            (0xd280_0042, None),         // mov x2, #2
        ]);
        assert_eq!(registers.operand(0x1000, 0xf980_0400), Some(0x8008)); // prfm [x0, #8]
        assert_eq!(registers.operand(0x1000, 0xf89f_8000), Some(0x7ff8)); // prfum [x0, #-8]
        assert_eq!(registers.operand(0x1000, 0xf8a2_7800), Some(0x8010)); // prfm [x0, x2, lsl #3]
        assert_eq!(registers.operand(0x1000, 0xf8a3_7800), None); // prfm [x0, x3, lsl #3]
        assert_eq!(registers.operand(0x1000, 0xd800_0040), Some(0x1008)); // prfm .+8
        assert_eq!(registers.operand(0x1000, 0xd50b_7e20), Some(0x8000)); // dc civac, x0
        assert_eq!(registers.operand(0x1000, 0xd50b_7521), None); // ic ivau, x1
    }

    #[test]
    fn a_pointer_in_memory_is_known_once_it_was_used() {
        let begin = [
            (0xf940_0fe0, Some(0x7f18)), // ldr x0, [sp, #24]
            (0xf900_0001, Some(0x9000)), // str x1, [x0]
            (0xd280_0000, None),         // mov x0, #0
        ];
        let load = (0xf940_0fe2, Some(0x7f18)); // ldr x2, [sp, #24]
        assert_eq!(run(&[&begin[..], &[load]].concat()).x(2), Some(0x9000));
        let written = (0x3900_73e1, Some(0x7f1c)); // strb w1, [sp, #28]
        assert_eq!(run(&[&begin[..], &[written, load]].concat()).x(2), None);
        let call = (0xd400_0001, None); // svc #0
        assert_eq!(run(&[&begin[..], &[call, load]].concat()).x(2), None);
    }

    #[test]
    fn a_stored_pointer_comes_back_and_a_copy_of_it_is_one() {
        let registers = run(&[
            (0xd290_0001, None),         // mov x1, #0x8000
            (0xa901_07e0, Some(0x7f10)), // stp x0, x1, [sp, #16]
            (0xf940_0fe2, Some(0x7f18)), // ldr x2, [sp, #24]
            (0xf940_0be3, Some(0x7f10)), // ldr x3, [sp, #16]
            (0xaa03_03e4, None),         // mov x4, x3
            (0xf940_0085, Some(0xa000)), // ldr x5, [x4]
        ]);
        assert_eq!(registers.x(2), Some(0x8000));
        assert_eq!([0, 3, 4].map(|n| registers.x(n)), [Some(0xa000); 3]);
        assert_eq!(registers.x(5), None);
    }

    #[test]
    fn with_other_threads_memory_says_nothing() {
        let mut registers = KnownRegisters::default();
        for (word, addr) in [(0xf900_0fff, 0x7f18), (0xf940_0fe2, 0x7f18)] {
            registers.step(0x1000, word, Some(addr), &Code::default()); // str xzr, ldr x2
        }
        assert_eq!(registers.x(2), None);
    }

    #[test]
    fn arithmetic_is_followed() {
        let registers = run(&[
            (0xd290_0000, None), // mov x0, #0x8000
            (0x9280_0001, None), // mov x1, #-1
            (0x8b21_c802, None), // add x2, x0, w1, sxtw #2
            (0x8b21_4003, None), // add x3, x0, w1, uxtw
            (0xd344_fc04, None), // lsr x4, x0, #4
            (0xd37a_e405, None), // lsl x5, x0, #6
            (0x9340_7c26, None), // sxtw x6, w1
            (0x9b00_0407, None), // madd x7, x0, x0, x1
            (0x8b40_0c08, None), // add x8, x0, x0, lsr #3
            (0x1b00_7c29, None), // mul w9, w1, w0
            (0x9ac1_0c0a, None), // sdiv x10, x0, x1
        ]);
        let known = [
            (2, 0x7ffc),
            (3, 0x1_0000_7fff),
            (4, 0x800),
            (5, 0x20_0000),
            (6, u64::MAX),
            (7, 0x3fff_ffff),
            (8, 0x9000),
            (9, 0xffff_8000),
        ];
        for (n, value) in known {
            assert_eq!(registers.x(n), Some(value), "x{n}");
        }
        assert_eq!(registers.x(10), None);
    }

    #[test]
    fn a_preload_changes_no_register_and_a_pair_swap_two() {
        let prfm = (0xf980_8000, None); // prfm pldl1keep, [x0, #256]
        let known = [(0xd290_0000, None), (0xd280_0021, None)]; // mov x0, #0x8000; mov x1, #1
        assert_eq!(run(&[&known[..], &[prfm]].concat()).x(0), Some(0x8000));
        let casp = (0x4820_7c82, Some(0x9000)); // casp x0, x1, x2, x3, [x4]
        let registers = run(&[&known[..], &[casp]].concat());
        assert_eq!((registers.x(0), registers.x(1)), (None, None));
    }

    /// Checks with the model's decoder that only written registers change.
    #[test]
    fn no_register_changes_unseen() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 32) as u32
        };
        let before: [Option<u64>; REGISTERS] =
            std::array::from_fn(|n| Some(0x0123_4567_89ab_cd00 ^ (n as u64) << 32 | n as u64));
        for round in 0..200_000u32 {
            let word = random();
            let inst = sim_isa::decode(word);
            if matches!(inst.special, Special::Undefined | Special::Unknown) {
                continue;
            }
            let mut registers = KnownRegisters { values: before, ..KnownRegisters::default() };
            let addr = (round % 2 == 0).then(|| u64::from(random()));
            registers.step(0x1000, word, addr, &Code::default());
            for (n, value) in before.iter().enumerate() {
                let is_written = inst.dsts().iter().any(|dst| usize::from(dst.0) == n);
                let form = Addressing::of(word).filter(|form| form.base == n);
                let is_base = form.is_some_and(|form| addr.is_some() || form.update == Some(0));
                let now = registers.values[n];
                let is_kept = now.is_none() || now == *value;
                assert!(is_kept || is_written || is_base, "x{n} of {word:#010x}");
                // A written register that is not followed must not keep its value.
                let effect = RegisterEffect::of(word);
                let is_followed =
                    matches!(effect, RegisterEffect::Set { .. } | RegisterEffect::Copy { .. });
                let is_stale = is_written && now == *value && !is_followed && !is_base;
                assert!(!is_stale, "x{n} of {word:#010x} is stale");
            }
        }
    }

    #[test]
    fn writeback_moves_the_base_and_a_load_forgets_its_destination() {
        let registers = run(&[
            (0xf840_8401, Some(0x100)), // ldr x1, [x0], #8
            (0xa9bf_7bfd, Some(0x7f0)), // stp x29, x30, [sp, #-16]!
            (0xd280_0021, None),        // mov x1, #1
            (0xf940_0001, Some(0x108)), // ldr x1, [x0]
        ]);
        assert_eq!(registers.x(0), Some(0x108));
        assert_eq!(registers.values[SP], Some(0x7f0));
        assert_eq!(registers.x(1), None);
        assert_eq!((registers.checked, registers.wrong), (1, 0));
    }

    #[test]
    fn a_wrong_prediction_is_counted_and_repaired() {
        let registers = run(&[
            (0xf940_0001, Some(0x100)), // ldr x1, [x0]
            (0xf940_0001, Some(0x900)), // ldr x1, [x0]
        ]);
        assert_eq!((registers.checked, registers.wrong), (1, 1));
        assert_eq!(registers.x(0), Some(0x900));
    }
}
