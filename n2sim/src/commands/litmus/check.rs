//! `n2sim litmus check`: what a machine counted beside the claims.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args as ClapArgs;
use sim_core::{PmuEvent, Shown};
use sim_litmus::counts::Sample;
use sim_litmus::judge::{judge, totals};
use sim_litmus::program::mark_of;
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
    let text = sim_files::read_to_string(&args.result).with_context(context)?;
    let counted = Counted::read(&text).with_context(|| args.result.shown().to_string())?;
    let all = AllCases::read()?;
    let programs = [mark_of(&all.admitted()), mark_of(&all.candidates)];
    anyhow::ensure!(
        programs.contains(&counted.program),
        "{}: this was counted by the program of another n2sim; export it again",
        args.result.shown()
    );
    let judged = judge(&all.candidates, &all.admission, &counted);
    let totals = totals(&judged);
    anyhow::ensure!(
        totals.not_counted < judged.len(),
        "{}: nothing was counted; what the program printed says why",
        args.result.shown()
    );
    let mut out = Output::create(args.output.as_deref())?;
    let text = match args.markdown {
        true => markdown(&counted, &judged),
        false => plain(&counted, &judged),
    };
    out.write_all(text.as_bytes())?;
    out.finish()?;
    Ok(if totals.differ > 0 { Verdict::Refuted } else { Verdict::Good })
}

const TAKES: &str = "a String takes all text";

/// Returns the machine in a line.
fn machine(counted: &Counted) -> String {
    let machine = &counted.machine;
    let mut parts = Vec::new();
    if !machine.name.is_empty() {
        parts.push(machine.name.shown().to_string());
    }
    if !machine.midr.is_empty() {
        parts.push(format!("MIDR {}", machine.midr.shown()));
    }
    if !machine.kernel.is_empty() {
        parts.push(format!("Linux {}", machine.kernel.shown()));
    }
    if machine.counters > 0 {
        parts.push(format!("{} counters", machine.counters));
    }
    if !machine.midr.is_empty() && !is_n2(&machine.midr) {
        parts.push("not a Neoverse N2, whose guide the claims follow".to_owned());
    }
    if !machine.huge_pages {
        parts.push("no huge pages".to_owned());
    }
    parts.join(", ")
}

/// Returns true for the MIDR of a Neoverse N2: implementer Arm, part 0xD49 (TRM).
fn is_n2(midr: &str) -> bool {
    let number = u64::from_str_radix(midr.trim_start_matches("0x"), 16);
    number.is_ok_and(|midr| midr >> 24 & 0xff == 0x41 && midr >> 4 & 0xfff == 0xd49)
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
    let zero = always_zero(judged);
    if !zero.is_empty() {
        writeln!(
            text,
            "counted 0 in every case: {}; the machine may not have them",
            zero.join(", ")
        )
        .expect(TAKES);
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

/// Returns the events that a case claims and that counted nothing anywhere.
fn always_zero(judged: &[JudgedCase]) -> Vec<&'static str> {
    let claims = || judged.iter().flat_map(|case| &case.claims);
    let of = |event: PmuEvent| claims().filter(move |claim| claim.event == event);
    let is_zero = |claim: &JudgedClaim| claim.counted.is_some_and(|sample| sample.mean == 0.0);
    let never =
        |event: &PmuEvent| of(*event).any(|claim| claim.claim.min > 0) && of(*event).all(is_zero);
    PmuEvent::ALL.into_iter().filter(never).map(|event| event.mnemonic()).collect()
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
        Some(exact) => (exact + claim.left).to_string(),
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
