//! docs/pmu.md names every register and only existing tests.

use std::path::Path;

use sim_pmu::{CommonEventWord, Register};

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_step_of_the_walk_names_existing_tests() {
    let page = read("../docs/pmu.md");
    let sources = ["conformance.rs", "identification.rs", "random_programs.rs"]
        .map(|file| read(&format!("tests/{file}")));
    let walk = page.split("\n## ").nth(1).expect("the walk is the first section");
    let rows: Vec<&str> = walk.lines().filter(|line| line.starts_with("| ")).skip(2).collect();
    assert_eq!(rows.len(), 21, "the walk has a row for each step");
    let scenarios = scenario_names();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [_, _, cases, proofs] = cells[..] else { panic!("four columns: {row}") };
        for name in proofs.split(", ").map(|name| name.trim_matches('`')) {
            let head = format!("fn {name}(");
            assert!(sources.iter().any(|source| source.contains(&head)), "{name}: no such test");
        }
        for name in cases.split("; ").filter(|name| !name.is_empty()) {
            assert!(scenarios.iter().any(|known| known == name), "{name}: no such scenario");
        }
    }
}

/// Returns the names of all cases below `tests/scenarios`.
fn scenario_names() -> Vec<String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/scenarios");
    let entries = std::fs::read_dir(&directory).expect("the directory of the scenarios");
    let files = entries.map(|entry| entry.expect("an entry").path());
    let texts = files.map(|file| std::fs::read_to_string(file).expect("a scenario file"));
    let names = texts.flat_map(|text| {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.into_iter().filter_map(|line| {
            let name = line.strip_prefix("test = \"")?.strip_suffix('"')?;
            Some(name.to_owned())
        })
    });
    names.collect()
}

#[test]
fn the_page_names_every_register_and_every_view() {
    let page = read("../docs/pmu.md");
    for register in Register::all() {
        let name = match register {
            Register::PMEVCNTR_EL0(_) => String::from("PMEVCNTR<n>_EL0"),
            Register::PMEVTYPER_EL0(_) => String::from("PMEVTYPER<n>_EL0"),
            single => single.name(),
        };
        assert!(page.contains(&name), "{name}");
    }
    for word in CommonEventWord::ALL {
        let (crm, op2) = word.aarch32_encoding();
        let view = format!("`{}`, c9 c{crm} {op2} | {:#X} |", word.name(), word.external_offset());
        assert!(page.contains(&view.replace("0X", "0x")), "{view}");
        assert!(page.contains(&format!("0x{:08X}", word.value())), "{}", word.name());
    }
}
