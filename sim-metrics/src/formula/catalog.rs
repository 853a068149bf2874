//! Metrics by name: the entries of metric files, and the formulas that refer to each other.

use super::error::FormulaError;
use super::parser::Formula;

/// Metric of a file or of the command line.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricFormula {
    /// Name of the metric.
    pub name: String,
    /// Formula, or the reason why it cannot be parsed.
    pub formula: Result<Formula, FormulaError>,
    /// Factor and unit of the value.
    pub scale: Scale,
    /// Description from the file.
    pub description: String,
    /// Groups of the metric.
    pub groups: Vec<String>,
    /// Formula that is not 0 where the value is bad.
    pub threshold: Option<Result<Formula, FormulaError>>,
    /// Name of the ground truth that the value claims to measure.
    pub claims: Option<String>,
    /// Data that the file refers to and does not contain, with what to provide. Without it the
    /// value has no unit.
    pub missing: Option<String>,
    /// File, with a line where available.
    pub source: String,
}

impl MetricFormula {
    /// Creates a metric from its formula alone.
    pub fn new(name: &str, text: &str, source: &str) -> MetricFormula {
        MetricFormula {
            name: name.to_owned(),
            formula: Formula::parse(text),
            scale: Scale::default(),
            description: String::new(),
            groups: Vec::new(),
            threshold: None,
            claims: None,
            missing: None,
            source: source.to_owned(),
        }
    }
}

/// Scale of a metric, perf's `ScaleUnit`: a factor followed by a unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    /// Factor of the value.
    pub factor: f64,
    /// Unit; empty without a `ScaleUnit`.
    pub unit: String,
}

impl Default for Scale {
    fn default() -> Scale {
        Scale { factor: 1.0, unit: String::new() }
    }
}

impl Scale {
    /// Parses text such as `100percent of branches`: the longest leading number, then the unit.
    pub fn parse(text: &str) -> Option<Scale> {
        let text = text.trim();
        let ends = (1..=text.len()).rev().filter(|end| text.is_char_boundary(*end));
        let is_number =
            |head: &str| head.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
        for end in ends.filter(|end| is_number(&text[..*end])) {
            if let Ok(factor) = text[..end].parse::<f64>() {
                return Some(Scale { factor, unit: text[end..].trim().to_owned() });
            }
        }
        None
    }

    /// Returns the scale as a file contains it; empty without a scale.
    pub fn text(&self) -> String {
        match *self == Scale::default() {
            true => String::new(),
            false => format!("{}{}", self.factor, self.unit),
        }
    }

    /// Returns the number of decimals that perf prints for a value of this scale.
    pub fn decimals(&self) -> usize {
        if self.unit.is_empty() { 2 } else { 1 }
    }
}

/// All metrics that a formula may refer to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalog {
    metrics: Vec<MetricFormula>,
}

impl Catalog {
    /// Adds metrics. A metric replaces an earlier one with the same name.
    pub fn extend(&mut self, metrics: impl IntoIterator<Item = MetricFormula>) {
        for metric in metrics {
            match self.metrics.iter_mut().find(|own| own.name.eq_ignore_ascii_case(&metric.name)) {
                Some(own) => *own = metric,
                None => self.metrics.push(metric),
            }
        }
    }

    /// Returns the metric with this name, ignoring case.
    pub fn get(&self, name: &str) -> Option<&MetricFormula> {
        self.metrics.iter().find(|metric| metric.name.eq_ignore_ascii_case(name))
    }

    /// Returns the metrics that a name for perf's `-M` selects: one metric, or all of a group.
    pub fn named(&self, name: &str) -> Vec<&MetricFormula> {
        match self.get(name) {
            Some(metric) => vec![metric],
            None => {
                let is_member = |metric: &&MetricFormula| {
                    metric.groups.iter().any(|group| group.eq_ignore_ascii_case(name))
                };
                self.metrics.iter().filter(is_member).collect()
            }
        }
    }

    /// Returns every metric, in file order.
    pub fn metrics(&self) -> &[MetricFormula] {
        &self.metrics
    }

    /// Returns every group that has a metric, each once.
    pub fn groups(&self) -> Vec<&str> {
        let mut groups: Vec<&str> = Vec::new();
        for group in self.metrics.iter().flat_map(|metric| &metric.groups) {
            if !groups.iter().any(|own| own.eq_ignore_ascii_case(group)) {
                groups.push(group);
            }
        }
        groups
    }
}

impl FromIterator<MetricFormula> for Catalog {
    fn from_iter<I: IntoIterator<Item = MetricFormula>>(metrics: I) -> Catalog {
        let mut catalog = Catalog::default();
        catalog.extend(metrics);
        catalog
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_is_a_number_with_a_unit() {
        let scale = |text| Scale::parse(text).map(|scale| (scale.factor, scale.unit));
        assert_eq!(
            scale("100percent of branches"),
            Some((100.0, "percent of branches".to_owned()))
        );
        assert_eq!(scale("1MPKI"), Some((1.0, "MPKI".to_owned())));
        assert_eq!(scale("1event"), Some((1.0, "event".to_owned())));
        assert_eq!(scale("1e-6MB/s"), Some((1e-6, "MB/s".to_owned())));
        assert_eq!(scale("100%"), Some((100.0, "%".to_owned())));
        for wrong in ["", "percent", "é", "-"] {
            assert_eq!(scale(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_later_metric_replaces_an_earlier_one() {
        let metric = |name: &str, text: &str| {
            let groups = vec!["General".to_owned()];
            MetricFormula { groups, ..MetricFormula::new(name, text, "") }
        };
        let catalog: Catalog =
            [metric("ipc", "1"), metric("cpi", "2"), metric("IPC", "3")].into_iter().collect();
        let texts: Vec<&str> = catalog
            .named("general")
            .into_iter()
            .map(|metric| metric.formula.as_ref().expect("a number").text())
            .collect();
        assert_eq!(texts, ["3", "2"]);
        assert_eq!((catalog.named("cpi").len(), catalog.named("x").len()), (1, 0));
        assert_eq!(catalog.groups(), ["General"]);
    }
}
