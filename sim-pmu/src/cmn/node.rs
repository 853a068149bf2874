//! The nodes of a mesh: crosspoints, ports, devices at the ports, and their identifiers.
//!
//! A crosspoint has its home nodes at port 0, its cores at port 1 and its memory controllers at
//! port 2; several of a kind share the port. The corner has the home node of devices with the DVM
//! node and the controller of the counters (HN-D), the I/O agent and the gateway at its free ports.
//!
//! An identifier is column, row, port, and number of the device at the port, as in CMN-700 and
//! Linux: a crosspoint with two ports has one bit for the port and two for the device, one with
//! more ports two and one. A floor plan with more ports or devices at a crosspoint than that gets
//! longer identifiers than the hardware has.

use sim_core::mesh_counts::{Agent, FloorPlan};

use super::kind::NodeKind;

const HOMES: u8 = 0;
const CORES: u8 = 1;
const MEMORIES: u8 = 2;
/// Fewest ports that a crosspoint is built with.
const FEWEST_PORTS: u8 = 2;

/// A node, or a device that has no node of its own (RN-F, SN-F).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Kind.
    pub kind: NodeKind,
    /// Identifier. Several nodes of one device share it.
    pub id: u16,
    /// Number among those of its kind.
    pub logical: u16,
    /// Number of the crosspoint.
    pub crosspoint: usize,
    /// Port. None for a crosspoint.
    pub port: Option<u8>,
}

/// A used port of a crosspoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Number of the crosspoint.
    pub crosspoint: usize,
    /// Number.
    pub number: u8,
    /// Kind of its devices. The port of an HN-D has the kind of its home node, [`NodeKind::HnI`].
    pub kind: NodeKind,
    /// Identifier of its first device.
    pub id: u16,
    /// Number of its devices.
    pub devices: usize,
    /// Agents of the model that are its devices.
    pub agents: Vec<Agent>,
}

impl Port {
    /// Returns whether a device at the port is of a kind.
    pub fn has(&self, kind: NodeKind) -> bool {
        self.kind == kind || (self.kind == NodeKind::HnI && kind == NodeKind::Dn)
    }
}

/// The nodes of a mesh.
#[derive(Clone, Debug)]
pub struct Nodes {
    /// Columns of the grid.
    pub columns: u32,
    /// Rows of the grid.
    pub rows: u32,
    /// Bits of a row in an identifier.
    row_bits: u32,
    /// Bits of port and device together.
    low_bits: u32,
    nodes: Vec<Node>,
    ports: Vec<Port>,
}

impl Nodes {
    /// Creates the nodes of a floor plan.
    pub fn new(plan: &FloorPlan) -> Nodes {
        let crosspoints = plan.crosspoints();
        let mut ports: Vec<Vec<Port>> = (0..crosspoints).map(|at| ports(plan, at)).collect();
        let bits: Vec<(u32, u32)> = ports.iter().map(|here| bits(crosspoints, here)).collect();
        let mut nodes = Nodes {
            columns: plan.columns,
            rows: plan.rows,
            row_bits: bits_of(plan.columns.saturating_sub(1) | plan.rows.saturating_sub(1) | 2),
            low_bits: bits.iter().map(|(port, device)| port + device).max().unwrap_or(0),
            nodes: Vec::new(),
            ports: Vec::new(),
        };
        for (at, here) in ports.iter_mut().enumerate() {
            let (id, logical) = (nodes.crosspoint_id(at), at as u16);
            let kind = NodeKind::Xp;
            nodes.nodes.push(Node { kind, id, logical, crosspoint: at, port: None });
            for port in here {
                port.id = id | u16::from(port.number) << bits[at].1;
                nodes.nodes.extend(devices(port));
            }
        }
        nodes.nodes.sort_by_key(|node| (node.kind, node.logical));
        nodes.ports = ports.into_iter().flatten().collect();
        nodes
    }

    /// Returns all nodes, by kind and logical number.
    pub fn all(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the nodes of a kind, by logical number.
    pub fn of_kind(&self, kind: NodeKind) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(move |node| node.kind == kind)
    }

    /// Returns the used ports, crosspoint by crosspoint.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// Returns whether identifiers fit into 16 bits, as those of the hardware do. Otherwise several
    /// nodes share one.
    pub fn has_own_identifiers(&self) -> bool {
        bits_of(self.columns - 1) + self.row_bits + self.low_bits <= u16::BITS
    }

    /// Returns the number of ports that a crosspoint is built with.
    pub fn ports_of_a_crosspoint(&self, number: usize) -> u8 {
        let here = self.ports.iter().filter(|port| port.crosspoint == number);
        here.map(|port| port.number + 1).max().unwrap_or(0).max(FEWEST_PORTS)
    }

    /// Returns the identifier of a crosspoint by its number.
    pub fn crosspoint_id(&self, number: usize) -> u16 {
        let (column, row) = (number as u32 % self.columns, number as u32 / self.columns);
        (column << (self.low_bits + self.row_bits) | row << self.low_bits) as u16
    }
}

/// Returns the bits that a number of this size has.
fn bits_of(largest: u32) -> u32 {
    u32::BITS - largest.leading_zeros()
}

/// Returns the bits of port and device in identifiers at a crosspoint: as many as CMN-700 has, if
/// all devices fit.
fn bits(crosspoints: usize, ports: &[Port]) -> (u32, u32) {
    let port = ports.iter().map(|port| u32::from(port.number)).max().unwrap_or(0);
    let device = ports.iter().map(|port| port.devices as u32 - 1).max().unwrap_or(0);
    let (port_bits, device_bits) = match (crosspoints, port) {
        (1, _) => (3, 2),
        (_, 0 | 1) => (1, 2),
        _ => (2, 1),
    };
    (bits_of(port).max(port_bits), bits_of(device).max(device_bits))
}

/// Returns the used ports of a crosspoint, without identifiers.
fn ports(plan: &FloorPlan, at: usize) -> Vec<Port> {
    let here = plan.position(at);
    let mut ports: Vec<Port> = Vec::new();
    let mut add = |number: u8, kind: NodeKind, agents: Vec<Agent>| {
        // The DVM node is a part of the device of its port.
        let devices = agents.iter().filter(|agent| **agent != Agent::Dvm).count();
        if devices > 0 {
            ports.push(Port { crosspoint: at, number, kind, id: 0, devices, agents });
        }
    };
    let agents_here = |is_of: fn(&Agent) -> bool| -> Vec<Agent> {
        plan.all().filter(is_of).filter(|agent| plan.crosspoint(*agent) == here).collect()
    };
    let homes = agents_here(|agent| matches!(agent, Agent::Home(_)));
    let cores = agents_here(|agent| matches!(agent, Agent::Core(_)));
    let memories = agents_here(|agent| matches!(agent, Agent::Memory(_)));
    let used = [homes.is_empty(), cores.is_empty(), memories.is_empty()].map(|empty| !empty);
    add(HOMES, NodeKind::HnF, homes);
    add(CORES, NodeKind::RnF, cores);
    add(MEMORIES, NodeKind::SnF, memories);
    if here == plan.corner {
        let is_free = |port: &u8| !used.get(usize::from(*port)).is_some_and(|used| *used);
        let others = [
            (NodeKind::HnI, vec![Agent::Device, Agent::Dvm]),
            (NodeKind::RnI, vec![Agent::Io]),
            (NodeKind::Ccg, vec![Agent::Gateway]),
        ];
        let free = (0..=u8::MAX).filter(is_free);
        free.zip(others).for_each(|(number, (kind, agents))| add(number, kind, agents));
    }
    ports.sort_by_key(|port| port.number);
    ports
}

/// Returns the nodes at a port.
fn devices(port: &Port) -> Vec<Node> {
    let node = |kind, device: usize, logical| Node {
        kind,
        id: port.id + device as u16,
        logical,
        crosspoint: port.crosspoint,
        port: Some(port.number),
    };
    let numbered = port.agents.iter().enumerate().filter_map(|(device, agent)| match *agent {
        Agent::Core(number) | Agent::Home(number) | Agent::Memory(number) => {
            Some(node(port.kind, device, number as u16))
        }
        _ => None,
    });
    let kinds: &[NodeKind] = match port.kind {
        NodeKind::HnI => &[NodeKind::Dn, NodeKind::Dtc, NodeKind::HnI],
        NodeKind::RnI => &[NodeKind::RnI],
        NodeKind::Ccg => &[NodeKind::CcgRa, NodeKind::CcgHa, NodeKind::Ccla],
        _ => &[],
    };
    numbered.chain(kinds.iter().map(|kind| node(*kind, 0, 0))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::mesh_counts::Crosspoint;
    use std::collections::HashSet;

    fn at(column: u32, row: u32) -> Crosspoint {
        Crosspoint { column, row }
    }

    /// Four columns and two rows: two cores at each crosspoint of the bottom row, home nodes above
    /// them, memory at both edges, the corner at the right top.
    fn plan() -> FloorPlan {
        FloorPlan {
            columns: 4,
            rows: 2,
            cores: (0..8).map(|core| at(core / 2, 0)).collect(),
            homes: (0..3).map(|home| at(home, 1)).collect(),
            memories: vec![at(0, 0), at(3, 0)],
            corner: at(3, 1),
        }
    }

    #[test]
    fn identifiers_have_column_row_port_and_device() {
        let nodes = Nodes::new(&plan());
        let ids = |kind| -> Vec<u16> { nodes.of_kind(kind).map(|node| node.id).collect() };
        // Two bits for the row, three for port and device.
        assert_eq!(ids(NodeKind::Xp), [0x00, 0x20, 0x40, 0x60, 0x08, 0x28, 0x48, 0x68]);
        assert_eq!(ids(NodeKind::HnF), [0x08, 0x28, 0x48], "port 0");
        // Port 1: a crosspoint with memory has two bits for the port, others have one.
        assert_eq!(ids(NodeKind::RnF), [0x02, 0x03, 0x24, 0x25, 0x44, 0x45, 0x62, 0x63]);
        assert_eq!(ids(NodeKind::SnF), [0x04, 0x64], "port 2");
        assert_eq!(ids(NodeKind::Dn), [0x68], "the free port 0 of the corner");
        assert_eq!([ids(NodeKind::Dtc), ids(NodeKind::HnI)], [[0x68], [0x68]]);
        assert_eq!([ids(NodeKind::RnI), ids(NodeKind::CcgRa)], [[0x6A], [0x6C]], "ports 1, 2");
        assert_eq!([0, 1, 7].map(|at| nodes.ports_of_a_crosspoint(at)), [3, 2, 3]);
    }

    #[test]
    fn ports_hold_the_agents_of_a_kind() {
        let nodes = Nodes::new(&plan());
        let port = |crosspoint, number| {
            nodes.ports().iter().find(|p| p.crosspoint == crosspoint && p.number == number)
        };
        let cores = port(1, CORES).expect("cores");
        assert_eq!((cores.devices, cores.kind, cores.id), (2, NodeKind::RnF, 0x24));
        assert_eq!(cores.agents, [Agent::Core(2), Agent::Core(3)]);
        let devices = port(7, 0).expect("devices");
        assert_eq!((devices.devices, devices.agents.len()), (1, 2));
        assert!(devices.has(NodeKind::Dn) && devices.has(NodeKind::HnI));
        assert!(!devices.has(NodeKind::RnI));
    }

    #[test]
    fn every_device_has_an_identifier_of_its_own_in_any_floor_plan() {
        let crowded = FloorPlan {
            columns: 2,
            rows: 1,
            cores: vec![at(0, 0); 5],
            homes: vec![at(1, 0); 3],
            memories: vec![at(1, 0); 2],
            corner: at(1, 0),
        };
        let single = FloorPlan {
            columns: 1,
            rows: 1,
            cores: vec![at(0, 0); 9],
            homes: vec![at(0, 0); 2],
            memories: vec![at(0, 0)],
            corner: at(0, 0),
        };
        for plan in [plan(), crowded, single] {
            let nodes = Nodes::new(&plan);
            let devices: Vec<u16> = nodes
                .ports()
                .iter()
                .flat_map(|p| (0..p.devices as u16).map(|d| p.id + d))
                .collect();
            let unique: HashSet<u16> = devices.iter().copied().collect();
            assert_eq!((unique.len(), devices.len()), (plan.agents() - 1, plan.agents() - 1));
            let crosspoints: HashSet<u16> = nodes.of_kind(NodeKind::Xp).map(|n| n.id).collect();
            assert_eq!(crosspoints.len(), plan.crosspoints());
        }
    }

    #[test]
    fn a_mesh_without_crosspoints_has_no_nodes() {
        let nodes = Nodes::new(&FloorPlan::default());
        assert!(nodes.all().is_empty() && nodes.ports().is_empty());
    }

    #[test]
    fn a_mesh_of_eight_by_eight_has_three_bits_for_a_coordinate() {
        let plan = FloorPlan { columns: 8, rows: 8, ..FloorPlan::default() };
        let nodes = Nodes::new(&plan);
        assert_eq!(nodes.crosspoint_id(8), 0x08, "column 0, row 1");
        assert_eq!(nodes.crosspoint_id(1), 0x40, "column 1, row 0");
        assert_eq!(nodes.crosspoint_id(63), 0x1F8);
    }
}
