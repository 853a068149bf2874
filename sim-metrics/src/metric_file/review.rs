//! Review of a whole metric file, without a run.

use sim_core::cores::{self, CoreDescription};
use sim_core::pmu_event::EventNameError;
use sim_core::{A53Event, PmuEvent};

use super::contents::{DeclaredEvent, MetricFile};
use crate::formula::a53_lint::lint_a53;
use crate::formula::event_use::absent_on_a53;
use crate::formula::lint::{about_lacking, about_unknown, lint_on_counters};
use crate::formula::{Catalog, Finding, FormulaCore, Kind, Machine, MetricFormula, Severity};
use crate::validator::mesh::lint_groups;
use crate::validator::{
    A53Reason, A53Validator, MeshReason, MeshValidator, Reason, Tolerance, Validator,
};

/// Part number of the Cortex-A53 in MIDR_EL1.
const A53_PART: u32 = 0xD03;

/// Checks every metric and event of a file. Names that the file does not define are looked up in
/// `catalog`, which also holds the file's own metrics. `counters` is the number of counters of the
/// machine besides the cycle counter.
pub fn review(
    file: &MetricFile,
    catalog: &Catalog,
    machine: Option<&Machine>,
    counters: usize,
) -> Vec<Finding> {
    let fault = |fault: &String| finding("", "", Severity::Error, Kind::Unreadable, fault.clone());
    let mut findings: Vec<Finding> = file.faults.iter().map(fault).collect();
    let core = machine.map_or(cores::neoverse_n2(), Machine::core);
    let is_a53 = machine.is_some_and(|machine| machine.events_of() == FormulaCore::CortexA53);
    if is_a53 {
        findings.extend(declared_a53(file));
    } else {
        findings.extend(declared_core(file, core));
        findings.extend(file.events.iter().filter_map(|event| declared(event, core)));
    }
    for (index, metric) in file.metrics.iter().enumerate() {
        let is_same = |other: &&MetricFormula| other.name.eq_ignore_ascii_case(&metric.name);
        if let Some(first) = file.metrics[..index].iter().find(is_same) {
            let message = format!("{} already has a metric of this name", first.source);
            let (name, source) = (&metric.name, &metric.source);
            findings.push(finding(name, source, Severity::Warning, Kind::Duplicate, message));
        }
        let mut of_formula = lint_on_counters(metric, catalog, machine, counters);
        if metric.is_of_mesh(catalog) {
            findings.extend(of_formula);
            continue;
        }
        // Truths are quantities of the models of two cores.
        let of_claim = match core.is_n2() {
            true if is_a53 => {
                of_formula.extend(lint_a53(metric, catalog));
                claimed_on_a53(metric, catalog)
            }
            true => claimed(metric, catalog, machine),
            false => Vec::new(),
        };
        // Findings of the formula itself are reported at their position; the claim adds only new
        // ones.
        let is_new =
            |own: &Finding| !of_formula.iter().any(|other| other.kind.name() == own.kind.name());
        let of_claim: Vec<Finding> = of_claim.into_iter().filter(is_new).collect();
        findings.extend(of_formula);
        findings.extend(of_claim);
    }
    if !is_a53 {
        findings.extend(mesh(file, catalog));
    }
    findings
}

/// Checks metrics of the mesh: their claims, their units, and the groups of parts of a whole.
fn mesh(file: &MetricFile, catalog: &Catalog) -> Vec<Finding> {
    let (mut findings, mut validators) = (Vec::new(), Vec::new());
    // What a group without one of its members adds up to is not known.
    let mut partial: Vec<&String> = file.partial_groups.iter().collect();
    for metric in &file.metrics {
        match MeshValidator::new(metric, catalog, Tolerance::default()) {
            Ok(Some(validator)) => validators.push(validator),
            Ok(None) => partial.extend(&metric.groups),
            Err(message) => {
                partial.extend(&metric.groups);
                let kind = Kind::Claim("no-truth");
                findings.push(finding(
                    &metric.name,
                    &metric.source,
                    Severity::Error,
                    kind,
                    message,
                ));
            }
        }
    }
    for validator in &validators {
        findings.extend(reported(validator.metric(), (validator.lint(), None)));
    }
    let is_partial = |reason: &Reason| match reason {
        Reason::InMesh(MeshReason::NotWhole { group, .. }) => partial.contains(&group),
        _ => false,
    };
    for (member, reason) in lint_groups(&validators) {
        if is_partial(&reason) {
            continue;
        }
        findings.extend(reported(validators[member].metric(), (vec![reason], None)));
    }
    findings
}

/// Returns the mismatches between a formula and the claim of the metric, or the meaning of its
/// published name.
fn claimed(metric: &MetricFormula, catalog: &Catalog, machine: Option<&Machine>) -> Vec<Finding> {
    let add =
        |severity, kind, message| finding(&metric.name, &metric.source, severity, kind, message);
    let validator = match Validator::new(metric, catalog, Tolerance::default()) {
        Ok(validator) => validator,
        Err(message) => return vec![add(Severity::Error, Kind::Claim("no-truth"), message)],
    };
    if let Some(missing) = validator.missing().filter(|_| metric.missing.is_none()) {
        let message = missing.to_owned();
        return vec![add(Severity::Warning, Kind::Claim("missing"), message)];
    }
    reported(metric, validator.lint(machine))
}

/// Returns the findings for the reasons that need no run, with the correct formula.
fn reported(
    metric: &MetricFormula,
    (reasons, corrected): (Vec<Reason>, Option<String>),
) -> Vec<Finding> {
    let better = corrected.map_or_else(String::new, |text| format!("; right is {text}"));
    let add = |reason: Reason| {
        let (kind, message) = (Kind::Claim(reason.code()), format!("{reason}{better}"));
        finding(&metric.name, &metric.source, Severity::Error, kind, message)
    };
    reasons.into_iter().filter(|reason| !is_about_names(reason)).map(add).collect()
}

/// Returns the mismatches between a formula for a Cortex-A53 and its claim.
fn claimed_on_a53(metric: &MetricFormula, catalog: &Catalog) -> Vec<Finding> {
    match A53Validator::new(metric, catalog, Tolerance::default()) {
        Ok(validator) => reported(metric, validator.lint()),
        Err(message) => {
            let kind = Kind::Claim("no-truth");
            vec![finding(&metric.name, &metric.source, Severity::Error, kind, message)]
        }
    }
}

fn finding(metric: &str, source: &str, severity: Severity, kind: Kind, message: String) -> Finding {
    Finding { metric: metric.to_owned(), source: source.to_owned(), severity, kind, message }
}

/// Returns whether the reason is reported for every name without a claim.
fn is_about_names(reason: &Reason) -> bool {
    use Reason::{ExtllcClear, NeverCounts, NoL3, OnA53, UnknownEvent, WrongNumber};
    if let OnA53(reason) = reason {
        return matches!(reason, A53Reason::AbsentEvent(_) | A53Reason::NeverCounts(_));
    }
    matches!(reason, NoL3 | NeverCounts(_) | UnknownEvent(_) | WrongNumber(..) | ExtllcClear(_))
}

/// Reports a file for another core, or for another number of slots.
fn declared_core(file: &MetricFile, own: &CoreDescription) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |message| {
        findings.push(finding("", "", Severity::Warning, Kind::OtherCore, message));
    };
    let name = file.core.name.as_deref().unwrap_or("another core");
    if let Some(part) = file.core.part.filter(|part| *part != own.part) {
        let remedy = match cores::related().find(|core| core.part == part) {
            Some(core) => format!(" (--core {} checks it for that core)", core.name),
            None => String::new(),
        };
        let own = own.part;
        add(format!("the file is for {name}, part 0x{part:03X}; this core is 0x{own:03X}{remedy}"));
    }
    let slots = own.slots_per_cycle;
    if let Some(given) = file.core.slots.filter(|given| *given != slots) {
        add(format!("the file is for {given} slots per cycle; this core has {slots}"));
    }
    findings
}

/// Reports a file for another core than a Cortex-A53, and events that it does not have or has with
/// another number.
fn declared_a53(file: &MetricFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(part) = file.core.part.filter(|part| *part != A53_PART) {
        let name = file.core.name.as_deref().unwrap_or("another core");
        let message =
            format!("the file is for {name}, part 0x{part:03X}; this core is 0x{A53_PART:03X}");
        findings.push(finding("", "", Severity::Warning, Kind::OtherCore, message));
    }
    for event in &file.events {
        let own = A53Event::from_linux_name(&event.name);
        let (severity, kind, message) = match (own, event.code) {
            (Some(own), Some(code)) if u32::from(own.code()) != code => {
                let (name, number) = (&event.name, own.code());
                let message =
                    format!("{name} has the number 0x{number:02X}, and the file says 0x{code:02X}");
                (Severity::Error, Kind::WrongNumber, message)
            }
            (None, _) => {
                let n2 = PmuEvent::from_name(&event.name).ok();
                (Severity::Warning, Kind::OtherCore, absent_on_a53(&event.name, n2))
            }
            _ => continue,
        };
        findings.push(finding("", &event.source, severity, kind, message));
    }
    findings
}

/// Reports an event that the core does not have, or has with another number.
fn declared(event: &DeclaredEvent, core: &CoreDescription) -> Option<Finding> {
    let add = |severity, kind, message| Some(finding("", &event.source, severity, kind, message));
    match (PmuEvent::from_name(&event.name), event.code) {
        (Ok(own), Some(code)) if u32::from(own.code()) != code => {
            let meant = match PmuEvent::from_code(code) {
                Ok(other) => format!(", which is {}", other.mnemonic()),
                Err(_) => String::new(),
            };
            let message = format!(
                "{} has the number 0x{:02X}, and the file says 0x{code:02X}{meant}",
                event.name,
                own.code()
            );
            add(Severity::Error, Kind::WrongNumber, message)
        }
        (Ok(own), _) if !core.has(own) => {
            let (_, kind, message) = about_lacking(own, core);
            add(Severity::Warning, kind, message)
        }
        (Err(error @ EventNameError::Unknown(..)), _) => {
            let (_, kind, message) = about_unknown(&error);
            add(Severity::Warning, kind, message)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NamedText, read};
    use super::*;
    use crate::formula::lint::COUNTERS;

    fn kinds(text: &str) -> Vec<Kind> {
        let file = read(&[NamedText { name: "t.json", text }]).expect("readable");
        let catalog: Catalog = file.metrics.iter().cloned().collect();
        review(&file, &catalog, None, COUNTERS).into_iter().map(|finding| finding.kind).collect()
    }

    #[test]
    fn a_good_file_has_no_findings() {
        let text = r#"{"product_configuration": {"part_num": "0xd49", "num_slots": 5},
            "events": {"LD_SPEC": {"code": "0x70"}, "TRB_WRAP": {"code": "0x400c"}},
            "metrics": {"a": {"formula": "LD_SPEC / INST_SPEC", "units": "per instruction"}}}"#;
        assert_eq!(kinds(text), []);
    }

    #[test]
    fn wrong_events_cores_and_names_are_found() {
        let text = r#"{"product_configuration": {"part_num": "0xd0c", "num_slots": 4},
            "events": {"FP_SCALE_OPS_SPEC": {"code": "0x0C80"}, "STALL": {"code": "0x11"},
                       "LL_CACHE": {"code": "0x32"}, "X": {"code": "1"}},
            "metrics": {"a": {"formula": "1"}, "A": {"formula": "2"}}}"#;
        let expected = [
            Kind::OtherCore,
            Kind::OtherCore,
            Kind::WrongNumber,
            Kind::OtherCore,
            Kind::WrongNumber,
            Kind::UnknownEvent,
            Kind::Duplicate,
        ];
        let mut found = kinds(text);
        found.sort_unstable();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }

    /// A file for a Neoverse V2 is right on that core, and one event is not on a Neoverse V1.
    #[test]
    fn a_file_is_checked_for_its_own_core() {
        let text = r#"{"product_configuration": {"part_num": "0xd4f", "num_slots": 8},
            "events": {"LD_SPEC": {"code": "0x70"}, "FP_SP_SPEC": {"code": "0x8018"}},
            "metrics": {"a": {"formula": "STALL_SLOT / (CPU_CYCLES * 8)"},
                        "b": {"formula": "FP_SP_SPEC / INST_SPEC"},
                        "c": {"formula": "L3D_CACHE_REFILL / L3D_CACHE"},
                        "d": {"formula": "STALL_SLOT / (CPU_CYCLES * 5)"}}}"#;
        let file = read(&[NamedText { name: "t.json", text }]).expect("readable");
        let catalog: Catalog = file.metrics.iter().cloned().collect();
        let found = |core: &CoreDescription| -> Vec<(String, Kind)> {
            let findings = review(&file, &catalog, Some(&Machine::of_core(core)), COUNTERS);
            findings.into_iter().map(|finding| (finding.metric, finding.kind)).collect()
        };
        let of = |metric: &str, kind| (metric.to_owned(), kind);
        assert_eq!(
            found(cores::by_name("neoverse-v2").expect("a core")),
            [of("d", Kind::SlotWidth)]
        );
        assert_eq!(
            found(cores::by_name("neoverse-v1").expect("a core")),
            [
                of("", Kind::OtherCore),
                of("", Kind::OtherCore),
                of("b", Kind::OtherCore),
                of("d", Kind::SlotWidth)
            ]
        );
    }

    /// The sum of a group is not known if a member cannot be read.
    #[test]
    fn a_group_with_an_unreadable_member_has_no_verdict() {
        let found = |memory: &str| {
            let text = format!(
                r#"{{"components": {{"HNF": {{
                "groups": {{"metrics": {{"Parts": {{"metrics": ["hits", "memory"]}}}}}},
                "metrics": {{
                "hits": {{"formula": "PMU_HNF_A / PMU_HNF_C", "description": "Proportion of hits"}},
                "others": {{"formula": "PMU_HNF_B / PMU_HNF_C", "description": "Proportion of others"}},
                "memory": {{"formula": "{memory}", "description": "Proportion of memory"}}}}}}}}}}"#
            );
            let text = text.replace(r#"["hits", "memory"]"#, r#"["hits", "others", "memory"]"#);
            let file = read(&[NamedText { name: "t.json", text: &text }]).expect("readable");
            let catalog: Catalog = file.metrics.iter().cloned().collect();
            let findings = review(&file, &catalog, None, COUNTERS);
            findings.iter().filter(|own| own.kind.name() == "not-whole").count()
        };
        assert_eq!(found("PMU_HNF_D / PMU_HNF_C"), 1);
        assert_eq!(found("PMU_HNF_D / (PMU_HNF_C"), 0);
    }

    /// The claim of a metric is compared with its formula without a run.
    #[test]
    fn claims_are_compared_with_formulas() {
        let found = |formula: &str, claims: &str| {
            let entry = format!(
                r#"{{"metrics": {{"a": {{"formula": "{formula}", "claims": "{claims}"}}}}}}"#
            );
            let file = read(&[NamedText { name: "t.json", text: &entry }]).expect("readable");
            let catalog: Catalog = file.metrics.iter().cloned().collect();
            let least =
                |finding: &Finding| finding.severity > Severity::Note && !finding.metric.is_empty();
            review(&file, &catalog, None, COUNTERS).into_iter().filter(least).collect::<Vec<_>>()
        };
        for (formula, claims, kind, right) in [
            (
                "BR_MIS_PRED_RETIRED / INST_RETIRED",
                "branch.miss_ratio",
                "wrong-denominator",
                "BR_MIS_PRED_RETIRED / BR_RETIRED",
            ),
            (
                "L1D_CACHE_REFILL_OUTER / L1D_CACHE",
                "l1d.miss_ratio",
                "subset",
                "L1D_CACHE_REFILL / L1D_CACHE",
            ),
            (
                "OP_RETIRED / (8 * CPU_CYCLES)",
                "share.retiring",
                "slot-width",
                "OP_RETIRED / (5 * CPU_CYCLES)",
            ),
            ("INST_RETIRED / CPU_CYCLES", "luck", "no-truth", ""),
        ] {
            let findings = found(formula, claims);
            let is_reported =
                |finding: &Finding| finding.kind.name() == kind && finding.message.contains(right);
            assert!(findings.iter().any(is_reported), "{formula}: {findings:?}");
        }
        assert_eq!(found("INST_RETIRED / CPU_CYCLES", "ipc"), []);
        assert_eq!(found("STALL_SLOT_FRONTEND / (5 * CPU_CYCLES)", "share.frontend_all"), []);
    }

    #[test]
    fn a_wrong_number_names_the_event_with_that_number() {
        let event = |code| DeclaredEvent {
            name: "FP_SCALE_OPS_SPEC".to_owned(),
            code: Some(code),
            source: String::new(),
        };
        let message = |code| declared(&event(code), cores::neoverse_n2()).expect("wrong").message;
        assert!(message(0x11).ends_with("which is CPU_CYCLES"));
        assert!(message(0x80C).starts_with("FP_SCALE_OPS_SPEC has the number 0x80C0"));
    }
}
