//! Every place of the model that raises an event is proved to matter: silent or doubled, it fails a
//! case.
//!
//! A sink learns from [`Location::caller`] which place raises an event. A core with a fault at that
//! place is the same core with a sink that drops or doubles the event. `cargo test -p sim-scenario
//! mutation::` prints the survivors: places whose events no case checks. A survivor needs a case.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::Location;

use sim_a53::{A53Condition, A53Config, A53Counts, A53Event, A53Sink};
use sim_scenario::a53::{Measure, configure, defaults, run_case_on};

use super::{FiledCase, all_cases, model_sources};

/// Events of lines that take their event from a variable: file, a piece of the line, events.
pub(crate) const TABLES: [(&str, &str, &[A53Event]); 3] = [
    (
        "core/lost.rs",
        "sink.raise(event, at, until - at)",
        &[
            A53Event::SIMD_DEP_STALL,
            A53Event::AGU_DEP_STALL,
            A53Event::OTHER_INTERLOCK_STALL,
            A53Event::IC_DEP_STALL,
            A53Event::IUTLB_DEP_STALL,
            A53Event::OTHER_IQ_DEP_STALL,
        ],
    ),
    (
        "core/write_back.rs",
        "sink.raise(event, begin",
        &[A53Event::ST_DEP_STALL, A53Event::LD_DEP_STALL],
    ),
    (
        "memory/translate.rs",
        "sink.raise(event, ready",
        &[A53Event::L1I_TLB_REFILL, A53Event::L1D_TLB_REFILL],
    ),
];

/// A place in the sources, and the event that it raises there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Site {
    file: &'static str,
    line: u32,
    raised: Raised,
}

/// An event, or a condition of the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Raised {
    Event(A53Event),
    Condition(A53Condition),
}

/// Effect of a faulty place on its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Silent,
    Double,
}

/// A sink that collects the places, or has a fault at one of them.
#[derive(Clone, Default)]
struct Observer {
    counts: A53Counts,
    sites: BTreeSet<Site>,
    fault: Option<(Site, Fault)>,
}

impl Observer {
    /// Returns how often a faulty core raises what a sound one raises `times` times.
    #[track_caller]
    fn observe(&mut self, raised: Raised, times: u64) -> u64 {
        let caller = Location::caller();
        let site = Site { file: caller.file(), line: caller.line(), raised };
        if self.fault.is_none() && times > 0 {
            self.sites.insert(site);
        }
        match self.fault {
            Some((faulty, Fault::Silent)) if faulty == site => 0,
            Some((faulty, Fault::Double)) if faulty == site => 2 * times,
            _ => times,
        }
    }
}

impl A53Sink for Observer {
    #[track_caller]
    fn raise(&mut self, event: A53Event, cycle: u64, times: u64) {
        let times = self.observe(Raised::Event(event), times);
        self.counts.raise(event, cycle, times);
    }

    #[track_caller]
    fn signal(&mut self, condition: A53Condition, cycle: u64, times: u64) {
        let times = self.observe(Raised::Condition(condition), times);
        self.counts.signal(condition, cycle, times);
    }
}

impl AsRef<A53Counts> for Observer {
    fn as_ref(&self) -> &A53Counts {
        &self.counts
    }
}

/// For each place, the cases that reach it, by their index.
type Reached = BTreeMap<Site, Vec<usize>>;

struct Bench {
    cases: Vec<FiledCase>,
    configs: Vec<A53Config>,
}

impl Bench {
    fn new() -> Bench {
        let cases = all_cases();
        let configured = |filed: &FiledCase| {
            let document = defaults().expect("the built-in configuration");
            configure(&filed.case, document).unwrap_or_else(|error| panic!("{error}"))
        };
        let configs = cases.iter().map(configured).collect();
        Bench { cases, configs }
    }

    fn learn(&self) -> Reached {
        let mut reached = Reached::new();
        for (at, FiledCase { file, case }) in self.cases.iter().enumerate() {
            let run = run_case_on(case, &self.configs[at], Observer::default);
            let (verdict, sinks) = run.unwrap_or_else(|error| panic!("{file}: {error}"));
            assert!(verdict.holds(), "{}", verdict.explain(file, case));
            for site in sinks.into_iter().flat_map(|sink| sink.sites) {
                let cases = reached.entry(site).or_default();
                if cases.last() != Some(&at) {
                    cases.push(at);
                }
            }
        }
        for cases in reached.values_mut() {
            cases.sort_by_key(|at| self.cases[*at].case.steps.len());
        }
        reached
    }

    /// Returns whether one of these cases fails on a core with the fault.
    fn is_noticed(&self, site: Site, fault: Fault, cases: &[usize]) -> bool {
        let faulty = || Observer { fault: Some((site, fault)), ..Observer::default() };
        cases.iter().any(|at| {
            let run = run_case_on(&self.cases[*at].case, &self.configs[*at], faulty);
            run.is_ok_and(|(verdict, _)| !verdict.holds())
        })
    }
}

#[test]
fn every_place_that_raises_an_event_fails_a_case_when_it_is_silent_or_doubled() {
    let bench = Bench::new();
    let reached = bench.learn();
    let mut survivors = Vec::new();
    for (site, cases) in &reached {
        for fault in [Fault::Silent, Fault::Double] {
            if !bench.is_noticed(*site, fault, cases) {
                survivors.push(format!("{site:?} {fault:?}"));
            }
        }
    }
    let all = 2 * reached.len();
    assert!(all > 120, "only {all} faults: the sinks observe too little");
    let number = survivors.len();
    assert!(survivors.is_empty(), "{number} of {all} faults survive:\n{}", survivors.join("\n"));
}

/// Every event that a line of the model can raise is raised there in a case.
#[test]
fn every_line_raises_each_of_its_events_in_a_case() {
    let reached = Bench::new().learn();
    let mut problems = Vec::new();
    let mut used = [false; TABLES.len()];
    for (file, line, code, named) in raising_lines() {
        let row = TABLES.iter().position(|row| file.ends_with(row.0) && code.contains(row.1));
        let expected = match row {
            Some(row) => {
                used[row] = true;
                TABLES[row].2.iter().map(|event| Raised::Event(*event)).collect()
            }
            None => named,
        };
        if expected.is_empty() {
            problems.push(format!("{file}:{line}: which events? add a row to TABLES: {code}"));
        }
        for raised in expected {
            let is_here =
                |site: &Site| site.file == file && site.line == line && site.raised == raised;
            if !reached.keys().any(is_here) {
                problems.push(format!("{file}:{line}: {raised:?} by {code}"));
            }
        }
    }
    problems.extend(
        TABLES
            .iter()
            .zip(used)
            .filter(|(_, used)| !used)
            .map(|(row, _)| format!("TABLES: {row:?}")),
    );
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

/// Every event that a run can raise, and every cause of a lost slot, is an exact number above zero
/// in a case.
#[test]
fn every_event_and_every_lost_slot_is_an_exact_number_in_a_case() {
    let cases = all_cases();
    let mut missing = Vec::new();
    for measure in Measure::all() {
        let can_be = match measure {
            Measure::Event(event) => sim_a53::event::never_raised(event).is_none(),
            _ => true,
        };
        let is_expected = cases.iter().flat_map(|filed| &filed.case.expect).any(|expected| {
            expected.measure == measure && expected.bound.exact().is_some_and(|n| n > 0)
        });
        if can_be != is_expected {
            missing.push(measure.name());
        }
    }
    assert!(missing.is_empty(), "no case has an exact number of {}", missing.join(", "));
}

/// Returns the lines of the model that raise events: file, line, code, and the events that the
/// statement names.
pub(crate) fn raising_lines() -> Vec<(String, u32, String, Vec<Raised>)> {
    let mut found = Vec::new();
    for (file, text) in model_sources() {
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let code = line.trim();
            let is_test = code == "#[cfg(test)]"
                && lines.get(at + 1).is_some_and(|next| next.starts_with("mod tests {"));
            if is_test {
                break;
            }
            if !code.starts_with("//") && (code.contains(".raise(") || code.contains(".signal(")) {
                let named = events_named(&lines[at..]);
                found.push((file.clone(), at as u32 + 1, code.to_owned(), named));
            }
        }
    }
    found
}

/// Returns the events and conditions named from the first of these lines to the end of its
/// statement.
fn events_named(lines: &[&str]) -> Vec<Raised> {
    let mut named = Vec::new();
    let mut depth = 0_i32;
    for line in lines {
        let names = line.split("A53Event::").skip(1).map(first_name);
        named.extend(names.filter_map(A53Event::from_mnemonic).map(Raised::Event));
        for name in line.split("A53Condition::").skip(1).map(first_name) {
            let condition = A53Condition::ALL.into_iter().find(|own| format!("{own:?}") == name);
            named.extend(condition.map(Raised::Condition));
        }
        let count = |sign: char| line.matches(sign).count() as i32;
        depth += count('(') - count(')');
        if depth <= 0 {
            break;
        }
    }
    named
}

fn first_name(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    &text[..end.unwrap_or(text.len())]
}
