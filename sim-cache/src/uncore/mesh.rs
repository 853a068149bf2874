//! The mesh that connects cores, home nodes and memory: positions and distances. PMU guide 3.2.21;
//! floor plan in the style of Arm's CSS N2.
//!
//! A grid of crosspoints, each with two cores. Home nodes are spread evenly like the black squares
//! of a chess board. Memory controllers are at the left and right edge. The gateway to devices and
//! other chips is in the middle of the right edge. Messages are routed along the row, then along
//! the column. `links` has the time that they wait for one another.

use sim_core::Cycle;
use sim_core::mesh_counts::{Crosspoint, FloorPlan};

use crate::config::{MemoryConfig, MeshConfig};

/// Cores of one crosspoint.
const CORES_AT_A_CROSSPOINT: u64 = 2;

/// Returns the floor plan of the mesh of a machine with a number of cores.
pub fn floor_plan(config: &MemoryConfig, cores: usize) -> FloorPlan {
    Mesh::new(&config.mesh, cores, config.slc.slices, config.dram.channels).plan()
}

/// Positions of all parts, and the latency of a hop.
#[derive(Clone, Debug)]
pub(crate) struct Mesh {
    columns: u32,
    rows: u32,
    hop_cycles: Cycle,
    cores: Box<[Crosspoint]>,
    homes: Box<[Crosspoint]>,
    memories: Box<[Crosspoint]>,
    gateway: Crosspoint,
    /// Cycles from each core to each home node, core by core.
    paths: Box<[Cycle]>,
}

impl Mesh {
    /// Creates the floor plan for a number of cores, home nodes and memory channels.
    pub(crate) fn new(config: &MeshConfig, cores: usize, homes: u32, memories: u32) -> Mesh {
        let (columns, rows) = (config.columns, config.rows);
        let all = u64::from(columns) * u64::from(rows);
        let at = |index: u64| Crosspoint {
            column: (index % u64::from(columns)) as u32,
            row: (index / u64::from(columns)) as u32,
        };
        let core = |number: usize| at(number as u64 / CORES_AT_A_CROSSPOINT % all);
        // Home nodes occupy every second crosspoint of a row; odd rows start at the second one.
        let home = |slice: u32| {
            let Crosspoint { column, row } = at(u64::from(slice) * all / u64::from(homes));
            Crosspoint { column: (column + row) % columns, row }
        };
        let on_each_edge = memories.div_ceil(2);
        let memory = |channel: u32| Crosspoint {
            column: if channel.is_multiple_of(2) { 0 } else { columns - 1 },
            row: (channel / 2 * 2 + 1) * rows / (2 * on_each_edge),
        };
        let mesh = Mesh {
            columns,
            rows,
            hop_cycles: config.hop_cycles.into(),
            cores: (0..cores).map(core).collect(),
            homes: (0..homes).map(home).collect(),
            memories: (0..memories).map(memory).collect(),
            gateway: Crosspoint { column: columns - 1, row: rows / 2 },
            paths: Box::default(),
        };
        let to_homes = |core| mesh.homes.iter().map(move |home| (core, *home));
        let pairs = mesh.cores.iter().flat_map(|core| to_homes(*core));
        let paths = pairs.map(|(core, home)| mesh.cycles(core, home)).collect();
        Mesh { paths, ..mesh }
    }

    /// Returns the cycles from a core to the home node of a slice.
    pub(crate) fn core_to_home(&self, core: usize, slice: u32) -> Cycle {
        self.paths[core * self.homes.len() + slice as usize]
    }

    /// Returns the floor plan.
    pub(crate) fn plan(&self) -> FloorPlan {
        FloorPlan {
            columns: self.columns,
            rows: self.rows,
            cores: self.cores.to_vec(),
            homes: self.homes.to_vec(),
            memories: self.memories.to_vec(),
            corner: self.gateway,
        }
    }

    /// Returns the position of a core.
    pub(crate) fn core(&self, number: usize) -> Crosspoint {
        self.cores[number]
    }

    /// Returns the number of home nodes.
    pub(crate) fn homes(&self) -> usize {
        self.homes.len()
    }

    /// Returns the position of the home node of a slice.
    pub(crate) fn home(&self, slice: u32) -> Crosspoint {
        self.homes[slice as usize]
    }

    /// Returns the position of the controller of a memory channel.
    pub(crate) fn memory(&self, channel: u32) -> Crosspoint {
        self.memories[channel as usize]
    }

    /// Returns the position of the gateway to devices and other chips.
    pub(crate) fn gateway(&self) -> Crosspoint {
        self.gateway
    }

    /// Returns the cycles from one crosspoint to another.
    pub(crate) fn cycles(&self, from: Crosspoint, to: Crosspoint) -> Cycle {
        let hops = from.column.abs_diff(to.column) + from.row.abs_diff(to.row);
        Cycle::from(hops) * self.hop_cycles
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mesh() -> Mesh {
        Mesh::new(
            &MeshConfig {
                columns: 8,
                rows: 8,
                hop_cycles: 3,
                core_clock_percent: 65,
                link_contention: false,
            },
            128,
            32,
            8,
        )
    }

    #[test]
    fn home_nodes_are_spread_like_the_black_squares_of_a_chess_board() {
        let mesh = mesh();
        for (i, home) in mesh.homes.iter().enumerate() {
            assert!((home.column + home.row).is_multiple_of(2), "{home:?}");
            assert!(!mesh.homes[..i].contains(home), "{home:?} twice");
        }
        // A corner is on average 7 hops from the home nodes.
        let total: Cycle = (0..32).map(|s| mesh.core_to_home(0, s)).sum();
        assert_eq!(total, 32 * 7 * 3);
    }

    #[test]
    fn two_cores_share_a_crosspoint_and_memory_is_at_the_edges() {
        let mesh = mesh();
        assert_eq!(mesh.cycles(mesh.core(0), mesh.core(1)), 0);
        assert_eq!(mesh.cycles(mesh.core(0), mesh.core(2)), 3);
        assert_eq!(mesh.cycles(mesh.core(0), mesh.core(127)), 14 * 3);
        let rows: Vec<u32> = mesh.memories.iter().map(|m| m.row).collect();
        assert_eq!(rows, [1, 1, 3, 3, 5, 5, 7, 7]);
        assert!(mesh.memories.iter().all(|m| m.column == 0 || m.column == 7));
    }
}
