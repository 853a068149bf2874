//! Reads the metric files that a user names, and directories of them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use sim_metrics::builtin;
use sim_metrics::formula::{Catalog, MetricFormula};
use sim_metrics::metric_file::{self, MetricFile, NamedText, linux};

use sim_core::Shown;

/// Extensions of metric files in a directory.
const ENDINGS: [&str; 4] = ["json", "toml", "csv", "txt"];
/// Directories between that of a core and that of the lists for all cores in a kernel tree.
const STANDARD_ABOVE: usize = 2;

/// Reads files and directories as one metric file: entries of one may refer to entries of another.
pub(crate) fn read(paths: &[PathBuf]) -> anyhow::Result<MetricFile> {
    let mut texts = Vec::new();
    for path in paths {
        for file in files(path)? {
            let text = sim_files::text(&file)
                .with_context(|| format!("cannot read the metrics {}", file.shown()))?;
            texts.push((file.shown().to_string(), text));
        }
    }
    let named: Vec<NamedText<'_>> =
        texts.iter().map(|(name, text)| NamedText { name, text }).collect();
    Ok(metric_file::read(&named)?)
}

/// Returns the metrics of n2sim for cores and their mesh, then those of the files.
pub(crate) fn catalog(paths: &[PathBuf]) -> anyhow::Result<Catalog> {
    extended(built_in(), paths)
}

/// Returns the metrics of n2sim for Neoverse N2 cores, then those for their mesh.
pub(crate) fn built_in() -> Catalog {
    let mut catalog = builtin::catalog();
    catalog.extend(builtin::mesh_catalog().metrics().iter().cloned());
    catalog
}

/// Returns the metrics of a catalog that need no counts of the mesh.
pub(crate) fn of_cores(catalog: &Catalog) -> Vec<&MetricFormula> {
    let is_of_core = |metric: &&MetricFormula| !metric.is_of_mesh(catalog);
    catalog.metrics().iter().filter(is_of_core).collect()
}

/// Returns the metrics of the files, then those of n2sim for the Cortex-A53.
pub(crate) fn a53_catalog(paths: &[PathBuf]) -> anyhow::Result<Catalog> {
    extended(builtin::a53_catalog(), paths)
}

fn extended(mut catalog: Catalog, paths: &[PathBuf]) -> anyhow::Result<Catalog> {
    if !paths.is_empty() {
        catalog.extend(read(paths)?.metrics);
    }
    Ok(catalog)
}

/// Returns the metrics of a list of names and groups, each once, in the order of the list.
pub(crate) fn chosen<'a>(
    names: &[String],
    catalog: &'a Catalog,
) -> anyhow::Result<Vec<&'a MetricFormula>> {
    chosen_on(names, catalog, "")
}

/// Returns the metrics of a list as [`chosen`] does. `core` is what `n2sim list metrics` needs for
/// the core of the catalog.
pub(crate) fn chosen_on<'a>(
    names: &[String],
    catalog: &'a Catalog,
    core: &str,
) -> anyhow::Result<Vec<&'a MetricFormula>> {
    let mut chosen: Vec<&MetricFormula> = Vec::new();
    for name in names.iter().flat_map(|list| list.split([',', ';'])).map(str::trim) {
        let found = catalog.named(name);
        if found.is_empty() && !core.is_empty() && !builtin::catalog().named(name).is_empty() {
            anyhow::bail!(
                "'{name}' is a metric or group of the Neoverse N2, which this core does not have; its \
                 groups are {} (all metrics: n2sim list metrics{core})",
                catalog.groups().join(", ")
            );
        }
        if found.is_empty() {
            anyhow::bail!(
                "no metric or group is called '{name}'; the groups are {} (all metrics: n2sim list \
                 metrics{core})",
                catalog.groups().join(", ")
            );
        }
        for metric in found {
            if !chosen.iter().any(|own| own.name == metric.name) {
                chosen.push(metric);
            }
        }
    }
    Ok(chosen)
}

/// Returns the file itself, or the files of a directory with the lists that a kernel tree keeps for
/// all cores.
fn files(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = fs::read_dir(path)
        .with_context(|| format!("cannot read the directory {}", path.shown()))?;
    let mut files = Vec::new();
    for entry in entries {
        let file = entry?.path();
        let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if file.is_file() && ENDINGS.contains(&ending) {
            files.push(file);
        }
    }
    if files.is_empty() {
        anyhow::bail!("{}: no metric file (*.{}) is in it", path.shown(), ENDINGS.join(", *."));
    }
    files.sort();
    if let Some(above) = path.canonicalize()?.ancestors().nth(STANDARD_ABOVE) {
        files.extend(
            linux::STANDARD.map(|name| above.join(name)).into_iter().filter(|f| f.is_file()),
        );
    }
    Ok(files)
}
