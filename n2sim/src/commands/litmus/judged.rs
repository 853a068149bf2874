//! A result of a machine beside the claims, and the words for it that all outputs share.

use std::path::{Path, PathBuf};

use sim_core::{PmuEvent, Shown};
use sim_litmus::counts::Sample;
use sim_litmus::judge::{Totals, judge, totals};
use sim_litmus::{Answer, Counted, JudgedCase, JudgedClaim, Midr};

use super::all_cases::Cases;
use crate::plural::{form_for, number_of};

/// A result, compared.
pub(super) struct Judged {
    /// Name of the machine, or of the file.
    pub(super) name: String,
    /// File of the result.
    pub(super) file: PathBuf,
    /// It is of the module of the kernel, not of the program.
    pub(super) of_module: bool,
    /// The result.
    pub(super) counted: Counted,
    /// Every admitted case.
    pub(super) cases: Vec<JudgedCase>,
    /// Cases that expect other counts of this machine than the guide of the Neoverse N2 says.
    pub(super) exceptions: usize,
}

impl Judged {
    /// Returns the result of a file, compared with its cases.
    pub(super) fn new(path: &Path, counted: Counted, own: &Cases) -> Judged {
        let cases = judge(&own.candidates, &own.admission, &counted);
        let name = match counted.machine.name.is_empty() {
            true => path.file_stem().map_or(path, Path::new).shown().to_string(),
            false => counted.machine.name.shown().to_string(),
        };
        let is_exception =
            |case: &&JudgedCase| case.claims.iter().any(|claim| claim.exception.is_some());
        let exceptions = cases.iter().filter(is_exception).count();
        let (file, of_module) = (path.to_owned(), own.in_module);
        Judged { name, file, of_module, counted, cases, exceptions }
    }

    /// Returns the number of cases by their answer.
    pub(super) fn totals(&self) -> Totals {
        totals(&self.cases)
    }

    /// Returns the core with its revision, if the result has its number.
    pub(super) fn core(&self) -> Option<String> {
        self.counted.machine.number().map(Midr::title)
    }

    /// Returns how the claims apply to a core that the guide is not about, or to a revision that
    /// cases know of.
    pub(super) fn whose_claims(&self) -> Option<String> {
        let midr = self.counted.machine.number()?;
        let (own, rest) = (self.exceptions, self.cases.len() - self.exceptions);
        match (midr.is_n2(), own) {
            (true, 0) => None,
            (true, _) => Some(format!(
                "{} {} other counts of {}",
                number_of(own, "case"),
                form_for(own, "expects", "expect"),
                midr.revision()
            )),
            (false, 0) => Some(format!(
                "not a Neoverse N2: no case has an expectation for this core, all {rest} are judged by the guide of the Neoverse N2"
            )),
            (false, _) => Some(format!(
                "not a Neoverse N2: {} {} expectations for this core, {rest} {} judged by the guide of the Neoverse N2",
                number_of(own, "case"),
                form_for(own, "has", "have"),
                form_for(rest, "is", "are"),
            )),
        }
    }

    /// Returns the machine in a line.
    pub(super) fn machine(&self) -> String {
        let machine = &self.counted.machine;
        let mut parts = vec![self.name.clone()];
        if let Some(core) = self.core() {
            parts.push(format!("{core} (MIDR {})", machine.midr.shown()));
        } else if !machine.midr.is_empty() {
            parts.push(format!("MIDR {}", machine.midr.shown()));
        }
        if !machine.kernel.is_empty() {
            parts.push(format!("Linux {}", machine.kernel.shown()));
        }
        if machine.counters > 0 {
            parts.push(number_of(machine.counters, "counter"));
        }
        // The module makes its own blocks of 2 MiB.
        if !machine.huge_pages && !self.of_module {
            parts.push("no huge pages".to_owned());
        }
        parts.join(", ")
    }

    /// Returns how many cases agree.
    pub(super) fn sums(&self) -> String {
        let totals = self.totals();
        let (agree, all) = (totals.agree, number_of(self.cases.len(), "case"));
        let mut text = format!("{agree} of {all} {}", form_for(agree, "agrees", "agree"));
        for (count, what) in [
            (totals.differ, form_for(totals.differ, "differs", "differ")),
            (totals.unclear, form_for(totals.unclear, "varies too much", "vary too much")),
            (totals.not_counted, "could not be counted"),
        ] {
            if count > 0 {
                text += &format!(", {count} {what}");
            }
        }
        text
    }

    /// Returns the events that a case claims and that counted nothing anywhere.
    pub(super) fn always_zero(&self) -> Vec<&'static str> {
        let claims = || self.cases.iter().flat_map(|case| &case.claims);
        let of = |event: PmuEvent| claims().filter(move |claim| claim.event == event);
        let is_zero = |claim: &JudgedClaim| claim.counted.is_some_and(|sample| sample.mean == 0.0);
        let never = |event: &PmuEvent| {
            of(*event).any(|claim| claim.claim.min > 0) && of(*event).all(is_zero)
        };
        PmuEvent::ALL.into_iter().filter(never).map(|event| event.mnemonic()).collect()
    }
}

/// Returns a mean with its deviation.
pub(super) fn number(sample: Sample) -> String {
    match sample.deviation < 0.005 {
        true => format!("{:.2}", sample.mean),
        false => format!("{:.2} ± {:.2}", sample.mean, sample.deviation),
    }
}

/// Returns the distance of a claim that does not hold, if the counts vary.
pub(super) fn deviations(answer: Answer) -> Option<f64> {
    match answer {
        Answer::Differs { deviations } if deviations < 1000.0 => Some(deviations),
        _ => None,
    }
}

/// Returns the claims to show: those that say more than 0, and those that do not hold.
pub(super) fn shown(case: &JudgedCase) -> impl Iterator<Item = &JudgedClaim> {
    case.claims.iter().filter(|claim| says_more(claim))
}

/// Returns true if the claim says more than 0, or does not hold.
pub(super) fn says_more(claim: &JudgedClaim) -> bool {
    claim.expected().min > 0
        || claim.claim.min > 0
        || claim.left != 0
        || claim.answer != Answer::Agrees
}

/// Returns what the replay on the model counts: the claim and what follows it.
pub(super) fn model(claim: &JudgedClaim) -> String {
    match claim.claim.exact() {
        Some(exact) => (exact + claim.left).to_string(),
        None => claim.claim.to_string(),
    }
}

/// Returns an answer in a word.
pub(super) fn word(answer: Answer) -> &'static str {
    match answer {
        Answer::Agrees => "agrees",
        Answer::Differs { .. } => "differs",
        Answer::Unclear => "varies",
        Answer::NotCounted => "not countable",
    }
}
