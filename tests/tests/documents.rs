//! The documents show the actual output of the program.

use std::path::Path;

use sim_core::PmuEvent;
use sim_machine::RunOptions;
use sim_tests::trace_check::open;

/// Returns the lines of the README's sample output: count and event.
fn sample(readme: &str) -> Vec<(u64, PmuEvent)> {
    let counts = readme.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let count = words.next()?.replace(',', "").parse().ok()?;
        Some((count, PmuEvent::from_name(words.next()?).ok()?))
    });
    counts.collect()
}

#[test]
fn the_sample_output_of_the_readme_is_the_output_of_a_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let readme = std::fs::read_to_string(root.join("README.md")).expect("the README is there");
    let shown = sample(&readme);
    assert_eq!(shown.len(), 6, "the README shows six counts of traces/matrix.n2t");
    let session = open(&root.join("traces/matrix.n2t")).expect("a committed trace opens");
    let outcome = session.run(&RunOptions::default(), &mut |_| {}).expect("it runs");
    let counts = outcome.total();
    for (count, event) in shown {
        assert_eq!(count, counts.value(event), "README.md shows another {}", event.perf_name());
    }
}
