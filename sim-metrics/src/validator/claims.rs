//! Ground truth that a metric claims, and the value in its unit. A metric may state its claim.
//! Published metrics do not, so this table has the names that the files of Linux and Arm give to
//! metrics of this core.

use crate::formula::{MetricFormula, Scale};
use crate::truth::{Truth, TruthUnit};

/// Names of published metrics and their claims.
#[rustfmt::skip]
const KNOWN: &[(&str, Truth)] = &[
    ("frontend_bound", Truth::FrontendBound),
    ("backend_bound", Truth::BackendBound),
    ("bad_speculation", Truth::BadSpeculation),
    ("retiring", Truth::Retiring),
    ("frontend_stalled_cycles", Truth::FrontendCycles),
    ("backend_stalled_cycles", Truth::BackendCycles),
    ("ipc", Truth::Ipc),
    ("ipc_rate", Truth::RetiredPerSlot),
    ("spec_ipc", Truth::ExecutedIpc),
    ("retired_rate", Truth::OpsKept),
    ("wasted_rate", Truth::OpsWasted),
    ("branch_misprediction_ratio", Truth::BranchMissRatio),
    ("branch_mpki", Truth::BranchMpki),
    ("branch_pki", Truth::BranchPki),
    ("branch_percentage", Truth::BranchMix),
    ("branch_immed_spec_rate", Truth::ImmediateMix),
    ("branch_indirect_spec_rate", Truth::IndirectMix),
    ("branch_return_spec_rate", Truth::ReturnMix),
    ("crypto_percentage", Truth::CryptoMix),
    ("integer_dp_percentage", Truth::IntegerMix),
    ("load_percentage", Truth::LoadMix),
    ("store_percentage", Truth::StoreMix),
    ("scalar_fp_percentage", Truth::FloatMix),
    ("simd_percentage", Truth::SimdMix),
    ("sve_all_percentage", Truth::SveMix),
    ("dtlb_mpki", Truth::DtlbWalkPki),
    ("dtlb_walk_ratio", Truth::DtlbWalkRatio),
    ("itlb_mpki", Truth::ItlbWalkPki),
    ("itlb_walk_ratio", Truth::ItlbWalkRatio),
    ("l1d_cache_miss_ratio", Truth::L1dMissRatio),
    ("l1d_cache_mpki", Truth::L1dMpki),
    ("l1d_tlb_miss_ratio", Truth::DtlbMissRatio),
    ("l1d_tlb_mpki", Truth::DtlbMpki),
    ("l1i_cache_miss_ratio", Truth::L1iMissRatio),
    ("l1i_cache_mpki", Truth::L1iMpki),
    ("l1i_tlb_miss_ratio", Truth::ItlbMissRatio),
    ("l1i_tlb_mpki", Truth::ItlbMpki),
    ("l2_cache_miss_ratio", Truth::L2MissRatio),
    ("l2_cache_mpki", Truth::L2Mpki),
    ("l2_tlb_miss_ratio", Truth::L2TlbMissRatio),
    ("l2_tlb_mpki", Truth::L2TlbMpki),
    ("ll_cache_read_hit_ratio", Truth::SlcHitRatio),
    ("ll_cache_read_miss_ratio", Truth::SlcMissRatio),
    ("ll_cache_read_mpki", Truth::SlcMpki),
    ("l3d_cache_mpki", Truth::SlcMpki),
    ("l3d_cache_miss_rate", Truth::SlcMissRatio),
];

/// Returns the ground truth of a metric: its stated claim, or the meaning of its published name.
///
/// # Errors
/// The claim is not a known ground truth; the error is its name.
pub fn claim(metric: &MetricFormula) -> Result<Option<Truth>, String> {
    match &metric.claims {
        Some(name) => Truth::from_name(name).map(Some).ok_or_else(|| name.clone()),
        None => {
            let is_named = |name: &str| metric.name.eq_ignore_ascii_case(name);
            Ok(KNOWN.iter().find(|(name, _)| is_named(name)).map(|(_, truth)| *truth))
        }
    }
}

/// Returns whether this is the name of a published metric.
pub(super) fn is_known(name: &str) -> bool {
    KNOWN.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
}

/// Returns the factor that converts a formula's value to the unit of a truth.
pub(super) fn factor(scale: &Scale, truth: Truth) -> f64 {
    let unit = scale.unit.to_ascii_lowercase();
    let is_percent = unit.contains("percent") || unit.contains('%');
    match truth.unit() {
        TruthUnit::Share if is_percent => scale.factor / 100.0,
        _ => scale.factor,
    }
}

/// Returns the ground truths with similar names.
pub fn suggestions(name: &str) -> Vec<&'static str> {
    let group = name.split('.').next().unwrap_or(name);
    let is_like = |truth: &&Truth| truth.name().split('.').next() == Some(group);
    Truth::ALL.iter().filter(is_like).map(|truth| truth.name()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_stated_or_known_by_name() {
        let metric = MetricFormula::new("IPC", "1", "");
        assert_eq!(claim(&metric), Ok(Some(Truth::Ipc)));
        let said = MetricFormula { claims: Some("l1d.mpki".to_owned()), ..metric.clone() };
        assert_eq!(claim(&said), Ok(Some(Truth::L1dMpki)));
        let wrong = MetricFormula { claims: Some("l1d.luck".to_owned()), ..metric };
        assert_eq!(claim(&wrong), Err("l1d.luck".to_owned()));
        assert!(suggestions("l1d.luck").contains(&"l1d.miss_ratio"));
        assert_eq!(claim(&MetricFormula::new("mine", "1", "")), Ok(None));
    }

    #[test]
    fn percent_and_share_are_distinguished() {
        let scale = |text| Scale::parse(text).expect("a scale");
        assert_eq!(factor(&scale("100percent of branches"), Truth::BranchMissRatio), 1.0);
        assert_eq!(factor(&scale("1percent of slots"), Truth::Retiring), 0.01);
        assert_eq!(factor(&scale("1MPKI"), Truth::BranchMpki), 1.0);
        assert_eq!(factor(&Scale::default(), Truth::Retiring), 1.0);
    }

    #[test]
    fn suggestions_belong_to_the_same_group() {
        let like = suggestions("l1d.luck");
        assert!(like.iter().all(|name| name.starts_with("l1d.")), "{like:?}");
        assert_eq!(suggestions("luck"), [""; 0]);
        let percent = Scale { factor: 100.0, unit: "%".to_owned() };
        assert_eq!(factor(&percent, Truth::BranchMissRatio), 1.0);
    }
}
