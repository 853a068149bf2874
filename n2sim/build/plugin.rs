//! The recording plugin (`sim-capture`), once for each of QEMU's plugin interfaces.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::env;
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::Path;

use crate::nested::{Library, watch};

/// Embedded file and the options of its build.
const PLUGINS: [(&str, &[&str]); 2] =
    [("plugin-1.z", &[]), ("plugin-3.z", &["--features", "api-v2"])];

/// Builds both plugins and packs them into `out`.
pub(crate) fn build(workspace: &Path, target: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    watch(workspace, &["sim-capture", "sim-core", "sim-isa"]);
    let triple = env::var("TARGET")?;
    for (name, options) in PLUGINS {
        let library = Library {
            package: "sim-capture",
            profile: "plugin",
            triple: &triple,
            options,
            file: "libsim_capture.so",
        };
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&fs::read(library.build(workspace, target)?)?)?;
        fs::write(out.join(name), packed.finish()?)?;
    }
    Ok(())
}
