//! The fitted configuration, as differences from the built-in one.

use std::fmt::Write;

use sim_core::Shown;
use sim_core::config::{Document, Setting};
use sim_machine::ConfigSource;

use super::report::{KeyReport, Report};

const TAKES: &str = "a String takes all text";
/// The configuration that the differences are from.
const BASE: &str = "neoverse-n2.toml";

/// Returns the text of a configuration: where the search began, with the fitted values. The comment
/// after each fitted value names the counts and what they leave open.
pub(super) fn text(document: &Document, report: &Report) -> anyhow::Result<String> {
    let base = ConfigSource::default().document()?;
    let mut text = head(report);
    let mut table = String::new();
    for setting in document.settings() {
        let is_fitted = |key: &&KeyReport| key.key == setting.key && !key.by_chance;
        let fitted = report.keys.iter().find(is_fitted);
        let is_base = base.get(&setting.key).is_some_and(|value| value == setting.value);
        let line = match fitted {
            Some(fitted) => fitted_line(fitted, report),
            _ if is_base => continue,
            _ => kept_line(&setting),
        };
        let Some((own, key)) = setting.key.rsplit_once('.') else { continue };
        if own != table {
            own.clone_into(&mut table);
            writeln!(text, "\n[{table}]").expect(TAKES);
        }
        writeln!(text, "{key} = {line}").expect(TAKES);
    }
    Ok(text)
}

fn head(report: &Report) -> String {
    let mut text = String::from("# Neoverse N2, fitted by n2sim calibrate.\n#\n");
    for counts in &report.counts {
        writeln!(text, "# Counts: {counts}").expect(TAKES);
    }
    let list = |kernels: &[String]| kernels.join(", ").shown().to_string();
    writeln!(text, "# Fitted kernels: {}", list(&report.fitted)).expect(TAKES);
    if !report.held_out.is_empty() {
        writeln!(text, "# Held out: {}", list(&report.held_out)).expect(TAKES);
    }
    if !report.is_noise {
        text +=
            "# The fitted counts differ by more than noise: values and intervals may be wrong.\n";
    }
    for tie in &report.ties {
        writeln!(text, "# Not distinguished: {}", tie.sentence).expect(TAKES);
    }
    write!(text, "\nbase = \"{BASE}\"\n").expect(TAKES);
    text
}

/// Returns a fitted value with its source.
fn fitted_line(key: &KeyReport, report: &Report) -> String {
    let KeyReport { value, low, high, start, .. } = key;
    let interval = match (low == high, key.is_open()) {
        (true, _) => String::new(),
        (_, true) => format!(", {low} to {high}, all of the range"),
        (_, false) => format!(", {low} to {high}"),
    };
    let is_tied = report.ties.iter().any(|tie| tie.keys.contains(&key.key));
    let tied = if is_tied { "; tied to others, see above" } else { "" };
    format!("{value} # [fitted{interval}: n2sim calibrate, was {start}{tied}]")
}

/// Returns a value of the profile, the machine or the file that the search began with.
fn kept_line(setting: &Setting) -> String {
    format!("{} # {}", setting.value, setting.source.shown())
}
