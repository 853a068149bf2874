//! `n2sim litmus export`: a directory with the program and its description.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args as ClapArgs;
use sim_core::Shown;
use sim_files::NewDirectory;
use sim_litmus::replay::Pages;
use sim_litmus::{Litmus, kernels, module, payload, program};

use super::all_cases::{AllCases, Cases};
use crate::files::output::Output;
use crate::verdict::Verdict;

/// Write the cases and kernels as one C program
#[derive(Debug, ClapArgs)]
pub(crate) struct ExportArgs {
    /// New directory for the program, its description and tables of its cases and kernels
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Also write cases that are not admitted: the model does not reproduce their claim
    ///
    /// No machine can be judged by them. The module never has them: it runs with exceptions masked
    /// in a kernel.
    #[arg(long)]
    all: bool,
}

/// Steps of a count, for people who have only the directory.
const README: &str = "# PMU litmus

`litmus.c` counts small cases and kernels with the performance counters of an AArch64 machine that runs Linux. It needs a C compiler
and nothing else:

    cc -O1 -o litmus litmus.c
    sudo sysctl kernel.perf_event_paranoid=2 vm.nr_hugepages=160
    ./litmus -o result.json
    n2sim litmus check result.json

Without root, leave the second line out: then the program says if counting is not allowed, and leaves out cases that need
huge pages, if the kernel gives none. `CASES.md` lists the cases with their claims, `KERNELS.md` the kernels with their
expected behavior. `--cases` or `--kernels` counts one of the two.

`module` has the cases that need EL1, as a kernel module; it needs the headers of the running kernel and root rights:

    cd module && make
    sudo insmod n2sim_litmus.ko
    cat /proc/n2sim_litmus > el1.json; sudo rmmod n2sim_litmus
    n2sim litmus check el1.json

Load it on a machine for tests only: it masks all exceptions while a case runs. `payload.S` runs the cases on a machine without
an operating system, for a recording; with `--all` it also has those that are not admitted.
";

/// Reason why text is always written.
const TAKES: &str = "a String takes all text";

/// Writes the directory, or nothing.
pub(crate) fn run(args: &ExportArgs) -> anyhow::Result<Verdict> {
    let directory = &args.directory;
    let context = || format!("cannot write {}", directory.shown());
    NewDirectory::check(directory).with_context(context)?;
    let all = AllCases::read()?;
    let chosen = |set: &Cases| if args.all { set.candidates.clone() } else { set.admitted() };
    let (cases, of_payload) = (chosen(&all.user), chosen(&all.el1));
    // It runs in a kernel, with exceptions masked.
    let of_module = all.el1.admitted();
    let new = NewDirectory::beside(directory).with_context(context)?;
    let files = [
        ("litmus.c", program::text(&cases)),
        ("README.md", README.into()),
        ("CASES.md", table("# Cases", &cases) + &table("\n# Cases of the module", &of_module)),
        ("KERNELS.md", kernel_table()),
        ("module/n2sim_litmus.c", module::text(&of_module)),
        ("module/Makefile", module::MAKEFILE.into()),
        ("module/payload.S", payload::text(&of_payload)),
    ];
    for (name, text) in files {
        new.write(Path::new(name), text.as_bytes()).with_context(context)?;
    }
    new.finish().with_context(context)?;
    let mut out = Output::create(None)?;
    out.write_all(
        summary(&all, cases.len(), of_module.len(), &directory.shown().to_string()).as_bytes(),
    )?;
    out.finish()?;
    Ok(Verdict::Good)
}

/// Returns the table of the cases.
fn table(heading: &str, cases: &[Litmus]) -> String {
    let mut text =
        format!("{heading}\n\n| case | guide | claim | steps |\n| --- | --- | --- | --- |\n");
    for Litmus { id, case, plan } in cases {
        let steps: Vec<&str> = plan.steps.iter().map(|step| step.text.as_str()).collect();
        let shown = match steps.as_slice() {
            [first, .., last] if steps.len() > 8 => format!("{first} ... {last}"),
            _ => steps.join(" ; "),
        };
        let cells = [id.as_str(), &case.guide, &case.claim, &shown];
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        writeln!(text, "| {} |", cells.join(" | ")).expect("a String takes all text");
    }
    text
}

/// Returns the table of the kernels.
fn kernel_table() -> String {
    let mut text = String::from(
        "# Kernels\n\n| kernel | memory | pages | round |\n| --- | --- | --- | --- |\n",
    );
    for kernel in kernels::all().into_iter().chain(kernels::pairs()) {
        let pages = match kernel.pages {
            Pages::Small => "small",
            Pages::Blocks => "huge",
        };
        let memory = match kernel.bytes >> 10 {
            kib if kib < 1024 => format!("{kib} KiB"),
            kib => format!("{} MiB", kib >> 10),
        };
        writeln!(text, "| {} | {memory} | {pages} | {} |", kernel.id, kernel.what)
            .expect("a String takes all text");
    }
    text
}

/// Returns how many cases and kernels the program has, and why it has no more cases.
fn summary(all: &AllCases, exported: usize, of_module: usize, directory: &str) -> String {
    let mut groups: BTreeMap<&str, usize> = BTreeMap::new();
    for one in &all.left_out {
        *groups.entry(one.reason.group()).or_default() += 1;
    }
    let candidates = all.user.candidates.len() + all.el1.candidates.len();
    let not_admitted = candidates - exported - of_module;
    let total = candidates + all.left_out.len();
    let kernels = kernels::all().len() + kernels::pairs().len();
    let mut text =
        format!("{directory}/litmus.c: {exported} of {total} cases, {kernels} kernels\n");
    writeln!(text, "{directory}/module: {of_module} cases of EL1, a kernel module").expect(TAKES);
    let mut line = |count: usize, reason: &str| {
        if count > 0 {
            writeln!(text, "{count:8} left out: {reason}").expect(TAKES);
        }
    };
    line(
        not_admitted,
        "the replay on the model does not reproduce the claim, or shows nothing of it",
    );
    for (reason, count) in groups {
        line(count, reason);
    }
    text
}
