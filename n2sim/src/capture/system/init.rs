//! The first program of the recorded system: mounts what programs expect, starts the program to
//! record between the two markers, and turns the machine off.
//!
//! The program is generated here word by word, so no compiler and no other file is needed. It does
//! not use its stack and lies where no other program lies. It therefore shares no page with the
//! program to record.

use super::super::elf;
use super::super::wire::{START_MARKER, STOP_MARKER};

/// The load address.
const BASE: u64 = 0x70_0000_0000;
/// Offset of the data from the load address. The headers and the code fit before it.
const DATA_AT: u64 = 0x1000;
/// Room in the data for what the kernel writes.
const SCRATCH_BYTES: u64 = 256;
/// Name of the file that the program reads as its standard input.
pub(super) const STDIN: &str = "/.n2sim-stdin";
/// Exit status of a program that could not be started, as in shells.
const CANNOT_START: u64 = 127;

/// System calls of Linux on AArch64.
mod call {
    pub(super) const IOCTL: u16 = 29;
    pub(super) const MOUNT: u16 = 40;
    pub(super) const OPENAT: u16 = 56;
    pub(super) const DUP3: u16 = 24;
    pub(super) const EXIT: u16 = 93;
    pub(super) const REBOOT: u16 = 142;
    pub(super) const CLONE: u16 = 220;
    pub(super) const EXECVE: u16 = 221;
    pub(super) const WAIT4: u16 = 260;
}

const TCGETS: u64 = 0x5401;
const TCSETS: u64 = 0x5402;
const TCSBRK: u64 = 0x5409;
const SIGCHLD: u64 = 17;
const AT_FDCWD: u64 = 100u64.wrapping_neg();

/// Code and data that grow.
#[derive(Debug, Default)]
struct Builder {
    words: Vec<u32>,
    data: Vec<u8>,
}

impl Builder {
    /// Appends bytes to the data. Returns their address.
    fn bytes(&mut self, bytes: &[u8]) -> u64 {
        let at = BASE + DATA_AT + self.data.len() as u64;
        self.data.extend_from_slice(bytes);
        self.data.resize(self.data.len().next_multiple_of(8), 0);
        at
    }

    fn text(&mut self, text: &str) -> u64 {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        self.bytes(&bytes)
    }

    /// Writes an array of pointers to texts that ends with a null pointer. Returns its address.
    fn texts(&mut self, texts: &[String]) -> u64 {
        let mut pointers: Vec<u64> = texts.iter().map(|text| self.text(text)).collect();
        pointers.push(0);
        self.bytes(&pointers.iter().flat_map(|p| p.to_le_bytes()).collect::<Vec<u8>>())
    }

    /// Loads a value with `movz` and `movk` as needed.
    fn load(&mut self, register: u32, value: u64) {
        self.words.push(0xd280_0000 | (value as u32 & 0xffff) << 5 | register);
        for half in 1..4u32 {
            let bits = (value >> (16 * half)) as u32 & 0xffff;
            if bits != 0 {
                self.words.push(0xf280_0000 | half << 21 | bits << 5 | register);
            }
        }
    }

    /// Makes a system call with these arguments.
    fn call(&mut self, number: u16, arguments: &[u64]) {
        for (register, argument) in (0..).zip(arguments) {
            self.load(register, *argument);
        }
        self.load(8, number.into());
        self.words.push(0xd400_0001); // svc #0
    }
}

/// Returns the program's file. `program` is its name in the system; `arguments` begin with its name
/// for itself.
pub(super) fn program(program: &str, arguments: &[String], environment: &[String]) -> Vec<u8> {
    let mut b = Builder::default();
    let scratch = b.bytes(&[0; SCRATCH_BYTES as usize]);
    for (kind, place) in [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev")] {
        let (kind, place) = (b.text(kind), b.text(place));
        b.call(call::MOUNT, &[kind, place, kind, 0, 0]);
    }
    // The console must pass bytes on unchanged: clear OPOST in c_oflag.
    b.call(call::IOCTL, &[1, TCGETS, scratch]);
    b.load(1, scratch);
    b.words.extend([
        0xb940_0422, // ldr w2, [x1, #4]
        0x121f_7842, // and w2, w2, #0xfffffffe
        0xb900_0422, // str w2, [x1, #4]
    ]);
    b.call(call::IOCTL, &[1, TCSETS, scratch]);
    let stdin = b.text(STDIN);
    b.call(call::OPENAT, &[AT_FDCWD, stdin, 0, 0]);
    b.load(1, 0);
    b.load(2, 0);
    b.load(8, call::DUP3.into());
    b.words.push(0xd400_0001);
    let program = b.text(program);
    let arguments = b.texts(arguments);
    let environment = b.texts(environment);
    b.call(call::CLONE, &[SIGCHLD, 0, 0, 0, 0]);
    let fork = b.words.len();
    b.words.push(0); // cbnz x0, parent
    // The recording begins with the block after the marker.
    b.words.extend([START_MARKER, 0x1400_0001]); // b .+4
    b.call(call::EXECVE, &[program, arguments, environment]);
    b.call(call::EXIT, &[CANNOT_START]);
    let parent = b.words.len();
    b.words[fork] = 0xb500_0000 | ((parent - fork) as u32) << 5;
    b.words.push(0xaa00_03f3); // mov x19, x0
    let again = b.words.len();
    b.call(call::WAIT4, &[u64::MAX, scratch, 0, 0]);
    b.words.push(0xeb13_001f); // cmp x0, x19
    let back = (again as u32).wrapping_sub(b.words.len() as u32) & 0x7ffff;
    b.words.push(0x5400_0001 | back << 5); // b.ne again
    b.load(1, scratch);
    b.words.extend([0xb940_0020, STOP_MARKER]); // ldr w0, [x1]
    b.call(call::IOCTL, &[1, TCSBRK, 1]);
    b.call(call::REBOOT, &[0xfee1_dead, 0x2812_1969, 0x4321_fedc, 0]);
    b.words.push(0x1400_0000); // b .
    file(&b)
}

/// Returns the file of code and data.
fn file(built: &Builder) -> Vec<u8> {
    let mut content = elf::bytes_of(&built.words);
    let room = (DATA_AT - elf::HEADERS) as usize;
    assert!(content.len() <= room, "the code fits before the data");
    content.resize(room, 0);
    content.extend_from_slice(&built.data);
    elf::program(BASE, elf::ALL, &content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use elf::HEADERS;
    use object::{Object, ObjectSegment};

    #[test]
    fn it_is_an_aarch64_program_with_both_markers_and_its_texts() {
        let arguments = ["./a".to_owned(), "b c".to_owned()];
        let elf = program("/bin/a", &arguments, &["HOME=/".to_owned()]);
        let object = object::File::parse(&*elf).expect("it is an ELF file");
        assert_eq!(object.architecture(), object::Architecture::Aarch64);
        assert_eq!(object.entry(), BASE + HEADERS);
        let segment = object.segments().next().expect("it has a segment");
        assert_eq!((segment.address(), segment.size()), (BASE, elf.len() as u64));
        let code = &elf[HEADERS as usize..DATA_AT as usize];
        let words: Vec<u32> =
            code.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        for marker in [START_MARKER, STOP_MARKER] {
            assert_eq!(words.iter().filter(|word| **word == marker).count(), 1);
        }
        for text in ["/bin/a\0", "./a\0", "b c\0", "HOME=/\0"] {
            assert!(elf.windows(text.len()).any(|window| window == text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn the_branches_go_where_they_should() {
        let elf = program("/p", &["p".to_owned()], &[]);
        let words: Vec<u32> = elf[HEADERS as usize..]
            .as_chunks::<4>()
            .0
            .iter()
            .map(|b| u32::from_le_bytes(*b))
            .collect();
        let place = |word: u32| words.iter().position(|w| *w == word).expect("it is there");
        let fork = words.iter().position(|w| w & 0xff00_001f == 0xb500_0000).expect("cbnz x0");
        // The parent keeps the child's number first.
        assert_eq!(fork + (words[fork] >> 5 & 0x7ffff) as usize, place(0xaa00_03f3));
        let back = words.iter().position(|w| w & 0xff00_001f == 0x5400_0001).expect("b.ne");
        let distance = (words[back] << 8).cast_signed() >> 13;
        // Back to the next word: the first of the wait.
        assert_eq!(back as i32 + distance, place(0xaa00_03f3) as i32 + 1);
    }
}
