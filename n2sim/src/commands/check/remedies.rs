//! Remedies that messages about scenarios add: the place of a refused setting, the metric that an
//! expectation names, and the key that leaves other events open.

use sim_core::config::ConfigError;
use sim_core::pmu_event::EventNameError;
use sim_scenario::{Case, CaseError, Problem, ScenarioError, Verdict};

use crate::counting::metric_name;

/// Returns the error of a case with the place of each setting that it refuses.
pub(super) fn placed(file: &str, case: &Case, error: CaseError) -> anyhow::Error {
    let CaseError::Config { test, source: ConfigError::Refused(faults) } = &error else {
        return anyhow::Error::new(error).context(file.to_owned());
    };
    let place = |key: &str| {
        let own = case.given.set.iter().position(|(own, _)| own.trim_matches('"') == key);
        own.and_then(|own| case.given.set_places.get(own))
    };
    let lines: Option<Vec<String>> = faults
        .iter()
        .map(|fault| {
            let place = place(&fault.key)?;
            let (line, column, message) = (place.line, place.column, &fault.message);
            Some(format!("{file}:{line}:{column}: in set of the case '{test}': {message}"))
        })
        .collect();
    match lines {
        Some(lines) => anyhow::anyhow!("{}", lines.join("\n")),
        None => anyhow::Error::new(error).context(file.to_owned()),
    }
}

/// Returns the error of a file, which names the metric that an expectation takes for an event.
pub(super) fn of_file(error: ScenarioError) -> anyhow::Error {
    let metric = match &error.problem {
        Problem::UnknownEvent(EventNameError::Unknown(name, _)) => metric_name::remark(name),
        _ => None,
    };
    match metric {
        Some(metric) => {
            let ScenarioError { file, place, .. } = error;
            anyhow::anyhow!(
                "{file}:{}:{}: {metric}; expect the counts of events, as in INST_RETIRED 1, and let \
                 `n2sim check {file} --case NAME -M METRIC` compute metrics",
                place.line,
                place.column
            )
        }
        None => anyhow::Error::new(error),
    }
}

/// Wrong counts of events that were expected to stay 0, from which the events seem forgotten.
const FORGOTTEN: usize = 3;

/// Returns the hint for a case with events that were expected to stay 0: if it fails only because
/// of them, or if they are many.
pub(super) fn others(verdict: &Verdict) -> Option<String> {
    let only_counts = Verdict { mismatches: Vec::new(), ..verdict.clone() }.holds();
    let only_more = verdict.mismatches.iter().all(|wrong| wrong.expected.max == 0);
    let more = verdict.mismatches.iter().filter(|wrong| wrong.expected.max == 0).count();
    let begin = match () {
        () if more == 0 => return None,
        () if only_counts && only_more => {
            "every event that 'expect' names has its count; others counted"
        }
        () if more >= FORGOTTEN => "events that 'expect' does not name must be 0, and some counted",
        () => return None,
    };
    Some(format!(
        "    {begin}. Name these events, write a vector, which names all events of an access (8 V1), or set \
         others = \"any\" to leave them open\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_machine::ConfigSource;
    use sim_scenario::{parse, run_case};

    fn hint(expect: &str) -> Option<String> {
        let head = "guide = 'g'\nclaim = 'c'\ntest = 't'\ngiven = 'K1'\ndo = 'LD8 0x8000'\n";
        let cases = parse("t.toml", &format!("{head}{expect}\n")).expect("a good file");
        others(&run_case(&cases[0], &ConfigSource::default()).expect("it runs"))
    }

    #[test]
    fn forgotten_events_get_one_hint() {
        let is = |expect: &str, begin: &str| {
            let hint = hint(expect).unwrap_or_default();
            assert!(hint.trim_start().starts_with(begin), "{expect}: {hint}");
            assert!(hint.ends_with("leave them open\n"), "{expect}: {hint}");
        };
        is("expect = 'L1D_CACHE_REFILL 1'", "every event that 'expect' names has its count");
        is("expect = 'L1D_CACHE_REFILL 2'", "events that 'expect' does not name must be 0");
        assert!(hint("expect = 'L1D_CACHE_REFILL 2'").is_some_and(|hint| hint.contains("(8 V1)")));
        assert_eq!(hint("expect = 'L1D_CACHE_REFILL 2'\nothers = 'any'"), None);
        assert_eq!(hint("expect = 'V1; L1D_CACHE_REFILL 1'"), None);
    }
}
