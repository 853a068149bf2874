//! Every kind of drawing (SVG) that the program writes, and the drawings of the documents: a name
//! for screen readers, colors for dark paper, units on the axes, a legend for several series.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Kinds of drawings: file, arguments of the program, and labels that it must have. The labels are
/// those of the axes with their units, then those of the legend.
const KINDS: &[(&str, &str, &[&str])] = &[
    ("flow", "flow traces/sort.n2t --limit 20k --flow 5.4 --svg -o", &["5.4 L1 D-cache, read"]),
    (
        "flow-a53",
        "flow --core cortex-a53 traces/hash.n2t --limit 20k --flow load --svg -o",
        &["Load: L1 D-cache and prefetches"],
    ),
    ("explain", "explain L1D_CACHE_REFILL --svg -o", &["sum of", "sum of (inferred)"]),
    (
        "pipeline",
        "pipeline traces/btree.n2t --window 2000..2040 --svg -o",
        &["cycle of the run", "fetch", "execute", "retire", "waited for this result"],
    ),
    (
        "pipeline-a53",
        "pipeline --core cortex-a53 traces/btree.n2t --window 2000..2040 --svg -o",
        &["cycle of the run", "fetch", "execute", "retire"],
    ),
    (
        "latency",
        "membench --quick -o",
        &[
            "footprint",
            "16 MiB",
            "cycles per load",
            "4 KiB pages, prefetch on",
            "published, silicon",
        ],
    ),
    ("tlb", "membench tlb -o", &["pages", "cycles per load", "one line on each page"]),
    (
        "bandwidth",
        "membench bandwidth -o",
        &["bytes per cycle", "prefetch on", "prefetch off", "published, silicon"],
    ),
    (
        "core-to-core",
        "membench core-to-core -o",
        &["the other core", "cycles per compare-and-swap"],
    ),
    (
        "a53-bandwidth",
        "membench bandwidth --core cortex-a53 -o",
        &["bytes per cycle", "prefetch on", "prefetch off"],
    ),
    (
        "errors",
        "validate traces/hash.n2t --limit 20k --plot",
        &["run", "value minus true value (%, percentage points)"],
    ),
];

/// Drawings that `spe --figures` writes.
const SPE: &[(&str, &[&str])] = &[
    ("spe-record", &["byte 0", "byte 56"]),
    ("spe-funnel", &["operations, logarithmic axis"]),
    (
        "spe-interval",
        &[
            "operations between two samples",
            "10 %",
            "by instruction, measured",
            "by instruction, by chance",
        ],
    ),
];

/// Drawings of the documents that other programs of the repository write.
const MEASURED: &[(&str, &[&str])] = &[
    ("a53-latency", &["footprint", "cycles per load", "random order, prefetch off"]),
    ("a53-tlb", &["pages", "cycles per load", "one line on each page"]),
    ("multiplexing", &["time slice", "1 ms", "percent", "median error", "events never counted"]),
    ("regions", &["percent of the run", "CPI", "xz"]),
    ("regions-held-out", &["percent of the run", "CPI", "z3"]),
    ("silicon", &["silicon, ns", "model, ns", "15 % longer or shorter"]),
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Runs the program at the top of the repository; the last argument is a file or a directory.
fn run(args: &str, place: &Path) {
    let done = Command::new(env!("CARGO_BIN_EXE_n2sim"))
        .args(args.split(' '))
        .arg(place)
        .current_dir(repository())
        .output()
        .unwrap();
    assert!(done.status.success(), "{args}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Returns all texts between `<text ...>` and `</text>`.
fn labels(svg: &str) -> Vec<String> {
    let parts = svg.split("<text").skip(1);
    let inner = parts.filter_map(|part| part.split_once('>')?.1.split("</text>").next());
    let plain = |text: &str| {
        let outside = text.split('<').map(|part| part.split_once('>').map_or(part, |(_, own)| own));
        outside.collect::<String>().trim().to_owned()
    };
    inner.map(plain).collect()
}

/// Checks what holds for every drawing, and that it has these labels.
fn check(name: &str, svg: &str, expected: &[&str]) {
    assert!(svg.starts_with("<svg "), "{name} begins with '{svg:.20}'");
    let head = svg.split('>').next().unwrap();
    assert!(head.contains(" viewBox=\""), "{name} cannot be scaled: {head}");
    assert!(head.contains(" role=\""), "{name} has no role: {head}");
    let title = svg.split_once("<title").and_then(|(_, rest)| rest.split("</title>").next());
    assert!(title.is_some_and(|title| title.len() > 10), "{name} has no title");
    assert!(
        svg.replace(' ', "").contains("prefers-color-scheme:dark"),
        "{name} has no colors for dark paper"
    );
    let labels = labels(svg);
    for label in expected {
        assert!(labels.iter().any(|own| own == label), "{name} has no '{label}': {labels:?}");
    }
}

#[test]
fn every_drawing_has_a_name_dark_colors_units_and_a_legend() {
    let folder = tempfile::tempdir().unwrap();
    for (name, args, expected) in KINDS {
        let file = folder.path().join(format!("{name}.svg"));
        run(args, &file);
        check(name, &fs::read_to_string(file).unwrap(), expected);
    }
    run(
        "spe --compare-with traces/hash.n2t --limit 200k --intervals 256,1024 --figures",
        folder.path(),
    );
    for (name, expected) in SPE {
        let svg = fs::read_to_string(folder.path().join(format!("{name}.svg"))).unwrap();
        check(name, &svg, expected);
    }
}

#[test]
fn a_drawing_of_a_sweep_has_units_and_a_legend() {
    let folder = tempfile::tempdir().unwrap();
    let traces = repository().join("traces");
    let grid = format!(
        "traces = [{:?}, {:?}]\nlimit = \"2k\"\nmetrics = [\"ipc\"]\n[[vary]]\nkey = \"memory.l2.size-bytes\"\n\
         values = [\"512K\", \"1M\"]\n",
        traces.join("hash.n2t"),
        traces.join("sort.n2t")
    );
    let file = folder.path().join("grid.toml");
    fs::write(&file, grid).unwrap();
    let prefix = folder.path().join("plot");
    run(&format!("sweep {} -o {}/t.csv --plots", file.display(), folder.path().display()), &prefix);
    let svg = fs::read_to_string(folder.path().join("plot-memory.l2.size-bytes.svg")).unwrap();
    let expected = [
        "memory.l2.size-bytes",
        "512 KiB",
        "ipc, relative to 512 KiB",
        "hash",
        "sort",
        "all traces",
    ];
    check("sweep", &svg, &expected);
}

#[test]
fn the_drawings_of_the_documents_are_of_the_present_kind() {
    for folder in ["docs/figures", "docs/book/src/figures"] {
        let files = fs::read_dir(repository().join(folder)).unwrap();
        let files = files.map(|entry| entry.unwrap().path());
        let drawings: Vec<PathBuf> =
            files.filter(|path| path.extension().is_some_and(|own| own == "svg")).collect();
        assert!(drawings.len() >= 10, "{folder}: {drawings:?}");
        for path in drawings {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let lists = MEASURED.iter().chain(SPE);
            let expected = lists.clone().find(|(own, _)| *own == name).map_or(&[][..], |own| own.1);
            check(&name, &fs::read_to_string(&path).unwrap(), expected);
        }
    }
}
