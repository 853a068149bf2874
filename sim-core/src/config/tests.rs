use serde::Deserialize;

use super::{ConfigError, Document, Embedded, Problem};

const BASE: &str = "\
# head
[core]
revision = \"r0p3\" # [guide 1.2]
clock-hz = 3_000_000_000 # [assumed: round]

[memory.l1d]
ways = 4 # [guide 3.2]
share = 0.5 # [assumed: half]
levels = [1, 2] # [assumed: list]
";

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Config {
    core: Core,
    memory: Memory,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Core {
    revision: String,
    clock_hz: u64,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Memory {
    l1d: Level,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Level {
    ways: u32,
    share: f64,
    levels: Vec<u32>,
}

fn base() -> Document {
    Document::from_text("base.toml", BASE).expect("the base is TOML")
}

fn message<T>(result: Result<T, ConfigError>) -> String {
    match result {
        Ok(_) => panic!("this should have been refused"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_overlay_changes_values_and_keeps_their_history() {
    let document = base()
        .with_overlay("what-if.toml", "memory.l1d.ways = 8 # [Chips and Cheese, N2]")
        .and_then(|document| document.set("memory.l1d.share=1"))
        .and_then(|document| document.set("core.revision=r0p0"))
        .expect("all keys exist");
    let config: Config = document.parse().expect("all types fit");
    assert_eq!((config.memory.l1d.ways, config.memory.l1d.share), (8, 1.0));
    assert_eq!(config.core.revision, "r0p0");
    let expected = "\
# head
[core]
revision = \"r0p0\" # [set on the command line; was \"r0p3\": [guide 1.2]]
clock-hz = 3_000_000_000 # [assumed: round]

[memory.l1d]
ways = 8 # [Chips and Cheese, N2] [set in what-if.toml; was 4: [guide 3.2]]
share = 1.0 # [set on the command line; was 0.5: [assumed: half]]
levels = [1, 2] # [assumed: list]
";
    assert_eq!(document.render(), expected);
    assert_eq!(
        document.name(),
        "base.toml + what-if.toml + --set memory.l1d.share=1 + --set core.revision=\"r0p0\""
    );
}

#[test]
fn the_hash_depends_on_values_only() {
    let same = BASE.replace("3_000_000_000 # [assumed: round]", "0xB2D05E00");
    let same = Document::from_text("other.toml", &same).expect("TOML");
    assert_eq!(base().hash(), same.hash());
    let other = base().set("memory.l1d.ways=8").expect("the key exists");
    assert_ne!(base().hash(), other.hash());
    let back = other.set("memory.l1d.ways=4").expect("the key exists");
    assert_eq!(base().hash(), back.hash());
}

#[test]
fn an_unknown_key_of_an_overlay_is_refused_with_the_closest_one() {
    let text = "[memory.l1d]\nways = 8\nwais = 8\n[cores]\nclock-hz = 1";
    let expected = "\
2 faults in the configuration

what-if.toml:3:1: unknown key `memory.l1d.wais`; the closest existing key is `memory.l1d.ways`
  |
3 | wais = 8
  | ^^^^^^^^

what-if.toml:4:1: unknown key `cores`; the closest existing key is `core`
  |
4 | [cores]
  | ^^^^^^^";
    assert_eq!(message(base().with_overlay("what-if.toml", text)), expected);
}

#[test]
fn an_override_is_refused_with_its_text() {
    let expected = "\
--set: unknown key `core.clock`; the closest existing key is `core.clock-hz`
  |
1 | core.clock = 1
  |      ^^^^^^^^^";
    assert_eq!(message(base().set("core.clock=1")), expected);
    assert!(message(base().set("core.clock-hz=fast")).contains(
        "`core.clock-hz` is a whole number, not a string; write digits, as in 65536 (--set"
    ));
    let sized = message(base().set("core.clock-hz='3 G'"));
    assert!(sized.contains("is a whole number, not a string; write 3000000000\n"), "{sized}");
    assert!(message(base().set("core.revision")).contains("write it as table.key=value"));
    assert!(message(base().set("a b=1")).contains("write it as table.key=value"));
}

#[test]
fn a_full_file_reports_all_its_unknown_keys_with_their_lines() {
    let text = BASE.replace("ways", "wais").replace("[core]", "[core]\nspeed = 1");
    let document = Document::from_text("mine.toml", &text).expect("TOML");
    let error = message(document.parse::<Config>());
    assert!(
        error.starts_with("3 faults in the configuration\n\nmine.toml:3:1: unknown field `speed`"),
        "{error}"
    );
    assert!(error.contains("mine.toml:8:1: unknown field `wais`"), "{error}");
    assert!(error.contains("mine.toml:7:1: missing field `ways`"), "{error}");
}

#[test]
fn a_wrong_value_points_to_the_layer_that_wrote_it() {
    let document = base().set("memory.l1d.ways=-1").expect("the type fits");
    let error = message(document.parse::<Config>());
    let expected =
        "--set: invalid value: integer `-1`, expected a whole number from 0 to 4294967295";
    assert!(error.starts_with(expected), "{error}");
    let document = Document::from_text("m.toml", &BASE.replace("ways = 4", "ways = 4.5"));
    let error = message(document.expect("TOML").parse::<Config>());
    assert!(error.starts_with("m.toml:7:1: invalid type: floating point `4.5`"), "{error}");
}

#[test]
fn broken_toml_names_line_and_column() {
    let error = message(Document::from_text("m.toml", "[core]\nrevision = \n"));
    assert!(error.starts_with("m.toml:2:1"), "{error}");
    assert!(error.contains("2 | revision ="), "{error}");
}

#[test]
fn checks_after_parsing_point_into_the_file_too() {
    let problems = [Problem::new("memory.l1d.ways", "3 ways: use a power of two")];
    let error = message(base().refuse(&problems));
    assert!(
        error.starts_with("base.toml:7:1: 3 ways: use a power of two\n  |\n7 | ways = 4"),
        "{error}"
    );
    assert!(base().refuse(&[]).is_ok());
}

#[test]
fn a_missing_table_is_reported_with_the_file_and_the_remedy() {
    let error = message(Document::from_text("empty.toml", "").expect("TOML").parse::<Config>());
    let expected = "empty.toml:1:1: missing field `core`; add it, or change only what differs";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn a_fraction_and_a_device_are_refused_in_plain_words() {
    let error = message(base().with_overlay("m.toml", "memory.l1d.ways = 4.5"));
    assert!(
        error.contains("`memory.l1d.ways` is a whole number, not one with a fraction"),
        "{error}"
    );
    let error = message(Document::load(std::path::Path::new("/dev/zero"), &[]));
    assert_eq!(error, "/dev/zero: more than 1048576 bytes; this is not a configuration");
}

#[test]
fn bases_are_loaded_and_cycles_refused() {
    let embedded = [
        Embedded { name: "n2.toml", text: BASE },
        Embedded { name: "silicon.toml", text: "base = \"n2.toml\"\nmemory.l1d.ways = 8\n" },
        Embedded { name: "itself.toml", text: "base = \"itself.toml\"\n" },
        Embedded { name: "lost.toml", text: "base = \"nowhere.toml\"\n" },
        Embedded { name: "number.toml", text: "base = 1\n" },
    ];
    let silicon = Document::from_embedded("silicon.toml", &embedded).expect("both exist");
    assert_eq!(silicon.get("memory.l1d.ways").as_deref(), Some("8"));
    assert_eq!(silicon.get("base"), None);
    assert!(message(Document::from_embedded("itself.toml", &embedded)).contains("for a cycle"));
    let lost = message(Document::from_embedded("lost.toml", &embedded));
    assert!(
        lost.contains("lost.toml: the base 'nowhere.toml' is neither a file in its directory"),
        "{lost}"
    );
    let number = message(Document::from_embedded("number.toml", &embedded));
    assert!(number.contains("`base` is the name of a file"), "{number}");
}

#[test]
fn settings_are_listed_with_their_sources() {
    let base = "[core]\nwidth = 5 # [HC33]\nnames = [\"a\", \"b\"]\n";
    let document = Document::from_text("base.toml", base).expect("TOML");
    let document = document.with_overlay("over.toml", "[core]\nwidth = 0x6 # [measured]\n");
    let settings = document.expect("a known key").settings();
    let shown: Vec<_> = settings.iter().map(|s| [&*s.key, &*s.value, &*s.source]).collect();
    assert_eq!(
        shown,
        [
            ["core.width", "6", "[measured] [set in over.toml; was 5: [HC33]]"],
            ["core.names", "[\"a\",\"b\"]", ""]
        ]
    );
}
