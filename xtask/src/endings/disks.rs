//! Runs commands on small disks, which become full, and on a read-only one.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, ensure};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use tempfile::TempDir;

use super::commands::{Bench, COMMANDS, Writing, names};

/// Page size of a file system in memory.
const PAGE_BYTES: u64 = 4096;
const FULL: &str = "No space left on device";
const READ_ONLY: &str = "Read-only file system";

/// Results for one command.
#[derive(Default)]
struct Seen {
    runs: u32,
    /// Ended with the message that the disk is full.
    full: u32,
    /// Ended with the message that the disk cannot be written.
    read_only: u32,
    /// Had room for everything.
    whole: u32,
    /// Ended in another way, or left a file that is not a whole result; may be counted above as
    /// well.
    wrong: u32,
}

/// A file system in memory, unmounted on drop.
struct Disk {
    folder: TempDir,
}

impl Disk {
    /// Mounts a disk with room for so many pages; without any no file can even be made.
    fn with_room(pages: u64) -> Result<Disk> {
        let disk = Disk { folder: TempDir::new()? };
        let options = match pages {
            0 => String::from("nr_inodes=1,mode=700"),
            _ => format!("size={},mode=700", pages * PAGE_BYTES),
        };
        mount(&["-t", "tmpfs", "-o", &options, "tmpfs"], disk.path())?;
        Ok(disk)
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Without this the directory stays; its own removal would fail without a message.
        let _ = Command::new("umount").arg(self.path()).status();
    }
}

fn mount(options: &[&str], place: &Path) -> Result<()> {
    let status = Command::new("mount").args(options).arg(place).status().context("mount")?;
    ensure!(status.success(), "small disks need the right to mount: run it as root");
    Ok(())
}

/// Runs each command on disks of random sizes and on a read-only one, and prints a table. Returns
/// false if a result is wrong or a file is left. With no runs it mounts nothing; mounting needs
/// root.
pub(super) fn run(bench: &Bench, runs: usize, seed: u64) -> Result<bool> {
    if runs == 0 {
        return Ok(true);
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut is_good = true;
    println!("command    runs  full  read-only  whole  wrong");
    for command in &COMMANDS {
        let most = needed(bench, command)?;
        let mut seen = Seen::default();
        for _ in 0..runs.div_ceil(COMMANDS.len()) {
            let disk = Disk::with_room(random.random_range(0..=most / PAGE_BYTES + 1))?;
            one(bench, command, &disk, &mut seen)?;
        }
        let disk = Disk::with_room(1)?;
        mount(&["-o", "remount,ro"], disk.path())?;
        one(bench, command, &disk, &mut seen)?;
        let Seen { runs, full, read_only, whole, wrong } = seen;
        println!("{:<9} {runs:5} {full:5} {read_only:10} {whole:6} {wrong:6}", command.name);
        is_good &= wrong == 0 && full > 0 && read_only == 1;
    }
    Ok(is_good)
}

/// Returns the number of bytes that a command writes where there is room.
fn needed(bench: &Bench, command: &Writing) -> Result<u64> {
    let folder = TempDir::new()?;
    let status = bench.command(&bench.words(command), folder.path()).status()?;
    ensure!(status.success(), "{} fails on a disk with room", command.name);
    let sizes = names(folder.path())?.into_iter().map(|name| folder.path().join(name).metadata());
    Ok(sizes.map(|file| file.map_or(0, |file| file.len())).sum())
}

fn one(bench: &Bench, command: &Writing, disk: &Disk, seen: &mut Seen) -> Result<()> {
    let mut run = bench.command(&bench.words(command), disk.path());
    let output = run.stderr(Stdio::piped()).output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    seen.runs += 1;
    let has_failed = output.status.code() == Some(2);
    seen.full += u32::from(has_failed && said.contains(FULL));
    seen.read_only += u32::from(has_failed && said.contains(READ_ONLY));
    seen.whole += u32::from(output.status.success());
    // Any other end is a fault.
    if let Some(fault) = fault(bench, &output, &said, disk.path())? {
        println!("{}: {fault}: {said}", command.name);
        seen.wrong += 1;
    }
    Ok(())
}

/// Returns the fault of the end of a run, if there is one.
fn fault(bench: &Bench, output: &Output, said: &str, folder: &Path) -> Result<Option<String>> {
    if !matches!(output.status.code(), Some(0 | 2)) {
        return Ok(Some(format!("{}", output.status)));
    }
    if !output.status.success() && !said.contains(FULL) && !said.contains(READ_ONLY) {
        return Ok(Some("another message".into()));
    }
    for name in names(folder)? {
        // A recording is kept, and the message names it.
        let is_named = name.ends_with(".partial") && said.contains(&name);
        let is_result = name.starts_with("out.") && !name.ends_with(".partial");
        let is_good = is_named || is_result && bench.is_whole(&folder.join(&name))?;
        if !is_good {
            return Ok(Some(format!("{name} is left")));
        }
    }
    Ok(None)
}
