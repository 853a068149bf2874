//! The tools of the server: their arguments with a schema, and the command line of each.

use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde_json::{Value, json};

/// Count PMU events and metrics of a trace, exactly.
#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct Stat {
    /// The trace (*.n2t).
    trace: String,
    /// Events: mnemonics, perf's names or rNN. Without events and metrics: cycles, instructions,
    /// branches, and refills of caches and TLBs.
    #[serde(default)]
    events: Vec<String>,
    /// Metrics or groups of them, such as ipc or TopdownL1.
    #[serde(default)]
    metrics: Vec<String>,
    /// Instructions of each thread to count, such as 500k.
    limit: Option<String>,
    /// Simulated core: neoverse-n2 (default) or cortex-a53.
    core: Option<String>,
    /// Values of the machine to change, such as memory.l2.size-bytes=512K.
    #[serde(default)]
    set: Vec<String>,
}

/// Explain an event, a metric, a section of Arm's PMU guide or a cause of lost slots.
#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct Explain {
    /// Such as L1D_CACHE_REFILL, r0003, ipc, 4.2.1 or L1I miss.
    name: String,
}

/// Compare metric formulas with ground-truth values: the error of each, and its reason.
#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct Validate {
    /// Traces to replay.
    traces: Vec<String>,
    /// A file of metrics (Linux perf or Arm JSON, PAPI presets, likwid groups, TOML). Without it:
    /// the metrics of n2sim.
    file: Option<String>,
    /// Only these metrics or groups.
    #[serde(default)]
    metrics: Vec<String>,
    /// Instructions of each thread to count, such as 500k.
    limit: Option<String>,
}

/// Compare two traces, or two reports of `n2sim report --json`: what changed, where, and because
/// of what.
#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct Diff {
    /// The first trace or report.
    base: String,
    /// The second one.
    new: String,
    /// Limits to judge, such as cycles>+2%.
    #[serde(default)]
    limits: Vec<String>,
    /// Instructions of each thread to compare, such as 500k.
    limit: Option<String>,
}

/// Follow a memory access through TLBs and caches, step by step, with the events that it raises.
#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct Flow {
    /// Steps such as 'LD8 0x8000' or 'ST8 0x8000; LD8 0x8008' (docs/scenarios.md).
    access: String,
    /// State before: cold (default), TLB warm, L2 hit, L1 hit, L1 hit dirty, TLB miss, L1 TLB miss,
    /// SLC hit, peer or dirty victim.
    state: Option<String>,
}

/// Run traces on every combination of values, and return one row for each.
#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct Sweep {
    /// The grid, as TOML: traces, limit, metrics, and [[vary]] with key and values; parts = N cuts
    /// long traces into parallel runs, regions = ["FILE"] runs only their windows (docs/sweep.md).
    pub(super) grid: String,
}

/// A call of a tool.
#[derive(Debug, PartialEq)]
pub(super) enum Call {
    Stat(Stat),
    Explain(Explain),
    Validate(Validate),
    Diff(Diff),
    Flow(Flow),
    Sweep(Sweep),
}

/// Returns the tools with the schemas of their arguments.
pub(super) fn list() -> Vec<Value> {
    let tool = |name: &str, schema: schemars::Schema| {
        let mut schema = schema.to_value();
        // The text on the arguments is the text on the tool.
        let text = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        json!({
            "name": name,
            "description": text,
            "inputSchema": schema,
            "annotations": {"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false},
        })
    };
    vec![
        tool("stat", schema_for!(Stat)),
        tool("explain", schema_for!(Explain)),
        tool("validate", schema_for!(Validate)),
        tool("diff", schema_for!(Diff)),
        tool("flow", schema_for!(Flow)),
        tool("sweep", schema_for!(Sweep)),
    ]
}

impl Call {
    /// Returns the call of a request, or what is wrong with it.
    pub(super) fn read(parameters: &Value) -> Result<Call, String> {
        let name = parameters.get("name").and_then(Value::as_str);
        let name = name.ok_or_else(|| "tools/call needs the name of a tool".to_owned())?;
        let arguments = parameters.get("arguments").cloned().unwrap_or_else(|| json!({}));
        let call = match name {
            "stat" => serde_json::from_value(arguments).map(Call::Stat),
            "explain" => serde_json::from_value(arguments).map(Call::Explain),
            "validate" => serde_json::from_value(arguments).map(Call::Validate),
            "diff" => serde_json::from_value(arguments).map(Call::Diff),
            "flow" => serde_json::from_value(arguments).map(Call::Flow),
            "sweep" => serde_json::from_value(arguments).map(Call::Sweep),
            _ => return Err(format!("there is no tool {name:?}: {}", names().join(", "))),
        };
        call.map_err(|error| format!("{name}: {error}"))
    }

    /// Returns the words of the command line, without the program, and without the file of a sweep.
    pub(super) fn words(&self) -> Vec<String> {
        match self {
            Call::Stat(stat) => stat.words(),
            Call::Explain(Explain { name }) => Words::of("explain").last([name]),
            Call::Validate(validate) => validate.words(),
            Call::Diff(diff) => diff.words(),
            Call::Flow(Flow { access, state }) => Words::of("flow")
                .option("access", Some(access))
                .option("state", state.as_ref())
                .last([]),
            Call::Sweep(_) => vec!["sweep".to_owned()],
        }
    }
}

fn names() -> Vec<String> {
    list().iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
}

/// Events that are counted without a wish. Both cores have them.
const USUAL: [&str; 9] = [
    "cycles",
    "instructions",
    "br_pred",
    "br_mis_pred",
    "l1i_cache_refill",
    "l1d_cache",
    "l1d_cache_refill",
    "l2d_cache_refill",
    "l1d_tlb_refill",
];

impl Stat {
    fn words(&self) -> Vec<String> {
        let words = Words::of("stat").flag("json").options("event", &self.events);
        let has_wish = !self.events.is_empty() || !self.metrics.is_empty();
        let usual: &[&str] = if has_wish { &[] } else { &USUAL };
        let usual: Vec<String> = usual.iter().map(ToString::to_string).collect();
        let words = words.options("event", &usual);
        let words = self.metrics.iter().fold(words, |words, name| words.short("-M", name));
        let words = words.option("limit", self.limit.as_ref());
        words.option("core", self.core.as_ref()).options("set", &self.set).last([&self.trace])
    }
}

impl Validate {
    fn words(&self) -> Vec<String> {
        let words = Words::of("validate").flag("json").option("metrics", self.file.as_ref());
        let words = self.metrics.iter().fold(words, |words, name| words.short("-M", name));
        words.option("limit", self.limit.as_ref()).last(&self.traces)
    }
}

impl Diff {
    fn words(&self) -> Vec<String> {
        let words =
            Words::of("diff").flag("runs").flag("markdown").options("fail-on", &self.limits);
        words.option("limit", self.limit.as_ref()).last([&self.base, &self.new])
    }
}

/// A command line in the making. Values are attached to their options, and files follow `--`, so
/// that no value becomes an option.
struct Words(Vec<String>);

impl Words {
    fn of(command: &str) -> Words {
        Words(vec![command.to_owned()])
    }

    fn flag(mut self, name: &str) -> Words {
        self.0.push(format!("--{name}"));
        self
    }

    fn short(mut self, name: &str, value: &str) -> Words {
        self.0.push(format!("{name}{value}"));
        self
    }

    fn option(mut self, name: &str, value: Option<&String>) -> Words {
        self.0.extend(value.map(|value| format!("--{name}={value}")));
        self
    }

    fn options(self, name: &str, values: &[String]) -> Words {
        values.iter().fold(self, |words, value| words.option(name, Some(value)))
    }

    fn last<'a>(mut self, files: impl IntoIterator<Item = &'a String>) -> Vec<String> {
        self.0.push("--".to_owned());
        self.0.extend(files.into_iter().cloned());
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(name: &str, arguments: Value) -> Result<Vec<String>, String> {
        Call::read(&json!({"name": name, "arguments": arguments})).map(|call| call.words())
    }

    #[test]
    fn no_value_becomes_an_option() {
        let call =
            words("stat", json!({"trace": "--output=x", "events": ["--all"], "limit": "1k"}));
        assert_eq!(
            call.as_deref(),
            Ok(&["stat", "--json", "--event=--all", "--limit=1k", "--", "--output=x"]
                .map(String::from)[..])
        );
        let call = words("validate", json!({"traces": ["a"], "metrics": ["--all"]}));
        assert!(call.is_ok_and(|call| call.contains(&"-M--all".to_owned())));
    }

    #[test]
    fn wrong_arguments_are_named() {
        let said = |name: &str, arguments| words(name, arguments).expect_err("it is wrong");
        assert!(said("stats", json!({})).contains("stat, explain, validate, diff, flow, sweep"));
        assert!(said("stat", json!({})).contains("missing field `trace`"));
        assert!(
            said("stat", json!({"trace": "a", "event": "b"})).contains("unknown field `event`")
        );
    }

    #[test]
    fn every_tool_says_what_it_does_and_takes() {
        for tool in list() {
            assert!(tool["description"].as_str().is_some_and(|text| text.len() > 20), "{tool}");
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
            for (name, field) in tool["inputSchema"]["properties"].as_object().expect("arguments") {
                assert!(field["description"].is_string(), "{name}: {field}");
            }
        }
    }
}
