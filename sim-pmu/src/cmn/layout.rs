//! The mesh as a file that Arm's tools read: `topdown-tool --cmn-mesh-layout-input`, cmn-tools.
//!
//! The types here are the document; any serializer of serde writes it as JSON.

use serde::Serialize;
use sim_core::mesh_counts::Agent;

use super::kind::NodeKind;
use super::node::{Node, Nodes, Port};

/// Version of the document.
const VERSION: u32 = 1;
/// Revision of the CMN-700, r2p0: the last one with HN-F. It has all of their events.
const REVISION: u32 = 2;
/// Issue E of CHI.
const CHI_VERSION: u32 = 5;

/// Part and revision of the mesh as the file `identifier` of the driver has them.
pub const IDENTIFIER: &str = "43c02";

/// A system with its meshes.
#[derive(Clone, Debug, Serialize)]
pub struct Layout {
    version: u32,
    generator: &'static str,
    elements: Vec<Element>,
    cpus: Vec<Cpu>,
}

/// A mesh.
#[derive(Clone, Debug, Serialize)]
struct Element {
    #[serde(rename = "type")]
    type_: &'static str,
    product: &'static str,
    version: &'static str,
    revision: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency: Option<f64>,
    config: MeshConfig,
}

#[derive(Clone, Debug, Serialize)]
struct MeshConfig {
    mpam_enabled: bool,
    chi_version: u32,
    #[serde(rename = "X")]
    columns: u32,
    #[serde(rename = "Y")]
    rows: u32,
    extra_ports: bool,
    xps: Vec<CrosspointEntry>,
}

#[derive(Clone, Debug, Serialize)]
struct CrosspointEntry {
    #[serde(rename = "X")]
    column: u32,
    #[serde(rename = "Y")]
    row: u32,
    n_ports: u8,
    id: u16,
    logical_id: u16,
    dtc: u32,
    ports: Vec<PortEntry>,
}

#[derive(Clone, Debug, Serialize)]
struct PortEntry {
    port: u8,
    #[serde(rename = "type")]
    type_: u16,
    type_s: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cal: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    devices: Vec<DeviceEntry>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attached: Vec<Cpu>,
}

#[derive(Clone, Debug, Serialize)]
struct DeviceEntry {
    id: u16,
    #[serde(rename = "type")]
    type_: u16,
    type_s: &'static str,
    logical_id: u16,
}

/// A core.
#[derive(Clone, Debug, Serialize)]
struct Cpu {
    #[serde(rename = "type")]
    type_: &'static str,
    cpu: u16,
    mseq: usize,
    id: u16,
    lpid: u32,
}

impl Layout {
    /// Creates the document of meshes, the first one first, with the clock of all in Hz if it is
    /// known. Cores are numbered through, as Linux numbers them.
    pub fn new(meshes: &[Nodes], frequency: Option<f64>) -> Layout {
        let mut first_cpu = 0;
        let mut elements = Vec::new();
        let mut cpus: Vec<Cpu> = Vec::new();
        for (number, nodes) in meshes.iter().enumerate() {
            let own: Vec<Cpu> =
                nodes.of_kind(NodeKind::RnF).map(|node| cpu(node, number, first_cpu)).collect();
            first_cpu += own.len() as u16;
            elements.push(Element {
                type_: "interconnect",
                product: "CMN",
                version: "CMN-700",
                revision: REVISION,
                frequency,
                config: mesh(nodes, &own),
            });
            cpus.extend(own);
        }
        Layout { version: VERSION, generator: "n2sim", elements, cpus }
    }
}

fn cpu(node: &Node, mesh: usize, first: u16) -> Cpu {
    Cpu { type_: "cpu", cpu: first + node.logical, mseq: mesh, id: node.id, lpid: 0 }
}

fn mesh(nodes: &Nodes, cpus: &[Cpu]) -> MeshConfig {
    let entry = |node: &Node| {
        let number = node.crosspoint as u32;
        let ports = nodes.ports().iter().filter(|port| port.crosspoint == node.crosspoint);
        CrosspointEntry {
            column: number % nodes.columns,
            row: number / nodes.columns,
            n_ports: nodes.ports_of_a_crosspoint(node.crosspoint),
            id: node.id,
            logical_id: node.logical,
            dtc: 0,
            ports: ports.map(|port| port_entry(port, nodes, cpus)).collect(),
        }
    };
    MeshConfig {
        mpam_enabled: false,
        chi_version: CHI_VERSION,
        columns: nodes.columns,
        rows: nodes.rows,
        extra_ports: nodes.ports().iter().any(|port| port.number > 1),
        xps: nodes.of_kind(NodeKind::Xp).map(entry).collect(),
    }
}

fn port_entry(port: &Port, nodes: &Nodes, cpus: &[Cpu]) -> PortEntry {
    let (type_, type_s) = connected_device(port.kind);
    let is_here =
        |node: &&Node| node.crosspoint == port.crosspoint && node.port == Some(port.number);
    let devices = nodes.all().iter().filter(is_here).filter_map(device);
    let is_attached = |cpu: &&Cpu| {
        let numbers = port.id..port.id + port.devices as u16;
        port.agents.iter().any(|agent| matches!(agent, Agent::Core(_))) && numbers.contains(&cpu.id)
    };
    PortEntry {
        port: port.number,
        type_,
        type_s,
        cal: (port.devices > 1).then_some(port.devices),
        devices: devices.collect(),
        attached: cpus.iter().filter(is_attached).cloned().collect(),
    }
}

/// Returns the entry of a node. RN-F and SN-F have none.
fn device(node: &Node) -> Option<DeviceEntry> {
    let type_s = if node.kind == NodeKind::Dtc { "DT" } else { node.kind.name() };
    let type_ = node.kind.number()?;
    Some(DeviceEntry { id: node.id, type_, type_s, logical_id: node.logical })
}

/// Returns the number and the name of the kind of device at a port, as the crosspoint has them.
fn connected_device(kind: NodeKind) -> (u16, &'static str) {
    match kind {
        NodeKind::RnI => (0x01, "RN-I"),
        NodeKind::HnF => (0x0E, "HN-F"),
        NodeKind::SnF => (0x0F, "SN-F_E"),
        NodeKind::RnF => (0x19, "RN-F_E_E"),
        NodeKind::Ccg => (0x1E, "CCG"),
        // The only home node of devices also has the DVM node and the counters.
        _ => (0x0A, "HN-D"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::mesh_counts::{Crosspoint, FloorPlan};

    fn nodes() -> Nodes {
        let at = |column, row| Crosspoint { column, row };
        Nodes::new(&FloorPlan {
            columns: 2,
            rows: 2,
            cores: vec![at(0, 0), at(0, 0), at(1, 0)],
            homes: vec![at(0, 1)],
            memories: vec![at(1, 0)],
            corner: at(1, 1),
        })
    }

    #[test]
    fn the_document_is_json_of_the_schema() {
        let layout = Layout::new(&[nodes()], Some(2e9));
        let json = serde_json::to_value(&layout).expect("json");
        let mesh = &json["elements"][0];
        assert_eq!((&mesh["version"], &mesh["product"]), (&"CMN-700".into(), &"CMN".into()));
        let config = &mesh["config"];
        assert_eq!((&config["X"], &config["Y"]), (&2.into(), &2.into()));
        let first = &config["xps"][0];
        let expected = serde_json::json!({
            "X": 0, "Y": 0, "n_ports": 2, "id": 0, "logical_id": 0, "dtc": 0,
            "ports": [{
                "port": 1, "type": 25, "type_s": "RN-F_E_E", "cal": 2,
                "attached": [
                    {"type": "cpu", "cpu": 0, "mseq": 0, "id": 4, "lpid": 0},
                    {"type": "cpu", "cpu": 1, "mseq": 0, "id": 5, "lpid": 0},
                ],
            }],
        });
        assert_eq!(first, &expected);
        let home = &config["xps"][2]["ports"][0];
        let expected = serde_json::json!({
            "port": 0, "type": 14, "type_s": "HN-F",
            "devices": [{"id": 8, "type": 5, "type_s": "HN-F", "logical_id": 0}],
        });
        assert_eq!(home, &expected);
        assert_eq!(json["cpus"].as_array().map(Vec::len), Some(3));
    }

    #[test]
    fn the_corner_has_the_nodes_of_devices_counters_and_gateway() {
        let json = serde_json::to_value(Layout::new(&[nodes()], None)).expect("json");
        assert!(json["elements"][0].get("frequency").is_none());
        let ports = json["elements"][0]["config"]["xps"][3]["ports"].as_array().cloned();
        let kinds: Vec<String> = ports
            .unwrap_or_default()
            .iter()
            .map(|port| {
                let devices = port["devices"].as_array().cloned().unwrap_or_default();
                let devices = devices.iter().map(|device| device["type_s"].to_string());
                format!("{} {}", port["type_s"], devices.collect::<Vec<_>>().join(" "))
            })
            .collect();
        let expected =
            [r#""HN-D" "DN" "DT" "HN-I""#, r#""RN-I" "RN-I""#, r#""CCG" "CCG-RA" "CCG-HA" "CCLA""#];
        assert_eq!(kinds, expected);
    }

    #[test]
    fn cores_of_a_second_mesh_are_numbered_on() {
        let json = serde_json::to_value(Layout::new(&[nodes(), nodes()], None)).expect("json");
        assert_eq!((&json["cpus"][3]["cpu"], &json["cpus"][3]["mseq"]), (&3.into(), &1.into()));
        assert_eq!(json["elements"].as_array().map(Vec::len), Some(2));
    }
}
