//! Memory path: a figure of the levels that an access asks, from the core to memory, with the
//! accesses and the misses of each.

use std::fmt::Write;

use sim_core::{Counts, PmuEvent};

use crate::page::palette::svg_style;
use crate::perf_stat::grouped;
use crate::xml::escaped;

/// Width of a box, in pixels.
const BOX: f64 = 130.0;
/// Height of a box, in pixels.
const HEIGHT: f64 = 74.0;
/// Distance between two boxes, in pixels.
const GAP: f64 = 92.0;
/// Margin around the drawing, in pixels.
const MARGIN: f64 = 12.0;

/// A level: its name, color, the event of its accesses and the event of its misses.
struct Level {
    name: &'static str,
    fill: &'static str,
    accesses: Option<PmuEvent>,
    misses: Option<PmuEvent>,
}

/// Levels of data, in the order in which they are asked.
const DATA: [Level; 5] = [
    Level { name: "Core", fill: "gray-tint", accesses: Some(PmuEvent::MEM_ACCESS), misses: None },
    Level {
        name: "L1 D-cache",
        fill: "blue-tint",
        accesses: Some(PmuEvent::L1D_CACHE),
        misses: Some(PmuEvent::L1D_CACHE_REFILL),
    },
    Level {
        name: "L2 cache",
        fill: "green-tint",
        accesses: Some(PmuEvent::L2D_CACHE),
        misses: Some(PmuEvent::L2D_CACHE_REFILL),
    },
    Level {
        name: "System cache",
        fill: "purple-tint",
        accesses: Some(PmuEvent::LL_CACHE_RD),
        misses: Some(PmuEvent::LL_CACHE_MISS_RD),
    },
    Level { name: "DRAM", fill: "orange-tint", accesses: None, misses: None },
];

/// Levels of translation.
const TRANSLATION: [Level; 3] = [
    Level {
        name: "L1 data TLB",
        fill: "yellow-tint",
        accesses: Some(PmuEvent::L1D_TLB),
        misses: Some(PmuEvent::L1D_TLB_REFILL),
    },
    Level {
        name: "L2 TLB",
        fill: "yellow-tint",
        accesses: Some(PmuEvent::L2D_TLB),
        misses: Some(PmuEvent::L2D_TLB_REFILL),
    },
    Level {
        name: "Table walk",
        fill: "red-tint",
        accesses: Some(PmuEvent::DTLB_WALK),
        misses: None,
    },
];

/// Returns the figure as a file. With `counts`, each box has its accesses and each arrow the misses
/// that it carries; a level that was not asked is dashed.
pub fn svg(counts: Option<&Counts>, title: &str) -> String {
    let count = DATA.len() as f64;
    let (width, height) = (2.0 * MARGIN + count * BOX + (count - 1.0) * GAP, 2.0 * MARGIN + 226.0);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" aria-label=\"{}\">{}",
        escaped(title),
        svg_style()
    );
    let (upper, lower) = (MARGIN, MARGIN + HEIGHT + 50.0);
    row(&mut text, &DATA[..1], (0, lower), counts);
    row(&mut text, &TRANSLATION, (1, upper), counts);
    row(&mut text, &DATA[1..], (1, lower), counts);
    let (right, middle) = (MARGIN + BOX, MARGIN + BOX / 2.0);
    let y = upper + HEIGHT / 2.0;
    let _ = write!(
        text,
        "<path class=\"stroke-line\" fill=\"none\" stroke-width=\"2\" d=\"M{middle} {lower}V{y}H{}\"/>",
        right + GAP - 9.0
    );
    arrow_head(&mut text, right + GAP, y);
    label(&mut text, (middle + 8.0, y - 8.0), "start", "which page?");
    arrow(&mut text, right, lower + HEIGHT / 2.0);
    label(&mut text, (right + GAP / 2.0, lower + HEIGHT / 2.0 - 8.0), "middle", "which line?");
    let note = match counts {
        Some(_) => {
            "In a box: accesses that are counted there. On an arrow: misses. Dashed: not asked."
        }
        None => "A level is asked if the one before it misses.",
    };
    label(&mut text, (MARGIN, lower + HEIGHT + 28.0), "start", note);
    text + "</svg>\n"
}

fn row(text: &mut String, levels: &[Level], (first, y): (usize, f64), counts: Option<&Counts>) {
    for (at, level) in levels.iter().enumerate() {
        let x = MARGIN + (first + at) as f64 * (BOX + GAP);
        let asked = level.accesses.and_then(|event| counts.map(|counts| counts.value(event)));
        let dash = if asked == Some(0) { " stroke-dasharray=\"5 4\"" } else { "" };
        let _ = write!(
            text,
            "<rect class=\"fill-{} stroke-line\" stroke-width=\"1.5\"{dash} x=\"{x}\" y=\"{y}\" width=\"{BOX}\" \
             height=\"{HEIGHT}\" rx=\"6\"/>\
             <text class=\"fill-ink\" font-size=\"16\" font-weight=\"600\" text-anchor=\"middle\" x=\"{}\" y=\"{}\">{}</text>",
            level.fill,
            x + BOX / 2.0,
            y + 29.0,
            level.name
        );
        if let Some(asked) = asked {
            let words = match (level.accesses == Some(PmuEvent::DTLB_WALK), asked) {
                (true, 1) => "walk",
                (true, _) => "walks",
                (false, 1) => "access",
                (false, _) => "accesses",
            };
            let words = format!("{} {words}", grouped(asked));
            label(text, (x + BOX / 2.0, y + 54.0), "middle", &words);
        }
        if at + 1 < levels.len() {
            arrow(text, x + BOX, y + HEIGHT / 2.0);
            if let (Some(event), Some(counts)) = (level.misses, counts) {
                let misses = grouped(counts.value(event));
                label(text, (x + BOX + GAP / 2.0 - 4.0, y + HEIGHT / 2.0 - 8.0), "middle", &misses);
            }
        }
    }
}

fn arrow(text: &mut String, x: f64, y: f64) {
    let end = x + GAP;
    let _ = write!(
        text,
        "<path class=\"stroke-line\" fill=\"none\" stroke-width=\"2\" d=\"M{x} {y}H{}\"/>",
        end - 9.0
    );
    arrow_head(text, end, y);
}

fn arrow_head(text: &mut String, x: f64, y: f64) {
    let _ = write!(text, "<path class=\"fill-line\" d=\"M{x} {y}l-10 -5v10z\"/>");
}

fn label(text: &mut String, (x, y): (f64, f64), anchor: &str, words: &str) {
    let _ = write!(
        text,
        "<text class=\"fill-ink\" font-size=\"13\" text-anchor=\"{anchor}\" x=\"{x}\" y=\"{y}\">{}</text>",
        escaped(words)
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::EventSink;

    #[test]
    fn the_figure_has_the_counts_of_each_level() {
        let mut counts = Counts::default();
        counts.count(PmuEvent::L1D_CACHE_RD, 1234);
        counts.count(PmuEvent::L1D_CACHE_REFILL_OUTER, 56);
        let figure = svg(Some(&counts), "a < b");
        assert!(figure.contains(">1,234 accesses<"), "{figure}");
        assert!(figure.contains("aria-label=\"a &lt; b\""));
        assert!(figure.contains("stroke-dasharray"), "the L2 was not asked");
        let plain = svg(None, "plain");
        assert!(!plain.contains("accesses<") && !plain.contains("dasharray"));
    }
}
