//! `n2sim stat --core cortex-a53`: the counts of the second core, in every form.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::Path;
use std::process::Command;

fn n2sim(trace: &str, args: &[&str]) -> (i32, String, String) {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces");
    let trace = traces.join(trace);
    let first = ["stat", "--core", "cortex-a53", "--limit", "50k", trace.to_str().unwrap()];
    let output = Command::new(env!("CARGO_BIN_EXE_n2sim")).args(first).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn printed(trace: &str, args: &[&str]) -> String {
    let (code, out, message) = n2sim(trace, args);
    assert_eq!(code, 0, "{args:?}: {message}");
    out
}

#[test]
fn the_text_has_counts_speed_and_slots() {
    let text = printed("hash.n2t", &["--stalls"]);
    assert!(text.contains("(Cortex-A53)"), "{text}");
    assert!(text.contains("            50,000      inst_retired"), "{text}");
    assert!(text.contains("instructions per cycle (at most 2)"), "{text}");
    let share = |title: &str| -> f64 {
        let line = text.lines().find(|line| line.trim_start().starts_with(title)).unwrap();
        line.trim_end_matches(" %").rsplit(' ').next().unwrap().parse().unwrap()
    };
    let rows = text.lines().skip_while(|line| !line.contains("Issue slots")).skip(1);
    let sum: f64 = rows
        .filter_map(|line| line.trim_end_matches(" %").rsplit(' ').next()?.parse::<f64>().ok())
        .sum();
    assert!((share("Issue slots") - 100.0).abs() < 0.01 && (sum - 100.0).abs() < 0.1, "{sum}");
}

#[test]
fn events_keep_the_names_of_the_command_line() {
    let csv = printed("hash.n2t", &["-e", "cycles,instructions,r08,LD_RETIRED", "-x,"]);
    let names: Vec<&str> = csv.lines().map(|line| line.split(',').nth(2).unwrap()).collect();
    assert_eq!(names, ["cycles", "instructions", "r08", "LD_RETIRED"]);
    assert!(csv.lines().nth(1).unwrap().starts_with("50000,,instructions,"), "{csv}");
}

#[test]
fn json_has_every_event_of_each_thread() {
    let json = printed("threads/plain_padded.n2t", &["-j", "--per-thread"]);
    let rows: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len() % 59, 0, "59 numbered events for each thread: {}", rows.len());
    assert!(rows.iter().any(|row| row["thread"] == "plain_padded-0"));
    assert!(rows.iter().all(|row| row["event-runtime"].as_u64().is_some()));
}

#[test]
fn a_smaller_cache_has_more_refills() {
    let refills = |size: &str| -> u64 {
        let set = format!("memory.l1d.size-bytes={size}");
        let csv = printed("hash.n2t", &["-e", "l1d_cache_refill", "-x,", "--set", &set]);
        csv.split(',').next().unwrap().parse().unwrap()
    };
    assert!(refills("8K") > refills("64K"));
}

#[test]
fn a_part_of_the_trace_is_counted() {
    let count = |args: &[&str]| {
        let csv = printed("btree.n2t", &[&["-e", "instructions,cycles", "-x,"], args].concat());
        let first = |line: &str| line.split(',').next().unwrap().parse::<u64>().unwrap();
        csv.lines().map(first).collect::<Vec<u64>>()
    };
    let (all, warm) = (count(&[]), count(&["--warmup", "50k"]));
    assert_eq!([all[0], warm[0]], [50_000, 50_000]);
    assert_ne!(all[1], warm[1]);
    assert_eq!(count(&["--roi", "insert,split"])[0], 50_000);
    for (args, message) in [
        (["--roi", "nowhere,split"], "no function named 'nowhere' among the 5 symbols"),
        (["--roi", "100,101"], "the region of interest never began"),
        (["--warmup", "1G"], "leaves nothing to count"),
    ] {
        let (code, out, error) = n2sim("btree.n2t", &args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {error}");
        assert!(error.contains(message), "{args:?}: {error}");
    }
}

#[test]
fn what_only_the_other_core_has_is_refused_with_a_remedy() {
    for (args, message) in [
        (
            &["--prefetch"][..],
            "--prefetch works with --core neoverse-n2 only; with --core cortex-a53 use",
        ),
        (&["-e", "{cycles,instructions"], "a brace or slash is not closed"),
        (&["-e", "l1d_cache_rd"], "the Cortex-A53 has no such event"),
        (&["--set", "memory.l1d.ways=0"], "0 is out of range"),
        (&["--set", "pipeline.divide-64=300"], "300 is outside 1 to 200"),
        (&["--config", "absent.toml"], "absent.toml"),
    ] {
        let (code, out, error) = n2sim("hash.n2t", args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {error}");
        assert!(error.contains(message), "{args:?}: {error}");
    }
}

#[test]
fn the_event_bus_is_that_of_this_core() {
    let folder = tempfile::tempdir().unwrap();
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/hash.n2t");
    let dump = folder.path().join("hash.vcd");
    let args = ["event-bus", trace.to_str().unwrap(), "--limit", "20k"];
    let bus = |more: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_n2sim")).args(args).args(more).output().unwrap()
    };
    let output = bus(&["-o", dump.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(&dump).unwrap();
    assert_eq!(text.matches("$var wire 1 ").count(), 29);
    assert!(text.contains("LD_RETIRED") && text.contains("SIMD_RETENTION"));
    let text = String::from_utf8(bus(&[]).stdout).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let retired: usize = lines
        .map(|line| {
            line.split(' ')
                .filter(|name| ["INST_RETIRED", "TWO_INST_RETIRED"].contains(name))
                .count()
        })
        .sum();
    assert_eq!(retired, 20_000);
    let refused = bus(&["--profile", "silicon"]);
    assert_eq!(refused.status.code(), Some(2));
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(message.contains("work with the Neoverse N2 only; use --config or --set"), "{message}");
}
