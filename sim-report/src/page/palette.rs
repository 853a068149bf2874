//! Colors of every page and drawing, one set for light and one for dark.
//!
//! Text has a contrast of at least 4.5 to its background, a shape at least 3 to the paper (held by
//! a test). A word or a pattern repeats the meaning of every color.

use std::fmt::Write;

/// Color in both themes, as `#rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Color {
    /// Name in style sheets: `--name`, and the classes `fill-name` and `stroke-name`.
    pub name: &'static str,
    /// Value on light paper.
    pub light: &'static str,
    /// Value on dark paper.
    pub dark: &'static str,
}

impl Color {
    /// Returns the color as a value for the page's own style sheet and drawings.
    pub fn var(self) -> String {
        format!("var(--{})", self.name)
    }
}

macro_rules! colors {
    ($($(#[$doc:meta])* $constant:ident = $name:literal, $light:literal, $dark:literal;)*) => {
        $($(#[$doc])* pub const $constant: Color = Color { name: $name, light: $light, dark: $dark };)*

        /// Every color but those of scales.
        pub const COLORS: [Color; [$($name),*].len()] = [$($constant),*];
    };
}

colors! {
    /// Background of the page.
    PAPER = "paper", "#ffffff", "#14171c";
    /// Boxes, table heads, summaries.
    PANEL = "panel", "#f3f5f7", "#20262e";
    /// Text.
    INK = "ink", "#1b1f24", "#e8eaed";
    /// Secondary text: units, notes.
    QUIET = "quiet", "#515a64", "#aeb6c0";
    /// Links.
    LINK = "link", "#0a4fb3", "#8cbeff";
    /// Borders, axes and arrows.
    LINE = "line", "#6e7781", "#8b949e";
    /// Grid lines and lines between rows, which are decoration.
    GRID = "grid", "#d8dee4", "#363d47";
    /// First color of a series.
    BLUE = "blue", "#0072b2", "#56b4e9";
    /// Second color of a series.
    ORANGE = "orange", "#c25400", "#f0913a";
    /// Third color of a series.
    GREEN = "green", "#00785a", "#2bc196";
    /// Fourth color of a series.
    PURPLE = "purple", "#8a4f9e", "#cc9ae0";
    /// Fifth color of a series; errors and squashed work.
    RED = "red", "#b3261e", "#ff8a80";
    /// Sixth color of a series.
    YELLOW = "yellow", "#8f6a00", "#e6c229";
    /// Everything else.
    GRAY = "gray", "#6b7280", "#9aa3af";
    /// A box of the first color, with text in it.
    BLUE_TINT = "blue-tint", "#dceefa", "#12364d";
    /// A box of the second color, with text in it.
    ORANGE_TINT = "orange-tint", "#fbe6d8", "#4d2c10";
    /// A box of the third color, with text in it.
    GREEN_TINT = "green-tint", "#d9f2e9", "#0f4033";
    /// A box of the fourth color, with text in it.
    PURPLE_TINT = "purple-tint", "#f0e3f5", "#40274b";
    /// A box of the fifth color, with text in it.
    RED_TINT = "red-tint", "#fbe1df", "#541f1c";
    /// A box of the sixth color, with text in it.
    YELLOW_TINT = "yellow-tint", "#faf0cc", "#43360a";
    /// A gray box, with text in it.
    GRAY_TINT = "gray-tint", "#e9ebee", "#343a43";
}

/// Blue scale for amounts, from small to large. Text has the color of [`on_step`].
pub const COLD: [Color; 5] = [
    Color { name: "cold-1", light: "#d3e6f5", dark: "#173349" },
    Color { name: "cold-2", light: "#a3cdea", dark: "#1f4c6e" },
    Color { name: "cold-3", light: "#5aa5d8", dark: "#2a6b9b" },
    Color { name: "cold-4", light: "#1467a8", dark: "#6db4e6" },
    Color { name: "cold-5", light: "#0a3a66", dark: "#cfe9fb" },
];
/// Brown scale for other amounts in a figure with [`COLD`].
pub const WARM: [Color; 5] = [
    Color { name: "warm-1", light: "#fbe3d0", dark: "#45280f" },
    Color { name: "warm-2", light: "#f5c092", dark: "#683a12" },
    Color { name: "warm-3", light: "#e58b3f", dark: "#8f4d12" },
    Color { name: "warm-4", light: "#a84a00", dark: "#f0a35c" },
    Color { name: "warm-5", light: "#6b2d00", dark: "#fcdcbf" },
];

/// Returns the color of text on a step of a scale, from 0.
pub fn on_step(step: usize) -> Color {
    if step < 3 { INK } else { PAPER }
}

/// The solid colors of a series, in the order of their use.
pub const SERIES: [Color; 6] = [BLUE, ORANGE, GREEN, PURPLE, RED, YELLOW];

/// Returns the `<style>` element of a drawing in a separate file: classes `fill-*` and `stroke-*`
/// for every color, dark if the reader prefers it. The element uses no variables, so that printers
/// and other readers of SVG show the colors too.
pub fn svg_style() -> String {
    let light = classes(COLORS, |color| color.light.to_owned());
    let dark = classes(COLORS, |color| color.dark.to_owned());
    format!(
        "<style>text{{font-family:system-ui,sans-serif}}{light}\
         @media(prefers-color-scheme:dark){{{dark}}}</style>"
    )
}

/// Returns the `<style>` element with the colors of scales, for a drawing in a separate file that
/// has that of [`svg_style`] too.
pub fn scale_style() -> String {
    let light = classes(scales(), |color| color.light.to_owned());
    let dark = classes(scales(), |color| color.dark.to_owned());
    format!("<style>{light}@media(prefers-color-scheme:dark){{{dark}}}</style>")
}

fn scales() -> impl Iterator<Item = Color> {
    COLD.into_iter().chain(WARM)
}

/// Returns the style for a page: variables that follow the page's theme, and classes that use them.
pub(crate) fn page_style() -> String {
    let mut variables = String::new();
    for Color { name, light, dark } in COLORS.into_iter().chain(scales()) {
        let _ = write!(variables, "--{name}:light-dark({light},{dark});");
    }
    let classes = classes(COLORS.into_iter().chain(scales()), Color::var);
    format!(":root{{{variables}}}{classes}")
}

fn classes(colors: impl IntoIterator<Item = Color>, value: fn(Color) -> String) -> String {
    let mut rules = String::new();
    for color in colors {
        let (name, value) = (color.name, value(color));
        let _ = write!(rules, ".fill-{name}{{fill:{value}}}.stroke-{name}{{stroke:{value}}}");
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::super::vision::{least_difference, luminance};
    use super::*;

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn expect(above: Color, below: Color, least: f64) {
        for (a, b) in [(above.light, below.light), (above.dark, below.dark)] {
            let is = contrast(a, b);
            assert!(is >= least, "{} {a} on {} {b}: {is:.2}", above.name, below.name);
        }
    }

    #[test]
    fn black_on_white_has_the_known_contrast() {
        assert!((contrast("#000000", "#ffffff") - 21.0).abs() < 1e-9);
        assert!((contrast("#777777", "#ffffff") - 4.48).abs() < 0.01);
    }

    #[test]
    fn text_is_readable_on_every_background() {
        let tints = COLORS.into_iter().filter(|color| color.name.ends_with("-tint"));
        for below in tints.chain([PAPER, PANEL]) {
            for text in [INK, QUIET, LINK] {
                expect(text, below, 4.5);
            }
        }
    }

    #[test]
    fn shapes_are_distinct_from_the_paper() {
        for shape in SERIES.into_iter().chain([LINE, GRAY]) {
            expect(shape, PAPER, 3.0);
            expect(shape, PANEL, 3.0);
        }
    }

    #[test]
    fn neighbors_in_a_stack_of_slots_differ_for_color_blind_readers() {
        for pair in [GREEN, YELLOW, BLUE, ORANGE].windows(2) {
            let is = least_difference(pair[0], pair[1]);
            assert!(is > 30.0, "{} and {}: {is:.0}", pair[0].name, pair[1].name);
        }
    }

    #[test]
    fn steps_of_a_scale_differ_for_every_reader_and_have_readable_text() {
        for scale in [COLD, WARM] {
            for pair in scale.windows(2) {
                let is = least_difference(pair[0], pair[1]);
                assert!(is > 11.0, "{} and {}: {is:.0}", pair[0].name, pair[1].name);
            }
            for (step, color) in scale.into_iter().enumerate() {
                expect(on_step(step), color, 4.5);
            }
        }
        for (cold, warm) in COLD.into_iter().zip(WARM) {
            assert!(least_difference(cold, warm) > 18.0, "{} and {}", cold.name, warm.name);
        }
    }

    #[test]
    fn bars_side_by_side_differ_for_color_blind_readers() {
        let is = least_difference(BLUE, GRAY);
        assert!(is > 20.0, "{is:.0}");
    }

    #[test]
    fn a_drawing_in_a_separate_file_uses_no_variables() {
        let style = svg_style();
        assert!(!style.contains("var("), "{style}");
        assert!(style.contains(".fill-ink{fill:#1b1f24}"), "{style}");
        assert!(style.contains("prefers-color-scheme:dark"), "{style}");
    }
}
