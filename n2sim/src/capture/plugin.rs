//! The recording plugin: two builds of it are part of this program, one for each of QEMU's
//! interfaces.
//!
//! The engine loads a plugin from a file. An embedded plugin is written into sealed memory, which
//! nothing can change any more, and the engine gets the descriptor. If the system has no such
//! memory, the plugin is written into a file that only its owner can read.

use anyhow::{Context, Result};
use flate2::read::ZlibDecoder;
use rustix::fs::{SealFlags, fcntl_add_seals};
use rustix::io::{FdFlags, fcntl_setfd};
use sim_core::Shown;
use sim_files::{File, Scratch};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// The variable that names the file of another build of the plugin.
pub(crate) const OVERRIDE: &str = "N2SIM_PLUGIN";

/// The embedded builds, compressed, with their engines, in the order of the attempts.
const EMBEDDED: [(&str, &[u8]); 2] = [
    ("QEMU before 9.1", include_bytes!(concat!(env!("OUT_DIR"), "/plugin-1.z"))),
    ("QEMU 9.1 and later", include_bytes!(concat!(env!("OUT_DIR"), "/plugin-3.z"))),
];

/// A build of the plugin that an engine can load. Clones share its file.
#[derive(Clone, Debug)]
pub(crate) struct Plugin {
    name: String,
    /// The embedded build, compressed; empty for a file of the user.
    packed: &'static [u8],
    /// The path for the engine. An embedded build is unpacked at its first use.
    place: Arc<OnceLock<Place>>,
}

#[derive(Debug)]
enum Place {
    /// A file of the user.
    Named(PathBuf),
    /// Sealed memory of this process.
    Memory(File),
    /// A file of this process, removed with it.
    Temporary(Scratch),
}

impl Plugin {
    /// Returns its name for messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the value of `-plugin` without the plugin's own arguments, for an engine that is
    /// started next. The engine inherits the descriptor, if there is one, until [`Plugin::keep`].
    ///
    /// # Errors
    /// If neither sealed memory nor a temporary file is available.
    pub(crate) fn option(&self) -> Result<OsString> {
        Ok(match self.place()? {
            Place::Named(path) => path.into(),
            Place::Temporary(file) => file.path().into(),
            Place::Memory(file) => {
                fcntl_setfd(file.as_fd(), FdFlags::empty())
                    .context("cannot hand the plugin over")?;
                // The plugin closes the descriptor once it is loaded, because the program has no
                // use for it.
                format!("/proc/self/fd/{0},plugin={0}", file.as_fd().as_raw_fd()).into()
            }
        })
    }

    /// Prevents processes that start from now on from inheriting the plugin.
    pub(crate) fn keep(&self) {
        if let Some(Place::Memory(file)) = self.place.get() {
            // The call can fail only for a closed descriptor.
            let _ = fcntl_setfd(file.as_fd(), FdFlags::CLOEXEC);
        }
    }

    /// Finds a place for the plugin, as an engine would need it.
    ///
    /// # Errors
    /// If neither sealed memory nor a temporary file is available.
    pub(crate) fn check(&self) -> Result<()> {
        self.place().map(drop)
    }

    fn place(&self) -> Result<&Place> {
        if let Some(place) = self.place.get() {
            return Ok(place);
        }
        let place = embedded(&unpack(self.packed)?)?;
        Ok(self.place.get_or_init(|| place))
    }
}

/// Returns the builds of the plugin in the order of the attempts: the one that `N2SIM_PLUGIN`
/// names, or the embedded ones. No directory is searched, because the engine runs its code.
pub(crate) fn plugins() -> Vec<Plugin> {
    if let Some(path) = std::env::var_os(OVERRIDE).map(PathBuf::from) {
        let name = path.shown().to_string();
        let place = Arc::new(OnceLock::from(Place::Named(path)));
        return vec![Plugin { name, packed: &[], place }];
    }
    let embedded = EMBEDDED.into_iter().map(|(engines, packed)| Plugin {
        name: format!("embedded, for {engines}"),
        packed,
        place: Arc::default(),
    });
    embedded.collect()
}

fn unpack(packed: &[u8]) -> Result<Vec<u8>> {
    let mut library = Vec::new();
    ZlibDecoder::new(packed).read_to_end(&mut library).context("the embedded plugin is damaged")?;
    Ok(library)
}

fn embedded(library: &[u8]) -> Result<Place> {
    Ok(match sealed(library) {
        Ok(file) => Place::Memory(file),
        Err(_) => Place::Temporary(temporary(library)?),
    })
}

/// Returns sealed memory with this content.
fn sealed(library: &[u8]) -> Result<File> {
    let mut file = File::of_memory("n2sim-plugin")?;
    file.write_all(library)?;
    let seals = SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    fcntl_add_seals(&file, seals)?;
    Ok(file)
}

/// Returns a new file with this content, for its owner alone.
fn temporary(library: &[u8]) -> Result<Scratch> {
    Scratch::new("n2sim-plugin", 0o600, library)
        .context("cannot write the recording plugin to a temporary file")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    fn first() -> Vec<u8> {
        unpack(EMBEDDED[0].1).expect("the build script packed it")
    }

    #[test]
    fn both_builds_are_shared_libraries_with_the_symbols_of_a_plugin() {
        use object::{Object, ObjectSymbol};
        for (engines, packed) in EMBEDDED {
            let library = unpack(packed).expect("the build script packed it");
            let file = object::File::parse(&*library).expect("it is an ELF file");
            let names: Vec<&str> =
                file.dynamic_symbols().filter_map(|symbol| symbol.name().ok()).collect();
            for name in ["qemu_plugin_version", "qemu_plugin_install"] {
                assert!(names.contains(&name), "{engines}: {name} is not exported");
            }
        }
    }

    #[test]
    fn the_memory_that_the_engine_loads_cannot_be_changed() {
        let file = sealed(&first()).expect("memory files exist on Linux");
        let path = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
        let again = File::open_with(fs::File::options().write(true), path.as_ref())
            .expect("the path opens");
        assert!(again.write_all_at(b"x", 0).is_err());
        assert!(again.set_len(0).is_err());
    }

    #[test]
    fn a_temporary_plugin_is_for_its_owner_alone_and_removed_with_it() {
        let place = temporary(&first()).expect("there is a temporary directory");
        let (path, mode) =
            (place.path().to_owned(), place.path().metadata().expect("it is there").mode());
        assert_eq!(mode & 0o077, 0);
        drop(place);
        assert!(!path.exists());
    }
}
