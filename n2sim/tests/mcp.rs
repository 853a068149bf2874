//! `n2sim mcp`: a client speaks with the server, message by message.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

const N2SIM: &str = env!("CARGO_BIN_EXE_n2sim");
const TRACES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces");

struct Server {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Server {
    fn start() -> Server {
        let mut process = Command::new(N2SIM)
            .arg("mcp")
            .current_dir(TRACES)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("n2sim runs");
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut server = Server { process, input, output, last: 0 };
        let greeting = server.request("initialize", &json!({"protocolVersion": "2025-06-18"}));
        assert_eq!(greeting["result"]["serverInfo"]["name"], "n2sim", "{greeting}");
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().expect("open"), "{message}").expect("the server reads");
    }

    fn request(&mut self, method: &str, parameters: &Value) -> Value {
        self.last += 1;
        self.send(
            &json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": parameters}),
        );
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the server answers");
        let reply: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(reply["id"], self.last, "{reply}");
        reply
    }

    /// Calls a tool. Returns its structure, or its text.
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let reply = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        let result = &reply["result"];
        assert_eq!(result["isError"], false, "{reply}");
        result.get("structuredContent").unwrap_or(&result["content"][0]["text"]).clone()
    }

    /// Calls a tool that fails. Returns its message.
    fn refused(&mut self, tool: &str, arguments: &Value) -> String {
        let reply = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert_eq!(reply["result"]["isError"], true, "{reply}");
        reply["result"]["content"][0]["text"].as_str().expect("text").to_owned()
    }

    fn end(mut self) {
        drop(self.input.take());
        assert!(self.process.wait().expect("it ends").success());
    }
}

fn trace(name: &str) -> String {
    format!("{TRACES}/{name}.n2t")
}

/// Counts of the program itself.
fn counts(words: &[&str]) -> Vec<(String, u64)> {
    let output = Command::new(N2SIM).args(words).output().expect("n2sim runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let lines = text.lines().filter(|line| line.starts_with('{'));
    let lines = lines.map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let count = |line: Value| {
        let value = line["counter-value"].as_str()?.parse::<f64>().ok()?;
        Some((line["event"].as_str()?.to_owned(), value as u64))
    };
    lines.filter_map(count).collect()
}

#[test]
fn the_tools_answer_as_the_program_does() {
    let mut server = Server::start();
    let listed = server.request("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().expect("a list");
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["stat", "explain", "validate", "diff", "flow", "sweep"]);

    let events = ["l1d_cache", "l1d_cache_refill", "cpu_cycles"];
    let hash = trace("hash");
    let answer = server.call(
        "stat",
        &json!({"trace": hash, "events": events, "metrics": ["ipc"], "limit": "20k"}),
    );
    let expected = counts(&["stat", &hash, "--limit", "20k", "-j", "-e", &events.join(",")]);
    assert_eq!(expected.len(), events.len());
    for (event, count) in expected {
        assert_eq!(answer["counts"][&event], count, "{event}: {answer}");
    }
    assert!(answer["metrics"]["ipc"]["value"].as_f64().is_some_and(|ipc| ipc > 0.1), "{answer}");

    let answer = server.call("stat", &json!({"trace": hash, "limit": "20k"}));
    assert_eq!(answer["counts"].as_object().map(|counts| counts.len()), Some(9), "{answer}");
    assert_eq!(answer["counts"]["instructions"], 20_000, "{answer}");

    let answer = server.call("explain", &json!({"name": "L1D_CACHE_REFILL"}));
    assert!(answer.as_str().is_some_and(|text| text.contains("L1D_CACHE_REFILL")), "{answer}");
    let answer = server
        .call("validate", &json!({"traces": [hash], "metrics": ["l1d_mpki"], "limit": "20k"}));
    let verdict = &answer["metrics"][0];
    assert_eq!((&verdict["metric"], verdict["truth"].is_number()), (&"l1d_mpki".into(), true));
    let answer = server.call(
        "diff",
        &json!({"base": hash, "new": trace("btree"), "limit": "20k", "limits": ["cycles<-1%"]}),
    );
    let summary = answer["summary"].as_str().expect("text");
    assert!(summary.starts_with("### n2sim: 1 of 1 limits are broken"), "{summary}");
    assert_eq!(answer["limits-hold"], false, "{answer}");
    let answer = server.call("flow", &json!({"access": "LD8 0x8000", "state": "L2 hit"}));
    assert!(answer.as_str().is_some_and(|text| text.contains("L1D_CACHE_REFILL")), "{answer}");
    // Its paths are those of the server.
    let grid = "traces = [\"hash.n2t\"]\nlimit = \"10k\"\nmetrics = [\"ipc\"]\n[[vary]]\n\
                key = \"memory.l2.size-bytes\"\nvalues = [524288, 1048576]\n";
    let answer = server.call("sweep", &json!({"grid": grid}));
    let rows = answer["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 2, "{answer}");
    assert_eq!(rows[0]["memory.l2.size-bytes"], 524_288, "{answer}");
    server.end();
}

#[test]
fn wrong_calls_are_answered_with_the_message_of_the_program() {
    let mut server = Server::start();
    let said = server.refused("stat", &json!({"trace": "/nowhere.n2t"}));
    assert!(said.contains("/nowhere.n2t"), "{said}");
    let said = server.refused("stat", &json!({"trace": trace("hash"), "events": ["l1d_cach"]}));
    assert!(said.contains("l1d_cach"), "{said}");
    let said = server.refused("sweep", &json!({"grid": "traces = 1"}));
    assert!(said.contains("traces"), "{said}");
    let said = server.refused("sweep", &json!({"grid": "traces"}));
    assert!(said.contains("the grid is no TOML"), "{said}");
    let reply = server.request("tools/call", &json!({"name": "capture", "arguments": {}}));
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    server.end();
}

/// Given a call that takes long, when the client pings, cancels it or leaves, then the server
/// answers at once, and no process of the call is left.
#[test]
fn a_long_call_can_be_cancelled_and_ends_with_the_server() {
    for ends in ["cancelled", "closed", "killed"] {
        let mut server = Server::start();
        let grid = "traces = [\"interp.n2t\"]\n[[vary]]\nkey = \"pipeline.window.rob\"\n\
                    values = [64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240]\n";
        server.send(&json!({"jsonrpc": "2.0", "id": "long", "method": "tools/call",
            "params": {"name": "sweep", "arguments": {"grid": grid}}}));
        let parent = server.process.id();
        let child = wait_for(|| child_of(parent)).expect("the call has a process");
        assert_eq!(server.request("ping", &json!({}))["result"], json!({}));
        match ends {
            "cancelled" => {
                server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
                    "params": {"requestId": "long"}}));
                wait_for(|| (!is_alive(child)).then_some(())).expect("the call ends");
                assert_eq!(server.request("ping", &json!({}))["result"], json!({}), "no reply");
                server.end();
            }
            "closed" => server.end(),
            _ => server.process.kill().expect("it runs"),
        }
        wait_for(|| (!is_alive(child)).then_some(())).expect("the call ends with the server");
    }
}

/// Asks until there is an answer, for some seconds.
fn wait_for<T>(ask: impl Fn() -> Option<T>) -> Option<T> {
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    loop {
        let answer = ask();
        if answer.is_some() || std::time::Instant::now() > until {
            return answer;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// Returns the number of a child of this process.
fn child_of(parent: u32) -> Option<u32> {
    let processes = std::fs::read_dir("/proc").expect("Linux").flatten();
    let mut numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.find(|number: &u32| {
        let status = std::fs::read_to_string(format!("/proc/{number}/status")).unwrap_or_default();
        status.lines().any(|line| line == format!("PPid:\t{parent}"))
    })
}

/// Returns whether a process runs; one that only waits for its parent does not.
fn is_alive(number: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{number}/status")).unwrap_or_default();
    status.lines().any(|line| line.starts_with("State:") && !line.contains('Z'))
}
