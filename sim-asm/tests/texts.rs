//! Texts with labels, data and faults.

use proptest::prelude::*;
use sim_asm::{CODE, DATA, EXAMPLES, FORMS, LARGE_DATA, Limits, RunFault, Stop, assemble, run};

use crate::encoding::{corpus, single};

const LIMITS: Limits = Limits { instructions: 200_000, memory: 16 << 20 };

fn x(text: &str, number: usize) -> u64 {
    run(&single(text), LIMITS).unwrap_or_else(|error| panic!("{text}: {error}")).registers.x[number]
}

fn fault(text: &str) -> String {
    assemble(text).expect_err(text).to_string()
}

#[test]
fn the_examples_return_and_begin_with_two_lines_that_say_what_to_look_at() {
    assert_eq!(EXAMPLES.len(), 6);
    for (name, text) in EXAMPLES {
        let run = run(&single(text), LIMITS).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(run.stopped, Stop::Return, "{name}");
        assert!(run.executed.len() > 1000, "{name}");
        let comments = text.lines().take_while(|line| line.starts_with("// ")).count();
        assert_eq!(comments, 2, "{name}");
    }
}

#[test]
fn labels_and_data_have_the_addresses_of_their_sections() {
    let text = "\
        .data
        a:  .byte 1, 2
        b:  .quad -1, a, c + 8
        big: .space 8000000
        .align 6
        tail:
        .text
        c:  ldr x0, =b
        ldr x1, [x0, #8]
        ldr x2, [x0, #16]
        adr x3, big
        adr x4, c
        adrp x5, b
        add x5, x5, :lo12:b
        ldr x6, [x5, :lo12:a]
        ldr x7, =tail
        ldr x8, =end
        end:";
    let program = single(text);
    let registers = run(&program, LIMITS).expect("all addresses are in memory").registers;
    let expected =
        [DATA + 8, DATA, CODE + 8, LARGE_DATA, CODE, DATA + 8, u64::MAX, LARGE_DATA + 8_000_000];
    assert_eq!(registers.x[..8], expected);
    let end = program.labels.iter().find(|label| label.name == "end").expect("a label at the end");
    assert_eq!((registers.x[8], end.is_code), (end.address, true));
    assert_eq!(end.address, CODE + 4 * program.words().len() as u64);
}

#[test]
fn a_value_of_any_size_is_loaded() {
    for value in [0, 1, 0xffff, 0x1_0000, 0x1234_5678_9abc_def0, u64::MAX, u64::MAX - 1, 1 << 63] {
        assert_eq!(x(&format!("ldr x3, ={value:#x}"), 3), value);
    }
    assert_eq!(x("ldr x3, =-2", 3), u64::MAX - 1);
    assert_eq!(x("ldr w3, =-2", 3), 0xffff_fffe);
    assert_eq!(x("ldr x3, =1.5", 3), 1.5_f64.to_bits());
}

#[test]
fn comments_and_directives_of_compilers_are_left_out() {
    let text = "# one\n; two\n  // three\n.global f\n.type f, %function\n\
        .ident \"GCC: (Debian 12.2.0-14) 12.2.0\"\nf: mov x0, 7 // four\n.cfi_endproc\n";
    assert_eq!(x(text, 0), 7);
}

#[test]
fn a_fault_has_its_place_the_nearest_name_and_an_example() {
    assert_eq!(
        fault("nop\n  ad x0, x1, #4"),
        "2:3: ad is not a known instruction; the nearest known name is add; example: add x0, x1, #4"
    );
    assert_eq!(fault("ldr x0, [x1, #3"), "1:16: ] is missing at the end of the address");
    assert_eq!(
        fault("add x0, w1, #4"),
        "1:9: both registers are x, or both are w; example: add x0, x1, #4"
    );
    assert_eq!(
        fault("str x0, [x1, #32768]"),
        "1:1: the offset 32768 must be a multiple of 8 from 0 to 32760; example: str x0, [x1], #8"
    );
    assert_eq!(
        fault("b lop\nloop: nop"),
        "1:3: no line begins with the label lop: (the nearest is loop:); example: b loop"
    );
    assert_eq!(fault("a: nop\na: nop"), "2:1: the label a is already in line 1");
    assert_eq!(
        fault("mov x0, #0x12345"),
        "1:9: no single instruction moves 0x12345: write ldr x0, =0x12345, which becomes several; \
         example: mov x0, #100"
    );
    assert!(fault("x: .quad 1").starts_with("1:4: .quad is for data: write .data before it"));
    assert!(fault(".data\nnop").starts_with("2:1: nop is not a directive of data"));
    assert!(fault("mov x0, 99999999999999999999").contains("at most 64 bits"));
}

#[test]
fn a_run_ends_with_the_reason() {
    let stopped = |text| run(&single(text), LIMITS).expect("no fault").stopped;
    assert_eq!(stopped(""), Stop::End);
    assert_eq!(stopped("nop"), Stop::End);
    assert_eq!(stopped("bl f\nsvc #0\nf: ret"), Stop::Halt);
    assert_eq!(stopped("ret"), Stop::Return);
    assert_eq!(stopped("hlt #0"), Stop::Halt);
    assert_eq!(stopped("l: b l"), Stop::Limit);
    assert_eq!(run(&single("l: b l"), LIMITS).expect("no fault").executed.len(), 200_000);
}

#[test]
fn a_run_with_a_fault_names_the_line_and_the_address() {
    let error = |text| run(&single(text), LIMITS).expect_err(text);
    assert_eq!(error("nop\nldr x0, [x1]").fault, RunFault::Address(0));
    assert_eq!(error("nop\nldr x0, [x1]").line, 2);
    assert_eq!(error("ldr x0, =l\nl: str x0, [x0]").fault, RunFault::Code(CODE + 8));
    assert_eq!(error("mov x1, #64\nbr x1").fault, RunFault::Target(64));
    let unaligned = "ldr x1, =0x10001\nldadd x2, x3, [x1]";
    assert_eq!(error(unaligned).fault, RunFault::Unaligned { address: 0x1_0001, bytes: 8 });
    let much = "mov x1, #0x10000000\nl: str x1, [x1]\nadd x1, x1, #4096\nb l";
    assert_eq!(error(much).fault, RunFault::Memory(LIMITS.memory));
}

/// Lines that are instructions, nearly instructions, or noise.
fn lines() -> impl Strategy<Value = String> {
    let rows: Vec<&str> = corpus().map(|(_, text)| text).collect();
    let names: Vec<&str> = FORMS.iter().flat_map(|forms| forms.iter()).map(|f| f.name).collect();
    let operands = [
        "x0",
        "w1",
        "sp",
        "xzr",
        "d2",
        "q3",
        "v4.4s",
        "#1",
        "-9223372036854775808",
        "0xffffffffffffffff",
        "[x1]",
        "[x1, #8]!",
        "[sp], #16",
        "[x1, x2, lsl #3]",
        "=a",
        "=5",
        "a",
        ".",
        ":lo12:a",
        "lsl #70",
        "eq",
        "1.5",
        "uxtw",
        "[[x1]]",
        "a+9223372036854775807",
        "pldl1keep",
        "",
    ];
    prop_oneof![
        6 => prop::sample::select(rows).prop_map(str::to_owned),
        4 => (prop::sample::select(names), prop::collection::vec(prop::sample::select(operands.to_vec()), 0..5))
            .prop_map(|(name, operands)| format!("{name} {}", operands.join(", "))),
        1 => prop::sample::select(vec![
            "a:", ".data", ".text", ".align 4", ".space 100000000", ".quad a, 1", ".byte 300", ".balign 0",
            ".space 5, 7", "b: .double 1e400", ".section", ".align 70",
        ]).prop_map(str::to_owned),
        1 => "\\PC{0,40}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_text_panics(text in "(\\PC|[\\n\\t ,\\[\\]#=:x0-9a-z.]){0,120}") {
        if let Ok(program) = assemble(&text) {
            let _ = run(&program, Limits { instructions: 1000, memory: 1 << 20 });
        }
    }

    #[test]
    fn no_program_panics(lines in prop::collection::vec(lines(), 1..12)) {
        let good: Vec<&str> =
            lines.iter().map(String::as_str).filter(|line| assemble(line).is_ok()).collect();
        for text in [lines.join("\n"), good.join("\n")] {
            if let Ok(program) = assemble(&text) {
                let limits = Limits { instructions: 1000, memory: 1 << 20 };
                if let Ok(run) = run(&program, limits) {
                    let follows = run.executed.windows(2).all(|pair| pair[0].next_pc == pair[1].pc);
                    prop_assert!(follows);
                }
            }
        }
    }
}
