//! Evaluator compared with another implementation, whose values `expressions/generate.py` computed.

use sim_core::PmuEvent;
use sim_metrics::formula::{Catalog, EventUse, Formula, Linked, Machine};

const TABLE: &str = include_str!("expressions/expected.tsv");
/// Largest relative rounding difference.
const TOLERANCE: f64 = 1e-12;

/// Returns the counts of the generator. Other events of the core were not counted.
fn count(event: &EventUse) -> Option<f64> {
    use PmuEvent::*;
    let value = match event.event()? {
        CPU_CYCLES => 1_000_003,
        INST_RETIRED => 1_700_011,
        INST_SPEC => 1_900_999,
        OP_RETIRED => 1_800_017,
        OP_SPEC => 2_100_013,
        STALL_SLOT => 2_900_002,
        STALL_SLOT_FRONTEND => 900_001,
        STALL_SLOT_BACKEND => 2_000_001,
        BR_MIS_PRED => 9001,
        BR_RETIRED => 200_003,
        LD_SPEC => 500_009,
        ST_SPEC | LL_CACHE_RD | LL_CACHE_MISS_RD => 0,
        L1D_CACHE => 700_001,
        L1D_CACHE_REFILL => 3001,
        _ => return None,
    };
    Some(f64::from(value))
}

/// Returns the value of this implementation, or `None` if the text is not an expression.
fn value(text: &str, patch: u8) -> Option<f64> {
    let formula = Formula::parse(text).ok()?;
    let linked = Linked::new(&formula, &Catalog::default()).expect("there are no metrics");
    let evaluation = linked.evaluate(&Machine::neoverse_n2(patch, 2), count);
    assert_eq!(
        evaluation.value.is_nan(),
        evaluation.nan_reason.is_some(),
        "{text}: NaN has a reason"
    );
    Some(evaluation.value)
}

fn agree(own: Option<f64>, expected: &str) -> bool {
    match (own, expected) {
        (None, "error") => true,
        (Some(own), "nan") => own.is_nan(),
        (Some(own), expected) => {
            let expected: f64 = expected.parse().expect("a number of the generator");
            own == expected || (own - expected).abs() <= TOLERANCE * expected.abs()
        }
        (None, _) => false,
    }
}

#[test]
fn values_equal_those_of_the_other_implementation() {
    let mut differences = Vec::new();
    let (mut values, mut errors) = (0, 0);
    for line in TABLE.lines() {
        let [revision, text, expected] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("three columns: {line}");
        };
        let patches: &[u8] =
            if revision == "*" { &[0, 3] } else { &[revision.as_bytes()[0] - b'0'] };
        for &patch in patches {
            let own = value(text, patch);
            if !agree(own, expected) {
                differences.push(format!("r0p{patch} {text}: {own:?}, expected {expected}"));
            }
        }
        if expected == "error" {
            errors += 1;
        } else {
            values += 1;
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(values >= 350 && errors >= 50, "{values} values and {errors} errors");
}

#[test]
fn malformed_text_does_not_panic() {
    let pieces = [
        "(",
        ")",
        "a if ",
        " else ",
        "-",
        "1",
        "NaN",
        "%",
        "/",
        ",",
        "min(",
        "#slots",
        "\\",
        "é",
        "@",
        "?",
        "strcmp_cpuid_str(",
        "0x",
        "1e",
        ".",
        "\0",
        "|",
        "ipc",
    ];
    let mut state = 1_u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..state % 12 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text.push_str(pieces[(state >> 33) as usize % pieces.len()]);
        }
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let _ = value(&text, 3);
    }
}
