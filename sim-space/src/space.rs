//! The space of possible counts: generators, and the rules that hold besides.

use sim_core::pmu_event::PmuEvent;
use sim_metrics::identities::{self, Assumptions, Comparison, Rule};

use crate::generator::{Generator, generators};
use crate::inequality::Inequality;

/// Possible combinations of counts. A table is possible if it is a sum of generators that keeps
/// the rules.
#[derive(Clone, Debug)]
pub struct Space {
    rules: Vec<SpaceRule>,
}

/// A rule that the generators do not imply.
#[derive(Clone, Debug)]
pub(crate) struct SpaceRule {
    pub(crate) rule: Rule<PmuEvent>,
    /// Weights of the events in a sum that is 0, or at most 0.
    weights: Vec<(i128, PmuEvent)>,
    pub(crate) is_equality: bool,
}

impl SpaceRule {
    fn new(rule: Rule<PmuEvent>) -> SpaceRule {
        let sign = if rule.comparison == Comparison::AtLeast { -1 } else { 1 };
        let side = |terms: &[(u64, PmuEvent)], sign: i128| -> Vec<(i128, PmuEvent)> {
            terms.iter().map(|(weight, event)| (sign * i128::from(*weight), *event)).collect()
        };
        let weights = [side(&rule.left, sign), side(&rule.right, -sign)].concat();
        SpaceRule { is_equality: rule.comparison == Comparison::Equal, weights, rule }
    }

    /// Returns the weighted sum of a generator's counts.
    pub(crate) fn sum(&self, generator: &Generator) -> i128 {
        let term =
            |(weight, event): &(i128, PmuEvent)| weight * i128::from(generator.count(*event));
        self.weights.iter().map(term).sum()
    }

    fn holds(&self, generator: &Generator) -> bool {
        let sum = self.sum(generator);
        sum == 0 || sum < 0 && !self.is_equality
    }
}

impl Space {
    /// Creates the space of the Neoverse N2. The assumptions and the counts select the form of the
    /// rules, as for [`identities::check`]; the counts only matter for an unknown revision.
    pub fn new(assumptions: &Assumptions, count: impl Fn(PmuEvent) -> Option<u64>) -> Space {
        let all = &generators().all;
        let rules = identities::every_rule(count, assumptions).into_iter().map(SpaceRule::new);
        let is_needed = |rule: &SpaceRule| !all.iter().all(|own| rule.holds(own));
        let rules = rules.filter(is_needed).collect();
        Space { rules }
    }

    /// Returns the generators; none is the sum of two others.
    pub fn generators(&self) -> &[Generator] {
        &generators().all
    }

    /// Returns the number of paths through the flows that the generators come from.
    pub fn paths(&self) -> usize {
        generators().paths
    }

    /// Returns the rules that hold besides the generators.
    pub fn rules(&self) -> impl Iterator<Item = &Rule<PmuEvent>> {
        self.rules.iter().map(|own| &own.rule)
    }

    /// Returns these rules as half-spaces.
    pub fn rule_half_spaces(&self) -> impl Iterator<Item = Inequality> {
        self.rules.iter().map(|own| Inequality::new(own.weights.clone(), own.is_equality))
    }

    pub(crate) fn own_rules(&self) -> &[SpaceRule] {
        &self.rules
    }
}
