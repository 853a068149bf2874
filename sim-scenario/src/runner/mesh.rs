//! Other cores of a case's machine, and the judgment of the expected counts of the mesh.

use sim_core::chi::Message;
use sim_core::mesh_counts::MeshCounts;
use sim_core::mesh_sums::broken_sums;
use sim_core::{AccessOutcome, MemKind, MemRequest, MemoryPort, NullSink, VirtAddr};
use sim_pmu::cmn::events::events;
use sim_pmu::cmn::rule::Rule;
use sim_pmu::cmn::{Nodes, Selector, count};

use super::error::CaseError;
use super::recorded::{Recorded, Tally};
use super::statements::WrongStatement;
use super::stepper::{CODE, Stepper, not_mapped};
use crate::language::{Bound, MeshClaim, MeshExpectation, MeshName, Step};

/// Bytes of an access of another core.
const BYTES: u32 = 8;

impl<T: Tally> Stepper<T> {
    /// Performs a load or store of another core. This core answers the snoops at once.
    pub(super) fn access_of_other(
        &mut self,
        step: &Step,
        core: usize,
        writes: bool,
        addr: VirtAddr,
    ) -> Result<(), CaseError> {
        let kind = if writes { MemKind::Store } else { MemKind::Load };
        let request = MemRequest::new(VirtAddr(CODE), addr, BYTES, kind);
        let at = self.group_start;
        let mut port = self.memory.port(core);
        if writes {
            port.translate_store(request, at, &mut NullSink);
        }
        let reply = port.access(request, at, &mut NullSink);
        if reply.outcome.has(AccessOutcome::FAULT) {
            return Err(not_mapped(step, sim_cache::NotMapped(addr)));
        }
        self.busy_until = self.busy_until.max(reply.done);
        self.memory.answer_snoops(0, &mut self.sink);
        Ok(())
    }

    /// Makes the other cores answer the snoops that wait for them.
    pub(super) fn settle_others(&mut self) {
        for core in 1..self.memory.n_cores() {
            self.memory.answer_snoops(core, &mut NullSink);
        }
    }

    /// Ends the counts of the mesh and records them, if the case expects some.
    pub(super) fn end_of_mesh(&mut self) {
        if self.counts_mesh {
            self.settle_others();
            self.memory.end_counting(self.busy_until);
            let counts = Box::new(self.memory.take_mesh_counts());
            self.sink.recorded_mut().mesh = Some(counts);
        }
    }
}

/// Returns the failed expectations about the mesh, and the sums that its counts break.
pub(super) fn wrong(expected: &MeshExpectation, recorded: &Recorded) -> Vec<WrongStatement> {
    let Some(counts) = &recorded.mesh else { return Vec::new() };
    let nodes = Nodes::new(&counts.plan);
    let stated = expected.claims.iter().filter_map(|claim| {
        let MeshClaim { name, subject, bound } = claim;
        wrong_count(name, value(subject, &nodes, counts), *bound)
    });
    let others = unstated(expected).filter_map(|(name, selector)| {
        wrong_count(name, value(&MeshName::Event(selector), &nodes, counts), Bound::exactly(0))
    });
    let sums = broken_sums(counts).into_iter().map(|found| WrongStatement {
        subject: "sum of the mesh".to_owned(),
        expected: "equal counts".to_owned(),
        found,
    });
    stated.chain(others).chain(sums).collect()
}

fn wrong_count(name: &str, found: u64, bound: Bound) -> Option<WrongStatement> {
    let (subject, expected) = (name.to_owned(), bound.to_string());
    (!bound.holds(found)).then(|| WrongStatement { subject, expected, found: found.to_string() })
}

fn value(subject: &MeshName, nodes: &Nodes, counts: &MeshCounts) -> u64 {
    match subject {
        MeshName::Event(selector) => {
            count(selector, nodes, counts).map_or(0, |counted| counted.value)
        }
        MeshName::Message(name) => {
            let same = Message::ALL.into_iter().filter(|message| message.name() == *name);
            let sent = |message| counts.plan.all().map(move |agent| counts.sent(agent, message));
            same.flat_map(sent).sum()
        }
    }
}

/// Returns the events of home nodes and of the DVM node that `others 0` is about.
fn unstated(expected: &MeshExpectation) -> impl Iterator<Item = (&'static str, Selector)> + '_ {
    let counted = events().iter().filter(|event| {
        let is_raised = matches!(event.rule, Rule::Home(_) | Rule::Dvm(_));
        is_raised && event.filter.is_none() && expected.others_zero
    });
    let is_stated = |name: &str| expected.claims.iter().any(|claim| claim.name == name);
    counted.filter(move |event| !is_stated(event.name())).filter_map(|event| {
        format!("arm_cmn_0/{}/", event.name()).parse().ok().map(|selector| (event.name(), selector))
    })
}
