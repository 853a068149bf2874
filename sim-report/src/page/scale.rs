//! Scale of colors for amounts in a figure: five steps up to the largest amount, with a legend.

use std::fmt::Write;

use maud::{Markup, html};

use super::palette::Color;
use crate::perf_stat::grouped;

/// Width of a letter, in pixels.
const LETTER: usize = 8;
/// Steps of a scale.
const STEPS: u64 = 5;

/// Scale of amounts from 1 to a largest one.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    largest: u64,
    colors: [Color; STEPS as usize],
}

impl Scale {
    /// Creates a scale for amounts.
    pub fn new(amounts: impl IntoIterator<Item = u64>, colors: [Color; STEPS as usize]) -> Scale {
        Scale { largest: amounts.into_iter().max().unwrap_or(0), colors }
    }

    /// Returns the step of an amount, from 0; `None` for 0.
    pub fn step(&self, amount: u64) -> Option<usize> {
        // The largest amount is in the last step, whatever its remainder.
        let above = |step: &u64| amount > self.end(*step);
        (amount > 0).then(|| (1..STEPS).take_while(above).count())
    }

    /// Returns the largest amount of a step, from 1.
    fn end(&self, step: u64) -> u64 {
        let end = u128::from(self.largest) * u128::from(step) / u128::from(STEPS);
        u64::try_from(end).unwrap_or(u64::MAX)
    }

    /// Returns the color of a step.
    pub fn color(&self, step: usize) -> Color {
        self.colors[step]
    }

    /// Returns the ranges of amounts with their colors; steps without an amount are left out.
    fn ranges(&self) -> impl Iterator<Item = ((u64, u64), Color)> {
        let ranges = (1..=STEPS).map(move |step| (self.end(step - 1) + 1, self.end(step)));
        ranges.zip(self.colors).filter(|((first, last), _)| first <= last)
    }

    /// Draws the legend into a drawing, in one line of text whose upper left corner is given.
    pub fn draw_legend(&self, out: &mut String, (x, y): (usize, usize), amounts: &str) {
        let line = y + 13;
        let _ = write!(
            out,
            "<g font-size=\"13\"><text x=\"{x}\" y=\"{line}\" class=\"fill-ink\">{amounts}</text>"
        );
        let mut left = x + (amounts.len() + 2) * LETTER;
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
                @if self.largest == 0 { li { "all 0" } }
            }
        }
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

    #[test]
    fn every_amount_is_in_the_range_that_the_legend_gives_to_its_step() {
        for largest in [1, 2, 3, 7, 100, 12_345, u64::MAX] {
            let scale = Scale::new([0, largest], COLD);
            assert_eq!(scale.step(0), None);
            assert_eq!(scale.step(largest), Some(4), "{largest}");
            for step in 1..=STEPS {
                let (first, last) = (scale.end(step - 1) + 1, scale.end(step));
                if first <= last {
                    let both = [first, last].map(|amount| scale.step(amount));
                    assert_eq!(both, [Some(step as usize - 1); 2], "{largest}: {first} to {last}");
                }
            }
        }
        let legend = Scale::new([10], COLD).legend("Flits").into_string();
        assert!(legend.contains("1 to 2") && legend.contains("9 to 10"), "{legend}");
        assert!(Scale::new([], COLD).legend("Flits").into_string().contains("all 0"));
    }

    #[test]
    fn a_compact_count_is_short() {
        let all = [0, 999, 1_000, 1_290, 9_999, 35_400, 4_100_000, 999_999_999_999];
        let names = ["0", "999", "1.0k", "1.2k", "9.9k", "35k", "4.1M", "999G"];
        assert_eq!(all.map(compact), names.map(String::from));
    }
}
