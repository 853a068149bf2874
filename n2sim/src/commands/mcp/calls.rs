//! Runs the command of a call as a process of its own, and makes its small answer. A failure of
//! the command is its message, without effect on the server.

use std::process::{ChildStdin, Output, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Map, Value, json};
use sim_files::ScratchDirectory;

use super::tools::Call;
use crate::host::call;
use crate::host::signals::END_WITH_INPUT;

/// The answer of a tool.
pub(super) enum Answer {
    Text(String),
    Structure(Value),
}

/// The standard input of a running command. The command ends when it is dropped.
pub(super) type Input = ChildStdin;

/// Runs a call. `started` gets the input of its process.
///
/// # Errors
/// Fails with the message of the command.
pub(super) fn run(call: &Call, started: impl FnOnce(Input)) -> Result<Answer> {
    match call {
        Call::Sweep(sweep) => swept(&sweep.grid, started),
        _ => {
            let output = output(&call.words(), started)?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            match call {
                Call::Stat(_) => Ok(Answer::Structure(counted(&text, &output)?)),
                Call::Validate(_) => {
                    let metrics = lines(&text)?.iter().map(verdict).collect::<Vec<_>>();
                    Ok(Answer::Structure(json!({"metrics": metrics, "notes": notes(&output)})))
                }
                Call::Diff(_) => Ok(Answer::Structure(json!({
                    "limits-hold": output.status.success(), "summary": text, "notes": notes(&output),
                }))),
                _ => Ok(Answer::Text(text)),
            }
        }
    }
}

/// Runs this program. Status 1 is a check that failed, which is an answer too.
fn output(words: &[String], started: impl FnOnce(Input)) -> Result<Output> {
    let mut command = call::again().context("this program cannot find itself")?;
    command.args(words).env(END_WITH_INPUT, "1").stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = sim_files::spawn(&mut command).context("cannot run n2sim")?;
    if let Some(input) = process.stdin.take() {
        started(input);
    }
    let output = process.wait_with_output().context("cannot wait for n2sim")?;
    match output.status.code() {
        Some(0 | 1) => Ok(output),
        _ => {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            bail!(if said.is_empty() { format!("n2sim: {}", output.status) } else { said })
        }
    }
}

/// Returns what a command said beside its result, one note a line.
fn notes(output: &Output) -> Vec<String> {
    let said = String::from_utf8_lossy(&output.stderr);
    let lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

/// Returns the JSON values of lines. Lines with other text describe the run.
fn lines(text: &str) -> Result<Vec<Value>> {
    let values = text.lines().filter(|line| line.starts_with('{'));
    values.map(|line| serde_json::from_str(line).context("a line is no JSON")).collect()
}

/// Fields of a verdict on a formula that an answer has.
const VERDICT: [&str; 11] = [
    "run", "metric", "formula", "standing", "alarm", "value", "truth", "unit", "relative",
    "reasons", "missing",
];

/// Returns the part of a verdict that an answer has.
fn verdict(line: &Value) -> Value {
    let field = |name: &str| Some((name.to_owned(), line.get(name)?.clone()));
    Value::Object(VERDICT.into_iter().filter_map(field).collect())
}

/// Returns the counts and metrics of `stat --json`.
fn counted(text: &str, output: &Output) -> Result<Value> {
    let (mut counts, mut metrics) = (Map::new(), Map::new());
    for line in lines(text)? {
        let field = |name: &str| line.get(name).and_then(Value::as_str);
        let number = |name: &str| field(name).and_then(|text| text.parse::<f64>().ok());
        if let Some(event) = field("event") {
            // A count is a whole number; what cannot be counted has none.
            let count = number("counter-value").map(|count| json!(count as u64));
            counts.insert(event.to_owned(), count.unwrap_or(Value::Null));
        } else if let Some(name) = field("metric-unit") {
            let (unit, name) = name.rsplit_once("  ").unwrap_or(("", name));
            let value = json!({"value": number("metric-value"), "unit": unit.trim()});
            metrics.insert(name.trim().to_owned(), value);
        }
    }
    Ok(json!({"counts": counts, "metrics": metrics, "notes": notes(output)}))
}

/// Returns a grid whose paths are those of this process, although its file is elsewhere.
fn from_here(grid: &str) -> Result<String> {
    let mut grid: toml::Table = grid.parse().context("the grid is no TOML")?;
    let absolute = |value: &mut toml::Value| {
        let path = value.as_str().and_then(|path| std::path::absolute(path).ok());
        if let Some(path) = path.as_deref().and_then(std::path::Path::to_str) {
            *value = toml::Value::from(path);
        }
    };
    for key in ["traces", "regions"] {
        if let Some(files) = grid.get_mut(key).and_then(toml::Value::as_array_mut) {
            files.iter_mut().for_each(absolute);
        }
    }
    if let Some(config) = grid.get_mut("config") {
        absolute(config);
    }
    Ok(grid.to_string())
}

/// Runs a sweep in a directory of its own, which holds its grid and its table.
fn swept(grid: &str, started: impl FnOnce(Input)) -> Result<Answer> {
    let grid = from_here(grid)?;
    let directory = ScratchDirectory::new().context("no directory for the sweep")?;
    let (grid_file, table) =
        (directory.path().join("grid.toml"), directory.path().join("table.csv"));
    std::fs::write(&grid_file, grid).context("cannot write the grid")?;
    let path = |path: &std::path::Path| path.to_str().map(str::to_owned);
    let (Some(grid_file), Some(to)) = (path(&grid_file), path(&table)) else {
        return Err(anyhow!("the directory of temporary files has no readable name"));
    };
    let words = ["sweep", "--output", &to, "--", &grid_file].map(str::to_owned);
    let output = output(&words, started)?;
    let mut reader = csv::Reader::from_path(&table).context("the sweep wrote no table")?;
    let names = reader.headers()?.clone();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record?;
        let cell = |text: &str| {
            text.parse::<u64>().map(Value::from).or_else(|_| text.parse::<f64>().map(Value::from))
        };
        let cells = names.iter().zip(&record).map(|(name, text)| {
            // A name or a hash may look like a number.
            let number = if TEXTS.contains(&name) { None } else { cell(text).ok() };
            (name.to_owned(), number.unwrap_or_else(|| Value::from(text)))
        });
        rows.push(Value::Object(cells.collect()));
    }
    // The table that a note names is gone.
    let notes: Vec<String> =
        notes(&output).into_iter().filter(|note| !note.contains(&*to)).collect();
    Ok(Answer::Structure(json!({"rows": rows, "notes": notes})))
}

/// Columns of a sweep's table with texts.
const TEXTS: [&str; 3] = ["trace", "config-hash", "error"];
