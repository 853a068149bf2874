//! `cargo xtask twins`: hidden machines with other values than the model, whose counts `n2sim
//! calibrate` gets with noise, as a check of its intervals and ties.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use rand::seq::IteratorRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};
use sim_core::config::Setting;
use sim_machine::ConfigSource;
use sim_tests::repository;

/// Values of a hidden machine that differ.
const CHANGED: usize = 12;

/// Options of `cargo xtask twins`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The program
    #[arg(long, value_name = "FILE", default_value = "target/release/n2sim")]
    program: PathBuf,
    /// Number of the first machine, and how many there are
    #[arg(long, value_name = "FIRST,MACHINES", default_value = "1,10")]
    machines: String,
    /// Another structure: a key and its value, such as memory.prefetch.l1d=false
    #[arg(long, value_name = "KEY=VALUE")]
    structure: Option<String>,
    /// Keep counts, values and reports in this folder; finished machines are not fitted again
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// Fits each hidden machine and prints a row. Returns true if every value that differs is in its
/// interval or in a tie and no machine is called one of another structure, or, with `--structure`,
/// all are.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let numbers = args.machines.split_once(',').context("--machines: give two numbers, 1,10")?;
    let (first, machines): (u64, u64) = (numbers.0.parse()?, numbers.1.parse()?);
    let temporary = tempfile::tempdir()?;
    let folder = args.keep.as_deref().unwrap_or(temporary.path());
    std::fs::create_dir_all(folder)?;
    let values =
        "inside | tied | not seen | outside | others outside | unexplained | few events, by chance";
    let errors = "held out before | after | cycles before | after";
    println!("| machine | {values} | {errors} | runs | minutes |");
    println!("|{}", " --- |".repeat(14));
    let mut is_good = true;
    for machine in first..first + machines {
        is_good &= fit(args, folder, machine)?;
    }
    Ok(is_good)
}

/// Returns the keys with a range, and the values of a hidden machine that differ.
fn hidden(machine: u64) -> Result<Vec<(Setting, i64)>> {
    let settings = ConfigSource::default().document()?.settings();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(machine);
    let with_range = settings.into_iter().filter(|setting| setting.range().is_some());
    let chosen = with_range.sample(&mut random, CHANGED);
    let value = |setting: Setting| {
        let range = setting.range().context("the key has a range")?;
        loop {
            let value = range.value(random.random_range(0..range.len()));
            if value.to_string() != setting.value {
                return Ok((setting, value));
            }
        }
    };
    chosen.into_iter().map(value).collect()
}

/// Fits one machine, if `folder` has no report of the same structure by the same program.
fn fit(args: &Args, folder: &Path, machine: u64) -> Result<bool> {
    let hidden = hidden(machine)?;
    let kept = folder.join(format!("machine-{machine}.report.json"));
    let of = json!({
        "program": sim_calibrate::digest(&std::fs::read(&args.program)?),
        "structure": args.structure,
    });
    let known = std::fs::read(&kept).ok().and_then(|text| serde_json::from_slice(&text).ok());
    let report = match known.filter(|known: &Value| known["of"] == of) {
        Some(known) => known,
        None => {
            let begin = Instant::now();
            let mut report = search(args, folder, machine, &hidden)?;
            report["minutes"] = (begin.elapsed().as_secs_f64() / 60.0).into();
            report["of"] = of;
            std::fs::write(&kept, serde_json::to_string_pretty(&report)?)?;
            report
        }
    };
    Ok(print(machine, &hidden, &report, args.structure.is_some()))
}

/// Counts the hidden machine and fits its counts. Returns the report.
fn search(args: &Args, folder: &Path, machine: u64, hidden: &[(Setting, i64)]) -> Result<Value> {
    let counts = folder.join(format!("machine-{machine}.json"));
    let recording = repository().join("sim-litmus/recordings/kernels.n2t");
    let mut replay = Command::new(&args.program);
    replay.args(["litmus", "replay"]).arg(recording).arg("-o").arg(&counts);
    replay.args(["--noise", "1", "--draw"]).arg(machine.to_string());
    for (setting, value) in hidden {
        replay.arg("--set").arg(format!("{}={value}", setting.key));
    }
    replay.args(args.structure.iter().flat_map(|structure| ["--set", structure]));
    ensure!(replay.status()?.success(), "machine {machine}: the replay failed");
    let mut calibrate = Command::new(&args.program);
    calibrate.arg("calibrate").arg(&counts).arg("--json").arg("-o");
    let output = calibrate.arg(folder.join(format!("machine-{machine}.toml"))).output()?;
    ensure!(
        output.status.code().is_some_and(|code| code < 2),
        "machine {machine}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Prints the row of a machine.
fn print(machine: u64, hidden: &[(Setting, i64)], report: &Value, is_other: bool) -> bool {
    let list = |name: &str| report[name].as_array().cloned().unwrap_or_default();
    let (keys, ties) = (list("keys"), list("ties"));
    let has =
        |tie: &Value, name: &Value| tie["keys"].as_array().is_some_and(|keys| keys.contains(name));
    let is_tied = |name: &Value| ties.iter().any(|tie| has(tie, name));
    let (mut inside, mut tied, mut unseen) = (0, 0, hidden.len());
    let (mut outside, mut others) = (Vec::new(), Vec::new());
    for key in &keys {
        let name = &key["key"];
        let changed = hidden.iter().find(|(setting, _)| *name == setting.key);
        let value = changed.map_or(key["start"].as_i64(), |(_, value)| Some(*value));
        unseen -= usize::from(changed.is_some());
        let missed =
            || format!("{name} {} not in {} to {}", value.unwrap_or(0), key["low"], key["high"]);
        match ((key["low"].as_i64()..=key["high"].as_i64()).contains(&value), changed.is_some()) {
            (true, is_changed) => inside += usize::from(is_changed),
            (false, true) if is_tied(name) => tied += 1,
            (false, true) => outside.push(missed()),
            (false, false) if is_tied(name) => {}
            (false, false) => others.push(missed()),
        }
    }
    let is_structure = |count: &&Value| count["cause"] == "structure";
    let all = list("unexplained").len();
    let unexplained = list("unexplained").iter().filter(is_structure).count();
    let share = |of: &Value| format!("{:.2} %", of.as_f64().unwrap_or_default() * 100.0);
    let (before, after) = (&report["before"], &report["after"]);
    let errors = [
        &before["held_out"],
        &after["held_out"],
        &before["held_out_cycles"],
        &after["held_out_cycles"],
    ];
    let errors = errors.map(share).join(" | ");
    let (outside_list, others) = (outside.join(", "), others.join(", "));
    let values = format!(
        "{inside} | {tied} | {unseen} | {outside_list} | {others} | {unexplained} | {}",
        all - unexplained
    );
    let minutes = report["minutes"].as_f64().unwrap_or_default();
    println!("| {machine} | {values} | {errors} | {} | {minutes:.1} |", report["runs"]);
    match is_other {
        true => unexplained > 0,
        false => outside.is_empty() && unexplained == 0,
    }
}
