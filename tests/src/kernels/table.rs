//! Comparison of both models: every kernel, and whether its causes explain the difference.

use super::causes::Cause;
use super::corpus::{Kernel, corpus};
use super::llvm::{Figures, Kept};

/// Largest relative difference of the cycles at which the models agree.
pub const AGREE: f64 = 0.10;

/// One kernel.
#[derive(Clone, Debug)]
pub struct Row<F> {
    /// The kernel.
    pub kernel: Kernel,
    /// Cycles of one iteration on this model's core.
    pub ours: f64,
    /// LLVM's figures, `None` when it does not model an instruction of the kernel.
    pub llvm: Option<F>,
    /// Causes of a difference, as indexes into [`Table::causes`].
    pub causes: Vec<usize>,
    /// Cycles on this model's core with LLVM's view of those causes.
    pub as_llvm_sees_it: f64,
}

impl<F: Figures> Row<F> {
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
pub struct Table<F, V> {
    /// The kernels, in the order of the files.
    pub rows: Vec<Row<F>>,
    /// The causes, in the order of their file.
    pub causes: Vec<Cause<V>>,
}

impl<F: Figures + Send + Sync, V: Sync> Table<F, V> {
    /// Measures every kernel on this model's core, and once more with LLVM's view if it has causes,
    /// on as many threads as the host has. `cycles` measures a kernel with the views of some
    /// causes.
    pub fn measure(
        kept: &Kept<F>,
        causes: Vec<Cause<V>>,
        cycles: impl Fn(&Kernel, &[&Cause<V>]) -> f64 + Sync,
    ) -> Table<F, V> {
        let corpus = corpus();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let row = |kernel: &Kernel| {
            let listed = |i: &usize| causes[*i].kernels.contains(&kernel.name);
            let found: Vec<usize> = (0..causes.len()).filter(listed).collect();
            let views: Vec<&Cause<V>> = found.iter().map(|&i| &causes[i]).collect();
            let ours = cycles(kernel, &[]);
            let as_llvm_sees_it = if views.is_empty() { ours } else { cycles(kernel, &views) };
            let llvm = kept.get(&kernel.name).copied().flatten();
            Row { kernel: kernel.clone(), ours, llvm, causes: found, as_llvm_sees_it }
        };
        let rows = std::thread::scope(|scope| {
            let part = corpus.len().div_ceil(threads).max(1);
            let parts: Vec<_> = corpus
                .chunks(part)
                .map(|kernels| scope.spawn(|| kernels.iter().map(row).collect::<Vec<_>>()))
                .collect();
            parts.into_iter().flat_map(|part| part.join().expect("no kernel panics")).collect()
        });
        Table { rows, causes }
    }
}

impl<F: Figures, V> Table<F, V> {
    /// Returns the rows that LLVM models.
    pub fn compared(&self) -> impl Iterator<Item = &Row<F>> {
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
