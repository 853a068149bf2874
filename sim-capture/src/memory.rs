//! Plugin side of the shared memory: mapping it, claiming slots, appending words.

use crate::wire::{
    self, CLAIMED, FILLING, FREE, FULL, HEADER_WORDS, HEADERS_AT, SLOT_WORDS, SLOTS, SLOTS_AT,
    TOTAL_WORDS, control, header,
};
use std::ffi::CString;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Longest wait for a free slot. The virtual CPU is dropped after it.
const WAIT_MAX: Duration = Duration::from_secs(30);
/// Pause between two searches for a free slot.
const PAUSE: Duration = Duration::from_micros(500);
/// Number of full slots from which on none is claimed. More would only spread the same words over
/// more memory than the host's caches hold.
const QUEUE_MAX: usize = 32;

/// The words shared with `n2sim capture`. Every word is atomic, so that writes of the other process
/// are never undefined behavior.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedMemory {
    words: &'static [AtomicU64],
    reader_pid: i32,
}

impl SharedMemory {
    /// Maps the file at `path`, which the reader created with the right length.
    pub(crate) fn map(path: &str) -> Result<SharedMemory, String> {
        let c_path = CString::new(path).map_err(|_| format!("bad path {path:?}"))?;
        // SAFETY: plain system calls; the result of each is checked before it is used. The mapping
        // is never removed, and a file of TOTAL_WORDS words is aligned to pages.
        let words = unsafe {
            let fd = libc::open(c_path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
            if fd < 0 {
                return Err(format!("{path}: {}", std::io::Error::last_os_error()));
            }
            let bytes = TOTAL_WORDS * size_of::<u64>();
            let mut stat: libc::stat = std::mem::zeroed();
            if libc::fstat(fd, &mut stat) != 0 || (stat.st_size as usize) < bytes {
                libc::close(fd);
                return Err(format!("{path}: shorter than the {bytes} bytes this plugin uses"));
            }
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let at = libc::mmap(std::ptr::null_mut(), bytes, access, libc::MAP_SHARED, fd, 0);
            libc::close(fd);
            if at == libc::MAP_FAILED {
                return Err(format!("{path}: {}", std::io::Error::last_os_error()));
            }
            std::slice::from_raw_parts(at.cast::<AtomicU64>(), TOTAL_WORDS)
        };
        if let Some(inherited) = path.strip_prefix("/proc/self/fd/") {
            close(inherited)?;
        }
        Ok(SharedMemory { words, reader_pid: parent() })
    }

    /// Returns memory of this process only.
    #[cfg(test)]
    pub(crate) fn for_test() -> SharedMemory {
        let words: Vec<AtomicU64> = (0..TOTAL_WORDS).map(|_| AtomicU64::new(0)).collect();
        SharedMemory { words: words.leak(), reader_pid: parent() }
    }

    /// Returns a word by its position.
    #[cfg(test)]
    pub(crate) fn word(self, at: usize) -> u64 {
        self.words[at].load(Ordering::Relaxed)
    }

    /// Returns a control word.
    pub(crate) fn control(self, index: usize) -> &'static AtomicU64 {
        &self.words[index]
    }

    /// Returns true once the reader has stopped or ended.
    pub(crate) fn is_closed(self) -> bool {
        self.control(control::STOP).load(Ordering::Relaxed) != 0 || parent() != self.reader_pid
    }

    fn header(self, slot: usize) -> &'static [AtomicU64] {
        let at = HEADERS_AT + slot * HEADER_WORDS;
        &self.words[at..at + HEADER_WORDS]
    }

    fn data(self, slot: usize) -> &'static [AtomicU64] {
        let at = SLOTS_AT + slot * SLOT_WORDS;
        &self.words[at..at + SLOT_WORDS]
    }

    /// Claims the lowest free slot. Waits for the reader if none is free.
    fn claim(self) -> Option<usize> {
        let mut waited = Duration::ZERO;
        while waited < WAIT_MAX && !self.is_closed() {
            let mut queued = 0;
            for slot in 0..SLOTS {
                let state = &self.header(slot)[header::STATE];
                let taken =
                    state.compare_exchange(FREE, CLAIMED, Ordering::Acquire, Ordering::Relaxed);
                match taken {
                    Ok(_) => {
                        let used = self.control(control::SLOTS_USED);
                        used.fetch_max(slot as u64 + 1, Ordering::Release);
                        return Some(slot);
                    }
                    Err(state) => queued += usize::from(state == FULL),
                }
                if queued == QUEUE_MAX {
                    break;
                }
            }
            std::thread::sleep(PAUSE);
            waited += PAUSE;
        }
        None
    }
}

/// Returns the number of the parent process.
fn parent() -> i32 {
    // Miri interprets a process without a parent.
    if cfg!(miri) {
        return 0;
    }
    // SAFETY: getppid cannot fail.
    unsafe { libc::getppid() }
}

/// Closes a descriptor that `n2sim capture` passed for the plugin only, so that the recorded
/// program does not inherit it.
pub(crate) fn close(descriptor: &str) -> Result<(), String> {
    let number = descriptor.parse().map_err(|_| format!("bad descriptor {descriptor:?}"))?;
    // SAFETY: no other code in this process uses the descriptor; the kernel rejects a wrong number.
    match unsafe { libc::close(number) } {
        0 => Ok(()),
        _ => Err(format!("descriptor {number}: {}", std::io::Error::last_os_error())),
    }
}

/// Writer that appends the words of one stream, slot after slot.
#[derive(Debug)]
pub(crate) struct StreamWriter {
    memory: SharedMemory,
    stream: u64,
    sequence: u64,
    cursor: usize,
    header: &'static [AtomicU64],
    data: &'static [AtomicU64],
}

impl StreamWriter {
    /// Starts `stream`. Returns `None` if no slot becomes free.
    pub(crate) fn new(memory: SharedMemory, stream: u64) -> Option<StreamWriter> {
        let mut writer =
            StreamWriter { memory, stream, sequence: 0, cursor: 0, header: &[], data: &[] };
        writer.open_slot().then_some(writer)
    }

    fn open_slot(&mut self) -> bool {
        let Some(slot) = self.memory.claim() else { return false };
        self.header = self.memory.header(slot);
        self.data = self.memory.data(slot);
        self.cursor = 0;
        self.header[header::STREAM].store(self.stream, Ordering::Relaxed);
        self.header[header::SEQUENCE].store(self.sequence, Ordering::Relaxed);
        self.header[header::CURSOR].store(0, Ordering::Relaxed);
        // A reader that sees this state sees the stream of the slot, too.
        self.header[header::STATE].store(FILLING, Ordering::Release);
        self.sequence += 1;
        true
    }

    /// Publishes the current slot to the reader.
    pub(crate) fn publish(&mut self) {
        if let Some(state) = self.header.get(header::STATE) {
            state.store(FULL, Ordering::Release);
        }
        self.header = &[];
        self.data = &[];
        self.cursor = 0;
    }

    /// Appends one word and makes it visible. Returns false if the stream had to be dropped.
    #[inline]
    pub(crate) fn push(&mut self, word: u64) -> bool {
        let (data, header) = (self.data, self.header);
        let (Some(place), Some(cursor)) = (data.get(self.cursor), header.get(header::CURSOR))
        else {
            return self.next_slot() && self.push(word);
        };
        place.store(word, Ordering::Relaxed);
        self.cursor += 1;
        cursor.store(self.cursor as u64, Ordering::Release);
        true
    }

    #[cold]
    fn next_slot(&mut self) -> bool {
        self.publish();
        if self.open_slot() {
            return true;
        }
        self.memory.control(control::DROPPED).fetch_add(1, Ordering::Relaxed);
        false
    }

    /// Appends a record that becomes visible as a whole: the cursor moves once, after the last
    /// word. A record never spans two slots. Returns false if the stream had to be dropped.
    pub(crate) fn push_record(&mut self, words: &[u64]) -> bool {
        assert!(words.len() <= wire::SLOT_WORDS, "a record fits a slot");
        if self.cursor + words.len() > self.data.len() && !self.next_slot() {
            return false;
        }
        for (to, word) in self.data[self.cursor..].iter().zip(words) {
            to.store(*word, Ordering::Relaxed);
        }
        self.cursor += words.len();
        self.header[header::CURSOR].store(self.cursor as u64, Ordering::Release);
        true
    }
}

#[cfg(test)]
mod contention;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::HEADERS_AT;

    fn header_of(memory: SharedMemory, slot: usize, field: usize) -> u64 {
        memory.word(HEADERS_AT + slot * HEADER_WORDS + field)
    }

    #[test]
    fn a_full_slot_is_published_and_the_next_one_continues_the_stream() {
        let memory = SharedMemory::for_test();
        let mut stream = StreamWriter::new(memory, 5).expect("all slots are free");
        for word in 0..SLOT_WORDS as u64 + 3 {
            assert!(stream.push(word));
        }
        assert_eq!(header_of(memory, 0, header::STATE), FULL);
        assert_eq!(header_of(memory, 0, header::CURSOR), SLOT_WORDS as u64);
        assert_eq!(header_of(memory, 1, header::STATE), FILLING);
        assert_eq!(header_of(memory, 1, header::STREAM), 5);
        assert_eq!(header_of(memory, 1, header::SEQUENCE), 1);
        assert_eq!(header_of(memory, 1, header::CURSOR), 3);
        assert_eq!(memory.word(control::SLOTS_USED), 2);
    }

    #[test]
    #[cfg(not(miri))] // Miri has fewer slots.
    fn no_slot_is_claimed_while_many_wait_for_the_reader() {
        let memory = SharedMemory::for_test();
        for slot in 0..QUEUE_MAX {
            memory.header(slot)[header::STATE].store(FULL, Ordering::Release);
        }
        let claimed = std::thread::scope(|scope| {
            let claim = scope.spawn(|| memory.claim());
            // A free slot above the full ones is not taken; the one that the reader frees is.
            memory.header(3)[header::STATE].store(FREE, Ordering::Release);
            claim.join().expect("no panic")
        });
        assert_eq!(claimed, Some(3));
    }

    #[test]
    fn a_record_never_spans_two_slots() {
        let memory = SharedMemory::for_test();
        let mut stream = StreamWriter::new(memory, 0).expect("all slots are free");
        for word in 0..SLOT_WORDS as u64 - 1 {
            assert!(stream.push(word));
        }
        assert!(stream.push_record(&[1, 2]));
        assert_eq!(header_of(memory, 0, header::CURSOR), SLOT_WORDS as u64 - 1);
        assert_eq!(header_of(memory, 1, header::CURSOR), 2);
    }

    /// Creates and maps a file of `words` words. Returns the file and the result of the mapping.
    #[cfg(not(miri))] // Miri maps no files.
    fn mapped(name: &str, words: usize) -> (std::fs::File, Result<SharedMemory, String>) {
        let path = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        let mut options = std::fs::File::options();
        let file = options.read(true).write(true).create_new(true).open(&path).expect("a new file");
        file.set_len((words * size_of::<u64>()) as u64).expect("it may have holes");
        let memory = SharedMemory::map(path.to_str().expect("a plain path"));
        std::fs::remove_file(path).expect("it is there");
        (file, memory)
    }

    #[test]
    #[cfg(not(miri))]
    fn the_whole_file_is_mapped_and_a_short_one_is_refused() {
        use std::os::unix::fs::FileExt;
        let (file, memory) = mapped("whole", TOTAL_WORDS);
        memory.expect("it is long enough").words[TOTAL_WORDS - 1].store(7, Ordering::Relaxed);
        let mut last = [0; 8];
        file.read_exact_at(&mut last, (TOTAL_WORDS as u64 - 1) * 8).expect("it is that long");
        assert_eq!(u64::from_le_bytes(last), 7);
        let (_, memory) = mapped("short", TOTAL_WORDS - 1);
        assert!(memory.expect_err("a word is missing").contains("shorter than"));
    }

    #[test]
    fn no_slot_can_be_claimed_after_the_reader_stopped() {
        let memory = SharedMemory::for_test();
        let mut stream = StreamWriter::new(memory, 0).expect("all slots are free");
        memory.control(control::STOP).store(1, Ordering::Relaxed);
        assert!(stream.push_record(&vec![0; SLOT_WORDS]));
        assert!(!stream.push(0));
        assert_eq!(memory.word(control::DROPPED), 1);
    }
}
