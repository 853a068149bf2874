//! The counters of the mesh's PMU: which selected events it counts at once.
//!
//! Each crosspoint has four counters, which the events of its nodes and its watchpoints share, and
//! two watchpoints in each direction. Each node has one value for each kind of filter. The counters
//! of all crosspoints feed eight counters of the mesh, one for each event, beside a cycle counter.

use std::collections::HashMap;

use super::count::{CountError, selected};
use super::events::{Event, Filter};
use super::kind::NodeKind;
use super::node::Nodes;
use super::rule::Direction;
use super::selector::{Selector, Target};

/// Counters of the mesh.
pub const MESH_COUNTERS: usize = 8;
/// Counters of a crosspoint.
pub const CROSSPOINT_COUNTERS: usize = 4;
/// Watchpoints of a crosspoint in one direction.
pub const WATCHPOINTS: usize = 2;

/// Turns in which selected events are counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Events that are counted at once, by their place in the list.
    pub turns: Vec<Vec<usize>>,
    /// Events that do not fit alone, because too many nodes of their kind share a crosspoint.
    pub never: Vec<usize>,
}

/// Returns the turns of selected events of one mesh. Each event is counted in the first turn in
/// which it fits, as a group of its own.
///
/// # Errors
///
/// Fails if a selected node does not exist.
pub fn schedule(selectors: &[Selector], nodes: &Nodes) -> Result<Schedule, CountError> {
    let mut schedule = Schedule::default();
    let mut used: Vec<Used> = Vec::new();
    for (place, selector) in selectors.iter().enumerate() {
        let need = Need::of(selector, nodes)?;
        let free = used.iter_mut().position(|used| used.add(&need));
        if let Some(turn) = free {
            schedule.turns[turn].push(place);
            continue;
        }
        let mut next = Used::default();
        if next.add(&need) {
            used.push(next);
            schedule.turns.push(vec![place]);
        } else {
            schedule.never.push(place);
        }
    }
    Ok(schedule)
}

/// Returns whether the hardware counts all selected events of one mesh at once, as a group.
///
/// # Errors
///
/// Fails if a selected node does not exist.
pub fn fits(selectors: &[Selector], nodes: &Nodes) -> Result<bool, CountError> {
    let schedule = schedule(selectors, nodes)?;
    Ok(schedule.turns.len() <= 1 && schedule.never.is_empty())
}

/// Counters that an event needs.
struct Need {
    is_cycles: bool,
    /// Crosspoint of each node; a node takes one counter of its crosspoint.
    crosspoints: Vec<usize>,
    direction: Option<Direction>,
    /// Filter and its value, with the identifier of each node.
    filter: Option<(Filter, u8, Vec<u16>)>,
}

impl Need {
    fn of(selector: &Selector, nodes: &Nodes) -> Result<Need, CountError> {
        let (kind, filter, direction) = match selector.target {
            Target::Event { event: Event { node, filter, .. }, occupid } => {
                (*node, filter.map(|filter| (filter, occupid)), None)
            }
            Target::Watchpoint(watchpoint) => (NodeKind::Xp, None, Some(watchpoint.direction)),
        };
        let chosen = selected(selector, kind, nodes)?;
        let ids = chosen.iter().map(|node| node.id).collect();
        Ok(Need {
            is_cycles: kind == NodeKind::Dtc,
            crosspoints: chosen.iter().map(|node| node.crosspoint).collect(),
            direction,
            filter: filter.map(|(filter, value)| (filter, value, ids)),
        })
    }
}

/// Counters that the events of a turn use.
#[derive(Clone, Default)]
struct Used {
    cycles: bool,
    events: usize,
    counters: HashMap<usize, usize>,
    watchpoints: HashMap<(usize, Direction), usize>,
    filters: HashMap<(Filter, u16), u8>,
}

impl Used {
    /// Adds an event if it fits, and returns whether it does.
    fn add(&mut self, need: &Need) -> bool {
        let mut used = self.clone();
        let fits = used.take(need);
        if fits {
            *self = used;
        }
        fits
    }

    /// Takes counters until one is missing.
    fn take(&mut self, need: &Need) -> bool {
        if need.is_cycles {
            return !std::mem::replace(&mut self.cycles, true);
        }
        self.events += 1;
        let counters = need.crosspoints.iter().all(|crosspoint| {
            let used = self.counters.entry(*crosspoint).or_default();
            *used += 1;
            *used <= CROSSPOINT_COUNTERS
        });
        let watchpoints = need.direction.is_none_or(|direction| {
            need.crosspoints.iter().all(|crosspoint| {
                let used = self.watchpoints.entry((*crosspoint, direction)).or_default();
                *used += 1;
                *used <= WATCHPOINTS
            })
        });
        let filters = need.filter.as_ref().is_none_or(|(filter, value, ids)| {
            ids.iter().all(|id| *self.filters.entry((*filter, *id)).or_insert(*value) == *value)
        });
        self.events <= MESH_COUNTERS && counters && watchpoints && filters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::mesh_counts::{Crosspoint, FloorPlan};

    /// Home nodes at both crosspoints of a row, `at_first` of them at the first.
    fn nodes(at_first: usize) -> Nodes {
        let at = |column| Crosspoint { column, row: 0 };
        let mut homes = vec![at(0); at_first];
        homes.push(at(1));
        Nodes::new(&FloorPlan { columns: 2, rows: 1, homes, corner: at(1), ..FloorPlan::default() })
    }

    fn turns(texts: &[&str], nodes: &Nodes) -> Schedule {
        let parse = |text: &&str| text.parse().unwrap_or_else(|error| panic!("{error}"));
        let selectors: Vec<Selector> = texts.iter().map(parse).collect();
        schedule(&selectors, nodes).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_crosspoint_counts_four_events_at_once() {
        let texts =
            ["hnf_cache_miss", "hnf_cache_fill", "hnf_sf_hit", "hnf_mc_reqs", "hnf_snp_sent"];
        let schedule = turns(&texts, &nodes(1));
        assert_eq!(schedule.turns, [vec![0, 1, 2, 3], vec![4]]);
    }

    #[test]
    fn two_home_nodes_at_a_crosspoint_take_two_counters_for_an_event() {
        let texts = ["hnf_cache_miss", "hnf_cache_fill", "hnf_sf_hit", "dtc_cycles"];
        let schedule = turns(&texts, &nodes(2));
        assert_eq!(schedule.turns, [vec![0, 1, 3], vec![2]], "cycles have a counter of their own");
        assert_eq!(turns(&texts[..1], &nodes(5)).never, [0]);
    }

    #[test]
    fn a_node_has_one_value_of_a_filter() {
        let texts = ["hnf_qos_pocq_occupancy_read", "hnf_qos_pocq_occupancy_write", "hnf_sf_hit"];
        assert_eq!(turns(&texts, &nodes(1)).turns, [vec![0, 2], vec![1]]);
        let one = ["hnf_qos_pocq_occupancy_read", "hnf_pocq_class_retry_class1"];
        assert_eq!(turns(&one, &nodes(1)).turns, [vec![0, 1]], "filters of two kinds");
    }

    #[test]
    fn a_crosspoint_has_two_watchpoints_in_each_direction() {
        let up = "CMN_HNF_WP_TXDAT_COUNT";
        let down = "CMN_HNF_WP_RXREQ_COUNT";
        let schedule = turns(&[up, up, up, down, down], &nodes(1));
        assert_eq!(schedule.turns, [vec![0, 1, 3, 4], vec![2]]);
    }

    #[test]
    fn the_mesh_counts_eight_events_at_once() {
        let text = |node: u16, code: u16| {
            format!("arm_cmn_0/type=5,eventid={code},bynodeid=1,nodeid={node}/")
        };
        let nodes = nodes(1);
        let ids: Vec<u16> = nodes.of_kind(NodeKind::HnF).map(|node| node.id).collect();
        let mut selectors: Vec<Selector> = Vec::new();
        for (id, code) in ids.iter().flat_map(|id| (1..=4).map(move |code| (*id, code))) {
            selectors.push(text(id, code).parse().unwrap_or_else(|error| panic!("{error}")));
        }
        assert_eq!(fits(&selectors, &nodes), Ok(true));
        selectors
            .push("DTC_CYCLES".to_lowercase().parse().unwrap_or_else(|error| panic!("{error}")));
        assert_eq!(fits(&selectors, &nodes), Ok(true));
        selectors.push("dn_dvmsync".parse().unwrap_or_else(|error| panic!("{error}")));
        assert_eq!(fits(&selectors, &nodes), Ok(false));
    }
}
