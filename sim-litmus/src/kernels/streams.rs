//! Streams of loads and stores through more memory than the caches hold, and strides.

use super::assembly::POSITION;
use super::kernel::{Kernel, Layout};
use crate::pages::Pages::{self, Blocks, Small};

/// Bytes that the streams of a kernel go through together.
const BYTES: u64 = 64 << 20;
/// Further bytes, so that streams do not use the same sets.
const STAGGER: u64 = 576;
const SLACK: u64 = 64 << 10;
const LOAD: &str = "ldp q0, q1, [x14]\nldp q2, q3, [x14, #32]";
const STORE: &str = "stp q0, q1, [x14]\nstp q2, q3, [x14, #32]";

/// Returns the kernels.
pub(super) fn kernels() -> Vec<Kernel> {
    let mut kernels: Vec<Kernel> =
        [1, 2, 4, 8].map(|streams| loads(streams, Small)).into_iter().collect();
    kernels.push(loads(1, Blocks));
    // So many lines that dirty ones leave the L2 in every counted call.
    let stored = "stores of one full line in memory, which is not read";
    kernels.push(streams("store-stream", &[STORE], Small, stored).timed(16384, 8.0));
    let copied = "loads of one line in memory and stores of another";
    // A body has two streams, and a line of each is one round.
    kernels
        .push(streams("copy-stream", &[LOAD, STORE], Small, copied).of_rounds(1).timed(8192, 20.0));
    kernels.extend([128, 1024, 4160].map(stride));
    kernels
}

fn loads(count: usize, pages: Pages) -> Kernel {
    let huge = if pages == Blocks { "-huge" } else { "" };
    let what = match count {
        1 => "loads of one full line in memory; prefetches bring it in time".to_owned(),
        _ => format!(
            "loads of one full line in memory, from {count} streams in turn; prefetches bring it in time"
        ),
    };
    streams(&format!("load-stream-{count}{huge}"), &vec![LOAD; count], pages, &what)
        .timed(2048, 8.0)
}

/// Returns a kernel of streams that each access (X14) one line after the other.
fn streams(id: &str, accesses: &[&str], pages: Pages, what: &str) -> Kernel {
    let count = accesses.len() as u64;
    let each = BYTES / count;
    let mut enter = format!("ldr x4, [x2, #{POSITION}]\nmov x13, #{}\nmov x5, x0", each - 1);
    let mut body = String::new();
    for (i, access) in accesses.iter().enumerate() {
        if i > 0 {
            enter += &format!(
                "\nmov x14, #{each}\nadd x{}, x{}, x14\nadd x{0}, x{0}, #{STAGGER}",
                5 + i,
                4 + i
            );
        }
        body += &format!("add x14, x{}, x4\n{access}\n", 5 + i);
    }
    body += "add x4, x4, #64\nand x4, x4, x13";
    Kernel::new(id, format!("a round is {what}"), &body, 4)
        .of_rounds(count)
        .entered_by(&enter)
        .left_by(&format!("str x4, [x2, #{POSITION}]"))
        .with_memory(BYTES + SLACK, Layout::Empty, pages)
}

/// Returns a kernel that loads every so many bytes.
fn stride(bytes: u64) -> Kernel {
    let body = "ldr x3, [x0, x4]\nadd x4, x4, x15\nand x4, x4, x13";
    let enter = format!("ldr x4, [x2, #{POSITION}]\nmov x13, #{}\nmov x15, #{bytes}", BYTES - 1);
    let what = format!("a round is a load in memory, {bytes} bytes after the previous one");
    Kernel::new(format!("stride-{bytes}"), what, body, 8)
        .entered_by(&enter)
        .left_by(&format!("str x4, [x2, #{POSITION}]"))
        .with_memory(BYTES + SLACK, Layout::Empty, Small)
        .timed(2048, 30.0)
}
