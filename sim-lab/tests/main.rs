//! Tests of the public interface: windows and states, counterfactuals, comparisons, published
//! targets.

mod counterfactual;
mod diff;
mod membench;
mod membench_a53;
mod states;
mod targets;
mod targets_back_end;
mod thread_windows;
mod windows;
