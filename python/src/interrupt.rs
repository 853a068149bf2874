//! Work on a thread of its own, for which the interpreter does not wait blindly.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;

/// Time between two looks for a signal.
const PERIOD: Duration = Duration::from_millis(50);
/// Stack of the thread in bytes: that of the main thread of a process.
const STACK: usize = 8 << 20;

/// Works without the interpreter and returns the result. If a handler of Python raises an exception
/// meanwhile, as that of Ctrl-C does, sets the flag of the work and returns the exception.
///
/// # Errors
/// The exception of the handler, or one that says that the work failed for a fault of n2sim.
pub(crate) fn wait_for<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(Arc<AtomicBool>) -> T + Send + 'static,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let (sender, receiver) = mpsc::channel();
    let receiver = Mutex::new(receiver);
    let run = move || {
        // An interrupted caller does not wait any more.
        let _ = sender.send(work(flag));
    };
    let builder = thread::Builder::new().name(String::from("n2sim")).stack_size(STACK);
    let thread = builder.spawn(run).map_err(|error| {
        PyOSError::new_err(format!("the thread for n2sim cannot be started: {error}"))
    })?;
    loop {
        let next = || receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(PERIOD);
        match py.detach(next) {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals().inspect_err(|_| stop.store(true, Ordering::SeqCst))?;
            }
            Err(RecvTimeoutError::Disconnected) => return Err(fault(thread)),
        }
    }
}

/// Returns the exception for work that panicked.
fn fault(thread: thread::JoinHandle<()>) -> PyErr {
    let payload = thread.join().err();
    let text = payload.as_ref().and_then(|payload| payload.downcast_ref::<String>());
    let text = text.map_or("a panic", String::as_str);
    PyRuntimeError::new_err(format!("a fault of n2sim, please report it: {text}"))
}
