//! Comparison of both models: every kernel, and whether its causes explain the difference.

use sim_isa::Inst;
use sim_pipeline::PipelineConfig;

use super::causes::{Cause, causes};
use super::corpus::{Kernel, corpus};
use super::llvm::{Figures, kept};
use super::measure::{cycles, wide_front_end};

/// Largest relative difference of the cycles at which the models agree.
pub const AGREE: f64 = 0.10;

/// One kernel.
#[derive(Clone, Debug)]
pub struct Row {
    /// The kernel.
    pub kernel: Kernel,
    /// Cycles of one iteration on this model's core.
    pub ours: f64,
    /// LLVM's figures, `None` when it does not model an instruction of the kernel.
    pub llvm: Option<Figures>,
    /// Causes of a difference, as indexes into [`Table::causes`].
    pub causes: Vec<usize>,
    /// Cycles on this model's core with LLVM's view of those causes.
    pub as_llvm_sees_it: f64,
}

impl Row {
    /// Returns our cycles over LLVM's.
    pub fn ratio(&self) -> Option<f64> {
        self.llvm.map(|llvm| self.ours / llvm.compared())
    }

    /// Returns our cycles with LLVM's view of the listed causes, over LLVM's.
    pub fn ratio_after(&self) -> Option<f64> {
        self.llvm.map(|llvm| self.as_llvm_sees_it / llvm.compared())
    }
}

/// Returns true for a ratio within [`AGREE`].
pub fn agrees(ratio: f64) -> bool {
    (ratio - 1.0).abs() <= AGREE
}

/// All kernels.
#[derive(Clone, Debug)]
pub struct Table {
    /// The kernels, in the order of the files.
    pub rows: Vec<Row>,
    /// The causes, in the order of their file.
    pub causes: Vec<Cause>,
}

impl Table {
    /// Runs every kernel on the core of `config`, on as many threads as the host has.
    pub fn measure(config: &PipelineConfig) -> Table {
        let config = wide_front_end(config);
        let (causes, kept, corpus) = (causes(), kept(), corpus());
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let measure = |kernel: &Kernel| row(&config, kernel, kept.get(&kernel.name), &causes);
        let rows = std::thread::scope(|scope| {
            let part = corpus.len().div_ceil(threads).max(1);
            let parts: Vec<_> = corpus
                .chunks(part)
                .map(|kernels| scope.spawn(|| kernels.iter().map(measure).collect::<Vec<_>>()))
                .collect();
            parts.into_iter().flat_map(|part| part.join().expect("no kernel panics")).collect()
        });
        Table { rows, causes }
    }

    /// Returns the rows that LLVM models.
    pub fn compared(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.llvm.is_some())
    }

    /// Returns the problems with the causes: a difference without one, an agreement with one, one
    /// that names no kernel.
    pub fn problems(&self) -> Vec<String> {
        let mut found = Vec::new();
        for row in &self.rows {
            let name = &row.kernel.name;
            match row.ratio() {
                None if !row.causes.is_empty() => {
                    found.push(format!("{name} is not modeled by LLVM and has a cause"))
                }
                Some(ratio) if agrees(ratio) && !row.causes.is_empty() => {
                    found.push(format!("{name} agrees ({ratio:.3}) and has a cause"));
                }
                Some(ratio) if !agrees(ratio) && row.causes.is_empty() => {
                    found.push(format!("{name} differs ({ratio:.3}) without a cause"));
                }
                _ => {}
            }
        }
        for cause in &self.causes {
            for name in &cause.kernels {
                if !self.rows.iter().any(|row| row.kernel.name == *name) {
                    found.push(format!("{} names {name}, which is not a kernel", cause.id));
                }
            }
        }
        found
    }
}

/// Measures one kernel on this model's core, and once more with LLVM's view if it has causes.
fn row(
    config: &PipelineConfig,
    kernel: &Kernel,
    llvm: Option<&Option<Figures>>,
    all: &[Cause],
) -> Row {
    let causes: Vec<usize> =
        (0..all.len()).filter(|&i| all[i].kernels.contains(&kernel.name)).collect();
    let ours = cycles(config, kernel, |_, _| {});
    let see = |text: &str, inst: &mut Inst| causes.iter().for_each(|&i| all[i].apply(text, inst));
    let as_llvm_sees_it = if causes.is_empty() { ours } else { cycles(config, kernel, see) };
    Row { kernel: kernel.clone(), ours, llvm: llvm.copied().flatten(), causes, as_llvm_sees_it }
}

/// Returns the number of ratios, the part of them within [`AGREE`], and the geometric mean of their
/// distance from 1: the exponential of the mean of |ln ratio|, less 1.
pub fn summary(ratios: impl Iterator<Item = f64>) -> (usize, f64, f64) {
    let (mut n, mut close, mut logs) = (0_usize, 0_usize, 0.0);
    for ratio in ratios {
        n += 1;
        close += usize::from(agrees(ratio));
        logs += ratio.ln().abs();
    }
    let count = n.max(1) as f64;
    (n, close as f64 / count, (logs / count).exp_m1())
}
