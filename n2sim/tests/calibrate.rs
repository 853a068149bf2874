//! `n2sim calibrate`: finds the values of a hidden machine, and explains wrong input.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

const N2SIM: &str = env!("CARGO_BIN_EXE_n2sim");
const CHASE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces/chase.n2t");
/// Values of the hidden machine.
const HIDDEN: [&str; 2] = ["memory.dram.access-cycles=300", "memory.walker.level-cycles=7"];

fn n2sim(arguments: &[&str], folder: &Path) -> Output {
    Command::new(N2SIM).args(arguments).current_dir(folder).output().expect("n2sim runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns a folder with a short trace and the counts of the hidden machine.
fn counted() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let slice = ["trace", "slice", CHASE, "-o", "short.n2t", "--start", "60k", "--count", "20k"];
    let sliced = n2sim(&slice, folder.path());
    assert!(sliced.status.success(), "{}", text(&sliced.stderr));
    let [dram, walker] = HIDDEN;
    let stat = ["stat", "short.n2t", "-x,", "-o", "counts.csv", "--set", dram, "--set", walker];
    let counted = n2sim(&stat, folder.path());
    assert!(counted.status.success(), "{}", text(&counted.stderr));
    folder
}

const FIT: [&str; 9] = [
    "calibrate",
    "short.n2t=counts.csv",
    "--fit-all",
    "--also",
    "memory.dram.access-cycles=200..400",
    "--only",
    "memory.dram.access-cycles",
    "--only",
    "memory.walker.level-cycles",
];

/// Given the counts of a machine with two other values, expect these values and a configuration
/// that has them.
#[test]
fn values_of_a_hidden_machine() {
    let folder = counted();
    let fitted = n2sim(&FIT, folder.path());
    assert!(fitted.status.success(), "{}{}", text(&fitted.stdout), text(&fitted.stderr));
    let report = text(&fitted.stdout);
    assert!(report.contains("no count contradicts the model"), "{report}");
    let listed = n2sim(&["list", "config", "--config", "calibrated.toml"], folder.path());
    let listed = text(&listed.stdout);
    assert!(listed.contains("level-cycles = 7"), "{report}\n{listed}");
    let dram = listed.lines().find(|line| line.starts_with("access-cycles")).expect("the key");
    let value: i64 = dram.split(' ').nth(2).and_then(|value| value.parse().ok()).expect("a number");
    assert!((299..=301).contains(&value) && dram.contains("[fitted"), "{report}\n{dram}");
    assert!(!folder.path().join("calibrated.toml.runs").exists());
}

/// Events of which a machine with six counters counts each for a part of the time.
const MANY: &str = "cycles,instructions,l1d_cache,l1d_cache_refill,l2d_cache,l2d_cache_refill,stall_backend,stall_backend_mem,\
    bus_access";

/// Returns the fit of the counts of a stand-in for `perf stat` on the hidden machine.
fn fit_of_perf(folder: &Path, options: &[&str]) -> serde_json::Value {
    let perf = ["perf-stat", "--trace", "short.n2t", "--set", HIDDEN[0]];
    let stat = ["--", "-o", "counts.csv", "-e", MANY, "./short"];
    let counted = n2sim(&[&perf, options, &stat[..]].concat(), folder);
    assert!(counted.status.success(), "{}", text(&counted.stderr));
    let fit = ["calibrate", "short.n2t=counts.csv", "--fit-all", "--json"];
    let keys =
        ["--also", "memory.dram.access-cycles=1..1000", "--only", "memory.dram.access-cycles"];
    let fitted = n2sim(&[&fit[..], &keys].concat(), folder);
    assert!(fitted.status.success(), "{}{}", text(&fitted.stdout), text(&fitted.stderr));
    serde_json::from_slice(&fitted.stdout).expect("JSON")
}

/// Given counts that perf scales because more events than counters are counted, expect the hidden
/// value in an interval that is wider than that of exact counts.
#[test]
fn counts_of_a_part_of_the_time() {
    let folder = counted();
    let widths =
        [(&[][..], false), (&["--mux-interval", "200ns"], true)].map(|(options, scaled)| {
            let report = fit_of_perf(folder.path(), options);
            let counts = fs::read_to_string(folder.path().join("counts.csv")).expect("the counts");
            assert_eq!(counts.matches("%)").count(), if scaled { 9 } else { 0 }, "{counts}");
            let name = report["counts"][0].as_str().expect("a name");
            assert_eq!(name.contains("9 scaled counts"), scaled, "{name}");
            let [key] = report["keys"].as_array().expect("keys").as_slice() else {
                panic!("{report}");
            };
            let [low, high] = ["low", "high"].map(|end| key[end].as_i64().expect("a value"));
            assert!((low..=high).contains(&300), "{report}\n{counts}");
            high - low
        });
    let [exact, scaled] = widths;
    assert!(exact < 40 && (2 * exact..500).contains(&scaled), "{widths:?}");
}

/// Given a profile and a machine to begin with, expect a configuration that has their values,
/// strings too.
#[test]
fn configuration_of_a_profile_and_a_machine() {
    let folder = counted();
    let begin = ["--profile", "silicon", "--machine", "cobalt-100"];
    let stat = [&["stat", "short.n2t", "-x,", "-o", "counts.csv"], &begin[..]].concat();
    assert!(n2sim(&stat, folder.path()).status.success());
    let fitted = n2sim(&[&FIT[..], &begin].concat(), folder.path());
    assert!(fitted.status.code().is_some_and(|code| code < 2), "{}", text(&fitted.stderr));
    let listed = n2sim(&["list", "config", "--config", "calibrated.toml"], folder.path());
    assert!(listed.status.success(), "{}", text(&listed.stderr));
    let listed = text(&listed.stdout);
    for value in ["integer-pipe = \"in-turn\"", "revision = \"r0p0\"", "slices = 64"] {
        assert!(listed.contains(value), "{value}: {listed}");
    }
}

/// Given counts of a machine whose structure differs, expect a refutation and no value that hides
/// it.
#[test]
fn machine_of_another_structure() {
    let folder = counted();
    let other = "memory.prefetch.stores=false";
    let stat = ["stat", "short.n2t", "-x,", "-o", "counts.csv", "--set", other];
    assert!(n2sim(&stat, folder.path()).status.success());
    let fitted = n2sim(&FIT, folder.path());
    assert_eq!(fitted.status.code(), Some(1), "{}", text(&fitted.stderr));
    let report = text(&fitted.stdout);
    assert!(report.contains("so there the structure of the model differs"), "{report}");
}

/// Given counts that contradict each other, expect a refusal that names the rule.
#[test]
fn counts_that_contradict_each_other() {
    let folder = counted();
    let path = folder.path().join("counts.csv");
    let broken: String = text(&fs::read(&path).expect("the counts"))
        .lines()
        .map(|line| match line.contains(",l1d_cache_rd,") {
            true => format!("9{line}\n"),
            false => format!("{line}\n"),
        })
        .collect();
    fs::write(&path, broken).expect("the counts can be written");
    let refused = n2sim(&FIT, folder.path());
    assert_eq!(refused.status.code(), Some(2));
    let message = text(&refused.stderr);
    assert!(
        message.contains("contradict each other") && message.contains("L1D_CACHE_RD"),
        "{message}"
    );
    assert!(!folder.path().join("calibrated.toml").exists());
}

/// Given runs of another search, expect a refusal, and with `--restart` a new search.
#[test]
fn runs_of_another_search() {
    let folder = counted();
    let runs = folder.path().join("calibrated.toml.runs");
    for version in [1, 2] {
        let head = format!("{{\"format\":\"n2sim calibrate {version}\",\"search\":\"other\"}}\n");
        fs::write(&runs, head).expect("a file");
        let refused = n2sim(&FIT, folder.path());
        assert_eq!(refused.status.code(), Some(2));
        let message = text(&refused.stderr);
        assert!(message.contains("runs of another search"), "{message}");
    }
    let restarted = n2sim(&[&FIT[..], &["--restart"]].concat(), folder.path());
    assert!(restarted.status.success(), "{}", text(&restarted.stderr));
}

/// Given wrong input, expect one line that names it and what would be right.
#[test]
fn wrong_input_is_explained() {
    let folder = counted();
    fs::write(folder.path().join("empty.json"), "").expect("a file");
    let of_spe = "base = \"neoverse-n2.toml\"\n[spe]\nseed = 2 # [assumed, 1 to 5: any]\n";
    fs::write(folder.path().join("spe.toml"), of_spe).expect("a file");
    let wrong: [(&[&str], &str); 10] = [
        (
            &["short.n2t=counts.csv", "--config", "spe.toml", "--only", "spe.seed"],
            "--only spe.seed: no count of an event depends on it, so it is not fitted; fit it all the same with --also spe.seed=1..5",
        ),
        (&["short.n2t=counts.csv", "--also", "a.b=-9223372036854775808..9"], "a key and a range"),
        (&["absent.json"], "cannot read the counts absent.json"),
        (&["empty.json"], "need its trace, as TRACE=empty.json"),
        (&["absent.n2t=counts.csv"], "cannot read absent.n2t"),
        (&["short.n2t=short.n2t"], "short.n2t"),
        (&["short.n2t=counts.csv", "--also", "memory.walker=3"], "give a key and a range"),
        (&["short.n2t=counts.csv", "--also", "a.b=1..2"], "there is no key a.b"),
        (&["short.n2t=counts.csv", "--only", "core.clock-hz"], "its source has no range"),
        (&["short.n2t=counts.csv", "--noise", "0"], "give a percentage from 0.1 to 50"),
    ];
    for (arguments, expected) in wrong {
        let refused = n2sim(&[&["calibrate"], arguments].concat(), folder.path());
        let message = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(expected), "{arguments:?}: {message}");
    }
}
