//! docs/pmu.md names every register, and only tests that exist.

use std::path::Path;

use sim_pmu::{CommonEventWord, Register};

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_line_of_the_walk_has_a_proof() {
    let page = read("../docs/pmu.md");
    let sources = ["conformance.rs", "identification.rs", "random_programs.rs"]
        .map(|file| read(&format!("tests/{file}")));
    let walk = page.split("\n## ").nth(1).expect("the walk is the first section");
    let rows: Vec<&str> = walk.lines().filter(|line| line.starts_with("| ")).skip(2).collect();
    assert_eq!(rows.len(), 21, "the walk has a row for each step");
    for row in rows {
        let proofs = row.trim_end_matches(" |").rsplit(" | ").next().expect("a last column");
        for name in proofs.split(", ").map(|name| name.trim_matches('`')) {
            let head = format!("fn {name}(");
            assert!(sources.iter().any(|source| source.contains(&head)), "{name}: no such test");
        }
    }
}

#[test]
fn every_register_and_every_view_is_named() {
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
