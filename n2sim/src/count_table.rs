//! Counts as `perf stat` printed them, of this program or of a real machine: CSV (`-x`) or JSON
//! lines (`-j`). Rows of one thread, CPU, socket or interval make one table.

use std::collections::BTreeMap;

use serde_json::Value;
use sim_core::PmuEvent;

use crate::event_list;

/// Why a file gives no counts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CountTableError {
    #[error("line {line}: not a JSON object: {reason}")]
    Json { line: usize, reason: String },
    #[error("line {line}: `{field}` is missing; make the file with perf stat -j")]
    Field { line: usize, field: &'static str },
    #[error("line {line}: '{value}' is no count")]
    Value { line: usize, value: String },
    #[error("line {line}: {event} stands twice in the same table, with {first} and {second}")]
    Twice { line: usize, event: &'static str, first: u64, second: u64 },
    #[error(
        "no line holds the count of a Neoverse N2 event; make the file with perf stat -x, or -j"
    )]
    Nothing,
}

/// The counts of one window on one thread or CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CountTable {
    /// Whose counts, as printed; empty for the only one.
    pub(crate) whose: String,
    /// Counts by event.
    pub(crate) counts: BTreeMap<PmuEvent, u64>,
    /// Events that were counted for a part of the time and scaled.
    pub(crate) scaled: usize,
    /// Names that are no event of this core, such as task-clock.
    pub(crate) unknown: Vec<String>,
}

/// One row: whose, the event's name with its modifiers, the count, and whether it was scaled.
struct Entry {
    whose: String,
    name: String,
    value: String,
    is_scaled: bool,
}

/// Reads all tables of a file.
pub(crate) fn read(text: &str) -> Result<Vec<CountTable>, CountTableError> {
    let mut tables: BTreeMap<String, CountTable> = BTreeMap::new();
    for (i, line) in text.lines().enumerate() {
        let line_number = i + 1;
        let line = line.trim();
        let entry = match line.chars().next() {
            None | Some('#') => None,
            Some('{') => json_entry(line, line_number)?,
            Some(_) => csv_entry(line),
        };
        if let Some(entry) = entry {
            insert(&mut tables, entry, line_number)?;
        }
    }
    let tables: Vec<_> = tables.into_values().filter(|table| !table.counts.is_empty()).collect();
    if tables.is_empty() { Err(CountTableError::Nothing) } else { Ok(tables) }
}

fn insert(
    tables: &mut BTreeMap<String, CountTable>,
    entry: Entry,
    line: usize,
) -> Result<(), CountTableError> {
    let modifiers = entry.name.split_once(':').map_or("", |(_, modifiers)| modifiers);
    let whose = [entry.whose.as_str(), modifiers].join(" ").trim().to_owned();
    let table = tables.entry(whose.clone()).or_default();
    table.whose = whose;
    let Ok(selected) = event_list::parse_event(&entry.name, &entry.name) else {
        table.unknown.push(entry.name);
        return Ok(());
    };
    if entry.value.starts_with('<') {
        return Ok(());
    }
    let count = count_of(&entry.value)
        .ok_or_else(|| CountTableError::Value { line, value: entry.value.clone() })?;
    table.scaled += usize::from(entry.is_scaled);
    match table.counts.insert(selected.event, count) {
        Some(first) if first != count => Err(CountTableError::Twice {
            line,
            event: selected.event.mnemonic(),
            first,
            second: count,
        }),
        _ => Ok(()),
    }
}

/// `123`, or `123.000000` as JSON has it.
fn count_of(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_whole = fraction.chars().all(|c| c == '0');
    is_whole.then(|| whole.parse().ok()).flatten()
}

/// `[time,] [whose, [number,]] value, unit, event, run_ns, percent, ...`: the event is found by its
/// name, the count two fields before it.
fn csv_entry(line: &str) -> Option<Entry> {
    [',', ';', '\t', '|', ':', ' '].into_iter().find_map(|separator| {
        let fields: Vec<&str> = line.split(separator).map(str::trim).collect();
        let is_value = |text: &str| text.starts_with('<') || text.parse::<f64>().is_ok();
        let is_time = |text: &str| text.parse::<f64>().is_ok();
        let at = (2..fields.len().saturating_sub(2)).find(|&at| {
            let has_name = fields[at].starts_with(|c: char| c.is_ascii_alphabetic());
            has_name && is_value(fields[at - 2]) && is_time(fields[at + 1])
        })?;
        Some(Entry {
            whose: fields[..at - 2].join(" "),
            name: fields[at].to_owned(),
            value: fields[at - 2].to_owned(),
            is_scaled: fields.get(at + 2).is_some_and(|percent| is_partial(percent)),
        })
    })
}

/// True for a share of the time between nothing and all of it.
fn is_partial(percent: &str) -> bool {
    percent.parse::<f64>().is_ok_and(|percent| percent > 0.0 && percent < 100.0)
}

fn json_entry(line: &str, number: usize) -> Result<Option<Entry>, CountTableError> {
    let object: Value = serde_json::from_str(line)
        .map_err(|error| CountTableError::Json { line: number, reason: error.to_string() })?;
    let text = |key: &str| object.get(key).and_then(Value::as_str).map(str::to_owned);
    let Some(name) = text("event") else {
        // Further metrics of an event stand on lines of their own.
        let is_metric = object.get("metric-value").is_some();
        let error = CountTableError::Field { line: number, field: "event" };
        return if is_metric { Ok(None) } else { Err(error) };
    };
    let bare = || object.get("counter-value").filter(|value| value.is_number());
    let value = text("counter-value")
        .or_else(|| bare().map(Value::to_string))
        .ok_or(CountTableError::Field { line: number, field: "counter-value" })?;
    let interval = object.get("interval").map(Value::to_string);
    let owners = ["core", "die", "socket", "node", "cache", "cluster", "cpu", "thread"];
    let whose: Vec<String> =
        interval.into_iter().chain(owners.into_iter().filter_map(text)).collect();
    let percent = object.get("pcnt-running").map(Value::to_string).unwrap_or_default();
    Ok(Some(Entry { whose: whose.join(" "), name, value, is_scaled: is_partial(&percent) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use PmuEvent::*;

    fn counts(text: &str) -> Vec<(String, Vec<(PmuEvent, u64)>)> {
        let tables = read(text).expect("the file holds counts");
        let rows = |table: CountTable| (table.whose, table.counts.into_iter().collect());
        tables.into_iter().map(rows).collect()
    }

    #[test]
    fn both_forms_of_perf_give_the_same_table() {
        let csv = "# started on Monday\n\n\
            40,,cycles,13333333,100.00,3.000,GHz\n\
            ,,,,,1.5,extra metric\n\
            13.33,msec,task-clock,13333333,100.00,0.988,CPUs utilized\n\
            <not counted>,,r10,0,0.00,,\n\
            7,,l1d_cache,13333333,100.00,,\n";
        let json = "{\"counter-value\" : \"40.000000\", \"unit\" : \"\", \"event\" : \"cycles\", \"event-runtime\" : 1, \"pcnt-running\" : 100.00}\n\
            {\"metric-value\" : \"1.5\", \"metric-unit\" : \"extra\"}\n\
            {\"counter-value\" : \"7.000000\", \"unit\" : \"\", \"event\" : \"l1d_cache\", \"event-runtime\" : 1, \"pcnt-running\" : 100.00}\n";
        let expected = vec![(String::new(), vec![(L1D_CACHE, 7), (CPU_CYCLES, 40)])];
        assert_eq!(counts(csv), expected);
        assert_eq!(counts(json), expected);
        assert_eq!(counts(&csv.replace(',', ";")), expected);
    }

    #[test]
    fn threads_sockets_intervals_and_modifiers_make_tables_of_their_own() {
        let csv = "prog-1,4,,ld_spec,9,100.00,,\nprog-2,5,,ld_spec,9,100.00,,\n";
        assert_eq!(
            counts(csv),
            [("prog-1".into(), vec![(LD_SPEC, 4)]), ("prog-2".into(), vec![(LD_SPEC, 5)])]
        );
        let csv = "1.0001,S0,2,4,,ld_spec:u,9,39.00,,\n";
        assert_eq!(counts(csv), [("1.0001 S0 2 u".into(), vec![(LD_SPEC, 4)])]);
        assert_eq!(read(csv).expect("counts")[0].scaled, 1);
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_its_line() {
        let message = |text: &str| read(text).expect_err("no counts").to_string();
        assert!(message("").contains("no line holds the count"));
        assert!(message("hello, world").contains("no line holds the count"));
        assert!(message("{\"event\" : 1").starts_with("line 1: not a JSON object"));
        assert!(message("\n{\"event\" : \"ld_spec\"}").starts_with("line 2: `counter-value`"));
        let number = "{\"event\" : \"ld_spec\", \"counter-value\" : 4}";
        assert_eq!(counts(number), [(String::new(), vec![(LD_SPEC, 4)])]);
        let half = "4.5,,ld_spec,9,100.00,,";
        assert_eq!(message(half), "line 1: '4.5' is no count");
        let twice = "4,,ld_spec,9,100.00,,\n5,,r70,9,100.00,,";
        assert!(message(twice).starts_with("line 2: LD_SPEC stands twice"), "{}", message(twice));
    }
}
