//! The words of a question and of a setup, for pages, slides and plain text.

use sim_course::{Answer, Question, Run, Setup, Tolerance};

/// Returns the kind of answer that a question wants, in a few words.
pub(super) fn wanted(question: &Question) -> String {
    match &question.answer {
        Answer::Number { .. } => {
            let unit = if question.unit.is_empty() { "a number" } else { &question.unit };
            match tolerance(question.within) {
                None => format!("{unit}, exactly"),
                Some(room) => format!("{unit}; {room} is right"),
            }
        }
        Answer::Source { .. } => format!("one of: {}", sim_course::source::list()),
        Answer::Choice { options, .. } => {
            format!("the text of a choice, or its number from 1 to {}", options.len())
        }
    }
}

fn tolerance(within: Tolerance) -> Option<String> {
    match within {
        Tolerance::Absolute(0.0) => None,
        Tolerance::Absolute(room) => Some(format!("up to {room} off")),
        Tolerance::Percent(room) => Some(format!("up to {room} percent off")),
    }
}

/// Returns the state and the steps of a setup, or its trace: a name and a text each.
pub(super) fn facts(setup: &Setup) -> Vec<(&'static str, String)> {
    match &setup.run {
        Run::Scenario(scenario) => {
            let mut facts =
                vec![("given", scenario.given.clone()), ("do", one_line(&scenario.done))];
            facts.extend(set(&scenario.set));
            if !scenario.names.is_empty() {
                let names = scenario.names.iter().map(|(name, at)| format!("{name} = 0x{at:x}"));
                facts.push(("names", names.collect::<Vec<_>>().join(", ")));
            }
            facts
        }
        Run::Trace(run) => {
            let mut facts = vec![
                ("trace", run.trace.clone()),
                ("instructions", sim_course::text::shown(run.instructions as f64)),
            ];
            facts.extend(set(&run.set));
            if let Some(sharing) = run.sharing {
                facts.push(("counters", sharing.counters.to_string()));
                facts.push(("interval", format!("{} microseconds", sharing.interval)));
            }
            facts
        }
    }
}

fn set(set: &[(String, String)]) -> Option<(&'static str, String)> {
    let pairs: Vec<String> = set.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    (!pairs.is_empty()).then(|| ("set", pairs.join(", ")))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
