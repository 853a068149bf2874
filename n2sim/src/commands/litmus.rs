//! `n2sim litmus`: the cases of the scenarios as a C program for real machines, and what a machine
//! counted beside the claims.

mod check;
mod export;
mod replay;

use std::path::Path;

use clap::{Args as ClapArgs, Subcommand};
use sim_litmus::{Admission, LeftOut, Litmus, select};

use crate::files::packed;
use crate::verdict::Verdict;

/// The scenarios, as the build script packs them.
const SCENARIOS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/scenarios.z"));

/// Count the cases of the scenarios on a real machine, and compare
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples: n2sim litmus export litmus\n          \
    cc -O1 -o litmus/litmus litmus/litmus.c; litmus/litmus -o result.json\n          \
    n2sim litmus check result.json\n          \
    n2sim capture -o cases.n2t -- litmus/litmus --replay; n2sim litmus replay cases.n2t -o model.json")]
pub(crate) struct LitmusArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Export(export::ExportArgs),
    Check(check::CheckArgs),
    Replay(replay::ReplayArgs),
}

/// Exports, replays or compares.
pub(crate) fn run(args: &LitmusArgs) -> anyhow::Result<Verdict> {
    match &args.what {
        What::Export(args) => export::run(args),
        What::Check(args) => check::run(args),
        What::Replay(args) => replay::run(args),
    }
}

/// All cases of the scenarios.
struct AllCases {
    /// Those that user mode can run.
    candidates: Vec<Litmus>,
    /// The others.
    left_out: Vec<LeftOut>,
    admission: Admission,
}

impl AllCases {
    /// Reads the scenarios in this program.
    fn read() -> anyhow::Result<AllCases> {
        let mut files = Vec::new();
        for (path, text) in packed::unpack(SCENARIOS)? {
            let stem = Path::new(&path).file_stem().and_then(|stem| stem.to_str());
            files.push((stem.unwrap_or(&path).to_owned(), sim_scenario::parse(&path, &text)?));
        }
        let (candidates, left_out) = select(&files);
        Ok(AllCases { candidates, left_out, admission: Admission::builtin() })
    }

    /// Returns the cases that the exported program has.
    fn admitted(&self) -> Vec<Litmus> {
        let admitted = |litmus: &&Litmus| self.admission.of(&litmus.id).is_some();
        self.candidates.iter().filter(admitted).cloned().collect()
    }
}
