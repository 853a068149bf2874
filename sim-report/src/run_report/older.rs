//! Reader of reports in form 1, which used other names for three nodes of the slot tree and one
//! field.

use super::{Code, FORMAT, RunReport, SlotNode};

/// Name and version of the previous form, which can still be read.
pub const FORMAT_1: &str = "n2sim-report/1";

/// Names of form 1 in the slot tree, each with the present name.
const RENAMED: [(&str, &str); 5] = [
    ("behind_branch", "squashed_by_branch"),
    ("thrown_away", "squashed_other"),
    ("no_work", "idle"),
    ("fetch_serialise", "fetch_serialize"),
    ("serialise", "serialize"),
];

impl RunReport {
    /// Converts a report of form 1 to the present names. Leaves any other report unchanged.
    pub fn upgrade(&mut self) {
        if self.format != FORMAT_1 {
            return;
        }
        FORMAT.clone_into(&mut self.format);
        rename_nodes(&mut self.top_down);
        rename_causes(&mut self.code);
    }
}

fn rename_nodes(node: &mut SlotNode) {
    let parts: Vec<&str> = node.id.split('.').map(renamed).collect();
    node.id = parts.join(".");
    node.children.iter_mut().for_each(rename_nodes);
}

fn rename_causes(code: &mut Code) {
    let functions = code.functions.iter_mut().map(|own| &mut own.cost);
    let lines = code.lines.iter_mut().map(|own| &mut own.cost);
    let instructions = code.instructions.iter_mut().map(|own| &mut own.cost);
    let rest = [&mut code.elsewhere, &mut code.total];
    let costs = functions.chain(lines).chain(instructions).chain(rest);
    for cause in costs.flat_map(|cost| &mut cost.causes) {
        cause.cause = renamed(&cause.cause).to_owned();
    }
}

/// Returns the present name of a node or cause.
fn renamed(name: &str) -> &str {
    RENAMED.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_an_old_place_gets_its_present_name() {
        let mut node = SlotNode {
            id: "slots.frontend.no_work.fetch_end".into(),
            name: String::new(),
            meaning: String::new(),
            slots: 0,
            percent: 0.0,
            events: Vec::new(),
            children: Vec::new(),
            hottest: Vec::new(),
        };
        rename_nodes(&mut node);
        assert_eq!(node.id, "slots.frontend.idle.fetch_end");
        assert_eq!(renamed("behind_branch"), "squashed_by_branch");
        assert_eq!(renamed("load_dram"), "load_dram");
    }
}
