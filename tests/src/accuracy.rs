//! `docs/accuracy.md`: the model compared with LLVM's model of the core and with published
//! measurements.

use std::fmt::Write;

use sim_lab::targets::{Target, back_end, front_end};
use sim_machine::ConfigSource;
use sim_machine::config::MachineConfig;

use crate::kernels::llvm::{self, Core, Figures, N2Figures};
use crate::kernels::measure::{self, N2Table};
use crate::kernels::page::{write_causes, write_classes};
use crate::kernels::table::{AGREE, Row, summary};

/// Markers of the third part.
const PART_THREE: [&str; 2] = ["<!-- part 3 begins -->\n", "<!-- part 3 ends -->\n"];

const HEAD: &str = "# Accuracy

This page compares the model of the core with independent models and measurements of it. `cargo xtask accuracy`
generates it; a test checks parts 1 and 2 against the current model.

| part | compared with | how to make it |
| --- | --- | --- |
| 1 | LLVM's scheduling model of the core, on small loops | `cargo xtask compare-mca` runs `llvm-mca` and saves its figures; the page needs no LLVM |
| 2 | published measurements of silicon | `cargo xtask accuracy --quick` makes parts 1 and 2, in seconds |
| 3 | perfect and simple branch prediction, no wrong path, on the recorded traces | `cargo xtask accuracy`, a few minutes |

The memory system has pages of its own: `docs/memory-timing.md` and `docs/oracle.md`.
";

const READING: &str = "
## 1. Instruction costs beside llvm-mca

Each kernel below `tests/kernels` is a loop of one to thirty instructions. A throughput kernel repeats an
instruction whose result no other instruction uses; a `-chain` or `-acc` kernel passes each result to the next.
\"Ours\" is the cycles of one iteration on the core of the default configuration. Every access is a hit, every branch
is predicted, and the loop is unrolled to some 200 instructions. The front end is 16 wide, because `llvm-mca` has no
front end. \"LLVM\" is the difference between long and short runs of `llvm-mca`, so that filling and draining do not
count.

Dispatch differs by design: `llvm-mca` sends 10 micro-operations a cycle, the core renames 5 operations (MOPs) a
cycle, each of up to two micro-operations. So that a difference in width does not hide a difference in cost, the
comparison is with **LLVM on 5 MOPs**: the larger of the result of `llvm-mca` and a fifth of the MOPs by its own
micro-operation counts. `-dispatch=5` is shown beside it; it limits micro-operations, and so counts a store (two
micro-operations, one MOP) twice.

The mean distance is the geometric mean of the factor between the two, less 1. The factor is the ratio or its
inverse, whichever is above 1, so that half and twice are equally far.

Where the two differ by more than 10 %, a cause is given. Most causes are proved: the kernel runs once more on our
core with LLVM's reservations in place of ours (\"as LLVM sees it\"). The other differences are not explained. We keep
our figure where LLVM's is a placeholder or silicon is known to differ.
";

/// Returns the page with a third part that was measured before.
///
/// # Panics
///
/// When a kernel file or the built-in configuration cannot be read.
pub fn page(part_three: &str) -> String {
    let config = default_config();
    page_of(&config, &measure::table(&config.pipeline), part_three)
}

/// Returns the page for kernels that are measured already.
pub fn page_of(config: &MachineConfig, table: &N2Table, part_three: &str) -> String {
    let mut text = format!("{HEAD}{READING}");
    write_summary(&mut text, table);
    write_classes(&mut text, table);
    write_causes(&mut text, table);
    write_targets(&mut text, config);
    let _ = write!(text, "\n{}{part_three}{}", PART_THREE[0], PART_THREE[1]);
    write_kernels(&mut text, table);
    text
}

/// Returns the configuration of the page: the default.
///
/// # Panics
///
/// When the built-in configuration cannot be read.
pub fn default_config() -> MachineConfig {
    let document = ConfigSource::default().document();
    let document = document.unwrap_or_else(|error| panic!("the built-in document: {error}"));
    MachineConfig::from_document(&document)
        .unwrap_or_else(|error| panic!("the built-in configuration: {error}"))
}

/// Returns the third part of a page.
pub fn part_three(page: &str) -> &str {
    let rest = page.split_once(PART_THREE[0]).map_or("", |(_, rest)| rest);
    rest.split_once(PART_THREE[1]).map_or("", |(part, _)| part)
}

fn write_summary(text: &mut String, table: &N2Table) {
    let _ =
        writeln!(text, "\n{}; {} kernels.\n", llvm::version(Core::NeoverseN2), table.rows.len());
    let _ = writeln!(text, "| kernels compared | within {:.0} % | mean distance |", 100.0 * AGREE);
    text.push_str("| --- | ---: | ---: |\n");
    let against = |llvm: fn(&N2Figures) -> f64| {
        summary(table.compared().filter_map(|row| Some(row.ours / llvm(&row.llvm?))))
    };
    let rows = [
        ("as they are, against LLVM's ten micro-operations a cycle", against(|llvm| llvm.wide)),
        ("against `-dispatch=5`, five micro-operations", against(|llvm| llvm.narrow)),
        ("against LLVM on 5 MOPs, the comparison of record", against(N2Figures::compared)),
        (
            "the same after the listed causes",
            summary(table.compared().filter_map(Row::ratio_after)),
        ),
    ];
    for (name, (n, close, mean)) in rows {
        let _ = writeln!(text, "| {n}, {name} | {:.1} % | {:.2} % |", 100.0 * close, 100.0 * mean);
    }
    let unmodeled = table.rows.len() - table.compared().count();
    let _ = writeln!(
        text,
        "\n{unmodeled} kernels have an instruction that this LLVM does not model; they are measured alone."
    );
}

fn write_targets(text: &mut String, config: &MachineConfig) {
    text.push_str("\n## 2. The core beside published measurements\n\nMeasured by kernels of real instructions on the default configuration, never read from it.\n\n");
    text.push_str(
        "| target | what | published | ours | error | source | reason for more than 10 % |\n",
    );
    text.push_str("| --- | --- | ---: | ---: | ---: | --- | --- |\n");
    for target in back_end::measure(config).into_iter().chain(front_end::measure(config)) {
        let Target { id, what, published, ours, source, reason } = target.clone();
        let _ = writeln!(
            text,
            "| {id} | {what} | {published} | {ours:.2} | {:+.1} % | {source} | {reason} |",
            100.0 * target.error()
        );
    }
}

fn write_kernels(text: &mut String, table: &N2Table) {
    text.push_str("\n## Every kernel of part 1\n\nCycles of one iteration; ratio is ours over LLVM on 5 MOPs.\n");
    let mut class = "";
    for row in &table.rows {
        if row.kernel.class != class {
            class = &row.kernel.class;
            let _ = write!(
                text,
                "\n### {class}\n\n| kernel | ours | LLVM | -dispatch=5 | on 5 MOPs | ratio | cause | ours as LLVM sees it | ratio |\n| --- | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: |\n"
            );
        }
        write_kernel(text, row, table);
    }
}

fn write_kernel(text: &mut String, row: &Row<N2Figures>, table: &N2Table) {
    let _ = write!(text, "| {} | {:.2} |", row.kernel.name, row.ours);
    let (Some(llvm), Some(ratio), Some(after)) = (row.llvm, row.ratio(), row.ratio_after()) else {
        text.push_str(" not modeled | | | | | | |\n");
        return;
    };
    let _ = write!(
        text,
        " {:.2} | {:.2} | {:.2} | {ratio:.2} |",
        llvm.wide,
        llvm.narrow,
        llvm.compared()
    );
    if row.causes.is_empty() {
        text.push_str(" | | |\n");
        return;
    }
    let names: Vec<&str> = row.causes.iter().map(|&i| table.causes[i].id.as_str()).collect();
    let _ = writeln!(text, " {} | {:.2} | {after:.2} |", names.join(", "), row.as_llvm_sees_it);
}
