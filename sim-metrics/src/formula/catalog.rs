//! Metrics by name: what a metric file says about each, and the formulas that refer to each other.

use super::error::FormulaError;
use super::parser::Formula;

/// A metric of a file, or of the command line.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricFormula {
    /// Its name.
    pub name: String,
    /// Its formula, or why there is none.
    pub formula: Result<Formula, FormulaError>,
    /// By what the value is multiplied, and its unit.
    pub scale: Scale,
    /// What the file says about it.
    pub description: String,
    /// The groups that it belongs to.
    pub groups: Vec<String>,
    /// A further formula: not 0 where the value is bad.
    pub threshold: Option<Result<Formula, FormulaError>>,
    /// Name of the truth that the value claims to be.
    pub claims: Option<String>,
    /// What its file refers to and does not hold, with what to give: without it the value has no unit.
    pub missing: Option<String>,
    /// The file, with a line where it has lines.
    pub source: String,
}

impl MetricFormula {
    /// A metric of which nothing but the formula is known.
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

/// perf's `ScaleUnit`: a factor with a unit behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    /// The value is multiplied by it.
    pub factor: f64,
    /// The unit; empty without a `ScaleUnit`.
    pub unit: String,
}

impl Default for Scale {
    fn default() -> Scale {
        Scale { factor: 1.0, unit: String::new() }
    }
}

impl Scale {
    /// Reads `100percent of branches`: the longest number in front, then the unit.
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

    /// The scale as a file writes it; nothing for none.
    pub fn text(&self) -> String {
        match *self == Scale::default() {
            true => String::new(),
            false => format!("{}{}", self.factor, self.unit),
        }
    }

    /// Decimals with which perf prints a value of this scale.
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
    /// Adds metrics; one with the name of another takes its place.
    pub fn extend(&mut self, metrics: impl IntoIterator<Item = MetricFormula>) {
        for metric in metrics {
            match self.metrics.iter_mut().find(|own| own.name.eq_ignore_ascii_case(&metric.name)) {
                Some(own) => *own = metric,
                None => self.metrics.push(metric),
            }
        }
    }

    /// The metric with this name, in any case.
    pub fn get(&self, name: &str) -> Option<&MetricFormula> {
        self.metrics.iter().find(|metric| metric.name.eq_ignore_ascii_case(name))
    }

    /// The metrics that a name of perf's `-M` means: one metric, or all of a group.
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

    /// Every metric, in the order of the files.
    pub fn metrics(&self) -> &[MetricFormula] {
        &self.metrics
    }

    /// Every group with a member, each once.
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
    fn a_later_metric_takes_the_place_of_an_earlier_one() {
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
