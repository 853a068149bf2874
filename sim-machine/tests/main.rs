//! The machine from outside: modes, threads, exceptions, page maps and host memory.

mod causal;
mod exceptions;
mod host_memory;
mod modes;
mod page_map;
mod processors;
mod quanta;
mod ranges;
mod shared_cores;
mod thread_scheduler;
