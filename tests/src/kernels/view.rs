//! LLVM's view of the Neoverse N2's instructions: the micro-operations that it books, and what else
//! it sees differently.

use serde::Deserialize;
use sim_isa::inst::MAX_UOP_GROUPS;
use sim_isa::{Accumulate, BranchKind, Inst, PipeMask, Reg, Rename, Role, Special, UopGroup};

use super::causes::{Patterns, Viewed};

/// LLVM's view of certain instructions.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct View {
    /// Its instructions.
    #[serde(default)]
    pub instructions: Patterns,
    /// The micro-operations that LLVM books.
    pub uops: Option<Vec<String>>,
    /// Whether accumulators are forwarded late.
    pub forwarding: Option<bool>,
    /// Whether the instruction fuses with a neighbor.
    pub fusion: Option<bool>,
    /// Whether rename eliminates it.
    pub renamed: Option<bool>,
    /// Whether it serializes or orders accesses.
    pub ordering: Option<bool>,
    /// Whether it is a branch for the predictor.
    pub branch: Option<bool>,
    /// Whether its elements are separate accesses.
    pub scattered: Option<bool>,
    /// Whether all its micro-operations wait for its data.
    pub as_one: Option<bool>,
    /// Latency of a base update.
    pub base_latency: Option<u8>,
    /// A register that it does not wait for: `nzcv` or `ffr`.
    pub ignores: Option<String>,
}

impl Viewed for View {
    fn instructions(&self) -> &Patterns {
        &self.instructions
    }
}

impl View {
    /// Changes an instruction to LLVM's view.
    pub fn apply(&self, inst: &mut Inst) {
        if let Some(uops) = &self.uops {
            set_uops(inst, uops);
        }
        if self.forwarding == Some(false) {
            inst.accumulate = Accumulate { src: u8::MAX, ..Accumulate::default() };
        }
        if self.fusion == Some(false) {
            // The core finds pairs by their words.
            inst.word = 0;
        }
        match self.renamed {
            Some(true) => inst.rename = Rename::Nop,
            Some(false) => inst.rename = Rename::Normal,
            None => {}
        }
        match self.ordering {
            Some(true) => inst.mem.ordered = true,
            Some(false) => {
                inst.special = Special::None;
                (inst.mem.ordered, inst.mem.exclusive) = (false, false);
            }
            None => {}
        }
        if self.scattered == Some(false) {
            inst.mem.scattered = false;
        }
        if self.branch == Some(false) {
            inst.branch = BranchKind::None;
        }
        self.apply_to_operands(inst);
    }

    fn apply_to_operands(&self, inst: &mut Inst) {
        if self.as_one == Some(true) && inst.n_addr_srcs > 0 {
            inst.n_addr_srcs = inst.n_srcs;
        }
        if let Some(latency) = self.base_latency {
            let base = |group: &&mut UopGroup| group.role == Role::BaseUpdate;
            inst.uops.iter_mut().filter(base).for_each(|group| group.latency = latency);
        }
        if let Some(name) = &self.ignores {
            let register = match name.as_str() {
                "nzcv" => Reg::NZCV,
                "ffr" => Reg::FFR,
                _ => panic!("causes.toml: no register `{name}`"),
            };
            let kept: Vec<Reg> =
                inst.srcs().iter().copied().filter(|src| *src != register).collect();
            inst.srcs[..kept.len()].copy_from_slice(&kept);
            inst.n_srcs = kept.len() as u8;
            inst.n_addr_srcs = inst.n_addr_srcs.min(inst.n_srcs);
        }
    }
}

fn set_uops(inst: &mut Inst, texts: &[String]) {
    let groups: Vec<UopGroup> = texts
        .iter()
        .map(|text| parse(text).unwrap_or_else(|| panic!("causes.toml: micro-operations `{text}`")))
        .collect();
    inst.uops = [UopGroup::default(); MAX_UOP_GROUPS];
    inst.uops[..groups.len()].copy_from_slice(&groups);
    inst.n_uop_groups = groups.len() as u8;
    let total: u8 = groups.iter().map(|group| group.count).sum();
    inst.n_mops = total.div_ceil(2).max(1);
}

/// Parses `COUNT ROLE PIPES LATENCY OCCUPANCY`, such as `1 compute M0 5 5`.
fn parse(text: &str) -> Option<UopGroup> {
    let [count, role, pipes, latency, occupancy] =
        text.split(' ').collect::<Vec<_>>().try_into().ok()?;
    let role = match role {
        "compute" => Role::Compute,
        "load" => Role::Load,
        "after" => Role::AfterLoad,
        "address" => Role::StoreAddr,
        "data" => Role::StoreData,
        "base" => Role::BaseUpdate,
        "before" => Role::Before,
        _ => return None,
    };
    let pipes = match pipes {
        "B" => PipeMask::B,
        "S" => PipeMask::S,
        "M0" => PipeMask::M0,
        "M1" => PipeMask::M1,
        "M" => PipeMask::M,
        "I" => PipeMask::I,
        "L" => PipeMask::L,
        "L01" => PipeMask::L01,
        "D" => PipeMask::D,
        "V" => PipeMask::V,
        "V0" => PipeMask::V0,
        "V1" => PipeMask::V1,
        _ => return None,
    };
    Some(UopGroup {
        pipes,
        role,
        count: count.parse().ok()?,
        latency: latency.parse().ok()?,
        occupancy: occupancy.parse().ok()?,
        flag_port: false,
    })
}
