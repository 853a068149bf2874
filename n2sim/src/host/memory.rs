//! The memory limit of replays: `--max-memory`, or a share of the available memory of the host.

use std::fs;
use std::path::Path;

use sim_core::MemoryBudget;

use crate::files::command_line;
use crate::shared_args::instructions;

/// The name of the option.
const OPTION: &str = "--max-memory";

/// The default share of the available memory that replays may take: three of four.
const SHARE: (u64, u64) = (3, 4);

/// The directory of the memory controller's files inside a container, and that of its first
/// version.
const CONTROL_GROUPS: [(&str, &str, &str); 2] = [
    ("/sys/fs/cgroup", "memory.max", "memory.current"),
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
];

/// Reads a size in bytes, in the units of `--limit`.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    match instructions(text) {
        Ok(bytes) if bytes > 0 => Ok(bytes),
        _ => Err(String::from("give a number of bytes, such as 500M or 4G")),
    }
}

/// Makes the account of one trace that is read or replayed, or of all runs of a sweep together.
pub(crate) fn budget() -> MemoryBudget {
    let limit = asked(command_line::words()).or_else(|| share(available(Path::new("/"))));
    let limit = limit.unwrap_or(MemoryBudget::DEFAULT);
    #[cfg(debug_assertions)]
    return refusals::budget(limit);
    #[cfg(not(debug_assertions))]
    MemoryBudget::new(limit)
}

/// Accounts that refuse the reservation that a test names, and how many reservations there were.
#[cfg(debug_assertions)]
pub(crate) mod refusals {
    use super::MemoryBudget;
    use std::sync::{Mutex, PoisonError};

    /// All accounts of this process.
    static ACCOUNTS: Mutex<Vec<MemoryBudget>> = Mutex::new(Vec::new());

    /// Returns an account that refuses the reservation whose number is in the environment.
    pub(super) fn budget(limit: u64) -> MemoryBudget {
        let number = std::env::var("N2SIM_REFUSE_MEMORY").ok().and_then(|text| text.parse().ok());
        let made = MemoryBudget::refusing(limit, number.unwrap_or(0));
        ACCOUNTS.lock().unwrap_or_else(PoisonError::into_inner).push(made.clone());
        made
    }

    /// Returns the reservations so far of the account with the most.
    pub(crate) fn most() -> u64 {
        let accounts = ACCOUNTS.lock().unwrap_or_else(PoisonError::into_inner);
        accounts.iter().map(MemoryBudget::asked).max().unwrap_or(0)
    }
}

/// Returns the last requested size of the command line, before the words of a recorded program.
fn asked(words: impl Iterator<Item = String>) -> Option<u64> {
    let (mut found, mut is_next) = (None, false);
    for word in words.take_while(|word| word != "--") {
        let attached = word.strip_prefix(OPTION).and_then(|rest| rest.strip_prefix('='));
        let value = if is_next { Some(word.as_str()) } else { attached };
        found = value.and_then(|value| size(value).ok()).or(found);
        is_next = word == OPTION;
    }
    found
}

fn share(available: Option<u64>) -> Option<u64> {
    available.map(|bytes| bytes / SHARE.1 * SHARE.0)
}

/// Returns the bytes that this process can allocate: the available memory of the machine, or less
/// by the control group of its container. `root` is the root of the file system.
fn available(root: &Path) -> Option<u64> {
    let text = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let machine = line.split_whitespace().next()?.parse::<u64>().ok()? << 10;
    let groups = CONTROL_GROUPS.iter().filter_map(|(directory, limit, usage)| {
        let directory = root.join(directory.trim_start_matches('/'));
        let read = |name| fs::read_to_string(directory.join(name)).ok()?.trim().parse::<u64>().ok();
        let files = fs::read_to_string(directory.join("memory.stat")).unwrap_or_default();
        let used = read(usage).unwrap_or(0).saturating_sub(cached(&files));
        Some(read(limit)?.saturating_sub(used))
    });
    Some(groups.fold(machine, u64::min))
}

/// Returns the bytes of cached files in a control group, from its `memory.stat`. The group frees
/// them on demand.
fn cached(text: &str) -> u64 {
    let of =
        |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    of("total_inactive_file ").or_else(|| of("inactive_file ")).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<u64> {
        asked(line.split(' ').map(str::to_owned))
    }

    #[test]
    fn the_option_is_found_anywhere_but_after_a_program() {
        assert_eq!(of("n2sim stat a.n2t --max-memory 500M"), Some(500_000_000));
        assert_eq!(of("n2sim --max-memory=4G stat a.n2t"), Some(4_000_000_000));
        assert_eq!(of("n2sim capture -- ./p --max-memory 5"), None);
        assert_eq!(of("n2sim stat a.n2t"), None);
    }

    #[test]
    fn a_control_group_lowers_what_the_machine_has() {
        let root = tempfile::tempdir().expect("a directory");
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("a directory")).expect("room");
            fs::write(path, text).expect("room");
        };
        assert_eq!(available(root.path()), None);
        write("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:     4096 kB\n");
        assert_eq!(available(root.path()), Some(4 << 20));
        write("sys/fs/cgroup/memory.max", "max\n");
        assert_eq!(available(root.path()), Some(4 << 20));
        write("sys/fs/cgroup/memory.max", "3145728\n");
        write("sys/fs/cgroup/memory.current", "1048576\n");
        assert_eq!(available(root.path()), Some(2 << 20));
        assert_eq!(share(Some(2 << 20)), Some(3 << 19));
        write("sys/fs/cgroup/memory.stat", "anon 7\ninactive_file 524288\nactive_file 9\n");
        assert_eq!(available(root.path()), Some(5 << 19), "files that were read give way");
    }
}
