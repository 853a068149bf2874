//! Requests of the page and their answers.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::fault::Fault;
use crate::lessons::{self, Lessons};
use crate::machine::{self, Choice};
use crate::traces::{self, Part};
use crate::{assembly, scenarios, steps, tables};

/// A request. In JSON, `ask` names its kind in lower case: `{"ask": "watch", "do": "LD8 0x8000"}`.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "lowercase", deny_unknown_fields)]
pub enum Request {
    /// Events and flows of the guide.
    Tables,
    /// Keys of a machine's configuration.
    Settings {
        /// The machine.
        #[serde(default)]
        machine: Choice,
    },
    /// Steps of a case, each event with its cycle.
    Watch {
        /// State before the first step, as in a scenario.
        given: String,
        /// Steps, as in a scenario; or a program in assembly, which has a line `.text`.
        r#do: String,
        /// The machine.
        #[serde(default)]
        machine: Choice,
    },
    /// A program in assembly, run without the model.
    Assemble {
        /// Its text.
        text: String,
    },
    /// Cases of a scenario file: counts and verdicts.
    Check {
        /// Name of the file, for messages.
        file: String,
        /// Its text.
        text: String,
        /// The machine.
        #[serde(default)]
        machine: Choice,
    },
    /// Counts of the trace.
    Trace {
        /// Part of the trace.
        #[serde(flatten)]
        part: Part,
    },
    /// Operations of a window of the trace.
    Pipeline {
        /// First instruction of the window.
        from: u64,
        /// Number of instructions.
        count: u64,
        /// Part of the trace; its warm-up and limit are not used.
        #[serde(flatten)]
        part: Part,
    },
    /// Counters that take turns, beside the exact counts.
    Turns {
        /// Events, each an own group.
        events: Vec<String>,
        /// Number of event counters.
        counters: u64,
        /// Time of a turn in cycles.
        turn: u64,
        /// Part of the trace.
        #[serde(flatten)]
        part: Part,
    },
    /// Lessons of n2sim.
    Lessons,
    /// A lesson, without its answers.
    Lesson {
        /// Name of the lesson, or of the file.
        name: String,
        /// Text of a lesson that is not one of n2sim's.
        #[serde(default)]
        text: Option<String>,
    },
    /// Solves every question of a lesson file and answers nothing, or its first fault.
    Solve {
        /// Name of the file.
        name: String,
        /// Its text.
        text: String,
    },
    /// Keeps the trace for the lessons that name it.
    Keep {
        /// Name of the trace in lessons.
        name: String,
    },
    /// Judges a typed answer; without one, gives the answer.
    Guess {
        /// Name of the lesson, or of the file.
        name: String,
        /// Text of a lesson that is not one of n2sim's.
        #[serde(default)]
        text: Option<String>,
        /// Number of the question, from 0.
        question: usize,
        /// The typed answer.
        #[serde(default)]
        typed: Option<String>,
    },
    /// Samples of the profiling unit beside all operations.
    Samples {
        /// Operations between two samples.
        interval: u64,
        /// Part of the trace.
        #[serde(flatten)]
        part: Part,
    },
}

/// The model of one page.
#[derive(Debug, Default)]
pub struct Playground {
    trace: Vec<u8>,
    lessons: Lessons,
}

impl Playground {
    /// Keeps the bytes of a trace for later requests.
    pub fn set_trace(&mut self, bytes: Vec<u8>) {
        self.trace = bytes;
    }

    /// Answers a request: `{"ok": ...}`, or `{"error": "..."}` with a sentence for the reader, and
    /// `"field": "turn"` if it belongs to a field of the page.
    pub fn answer(&mut self, request: &str) -> String {
        let answer = match serde_json::from_str(request) {
            Ok(request) => self.answer_to(request),
            Err(error) => Err(format!("the request of the page is not understood: {error}").into()),
        };
        let answer = match answer {
            Ok(value) => json!({ "ok": value }),
            Err(Fault { field: None, text }) => json!({ "error": text }),
            Err(Fault { field, text }) => json!({ "error": text, "field": field }),
        };
        answer.to_string()
    }

    fn answer_to(&mut self, request: Request) -> Result<Value, Fault> {
        match request {
            Request::Tables => value(&tables::tables()),
            Request::Settings { machine } => value(&machine::settings(&machine)?),
            Request::Watch { given, r#do, machine } => {
                value(&steps::watch(&given, &r#do, &machine)?)
            }
            Request::Assemble { text } => value(&assembly::run_text(&text)?),
            Request::Check { file, text, machine } => {
                value(&scenarios::check(&file, &text, &machine)?)
            }
            Request::Trace { part } => value(&traces::count(&self.trace, &part)?),
            Request::Pipeline { from, count, part } => {
                value(&traces::pipeline(&self.trace, &part, from, count)?)
            }
            Request::Turns { events, counters, turn, part } => {
                value(&traces::turns(&self.trace, &part, &events, counters, turn)?)
            }
            Request::Lessons => value(&lessons::heads()?),
            Request::Lesson { name, text } => value(&lessons::page(&name, text.as_deref())?),
            Request::Solve { name, text } => value(&self.lessons.solve(&name, &text)?),
            Request::Keep { name } => {
                self.lessons.keep(name, self.trace.clone());
                Ok(Value::Null)
            }
            Request::Guess { name, text, question, typed } => {
                value(&self.lessons.guess(&name, text.as_deref(), question, typed.as_deref())?)
            }
            Request::Samples { interval, part } => {
                value(&traces::samples(&self.trace, &part, interval)?)
            }
        }
    }
}

fn value(answer: &impl Serialize) -> Result<Value, Fault> {
    serde_json::to_value(answer).map_err(|error| error.to_string().into())
}
