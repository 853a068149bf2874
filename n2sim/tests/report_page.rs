//! The page of `n2sim report`: its numbers are those of `n2sim stat -j`, its parts add up, its
//! links lead somewhere; and a browser opens it from disk and uses it as a reader would.
//!
//! The last needs Chromium, its driver and Python's selenium; without them it has nothing to ask
//! and passes. With `N2SIM_TOOLS=required`, as in CI, it fails. `apt-get install chromium-driver
//! python3-selenium`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Largest page.
const MOST_BYTES: usize = 3_000_000;

fn n2sim(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_n2sim")).args(args).output().expect("n2sim starts")
}

fn printed(args: &[&str]) -> String {
    let done = n2sim(args);
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("text")
}

fn trace(name: &str) -> String {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
    top.join("traces").join(format!("{name}.n2t")).display().to_string()
}

fn page(name: &str, more: &[&str]) -> String {
    printed(&[&["report", &trace(name)], more].concat())
}

/// The exact counts by the names of perf, from `stat -j`.
fn counts(name: &str, more: &[&str]) -> BTreeMap<String, u64> {
    let json = printed(&[&["stat", "-j", &trace(name)], more].concat());
    let field = |line: &str, key: &str| {
        let start = line.find(&format!("\"{key}\" : \"")).expect("the field") + key.len() + 6;
        line[start..].split('"').next().expect("its value").to_owned()
    };
    let row = |line: &str| {
        let value: f64 = field(line, "counter-value").parse().expect("a number");
        (field(line, "event"), value as u64)
    };
    json.lines().map(row).collect()
}

/// Returns the text between two texts, from a position on.
fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let rest = &text[text.find(start)? + start.len()..];
    Some(&rest[..rest.find(end)?])
}

/// The rows of a table of the page: the exact value of each cell, or its text.
fn rows(page: &str, id: &str) -> Vec<Vec<String>> {
    let table = between(page, &format!("<table id=\"{id}\""), "</table>").expect("the table");
    let body = between(table, "<tbody>", "</tbody>").expect("its body");
    body.split("<tr>").skip(1).map(|row| row.split("</t").filter_map(cell).collect()).collect()
}

fn cell(html: &str) -> Option<String> {
    let start = html.rfind("<th ").or_else(|| html.rfind("<td "))?;
    let (tag, text) = html[start..].split_once('>')?;
    let value = between(tag, "data-value=\"", "\"").map(str::to_owned);
    Some(value.unwrap_or_else(|| text.to_owned()))
}

/// `L1D_CACHE_RD` is `l1d_cache_rd` for perf.
fn count(counts: &BTreeMap<String, u64>, event: &str) -> u64 {
    *counts.get(&event.to_lowercase()).unwrap_or_else(|| panic!("stat does not know {event}"))
}

const PARTS: [(&str, &[&str]); 2] =
    [("hash", &["--limit", "250k"]), ("atomics", &["--warmup", "20k", "--limit", "60k"])];

#[test]
fn the_numbers_of_the_page_are_those_of_stat() {
    for (name, part) in PARTS {
        let (page, counts) = (page(name, part), counts(name, part));
        let events = rows(&page, "events");
        assert_eq!(events.len(), 147, "{name}");
        for row in &events {
            assert_eq!(row[1], count(&counts, &row[0]).to_string(), "{name}: {}", row[0]);
        }
        let mut lookups = 0;
        for table in ["cache-table", "tlb-table"] {
            for row in rows(&page, table) {
                let (misses, accesses) = row[7].split_once(" of ").expect("two events");
                assert_eq!(row[3], count(&counts, accesses).to_string(), "{name}: {accesses}");
                assert_eq!(row[4], count(&counts, misses).to_string(), "{name}: {misses}");
                lookups += 1;
            }
        }
        assert!(lookups > 10, "{name}: {lookups}");
        let mispredicted: u64 = rows(&page, "branch-kinds")
            .iter()
            .map(|row| row[3].parse::<u64>().expect("count"))
            .sum();
        assert_eq!(mispredicted, count(&counts, "BR_MIS_PRED_RETIRED"), "{name}");
    }
}

/// The nodes of the tree of slots: place and slots.
fn slots(page: &str) -> BTreeMap<String, u64> {
    let nodes = page.split("id=\"slots-").skip(1).filter_map(|rest| {
        let (id, rest) = rest.split_once('"')?;
        let slots = rest.strip_prefix(" data-slots=\"")?.split('"').next()?;
        Some((id.to_owned(), slots.parse().expect("a number of slots")))
    });
    nodes.collect()
}

#[test]
fn the_tree_of_slots_adds_up_to_five_in_each_cycle() {
    for (name, part) in PARTS {
        let (page, counts) = (page(name, part), counts(name, part));
        let slots = slots(&page);
        let children = |of: &str| -> Vec<u64> {
            let depth = of.matches('-').count() + usize::from(!of.is_empty());
            let own = slots.iter().filter(|(id, _)| {
                let is_below = of.is_empty() || id.starts_with(&format!("{of}-"));
                is_below && id.matches('-').count() == depth
            });
            own.map(|(_, slots)| *slots).collect()
        };
        let all: u64 = children("").iter().sum();
        assert_eq!(all, 5 * count(&counts, "CPU_CYCLES"), "{name}");
        let retiring = slots["retiring"];
        assert_eq!(retiring, count(&counts, "OP_RETIRED"), "{name}");
        let mut parents = 0;
        for (id, slots) in &slots {
            let below = children(id);
            if !below.is_empty() {
                assert_eq!(below.iter().sum::<u64>(), *slots, "{name}: {id}");
                parents += 1;
            }
        }
        assert!(parents >= 5, "{name}: {parents}");
    }
}

#[test]
fn a_page_is_one_small_file_whose_links_lead_somewhere() {
    for (name, part) in PARTS {
        let page = page(name, part);
        assert!(page.len() < MOST_BYTES, "{name}: {} bytes", page.len());
        let attribute = |start: &'static str| {
            page.split(start).skip(1).filter_map(|rest| rest.split('"').next())
        };
        let mut ids: Vec<&str> = attribute(" id=\"").collect();
        ids.sort_unstable();
        let all = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), all, "{name}: an id is used twice");
        let mut links = 0;
        for href in attribute(" href=\"") {
            let Some(target) = href.strip_prefix('#') else {
                assert_eq!(href, "data:,", "{name}: a link out of the page");
                continue;
            };
            assert!(ids.binary_search(&target).is_ok(), "{name}: #{target} is nowhere");
            links += 1;
        }
        assert!(links > 300, "{name}: {links} links");
        let (shown, _) = page.split_once("<script>").expect("a script at the end");
        for word in ["src=", "@import", "NaN", "Infinity"] {
            assert!(!shown.contains(word), "{name}: {word}");
        }
    }
}

/// A Python that has selenium, if a browser is there for it.
fn browser() -> Option<&'static str> {
    let works = |program: &str, args: &[&str]| {
        Command::new(program).args(args).output().is_ok_and(|done| done.status.success())
    };
    let python = ["python3", "/usr/bin/python3"];
    let python = python.into_iter().find(|python| works(python, &["-c", "import selenium"]));
    let has_browser = works("chromium", &["--version"]) && works("chromedriver", &["--version"]);
    let found = python.filter(|_| has_browser);
    let required = std::env::var("N2SIM_TOOLS").is_ok_and(|value| value == "required");
    assert!(
        found.is_some() || !required,
        "no browser to test with: apt-get install chromium-driver python3-selenium"
    );
    found
}

#[test]
fn a_browser_drills_filters_and_follows_links() {
    let Some(python) = browser() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file: PathBuf = folder.path().join("report.html");
    let output = file.display().to_string();
    printed(&["report", &trace("atomics"), "--limit", "60k", "-o", &output]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browse_report.py");
    let done = Command::new(python).arg(script).arg(&file).output().expect("Python starts");
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    assert!(said.contains("23 checks"), "{said}");
}

#[test]
fn texts_of_a_page_have_contrast_and_labels_do_not_overlap() {
    let Some(python) = browser() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name).display().to_string();
    let (hash, system, btree) = (trace("hash"), trace("system"), trace("btree"));
    let access = ["flow", "--access", "LD8 0x8000 ; LD8 0x8008", "--html"];
    let threads = trace("parallel/queue");
    let kinds: [(&str, &[&str]); 7] = [
        ("hash.html", &["report", &hash, "--limit", "60k"]),
        ("system.html", &["report", &system, "--limit", "60k"]),
        ("threads.html", &["report", &threads, "--limit", "20k"]),
        ("flow.html", &access),
        ("diff.html", &["diff", "--runs", &hash, &btree, "--limit", "20k", "--html"]),
        ("explain.svg", &["explain", "L1D_CACHE_REFILL", "--svg"]),
        ("pipeline.svg", &["pipeline", &hash, "--window", "1000..1040", "--svg"]),
    ];
    for (name, args) in kinds {
        printed(&[args, &["-o", &place(name)]].concat());
    }
    printed(&["book", "-o", &place("book")]);
    let chapter = ["book/5-slots.html", "book/slides-5-slots.html"];
    let pages: Vec<String> =
        kinds.iter().map(|(name, _)| *name).chain(chapter).map(place).collect();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check_page.py");
    let done = Command::new(python).arg(script).args(pages).output().expect("Python starts");
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    assert!(said.contains(" 0 faults"), "{said}");
}

#[test]
fn wrong_use_is_reported() {
    let done = n2sim(&["report", "no-such.n2t", "-o", "x.html"]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(said.contains("no-such.n2t"), "{said}");
    let done = n2sim(&["report", &trace("hash"), "--limit", "1k", "-o", "/no/such/folder/x.html"]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(said.contains("/no/such/folder"), "{said}");
}

/// The value of an attribute of the element that has this id.
fn has_open(page: &str, id: &str) -> bool {
    let start = page.find(&format!("<details id=\"{id}\"")).expect("a branch of the tree");
    page[start..].split('>').next().expect("its tag").ends_with(" open")
}

#[test]
fn a_report_begins_with_its_findings_and_opens_the_tree_there() {
    let page = page("chase", &["--limit", "30k"]);
    let findings = between(&page, "<ol class=\"findings\">", "</ol>").expect("findings");
    assert!(page.find("class=\"findings\"") < page.find("class=\"tree\""), "they come first");
    let cause = between(findings, "href=\"#", "\"").expect("a link to the cause");
    assert!(findings.contains("Threshold: 5%.") && findings.contains("Next: "), "{findings}");
    let place = between(findings, "href=\"#at-", "\"").expect("a link to the instruction");
    let row = between(&page, &format!("<tr id=\"at-{place}\">"), "</tr>").expect("its row");
    assert!(row.contains("<code>stp x0, x2, [x4]"), "its disassembly: {row}");
    let all = slots(&page);
    let own = cause.strip_prefix("slots-").expect("a place in the tree");
    // Leaves below a cause say in which structures it was seen.
    let is_leaf = |id: &str| !all.keys().any(|other| other.starts_with(&format!("{id}-")));
    let is_other = |id: &str| !id.starts_with(own) && !id.starts_with("retiring");
    let others = all.iter().filter(|(id, _)| is_leaf(id) && is_other(id));
    let worst = others.map(|(_, slots)| *slots).max().expect("something else is lost");
    assert!(all[own] >= worst, "{own}: {} and {worst}", all[own]);
    let mut branch = cause;
    while let Some((above, _)) = branch.rsplit_once('-') {
        assert!(has_open(&page, branch), "{branch} is open");
        branch = above;
    }
}

#[test]
fn a_listing_has_the_instructions_of_a_function_and_its_callers() {
    let report = printed(&["report", &trace("btree"), "--limit", "150k", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let listings = report["listings"].as_array().expect("a list");
    assert!(!listings.is_empty());
    for own in listings.iter().filter(|own| own["rows_left_out"] == 0) {
        let rows = own["rows"].as_array().expect("rows");
        let addresses: Vec<&str> = rows.iter().filter_map(|row| row["address"].as_str()).collect();
        assert!(!addresses.is_empty() && addresses.is_sorted(), "{addresses:?}");
        let sum: u64 = rows.iter().filter_map(|row| row["slots"].as_u64()).sum();
        assert_eq!(Some(sum), own["slots"].as_u64(), "{}", own["function"]);
    }
    let callers = listings.iter().filter_map(|own| own["callers"].as_array());
    assert!(callers.flatten().any(|caller| caller["calls"].as_u64() > Some(0)));
}

#[test]
fn intervals_add_up_to_the_run() {
    let report = printed(&["report", &trace("atomics"), "--limit", "60k", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let totals = &report["timeline"]["totals"];
    let sum = |own: &serde_json::Value| -> u64 {
        own["values"].as_array().expect("values").iter().filter_map(serde_json::Value::as_u64).sum()
    };
    let list = |name: &str| totals[name].as_array().expect("a list");
    let slots: u64 = list("slots").iter().map(sum).sum();
    assert_eq!(Some(slots), report["top_down"]["slots"].as_u64());
    for event in report["events"].as_array().expect("events") {
        let own = list("events").iter().find(|own| own["name"] == event["event"]);
        assert_eq!(own.map_or(0, sum), event["count"].as_u64().expect("a count"), "{event}");
    }
    for hot in report["code"]["instructions"].as_array().expect("instructions").iter().take(100) {
        let own = list("code").iter().find(|own| own["name"] == hot["place"]["address"]);
        assert_eq!(own.map(sum), hot["cost"]["slots"].as_u64(), "{}", hot["place"]);
    }
}

#[test]
fn six_counters_estimate_nothing_in_a_run_that_is_too_short() {
    let short = page("hash", &["--limit", "30k"]);
    assert!(short.contains("is too short to estimate that"), "said once more in the section");
    assert!(!short.contains(">Six counters</button>") && !short.contains(">Time running<"));
    let asked = page("hash", &["--limit", "30k", "--mux-interval", "500ns"]);
    assert!(asked.contains("Time running") && !asked.contains("too short to estimate"));
}

#[test]
fn parts_of_a_latency_add_up_to_it() {
    let report = printed(&["report", &trace("btree"), "--limit", "150k", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let mut line_waits = 0.0;
    for source in report["load_latencies"].as_array().expect("a list") {
        let part = |name: &str| source[name].as_f64().expect("a mean");
        let parts = [part("mean_buffer_wait"), part("mean_line_wait"), part("mean_service")];
        assert!((parts.iter().sum::<f64>() - part("mean")).abs() < 1e-9, "{source}");
        line_waits += parts[1];
        if source["source"] == "L1" || source["source"] == "older store" {
            assert_eq!(parts[..2], [0.0, 0.0], "what is at hand waits for nothing: {source}");
        }
    }
    assert!(line_waits > 100.0, "most loads from memory meet a line on its way: {line_waits}");
}

/// The page of false sharing names the line, its variable, and the source lines that load and
/// write it. It has no such part where one thread runs.
#[test]
fn the_page_names_the_line_that_threads_share() {
    let of = |name: &str| {
        let program = trace(name).replace(".n2t", ".elf");
        page(name, &["--elf", &program])
    };
    let adjacent = of("parallel/readers_adjacent");
    let finding = between(&adjacent, "<strong>Line: </strong>", "</span>").expect("the line");
    assert!(finding.contains("0x420000") && finding.contains("table"), "{finding}");
    assert!(finding.contains("<strong>false sharing</strong>"), "{finding}");
    let first = &rows(&adjacent, "sharing-table")[0];
    assert!(first[0].contains("0x420000"), "{first:?}");
    let table = between(&adjacent, "<table id=\"sharing-table\"", "</table>").expect("the table");
    assert!(table.contains("readers.c:25") && table.contains("readers.c:35"), "{table}");
    let padded = of("parallel/readers_padded");
    assert!(!padded.contains("Loads wait for a line of another core</a>"), "no finding");
    assert!(!page("hash", &["--limit", "30k"]).contains("sharing-table"));
}

/// The map of the mesh and the matrix of cores are on pages of several threads, with the counts
/// that `stat` prints for the PMU of the mesh; other pages have neither.
#[test]
fn the_page_of_several_threads_has_the_traffic_that_stat_counts() {
    let part = ["--limit", "20k"];
    let of = "parallel/readers_adjacent";
    let several = page(of, &part);
    assert!(several.len() < MOST_BYTES, "{} bytes", several.len());
    let sum = |table: &str, column: usize| -> u64 {
        let own = rows(&several, table);
        own.iter().map(|row| row[column].parse::<u64>().expect("a count")).sum()
    };
    let stat = |event: &str| -> u64 {
        let event = format!("arm_cmn_0/{event}/");
        let csv = printed(&["stat", "-x,", "-e", &event, &trace(of), "--limit", "20k"]);
        let line = csv.lines().find(|line| line.contains(&event)).expect("its row");
        line.split(',').next().expect("a count").parse().expect("a number")
    };
    assert_eq!(sum("mesh-homes", 2), stat("hnf_slc_sf_cache_access"));
    assert_eq!(sum("mesh-homes", 3), stat("hnf_cache_miss"));
    let sides = ["e", "w", "n", "s"];
    for (column, channel) in [(2, "req"), (3, "rsp"), (4, "snp"), (5, "dat")] {
        let flits = sides.map(|side| stat(&format!("mxp_{side}_{channel}_txflit_valid")));
        assert_eq!(sum("mesh-links", column), flits.iter().sum::<u64>(), "{channel}");
    }
    let cells = between(&several, "id=\"pairs-snoops\"", "</figure>").expect("the matrix");
    let is_count = |text: &&str| text.contains(" requests, ");
    let drawn = cells.split("<title>").filter(is_count).map(|text| {
        let count = text.split(':').next().expect("a count").replace(',', "");
        count.parse::<u64>().expect("a number")
    });
    assert_eq!(drawn.sum::<u64>(), sum("pairs-table", 2), "every pair is in the table");
    let alone = page("hash", &part);
    for part in ["traffic-map", "pairs-lines", "pairs-table"] {
        assert!(several.contains(&format!("id=\"{part}\"")), "{part}");
        assert!(!alone.contains(&format!("id=\"{part}\"")), "{part}");
    }
    assert!(!alone.contains("Who waits for whom"));
}
