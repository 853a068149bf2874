//! `n2sim mcp`: a server of the Model Context Protocol (revision 2025-06-18) on standard input and
//! output, so that assistants and editors ask n2sim themselves.
//!
//! Each message is a line of JSON-RPC 2.0. A tool is a command of this program with few options
//! and a small answer (`tools`); it runs as a process of its own (`calls`).

mod calls;
mod tools;

use std::collections::HashMap;
use std::io::{BufRead, Read, Write};
use std::sync::mpsc::{self, Sender};

use serde_json::{Value, json};

use crate::host::call;
use crate::verdict::Verdict;
use calls::{Answer, Input};
use tools::Call;

/// Revisions of the protocol that this server speaks, the latest first.
const REVISIONS: [&str; 2] = ["2025-06-18", "2024-11-05"];
/// Longest message that is read, in bytes.
const MAX_MESSAGE: u64 = 1 << 20;

/// Notification that a client wants no reply any more.
const CANCELLED: &str = "notifications/cancelled";

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

/// Answers messages until the client closes the input. Calls run beside each other; what still runs
/// at the end is ended.
pub(crate) fn run(_: &McpArgs) -> anyhow::Result<Verdict> {
    if call::stop().is_some() {
        anyhow::bail!(
            "mcp serves the streams of a process of its own: start `python -m n2sim mcp`"
        );
    }
    let (sender, incoming) = mpsc::channel();
    let reader = sender.clone();
    // It ends with the process: nothing can wake it from its read.
    std::thread::spawn(move || read_messages(&reader));
    let mut server = Server { output: std::io::stdout().lock(), sender, running: HashMap::new() };
    for message in incoming {
        match message {
            Incoming::Line(line) => server.answer(&line)?,
            Incoming::Started(id, process) => server.started(&id, process),
            Incoming::Ended(id, reply) => server.ended(&id, &reply)?,
            Incoming::TooLong => anyhow::bail!("a message is longer than {MAX_MESSAGE} bytes"),
            Incoming::Closed => break,
        }
    }
    Ok(Verdict::Good)
}

/// An event that the server waits for.
enum Incoming {
    /// A message of the client.
    Line(Vec<u8>),
    /// A call has started its process, which ends when this is dropped.
    Started(String, Input),
    /// The reply to a call is there.
    Ended(String, Value),
    TooLong,
    Closed,
}

/// Passes the messages of the client on until the input ends.
fn read_messages(server: &Sender<Incoming>) {
    let mut input = std::io::stdin().lock();
    loop {
        let mut line = Vec::new();
        let read = (&mut input).take(MAX_MESSAGE).read_until(b'\n', &mut line);
        let is_whole = line.last() == Some(&b'\n') || (line.len() as u64) < MAX_MESSAGE;
        let message = match read {
            Ok(0) | Err(_) => Incoming::Closed,
            Ok(_) if is_whole => Incoming::Line(line),
            Ok(_) => Incoming::TooLong,
        };
        let is_last = !matches!(message, Incoming::Line(_));
        if server.send(message).is_err() || is_last {
            return;
        }
    }
}

/// A call that has no reply yet.
enum Running {
    Starting,
    Process {
        _input: Input,
    },
    /// The client wants no reply any more.
    Cancelled,
}

/// The server, and its calls by the text of their request's number.
struct Server<W> {
    output: W,
    sender: Sender<Incoming>,
    running: HashMap<String, Running>,
}

impl<W: Write> Server<W> {
    fn answer(&mut self, line: &[u8]) -> std::io::Result<()> {
        match reply(line) {
            Reply::None => Ok(()),
            Reply::Now(reply) => self.write(&reply),
            Reply::Later(id, call) => {
                let (name, sender) = (id.to_string(), self.sender.clone());
                self.running.insert(name.clone(), Running::Starting);
                std::thread::spawn(move || {
                    let started = |input| {
                        let _ = sender.send(Incoming::Started(name.clone(), input));
                    };
                    let answer = calls::run(&call, started);
                    let result = answer.map_or_else(|fault| failed(&fault), |answer| done(&answer));
                    let reply = json!({"jsonrpc": "2.0", "id": id, "result": result});
                    // The server is gone with its client.
                    let _ = sender.send(Incoming::Ended(name.clone(), reply));
                });
                Ok(())
            }
            Reply::Cancel(id) => {
                if let Some(running) = self.running.get_mut(&id.to_string()) {
                    *running = Running::Cancelled;
                }
                Ok(())
            }
        }
    }

    fn started(&mut self, id: &str, input: Input) {
        if let Some(running @ Running::Starting) = self.running.get_mut(id) {
            *running = Running::Process { _input: input };
        }
    }

    fn ended(&mut self, id: &str, reply: &Value) -> std::io::Result<()> {
        match self.running.remove(id) {
            Some(Running::Cancelled) | None => Ok(()),
            Some(_) => self.write(reply),
        }
    }

    fn write(&mut self, reply: &Value) -> std::io::Result<()> {
        serde_json::to_writer(&mut self.output, reply)?;
        self.output.write_all(b"\n")?;
        self.output.flush()
    }
}

/// The reply that a message wants.
#[derive(Debug, PartialEq)]
enum Reply {
    None,
    Now(Value),
    /// The result of a call, for the request with this number.
    Later(Value, Call),
    /// No reply to the request with this number.
    Cancel(Value),
}

fn reply(line: &[u8]) -> Reply {
    if line.trim_ascii().is_empty() {
        return Reply::None;
    }
    let message: Value = match serde_json::from_slice(line) {
        Ok(message) => message,
        Err(fault) => return Reply::Now(error(&Value::Null, NOT_JSON, &fault.to_string())),
    };
    let id = message.get("id").cloned();
    let Some(method) = message.get("method").and_then(Value::as_str) else {
        // A reply to a request of this server, which makes none.
        let is_reply = message.get("result").or(message.get("error")).is_some();
        let fault = || error(&id.unwrap_or_default(), NO_REQUEST, "the message has no method");
        return if is_reply { Reply::None } else { Reply::Now(fault()) };
    };
    let parameters = message.get("params").unwrap_or(&Value::Null);
    let Some(id) = id else {
        let cancelled = parameters.get("requestId").filter(|_| method == CANCELLED);
        return cancelled.map_or(Reply::None, |id| Reply::Cancel(id.clone()));
    };
    match result(method, parameters) {
        Ok(Work::Done(result)) => Reply::Now(json!({"jsonrpc": "2.0", "id": id, "result": result})),
        Ok(Work::Call(call)) => Reply::Later(id, call),
        Err((code, text)) => Reply::Now(error(&id, code, &text)),
    }
}

/// The result of a request, or the call that gives it.
enum Work {
    Done(Value),
    Call(Call),
}

fn error(id: &Value, code: i64, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}})
}

/// Returns the result of a request, or the code and text of its error.
fn result(method: &str, parameters: &Value) -> Result<Work, (i64, String)> {
    match method {
        "initialize" => Ok(Work::Done(greeting(parameters))),
        "ping" => Ok(Work::Done(json!({}))),
        "tools/list" => Ok(Work::Done(json!({"tools": tools::list()}))),
        "tools/call" => {
            Call::read(parameters).map(Work::Call).map_err(|text| (WRONG_PARAMETERS, text))
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
        match reply(line.as_bytes()) {
            Reply::Now(value) => value,
            other => panic!("{line}: {other:?}"),
        }
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
            assert_eq!(reply(silent.as_bytes()), Reply::None, "{silent}");
        }
        let cancelled = r#"{"method": "notifications/cancelled", "params": {"requestId": 7}}"#;
        assert_eq!(reply(cancelled.as_bytes()), Reply::Cancel(7.into()));
    }
}
