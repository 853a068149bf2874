//! `cargo xtask sbom`: writes the components of a built `n2sim` as a CycloneDX document.
//!
//! Names, versions, licenses and dependencies come from `cargo metadata`, checksums from the lock
//! file. Tests and developer tasks are left out: they are not in the program.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::{Value, json};
use sim_tests::repository;

/// The installed packages, one inside the other.
const PRODUCTS: [&str; 2] = ["n2sim", "sim-capture"];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// File to write
    #[arg(short, long, default_value = "n2sim.cdx.json")]
    output: PathBuf,
    /// System that the program runs on
    #[arg(long, default_value = "x86_64-unknown-linux-gnu")]
    target: String,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    kind: Option<String>,
}

impl Node {
    /// Returns the dependencies of the package, build dependencies included.
    fn needs(&self) -> impl Iterator<Item = &str> {
        let is_built_in = |dep: &&Dependency| {
            dep.dep_kinds.iter().any(|kind| kind.kind.as_deref() != Some("dev"))
        };
        self.deps.iter().filter(is_built_in).map(|dep| dep.pkg.as_str())
    }
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    checksum: Option<String>,
}

/// Writes the document.
pub(crate) fn run(args: &Args) -> anyhow::Result<bool> {
    let metadata = metadata(&args.target)?;
    let lock: Lock = toml::from_str(&std::fs::read_to_string(repository().join("Cargo.lock"))?)?;
    let checksums =
        lock.package.into_iter().filter_map(|p| Some(((p.name, p.version), p.checksum?)));
    let document = document(&metadata, &checksums.collect())?;
    let text = serde_json::to_string_pretty(&document)? + "\n";
    std::fs::write(&args.output, text).with_context(|| args.output.display().to_string())?;
    let components = document["components"].as_array().map_or(0, Vec::len);
    println!("{}: {components} components", args.output.display());
    Ok(true)
}

fn metadata(target: &str) -> anyhow::Result<Metadata> {
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--locked", "--format-version", "1", "--filter-platform", target]);
    let output = cargo.current_dir(repository()).output().context("cargo metadata")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

type Checksums = BTreeMap<(String, String), String>;

fn document(metadata: &Metadata, checksums: &Checksums) -> anyhow::Result<Value> {
    let packages: BTreeMap<_, _> = metadata.packages.iter().map(|p| (p.id.as_str(), p)).collect();
    let nodes: BTreeMap<_, _> = metadata.resolve.nodes.iter().map(|n| (n.id.as_str(), n)).collect();
    let product = |name| metadata.packages.iter().find(|p| p.name == name && p.source.is_none());
    let mut left: Vec<&str> =
        PRODUCTS.into_iter().filter_map(product).map(|p| p.id.as_str()).collect();
    ensure!(left.len() == PRODUCTS.len(), "a package of {PRODUCTS:?} is missing");
    let mut found = BTreeSet::new();
    while let Some(id) = left.pop() {
        if found.insert(id) {
            left.extend(nodes.get(id).context("a package without dependencies")?.needs());
        }
    }
    let components = found.iter().map(|id| component(packages[id], checksums));
    let dependencies = found.iter().map(|id| {
        let on: Vec<_> = nodes[id].needs().map(|id| reference(packages[id])).collect();
        json!({ "ref": reference(packages[id]), "dependsOn": on })
    });
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "components": components.collect::<Vec<_>>(),
        "dependencies": dependencies.collect::<Vec<_>>(),
    }))
}

/// Returns a package URL (`pkg:cargo/NAME@VERSION`), as vulnerability databases use it.
fn reference(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version)
}

fn component(package: &Package, checksums: &Checksums) -> Value {
    let mut component = json!({
        "type": if package.name == PRODUCTS[0] { "application" } else { "library" },
        "bom-ref": reference(package),
        "name": package.name,
        "version": package.version,
    });
    // A package of our own is not in the registry, where another may have its name.
    if package.source.is_some() {
        component["purl"] = json!(reference(package));
    }
    if let Some(license) = &package.license {
        // Old manifests separate alternatives by a slash.
        component["licenses"] = json!([{ "expression": license.replace('/', " OR ") }]);
    }
    if let Some(sum) = checksums.get(&(package.name.clone(), package.version.clone())) {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_packages_are_listed_with_checksum_and_license_and_tests_are_not() {
        let metadata = metadata("x86_64-unknown-linux-gnu").expect("cargo knows the workspace");
        let checksums = Checksums::new();
        let document = document(&metadata, &checksums).expect("both products are there");
        let components = document["components"].as_array().expect("a list");
        let named = |name| components.iter().find(|component| component["name"] == name);
        assert_eq!(named("n2sim").expect("itself")["type"], "application");
        assert_eq!(
            named("clap").expect("its arguments")["licenses"][0]["expression"],
            "MIT OR Apache-2.0"
        );
        assert!(named("proptest").is_none(), "crates of tests alone");
        assert_eq!(components.len(), document["dependencies"].as_array().expect("a list").len());
    }
}
