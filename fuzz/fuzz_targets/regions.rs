//! Fuzzes window files: reads, writes and reads them again, and estimates a run from the windows.
//! Nothing may panic or hang, and no number of an estimate may be NaN.
//!
//! Run: `cargo xtask fuzz regions`

#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use sim_core::{Counts, EventSink, Packed, PmuEvent};
use sim_lab::estimate::Machine;
use sim_lab::{Estimate, Regions};
use sim_machine::{CoreOutcome, Outcome};

/// Largest number of windows for an estimate.
const WINDOWS: usize = 100;
/// Largest number of instructions for an estimate. No trace is longer.
const INSTRUCTIONS: u64 = 1 << 44;

fuzz_target!(|data: &[u8]| -> Corpus {
    let Ok(text) = std::str::from_utf8(data) else { return Corpus::Reject };
    match Regions::parse("windows.toml", text) {
        Ok(regions) => {
            let again = Regions::parse("windows.toml", &regions.to_string());
            assert_eq!(again.expect("what was written is read"), regions);
            if regions.windows.len() <= WINDOWS && regions.instructions <= INSTRUCTIONS {
                estimate(&regions);
            }
        }
        Err(error) => assert!(error.to_string().starts_with("windows.toml: ")),
    }
    Corpus::Keep
});

fn estimate(regions: &Regions) {
    // Estimate for the machine of the file and for another one.
    let own = regions.known_on.as_deref().and_then(|hash| u64::from_str_radix(hash, 16).ok());
    let windows: Vec<Outcome> = (0..regions.windows.len()).map(outcome).collect();
    for (warm, is_warm) in [(own.unwrap_or(0), true), (own.unwrap_or(0), false), (1, false)] {
        let machine = Machine { warm, is_warm };
        let estimate = Estimate::new(&windows, regions, machine).expect("there is a window");
        assert!(estimate.errors.iter().all(|error| !error.is_nan() && *error >= 0.0));
    }
}

/// Returns the outcome of a window with a count for every event.
fn outcome(number: usize) -> Outcome {
    let mut counts = Counts::default();
    for (place, event) in PmuEvent::ALL.into_iter().enumerate() {
        counts.count(event, (number * 31 + place * 17) as u64 % 97);
    }
    let core =
        CoreOutcome { is_counted: true, counts: Packed::from(&counts), ..CoreOutcome::default() };
    Outcome { cores: vec![core], clock_hz: 1, ..Outcome::default() }
}
