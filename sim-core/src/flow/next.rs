//! The flow that an access enters after another one.

use super::{EdgeInfo, Flow};

/// A box at the end of a flow, and the flow that the access may enter from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// Flow that ends.
    pub from: Flow,
    /// Box at its end.
    pub at: &'static str,
    /// Flow that a cacheable access enters then, at its first box. It is entered in no other way.
    pub to: Flow,
}

/// The caches follow the translation. An access that memory alone serves enters none of them.
pub const NEXT: [Next; 3] = [
    Next { from: Flow::LoadTlb, at: "translated", to: Flow::L1dRead },
    Next { from: Flow::StoreTlb, at: "translated", to: Flow::L1dWrite },
    Next { from: Flow::FetchTlb, at: "translated", to: Flow::L1i },
];

impl EdgeInfo {
    /// Returns the flow that the label names, as in `miss: flow 5.7`: the access enters it, too.
    pub fn enters(&self) -> Option<Flow> {
        let (_, section) = self.label.split_once(": flow ")?;
        Flow::of_section(section)
    }

    /// Returns the label without the flow that the access enters.
    pub fn outcome(&self) -> &'static str {
        self.label.split_once(": flow ").map_or(self.label, |(outcome, _)| outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::FlowEdge;

    #[test]
    fn labels_name_the_next_flow() {
        let miss = FlowEdge::L1dReadMiss.info();
        assert_eq!((miss.enters(), miss.outcome()), (Some(Flow::L2Read), "miss"));
        let hit = FlowEdge::L1dReadHit.info();
        assert_eq!((hit.enters(), hit.outcome()), (None, "hit, or line in flight"));
        let named = FlowEdge::ALL.iter().filter(|edge| edge.info().label.contains("flow"));
        for edge in named {
            assert!(edge.info().enters().is_some(), "{edge:?}: no such flow");
        }
    }

    #[test]
    fn ends_are_boxes_of_their_flows() {
        for next in NEXT {
            assert!(next.from.info().boxes.iter().any(|own| own.name == next.at), "{next:?}");
        }
    }
}
