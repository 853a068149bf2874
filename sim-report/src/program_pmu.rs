//! Accesses of a traced program to its PMU, as a table: the result of each access in the modeled
//! unit, and the final values of the counters (PMU guide 3.1).

use std::io::{self, Write};

use sim_pmu::counter::{EVENT_COUNTERS, IMPLEMENTED_BITS};
use sim_pmu::{CounterIndex, EventRoutes, Pmu, ProgramAccess};

/// State of one core's PMU at the end of a run.
#[derive(Clone, Debug)]
pub struct CoreEnd {
    counters: Vec<CounterEnd>,
    cycles: u64,
    requests: u64,
}

/// An event counter at the end of a run.
#[derive(Clone, Copy, Debug)]
struct CounterEnd {
    counter: CounterIndex,
    code: u16,
    event: &'static str,
    value: u64,
    has_overflowed: bool,
}

impl CoreEnd {
    /// Returns the state of a PMU of any core that has requested `requests` overflow interrupts.
    /// `mnemonic` names the core's event with a code.
    pub fn of<R: EventRoutes>(
        pmu: &Pmu<R>,
        requests: u64,
        mnemonic: impl Fn(u16) -> Option<&'static str>,
    ) -> CoreEnd {
        let overflowed = pmu.overflowed() & IMPLEMENTED_BITS;
        let counter = |counter: CounterIndex| {
            let code = pmu.event_code(counter)?;
            Some(CounterEnd {
                counter,
                code,
                event: mnemonic(code).unwrap_or("no event"),
                value: pmu.value(counter),
                has_overflowed: overflowed & counter.bit() != 0,
            })
        };
        let counters = CounterIndex::all().take(EVENT_COUNTERS).filter_map(counter).collect();
        CoreEnd { counters, cycles: pmu.read_cycles(), requests }
    }
}

/// Writes every access in the given order, then the counters of each core.
///
/// # Errors
/// The output cannot be written.
pub fn write<'a>(
    out: &mut impl Write,
    accesses: impl IntoIterator<Item = &'a ProgramAccess>,
    ends: impl IntoIterator<Item = CoreEnd>,
) -> io::Result<()> {
    writeln!(out, "core {:>14}  level      access", "retired")?;
    for seen in accesses {
        writeln!(out, "{:>4} {:>14}  {}", seen.core, seen.retired, line(seen))?;
    }
    for (core, end) in ends.into_iter().enumerate() {
        writeln!(out, "\ncore {core}, at the end:")?;
        write_counters(out, &end)?;
        writeln!(out, "  overflow interrupts requested: {}", end.requests)?;
    }
    Ok(())
}

fn line(seen: &ProgramAccess) -> String {
    let state = if seen.state.is_secure { "secure " } else { "" };
    let level = format!("{state}{}", seen.state.level);
    let access = seen.access;
    let name = match seen.register {
        Some(register) => register.name(),
        None => format!("0x{:04x} (not a register of the PMU)", access.encoding),
    };
    let verb = if access.is_write { "MSR" } else { "MRS" };
    let result = match (seen.outcome, access.is_write) {
        (Ok(value), true) => format!(" = 0x{value:x}"),
        (Ok(value), false) if value == access.value => format!(" gives {value}, as recorded"),
        (Ok(value), false) => format!(" gives {value}; {} was recorded", access.value),
        (Err(refused), _) => format!(": {refused}"),
    };
    format!("{level:<10} {verb} {name}{result}")
}

fn write_counters(out: &mut impl Write, end: &CoreEnd) -> io::Result<()> {
    for CounterEnd { counter, code, event, value, has_overflowed } in &end.counters {
        let flag = if *has_overflowed { "  overflowed" } else { "" };
        writeln!(out, "  {counter}  0x{code:04x} {event:<24} {value:>20}{flag}")?;
    }
    writeln!(out, "  cycles {:>47}", end.cycles)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::{EventSink, Notice, PmuEvent, Privilege, RegisterAccess};
    use sim_pmu::{PmuVersion, ProgramPmu, Register};

    #[test]
    fn each_access_shows_its_result_or_why_it_is_refused() {
        let mut program = ProgramPmu::new(PmuVersion::V8p4);
        let access = |register: Register, value, is_write| RegisterAccess {
            encoding: register.encoding().bits(),
            value,
            is_write,
        };
        program.notify(Notice::Privilege(Privilege { level: 1, ..Privilege::default() }));
        program.notify(Notice::RegisterAccess(access(Register::PMEVTYPER_EL0(2), 8, true)));
        program.notify(Notice::RegisterAccess(access(Register::PMCNTENSET_EL0, 4, true)));
        program.notify(Notice::RegisterAccess(access(Register::PMCR_EL0, 1, true)));
        program.count(PmuEvent::INST_RETIRED, 12);
        program.notify(Notice::RegisterAccess(access(Register::PMEVCNTR_EL0(2), 11, false)));
        program.notify(Notice::RegisterAccess(access(Register::MDCR_EL3, 0, false)));
        let mut out = Vec::new();
        let mnemonic = |code: u16| PmuEvent::from_code(code.into()).ok().map(PmuEvent::mnemonic);
        let ends = program.ends().map(|end| CoreEnd::of(end.pmu, end.requests, mnemonic));
        write(&mut out, program.accesses(), ends).expect("memory can be written");
        let text = String::from_utf8(out).expect("text");
        for line in [
            "   0              0  EL1        MSR PMEVTYPER2_EL0 = 0x8\n",
            "   0             12  EL1        MRS PMEVCNTR2_EL0 gives 12; 11 was recorded\n",
            "MRS MDCR_EL3: undefined: there is no such access at this exception level\n",
            "  counter 2  0x0008 INST_RETIRED                               12\n",
        ] {
            assert!(text.contains(line), "{line:?} is not in\n{text}");
        }
    }
}
