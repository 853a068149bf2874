//! Tests of the public interface: windows and states, counterfactuals, comparisons, published
//! targets.

mod counterfactual;
mod diff;
mod membench;
mod membench_a53;
mod sampled;
mod states;
mod targets;
mod targets_back_end;
mod windows;
