//! Profiling unit of a case: its programming before the first step, its registers for `MSR` and
//! `MRS`, and the judgment of sampled operations.

use std::fmt;

use crate::language::profiling::{FIELDS, GivenFault};
use crate::language::{
    Action, Bound, Case, Expectation, GivenFaultKind, ProfileClaim, RecordField, SampleSet, Step,
};
use sim_core::RegisterAccess;
use sim_isa::register_access;
use sim_pmu::spe::{BufferFault, FaultKind, OperationType, SampleOutcome, SampledOp, SpeRecord};
use sim_pmu::{Encoding, Register, Spe, SpeRegister};

use super::recorded::Recorded;
use sim_machine::config::MachineConfig;

/// A failed expectation about sampled operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrongProfile {
    /// A set has other operations.
    Operations {
        /// Set of operations.
        set: SampleSet,
        /// Expected numbers.
        expected: Vec<u64>,
        /// Found numbers.
        found: Vec<u64>,
    },
    /// A field of a record has another value.
    Field {
        /// Number of the operation.
        number: u64,
        /// Field of the record.
        field: RecordField,
        /// Expected value; `None` if the field should be absent.
        expected: Option<Bound>,
        /// Found value; `None` if the field is absent.
        found: Option<u64>,
    },
    /// The interrupt line of the buffer has another level.
    Interrupt {
        /// The line is asserted.
        asserted: bool,
    },
    /// An operation with an expected record was not sampled.
    NoRecord {
        /// Number of the operation.
        number: u64,
    },
}

impl fmt::Display for WrongProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WrongProfile::Operations { set, expected, found } => {
                let set = format!("{set:?}").to_lowercase();
                write!(f, "{set}: expected {expected:?}, found {found:?}")
            }
            WrongProfile::Field { number, field, expected, found } => {
                let (name, _) = FIELDS
                    .iter()
                    .find(|(_, named)| named == field)
                    .expect("every field has its name");
                let expected = expected.map_or("none".to_owned(), |bound| bound.to_string());
                let found =
                    found.map_or("none".to_owned(), |value| format!("{value} (0x{value:x})"));
                write!(f, "record {number}, {name}: expected {expected}, found {found}")
            }
            WrongProfile::Interrupt { asserted } => {
                let name = |asserted: bool| if asserted { "asserted" } else { "clear" };
                write!(f, "PMBIRQ: expected {}, is {}", name(!asserted), name(*asserted))
            }
            WrongProfile::NoRecord { number } => {
                write!(f, "record {number}: this operation was not sampled")
            }
        }
    }
}

/// Returns the profiling unit of a case; `None` if nothing uses it.
pub(super) fn unit_for(case: &Case, config: &MachineConfig) -> Option<Box<Spe>> {
    let given = &case.given.profiling;
    let looks = |expectation: &Expectation| {
        let named = |name: &str| SpeRegister::from_name(name).is_some();
        !expectation.profile.is_empty()
            || expectation.registers.iter().any(|register| named(&register.name))
    };
    let uses = case.steps.iter().any(|step| access(step).is_some());
    if given.registers.is_empty() && !uses && !looks(&case.expect) && !looks(&case.silicon) {
        return None;
    }
    let mut spe = Box::new(Spe::new(&config.spe, 0));
    spe.set_clocks(config.core.clock_hz, config.core.counter_hz, 0);
    spe.set_external_llc(config.semantics.extllc);
    spe.set_contextidr(CONTEXTS[0], CONTEXTS[1]);
    spe.keep_sampled_ops();
    if let Some(bytes) = &given.random {
        spe.set_random(bytes.clone());
    }
    for fault in &given.faults {
        spe.memory_mut().inject_fault(fault.addr, fault_of(fault));
    }
    Some(spe)
}

/// Values of `CONTEXTIDR_EL1` and `CONTEXTIDR_EL2` in every case.
const CONTEXTS: [u32; 2] = [0x11, 0x22];

/// Writes the given values into the registers of the unit and of the PMU.
pub(super) fn program(case: &Case, recorded: &mut Recorded) {
    let Some(spe) = &mut recorded.spe else { return };
    spe.set_privilege(case.given.privilege);
    for (name, value) in &case.given.profiling.registers {
        match (name.as_str(), SpeRegister::from_name(name)) {
            (_, Some(register)) => spe.set(register, *value),
            ("MDCR_EL2", None) => spe.set_mdcr_el2(*value),
            _ => spe.set_mdcr_el3(*value),
        }
    }
}

/// Passes the PMU's `MDCR_EL2` and `MDCR_EL3` on to the unit, which they control too.
pub(super) fn share(register: Register, value: u64, recorded: &mut Recorded) {
    let Some(spe) = &mut recorded.spe else { return };
    match register {
        Register::MDCR_EL2 => spe.set_mdcr_el2(value),
        Register::MDCR_EL3 => spe.set_mdcr_el3(value),
        _ => {}
    }
}

/// Returns the unit of a case that uses it.
pub(super) fn unit_of(recorded: &Recorded) -> &Spe {
    recorded.spe.as_ref().expect("a case that looks at profiling has a unit")
}

/// Returns the unit's register that a step accesses, and whether it writes it.
pub(super) fn access(step: &Step) -> Option<(SpeRegister, bool)> {
    let Action::Execute { word, .. } = step.action else { return None };
    let RegisterAccess { encoding, is_write, .. } = register_access(word, 0)?;
    let register = SpeRegister::from_encoding(Encoding::of_bits(encoding))?;
    (!step.wrong_path).then_some((register, is_write))
}

fn fault_of(given: &GivenFault) -> BufferFault {
    let level = given.level;
    let kind = match given.kind {
        GivenFaultKind::AddressSize => FaultKind::AddressSize(level),
        GivenFaultKind::Translation => FaultKind::Translation(level),
        GivenFaultKind::AccessFlag => FaultKind::AccessFlag(level),
        GivenFaultKind::Permission => FaultKind::Permission(level),
        GivenFaultKind::Abort => FaultKind::ExternalAbort,
        GivenFaultKind::WalkAbort => FaultKind::WalkAbort(level),
        GivenFaultKind::LateAbort => FaultKind::LateAbort,
        GivenFaultKind::Conflict => FaultKind::TlbConflict,
        GivenFaultKind::Unsupported => FaultKind::UnsupportedAccess,
    };
    BufferFault { kind, stage_2: given.stage_2 }
}

/// Returns the failed expectations about sampled operations.
pub(super) fn wrong_profile(expectation: &Expectation, recorded: &Recorded) -> Vec<WrongProfile> {
    if expectation.profile.is_empty() {
        return Vec::new();
    }
    let unit = unit_of(recorded);
    expectation.profile.iter().flat_map(|claim| wrong_claim(claim, unit)).collect()
}

fn wrong_claim(claim: &ProfileClaim, unit: &Spe) -> Vec<WrongProfile> {
    let sampled_ops = unit.sampled_ops();
    match claim {
        ProfileClaim::Interrupt { asserted } => match unit.interrupt() {
            line if line == *asserted => Vec::new(),
            line => vec![WrongProfile::Interrupt { asserted: line }],
        },
        ProfileClaim::Operations { set, numbers } => {
            let belongs = |op: &&SampledOp| is_in(*set, op.outcome);
            let mut found: Vec<u64> =
                sampled_ops.iter().filter(belongs).map(|op| op.number).collect();
            found.sort_unstable();
            let wrong = WrongProfile::Operations {
                set: *set,
                expected: numbers.clone(),
                found: found.clone(),
            };
            if found == *numbers { Vec::new() } else { vec![wrong] }
        }
        ProfileClaim::Record { number, fields } => {
            let record = sampled_ops.iter().find(|op| op.number == *number).and_then(|f| f.record);
            let Some(record) = record else {
                return vec![WrongProfile::NoRecord { number: *number }];
            };
            let wrong = |(field, expected): &(RecordField, Option<Bound>)| {
                let found = value_of(&record, *field);
                let holds = match (expected, found) {
                    (Some(bound), Some(value)) => bound.holds(value),
                    (expected, found) => expected.is_none() && found.is_none(),
                };
                let (number, field, expected) = (*number, *field, *expected);
                (!holds).then_some(WrongProfile::Field { number, field, expected, found })
            };
            fields.iter().filter_map(wrong).collect()
        }
    }
}

fn is_in(set: SampleSet, outcome: SampleOutcome) -> bool {
    match set {
        SampleSet::Sampled => outcome != SampleOutcome::Collided,
        SampleSet::Collided => outcome == SampleOutcome::Collided,
        SampleSet::Collected => matches!(outcome, SampleOutcome::Dropped | SampleOutcome::Written),
        SampleSet::Written => outcome == SampleOutcome::Written,
    }
}

fn value_of(record: &SpeRecord, field: RecordField) -> Option<u64> {
    let kind = |part: fn(OperationType) -> u8| record.operation.map(|kind| part(kind).into());
    match field {
        RecordField::Pc => record.pc.map(|pc| pc.address),
        RecordField::Level => record.pc.map(|pc| pc.level.into()),
        RecordField::ContextEl1 => record.context_el1.map(u64::from),
        RecordField::ContextEl2 => record.context_el2.map(u64::from),
        RecordField::Class => kind(|kind| kind.class.bits()),
        RecordField::Payload => kind(|kind| kind.payload),
        RecordField::Events => record.events.map(|events| events.0),
        RecordField::Issue => record.issue_latency.map(u64::from),
        RecordField::Total => record.total_latency.map(u64::from),
        RecordField::Translation => record.translation_latency.map(u64::from),
        RecordField::Target => record.branch_target.map(|target| target.address),
        RecordField::TargetLevel => record.branch_target.map(|target| target.level.into()),
        RecordField::Address => record.virtual_address,
        RecordField::Physical => record.physical_address.map(|physical| physical.payload()),
        RecordField::Source => record.data_source.map(u64::from),
        RecordField::Time => record.timestamp,
    }
}
