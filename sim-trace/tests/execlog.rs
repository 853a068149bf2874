//! Tests of the import of QEMU execlog text where data is missing.

#![allow(missing_docs, clippy::unwrap_used)]

use std::io::Cursor;
use std::path::Path;

use sim_core::InstFlags;
use sim_trace::foreign::{ImportOptions, import_bytes};
use sim_trace::{MissingData, StreamEvent, TraceFile};

fn imported(text: &str) -> TraceFile<Cursor<Vec<u8>>> {
    let (_, bytes) = import_bytes(text.as_bytes(), None, &ImportOptions::default()).unwrap();
    TraceFile::from_reader(Cursor::new(bytes), Path::new("memory")).unwrap()
}

#[test]
fn a_load_without_access_before_a_jump_is_imported_as_a_fault() {
    let handled = "0, 0x1000, 0xd503201f, \"nop\"\n\
                   0, 0x1004, 0xf9400041, \"ldr x1, [x2]\"\n\
                   0, 0x9000, 0xd503201f, \"nop\"\n";
    let file = imported(handled);
    let mut reader = file.reader(0).unwrap();
    let mut batch = Vec::new();
    assert!(reader.next_batch(&mut batch).unwrap());
    assert!(batch[1].flags.has(InstFlags::ABANDONED) && !batch[0].flags.has(InstFlags::ABANDONED));
    let signal = StreamEvent::Signal { number: 0, abandoned: true };
    assert_eq!(reader.events().iter().map(|at| at.event).collect::<Vec<_>>(), [signal]);
}

#[test]
fn other_loads_and_stores_are_not_imported_as_faults() {
    // The first has no access, but falls through; the second is a failed store-exclusive; the third
    // has its access.
    let others = "0, 0x1000, 0xf9400041, \"ldr x1, [x2]\"\n\
                  0, 0x1004, 0xc8007c41, \"stxr w0, x1, [x2]\"\n\
                  0, 0x2000, 0xf9000041, \"str x1, [x2]\", store, 0x8000\n\
                  0, 0x3000, 0xd503201f, \"nop\"\n";
    let file = imported(others);
    let mut reader = file.reader(0).unwrap();
    let mut batch = Vec::new();
    while reader.next_batch(&mut batch).unwrap() {
        assert!(batch.iter().all(|inst| !inst.flags.has(InstFlags::ABANDONED)));
        assert!(reader.events().iter().all(|at| at.event == StreamEvent::Redirect));
    }
}

#[test]
fn a_prefetch_without_address_counts_as_missing_data() {
    let with = imported("0, 0x1000, 0xf9800020, \"prfm pldl1keep, [x1]\"\n");
    assert_eq!(with.meta().lacks, [MissingData::Prefetches, MissingData::Image]);
    let without = imported("0, 0x1000, 0xf9400041, \"ldr x1, [x2]\", load, 0x10\n");
    assert_eq!(without.meta().lacks, [MissingData::Image]);
}
