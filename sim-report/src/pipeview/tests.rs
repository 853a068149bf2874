//! The view of operations of a scenario.

use sim_core::{DataSource, EventSink, LoadWait, Notice, Operation};
use sim_isa::Program;
use sim_machine::ConfigSource;
use sim_machine::observe::{Need, OpWindow};
use sim_scenario::{configure, parse_steps, walk_case};

use super::{PipeView, notes::notes};

/// `ldr x1, [x0], #8`, `cmp x0, x2`, `add x3, x1, x2`.
const WORDS: [u32; 3] = [0xF840_8401, 0xEB02_001F, 0x8B02_0023];

/// Returns a load that misses and updates its base, an operation that reads the base, and one
/// that reads the data.
fn post_indexed() -> PipeView {
    let [load, compare, add] = WORDS;
    let steps = format!("word {load:#x} 0x8000 & word {compare:#x} & word {add:#x}");
    let case = parse_steps(("given", "K1"), ("do", &steps)).expect("steps");
    let config = configure(&case, &ConfigSource::default()).expect("a machine");
    let walked = walk_case(&case, &config).expect("it runs");
    let operations: Vec<Operation> =
        walked.iter().flat_map(|step| step.operations.iter().copied()).collect();
    let mut program = Program::new();
    for (operation, word) in operations.iter().zip(WORDS) {
        assert_eq!(program.intern(operation.timeline.pc, word), operation.timeline.inst);
    }
    let mut watch = OpWindow::new(0, 0..3, &mut program);
    operations.iter().for_each(|operation| watch.notify(Notice::Operation(operation)));
    PipeView::new(String::from("t"), 0, 0..3, watch.finish())
}

#[test]
fn a_reader_of_an_updated_base_does_not_wait_for_the_data() {
    let view = post_indexed();
    let [load, compare, add] = &view.ops[..] else { panic!("three operations") };
    let (issue, data) = (load.operation.timeline.issue, load.operation.timeline.complete);
    assert!(data > issue + 300, "the data comes from memory");
    assert_eq!(compare.needs.len(), 1);
    assert!(compare.needs[0].ready <= issue + 1, "{:?}", compare.needs);
    assert!(compare.operation.timeline.issue <= issue + 2, "{:?}", compare.operation.timeline);
    assert_eq!(notes(&view, compare), Vec::<String>::new());
    assert_eq!(view.waited_for(add), Some(Need { place: 0, ready: data }));
    let waited = data - (add.operation.timeline.rename + 1);
    assert_eq!(notes(&view, add), [format!("waited {waited} cycles for 0")]);
}

/// Returns the operations of steps on warm TLBs and a machine with one refill buffer.
fn with_one_buffer(steps: &str) -> Vec<Operation> {
    let case = parse_steps(("given", "K1"), ("do", steps)).expect("steps");
    let overrides = [String::from("memory.l1d.mshrs=1")];
    let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
    let config = configure(&case, &source).expect("a machine");
    let walked = walk_case(&case, &config).expect("it runs");
    walked.iter().flat_map(|step| step.operations.iter().copied()).collect()
}

#[test]
fn a_load_reports_whether_it_waited_for_a_buffer_or_for_a_line() {
    let other_line = with_one_buffer("LD8 0x8000 & LD8 0x9000");
    assert_eq!(other_line[0].wait, LoadWait::default(), "the first finds all free");
    let first = other_line[0].timeline.complete - other_line[0].timeline.issue;
    let LoadWait { buffer, line } = other_line[1].wait;
    assert!(line == 0 && u64::from(buffer) + 10 > first, "{buffer} of {first}");
    let same_line = with_one_buffer("LD8 0x8000 & LD8 0x8008");
    let LoadWait { buffer, line } = same_line[1].wait;
    assert!(buffer == 0 && u64::from(line) + 10 > first, "{line} of {first}");
    let forwarded = with_one_buffer("LD8 0x8000 & ST8 0x8000 & LD8 0x8000");
    assert_eq!(forwarded[2].timeline.source, DataSource::StoreQueue);
    assert_eq!(forwarded[2].wait, LoadWait::default(), "its data never left the core");
}

#[test]
fn arrows_end_at_operations_that_waited() {
    let view = post_indexed();
    let figure = super::svg::draw(&view, &crate::Symbols::default());
    // The legend has one too, and each line is drawn a second time, below all bars.
    let arrow = "<path class=\"need stroke-orange\"";
    let rows = figure.lines().filter(|line| line.starts_with("<g class=\"row\">"));
    let ends = rows.filter(|line| line.contains(arrow)).count();
    assert_eq!(ends, 2, "{figure}");
    assert_eq!(figure.matches(arrow).count(), 2 * ends + 1, "{figure}");
}
