//! `n2sim validate` on metrics of the mesh: their evidence from a run, and the verdicts.

use std::io::{self, Write};

use sim_core::Counts;
use sim_machine::{MachineConfig, Outcome};
use sim_metrics::mesh_truth::{SuppliedLines, truths};
use sim_metrics::validator::mesh::judge_groups;
use sim_metrics::validator::{Evidence, MeshEvidence, MeshValidator, Verdict};
use sim_report::validate::Judged;

use super::{Run, judged};
use crate::counting::mesh_names;
use crate::host::call;

/// Returns the evidence of a run for metrics of the mesh.
pub(super) fn evidence(
    judges: &[MeshValidator<'_>],
    run: &Evidence,
    outcome: &Outcome,
    config: &MachineConfig,
) -> MeshEvidence {
    let hz = mesh_names::frequency(config);
    let memory = outcome.memory();
    let lines = SuppliedLines {
        slc: memory.slc_lines,
        peer: memory.peer_lines,
        memory: memory.dram_lines,
        remote: memory.remote_lines,
    };
    let names = judges.iter().flat_map(|judge| judge.formula().events());
    // Bandwidths relate to the time in which any core counts, and `duration_time` too.
    let seconds = outcome.mesh.cycles as f64 / hz;
    MeshEvidence {
        trace: run.trace.clone(),
        truths: truths(&outcome.mesh, &lines, seconds),
        counts: mesh_names::counts(names, outcome, hz),
        of_cores: Counts::clone(&run.counts),
        seconds,
        cores: run.cores,
        patch: run.patch,
    }
}

/// Returns the verdicts on the metrics of the mesh.
pub(super) fn judge(judges: &[MeshValidator<'_>], runs: &[Run]) -> Vec<Judged> {
    let mut of_runs: Vec<Vec<Verdict>> = Vec::new();
    for run in runs.iter().filter_map(|run| run.mesh.as_ref()) {
        let mut verdicts: Vec<Verdict> = judges.iter().map(|judge| judge.verdict(run)).collect();
        let mut all: Vec<&mut Verdict> = verdicts.iter_mut().collect();
        judge_groups(judges, &mut all);
        of_runs.push(verdicts);
    }
    let one = |(number, judge): (usize, &MeshValidator<'_>)| {
        let verdicts = of_runs.iter().map(|verdicts| verdicts[number].clone()).collect();
        judged(judge.metric(), None, verdicts, None)
    };
    judges.iter().enumerate().map(one).collect()
}

/// Notes that a trace of one thread says little about the mesh.
pub(super) fn note_alone(judges: &[MeshValidator<'_>], runs: &[Run]) -> io::Result<()> {
    let is_alone = |run: &&Run| run.mesh.as_ref().is_some_and(|mesh| mesh.cores == 1);
    match runs.iter().find(is_alone) {
        Some(run) if !judges.is_empty() => writeln!(
            call::stderr(),
            "n2sim: note: {} has one thread: the mesh serves one core, and none shares lines",
            run.info.name
        ),
        _ => Ok(()),
    }
}
