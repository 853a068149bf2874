//! Contents of the record of a sampled operation: type, events, latencies, addresses, data source
//! (SPE supplement 2.3 and 5.3).

use sim_core::{AccessOutcome, Activity, BranchCourse, DataSource, Operation, OperationKind};

use super::context::{Collected, TimeStamp};
use super::events::Events;
use super::operation_type::OperationType;
use super::record::{InstAddress, PhysicalAddress, SpeRecord, latency};

/// Returns the data source value on this core, as Linux decodes it for the Neoverse family.
fn source_code(source: DataSource) -> Option<u16> {
    match source {
        DataSource::StoreQueue | DataSource::L1 => Some(0x0),
        DataSource::L2 => Some(0x8),
        DataSource::Slc => Some(0xB),
        DataSource::Peer => Some(0xC),
        DataSource::Remote => Some(0xD),
        DataSource::Dram => Some(0xE),
        DataSource::Device => None,
    }
}

/// Values from outside the unit that records contain: clock rates and offsets for the timestamp,
/// and the context registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecordSources {
    pub(crate) core_hz: u64,
    pub(crate) counter_hz: u64,
    /// Value of `CNTPCT_EL0` in cycle 0.
    pub(crate) counter_start: u64,
    /// Value of `CNTVOFF_EL2`.
    pub(crate) virtual_offset: u64,
    pub(crate) contextidr: [u32; 2],
    /// `CPUECTLR.EXTLLC`: the last level cache is external, and its events are recorded.
    pub(crate) has_external_llc: bool,
}

impl RecordSources {
    /// Returns `CNTPCT_EL0` in a cycle.
    fn physical_time(&self, cycle: u64) -> u64 {
        let ticks =
            u128::from(cycle) * u128::from(self.counter_hz) / u128::from(self.core_hz.max(1));
        self.counter_start.wrapping_add(ticks as u64)
    }
}

/// Returns the record of MOP number `mop` of an instruction. MOP 0 is the access or the branch.
pub(crate) fn record_of(
    operation: &Operation,
    mop: u8,
    wanted: Collected,
    sources: &RecordSources,
) -> SpeRecord {
    let timeline = &operation.timeline;
    let time = sources.physical_time(timeline.rename);
    let mut record = SpeRecord {
        pc: Some(address(operation, timeline.pc)),
        context_el1: wanted.context_el1.then_some(sources.contextidr[0]),
        context_el2: wanted.context_el2.then_some(sources.contextidr[1]),
        operation: Some(OperationType::other(false)),
        events: Some(outcome(operation)),
        issue_latency: Some(latency(timeline.issue.saturating_sub(timeline.rename))),
        total_latency: Some(latency(timeline.complete.saturating_sub(timeline.rename))),
        timestamp: match wanted.time {
            TimeStamp::None => None,
            TimeStamp::Physical => Some(time),
            TimeStamp::Virtual => Some(time.wrapping_sub(sources.virtual_offset)),
        },
        ..SpeRecord::default()
    };
    if mop == 0 {
        describe(operation, wanted, sources, &mut record);
    }
    record
}

/// Adds the fields that only the first MOP has.
fn describe(
    operation: &Operation,
    wanted: Collected,
    sources: &RecordSources,
    record: &mut SpeRecord,
) {
    record.operation = Some(OperationType::of(operation));
    record.events = record.events.map(|events| {
        events
            .with_if(operation.activity != Activity::All, Events::PARTIAL_PREDICATE)
            .with_if(operation.activity == Activity::None, Events::EMPTY_PREDICATE)
    });
    match operation.kind {
        OperationKind::Other => {}
        // An instruction that generates an exception does not branch.
        OperationKind::Branch(course) if !operation.exception => {
            describe_branch(operation, course, record);
        }
        OperationKind::Branch(_) => {}
        // The operation was squashed before issue or has no active element, so there was no access.
        OperationKind::Access(_) if operation.timeline.translation_cycles == 0 => {}
        OperationKind::Access(_) => describe_access(operation, wanted, sources, record),
    }
}

/// Updates the record of a fused pair whose second half is a branch: the pair's MOP is recorded as
/// a branch.
pub(crate) fn join_branch(operation: &Operation, record: &mut SpeRecord) {
    let OperationKind::Branch(course) = operation.kind else { return };
    let (rename, complete) = (operation.timeline.rename, operation.timeline.complete);
    record.pc = Some(address(operation, operation.timeline.pc));
    record.operation = Some(OperationType::of(operation));
    let total = latency(complete.saturating_sub(rename));
    record.total_latency = record.total_latency.max(Some(total));
    describe_branch(operation, course, record);
}

fn describe_branch(operation: &Operation, course: BranchCourse, record: &mut SpeRecord) {
    let fails = course.conditional && !course.taken;
    record.events = record.events.map(|events| {
        events
            .with_if(fails, Events::NOT_TAKEN)
            .with_if(operation.timeline.mispredicted, Events::MISPREDICTED)
    });
    // A branch that is not taken has the next instruction as its target.
    let next = operation.timeline.pc.wrapping_add(4);
    let target = if fails { Some(next) } else { course.target };
    record.branch_target = target.map(|target| address(operation, target));
}

fn describe_access(
    operation: &Operation,
    wanted: Collected,
    sources: &RecordSources,
    record: &mut SpeRecord,
) {
    let timeline = &operation.timeline;
    record.events = record.events.map(|events| events.with(access_events(operation, sources)));
    record.translation_latency = Some(latency(timeline.translation_cycles.into()));
    record.virtual_address = Some(with_tag(timeline.addr));
    let is_load = record.operation.is_some_and(OperationType::is_load);
    if is_load && !operation.exception {
        record.data_source = source_code(timeline.source);
    }
    record.physical_address = operation.physical.filter(|_| wanted.physical_address).map(|at| {
        let non_secure = !operation.privilege.is_secure();
        PhysicalAddress { address: at.0, non_secure, ..PhysicalAddress::default() }
    });
}

/// Returns the cache and TLB events of the access.
fn access_events(operation: &Operation, sources: &RecordSources) -> Events {
    let OperationKind::Access(_) = operation.kind else { return Events::default() };
    let timeline = &operation.timeline;
    let has = |what: AccessOutcome| timeline.outcome.has(what);
    let refills = has(AccessOutcome::L1_REFILL);
    // Every access looks up the L1, with two exceptions: accesses to uncached memory, and stores
    // that never left the store queue. Such stores were squashed or took an exception.
    let is_store = OperationType::of(operation).is_store();
    let reaches_l1 = timeline.source != DataSource::Device
        && !has(AccessOutcome::FAULT)
        && (!is_store || timeline.retired);
    let goes_out =
        sources.has_external_llc && has(AccessOutcome::L2_MISS.with(AccessOutcome::L1_REFILL));
    Events::TLB_ACCESS
        .with_if(reaches_l1, Events::L1D_ACCESS)
        .with_if(refills, Events::L1D_REFILL)
        .with_if(has(AccessOutcome::WALK), Events::TLB_WALK)
        .with_if(goes_out, Events::LL_ACCESS)
        .with_if(goes_out && timeline.source != DataSource::Slc, Events::LL_MISS)
        .with_if(timeline.source == DataSource::Remote, Events::REMOTE_ACCESS)
        .with_if(has(AccessOutcome::SPLIT), Events::ALIGNMENT)
}

/// Returns the events for how the operation ended. An instruction that generates an exception
/// completes with it.
fn outcome(operation: &Operation) -> Events {
    Events::default()
        .with_if(operation.exception, Events::EXCEPTION)
        .with_if(operation.exception || operation.timeline.retired, Events::RETIRED)
}

/// Returns an instruction address with the state of `operation`. It is the target of a sampled
/// exception return, which only the next operation reveals.
pub(crate) fn address(operation: &Operation, at: u64) -> InstAddress {
    InstAddress {
        address: at & super::record::ADDRESS_MASK,
        level: operation.privilege.level,
        non_secure: !operation.privilege.is_secure(),
    }
}

/// Returns the address with the tag that an application's pointer may carry in its top byte.
/// Addresses of the upper half have no visible tag.
fn with_tag(addr: u64) -> u64 {
    if addr >> 55 & 1 == 1 { addr & super::record::ADDRESS_MASK } else { addr }
}
