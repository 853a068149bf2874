//! The command that runs: its words, the flag that ends it early, and where it prints.
//!
//! A process that is the program has one command, which prints to the streams of the process. A
//! process that has loaded n2sim as a library calls commands on threads of its own, several at a
//! time; what each prints is kept for its caller.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Words of the command line, if this process is the program.
static PROGRAM: OnceLock<Vec<OsString>> = OnceLock::new();

/// First words of a command that starts this program again, if it is not the file of the process.
static STARTER: OnceLock<Vec<OsString>> = OnceLock::new();

thread_local! {
    /// The call that this thread works on, if the process has loaded n2sim as a library.
    static CALL: RefCell<Option<Arc<Call>>> = const { RefCell::new(None) };
}

#[derive(Debug)]
struct Call {
    words: Vec<OsString>,
    stop: Arc<AtomicBool>,
    printed: Mutex<Printed>,
}

/// The call of a thread, for other threads that work on it; there may be none.
#[derive(Clone, Debug)]
pub(crate) struct Present(Option<Arc<Call>>);

/// The output of a call.
#[derive(Debug, Default)]
pub(crate) struct Printed {
    /// On standard output.
    pub(crate) output: Vec<u8>,
    /// On standard error.
    pub(crate) notes: Vec<u8>,
}

/// One of the two streams of a command.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Notes,
}

/// Makes this process the program, with these words.
pub(crate) fn set_program(words: &[OsString]) {
    let _ = PROGRAM.set(words.to_vec());
}

/// Names the first words of a command that starts this program again.
pub(crate) fn set_starter(words: Vec<OsString>) {
    let _ = STARTER.set(words);
}

/// Returns a command that starts this program again.
///
/// # Errors
/// If the file of the process is not known.
pub(crate) fn again() -> io::Result<Command> {
    if let Some((program, words)) = STARTER.get().and_then(|words| words.split_first()) {
        let mut command = Command::new(program);
        command.args(words);
        return Ok(command);
    }
    std::env::current_exe().map(Command::new)
}

/// Returns the words of the command, the program's own name first.
pub(crate) fn words() -> Vec<OsString> {
    let of_call = CALL.with_borrow(|call| call.as_ref().map(|call| call.words.clone()));
    of_call.or_else(|| PROGRAM.get().cloned()).unwrap_or_default()
}

/// Returns the flag that ends the call of this thread early; `None` outside a call.
pub(crate) fn stop() -> Option<Arc<AtomicBool>> {
    CALL.with_borrow(|call| call.as_ref().map(|call| Arc::clone(&call.stop)))
}

/// Returns whether this thread works on a call that its caller has stopped.
pub(crate) fn is_stopped() -> bool {
    stop().is_some_and(|stop| stop.load(Ordering::SeqCst))
}

/// Works on a call with these words. Returns also what it printed.
pub(crate) fn during<T>(
    words: Vec<OsString>,
    stop: Arc<AtomicBool>,
    work: impl FnOnce() -> T,
) -> (T, Printed) {
    let call = Arc::new(Call { words, stop, printed: Mutex::default() });
    let done = Present(Some(Arc::clone(&call))).during(work);
    let mut printed = call.printed.lock().unwrap_or_else(PoisonError::into_inner);
    (done, std::mem::take(&mut *printed))
}

/// Returns the call of this thread.
pub(crate) fn present() -> Present {
    Present(CALL.with_borrow(Clone::clone))
}

impl Present {
    /// Works on the call on this thread.
    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        let before = CALL.replace(self.0.clone());
        let done = work();
        CALL.set(before);
        done
    }
}

/// Returns standard output.
pub(crate) fn stdout() -> Stream {
    Stream::Output
}

/// Returns standard error.
pub(crate) fn stderr() -> Stream {
    Stream::Notes
}

impl Stream {
    /// Writes to the call of this thread. Returns whether there is one.
    fn keep(self, bytes: &[u8]) -> bool {
        CALL.with_borrow(|call| {
            let Some(call) = call else { return false };
            let mut printed = call.printed.lock().unwrap_or_else(PoisonError::into_inner);
            match self {
                Stream::Output => printed.output.extend_from_slice(bytes),
                Stream::Notes => printed.notes.extend_from_slice(bytes),
            }
            true
        })
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            stream if stream.keep(bytes) => Ok(bytes.len()),
            Stream::Output => io::stdout().write(bytes),
            Stream::Notes => io::stderr().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Output => io::stdout().flush(),
            Stream::Notes => io::stderr().flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_keeps_its_words_and_what_it_prints() {
        let words = vec![OsString::from("n2sim"), OsString::from("list")];
        let stop = Arc::new(AtomicBool::new(false));
        let (read, printed) = during(words.clone(), Arc::clone(&stop), || {
            stdout().write_all(b"a row\n").expect("memory");
            stderr().write_all(b"a note\n").expect("memory");
            let inner = during(Vec::new(), Arc::default(), || stdout().write_all(b"inner"));
            assert_eq!(inner.1.output, b"inner");
            let call = present();
            std::thread::scope(|scope| {
                let help = || call.during(|| stderr().write_all(b"help\n"));
                scope.spawn(help).join().expect("it ends").expect("memory");
            });
            (self::words(), self::stop())
        });
        assert_eq!(read.0, words);
        assert!(read.1.is_some_and(|flag| Arc::ptr_eq(&flag, &stop)));
        assert_eq!(
            (printed.output, printed.notes),
            (b"a row\n".to_vec(), b"a note\nhelp\n".to_vec())
        );
        assert!(self::stop().is_none(), "no call is left");
    }
}
