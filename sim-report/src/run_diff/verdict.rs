//! Verdict on two runs: the faster one, and its largest gain or loss.

use crate::perf_stat::grouped;
use crate::run_report::{RunReport, SlotNode};

/// Most causes named for gains and for losses.
const NAMED: usize = 2;
/// Smallest relevant change of the cycles, in percent.
const NONE: f64 = 0.05;

/// Returns a verdict: cycles first, then the causes whose slots changed most.
pub(super) fn sentence(from: &RunReport, to: &RunReport) -> String {
    let (before, after) = (&from.run, &to.run);
    if before.cycles == 0 || before.instructions == 0 || after.instructions == 0 {
        return String::from("One of the runs counted nothing and cannot be compared.");
    }
    // Scales the first run to the number of instructions of the second.
    let scale = after.instructions as f64 / before.instructions as f64;
    let percent = (after.cycles as f64 / (before.cycles as f64 * scale) - 1.0) * 100.0;
    let per = if before.instructions == after.instructions { "" } else { " per instruction" };
    let cycles = format!("({} -> {})", grouped(before.cycles), grouped(after.cycles));
    let mut text = if percent.abs() < NONE {
        format!("Both runs take the same number of cycles{per} {cycles}.")
    } else {
        let word = if percent > 0.0 { "more" } else { "fewer" };
        format!("The second run takes {:.1} % {word} cycles{per} {cycles}.", percent.abs())
    };
    let changes = changes(&from.top_down, &to.top_down, scale);
    let per = if per.is_empty() { "" } else { ", for equal numbers of instructions" };
    let more = named(changes.iter().rev().filter(|(_, slots)| *slots > 0.0));
    if !more.is_empty() {
        text += &format!(" It loses more {} to {more}{per}.", from.slots());
    }
    let fewer = named(changes.iter().filter(|(_, slots)| *slots < 0.0));
    if !fewer.is_empty() {
        text += &format!(" It loses fewer to {fewer}{per}.");
    }
    text
}

/// Returns the causes with the change of their slots, the largest gain first. Retired slots are not
/// a cause.
fn changes(from: &SlotNode, to: &SlotNode, scale: f64) -> Vec<(String, f64)> {
    let mut changes: Vec<(String, String, f64)> = Vec::new();
    for (node, sign) in leaves(from).map(|n| (n, -scale)).chain(leaves(to).map(|n| (n, 1.0))) {
        let slots = node.slots as f64 * sign;
        match changes.iter_mut().find(|(id, ..)| *id == node.id) {
            Some((.., sum)) => *sum += slots,
            None => changes.push((node.id.clone(), node.name.clone(), slots)),
        }
    }
    changes.retain(|(.., slots)| slots.abs() >= 1.0);
    changes.sort_by(|a, b| a.2.total_cmp(&b.2));
    changes.into_iter().map(|(_, name, slots)| (name, slots)).collect()
}

fn leaves(root: &SlotNode) -> impl Iterator<Item = &SlotNode> {
    let mut open = vec![root];
    let all = std::iter::from_fn(move || {
        let node = open.pop()?;
        if !node.is_cause() {
            open.extend(node.children.iter().rev());
        }
        Some(node)
    });
    all.filter(|node| node.is_cause() && !node.is_used())
}

fn named<'a>(changes: impl Iterator<Item = &'a (String, f64)>) -> String {
    let one = |(name, slots): &(String, f64)| {
        let sign = if *slots > 0.0 { "+" } else { "-" };
        format!("\"{name}\" ({sign}{})", grouped(slots.abs().round() as u64))
    };
    changes.take(NAMED).map(one).collect::<Vec<_>>().join(" and ")
}
