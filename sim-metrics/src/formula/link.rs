//! Formula with everything that it refers to: its events looked up, other metrics inserted.
//!
//! A metric that is referred to twice is inserted once, so that chains of references cannot grow
//! exponentially.

use sim_core::{A53Event, PmuEvent};

use super::catalog::{Catalog, MetricFormula};
use super::error::LinkError;
use super::event_use::{EventUse, FormulaCore};
use super::machine::Machine;
use super::node::{BinaryOp, Node, NodeId, Op};
use super::parser::Formula;

/// Largest number of metrics in a chain of references.
const CHAIN_MAX: usize = 32;

/// Formula that is ready for evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Linked {
    nodes: Vec<Node>,
    root: NodeId,
    events: Vec<EventUse>,
    texts: Vec<SourceText>,
}

/// Source text of nodes in a linked formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// Name of the metric; empty for the formula itself.
    pub metric: String,
    /// Text of the formula.
    pub text: String,
}

impl MetricFormula {
    /// Returns whether the formula needs a count of the mesh. One that cannot be read does not.
    pub fn is_of_mesh(&self, catalog: &Catalog) -> bool {
        let linked = |formula| Linked::named(&self.name, formula, catalog).ok();
        self.formula.as_ref().ok().and_then(linked).is_some_and(|linked| linked.is_of_mesh())
    }
}

impl Linked {
    /// Links a formula. A name is a metric of the catalog if one exists, otherwise an event.
    ///
    /// # Errors
    /// Metrics refer to each other in a cycle, or one of them cannot be parsed. An event that the
    /// core does not have is not an error here: its value is NaN, as in perf.
    pub fn new(formula: &Formula, catalog: &Catalog) -> Result<Linked, LinkError> {
        Linked::named("", formula, catalog)
    }

    /// Links the formula of the metric `name`, which may not refer to itself.
    ///
    /// # Errors
    /// Returns the errors of [`Linked::new`].
    pub fn named(name: &str, formula: &Formula, catalog: &Catalog) -> Result<Linked, LinkError> {
        Linked::on(FormulaCore::NeoverseN2, name, formula, catalog)
    }

    /// Links the formula of the metric `name` with the events of a core.
    ///
    /// # Errors
    /// Returns the errors of [`Linked::new`].
    pub fn on(
        core: FormulaCore,
        name: &str,
        formula: &Formula,
        catalog: &Catalog,
    ) -> Result<Linked, LinkError> {
        let mut linker = Linker::new(core, catalog);
        let root = linker.add(name, formula)?;
        let Linker { nodes, events, texts, .. } = linker;
        Ok(Linked { nodes, root, events, texts })
    }

    /// Returns the operations, operands first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the node of the whole formula.
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// Returns the operation at a position.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Returns the events, each once; [`Op::Name`] is an index of this list.
    pub fn events(&self) -> &[EventUse] {
        &self.events
    }

    /// Returns the event that an [`Op::Name`] refers to.
    pub fn event(&self, name: u32) -> &EventUse {
        &self.events[name as usize]
    }

    /// Returns the events of the core, each once, regardless of their levels.
    pub fn core_events(&self) -> Vec<PmuEvent> {
        let mut events: Vec<PmuEvent> = self.events.iter().filter_map(EventUse::event).collect();
        events.sort_unstable();
        events.dedup();
        events
    }

    /// Returns whether the formula needs a count of the mesh.
    pub fn is_of_mesh(&self) -> bool {
        self.events.iter().any(EventUse::is_of_mesh)
    }

    /// Returns the events of a Cortex-A53, each once, regardless of their levels.
    pub fn a53_events(&self) -> Vec<A53Event> {
        let mut events: Vec<A53Event> =
            self.events.iter().filter_map(EventUse::a53_event).collect();
        events.sort_unstable();
        events.dedup();
        events
    }

    /// Returns the source text of a node.
    pub fn text_of(&self, id: NodeId) -> &str {
        let node = self.node(id);
        node.span.of(&self.source(id).text)
    }

    /// Returns the source text that contains a node.
    pub fn source(&self, id: NodeId) -> &SourceText {
        &self.texts[self.node(id).text as usize]
    }

    /// Returns the text of the formula with some nodes replaced. Returns `None` if one of them
    /// belongs to another metric.
    pub(crate) fn rewritten(&self, edits: &[(NodeId, String)]) -> Option<String> {
        let mut edits: Vec<_> = edits.iter().collect();
        edits.sort_by_key(|(id, _)| std::cmp::Reverse(self.node(*id).span.start));
        let mut text = self.source(self.root).text.clone();
        for (id, words) in edits {
            let node = self.node(*id);
            let range = node.span.start as usize..node.span.end as usize;
            if node.text != 0 || text.get(range.clone()).is_none() {
                return None;
            }
            text.replace_range(range, words);
        }
        (self.node(self.root).text == 0).then_some(text)
    }

    /// Returns the formula with another number at a node.
    pub(crate) fn with_number(&self, id: NodeId, value: f64) -> Linked {
        let mut changed = self.clone();
        changed.nodes[id.index()].op = Op::Number(value);
        changed
    }

    /// Returns the position of a node for messages: `column 3`, or `column 3 of ipc`.
    pub fn place(&self, id: NodeId) -> String {
        let source = self.source(id);
        let column = self.node(id).span.column(&source.text);
        match self.node(id).text {
            0 => format!("column {column}"),
            _ => format!("column {column} of {}", source.metric),
        }
    }

    /// Returns the events that the value depends on for this machine. As in perf, events in
    /// branches that a comparison with the core's revision excludes are not programmed.
    pub fn needed(&self, machine: &Machine) -> Vec<&EventUse> {
        let is_live = self.live(machine);
        let mut is_used = vec![false; self.events.len()];
        for (node, _) in self.nodes.iter().zip(is_live).filter(|(_, is_live)| *is_live) {
            if let Op::Name(name) = node.op {
                is_used[name as usize] = true;
            }
        }
        let used = self.events.iter().zip(is_used).filter(|(_, is_used)| *is_used);
        used.map(|(event, _)| event).collect()
    }

    /// Returns for every node whether the value can depend on it for this machine.
    pub(super) fn live(&self, machine: &Machine) -> Vec<bool> {
        let constants = self.constants(machine);
        let mut is_live = vec![false; self.nodes.len()];
        is_live[self.root.index()] = true;
        for (index, node) in self.nodes.iter().enumerate().rev() {
            if !is_live[index] {
                continue;
            }
            if constants[index].is_some() {
                is_live[index] = false;
                continue;
            }
            for operand in live_operands(&node.op, &constants) {
                is_live[operand.index()] = true;
            }
        }
        is_live
    }

    /// Returns the value of every node that depends on no event.
    fn constants(&self, machine: &Machine) -> Vec<Option<f64>> {
        let values = self.evaluate(machine, |_| None).values;
        let mut depends: Vec<bool> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let is_event = matches!(node.op, Op::Name(_));
            let on_operand = node.op.operands().any(|operand| depends[operand.index()]);
            depends.push(is_event || on_operand);
        }
        let constant = |(value, depends): (f64, bool)| (!depends).then_some(value);
        values.into_iter().zip(depends).map(constant).collect()
    }
}

/// Returns the operands that can still change the value.
fn live_operands(op: &Op, constants: &[Option<f64>]) -> Vec<NodeId> {
    let value_of = |id: NodeId| constants[id.index()];
    match *op {
        Op::Choose { value, condition, otherwise } => match value_of(condition) {
            Some(0.0) => vec![otherwise],
            Some(_) => vec![value],
            None => vec![value, condition, otherwise],
        },
        Op::Binary(BinaryOp::And, a, b) if [a, b].iter().any(|id| value_of(*id) == Some(0.0)) => {
            Vec::new()
        }
        ref other => other.operands().collect(),
    }
}

struct Linker<'a> {
    core: FormulaCore,
    catalog: &'a Catalog,
    nodes: Vec<Node>,
    events: Vec<EventUse>,
    texts: Vec<SourceText>,
    /// Metrics already inserted, with their last node.
    done: Vec<(&'a str, NodeId)>,
    /// Metrics being inserted, outermost first.
    chain: Vec<String>,
}

impl<'a> Linker<'a> {
    fn new(core: FormulaCore, catalog: &'a Catalog) -> Linker<'a> {
        Linker {
            core,
            catalog,
            nodes: Vec::new(),
            events: Vec::new(),
            texts: Vec::new(),
            done: Vec::new(),
            chain: Vec::new(),
        }
    }

    /// Inserts a formula after the metrics that it refers to. Returns its last node.
    fn add(&mut self, metric: &str, formula: &Formula) -> Result<NodeId, LinkError> {
        if self.chain.len() == CHAIN_MAX {
            return Err(LinkError::TooDeep(CHAIN_MAX));
        }
        self.chain.push(metric.to_owned());
        let text = self.texts.len() as u32;
        let source = SourceText { metric: metric.to_owned(), text: formula.text().to_owned() };
        self.texts.push(source);
        let mut places: Vec<NodeId> = Vec::with_capacity(formula.nodes().len());
        for node in formula.nodes() {
            let place = match node.op {
                Op::Name(name) => self.add_name(&formula.names()[name as usize], node, text)?,
                op => {
                    let op = self.about_event(op, formula).moved(|id| places[id.index()]);
                    self.push(Node { op, text, ..*node })
                }
            };
            places.push(place);
        }
        self.chain.pop();
        // A parsed formula has at least one node.
        Ok(places[places.len() - 1])
    }

    /// Returns a function of an event, with the event looked up.
    fn about_event(&mut self, op: Op, formula: &Formula) -> Op {
        let event = |name: u32| EventUse::on(self.core, &formula.names()[name as usize]);
        match op {
            Op::HasEvent(name) => Op::HasEvent(position(&mut self.events, event(name))),
            Op::SourceCount(name) => Op::SourceCount(position(&mut self.events, event(name))),
            Op::AggregateCount(name) => Op::AggregateCount(position(&mut self.events, event(name))),
            other => other,
        }
    }

    fn add_name(&mut self, name: &str, node: &Node, text: u32) -> Result<NodeId, LinkError> {
        let Some(metric) = self.catalog.get(name) else {
            let event = position(&mut self.events, EventUse::on(self.core, name));
            return Ok(self.push(Node { op: Op::Name(event), text, ..*node }));
        };
        if let Some((_, place)) = self.done.iter().find(|(done, _)| *done == metric.name) {
            return Ok(*place);
        }
        if self.chain.iter().any(|outer| outer.eq_ignore_ascii_case(&metric.name)) {
            let names = self.chain.iter().filter(|name| !name.is_empty()).cloned();
            let cycle = names.chain([metric.name.clone()]).collect();
            return Err(LinkError::Cycle(cycle));
        }
        let formula = metric.formula.as_ref().map_err(|error| LinkError::Unreadable {
            metric: metric.name.clone(),
            error: error.clone(),
        })?;
        let place = self.add(&metric.name, formula)?;
        self.done.push((&metric.name, place));
        Ok(place)
    }

    fn push(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId(self.nodes.len() as u32 - 1)
    }
}

/// Returns the position of an event in the list, to which it is added if new.
fn position(events: &mut Vec<EventUse>, event: EventUse) -> u32 {
    let is_same = |own: &EventUse| {
        own.quantity == event.quantity && own.levels == event.levels && own.is_of_core()
    };
    let known = events.iter().position(|own| is_same(own) || *own == event);
    let position = known.unwrap_or_else(|| {
        events.push(event);
        events.len() - 1
    });
    position as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog(metrics: &[(&str, &str)]) -> Catalog {
        metrics.iter().map(|(name, text)| MetricFormula::new(name, text, "")).collect()
    }

    fn link(text: &str, catalog: &Catalog) -> Result<Linked, LinkError> {
        Linked::new(&Formula::parse(text).expect("a formula"), catalog)
    }

    fn value(text: &str, metrics: &[(&str, &str)]) -> f64 {
        let linked = link(text, &catalog(metrics)).expect("links");
        linked.evaluate(&Machine::neoverse_n2(3, 1), |_| Some(8.0)).value
    }

    #[test]
    fn metrics_are_inserted_by_name() {
        let metrics = [("ipc", "INST_RETIRED / 4"), ("ipc_rate", "ipc / #slots")];
        assert_eq!(value("100 * IPC_RATE + ipc", &metrics), 42.0);
        let linked = link("ipc_rate", &catalog(&metrics)).expect("links");
        assert_eq!(linked.core_events(), [PmuEvent::INST_RETIRED]);
        assert_eq!(linked.place(linked.root()), "column 1 of ipc_rate");
    }

    #[test]
    fn cycles_are_reported_and_shared_metrics_are_inserted_once() {
        let cycle = link("a", &catalog(&[("a", "b + 1"), ("b", "A")])).expect_err("a cycle");
        assert_eq!(cycle.to_string(), "metrics refer to each other in a cycle: a -> b -> a");
        let names: Vec<String> = (0..30).map(|n| format!("m{n}")).collect();
        let doubled: Catalog = (0..30)
            .map(|n| match n {
                0 => MetricFormula::new("m0", "1", ""),
                n => MetricFormula::new(&names[n], &format!("{0} + {0}", names[n - 1]), ""),
            })
            .collect();
        let linked = link("m29", &doubled).expect("links");
        assert!(linked.nodes().len() < 100);
        let total = linked.evaluate(&Machine::neoverse_n2(3, 1), |_| None).value;
        assert_eq!(total, f64::from(1 << 29));
        let broken = link("bad", &catalog(&[("bad", "1 +")])).expect_err("unreadable");
        assert!(broken.to_string().starts_with("metric 'bad': column 4"));
    }

    #[test]
    fn a_long_chain_is_refused() {
        let chain: Catalog = (0..10_000)
            .map(|n| MetricFormula::new(&format!("m{n}"), &format!("m{} + 1", n + 1), ""))
            .collect();
        assert_eq!(link("m0", &chain), Err(LinkError::TooDeep(CHAIN_MAX)));
    }

    #[test]
    fn events_of_an_excluded_branch_are_not_needed() {
        let text = "STALL_SLOT if strcmp_cpuid_str(0x410fd493) | strcmp_cpuid_str(0x410fd490) ^ 1 \
                    else (STALL_SLOT - CPU_CYCLES)";
        let linked = link(text, &Catalog::default()).expect("links");
        let needed = |patch| {
            let machine = Machine::neoverse_n2(patch, 1);
            linked.needed(&machine).iter().filter_map(|event| event.event()).collect::<Vec<_>>()
        };
        assert_eq!(needed(3), [PmuEvent::STALL_SLOT]);
        assert_eq!(needed(2), [PmuEvent::STALL_SLOT, PmuEvent::CPU_CYCLES]);
        assert_eq!(
            link("0 & LD_SPEC", &Catalog::default())
                .expect("links")
                .needed(&Machine::neoverse_n2(0, 1)),
            Vec::<&EventUse>::new()
        );
    }
}
