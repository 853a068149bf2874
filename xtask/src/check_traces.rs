//! `cargo xtask check-traces [FILE...]`: replays whole traces and checks their counts against every
//! rule that must hold (see `sim_tests::trace_check`).

use std::path::PathBuf;

use sim_tests::trace_check::check_trace;
use sim_tests::{files_below, repository};

/// Options of `cargo xtask check-traces`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Traces (default: all below `traces/`)
    files: Vec<PathBuf>,
}

/// Checks the traces and prints one line for each. Returns true if all hold.
pub(crate) fn run(args: &Args) -> bool {
    let traces = match args.files.as_slice() {
        [] => files_below(&repository().join("traces"), "n2t"),
        files => files.to_vec(),
    };
    let mut all_hold = !traces.is_empty();
    for path in &traces {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match check_trace(path, None) {
            Ok(figures) => {
                println!(
                    "pass  {name}: {} instructions, IPC {:.2}, {} rules, two equal runs",
                    figures.instructions, figures.ipc, figures.rules
                );
            }
            Err(faults) => {
                all_hold = false;
                println!("FAIL  {name}");
                faults.iter().for_each(|fault| println!("      {fault}"));
            }
        }
    }
    println!("{} traces checked", traces.len());
    all_hold
}
