//! Fuzzes the symbols of a kernel: `System.map`, a copy of `/proc/kallsyms`, an ELF file. The
//! result must be in order and without overlaps. Nothing may panic or hang.
//!
//! Run: `cargo xtask fuzz kernel_symbols`

#![no_main]

use std::path::Path;

use libfuzzer_sys::{Corpus, fuzz_target};

// Include the module of the program, which is not a library.
#[allow(dead_code)]
#[path = "../../n2sim/src/capture/system/symbols.rs"]
mod symbols;

fuzz_target!(|data: &[u8]| -> Corpus {
    match symbols::parse(data, Path::new("System.map")) {
        Ok(found) => {
            assert!(!found.is_empty());
            for pair in found.windows(2) {
                assert!(pair[0].addr < pair[1].addr, "in order, each address once");
                assert_eq!(pair[0].addr.checked_add(pair[0].size), Some(pair[1].addr));
            }
            let merged = symbols::merge(found.clone(), found);
            assert!(merged.is_sorted_by_key(|symbol| symbol.addr));
        }
        Err(error) => assert!(format!("{error:#}").contains("System.map")),
    }
    Corpus::Keep
});
