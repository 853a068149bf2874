//! Small drawing of repeated counts beside their claim.

use maud::{Markup, html};
use sim_litmus::JudgedClaim;

const WIDTH: f64 = 220.0;
const HEIGHT: f64 = 40.0;
/// Space left and right of the drawing.
const EDGE: f64 = 8.0;
/// Middle of the drawing, above the scale.
const MIDDLE: f64 = 13.0;

/// Returns the repetitions as circles on a scale, over the band of the claim.
pub(super) fn drawing(claim: &JudgedClaim) -> Markup {
    let scale = Scale::of(claim);
    let [from, to] = [scale.at(scale.band[0]), scale.at(scale.band[1])];
    let repeats: Vec<String> = claim.repeats.iter().map(|count| format!("{count:.2}")).collect();
    let name = format!(
        "Counts for one round: {}; claimed {}",
        repeats.join(", "),
        super::super::judged::model(claim)
    );
    html! {
        svg.repeats viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } width=(WIDTH) height=(HEIGHT) role="img" aria-label=(name) {
            rect class="fill-blue-tint" x=(from) y=(MIDDLE - 10.0) width=(to - from) height="20" {}
            path class="stroke-blue" d={ "M" (from) " 3v20M" (to) " 3v20" } {}
            path class="stroke-line" d={ "M" (EDGE) " 25H" (WIDTH - EDGE) } {}
            @for count in &claim.repeats {
                circle class="stroke-ink" cx=(scale.at(*count)) cy=(MIDDLE) r="4" {}
            }
            text class="fill-quiet" x=(EDGE) y="38" { (short(scale.low)) }
            text class="fill-quiet" x=(WIDTH - EDGE) y="38" text-anchor="end" { (short(scale.high)) }
        }
    }
}

/// Returns the meaning of the signs of a drawing.
pub(super) fn legend() -> Markup {
    html! {
        svg.sign viewBox="0 0 26 20" width="26" height="20" aria-hidden="true" {
            rect class="fill-blue-tint" x="2" y="1" width="22" height="18" {}
            path class="stroke-blue" d="M2 1v18M24 1v18" {}
        }
        " what the claim allows, with its tolerance; "
        svg.sign viewBox="0 0 12 20" width="12" height="20" aria-hidden="true" {
            circle class="stroke-ink" cx="6" cy="10" r="4" {}
        }
        " the count of one repetition, on a scale in counts for one round"
    }
}

/// Scale of a drawing, in counts.
struct Scale {
    low: f64,
    high: f64,
    /// Counts that agree.
    band: [f64; 2],
}

impl Scale {
    fn of(claim: &JudgedClaim) -> Scale {
        let (expected, left) = (claim.expected(), claim.left as f64);
        let least = expected.min as f64 + left - claim.tolerance;
        let most = match expected.max {
            u64::MAX => f64::INFINITY,
            max => max as f64 + left + claim.tolerance,
        };
        let counts = || claim.repeats.iter().copied();
        let low = counts().fold(least, f64::min);
        let high = counts().fold(if most.is_finite() { most } else { least }, f64::max);
        let high = if high > low { high } else { low + 1.0 };
        Scale { low, high, band: [least, most.min(high)] }
    }

    /// Returns the place of a count, in whole tenths so that the file stays small.
    fn at(&self, count: f64) -> f64 {
        let share = (count - self.low) / (self.high - self.low);
        ((EDGE + share * (WIDTH - 2.0 * EDGE)) * 10.0).round() / 10.0
    }
}

fn short(count: f64) -> String {
    if count.abs() < 100.0 { format!("{count:.2}") } else { format!("{count:.0}") }
}
