//! Every place that counts a message or an event of the mesh is proved to matter: silent or
//! doubled, it fails a directed case. The places exist in builds with debug assertions.
//!
//! A survivor needs a case, not a row in [`UNREACHED`]: these are for places that no case reaches.
#![cfg(debug_assertions)]

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use sim_core::mesh_sites::{Site, learn, set_fault};

use super::{mesh_counts, mesh_messages};

/// Directed cases of one file.
type Cases = &'static [fn()];

/// Files with directed cases about the mesh, and these cases.
const CASES: [(&str, Cases); 2] = [
    (include_str!("mesh_counts.rs"), &[
        mesh_counts::a_load_from_memory_is_one_request_one_miss_and_one_line,
        mesh_counts::a_load_from_the_system_level_cache_does_not_reach_memory,
        mesh_counts::a_store_is_a_read_unique_and_a_whole_line_is_made_unique,
        mesh_counts::a_reader_gets_a_modified_line_from_its_owner_and_the_home_node_gets_a_copy,
        mesh_counts::a_writer_of_a_shared_line_asks_for_ownership_and_the_others_are_snooped_at_once,
        mesh_counts::a_writer_takes_a_modified_line_from_its_owner,
        mesh_counts::a_line_that_loses_its_entry_in_the_filter_leaves_its_owner_with_its_data,
        mesh_counts::victims_go_to_the_system_level_cache_and_its_modified_victims_to_memory,
        mesh_counts::a_far_atomic_sends_its_operand_and_gets_the_old_value,
        mesh_counts::maintenance_reaches_the_cores_that_hold_the_line_and_tlb_maintenance_reaches_all,
        mesh_counts::an_external_snoop_and_a_stash_are_counted_with_their_answers,
        mesh_counts::nothing_is_counted_outside_of_the_counted_part_and_cycles_are_those_of_the_mesh,
        mesh_counts::a_reader_gets_a_clean_line_from_the_core_that_has_it_alone,
        mesh_counts::a_shared_line_that_loses_its_entry_in_the_filter_leaves_all_holders,
        mesh_counts::an_instruction_line_is_invalidated_in_all_cores_through_the_dvm_node,
        mesh_counts::device_memory_is_read_and_written_at_the_home_node_of_devices,
        mesh_counts::requests_for_lines_of_the_other_chip_pass_the_gateway_and_count_at_no_home_node,
        mesh_counts::a_far_atomic_on_a_shared_line_snoops_all_holders_at_once_and_the_home_node_gets_the_data,
        mesh_counts::a_writer_gets_a_line_that_several_share_from_the_home_node,
        mesh_counts::maintenance_finds_the_requester_in_the_filter_with_any_number_of_cores,
        mesh_counts::a_snoop_under_way_at_an_edge_of_the_counted_part_breaks_no_sum,
    ]),
    (include_str!("mesh_messages.rs"), &[
        mesh_messages::device_memory_answers_with_a_part_of_a_line,
        mesh_messages::maintenance_of_all_cores_is_seven_messages_between_two_cores_and_the_dvm_node,
        mesh_messages::a_synchronization_is_as_many_messages_as_an_operation,
        mesh_messages::a_synchronization_stalls_once_for_all_older_operations_of_its_core,
        mesh_messages::memory_sends_one_line_for_a_read,
        mesh_messages::an_upgrade_without_a_system_level_cache_misses_it,
        mesh_messages::victims_and_their_data_have_an_answer_each,
        mesh_messages::a_stashed_line_is_written_to_memory_announced_and_read,
        mesh_messages::a_line_that_an_outside_agent_took_comes_back_through_the_gateway,
        mesh_messages::a_writer_of_a_line_that_an_outside_agent_took_snoops_the_core_that_shared_it,
        mesh_messages::a_fixed_supplier_is_looked_up_and_sends_the_line,
        mesh_messages::a_fixed_supplier_does_not_spare_the_other_holders_their_snoop,
        mesh_messages::modified_victims_go_to_memory_without_a_system_level_cache,
        mesh_messages::a_core_that_cleans_its_line_writes_it_and_asks_the_others,
        mesh_messages::a_core_that_runs_no_more_answers_its_waiting_snoops_without_data,
        mesh_messages::a_write_that_memory_has_no_room_for_is_sent_again_with_a_credit,
    ]),
];

/// Functions outside of `uncore/traffic.rs` that count for their caller, as they are called.
const COUNTING: [&str; 21] = [
    ".pass(",
    ".core_sends(",
    ".home_sends(",
    ".deliver(",
    ".request(",
    ".count_look_up(",
    ".count_snoops(",
    ".count_eviction(",
    ".snoop(",
    ".count_answer(",
    ".count_memory_read(",
    ".count_memory_write(",
    ".count_memory_retry(",
    ".read_memory(",
    ".write_memory(",
    ".count_stash(",
    ".count_uncached_read(",
    ".count_uncached_write(",
    ".count_broadcast(",
    ".raise_dvm(",
    ".raise(",
];

/// Lines that no case reaches: file, a piece of the line, reason.
const UNREACHED: [(&str, &str, &str); 2] = [
    ("uncore.rs", "count_memory_read(", FOR_ITS_CALLER),
    ("uncore.rs", "count_memory_write(", FOR_ITS_CALLER),
];

const FOR_ITS_CALLER: &str = "the lines that call this function are the places";

/// Returns which cases reach which place.
fn reached() -> BTreeMap<Site, Vec<fn()>> {
    let mut reached = BTreeMap::<Site, Vec<fn()>>::new();
    for case in CASES.iter().flat_map(|(_, cases)| *cases) {
        for site in learn(case) {
            reached.entry(site).or_default().push(*case);
        }
    }
    reached
}

/// Returns whether a case fails while the place counts `times` times instead of once.
fn is_noticed(site: Site, times: u64, cases: &[fn()]) -> bool {
    set_fault(Some((site, times)));
    let fails = |case: &fn()| catch_unwind(AssertUnwindSafe(case)).is_err();
    let noticed = cases.iter().any(fails);
    set_fault(None);
    noticed
}

#[test]
fn every_place_that_counts_fails_a_case_when_it_is_silent_or_doubled() {
    let reached = reached();
    let mut survivors = Vec::new();
    for (site, cases) in &reached {
        for (times, what) in [(0, "silent"), (2, "doubled")] {
            if !is_noticed(*site, times, cases) {
                let Site { file, line, counted, .. } = site;
                survivors.push(format!("{file}:{line}: {counted:?} {what}"));
            }
        }
    }
    let total = 2 * reached.len();
    assert!(total > 180, "only {total} faults");
    assert!(survivors.is_empty(), "{} of {total}:\n{}", survivors.len(), survivors.join("\n"));
}

#[test]
fn every_line_that_counts_is_reached_by_a_case() {
    let reached = reached();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut problems = Vec::new();
    let mut used = [false; UNREACHED.len()];
    for (file, number, code) in counting_lines(&sources) {
        let is_reached =
            reached.keys().any(|site| site.line == number && site.file.ends_with(&file));
        let row = UNREACHED.iter().position(|row| file.ends_with(row.0) && code.contains(row.1));
        match row {
            Some(row) if !is_reached => used[row] = true,
            _ if !is_reached => problems.push(format!("{file}:{number}: no case reaches {code}")),
            _ => {}
        }
    }
    for (row, _) in UNREACHED.iter().zip(used).filter(|(_, used)| !used) {
        problems.push(format!("UNREACHED: {} '{}' needs no row", row.0, row.1));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Returns the lines that count the mesh: file, number, text.
fn counting_lines(sources: &Path) -> Vec<(String, u32, String)> {
    let mut lines = Vec::new();
    for file in ["uncore.rs", "uncore/coherence.rs", "memory_system.rs"].map(str::to_owned) {
        add_lines(sources, file, &mut lines);
    }
    let flows = std::fs::read_dir(sources.join("flows")).expect("the folder of the flows");
    for entry in flows {
        let name = entry.expect("a file of the flows").file_name();
        add_lines(sources, format!("flows/{}", name.to_string_lossy()), &mut lines);
    }
    lines
}

fn add_lines(sources: &Path, file: String, lines: &mut Vec<(String, u32, String)>) {
    let text = std::fs::read_to_string(sources.join(&file)).expect("a source file");
    for (number, code) in (1..).zip(text.lines()) {
        let of_uncore = ["self.", "uncore."];
        let counts = |name: &&str| {
            of_uncore.iter().any(|own| code.contains(&format!("{own}{}", &name[1..])))
        };
        if COUNTING.iter().any(counts) {
            lines.push((file.clone(), number, code.trim().to_owned()));
        }
    }
}

#[test]
fn every_directed_case_about_the_mesh_is_in_the_list() {
    for (text, cases) in CASES {
        assert_eq!(text.matches("#[test]").count(), cases.len());
    }
}
