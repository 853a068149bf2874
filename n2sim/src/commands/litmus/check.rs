//! `n2sim litmus check`: what a machine counted beside the claims.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args as ClapArgs;
use sim_core::Shown;
use sim_litmus::counts::Sample;
use sim_litmus::judge::{judge, totals};
use sim_litmus::{Answer, Counted, JudgedCase, JudgedClaim};

use super::all_cases::AllCases;
use crate::files::output::Output;
use crate::verdict::Verdict;

/// Compare what a machine counted with the claims
#[derive(Debug, ClapArgs)]
pub(crate) struct CheckArgs {
    /// Result of the program: `./litmus -o result.json`
    result: PathBuf,
    /// File to write (default: standard output)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write a Markdown document with every case, not only those that differ
    #[arg(long)]
    markdown: bool,
}

/// Compares, and prints the cases that do not agree.
pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<Verdict> {
    let context = || format!("cannot read {}", args.result.shown());
    let text = std::fs::read_to_string(&args.result).with_context(context)?;
    let counted = Counted::read(&text).with_context(|| args.result.shown().to_string())?;
    let all = AllCases::read()?;
    let judged = judge(&all.candidates, &all.admission, &counted);
    let mut out = Output::create(args.output.as_deref())?;
    let text = match args.markdown {
        true => markdown(&counted, &judged),
        false => plain(&counted, &judged),
    };
    out.write_all(text.as_bytes())?;
    out.finish()?;
    Ok(if totals(&judged).differ > 0 { Verdict::Refuted } else { Verdict::Good })
}

const TAKES: &str = "a String takes all text";

/// Returns the machine in a line.
fn machine(counted: &Counted) -> String {
    let machine = &counted.machine;
    let mut parts = Vec::new();
    if !machine.name.is_empty() {
        parts.push(machine.name.clone());
    }
    if !machine.midr.is_empty() {
        parts.push(format!("MIDR {}", machine.midr));
    }
    if !machine.kernel.is_empty() {
        parts.push(format!("Linux {}", machine.kernel));
    }
    if machine.counters > 0 {
        parts.push(format!("{} counters", machine.counters));
    }
    if !machine.huge_pages {
        parts.push("no huge pages".to_owned());
    }
    parts.join(", ")
}

/// Returns how many cases agree.
fn sums(judged: &[JudgedCase]) -> String {
    let totals = totals(judged);
    let mut text = format!("{} of {} cases agree", totals.agree, judged.len());
    for (count, what) in [
        (totals.differ, "differ"),
        (totals.unclear, "vary too much"),
        (totals.not_counted, "could not be counted"),
    ] {
        if count > 0 {
            write!(text, ", {count} {what}").expect(TAKES);
        }
    }
    text
}

fn plain(counted: &Counted, judged: &[JudgedCase]) -> String {
    let mut text = format!("{}\n{}\n", machine(counted), sums(judged));
    if counted.machine.counters == 0 && counted.cases.is_empty() {
        text += "The machine gave no counters to the program; what it printed says why.\n";
    }
    for case in judged.iter().filter(|case| case.differences().next().is_some()) {
        write!(text, "\n{}\n  {} ({})\n  {}\n", case.id, case.claim, case.guide, case.steps)
            .expect(TAKES);
        for claim in case.differences() {
            writeln!(text, "    {}", difference(claim)).expect(TAKES);
        }
    }
    text
}

/// Returns a claim that does not hold, in a sentence.
fn difference(claim: &JudgedClaim) -> String {
    let counted = claim.counted.map_or_else(String::new, number);
    let left = match claim.left {
        0 => String::new(),
        left => format!(" and {left} by what follows"),
    };
    let how = match claim.answer {
        Answer::Differs { deviations } if deviations.is_finite() && deviations < 1000.0 => {
            format!(" ({deviations:.0} standard deviations)")
        }
        _ => String::new(),
    };
    format!("{}: claimed {}{left}, counted {counted}{how}", claim.event.mnemonic(), claim.claim)
}

/// Returns a mean with its deviation.
fn number(sample: Sample) -> String {
    match sample.deviation < 0.005 {
        true => format!("{:.2}", sample.mean),
        false => format!("{:.2} +- {:.2}", sample.mean, sample.deviation),
    }
}

fn markdown(counted: &Counted, judged: &[JudgedCase]) -> String {
    let mut text = format!("# PMU litmus\n\n{}\n\n{}.\n", machine(counted), sums(judged));
    for case in judged {
        let answer = answer(case.answer());
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
            let answer = self::answer(claim.answer);
            writeln!(text, "| `{event}` | {said} | {model} | {counted} | {answer} |").expect(TAKES);
        }
    }
    text
}

/// Returns the claims to show: those that say more than 0, and those that do not hold.
fn shown(case: &JudgedCase) -> impl Iterator<Item = &JudgedClaim> {
    let says_more = |claim: &&JudgedClaim| {
        claim.claim.min > 0 || claim.left != 0 || claim.answer != Answer::Agrees
    };
    case.claims.iter().filter(says_more)
}

/// Returns what the replay on the model counts: the claim and what follows it.
fn model(claim: &JudgedClaim) -> String {
    match claim.claim.exact() {
        Some(exact) => (exact as i64 + claim.left).to_string(),
        None => claim.claim.to_string(),
    }
}

fn answer(answer: Answer) -> &'static str {
    match answer {
        Answer::Agrees => "agrees",
        Answer::Differs { .. } => "**differs**",
        Answer::Unclear => "varies",
        Answer::NotCounted => "not countable here",
    }
}
