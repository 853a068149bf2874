//! `n2sim mcp`: a server of the Model Context Protocol (revision 2025-06-18) on standard input and
//! output, so that assistants and editors ask n2sim themselves.
//!
//! Each message is a line of JSON-RPC 2.0. A tool is a command of this program with few options
//! and a small answer (`tools`); it runs as a process of its own (`calls`).

mod calls;
mod tools;

use std::io::{BufRead, Read, Write};

use serde_json::{Value, json};

use crate::verdict::Verdict;
use calls::Answer;
use tools::Call;

/// Revisions of the protocol that this server speaks, the latest first.
const REVISIONS: [&str; 3] = ["2025-06-18", "2025-03-26", "2024-11-05"];
/// Longest message that is read, in bytes.
const MAX_MESSAGE: u64 = 1 << 20;

/// Errors of JSON-RPC 2.0.
const NOT_JSON: i64 = -32700;
const NO_REQUEST: i64 = -32600;
const NO_METHOD: i64 = -32601;
const WRONG_PARAMETERS: i64 = -32602;

/// Text that a client reads before it uses the tools.
const INSTRUCTIONS: &str = "n2sim replays recorded AArch64 programs (traces, *.n2t) on a model of the Arm Neoverse N2 or \
    Cortex-A53 and counts PMU events exactly. Paths are those of the machine of this server. Start with `stat`; \
    `explain` says what a count means; `validate` says by how much a formula is wrong.";

/// Serve assistants and editors with the Model Context Protocol, on standard input and output
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "A client starts it by itself, for example with\n\n    \
    {\"mcpServers\": {\"n2sim\": {\"command\": \"n2sim\", \"args\": [\"mcp\"]}}}\n\n\
    Its tools: stat, explain, validate, diff, flow, sweep (docs/mcp.md).")]
pub(crate) struct McpArgs {}

/// Answers messages until the client closes the input.
pub(crate) fn run(_: &McpArgs) -> anyhow::Result<Verdict> {
    let mut input = std::io::stdin().lock();
    let mut output = std::io::stdout().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        if (&mut input).take(MAX_MESSAGE).read_until(b'\n', &mut line)? == 0 {
            return Ok(Verdict::Good);
        }
        if line.last() != Some(&b'\n') && line.len() as u64 == MAX_MESSAGE {
            anyhow::bail!("a message is longer than {MAX_MESSAGE} bytes");
        }
        if let Some(reply) = reply(&line) {
            serde_json::to_writer(&mut output, &reply)?;
            output.write_all(b"\n")?;
            output.flush()?;
        }
    }
}

/// Returns the reply to a message, or `None` to one that wants none.
fn reply(line: &[u8]) -> Option<Value> {
    if line.trim_ascii().is_empty() {
        return None;
    }
    let message: Value = match serde_json::from_slice(line) {
        Ok(message) => message,
        Err(fault) => return Some(error(&Value::Null, NOT_JSON, &fault.to_string())),
    };
    let id = message.get("id").cloned().unwrap_or(Value::Null);
    let Some(method) = message.get("method").and_then(Value::as_str) else {
        // A reply to a request of this server, which makes none.
        let is_reply = message.get("result").or(message.get("error")).is_some();
        return (!is_reply).then(|| error(&id, NO_REQUEST, "the message has no method"));
    };
    // A notification.
    message.get("id")?;
    let parameters = message.get("params").unwrap_or(&Value::Null);
    Some(match result(method, parameters) {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err((code, text)) => error(&id, code, &text),
    })
}

fn error(id: &Value, code: i64, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}})
}

/// Returns the result of a request, or the code and text of its error.
fn result(method: &str, parameters: &Value) -> Result<Value, (i64, String)> {
    match method {
        "initialize" => Ok(greeting(parameters)),
        "ping" => Ok(json!({})),
        "tools/list" => Ok(json!({"tools": tools::list()})),
        "tools/call" => {
            let call = Call::read(parameters).map_err(|text| (WRONG_PARAMETERS, text))?;
            Ok(calls::run(call).map_or_else(|fault| failed(&fault), |answer| done(&answer)))
        }
        _ => Err((NO_METHOD, format!("there is no method {method:?}"))),
    }
}

fn greeting(parameters: &Value) -> Value {
    let asked = parameters.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    let revision = REVISIONS.iter().find(|known| **known == asked).unwrap_or(&REVISIONS[0]);
    json!({
        "protocolVersion": revision,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "n2sim", "version": env!("CARGO_PKG_VERSION")},
        "instructions": INSTRUCTIONS,
    })
}

/// Returns the result of a tool. An answer with structure is given as text too, for clients that
/// know no structure.
fn done(answer: &Answer) -> Value {
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    match answer {
        Answer::Text(words) => json!({"content": text(words), "isError": false}),
        Answer::Structure(value) => json!({
            "content": text(&value.to_string()), "structuredContent": value, "isError": false,
        }),
    }
}

/// Returns the result of a tool that failed: n2sim's own message, for the assistant to read.
fn failed(fault: &anyhow::Error) -> Value {
    json!({"content": [{"type": "text", "text": format!("{fault:#}")}], "isError": true})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(line: &str) -> Value {
        reply(line.as_bytes()).expect("it wants a reply")
    }

    #[test]
    fn a_client_is_greeted_in_its_revision_or_in_the_latest() {
        for (asked, given) in [("2024-11-05", "2024-11-05"), ("2099-01-01", REVISIONS[0])] {
            let request = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
                "params": {"protocolVersion": asked}});
            let reply = answered(&request.to_string());
            assert_eq!(reply["result"]["protocolVersion"], given);
            assert_eq!(reply["id"], 1);
        }
    }

    #[test]
    fn what_is_no_request_is_answered_by_its_kind() {
        let code = |line: &str| answered(line)["error"]["code"].clone();
        assert_eq!(code("{"), NOT_JSON);
        assert_eq!(code("[]"), NO_REQUEST);
        assert_eq!(code(r#"{"id": 1, "method": "resources/list"}"#), NO_METHOD);
        assert_eq!(code(r#"{"id": 1, "method": "tools/call"}"#), WRONG_PARAMETERS);
        for silent in
            ["\n", r#"{"method": "notifications/initialized"}"#, r#"{"id": 4, "result": {}}"#]
        {
            assert_eq!(reply(silent.as_bytes()), None, "{silent}");
        }
    }
}
