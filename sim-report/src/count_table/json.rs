//! Rows of `perf stat -j`: one JSON object per line.

use serde_json::Value as Json;

use super::error::{CountTableError, shown};
use super::row::{Row, Value, spread};

/// Keys that name the owner of a count.
const OWNERS: [&str; 8] = ["core", "die", "socket", "node", "cache", "cluster", "cpu", "thread"];

/// Reads one line. Returns `None` if it holds no count.
pub(super) fn row(line: &str, number: usize) -> Result<Option<Row>, CountTableError> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let object: Json = serde_json::from_str(line)
        .map_err(|error| CountTableError::Json { line: number, reason: error.to_string() })?;
    let text = |key: &str| object.get(key).and_then(Json::as_str).map(str::to_owned);
    let Some(event) = text("event") else {
        // Further metrics of an event, and the description of the run, are separate objects.
        let is_other = ["metric-value", "metricgroup", "n2sim"];
        let is_metric = is_other.iter().any(|key| object.get(key).is_some());
        let error = CountTableError::Field { line: number, field: "event" };
        return if is_metric { Ok(None) } else { Err(error) };
    };
    let bare = || object.get("counter-value").filter(|value| value.is_number());
    let value = text("counter-value")
        .or_else(|| bare().map(Json::to_string))
        .ok_or(CountTableError::Field { line: number, field: "counter-value" })?;
    let value = Value::parse(&value)
        .ok_or_else(|| CountTableError::Value { line: number, value: shown(&value) })?;
    let interval = object.get("interval").map(Json::to_string);
    let function = text("function");
    let is_function = function.is_some();
    let owners = OWNERS.into_iter().filter_map(text).chain(function);
    let owner: Vec<String> = interval.into_iter().chain(owners).collect();
    let percent = object.get("pcnt-running").and_then(Json::as_f64).unwrap_or(100.0);
    let (owner, share) = (owner.join(" "), percent / 100.0);
    let spread = object.get("variance").and_then(Json::as_f64).and_then(spread);
    Ok(Some(Row { owner, is_function, event, value, share, spread }))
}
