//! Results beside the claims as text and as Markdown.

use std::fmt::Write as _;

use sim_litmus::{Answer, JudgedCase, JudgedClaim};

use super::super::judged::{Judged, deviations, model, number, shown, word};
use crate::plural::{form_for, number_of};

const TAKES: &str = "a String takes all text";
/// Cases of each kind that are named, unless all are asked for.
const NAMED: usize = 5;

/// Returns the result as text: every difference, and the names of cases without an answer, of each
/// kind some or `all`.
pub(super) fn plain(judged: &Judged, all: bool) -> String {
    let mut text = format!("{}\n{}\n", judged.machine(), judged.sums());
    if let Some(whose) = judged.whose_claims() {
        writeln!(text, "{whose}").expect(TAKES);
    }
    let zero = judged.always_zero();
    if !zero.is_empty() {
        let zero = zero.join(", ");
        writeln!(text, "counted 0 in every case: {zero}; the machine may not have them")
            .expect(TAKES);
    }
    for case in judged.cases.iter().filter(|case| case.differences().next().is_some()) {
        write!(text, "\n{}\n  {} ({})\n  {}\n", case.id, case.claim, case.guide, case.steps)
            .expect(TAKES);
        for claim in case.differences() {
            writeln!(text, "    {}", difference(claim)).expect(TAKES);
        }
    }
    let of = |answer: Answer| judged.cases.iter().filter(move |case| case.answer() == answer);
    let vary = ["varies too much for an answer", "vary too much for an answer"];
    text += &unanswered(vary, of(Answer::Unclear), all);
    text += &unanswered(["could not be counted"; 2], of(Answer::NotCounted), all);
    text
}

/// Returns the cases of one answer, with their events. `what` is said of one case, or of several.
fn unanswered<'a>(
    what: [&str; 2],
    cases: impl Iterator<Item = &'a JudgedCase>,
    all: bool,
) -> String {
    let cases: Vec<_> = cases.collect();
    if cases.is_empty() {
        return String::new();
    }
    let what = form_for(cases.len(), what[0], what[1]);
    let mut text = format!("\n{} {what}:\n", number_of(cases.len(), "case"));
    let named = if all { cases.len() } else { NAMED };
    for case in cases.iter().take(named) {
        let is_open = |claim: &&JudgedClaim| claim.answer == case.answer();
        let events: Vec<String> = case.claims.iter().filter(is_open).map(open_claim).collect();
        let more = match events.len().saturating_sub(NAMED) {
            more if more > 0 && !all => format!(" and {more} more"),
            _ => String::new(),
        };
        let events = &events[..if all { events.len() } else { events.len().min(NAMED) }];
        writeln!(text, "  {}: {}{more}", case.id, events.join(", ")).expect(TAKES);
    }
    if cases.len() > named {
        writeln!(text, "  and {} more (--all)", cases.len() - named).expect(TAKES);
    }
    text
}

fn open_claim(claim: &JudgedClaim) -> String {
    let event = claim.event.mnemonic();
    claim.counted.map_or_else(|| event.to_owned(), |own| format!("{event} {}", number(own)))
}

/// Returns a claim that does not hold, in a sentence.
fn difference(claim: &JudgedClaim) -> String {
    let counted = claim.counted.map_or_else(String::new, number);
    let left = match claim.left {
        0 => String::new(),
        left => format!(" and {left} by what follows"),
    };
    let on = match &claim.exception {
        None => String::new(),
        Some((on, bound)) => format!(", {bound} on {on}"),
    };
    let how = deviations(claim.answer)
        .map_or_else(String::new, |far| format!(" ({far:.0} standard deviations)"));
    format!("{}: claimed {}{on}{left}, counted {counted}{how}", claim.event.mnemonic(), claim.claim)
}

/// Returns a document with every case.
pub(super) fn markdown(judged: &Judged) -> String {
    let mut text = format!("# PMU litmus\n\n{}\n\n{}.\n", judged.machine(), judged.sums());
    for case in &judged.cases {
        let answer = marked(case.answer());
        write!(
            text,
            "\n## {}: {answer}\n\n{} ({}): `{}`\n\n",
            case.id, case.claim, case.guide, case.steps
        )
        .expect(TAKES);
        text += "| event | guide | model | machine | |\n| --- | --- | --- | --- | --- |\n";
        for claim in shown(case) {
            let model = model(claim);
            let counted = claim.counted.map_or_else(|| "-".to_owned(), number);
            let (event, said) = (claim.event.mnemonic(), claim.claim);
            let answer = marked(claim.answer);
            writeln!(text, "| `{event}` | {said} | {model} | {counted} | {answer} |").expect(TAKES);
        }
    }
    text
}

fn marked(answer: Answer) -> String {
    match answer {
        Answer::Differs { .. } => format!("**{}**", word(answer)),
        _ => word(answer).to_owned(),
    }
}
