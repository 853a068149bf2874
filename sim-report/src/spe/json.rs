//! SPE profile as one JSON object.

use serde_json::{Value, json};
use sim_core::LINE_SHIFT;
use sim_pmu::spe::Events;

use super::text::Report;

/// Returns everything that the text shows, and every latency histogram in full.
pub fn of(report: &Report<'_>) -> Value {
    let (input, profile) = (report.input, report.profile);
    let events: serde_json::Map<String, Value> = profile
        .events
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0)
        .map(|(bit, count)| (Events(1 << bit).names().collect(), json!(count)))
        .collect();
    let groups: Vec<Value> = profile
        .total
        .iter()
        .map(|(group, total)| {
            json!({
                "group": group.name(),
                "samples": total.samples(),
                "issue_cycles": profile.issue_cycles.get(group).copied().unwrap_or(0),
                "total_cycles": total.cycles(),
                "p50": total.percentile(0.5),
                "p90": total.percentile(0.9),
                "p99": total.percentile(0.99),
                "octaves": total.octaves(),
            })
        })
        .collect();
    json!({
        "records": profile.records,
        "buffers": input.buffers.len(),
        "period": input.period,
        "buffers_with_collisions": input.flagged_collision,
        "buffers_truncated": input.flagged_truncated,
        "unknown_packets": profile.unknown_packets,
        "damage": damage(report),
        "events": events,
        "latency": groups,
        "translation_cycles": profile.translation.cycles(),
        "instructions": instructions(report),
        "lines": lines(report),
    })
}

fn damage(report: &Report<'_>) -> Vec<Value> {
    let place = |(start, damage): &(usize, sim_pmu::spe::Damage)| {
        json!({
            "offset": start + damage.offset,
            "fault": damage.fault.to_string(),
            "skipped": damage.to - damage.from,
        })
    };
    report.damage.iter().map(place).collect()
}

fn instructions(report: &Report<'_>) -> Vec<Value> {
    let places = report.profile.hot_places(report.top);
    let row = |(pc, place): (u64, super::profile::Place)| {
        json!({
            "pc": format!("{pc:#x}"),
            "name": (report.name)(pc),
            "samples": place.samples,
            "total_cycles": place.cycles,
            "l1d_refills": place.refills,
            "mispredicted": place.mispredicted,
        })
    };
    places.into_iter().map(row).collect()
}

fn lines(report: &Report<'_>) -> Vec<Value> {
    let lines = report.profile.hot_lines(report.top);
    let row = |(number, line): (u64, super::profile::Line)| {
        json!({
            "address": format!("{:#x}", number << LINE_SHIFT),
            "loads": line.loads,
            "stores": line.stores,
            "l1d_refills": line.refills,
            "from_others": line.from_others,
            "load_cycles": line.cycles,
            "name": line.virtual_address.and_then(|address| (report.data)(address)),
        })
    };
    lines.into_iter().map(row).collect()
}
