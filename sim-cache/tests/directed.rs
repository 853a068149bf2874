//! Directed cases: a given state, a stimulus, exact counts of every memory event of guide sections
//! 4.1 to 4.6. Each case names the section it checks and states its claim.

mod aliases;
mod atomics;
mod caches;
mod coherence;
mod coherence_random;
mod coherence_states;
mod configuration;
mod contention;
mod core_pairs;
mod dvm;
mod errors;
mod flow_edges;
mod flows;
mod l1_hit_path;
mod maintenance;
mod memory;
mod mesh;
mod mesh_counts;
mod mesh_messages;
mod mesh_sites;
mod physical;
mod quantum;
mod rig;
mod sharing;
mod silicon;
mod snoops;
mod stage2;
mod stores_ahead;
mod tags;
mod timing;
mod tlb_flows;
mod tlb_maintenance;
mod tlbs;
mod touches;
mod translation;
