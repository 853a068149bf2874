//! Whether a result is fit to be published with those of other machines.

use std::collections::BTreeMap;

use sim_core::Shown;

use crate::counts::{Counted, CountedCase, CountedKernel, MachineFacts};
use crate::kernels;
use crate::rules::{self, BrokenRule};

/// The licence of published results.
pub const LICENCE: &str = "CC0-1.0";
/// Most loops with a broken rule that are named.
const NAMED: usize = 5;

/// Returns what keeps a result from being published, each in a sentence with the remedy; nothing if
/// it is fit. `cases` are the names of the cases of its program; its kernels are those of
/// [`crate::kernels`].
///
/// It must say which machine counted under which licence, and its counts must vary as those of a
/// machine do and keep the rules between events.
pub fn faults(counted: &Counted, cases: &[&str]) -> Vec<String> {
    let mut faults = faults_of_machine(&counted.machine);
    let unknown = counted.cases.iter().filter(|case| !cases.contains(&case.case.as_str()));
    faults.extend(unknown.map(|case| {
        format!(
            "case '{}' is not in the program; the file has been changed by hand",
            case.case.shown()
        )
    }));
    if !counted.kernels.is_empty() && counted.kernel_program != kernels::mark() {
        faults.push("its kernels are those of another n2sim; export the program again".to_owned());
    }
    let known: Vec<String> =
        kernels::all().into_iter().chain(kernels::pairs()).map(|kernel| kernel.id).collect();
    let unknown = counted.kernels.iter().filter(|kernel| !known.contains(&kernel.kernel));
    faults.extend(unknown.map(|kernel| {
        format!(
            "kernel '{}' is not in the program; the file has been changed by hand",
            kernel.kernel.shown()
        )
    }));
    let loops = loops(counted);
    let all = || loops.iter().flat_map(|one| one.counts.values());
    if all().next().is_none() {
        faults.push("nothing was counted; what the program printed says why".to_owned());
    } else if all().all(|counts| counts.windows(2).all(|two| two[0] == two[1])) {
        let fault = "no count varies between its repetitions, which those of a machine do; send the file as the program wrote it";
        faults.push(fault.to_owned());
    }
    faults.extend(broken_rules(counted, &loops));
    faults
}

/// Loop that was counted.
struct Loop<'a> {
    name: &'a str,
    counts: &'a BTreeMap<String, Vec<f64>>,
    /// The counts are differences of two loops.
    are_differences: bool,
}

fn loops(counted: &Counted) -> Vec<Loop<'_>> {
    let cases = counted.cases.iter();
    let cases = cases.map(|CountedCase { case: name, counts, .. }| Loop {
        name,
        counts,
        are_differences: true,
    });
    let kernels = counted.kernels.iter();
    let kernels = kernels.map(|CountedKernel { kernel: name, counts, .. }| Loop {
        name,
        counts,
        are_differences: false,
    });
    cases.chain(kernels).collect()
}

fn faults_of_machine(machine: &MachineFacts) -> Vec<String> {
    let mut faults = Vec::new();
    let mut expect = |is_right: bool, fault: &str| {
        if !is_right {
            faults.push(fault.to_owned());
        }
    };
    let is_model = machine.time == 0 || machine.name.starts_with("n2sim");
    expect(
        !is_model,
        "this is a replay on the model (time is 0, or the name is that of n2sim), not a machine",
    );
    expect(
        machine.number().is_some(),
        "the MIDR is missing, so the core is unknown; /sys/devices/system/cpu/cpu0/regs/identification/midr_el1 has it",
    );
    expect(machine.counters > 0, "the machine has no counters; use one whose PMU is visible");
    expect(
        !machine.kernel.is_empty(),
        "the kernel is missing; the program writes what 'uname -r' prints",
    );
    let name =
        "the name is missing; add it to \"machine\": \"name\": \"provider, type of machine\"";
    expect(!machine.name.trim().is_empty(), name);
    if machine.licence != LICENCE {
        let licence = match machine.licence.is_empty() {
            true => "missing".to_owned(),
            false => format!("'{}'", machine.licence.shown()),
        };
        faults.push(format!(
            "the licence is {licence}; add it to \"machine\" if you agree: \"licence\": \"{LICENCE}\""
        ));
    }
    faults
}

fn broken_rules(counted: &Counted, loops: &[Loop<'_>]) -> Vec<String> {
    let midr = counted.machine.number();
    let broken = loops.iter().filter_map(|one| {
        let rules = rules::check(one.counts, midr, one.are_differences);
        rules.broken.into_iter().next().map(|broken| sentence(one.name, &broken))
    });
    let mut faults: Vec<String> = broken.collect();
    let more = faults.len().saturating_sub(NAMED);
    faults.truncate(NAMED);
    if more > 0 {
        let what = if more == 1 { "case or kernel" } else { "cases and kernels" };
        faults.push(format!("rules between events are broken in {more} more {what}"));
    }
    faults
}

fn sentence(name: &str, broken: &BrokenRule) -> String {
    let BrokenRule { rule, left, right, is_of_slots } = broken;
    let why = match is_of_slots {
        true => {
            "every slot of a cycle has an operation or is stalled (r0p0 to r0p2 of the Neoverse N2 count one more)"
        }
        false => "the events are defined so; the counts of one of them are broken",
    };
    format!("{}: {rule} does not hold: {left:.2} against {right:.2}; {why}", name.shown())
}
