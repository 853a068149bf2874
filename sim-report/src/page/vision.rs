//! Distance of colors for readers with each kind of color vision, for tests.

use super::palette::Color;

/// Kinds of color vision: matrices on linear values, as Machado et al. give them for the complete
/// loss of one kind of cone.
const VISIONS: [[[f64; 3]; 3]; 4] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.052]],
    [[0.3673, 0.8606, -0.228], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]],
    [[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]],
];

/// Returns the smallest difference of two colors (CIE 1976) over both themes and all readers.
pub(crate) fn least_difference(a: Color, b: Color) -> f64 {
    let themes = [(a.light, b.light), (a.dark, b.dark)];
    let all = themes.iter().flat_map(|(a, b)| VISIONS.iter().map(|own| difference(a, b, own)));
    all.fold(f64::INFINITY, f64::min)
}

/// Returns the relative luminance as WCAG 2 defines it.
pub(crate) fn luminance(hex: &str) -> f64 {
    let [red, green, blue] = linear(hex);
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn linear(hex: &str) -> [f64; 3] {
    [1, 3, 5].map(|at| {
        let value = u8::from_str_radix(&hex[at..at + 2], 16).expect("two digits");
        let value = f64::from(value) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    })
}

fn difference(a: &str, b: &str, vision: &[[f64; 3]; 3]) -> f64 {
    let dot = |row: &[f64; 3], of: [f64; 3]| row.iter().zip(of).map(|(a, b)| a * b).sum::<f64>();
    let lab = |hex: &str| {
        let rgb = linear(hex);
        let seen = vision.map(|row| dot(&row, rgb).clamp(0.0, 1.0));
        let root = |t: f64| if t > 0.008_856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
        let [x, y, z] = [
            ([0.4124, 0.3576, 0.1805], 0.950_47),
            ([0.2126, 0.7152, 0.0722], 1.0),
            ([0.0193, 0.1192, 0.9505], 1.088_83),
        ]
        .map(|(row, white)| root(dot(&row, seen) / white));
        [116.0 * y, 500.0 * (x - y), 200.0 * (y - z)]
    };
    lab(a).iter().zip(lab(b)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn two_colors_that_a_protanope_takes_for_one_another_are_close() {
    use super::palette::{BLUE, GREEN, ORANGE, RED, YELLOW};
    assert!(least_difference(ORANGE, YELLOW) < 5.0);
    assert!(least_difference(GREEN, RED) < 10.0);
    assert!(least_difference(BLUE, ORANGE) > 80.0);
}
