//! Row of a file of counts, common to text, CSV and JSON.

/// Value of an event in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Count(u64),
    /// Fraction, as of a clock or an unknown event: `13.33` msec.
    Fraction,
    /// `<not counted>`, `<not supported>`.
    Missing,
}

impl Value {
    /// Parses `123`, `123.000000` as in JSON, or `<not ...>`.
    pub(super) fn parse(text: &str) -> Option<Value> {
        if text == "<not counted>" || text == "<not supported>" {
            return Some(Value::Missing);
        }
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let is_digits = |text: &str| text.bytes().all(|c| c.is_ascii_digit());
        if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        match fraction.bytes().all(|c| c == b'0') {
            true => whole.parse().ok().map(Value::Count),
            false => Some(Value::Fraction),
        }
    }
}

/// Reads a number of percent as a share; `None` if it is not one.
pub(super) fn spread(percent: f64) -> Option<f64> {
    Some(percent / 100.0).filter(|share| share.is_finite() && *share >= 0.0)
}

/// Row of any form.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// Interval, thread, CPU, socket or function, as printed.
    pub(super) owner: String,
    /// Whether `owner` is a function.
    pub(super) is_function: bool,
    /// The event as printed, with its modifiers.
    pub(super) event: String,
    pub(super) value: Value,
    /// Share of the time for which it was counted.
    pub(super) share: f64,
    /// Standard deviation of the mean of several runs, as a share of it.
    pub(super) spread: Option<f64>,
}

/// Returns the owner of the count in a row. The number of CPUs of a socket or node is left out,
/// because it differs between supported and unsupported events.
pub(super) fn owner(fields: &[&str]) -> String {
    let is_group = |text: &str| {
        let mut chars = text.chars();
        matches!(chars.next(), Some('S' | 'N' | 'D'))
            && chars.next().is_some_and(|c| c.is_ascii_digit())
    };
    match fields {
        [rest @ .., group, cpus] if is_group(group) && cpus.parse::<u32>().is_ok() => {
            [rest, &[*group]].concat().join(" ")
        }
        _ => fields.join(" "),
    }
}

/// Returns whether the owner is none that perf prints: time, CPU, core, die, socket, node, cache,
/// cluster, or `comm-tid`.
pub(super) fn is_function(owner: &str) -> bool {
    let is_number =
        |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit() || c == b'.');
    let is_unit = |word: &str| {
        let parts = word.split('-');
        let is_part =
            |part: &str| is_number(part.trim_start_matches(|c: char| c.is_ascii_uppercase()));
        parts.into_iter().all(is_part)
    };
    let is_thread = |word: &str| word.rsplit_once('-').is_some_and(|(_, tid)| is_number(tid));
    !owner.is_empty() && !is_thread(owner) && !owner.split(' ').all(is_unit)
}
