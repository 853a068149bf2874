//! `n2sim doctor`: checks the recording prerequisites, and prints the limits of each part and the
//! command that installs what is missing.

use crate::capture::engine::{self, Engine};
use crate::capture::plugin::{self, Plugin};
use crate::capture::program::USUAL_SYSROOTS;
use crate::capture::system;
use crate::host::call;
use anyhow::Result;
use clap::Args;
use sim_core::Shown;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Check the recording prerequisites and print how to install missing ones
#[derive(Args, Clone, Debug)]
pub(crate) struct DoctorArgs {
    /// A qemu-aarch64 to examine [default: those in PATH]
    #[arg(long, value_name = "PATH")]
    engine: Option<PathBuf>,
}

/// The remedy when the embedded plugin cannot be written to a file.
const MAKE_ROOM: &str = "room in the directory of temporary files, or another one in TMPDIR";
/// The cross compiler of Debian and related distributions.
const COMPILER: &str = "aarch64-linux-gnu-gcc";

/// One part and its state.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    part: &'static str,
    is_good: bool,
    /// Without it nothing can be recorded.
    is_needed: bool,
    what: String,
    /// Further lines.
    notes: Vec<String>,
    remedy: Option<String>,
}

impl Finding {
    fn good(part: &'static str, what: String) -> Finding {
        Finding { part, is_good: true, is_needed: false, what, notes: Vec::new(), remedy: None }
    }

    fn missing(part: &'static str, is_needed: bool, what: &str, remedy: &str) -> Finding {
        let remedy = Some(remedy.to_owned());
        Finding {
            part,
            is_good: false,
            is_needed,
            what: what.to_owned(),
            notes: Vec::new(),
            remedy,
        }
    }
}

/// Prints the findings; exit code 1 when nothing can be recorded.
///
/// # Errors
/// If stdout cannot be written.
pub(crate) fn run(args: &DoctorArgs) -> Result<u8> {
    let findings = examine(args);
    let mut out = call::stdout();
    for finding in &findings {
        let mark = match (finding.is_good, finding.is_needed) {
            (true, _) => "ok",
            (false, true) => "MISSING",
            (false, false) => "optional",
        };
        writeln!(out, "{mark:<9}{:<10}{}", finding.part, finding.what)?;
        for note in &finding.notes {
            writeln!(out, "{:19}{note}", "")?;
        }
        if let Some(remedy) = &finding.remedy {
            writeln!(out, "{:19}to get it: {remedy}", "")?;
        }
    }
    write_leftovers(&mut out, Path::new("."))?;
    let can_record = findings.iter().all(|finding| finding.is_good || !finding.is_needed);
    let verdict =
        if can_record { "n2sim capture works here" } else { "n2sim capture cannot work yet" };
    writeln!(out, "{verdict}")?;
    Ok(u8::from(!can_record))
}

/// Removes temporary results of killed runs from `directory`, and prints how to use the recordings
/// that they left.
fn write_leftovers(out: &mut impl Write, directory: &Path) -> std::io::Result<()> {
    for path in sim_files::stale::remove_results(directory) {
        let path = path.shown();
        writeln!(
            out,
            "{:<9}{:<10}a temporary file of a killed run, removed: {path}",
            "ok", "files"
        )?;
    }
    for path in sim_files::stale::remove_directories(&std::env::temp_dir()) {
        let path = path.shown();
        let what = "temporary files of a killed run, removed";
        writeln!(out, "{:<9}{:<10}{what}: {path}", "ok", "files")?;
    }
    for path in sim_files::stale::recordings(directory) {
        let path = path.shown();
        writeln!(out, "{:<9}{:<10}{path}: the recording of a killed run", "optional", "files")?;
        let remedy = format!("n2sim trace recover {path} -o FILE.n2t");
        writeln!(out, "{:19}to keep what is good of it: {remedy}; or remove it", "")?;
    }
    Ok(())
}

fn examine(args: &DoctorArgs) -> Vec<Finding> {
    let plugins = plugin::plugins();
    let paths = args.engine.clone().map_or_else(engine::installed, |path| vec![path]);
    let mut findings = vec![plugin_finding(&plugins)];
    let probes: Vec<_> = paths.iter().map(|path| (path, engine::probe(path, &plugins))).collect();
    let works = probes.iter().any(|(_, probe)| probe.is_ok());
    for (path, probe) in probes {
        findings.push(match probe {
            Ok(engine) => engine_finding(&engine),
            Err(error) => Finding {
                part: "engine",
                is_good: false,
                is_needed: !works,
                what: format!("{}: {error:#}", path.shown()),
                notes: Vec::new(),
                remedy: error.is::<engine::NoPlugins>().then(|| engine::BUILD_ENGINE.to_owned()),
            },
        });
    }
    if paths.is_empty() {
        let what = "no qemu-aarch64 in PATH; it runs the program while it is recorded";
        let missing = Finding::missing("engine", true, what, engine::INSTALL_ENGINE);
        let note = format!("if that is version 10 or later: {}", engine::BUILD_ENGINE);
        findings.push(Finding { notes: vec![note], ..missing });
    }
    findings.push(system_finding(&plugins));
    findings.push(compiler_finding());
    findings.push(sysroot_finding());
    findings
}

fn plugin_finding(plugins: &[Plugin]) -> Finding {
    if let Some(error) = plugins.iter().find_map(|plugin| plugin.check().err()) {
        return Finding::missing("plugin", true, &format!("{error:#}"), MAKE_ROOM);
    }
    let list: Vec<&str> = plugins.iter().map(Plugin::name).collect();
    let list = list.join("; ");
    if let Some(file) = std::env::var_os(plugin::OVERRIDE).map(PathBuf::from) {
        let what = format!("{list} ({} names it)", plugin::OVERRIDE);
        if let Err(error) = std::fs::File::open(&file) {
            let remedy = format!("unset {}: a plugin is part of this program", plugin::OVERRIDE);
            return Finding::missing("plugin", true, &format!("{what}: {error}"), &remedy);
        }
        return Finding::good("plugin", what);
    }
    Finding::good("plugin", list)
}

fn engine_finding(engine: &Engine) -> Finding {
    let (oldest, newest) = engine.api;
    let what = format!("{}: {}", engine.path.shown(), engine.version);
    let notes = vec![
        format!(
            "plugin API {oldest} to {newest}; records as -cpu {} (offers {})",
            engine.default_cpu(),
            engine.cpus.join(" ")
        ),
        blind_spots(newest).to_owned(),
    ];
    Finding { notes, ..Finding::good("engine", what) }
}

/// Returns what an engine with this plugin interface does not report.
fn blind_spots(newest_api: u64) -> &'static str {
    if newest_api < 2 {
        "not reported: addresses of DC, IC and PRFM (rebuilt where registers are known); SVE accesses \
         (so the CPU model has no SVE): capture --second-run sees them all"
    } else {
        "not reported: addresses of DC, IC and PRFM (rebuilt where registers are known); SVE predicates; \
         LDNF1, later LDFF1 elements: capture --second-run sees them all"
    }
}

fn system_finding(plugins: &[Plugin]) -> Finding {
    let Some(path) = engine::in_path(system::NAME) else {
        let what = "no qemu-system-aarch64 in PATH: capture --system needs it";
        return Finding::missing("system", false, what, system::INSTALL);
    };
    match system::probe(&path, plugins) {
        Ok(engine) => {
            let (oldest, newest) = engine.api;
            let blind = if newest < 2 {
                "not reported: syndromes, operands of TLBI, DC, IC and MSR, PRFM addresses"
            } else {
                "not reported: table walks"
            };
            let cpu = engine.default_cpu();
            let notes = vec![
                format!("plugin API {oldest} to {newest}; records as -cpu {cpu}"),
                blind.to_owned(),
            ];
            let what = format!("{}: {}", path.shown(), engine.version);
            Finding { notes, ..Finding::good("system", what) }
        }
        Err(error) => {
            let what = format!("{}: {error:#}", path.shown());
            Finding { remedy: None, ..Finding::missing("system", false, &what, "") }
        }
    }
}

fn compiler_finding() -> Finding {
    let Some(path) = engine::in_path(COMPILER) else {
        return Finding::missing(
            "compiler",
            false,
            "no AArch64 cross compiler: own programs and traces/build.sh need one",
            "apt-get install gcc-aarch64-linux-gnu",
        );
    };
    let output = sim_files::output(Command::new(&path).arg("-dumpfullversion"));
    let version = output.map_or_else(
        |error| error.to_string(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    );
    Finding::good("compiler", format!("{} {version}", path.shown()))
}

fn sysroot_finding() -> Finding {
    let linker = "lib/ld-linux-aarch64.so.1";
    match USUAL_SYSROOTS.iter().find(|root| Path::new(root).join(linker).exists()) {
        Some(root) => Finding::good("sysroot", (*root).to_owned()),
        None => Finding::missing(
            "sysroot",
            false,
            "no directory with AArch64 libraries: dynamically linked programs need one",
            "apt-get install libc6-arm64-cross, or --sysroot DIR with your own",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_without_plugins_is_named_as_such_with_a_way_out() {
        let script = "#!/bin/sh\necho qemu-aarch64 version 10.0.8\n";
        let engine = sim_files::Scratch::new("engine", 0o700, script.as_bytes()).expect("room");
        let findings = examine(&DoctorArgs { engine: Some(engine.path().to_path_buf()) });
        let finding =
            findings.iter().find(|finding| finding.part == "engine").expect("it is there");
        assert!(!finding.is_good && finding.is_needed, "{finding:?}");
        assert!(finding.what.contains("version 10.0.8 has no -plugin option"), "{finding:?}");
        let remedy = finding.remedy.as_deref().unwrap_or_default();
        assert!(remedy.contains("--enable-plugins"), "{finding:?}");
    }

    #[test]
    fn an_engine_that_does_not_exist_is_a_needed_part_that_is_missing() {
        let engine = Some(PathBuf::from("/nonexistent/qemu-aarch64"));
        let findings = examine(&DoctorArgs { engine });
        let bad: Vec<&Finding> =
            findings.iter().filter(|finding| finding.part == "engine").collect();
        assert_eq!(bad.len(), 1);
        assert!(!bad[0].is_good && bad[0].is_needed, "{bad:?}");
        assert!(bad[0].what.contains("/nonexistent/qemu-aarch64"), "{bad:?}");
    }
}
