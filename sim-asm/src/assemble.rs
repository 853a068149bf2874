//! From text to a program: lines are parsed, then places are given, then words are made.

use sim_isa::encode::{Instruction, Width};

use crate::data::{self, Cursor, Directive};
use crate::error::{AsmError, Fault};
use crate::forms::{Args, all, form, move_sequence};
use crate::labels::Labels;
use crate::nearest::nearest;
use crate::parse::{General, Operand, Statement, Value, line};
use crate::program::{CODE, Code, Label, Program};

/// Largest number of instructions: the code then ends below the large data.
const INSTRUCTIONS: usize = 1 << 20;

/// A statement with its section and place.
struct Item {
    line: u32,
    statement: Statement,
    directive: Option<Directive>,
    in_text: bool,
    /// Address of its first byte.
    address: u64,
    /// Names of the labels of code before it.
    labels: Vec<String>,
}

/// Assembles a text.
///
/// One line holds labels (`name:`), then a directive or an instruction; comments begin with `//` or
/// `;`, and at the start of a line with `#`. Code is at [`CODE`], data are at [`crate::DATA`].
/// `ldr x0, =value` loads any value or label by up to four instructions, and so does
/// `adr x0, label` for a label of data. `.align n` aligns to 2 to the power of n bytes.
///
/// # Errors
///
/// For the first line with a fault.
///
/// ```
/// use sim_asm::assemble;
/// let program = assemble(".data\na: .quad 1, 2\n.text\nldr x0, =a\nldr x1, [x0, #8]")?;
/// assert_eq!(program.words().collect::<Vec<_>>(), [0xd2a0_0020, 0xf940_0401]);
/// let error = assemble("add x0, x1").expect_err("an operand is missing");
/// assert_eq!(error.to_string(), "1:11: a number is missing; example: add x0, x1, #4");
/// # Ok::<(), sim_asm::AsmError>(())
/// ```
pub fn assemble(text: &str) -> Result<Program, AsmError> {
    let mut labels = Labels::default();
    let mut cursor = Cursor::new();
    let mut items = parse(text, &mut labels, &mut cursor)?;
    place_code(&mut items, &mut labels)?;
    let mut program = Program { data_end: cursor.next, ..Program::default() };
    for item in &items {
        emit(item, &labels, &mut program).map_err(|fault| located(fault, item))?;
    }
    program.labels = labels.into_sorted();
    Ok(program)
}

/// Parses all lines; gives data and their labels a place.
fn parse(text: &str, labels: &mut Labels, cursor: &mut Cursor) -> Result<Vec<Item>, AsmError> {
    let mut items: Vec<Item> = Vec::new();
    let mut in_text = true;
    let mut waiting: Vec<(String, u32, u32)> = Vec::new();
    for (index, text) in text.lines().enumerate() {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        let plain = |fault| error(fault, number, None);
        let parsed = line(text).map_err(plain)?;
        waiting.extend(parsed.labels.into_iter().map(|(name, column)| (name, column, number)));
        let Some(statement) = parsed.statement else { continue };
        if let Some(section) = section(&statement) {
            items.extend(end(&mut waiting, labels, cursor.next, in_text)?);
            in_text = section;
            continue;
        }
        let directive = data::directive(&statement).map_err(plain)?;
        let mut item =
            Item { line: number, statement, directive, in_text, address: CODE, labels: Vec::new() };
        if in_text {
            check_text(&item)?;
            item.labels = waiting.iter().map(|(name, ..)| name.clone()).collect();
        } else {
            let directive = directive.ok_or_else(|| located(no_data(&item.statement), &item))?;
            item.address =
                cursor.place(directive, &item.statement).map_err(|fault| located(fault, &item))?;
        }
        settle(&mut waiting, labels, item.address, in_text)?;
        items.push(item);
    }
    items.extend(end(&mut waiting, labels, cursor.next, in_text)?);
    Ok(items)
}

/// Adds labels after the last statement of a section, which name its end. Those of code get an
/// empty statement.
fn end(
    waiting: &mut Vec<(String, u32, u32)>,
    labels: &mut Labels,
    data_end: u64,
    in_text: bool,
) -> Result<Option<Item>, AsmError> {
    let names: Vec<String> = waiting.iter().map(|(name, ..)| name.clone()).collect();
    settle(waiting, labels, if in_text { CODE } else { data_end }, in_text)?;
    if !in_text || names.is_empty() {
        return Ok(None);
    }
    let statement =
        Statement { name: ".align".to_owned(), column: 1, operands: Vec::new(), end: 1 };
    let directive = Some(Directive::Align(1));
    Ok(Some(Item { line: 0, statement, directive, in_text, address: CODE, labels: names }))
}

/// Returns true for the section of code, false for one of data, `None` for other statements.
fn section(statement: &Statement) -> Option<bool> {
    let first = statement.operands.first().map(|placed| &placed.operand);
    let name = match (statement.name.as_str(), first) {
        (".section", Some(Operand::Value(Value::Label { name, .. }))) => name.as_str(),
        (name, _) => name,
    };
    match name {
        ".text" => Some(true),
        ".data" | ".bss" | ".rodata" => Some(false),
        _ => None,
    }
}

/// Adds labels that wait for their statement. Those of code get their address later.
fn settle(
    waiting: &mut Vec<(String, u32, u32)>,
    labels: &mut Labels,
    address: u64,
    is_code: bool,
) -> Result<(), AsmError> {
    for (name, column, line) in waiting.drain(..) {
        let label = Label { name, address, line, is_code };
        labels.add(label, column).map_err(|fault| error(fault, line, None))?;
    }
    Ok(())
}

fn no_data(statement: &Statement) -> Fault {
    let text = format!("{} is not a directive of data: write .text before code", statement.name);
    Fault { column: statement.column, message: text, unknown: Some(statement.name.clone()) }
}

/// Fails for names that no instruction has and for data among the code.
fn check_text(item: &Item) -> Result<(), AsmError> {
    let Statement { name, column, .. } = &item.statement;
    match item.directive {
        Some(Directive::Align(_)) => Ok(()),
        Some(_) => {
            let text = format!("{name} is for data: write .data before it");
            Err(located(Fault::new(*column, text), item))
        }
        None if form(name).is_some() => Ok(()),
        None => {
            let kind = if name.starts_with('.') { "directive" } else { "instruction" };
            let message = format!("{name} is not a known {kind}");
            let unknown = Some(name.clone());
            Err(located(Fault { column: *column, message, unknown }, item))
        }
    }
}

/// Gives each instruction and label of code its address.
fn place_code(items: &mut [Item], labels: &mut Labels) -> Result<(), AsmError> {
    let mut next = CODE;
    for item in items.iter_mut().filter(|item| item.in_text) {
        if let Some(Directive::Align(bytes)) = item.directive {
            next = next.next_multiple_of(bytes.max(4));
        }
        item.address = next;
        for name in &item.labels {
            labels.place(name, next);
        }
        if item.directive.is_none() {
            let count = sequence(&item.statement, labels)
                .map_err(|fault| located(fault, item))?
                .map_or(1, |sequence| sequence.len());
            next += 4 * count as u64;
        }
        if next > CODE + 4 * INSTRUCTIONS as u64 {
            let text = format!("more than {INSTRUCTIONS} instructions");
            return Err(located(Fault::new(1, text), item));
        }
    }
    Ok(())
}

/// Returns the instructions that load `=value`, or the address of data by `adr`; `None` for other
/// statements.
fn sequence(statement: &Statement, labels: &Labels) -> Result<Option<Vec<Instruction>>, Fault> {
    let [first, second] = statement.operands.as_slice() else { return Ok(None) };
    let Operand::General(register) = first.operand else { return Ok(None) };
    let value = match (statement.name.as_str(), &second.operand) {
        ("ldr", Operand::Literal(value)) => value,
        ("adr", Operand::Value(value @ Value::Label { name, .. })) => {
            if name == "." || labels.get(name, second.column)?.is_code {
                return Ok(None);
            }
            value
        }
        _ => return Ok(None),
    };
    let General { width, number, is_sp: false } = register else {
        return Err(Fault::new(first.column, "sp is not possible here: mov sp, x0"));
    };
    let bits = labels.bits(value, second.column)?;
    let is_negative = bits >> 31 == u64::MAX >> 31;
    if width == Width::W && bits >> 32 != 0 && !is_negative {
        return Err(Fault::new(second.column, "the value does not fit 32 bits"));
    }
    let bits = if width == Width::W { bits & 0xffff_ffff } else { bits };
    // The address of code is not yet known when the sequence is placed, but it has 32 bits.
    let least = if labels.is_code(value) { 2 } else { 0 };
    if least > 0 && bits >> 32 != 0 {
        return Err(Fault::new(second.column, "the address does not fit 32 bits"));
    }
    Ok(Some(move_sequence(width, number, bits, least)))
}

/// Appends the words or bytes of an item.
fn emit(item: &Item, labels: &Labels, program: &mut Program) -> Result<(), Fault> {
    let Item { statement, line, address, .. } = item;
    if !item.in_text {
        let Some(directive) = item.directive else { return Ok(()) };
        let bytes = data::bytes(directive, statement, labels)?;
        if !bytes.is_empty() {
            program.data.push((*address, bytes));
        }
        return Ok(());
    }
    let mut append = |instruction: Instruction| {
        let word = instruction.word();
        let word = word.map_err(|fault| Fault::new(statement.column, fault.0))?;
        program.code.push(Code { instruction, word, line: *line });
        Ok(())
    };
    if item.directive.is_some() {
        let end = program.end();
        return (end..*address).step_by(4).try_for_each(|_| {
            program.code.push(Code { instruction: Instruction::Nop, word: NOP, line: *line });
            Ok(())
        });
    }
    if let Some(sequence) = sequence(statement, labels)? {
        return sequence.into_iter().try_for_each(append);
    }
    let Some(form) = form(&statement.name) else { return Ok(()) };
    let mut args = Args::new(statement, labels, *address);
    let instruction = (form.build)(&mut args)?;
    args.finish()?;
    append(instruction)
}

/// Filler of aligned code.
const NOP: u32 = 0xd503_201f;

fn located(fault: Fault, item: &Item) -> AsmError {
    error(fault, item.line, Some(&item.statement.name))
}

/// Adds the line, the nearest known name and an example.
fn error(fault: Fault, line: u32, mnemonic: Option<&str>) -> AsmError {
    let names = all().map(|form| form.name).chain(data::NAMES);
    let nearest = fault.unknown.as_deref().and_then(|name| nearest(name, names));
    let name = nearest.or(mnemonic).unwrap_or_default();
    let example = form(name).map(|form| form.example).or(data::example(name));
    AsmError { line, column: fault.column, message: fault.message, nearest, example }
}
