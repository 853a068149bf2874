//! Profile for <https://www.speedscope.app>, in its own format: one sampled profile for each event
//! and thread. The schema is <https://www.speedscope.app/file-format-schema.json>.

use std::collections::HashMap;
use std::io::{self, Write};

use serde::Serialize;

use super::{Stacks, Track};

const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    name: &'a str,
    exporter: String,
    active_profile_index: usize,
    shared: Shared<'a>,
    profiles: Vec<Sampled>,
}

#[derive(Serialize)]
struct Shared<'a> {
    frames: Vec<Frame<'a>>,
}

/// A function. It has no line, because speedscope would show every line as a function of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize)]
struct Frame<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
}

/// Samples with weights. The axis is the number of events, which has no unit of speedscope.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sampled {
    r#type: &'static str,
    name: String,
    unit: &'static str,
    start_value: u64,
    end_value: u64,
    samples: Vec<Vec<usize>>,
    weights: Vec<u64>,
}

/// Writes the profile. `version` is the version of n2sim.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Write, stacks: &Stacks, version: &str) -> io::Result<()> {
    let (frames, function_of) = functions(stacks);
    let profiles = stacks.tracks.iter().map(|track| sampled(stacks, track, &function_of)).collect();
    let most = |track: &&Track| track.samples.len();
    let most = stacks.tracks.iter().max_by_key(most);
    let active = stacks.tracks.iter().position(|track| Some(track) == most);
    let document = Document {
        schema: SCHEMA,
        name: &stacks.program,
        exporter: format!("n2sim {version}"),
        active_profile_index: active.unwrap_or_default(),
        shared: Shared { frames },
        profiles,
    };
    serde_json::to_writer(&mut *out, &document)?;
    writeln!(out)
}

/// Returns the functions, each once, and the function of each frame.
fn functions(stacks: &Stacks) -> (Vec<Frame<'_>>, Vec<usize>) {
    let (mut functions, mut known) = (Vec::new(), HashMap::new());
    let mut of = Vec::with_capacity(stacks.frames.len());
    for frame in &stacks.frames {
        let function = Frame { name: &frame.name, file: frame.file.as_deref() };
        of.push(*known.entry(function).or_insert_with(|| {
            functions.push(function);
            functions.len() - 1
        }));
    }
    (functions, of)
}

fn sampled(stacks: &Stacks, track: &Track, function_of: &[usize]) -> Sampled {
    let path = |stack| stacks.path(stack).into_iter().map(|at| function_of[at]).collect();
    Sampled {
        r#type: "sampled",
        name: stacks.track_name(track),
        unit: "none",
        start_value: 0,
        end_value: track.samples.iter().map(|sample| sample.weight).sum(),
        samples: track.samples.iter().map(|sample| path(sample.stack)).collect(),
        weights: track.samples.iter().map(|sample| sample.weight).collect(),
    }
}
