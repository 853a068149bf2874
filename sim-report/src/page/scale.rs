//! Scale of colors for amounts in a figure: five steps up to the largest amount, with a legend.
//! Steps are equal, or logarithmic.

use std::fmt::Write;

use maud::{Markup, html};

use super::palette::Color;
use crate::perf_stat::grouped;

/// Width of a letter, in pixels.
const LETTER: usize = 8;
/// Steps of a scale.
const STEPS: usize = 5;
/// Legend of a scale without an amount.
const NONE: &str = "all 0";

/// Largest amount over the median from which on steps are logarithmic. With equal steps, most
/// amounts would be in the first one.
const FAR_ABOVE: u64 = 16;

/// Scale of amounts from 1 to a largest one. Its steps are equal, or logarithmic if the largest
/// amount is far above the median.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// Largest amount of each step.
    ends: [u64; STEPS],
    colors: [Color; STEPS],
}

impl Scale {
    /// Creates a scale for amounts.
    pub fn new(amounts: impl IntoIterator<Item = u64>, colors: [Color; STEPS]) -> Scale {
        let mut amounts: Vec<u64> = amounts.into_iter().filter(|amount| *amount > 0).collect();
        amounts.sort_unstable();
        let largest = amounts.last().copied().unwrap_or(0);
        let median = amounts.get(amounts.len() / 2).copied().unwrap_or(0);
        let is_far = largest / FAR_ABOVE > median;
        let end = if is_far { logarithmic_end } else { equal_end };
        Scale { ends: std::array::from_fn(|step| end(largest, step as u32 + 1)), colors }
    }

    /// Returns the step of an amount, from 0; `None` for 0.
    pub fn step(&self, amount: u64) -> Option<usize> {
        let before_last = &self.ends[..STEPS - 1];
        (amount > 0).then(|| before_last.iter().take_while(|end| amount > **end).count())
    }

    /// Returns the color of a step.
    pub fn color(&self, step: usize) -> Color {
        self.colors[step]
    }

    /// Returns the ranges of amounts with their colors; steps without an amount are left out.
    fn ranges(&self) -> impl Iterator<Item = ((u64, u64), Color)> {
        let before = std::iter::once(0).chain(self.ends);
        let ranges = before.zip(self.ends).map(|(before, end)| (before + 1, end));
        ranges.zip(self.colors).filter(|((first, last), _)| first <= last)
    }

    /// Returns whether no amount is above 0.
    fn is_empty(&self) -> bool {
        self.ends[STEPS - 1] == 0
    }

    /// Draws the legend into a drawing, in one line of text whose upper left corner is given.
    /// Returns its right end.
    pub fn draw_legend(&self, out: &mut String, (x, y): (usize, usize), amounts: &str) -> usize {
        let line = y + 13;
        let _ = write!(
            out,
            "<g font-size=\"13\"><text x=\"{x}\" y=\"{line}\" class=\"fill-ink\">{amounts}</text>"
        );
        let mut left = x + (amounts.len() + 2) * LETTER;
        if self.is_empty() {
            let _ = write!(out, "<text x=\"{left}\" y=\"{line}\" class=\"fill-ink\">{NONE}</text>");
            left += NONE.len() * LETTER;
        }
        for ((first, last), color) in self.ranges() {
            let (name, words) = (color.name, range(first, last));
            let _ = write!(
                out,
                "<rect x=\"{left}\" y=\"{y}\" width=\"22\" height=\"16\" class=\"fill-{name} stroke-line\"/>\
                 <text x=\"{}\" y=\"{line}\" class=\"fill-ink\">{words}</text>",
                left + 28
            );
            left += 28 + (words.len() + 2) * LETTER;
        }
        out.push_str("</g>");
        left
    }

    /// Returns the legend.
    pub fn legend(&self, amounts: &str) -> Markup {
        let used = self.ranges();
        html! {
            ul.legend {
                li { (amounts) ":" }
                @for ((first, last), color) in used { li {
                    svg aria-hidden="true" width="22" height="14" {
                        rect x="1" y="1" width="20" height="12" class={ "fill-" (color.name) " stroke-line" } {}
                    }
                    " " (range(first, last))
                } }
                @if self.is_empty() { li { (NONE) } }
            }
        }
    }
}

/// Returns the largest amount of a step, from 1, if steps are equal.
fn equal_end(largest: u64, step: u32) -> u64 {
    let end = u128::from(largest) * u128::from(step) / STEPS as u128;
    u64::try_from(end).unwrap_or(u64::MAX)
}

/// Returns the largest amount of a step, from 1, if each is the same number of times the one before
/// it.
fn logarithmic_end(largest: u64, step: u32) -> u64 {
    match step as usize {
        STEPS => largest,
        _ => (largest as f64).powf(f64::from(step) / STEPS as f64).round() as u64,
    }
}

fn range(first: u64, last: u64) -> String {
    if first == last { grouped(first) } else { format!("{} to {}", grouped(first), grouped(last)) }
}

/// Returns a count in at most four characters and a unit: `999`, `1.2k`, `35k`, `4.1M`.
pub fn compact(count: u64) -> String {
    let units = [(1_000_000_000_000, "T"), (1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")];
    let Some((unit, name)) = units.into_iter().find(|(unit, _)| count >= *unit) else {
        return count.to_string();
    };
    let whole = count / unit;
    match whole {
        0..10 => format!("{whole}.{}{name}", count % unit * 10 / unit),
        _ => format!("{whole}{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::palette::COLD;

    /// Checks that both ends of each range of the legend are in its step.
    fn check(scale: &Scale, largest: u64) {
        assert_eq!(scale.step(0), None);
        assert_eq!(scale.step(largest), Some(4), "{largest}");
        for ((first, last), color) in scale.ranges() {
            for amount in [first, last] {
                let step = scale.step(amount).expect("an amount");
                assert_eq!(scale.color(step).name, color.name, "{largest}: {first} to {last}");
            }
        }
    }

    #[test]
    fn every_amount_is_in_the_range_that_the_legend_gives_to_its_step() {
        for largest in [1, 2, 3, 7, 100, 12_345, u64::MAX] {
            check(&Scale::new([0, largest], COLD), largest);
            check(&Scale::new([1, 1, 1, largest], COLD), largest);
        }
        let legend = Scale::new([10], COLD).legend("Flits").into_string();
        assert!(legend.contains("1 to 2") && legend.contains("9 to 10"), "{legend}");
        assert!(Scale::new([], COLD).legend("Flits").into_string().contains("all 0"));
    }

    #[test]
    fn steps_are_logarithmic_if_the_largest_amount_is_far_above_the_median() {
        let ends = |amounts: &[u64]| Scale::new(amounts.iter().copied(), COLD).ends;
        assert_eq!(ends(&[60, 60, 960]), [192, 384, 576, 768, 960]);
        assert_eq!(ends(&[1, 60, 60, 15_000]), [7, 47, 320, 2_192, 15_000]);
        let scale = Scale::new([3, 60, 60, 500, 15_000], COLD);
        let steps = [3, 60, 500, 15_000].map(|amount| scale.step(amount));
        assert_eq!(steps, [Some(0), Some(2), Some(3), Some(4)]);
    }

    #[test]
    fn a_drawn_legend_has_its_width_and_names_a_scale_without_an_amount() {
        let mut out = String::new();
        let right = Scale::new([10], COLD).draw_legend(&mut out, (16, 16), "Flits");
        let last = out.rsplit("<text x=\"").next().and_then(|text| text.split('"').next());
        let last: usize = last.and_then(|x| x.parse().ok()).expect("the place of the last text");
        assert!(right >= last + "9 to 10".len() * LETTER, "{right}: {out}");
        Scale::new([], COLD).draw_legend(&mut out, (16, 42), "Lines");
        assert!(out.contains(">all 0<"), "{out}");
    }

    #[test]
    fn a_compact_count_is_short() {
        let all = [0, 999, 1_000, 1_290, 9_999, 35_400, 4_100_000, 999_999_999_999];
        let names = ["0", "999", "1.0k", "1.2k", "9.9k", "35k", "4.1M", "999G"];
        assert_eq!(all.map(compact), names.map(String::from));
    }
}
