//! Data that a metric refers to and nothing provides. Without them there is no verdict and no
//! reason.

use sim_core::pmu_event::EventNameError;

use super::claims;
use crate::builtin;
use crate::formula::event_use::Quantity;
use crate::formula::foreign;
use crate::formula::{EventUse, Linked, MetricFormula};

/// Returns the missing data with what to provide, or `None` if the metric can be validated.
pub(super) fn of(metric: &MetricFormula, formula: Option<&Linked>) -> Option<String> {
    let in_formula = || formula?.events().iter().find_map(name);
    metric.missing.clone().or_else(in_formula)
}

/// Returns the message about a name that is not an event of any core but may be something else.
fn name(name: &EventUse) -> Option<String> {
    let spelled = &name.name;
    match &name.quantity {
        Quantity::Mesh => {
            Some(format!("{spelled} is an event of the mesh: its count is not available here"))
        }
        Quantity::OtherPmu(pmu) => Some(format!(
            "{spelled} is an event of {pmu}, outside the core: its count is not available"
        )),
        Quantity::Unknown(EventNameError::NotModeled(..)) => Some(format!(
            "{spelled} is an event that n2sim does not model: its count is not available"
        )),
        Quantity::Unknown(EventNameError::Unknown(_, nearest)) => {
            if is_metric(spelled) {
                return Some(format!(
                    "{spelled} is the name of a metric, which is not defined; name the file that defines it \
                     too (--metrics FILE)"
                ));
            }
            let is_event = foreign::from_name(spelled).is_some()
                || foreign::is_of_x86(spelled)
                || nearest.first().is_some();
            (!is_event).then(|| {
                format!(
                    "{spelled} is neither an event nor a defined metric; write its value in its \
                     place, or name the file that defines it too (--metrics FILE)"
                )
            })
        }
        _ => None,
    }
}

/// Returns whether this is the name of a published or a built-in metric.
pub(super) fn is_metric(name: &str) -> bool {
    claims::is_known(name) || builtin::catalog().get(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::{Catalog, Formula};

    fn missing(text: &str) -> Option<String> {
        let metric = MetricFormula::new("m", text, "test");
        let formula = Formula::parse(text).expect("a formula");
        let linked = Linked::new(&formula, &Catalog::default()).expect("links");
        of(&metric, Some(&linked))
    }

    #[test]
    fn missing_data_are_named() {
        for (text, named) in [
            ("ipc / #slots", "ipc is the name of a metric"),
            ("OP_RETIRED / (CPU_CYCLES * SLOTS_OF_THIS_CORE)", "SLOTS_OF_THIS_CORE is neither"),
            ("CPU_CYCLES * inverseClock", "inverseClock is neither"),
            ("arm_cmn_0@hnf_mc_reqs@ / INST_RETIRED", "is an event of the mesh"),
            ("arm_dsu_0@cycles@ / INST_RETIRED", "is an event of arm_dsu_0"),
            ("TRB_WRAP / CPU_CYCLES", "TRB_WRAP is an event that n2sim does not model"),
        ] {
            let message = missing(text).unwrap_or_default();
            assert!(message.contains(named), "{text}: {message}");
        }
    }

    #[test]
    fn unknown_events_are_wrong_rather_than_missing() {
        for text in
            ["INST_RETIRED / CPU_CYCLES", "UOPS_ISSUED.ANY", "LL_CACHE_MISS", "L1D_CACH", "r0c"]
        {
            assert_eq!(missing(text), None, "{text}");
        }
    }
}
