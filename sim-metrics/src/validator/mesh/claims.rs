//! Ground truth that a metric of the mesh claims. Published metrics do not state it, so this table
//! has the names of Linux and of Arm's telemetry, with the reading of their descriptions. Where a
//! description leaves the quantity open, there is no verdict on the value.

use crate::formula::bandwidth_unit::bytes_per_second;
use crate::formula::{MetricFormula, Scale};
use crate::truth::{Truth, TruthUnit};

/// Claim of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Claim {
    /// The metric claims to be this value.
    Is(Truth),
    /// The description allows two readings. A value that is neither is off.
    Either(Truth, Truth),
    /// No verdict on the value, for this reason.
    Open(&'static str),
    /// Nothing is known about the metric.
    None,
}

impl Claim {
    /// Returns what the metric may claim to be.
    pub(super) fn readings(&self) -> Vec<Truth> {
        match self {
            Claim::Is(truth) => vec![*truth],
            Claim::Either(one, other) => vec![*one, *other],
            Claim::Open(_) | Claim::None => Vec::new(),
        }
    }
}

/// Returns the largest value of a reading that leaves open which requests belong to it. The truth
/// itself is the least.
pub(super) fn most(truth: Truth) -> Truth {
    match truth {
        Truth::MeshAskedLines => Truth::MeshAskedMostLines,
        Truth::MeshAskedBytes => Truth::MeshAskedMostBytes,
        Truth::MeshAskedRate => Truth::MeshAskedMostRate,
        Truth::MeshAskedBandwidth => Truth::MeshAskedMostBandwidth,
        other => other,
    }
}

const DESTINATIONS: &str = "its text does not say whether requests that the system level cache \
    answers have a destination; the formula leaves them out";
const GATEWAY: &str = "its text does not say which part of the traffic to another chip and to CXL \
    devices it means";
const TOTAL: &str = "its text does not say whether a line that passes two components, such as \
    memory and a home node, counts once or twice";
const OCCUPANCY: &str = "the model knows the time in a queue only by this event";
const SEPARATE: &str = "memory of the model is read with ReadNoSnp, and the formula counts \
    ReadNoSnpSep; which of them a machine uses is its choice";
const DEVICE_DATA: &str = "a request to a device moves any number of bytes, and its text does not \
    say which of them count";
const IO_DATA: &str = "its text does not list the requests of I/O agents that move data";
const NO_RETRIES: &str = "gateways of the model send no request back";
const NOT_SENT: &str = "cores of the model send no such request to home nodes";
const UNIT: &str = "its unit is not one of a bandwidth that is known here, such as GB/s or MiB/s";
const DIVISOR: &str = "it is a sum that other metrics are divided by";

/// Names of published metrics and their claims. Those of an HN-S are those of an HN-F.
const KNOWN: &[(&str, Claim)] = {
    use Claim::{Either, Is, Open};
    use Truth as T;
    &[
        // Linux.
        ("slc_miss_rate", Is(T::MeshSlcMissRatio)),
        ("hnf_message_retry_rate", Is(T::MeshSentBackRatio)),
        ("mc_message_retry_rate", Is(T::MeshMemorySentBackRatio)),
        ("sf_hit_rate", Is(T::MeshFilterHitRatio)),
        // Their texts contradict their names: the one for reads says what an RN-I sends.
        ("rni_actual_read_bandwidth.all", Either(T::MeshIoReadBandwidth, T::MeshIoWriteBandwidth)),
        ("rni_actual_write_bandwidth.all", Either(T::MeshIoWriteBandwidth, T::MeshIoReadBandwidth)),
        // Arm: the whole mesh.
        ("cmn_bw_rnf", Either(T::MeshCoreBandwidth, T::MeshAskedBandwidth)),
        ("cmn_bw_slc", Either(T::MeshSlcBandwidth, T::MeshSlcBothBandwidth)),
        ("cmn_bw_peer_cpu_cache", Is(T::MeshPeerBandwidth)),
        ("cmn_bw_snf", Either(T::MeshMemoryBandwidth, T::MeshMemoryReadBandwidth)),
        ("cmn_bw_rni", Open(IO_DATA)),
        ("cmn_bw_rnd", Open(IO_DATA)),
        ("cmn_bw_io", Open(DEVICE_DATA)),
        ("cmn_bw_ccg_c2c_destination", Open(GATEWAY)),
        ("cmn_bw_ccg_c2c_requestor", Open(GATEWAY)),
        ("cmn_bw_ccg_cxl", Open(GATEWAY)),
        ("cmn_bw_total", Open(TOTAL)),
        ("requestor_proportion_rnf", Is(T::MeshOfCores)),
        ("requestor_proportion_rni", Is(T::MeshOfIo)),
        ("requestor_proportion_ccg", Is(T::MeshOfRemote)),
        ("requestor_destination_proportion_local", Open(DESTINATIONS)),
        ("requestor_destination_proportion_remote", Open(DESTINATIONS)),
        ("total_requestor_destination_rate", Open(DIVISOR)),
        ("total_requestor_rate", Open(DIVISOR)),
        ("total_target_rate", Open(DIVISOR)),
        ("target_proportion_slc", Either(T::MeshBySlc, T::MeshServedBySlc)),
        ("target_proportion_snf", Either(T::MeshByMemory, T::MeshServedByMemory)),
        ("target_proportion_peercpucache", Either(T::MeshByPeers, T::MeshServedByPeers)),
        ("target_proportion_io", Open(DEVICE_DATA)),
        ("target_proportion_ccg", Open(GATEWAY)),
        // Arm: home nodes.
        ("cmn_hnf_fwded_snp_rate", Is(T::MeshForwardRate)),
        ("cmn_hnf_memreq_rate", Is(T::MeshMemoryRate)),
        ("cmn_hnf_memreq_ratio", Either(T::MeshMemoryEach, T::MeshMemoryReadsEach)),
        ("cmn_hnf_txreq_rate", Is(T::MeshMemoryRate)),
        ("cmn_hnf_pocq_address_hazard_rate", Is(T::MeshHazardRate)),
        ("cmn_hnf_pocq_address_hazard_ratio", Is(T::MeshHazardRatio)),
        ("cmn_hnf_pocq_retry_rate", Is(T::MeshSentBackRate)),
        ("cmn_hnf_pocq_retry_ratio", Either(T::MeshRetriesEach, T::MeshSentBackRatio)),
        ("cmn_hnf_rxreq_rate", Is(T::MeshArrivalRate)),
        ("cmn_hnf_rxreq_readnotshareddirty_rate", Is(T::MeshReadRate)),
        ("cmn_hnf_rxreq_readunique_rate", Is(T::MeshReadUniqueRate)),
        ("cmn_hnf_rxreq_makereadunique_rate", Is(T::MeshMakeReadUniqueRate)),
        ("cmn_hnf_rxreq_makeunique_rate", Is(T::MeshMakeUniqueRate)),
        ("cmn_hnf_rxreq_writebackfull_rate", Is(T::MeshWriteBackRate)),
        ("cmn_hnf_rxreq_writeevictorevict_rate", Is(T::MeshWriteEvictRate)),
        ("cmn_hnf_rxreq_evict_rate", Is(T::MeshEvictRate)),
        ("cmn_hnf_rxreq_writenosnoopfull_rate", Open(NOT_SENT)),
        ("cmn_hnf_sf_hit_rate", Is(T::MeshFilterHitRate)),
        ("cmn_hnf_sf_hit_ratio", Is(T::MeshFilterHitRatio)),
        ("cmn_hnf_sf_lookup_rate", Is(T::MeshLookUpRate)),
        ("cmn_hnf_sf_miss_rate", Is(T::MeshFilterMissRate)),
        ("cmn_hnf_sf_miss_ratio", Is(T::MeshFilterMissRatio)),
        ("cmn_hnf_sf_snoop_sent_rate", Either(T::MeshSnoopRate, T::MeshSnoopingRate)),
        ("cmn_hnf_slc_hit_rate", Is(T::MeshSlcHitRate)),
        ("cmn_hnf_slc_hit_ratio", Is(T::MeshSlcHitRatio)),
        ("cmn_hnf_slc_lookup_rate", Is(T::MeshLookUpRate)),
        ("cmn_hnf_slc_miss_rate", Is(T::MeshSlcMissRate)),
        ("cmn_hnf_slc_miss_ratio", Is(T::MeshSlcMissRatio)),
        // Arm: other nodes.
        ("cmn_rnf_txreq_rate", Is(T::MeshCoreRequestRate)),
        ("cmn_rnf_txreq_withdata_rate", Either(T::MeshMovedRate, T::MeshAskedRate)),
        ("cmn_rni_txreq_rate", Is(T::MeshIoRequestRate)),
        ("cmn_rni_txreq_withdata_rate", Open(IO_DATA)),
        ("cmn_hni_rxreq_rate", Is(T::MeshDeviceRate)),
        ("cmn_hni_rxreq_withdata_rate", Open(DEVICE_DATA)),
        ("cmn_snf_rxreq_rate", Is(T::MeshMemoryRate)),
        ("cmn_snf_rxreq_withdata_rate", Open(SEPARATE)),
        ("cmn_snf_txrsp_retry_rate", Is(T::MeshMemorySentBackRate)),
        ("cmn_ccg_rxrsp_retry_rate", Open(NO_RETRIES)),
        ("cmn_ccg_txrsp_retry_rate", Open(NO_RETRIES)),
        ("cmn_ccg_rxreq_rate", Open(GATEWAY)),
        ("cmn_ccg_rxreq_withdata_rate", Open(GATEWAY)),
        ("cmn_ccg_txreq_rate", Open(GATEWAY)),
        ("cmn_ccg_txreq_withdata_rate", Open(GATEWAY)),
    ]
};

/// Returns the claim of a metric: the stated one, or the meaning of its published name.
///
/// # Errors
/// The stated claim is not a ground truth of the mesh; the message names similar ones.
pub(super) fn claim(metric: &MetricFormula) -> Result<Claim, String> {
    let claim = stated(metric)?;
    let unit = &metric.scale.unit;
    // Without a unit, the value is in that of the truth.
    let is_known = unit.is_empty() || bytes_per_second(unit).is_some();
    Ok(match claim {
        Claim::Is(truth) | Claim::Either(truth, _)
            if truth.unit() == TruthUnit::BytesPerSecond && !is_known =>
        {
            Claim::Open(UNIT)
        }
        _ => claim,
    })
}

fn stated(metric: &MetricFormula) -> Result<Claim, String> {
    let Some(name) = &metric.claims else { return Ok(known(&metric.name)) };
    Truth::of_mesh(name).map(Claim::Is).ok_or_else(|| {
        let group = name.rsplit_once('.').map_or("mesh", |(group, _)| group);
        let names = Truth::OF_MESH.iter().map(|truth| truth.name());
        let like: Vec<&str> = names.filter(|own| own.starts_with(group)).take(6).collect();
        let hint = match (Truth::from_name(name), like.is_empty()) {
            (Some(_), _) => String::from(", only of a core"),
            (None, true) => String::from("; n2sim validate --list-truths has them"),
            (None, false) => format!("; similar names are {}", like.join(", ")),
        };
        format!(
            "{}: metric '{}' claims '{name}', which is not a ground truth of the mesh{hint}",
            metric.source, metric.name
        )
    })
}

fn known(name: &str) -> Claim {
    let name = name.to_ascii_lowercase().replace("cmn_hns_", "cmn_hnf_");
    if name.contains("avg_occupancy") {
        return Claim::Open(OCCUPANCY);
    }
    KNOWN.iter().find(|(known, _)| *known == name).map_or(Claim::None, |(_, claim)| *claim)
}

/// Returns the factor that converts a formula's value to the unit of a truth.
pub(super) fn factor(scale: &Scale, truth: Truth) -> f64 {
    let unit = scale.unit.to_ascii_lowercase();
    let is_percent = unit.contains("percent") || unit.contains('%');
    let of_unit = match truth.unit() {
        TruthUnit::Share | TruthUnit::PerRequest if is_percent => 0.01,
        TruthUnit::BytesPerSecond => bytes_per_second(&scale.unit).unwrap_or(1.0),
        _ => 1.0,
    };
    scale.factor * of_unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_stated_or_known_by_name() {
        let metric = MetricFormula::new("SLC_Miss_Rate", "1", "");
        assert_eq!(claim(&metric), Ok(Claim::Is(Truth::MeshSlcMissRatio)));
        let of_hns = MetricFormula::new("cmn_hns_sf_hit_ratio", "1", "");
        assert_eq!(claim(&of_hns), Ok(Claim::Is(Truth::MeshFilterHitRatio)));
        let said = MetricFormula { claims: Some("mesh.supply.slc".to_owned()), ..metric.clone() };
        assert_eq!(claim(&said), Ok(Claim::Is(Truth::MeshBySlc)));
        let error = |name: &str| {
            let metric = MetricFormula { claims: Some(name.to_owned()), ..metric.clone() };
            claim(&metric).expect_err("no truth of the mesh")
        };
        assert!(error("mesh.supply.luck").contains("similar names are mesh.supply.slc"));
        assert!(error("ipc").ends_with("only of a core"));
        assert_eq!(claim(&MetricFormula::new("mine", "1", "")), Ok(Claim::None));
    }

    #[test]
    fn names_are_unique_and_in_lower_case() {
        for (at, (name, _)) in KNOWN.iter().enumerate() {
            assert_eq!(*name, name.to_ascii_lowercase());
            assert!(!KNOWN[..at].iter().any(|(other, _)| other == name), "{name}");
        }
    }

    #[test]
    fn readings_of_a_text_have_one_unit() {
        let bytes = Scale::parse("1e-9GB/s").expect("a scale");
        for (name, claim) in KNOWN {
            let all = claim.readings();
            let factors: Vec<f64> = all.iter().map(|truth| factor(&bytes, *truth)).collect();
            assert!(factors.windows(2).all(|pair| pair[0] == pair[1]), "{name}");
            assert!(all.iter().all(|truth| most(*truth).unit() == truth.unit()), "{name}");
        }
    }

    #[test]
    fn a_text_that_leaves_the_direction_open_has_two_readings() {
        for name in [
            "cmn_bw_snf",
            "cmn_bw_slc",
            "cmn_hnf_memreq_ratio",
            "rni_actual_read_bandwidth.all",
            "rni_actual_write_bandwidth.all",
        ] {
            assert_eq!(known(name).readings().len(), 2, "{name}");
        }
    }

    #[test]
    fn units_are_converted() {
        let scale = |text| Scale::parse(text).expect("a scale");
        assert_eq!(factor(&scale("100%"), Truth::MeshSlcMissRatio), 1.0);
        assert_eq!(factor(&scale("1Percentage"), Truth::MeshSlcMissRatio), 0.01);
        assert_eq!(factor(&scale("1MB/s"), Truth::MeshIoReadBandwidth), 1e6);
        let own = factor(&scale("1e-9GB/s"), Truth::MeshCoreBandwidth);
        assert!((own - 1.0).abs() < 1e-12);
        assert_eq!(factor(&scale("1Bytes per second"), Truth::MeshCoreBandwidth), 1.0);
    }
}
