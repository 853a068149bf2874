//! Reader for the project's own metric files: TOML with one table per metric.
//!
//! ```toml
//! [metric.ipc]
//! formula = "INST_RETIRED / CPU_CYCLES"
//! scale = "1per cycle"
//! description = "retired instructions per cycle"
//! groups = ["General"]
//! claims = "retired_per_cycle"
//! ```

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::contents::{MetricFile, MetricFileError, NamedText};
use crate::formula::{Formula, MetricFormula, Scale};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    metric: BTreeMap<Spanned<String>, Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    formula: String,
    scale: Option<String>,
    #[serde(default)]
    description: String,
    #[serde(default)]
    groups: Vec<String>,
    threshold: Option<String>,
    claims: Option<String>,
}

/// Reads the metrics of a text, in their order.
pub(super) fn read(file: &NamedText<'_>) -> Result<MetricFile, MetricFileError> {
    let document: Document = toml::from_str(file.text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        MetricFileError::Broken {
            source_name: format!("{}:{}", file.name, line(file.text, at)),
            message: error.message().trim().replace('\n', " "),
        }
    })?;
    let mut entries: Vec<(Spanned<String>, Entry)> = document.metric.into_iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    let mut found = MetricFile::default();
    for (name, entry) in entries {
        let place = format!("{}:{}", file.name, line(file.text, name.span().start));
        let scale = match entry.scale.as_deref().map(Scale::parse) {
            Some(None) => {
                let given = entry.scale.unwrap_or_default();
                found.faults.push(format!("{place}: scale '{given}' does not begin with a number"));
                continue;
            }
            scale => scale.flatten().unwrap_or_default(),
        };
        found.metrics.push(MetricFormula {
            scale,
            description: entry.description,
            groups: entry.groups,
            threshold: entry.threshold.as_deref().map(Formula::parse),
            claims: entry.claims,
            ..MetricFormula::new(name.get_ref(), &entry.formula, &place)
        });
    }
    Ok(found)
}

/// Returns the line of a byte, from 1.
fn line(text: &str, at: usize) -> usize {
    text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<MetricFile, MetricFileError> {
        read(&NamedText { name: "m.toml", text })
    }

    #[test]
    fn metrics_come_in_the_order_of_the_file() {
        let file = parse(
            "[metric.z]\nformula = \"A / B\"\nscale = \"100percent of B\"\nclaims = \"t\"\n\n\
             [metric.a]\nformula = \"1 +\"\n",
        )
        .expect("good TOML");
        let [z, a] = &file.metrics[..] else { panic!("{:?}", file.metrics) };
        assert_eq!(
            (z.name.as_str(), z.source.as_str(), z.claims.as_deref()),
            ("z", "m.toml:1", Some("t"))
        );
        assert_eq!((a.source.as_str(), a.formula.is_err()), ("m.toml:6", true));
    }

    #[test]
    fn errors_are_reported_with_their_line() {
        let error_of = |text| parse(text).expect_err("not good").to_string();
        assert!(error_of("[metric.a]\nformula = 3").starts_with("m.toml:2: "));
        assert!(error_of("[metric.a]\nformula = \"1\"\nscal = \"1\"").starts_with("m.toml:3: "));
        assert!(error_of("x = 1").contains("unknown field"));
        let file = parse("[metric.a]\nformula = \"1\"\nscale = \"percent\"").expect("readable");
        assert_eq!(file.faults, ["m.toml:1: scale 'percent' does not begin with a number"]);
    }
}
