//! Profile for the Firefox Profiler (<https://profiler.firefox.com>), in its processed format.
//!
//! The format is that of version 61 in the profiler's `docs-developer/CHANGELOG-formats.md`; the
//! profiler converts older versions to its own. A thread of the profile is one event of one thread
//! of the program, because the samples of a thread share one unit.

use std::collections::HashMap;
use std::io::{self, Write};

use serde::Serialize;

use super::{StackFrame, Stacks, Track};

/// Version of the processed format.
const PROCESSED_VERSION: u32 = 61;
/// Version of the format that Firefox itself records. Readers of processed profiles ignore it.
const GECKO_VERSION: u32 = 24;
const NANOSECONDS_PER_MS: f64 = 1e6;
/// Categories of frames. One must be gray: the profiler takes it for samples without any.
const CATEGORIES: [Category; 3] = [
    Category { name: "Other", color: "grey", subcategories: ["Other"] },
    Category { name: "User", color: "yellow", subcategories: ["Other"] },
    Category { name: "Kernel", color: "orange", subcategories: ["Other"] },
];
const USER: usize = 1;
const KERNEL: usize = 2;

#[derive(Serialize)]
struct Document<'a> {
    meta: Meta<'a>,
    libs: [(); 0],
    shared: Shared<'a>,
    threads: Vec<Thread<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Meta<'a> {
    preprocessed_profile_version: u32,
    version: u32,
    product: &'a str,
    imported_from: String,
    #[serde(rename = "CPUName")]
    cpu_name: &'a str,
    interval: f64,
    start_time: f64,
    process_type: u32,
    stackwalk: u32,
    symbolicated: bool,
    uses_only_one_stack_type: bool,
    source_code_is_not_on_searchfox: bool,
    keep_profile_thread_order: bool,
    initial_visible_threads: Vec<usize>,
    initial_selected_threads: Vec<usize>,
    categories: [Category; 3],
    marker_schema: [(); 0],
}

#[derive(Serialize)]
struct Category {
    name: &'static str,
    color: &'static str,
    subcategories: [&'static str; 1],
}

/// Tables that all threads share. A table is a list of equally long columns.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shared<'a> {
    string_array: Vec<&'a str>,
    sources: Sources,
    func_table: Funcs,
    frame_table: Frames,
    stack_table: StackTable,
    resource_table: Resources,
    native_symbols: NativeSymbols,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Sources {
    length: usize,
    id: Vec<()>,
    filename: Vec<usize>,
    start_line: Vec<u32>,
    start_column: Vec<u32>,
    #[serde(rename = "sourceMapURL")]
    source_map_url: Vec<()>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Funcs {
    length: usize,
    name: Vec<usize>,
    #[serde(rename = "isJS")]
    is_js: Vec<bool>,
    #[serde(rename = "relevantForJS")]
    relevant_for_js: Vec<bool>,
    resource: Vec<i32>,
    source: Vec<Option<usize>>,
    line_number: Vec<()>,
    column_number: Vec<()>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Frames {
    length: usize,
    address: Vec<i32>,
    inline_depth: Vec<usize>,
    category: Vec<usize>,
    subcategory: Vec<u32>,
    func: Vec<usize>,
    native_symbol: Vec<()>,
    #[serde(rename = "innerWindowID")]
    inner_window_id: Vec<()>,
    line: Vec<Option<u32>>,
    column: Vec<()>,
}

#[derive(Serialize)]
struct StackTable {
    length: usize,
    frame: Vec<usize>,
    prefix: Vec<Option<usize>>,
}

/// Table of libraries and sites; empty, because a function has its source file.
#[derive(Default, Serialize)]
struct Resources {
    length: usize,
    lib: [(); 0],
    name: [(); 0],
    host: [(); 0],
    r#type: [(); 0],
}

/// Table of symbols of libraries; empty, because the names are known.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct NativeSymbols {
    length: usize,
    lib_index: [(); 0],
    address: [(); 0],
    name: [(); 0],
    function_size: [(); 0],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Thread<'a> {
    name: String,
    process_name: &'a str,
    process_type: &'static str,
    is_main_thread: bool,
    pid: String,
    tid: String,
    process_startup_time: f64,
    process_shutdown_time: f64,
    register_time: f64,
    unregister_time: f64,
    paused_ranges: [(); 0],
    samples: Samples,
    markers: Markers,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Samples {
    length: usize,
    stack: Vec<usize>,
    time: Vec<f64>,
    weight: Vec<u64>,
    weight_type: &'static str,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Markers {
    length: usize,
    data: [(); 0],
    name: [(); 0],
    start_time: [(); 0],
    end_time: [(); 0],
    phase: [(); 0],
    category: [(); 0],
}

/// Writes the profile. `cpu` is the name of the modeled core, `version` the version of n2sim.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Write, stacks: &Stacks, cpu: &str, version: &str) -> io::Result<()> {
    let document = Document {
        meta: meta(stacks, cpu, version),
        libs: [],
        shared: shared(stacks),
        threads: (0..).zip(&stacks.tracks).map(|(at, track)| thread(stacks, at, track)).collect(),
    };
    serde_json::to_writer(&mut *out, &document)?;
    writeln!(out)
}

fn meta<'a>(stacks: &'a Stacks, cpu: &'a str, version: &str) -> Meta<'a> {
    let most = stacks.tracks.iter().map(|track| track.samples.len()).max().unwrap_or_default();
    let (begin, end) = stacks.times;
    Meta {
        preprocessed_profile_version: PROCESSED_VERSION,
        version: GECKO_VERSION,
        product: &stacks.program,
        imported_from: format!("n2sim {version}"),
        cpu_name: cpu,
        // Only the width of a sample in the graphs: overflows are not equally far apart in time.
        interval: milliseconds(end.saturating_sub(begin).max(1)) / most.max(1) as f64,
        start_time: 0.0,
        process_type: 0,
        stackwalk: 1,
        symbolicated: true,
        uses_only_one_stack_type: true,
        source_code_is_not_on_searchfox: true,
        keep_profile_thread_order: true,
        initial_visible_threads: (0..stacks.tracks.len()).collect(),
        initial_selected_threads: (0..stacks.tracks.len().min(1)).collect(),
        categories: CATEGORIES,
        marker_schema: [],
    }
}

fn milliseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / NANOSECONDS_PER_MS
}

/// Strings with their indices, each once.
#[derive(Default)]
struct Strings<'a> {
    all: Vec<&'a str>,
    known: HashMap<&'a str, usize>,
}

impl<'a> Strings<'a> {
    fn index(&mut self, text: &'a str) -> usize {
        *self.known.entry(text).or_insert_with(|| {
            self.all.push(text);
            self.all.len() - 1
        })
    }
}

fn shared(stacks: &Stacks) -> Shared<'_> {
    let mut strings = Strings::default();
    let (mut sources, mut source_of) = (Sources::default(), HashMap::new());
    let (mut funcs, mut func_of) = (Funcs::default(), HashMap::new());
    let mut frames = Frames::default();
    for frame in &stacks.frames {
        let name = strings.index(&frame.name);
        let source = frame.file.as_deref().map(|file| {
            let name = strings.index(file);
            *source_of.entry(name).or_insert_with(|| sources.add(name))
        });
        let func = *func_of.entry((name, source)).or_insert_with(|| funcs.add(name, source));
        frames.add(frame, func);
    }
    Shared {
        string_array: strings.all,
        sources,
        func_table: funcs,
        frame_table: frames,
        stack_table: StackTable {
            length: stacks.stacks.len(),
            frame: stacks.stacks.iter().map(|stack| stack.frame).collect(),
            prefix: stacks.stacks.iter().map(|stack| stack.parent).collect(),
        },
        resource_table: Resources::default(),
        native_symbols: NativeSymbols::default(),
    }
}

impl Sources {
    fn add(&mut self, filename: usize) -> usize {
        self.id.push(());
        self.filename.push(filename);
        self.start_line.push(1);
        self.start_column.push(1);
        self.source_map_url.push(());
        self.length += 1;
        self.length - 1
    }
}

impl Funcs {
    fn add(&mut self, name: usize, source: Option<usize>) -> usize {
        self.name.push(name);
        self.is_js.push(false);
        self.relevant_for_js.push(false);
        self.resource.push(-1);
        self.source.push(source);
        self.line_number.push(());
        self.column_number.push(());
        self.length += 1;
        self.length - 1
    }
}

impl Frames {
    fn add(&mut self, frame: &StackFrame, func: usize) {
        // Addresses count from the begin of a library, and there are none.
        self.address.push(-1);
        self.inline_depth.push(frame.inline_depth);
        self.category.push(if frame.is_kernel() { KERNEL } else { USER });
        self.subcategory.push(0);
        self.func.push(func);
        self.native_symbol.push(());
        self.inner_window_id.push(());
        self.line.push(frame.line);
        self.column.push(());
        self.length += 1;
    }
}

fn thread<'a>(stacks: &'a Stacks, at: usize, track: &Track) -> Thread<'a> {
    let same = |other: &&Track| other.tid == track.tid;
    let (begin, end) = (milliseconds(stacks.times.0), milliseconds(stacks.times.1));
    // The events of one thread need numbers of their own.
    let tid = match stacks.tracks[..at].iter().filter(same).count() {
        0 => track.tid.to_string(),
        before => format!("{}.{before}", track.tid),
    };
    let samples = &track.samples;
    Thread {
        name: stacks.track_name(track),
        process_name: &stacks.program,
        process_type: "default",
        is_main_thread: at == 0,
        pid: stacks.pid.to_string(),
        tid,
        process_startup_time: begin,
        process_shutdown_time: end,
        register_time: begin,
        unregister_time: end,
        paused_ranges: [],
        samples: Samples {
            length: samples.len(),
            stack: samples.iter().map(|sample| sample.stack).collect(),
            time: samples.iter().map(|sample| milliseconds(sample.time)).collect(),
            weight: samples.iter().map(|sample| sample.weight).collect(),
            weight_type: "samples",
        },
        markers: Markers::default(),
    }
}
