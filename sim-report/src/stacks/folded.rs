//! Folded stacks, which flamegraph.pl and inferno read: `root;caller;function 300`, one line for
//! each stack, with the sum of its events.

use std::collections::BTreeMap;
use std::io::{self, Write};

use sim_core::Shown;

use super::Stacks;

/// Writes one line for each stack, sorted. The root is the program; with several threads, each
/// thread follows as a frame of its own. The counts of all events are added, so that a profile
/// should have one.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Write, stacks: &Stacks) -> io::Result<()> {
    let has_threads = stacks.threads() > 1;
    let mut sums: BTreeMap<(u32, usize), u64> = BTreeMap::new();
    for track in &stacks.tracks {
        for sample in &track.samples {
            *sums.entry((track.tid, sample.stack)).or_default() += sample.weight;
        }
    }
    // Stacks of different addresses may have the same names.
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for ((tid, stack), events) in sums {
        let mut line = frame(&stacks.program);
        if has_threads {
            line.push_str(&format!(";thread {tid}"));
        }
        for at in stacks.path(stack) {
            line.push(';');
            line.push_str(&frame(&stacks.frames[at].name));
        }
        *lines.entry(line).or_default() += events;
    }
    lines.iter().try_for_each(|(line, events)| writeln!(out, "{line} {events}"))
}

/// Returns a name on one line without the separator of frames.
fn frame(name: &str) -> String {
    name.shown().to_string().replace(';', ":")
}
