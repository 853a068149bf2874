//! Metrics of a small mesh with known counts: exact values, and each known fault with its verdict.
//! The files have the form of Linux' and of Arm's, with entries of their own.

use sim_core::chi::Message;
use sim_core::mesh_counts::{Agent, Crosspoint, FloorPlan, HomeEvent, MeshCounts};

use super::*;
use crate::mesh_truth::{SuppliedLines, truths};
use crate::metric_file::{MetricFile, NamedText, read, review};
use crate::validator::mesh::evidence::MeshCount;

/// Ten reads: four lines from the cache, three from memory, three from another core; 2000 cycles of
/// a mesh of 1 GHz.
fn run(names: &[(&str, MeshCount)]) -> MeshEvidence {
    let at = |column| Crosspoint { column, row: 0 };
    let (cores, homes, memories) = (vec![at(0); 2], vec![at(1)], vec![at(1)]);
    let plan = FloorPlan { columns: 2, rows: 1, cores, homes, memories, corner: at(1) };
    let mut counts = MeshCounts::new(plan);
    let (core, home, memory) = (Agent::Core(0), Agent::Home(0), Agent::Memory(0));
    for number in 0..10 {
        counts.send(core, home, Message::ReadNotSharedDirty);
        if number < 3 {
            counts.send(home, Agent::Core(1), Message::SnpNotSharedDirtyFwd);
        }
        if (3..6).contains(&number) {
            counts.raise(0, HomeEvent::CacheMiss);
            counts.send(home, memory, Message::ReadNoSnp);
            counts.send(memory, home, Message::CompData);
        }
    }
    counts.cycles = 2000;
    let lines = SuppliedLines { slc: 4, peer: 3, memory: 3, remote: 0 };
    let known = [
        ("SYS_CMN_CYCLES", 2000.0),
        ("SYS_FREQUENCY", 1e9),
        ("PMU_HNF_SLCSF_CACHE_ACCESS", 10.0),
        ("PMU_HNF_CACHE_MISS", 3.0),
        ("PMU_HNF_SNP_FWDED", 3.0),
        ("CMN_SNF_WP_RXREQ_COUNT", 3.0),
        ("CMN_RNF_WP_TXREQ_READNOTSHAREDDIRTY_COUNT", 10.0),
    ];
    let known = known.map(|(name, value)| (name.to_owned(), MeshCount::Value(value)));
    let names = names.iter().map(|(name, count)| ((*name).to_owned(), count.clone()));
    MeshEvidence {
        trace: String::from("t"),
        truths: truths(&counts, &lines, 2e-6),
        counts: known.into_iter().chain(names).collect(),
        seconds: 2e-6,
        cores: 2,
        patch: 3,
        ..MeshEvidence::default()
    }
}

/// A file in the form of Arm's: rates of nodes, a bandwidth with the factor of its rate, and parts
/// that do not make up their divisor.
const ARM_FORM: &str = r#"{
    "product_configuration": {"product_name": "A mesh"},
    "events": {"SYS_FREQUENCY": {}},
    "metrics": {
        "cmn_bw_peer_cpu_cache": {"formula": "forwards * 64 * SYS_FREQUENCY", "units": "Bytes per second"},
        "good_bandwidth": {"formula": "forwards / 1000 * 64 * SYS_FREQUENCY", "units": "Bytes per second",
            "claims": "mesh.bandwidth.peer"},
        "all_targets": {"formula": "hits + memory", "units": "Requests per 1K clks"},
        "target_proportion_SLC": {"formula": "hits / all_targets", "units": "None"},
        "target_proportion_SNF": {"formula": "memory / all_targets", "units": "None"},
        "target_proportion_PeerCPUCache": {"formula": "forwards / all_targets", "units": "None"}},
    "groups": {"metrics": {"Targets": {"metrics":
        ["target_proportion_SLC", "target_proportion_SNF", "target_proportion_PeerCPUCache"]}}},
    "components": {"HNF": {"metrics": {
        "forwards": {"formula": "PMU_HNF_SNP_FWDED / SYS_CMN_CYCLES * 1000", "units": "Snoops per 1K clks"},
        "hits": {"formula": "(PMU_HNF_SLCSF_CACHE_ACCESS - PMU_HNF_CACHE_MISS) / SYS_CMN_CYCLES * 1000"},
        "memory": {"formula": "CMN_SNF_WP_RXREQ_COUNT / SYS_CMN_CYCLES * 1000"},
        "cmn_hnf_slc_miss_ratio": {"formula": "PMU_HNF_CACHE_MISS / PMU_HNF_SLCSF_CACHE_ACCESS * 100",
            "units": "Percentage"},
        "cmn_hnf_memreq_ratio": {"formula": "CMN_SNF_WP_RXREQ_COUNT / PMU_HNF_SLCSF_CACHE_ACCESS",
            "units": "Requests per 1K clks"},
        "cmn_hnf_memcntrl_retry_rate": {"formula": "PMU_HNF_MC_RETRIES / SYS_CMN_CYCLES * 1000"},
        "cmn_snf_rxreq_withdata_rate": {"formula": "CMN_SNF_WP_RXREQ_COUNT / SYS_CMN_CYCLES * 1000",
            "units": "Requests"}}}}}"#;

fn file(text: &str) -> (MetricFile, Catalog) {
    let file = read(&[NamedText { name: "mesh.json", text }]).expect("readable");
    assert_eq!(file.faults, Vec::<String>::new());
    let catalog = file.metrics.iter().cloned().collect();
    (file, catalog)
}

/// Returns the verdicts on all metrics of a file, by name.
fn verdicts(text: &str, run: &MeshEvidence) -> Vec<(String, Verdict)> {
    let (file, catalog) = file(text);
    let new = |metric| MeshValidator::new(metric, &catalog, Tolerance::default());
    let judges: Vec<MeshValidator<'_>> =
        file.metrics.iter().map(|own| new(own).expect("a claim").expect("of the mesh")).collect();
    let mut verdicts: Vec<Verdict> = judges.iter().map(|judge| judge.verdict(run)).collect();
    judge_groups(&judges, &mut verdicts.iter_mut().collect::<Vec<_>>());
    let names = file.metrics.iter().map(|metric| metric.name.clone());
    names.zip(verdicts).collect()
}

fn of<'a>(all: &'a [(String, Verdict)], name: &str) -> &'a Verdict {
    &all.iter().find(|(own, _)| own == name).expect("the metric exists").1
}

fn words(verdict: &Verdict) -> String {
    let words = verdict.findings.iter().map(|finding| finding.reason.to_string());
    words.collect::<Vec<_>>().join(" | ")
}

#[test]
fn every_metric_of_a_file_in_arms_form_has_its_status() {
    let never = MeshCount::Never(String::from("memory accepts all"));
    let all = verdicts(ARM_FORM, &run(&[("PMU_HNF_MC_RETRIES", never)]));
    let expected = [
        ("cmn_bw_peer_cpu_cache", ValidationStatus::Off),
        ("good_bandwidth", ValidationStatus::Right),
        ("cmn_hnf_slc_miss_ratio", ValidationStatus::Right),
        ("cmn_hnf_memreq_ratio", ValidationStatus::Right),
        ("cmn_hnf_memcntrl_retry_rate", ValidationStatus::Missing),
        ("cmn_snf_rxreq_withdata_rate", ValidationStatus::Unclaimed),
        ("target_proportion_SLC", ValidationStatus::Off),
        ("hits", ValidationStatus::Unclaimed),
    ];
    for (name, status) in expected {
        let verdict = of(&all, name);
        assert_eq!(verdict.status, status, "{name}: {} {:?}", words(verdict), verdict.value);
    }
    let ratio = of(&all, "cmn_hnf_slc_miss_ratio");
    assert_eq!((ratio.value, ratio.real), (Some(0.3), Some(0.3)));
    let missing = of(&all, "cmn_hnf_memcntrl_retry_rate").missing.as_deref();
    assert_eq!(missing, Some("the model never raises PMU_HNF_MC_RETRIES: memory accepts all"));
}

#[test]
fn a_bandwidth_of_a_rate_for_a_thousand_cycles_is_found() {
    let all = verdicts(ARM_FORM, &run(&[]));
    let verdict = of(&all, "cmn_bw_peer_cpu_cache");
    let (value, real) = (verdict.value.expect("computed"), verdict.real.expect("known"));
    assert!((value / real - 1000.0).abs() < 1e-6, "{value} {real}");
    assert_eq!(
        words(verdict),
        "it adds 64000 bytes for each PMU_HNF_SNP_FWDED, which moves at most 64: 1000 times too \
         much | its truth is counted in another place than its events"
    );
    assert_eq!(verdict.corrected.as_deref(), Some("(forwards * 64 * SYS_FREQUENCY) / 1000"));
    assert!((verdict.corrected_value.expect("computed") - real).abs() < 1.0);
}

#[test]
fn parts_that_overlap_are_found_with_their_sum() {
    let all = verdicts(ARM_FORM, &run(&[]));
    let verdict = of(&all, "target_proportion_PeerCPUCache");
    let words = words(verdict);
    // Seven hits and three memory requests are the divisor; three lines came from another core.
    assert!(words.starts_with("the parts of Targets add up to 1.30 instead of 1"), "{words}");
    assert!(words.contains("in a part and not in the divisor: PMU_HNF_SNP_FWDED"), "{words}");
}

#[test]
fn the_faults_are_found_without_a_run() {
    let (file, catalog) = file(ARM_FORM);
    let found: Vec<(String, &str)> = review(&file, &catalog, None, 6)
        .into_iter()
        .map(|finding| (finding.metric, finding.kind.name()))
        .collect();
    let expected = [
        ("cmn_bw_peer_cpu_cache", "unit-factor"),
        ("cmn_hnf_memreq_ratio", "unit-label"),
        ("cmn_snf_rxreq_withdata_rate", "unit-label"),
        ("target_proportion_PeerCPUCache", "not-whole"),
    ];
    let expected = expected.map(|(name, kind)| (name.to_owned(), kind));
    let mut found = found;
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn a_file_in_the_form_of_linux_has_its_verdicts() {
    let text = r#"[
        {"MetricName": "slc_miss_rate", "MetricExpr": "hnf_cache_miss / hnf_slc_sf_cache_access",
         "ScaleUnit": "100%", "Unit": "arm_cmn"},
        {"MetricName": "rni_actual_read_bandwidth.all", "MetricExpr": "flits * 32 / 1e6 / duration_time",
         "ScaleUnit": "1MB/s", "Unit": "arm_cmn"},
        {"MetricName": "odd", "MetricExpr": "hnf_cache_mis", "Unit": "arm_cmn"}]"#;
    let value = MeshCount::Value;
    let run = run(&[
        ("arm_cmn_0/hnf_cache_miss/", value(6.0)),
        ("arm_cmn_0/hnf_slc_sf_cache_access/", value(10.0)),
        ("arm_cmn_0/flits/", value(0.0)),
        ("arm_cmn_0/hnf_cache_mis/", MeshCount::Unknown(String::from("no such event"))),
    ]);
    let all = verdicts(text, &run);
    let off = of(&all, "slc_miss_rate");
    assert_eq!((off.status, off.value, off.real), (ValidationStatus::Off, Some(0.6), Some(0.3)));
    assert_eq!(
        words(off),
        "no rule explains the difference | its truth is the same count as the event: this checks \
         the formula only"
    );
    assert_eq!(of(&all, "rni_actual_read_bandwidth.all").status, ValidationStatus::Nothing);
    assert_eq!(of(&all, "odd").missing.as_deref(), Some("no such event"));
}

#[test]
fn retries_of_memory_have_a_verdict_once_it_sends_writes_back() {
    let text = r#"[{"MetricName": "mc_message_retry_rate", "MetricExpr": "hnf_mc_retries / hnf_mc_reqs",
        "ScaleUnit": "100%", "Unit": "arm_cmn"}]"#;
    let counts = |retries| {
        [("arm_cmn_0/hnf_mc_retries/", retries), ("arm_cmn_0/hnf_mc_reqs/", 8.0)]
            .map(|(name, count)| (name, MeshCount::Value(count)))
    };
    let verdict = |retries| {
        let mut run = run(&counts(retries));
        run.truths.set(Truth::MeshMemoryRequests, 8.0);
        run.truths.set(Truth::MeshMemorySentBack, 2.0);
        verdicts(text, &run)[0].1.clone()
    };
    let right = verdict(2.0);
    assert_eq!((right.status, right.real), (ValidationStatus::Right, Some(0.25)));
    assert_eq!(verdict(4.0).status, ValidationStatus::Off);
}

#[test]
fn a_text_with_two_readings_gets_a_verdict_only_if_both_agree() {
    let text = |value: &str| {
        format!(
            r#"{{"components": {{"HNF": {{"metrics": {{"target_proportion_SLC":
                {{"formula": "{value} + 0 * PMU_HNF_CACHE_MISS", "units": "None"}}}}}}}}}}"#
        )
    };
    // Four of ten lines and four of ten requests: both readings are 0.4.
    let status = |value: &str| verdicts(&text(value), &run(&[]))[0].1.status;
    assert_eq!(status("0.4"), ValidationStatus::Right);
    assert_eq!(status("0.7"), ValidationStatus::Off);
    let mut other = run(&[]);
    other.truths.set(Truth::MeshOtherAccepted, 7.0);
    let verdict = &verdicts(&text("0.7"), &other)[0].1;
    assert_eq!(verdict.status, ValidationStatus::Unclaimed);
    assert!(words(verdict).contains("mesh.supply.slc or mesh.served.slc"), "{}", words(verdict));
}

/// Returns a file in Arm's form with one metric.
fn one(name: &str, formula: &str, units: &str) -> String {
    format!(
        r#"{{"product_configuration": {{"product_name": "A mesh"}}, "components": {{"HNF":
            {{"metrics": {{"{name}": {{"formula": "{formula}", "units": "{units}"}}}}}}}}}}"#
    )
}

fn only(name: &str, formula: &str, units: &str, run: &MeshEvidence) -> Verdict {
    verdicts(&one(name, formula, units), run).remove(0).1
}

#[test]
fn directions_that_a_text_leaves_open_are_both_accepted_or_none_is() {
    let mut run = run(&[]);
    run.truths.set(Truth::MeshMemoryBytes, 640.0);
    run.truths.set(Truth::MeshMemoryReadBytes, 192.0);
    run.truths.set(Truth::MeshSlcBothBytes, 640.0);
    run.truths.set(Truth::MeshMemoryRequests, 10.0);
    run.truths.set(Truth::MeshIoReadBytes, 64.0);
    let bytes = |number: &str| {
        format!("{number} * PMU_HNF_CACHE_MISS / 3 / (SYS_CMN_CYCLES / SYS_FREQUENCY)")
    };
    let read = String::from("PMU_HNF_CACHE_MISS / PMU_HNF_SLCSF_CACHE_ACCESS");
    for (name, formula, units) in [
        ("cmn_bw_snf", bytes("192"), "Bytes per second"),
        ("cmn_bw_snf", bytes("640"), "Bytes per second"),
        ("cmn_bw_slc", bytes("256"), "Bytes per second"),
        ("cmn_bw_slc", bytes("640"), "Bytes per second"),
        ("cmn_hnf_memreq_ratio", read, "None"),
        ("rni_actual_read_bandwidth.all", bytes("64"), "Bytes per second"),
        ("rni_actual_write_bandwidth.all", bytes("64"), "Bytes per second"),
        // The first reading is 0, and the second one is not.
        ("rni_actual_write_bandwidth.all", bytes("0"), "Bytes per second"),
    ] {
        let verdict = only(name, &formula, units, &run);
        assert_eq!(verdict.status, ValidationStatus::Unclaimed, "{name}: {}", words(&verdict));
        assert!(verdict.has("two-readings"), "{name}: {}", words(&verdict));
    }
    let off = only("cmn_bw_snf", &bytes("900"), "Bytes per second", &run);
    assert_eq!(off.status, ValidationStatus::Off);
}

#[test]
fn a_value_is_right_or_corrected_only_by_both_readings() {
    let mut run = run(&[]);
    // No line came, so the first reading has no value.
    run.truths.set(Truth::MeshLines, 0.0);
    let formula = "0.4 * PMU_HNF_CACHE_MISS / 3";
    let verdict = only("target_proportion_SLC", formula, "None", &run);
    assert_eq!(verdict.status, ValidationStatus::Unclaimed, "{}", words(&verdict));
    let formula = "PMU_HNF_SNP_FWDED * 64000 * SYS_FREQUENCY / SYS_CMN_CYCLES";
    let mut run = self::run(&[]);
    run.truths.set(Truth::MeshMemoryReadBytes, 64.0);
    let verdict = only("cmn_bw_snf", formula, "Bytes per second", &run);
    assert_eq!(verdict.corrected, None, "{}", words(&verdict));
    assert!(verdict.has("two-readings") && verdict.has("unit-factor"), "{}", words(&verdict));
    run.truths.set(Truth::MeshMemoryReadBytes, 192.0);
    let verdict = only("cmn_bw_snf", formula, "Bytes per second", &run);
    assert!(verdict.corrected.is_some() && !verdict.has("two-readings"), "{}", words(&verdict));
}

#[test]
fn requests_that_may_move_a_line_are_a_range() {
    let mut run = run(&[]);
    run.truths.set(Truth::MeshMovedLines, 14.0);
    run.truths.set(Truth::MeshAskedLines, 10.0);
    run.truths.set(Truth::MeshAskedMostLines, 20.0);
    let status = |number: &str| {
        let formula = format!("{number} * PMU_HNF_CACHE_MISS / 3 / SYS_CMN_CYCLES * 1000");
        only("cmn_rnf_txreq_withdata_rate", &formula, "Requests", &run).status
    };
    assert_eq!(status("14"), ValidationStatus::Right);
    assert_eq!(status("10"), ValidationStatus::Unclaimed);
    assert_eq!(status("20"), ValidationStatus::Unclaimed);
    assert_eq!(status("25"), ValidationStatus::Off);
    assert_eq!(status("8"), ValidationStatus::Off);
}

#[test]
fn a_difference_is_explained_only_by_look_ups_whose_numbers_make_it_up() {
    let run = run(&[]);
    let has = |formula: &str| {
        let verdict = only("target_proportion_SLC", formula, "None", &run);
        assert_eq!(verdict.status, ValidationStatus::Off, "{formula}");
        (verdict.has("other-requests"), verdict.has("unexplained"))
    };
    // Seven hits for seven hits and three requests to memory.
    let hits = "(PMU_HNF_SLCSF_CACHE_ACCESS - PMU_HNF_CACHE_MISS)";
    let targets = format!("{hits} / ({hits} + CMN_SNF_WP_RXREQ_COUNT)");
    assert_eq!(has(&targets), (true, false));
    assert_eq!(has("0 * PMU_HNF_CACHE_MISS + 0.9"), (false, true));
    assert_eq!(has("0 * PMU_HNF_SLCSF_CACHE_ACCESS + 0.7"), (false, true));
    assert_eq!(has("PMU_HNF_SLCSF_CACHE_ACCESS * 0.09"), (false, true));
}

#[test]
fn bytes_that_move_are_explained_in_lines_of_64() {
    let mut run = run(&[]);
    run.truths.set(Truth::MeshWriteEvicts, 3.0);
    let find = |value| explain::difference(Truth::MeshCoreBytes, value, 1.0, false, &run);
    let reason = find(7.0 * 64.0).map(|reason| reason.to_string());
    assert!(reason.is_some_and(|text| text.starts_with("3 WriteEvictOrEvict")));
    assert_eq!(find(640.0 - 3.0), None);
}

#[test]
fn a_factor_is_one_of_the_whole_only_if_all_events_share_it() {
    let run = run(&[]);
    let text = |formula: &str| {
        let rate = format!("({formula}) / SYS_CMN_CYCLES * SYS_FREQUENCY");
        let verdict = only("cmn_bw_peer_cpu_cache", &rate, "Bytes per second", &run);
        (words(&verdict), verdict.corrected.is_some())
    };
    let (words, corrected) = text("PMU_HNF_SNP_FWDED * 64000 + 64 * PMU_HNF_CACHE_MISS");
    assert!(words.contains("bytes for each PMU_HNF_SNP_FWDED, which moves at most 64: 1000"));
    assert!(!corrected && !words.contains("too large"), "{words}");
    let (words, corrected) = text("PMU_HNF_SNP_FWDED * 0.064");
    assert!(words.contains("which moves at most 64: 1000 times too little"), "{words}");
    assert!(corrected, "{words}");
}

#[test]
fn a_verdict_says_whether_its_truth_is_counted_elsewhere() {
    let run = run(&[("PMU_HNF_MC_REQS", MeshCount::Value(3.0))]);
    let formula = "PMU_HNF_MC_REQS / CMN_RNF_WP_TXREQ_READNOTSHAREDDIRTY_COUNT";
    let elsewhere = only("cmn_hnf_memreq_ratio", formula, "None", &run);
    assert_eq!(elsewhere.status, ValidationStatus::Right);
    assert!(elsewhere.has("independent"), "{}", words(&elsewhere));
    let formula = "CMN_SNF_WP_RXREQ_COUNT / PMU_HNF_SLCSF_CACHE_ACCESS";
    let same = only("cmn_hnf_memreq_ratio", formula, "None", &run);
    assert!(same.has("same-counts") && !same.alarms(), "{}", words(&same));
}

#[test]
fn built_in_metrics_of_the_mesh_are_sound() {
    let catalog = crate::builtin::mesh_catalog();
    let metrics = catalog.metrics().to_vec();
    let file = MetricFile { metrics, ..MetricFile::default() };
    assert_eq!(review(&file, &catalog, None, 6), []);
    for metric in &file.metrics {
        let judge = MeshValidator::new(metric, &catalog, Tolerance::default()).expect("a claim");
        assert!(judge.expect("of the mesh").truth().is_some(), "{}", metric.name);
        assert!(!metric.description.is_empty() && !metric.description.ends_with('.'));
        assert!(!metric.scale.unit.is_empty() && !metric.groups.is_empty(), "{}", metric.name);
    }
}
