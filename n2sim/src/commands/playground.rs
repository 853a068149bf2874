//! `n2sim playground`: writes the playground page, one file with the model in it.

use std::io::Write;
use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use serde_json::json;

use crate::files::output::Output;
use crate::verdict::Verdict;

/// The model in WebAssembly, packed by the build script; empty if the compiler lacked the target.
const MODEL: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/playground.wasm.gz"));
/// The page, with marks for its parts.
const PAGE: &str = include_str!("../../../sim-playground/page/index.html");
const STYLE: &str = include_str!("../../../sim-playground/page/style.css");
/// Scripts in the order in which they run.
const SCRIPTS: [&str; 18] = [
    include_str!("../../../sim-playground/page/model.js"),
    include_str!("../../../sim-playground/page/shell.js"),
    include_str!("../../../sim-playground/page/progress.js"),
    include_str!("../../../sim-playground/page/machine.js"),
    // Names of the memory view are its own.
    "(() => {",
    include_str!("../../../sim-playground/page/memory/words.js"),
    include_str!("../../../sim-playground/page/memory/run.js"),
    include_str!("../../../sim-playground/page/memory/picture.js"),
    include_str!("../../../sim-playground/page/memory/events.js"),
    include_str!("../../../sim-playground/page/memory/contents.js"),
    include_str!("../../../sim-playground/page/memory/flows.js"),
    include_str!("../../../sim-playground/page/memory/view.js"),
    "})();",
    include_str!("../../../sim-playground/page/pipeline_chart.js"),
    include_str!("../../../sim-playground/page/pipeline.js"),
    include_str!("../../../sim-playground/page/counters.js"),
    include_str!("../../../sim-playground/page/lessons.js"),
    include_str!("../../../sim-playground/page/assembly.js"),
];
/// Recorded programs that the page offers, and those that its lessons use.
const TRACES: [(&str, &[u8]); 6] = [
    ("matrix.n2t", include_bytes!("../../../traces/matrix.n2t")),
    ("interp.n2t", include_bytes!("../../../traces/interp.n2t")),
    ("aes_sha.n2t", include_bytes!("../../../traces/aes_sha.n2t")),
    ("vector.n2t", include_bytes!("../../../traces/vector.n2t")),
    ("atomics.n2t", include_bytes!("../../../traces/atomics.n2t")),
    ("search.n2t", include_bytes!("../../../traces/search.n2t")),
];

/// Write a page with the model in it: caches, TLBs, pipeline, counters and lessons in a browser
#[derive(Debug, Args)]
#[command(after_help = "Examples: n2sim playground -o play.html\n          \
    xdg-open play.html")]
pub(crate) struct PlaygroundArgs {
    /// Write to FILE instead of standard output
    ///
    /// The page is one file. It needs no network and no server.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Writes the page.
///
/// # Errors
/// If this program was built without the model, or the file cannot be written.
pub(crate) fn run(args: &PlaygroundArgs) -> anyhow::Result<Verdict> {
    anyhow::ensure!(
        !MODEL.is_empty(),
        "this n2sim was built without the model of the page: `rustup target add wasm32-unknown-unknown`, then \
         build it again"
    );
    let mut output = Output::create(args.output.as_deref())?;
    output.write_all(page().as_bytes())?;
    output.finish()?;
    Ok(Verdict::Good)
}

/// Returns the page with all of its parts.
fn page() -> String {
    let traces: serde_json::Map<_, _> = TRACES
        .iter()
        .map(|(name, bytes)| ((*name).to_owned(), STANDARD.encode(bytes).into()))
        .collect();
    // A name with `<` could end the element.
    let data = json!({ "traces": traces }).to_string().replace('<', "\\u003c");
    let scripts = SCRIPTS.join("\n") + "\nmain();";
    let parts = [
        ("/* STYLE */", STYLE),
        ("/* MODEL */", &STANDARD.encode(MODEL)),
        ("/* DATA */", &data),
        ("/* SCRIPTS */", &scripts),
    ];
    let mut page = String::new();
    let mut rest = PAGE;
    for (mark, part) in parts {
        let (before, after) = rest.split_once(mark).unwrap_or((rest, ""));
        page.push_str(before);
        page.push_str(part);
        rest = after;
    }
    page.push_str(rest);
    page
}
