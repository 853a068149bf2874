//! Downloads Debian's arm64 libraries with a private apt root below `target/isa-check`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Packages, and the libraries taken from each.
const PACKAGES: [(&str, &[&str]); 6] = [
    ("libc6", &["libc.so.6", "libm.so.6"]),
    ("libstdc++6", &["libstdc++.so.6"]),
    ("libssl3", &["libcrypto.so.3", "libssl.so.3"]),
    ("libpython3.11", &["libpython3.11.so.1.0"]),
    ("libavcodec59", &["libavcodec.so.59"]),
    ("libavutil57", &["libavutil.so.57"]),
];

const RELEASE: &str = "bookworm";
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
const LIBRARY_DIR: &str = "usr/lib/aarch64-linux-gnu";
const OTHER_LIBRARY_DIR: &str = "lib/aarch64-linux-gnu";

/// Returns name and path of every library. Downloads those that the cache lacks.
pub(super) fn libraries() -> Result<Vec<(String, PathBuf)>> {
    let cache = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/isa-check");
    let root = cache.join("root");
    if !root.is_dir() {
        download(&cache, &root)?;
    }
    let mut found = Vec::new();
    for name in PACKAGES.iter().flat_map(|(_, names)| names.iter()) {
        let path = [LIBRARY_DIR, OTHER_LIBRARY_DIR]
            .iter()
            .map(|dir| root.join(dir).join(name))
            .find(|path| path.exists());
        match path {
            Some(path) => found.push(((*name).to_owned(), path)),
            None => {
                bail!(
                    "{name} is not below {}: remove that directory to fetch again",
                    root.display()
                )
            }
        }
    }
    Ok(found)
}

fn download(cache: &Path, root: &Path) -> Result<()> {
    let config = write_apt_root(cache)?;
    let packages = cache.join("packages");
    fs::create_dir_all(&packages)?;
    run(Command::new("apt-get").env("APT_CONFIG", &config).args(["-q", "update"]))?;
    let names = PACKAGES.iter().map(|(package, _)| *package);
    run(Command::new("apt-get")
        .env("APT_CONFIG", &config)
        .current_dir(&packages)
        .args(["-q", "download"])
        .args(names))?;
    let unpacked = cache.join("root.part");
    for entry in fs::read_dir(&packages)? {
        run(Command::new("dpkg-deb").arg("-x").arg(entry?.path()).arg(&unpacked))?;
    }
    fs::rename(&unpacked, root).context("putting the unpacked packages in place")
}

/// Writes a configuration under which apt keeps everything below `cache`.
fn write_apt_root(cache: &Path) -> Result<PathBuf> {
    for dir in ["state/lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(cache.join(dir))?;
    }
    let cache = cache.canonicalize()?;
    fs::write(cache.join("state/status"), "")?;
    let mirror = mirror()?;
    let source = format!("deb [arch=arm64 signed-by={KEYRING}] {mirror} {RELEASE} main\n");
    fs::write(cache.join("sources.list"), source)?;
    let config = cache.join("apt.conf");
    let here = cache.display();
    let text = format!(
        "APT::Architecture \"arm64\";\nAPT::Architectures {{ \"arm64\"; }};\n\
         Dir::State \"{here}/state\";\nDir::State::status \"{here}/state/status\";\n\
         Dir::Cache \"{here}/cache\";\nDir::Etc::sourcelist \"{here}/sources.list\";\n\
         Dir::Etc::sourceparts \"/dev/null\";\nAPT::Sandbox::User \"root\";\n"
    );
    fs::write(&config, text)?;
    Ok(config)
}

/// Returns the Debian mirror of this system's own apt.
fn mirror() -> Result<String> {
    let listed = Command::new("apt-get")
        .args(["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"])
        .output()
        .context("asking apt for its mirror")?;
    let mirrors = String::from_utf8_lossy(&listed.stdout);
    let main = mirrors.lines().find(|mirror| !mirror.contains("security"));
    main.map(str::to_owned).context("apt knows no mirror: run apt-get update first")
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("starting {command:?}"))?;
    if !status.success() {
        bail!("{command:?} failed with {status}");
    }
    Ok(())
}
