//! Functions of the WebAssembly module. The page writes a text or a trace into the input, calls,
//! and reads the answer from the output.

// Only the names of the functions need it: no memory is accessed but through safe types.
#![allow(unsafe_code)]

use std::cell::RefCell;

use crate::Playground;

/// The module's state: there is one page, on one thread.
#[derive(Default)]
struct Module {
    playground: Playground,
    input: Vec<u8>,
    output: Vec<u8>,
}

thread_local! {
    static MODULE: RefCell<Module> = RefCell::default();
}

/// Makes room for `bytes` of input and returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn n2sim_input(bytes: usize) -> *mut u8 {
    MODULE.with_borrow_mut(|module| {
        module.input = vec![0; bytes];
        module.input.as_mut_ptr()
    })
}

/// Keeps the input as the trace of later requests.
#[unsafe(no_mangle)]
pub extern "C" fn n2sim_trace() {
    MODULE.with_borrow_mut(|module| {
        let bytes = std::mem::take(&mut module.input);
        module.playground.set_trace(bytes);
    });
}

/// Answers the request in the input. Returns the length of the answer in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn n2sim_answer() -> usize {
    MODULE.with_borrow_mut(|module| {
        let request = std::mem::take(&mut module.input);
        let answer = module.playground.answer(&String::from_utf8_lossy(&request));
        module.output = answer.into_bytes();
        module.output.len()
    })
}

/// Returns the address of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn n2sim_output() -> *const u8 {
    MODULE.with_borrow(|module| module.output.as_ptr())
}
