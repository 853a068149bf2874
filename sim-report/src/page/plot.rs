//! Plots of a page, drawn by kuva in the colors of the page so that they follow its theme.

use kuva::backend::svg::SvgBackend;
use kuva::plot::{LinePlot, LineStyle};
use kuva::render::annotations::ReferenceLine;
use kuva::render::layout::{AxisLabelOverlap, Layout, TickFormat};
use kuva::render::plots::Plot;
use kuva::render::render::render_multiple;
use kuva::render::theme::Theme;

use maud::{Markup, html};

use super::palette::{Color, GRID, INK, LINE, SERIES};

/// Width of a plot, in pixels: it fits a column of text.
const WIDTH: f64 = 760.0;
/// Height of a plot, in pixels.
const HEIGHT: f64 = 330.0;
/// Approximate width of the axes, in pixels.
const MARGINS: f64 = 90.0;
/// Approximate width of a letter of the name of a mark, in pixels.
const LETTER: f64 = 7.0;
/// Most ticks with room for their names on the horizontal axis.
const MOST_TICKS: f64 = 11.0;
/// Dash patterns of successive lines, so that lines differ by more than color: one for each color,
/// because two colors of a pair such as orange and yellow can look alike.
const DASHES: [&str; SERIES.len()] = ["", "7 3", "2 3", "10 3 2 3", "16 4", "8 3 2 3 2 3"];

/// Appearance of a line.
#[derive(Clone, Copy, Debug)]
struct Look {
    color: Color,
    /// Lengths of dashes and gaps; empty for a solid line.
    dashes: &'static str,
}

impl Look {
    fn of_line(i: usize) -> Look {
        let dashes = DASHES[(i + i / SERIES.len()) % DASHES.len()];
        Look { color: SERIES[i % SERIES.len()], dashes }
    }
}

/// Line of a plot.
pub struct Line {
    /// Name in the legend.
    pub name: String,
    /// Points from left to right. One whose height is not a number makes a gap.
    pub points: Vec<(f64, f64)>,
}

/// Lines over a common axis.
pub struct Lines {
    /// Label of the horizontal axis.
    pub x_label: String,
    /// Label of the vertical axis.
    pub y_label: String,
    /// Lines.
    pub lines: Vec<Line>,
    /// Vertical marks: name and position.
    pub marks: Vec<(String, f64)>,
    /// Formatter of the values on the horizontal axis; absent for plain numbers.
    pub x_names: Option<fn(f64) -> String>,
    /// Formatter of the values on the vertical axis; absent for plain numbers.
    pub y_names: Option<fn(f64) -> String>,
    /// Ends of the horizontal axis and the distance of its ticks; by default the ends of the lines.
    pub x_range: Option<(f64, f64, f64)>,
    /// Ends of the vertical axis; by default the ends of the lines.
    pub y_range: Option<(f64, f64)>,
}

impl Lines {
    /// Creates an empty plot with plain axes.
    pub fn new(x_label: &str, y_label: &str) -> Lines {
        Lines {
            x_label: x_label.to_owned(),
            y_label: y_label.to_owned(),
            lines: Vec::new(),
            marks: Vec::new(),
            x_names: None,
            y_names: None,
            x_range: None,
            y_range: None,
        }
    }

    /// Sets a logarithmic horizontal axis that covers all points and the names of the marks. There
    /// is a tick at every power of two, or at every second one if there are many.
    pub fn fit_powers_of_two(&mut self) {
        let points = self.lines.iter().flat_map(|line| &line.points).map(|(x, _)| *x);
        let places = || points.clone().chain(self.marks.iter().map(|(_, x)| *x));
        let low = places().fold(f64::INFINITY, f64::min).floor();
        let mut high = places().fold(low + 1.0, f64::max);
        for (name, place) in &self.marks {
            // The name is to the right of its mark: this part of the width is reserved for it.
            let part = (name.chars().count() as f64 * LETTER + 10.0) / (WIDTH - MARGINS);
            high = high.max((place - part * low) / (1.0 - part));
        }
        if low.is_finite() {
            self.x_range = Some((low, high, ((high - low) / MOST_TICKS).ceil()));
        }
    }

    /// Returns the legend of the lines, which is empty for a single line.
    pub fn legend(&self) -> Markup {
        if self.lines.len() < 2 {
            return Markup::default();
        }
        html! { ul.legend { @for (i, line) in self.lines.iter().enumerate() {
            @let Look { color, dashes } = Look::of_line(i);
            li {
                svg aria-hidden="true" width="30" height="8" {
                    line x1="0" y1="4" x2="30" y2="4" stroke=(color.var()) stroke-width="2.5" stroke-dasharray=(dashes) {}
                }
                " " (line.name)
            }
        } } }
    }

    /// Draws the plot.
    pub fn svg(&self, title: &str) -> String {
        let plot = |(i, points): (usize, &[(f64, f64)])| {
            let Look { color, dashes } = Look::of_line(i);
            let style = match dashes {
                "" => LineStyle::Solid,
                dashes => LineStyle::Custom(dashes.to_owned()),
            };
            let line = LinePlot::new().with_data(points.to_vec()).with_color(color.var());
            Plot::Line(line.with_stroke_width(2.0).with_line_style(style))
        };
        let parts = self.lines.iter().enumerate().flat_map(|(i, line)| {
            let parts = line.points.split(|(_, y)| y.is_nan());
            parts.filter(|part| !part.is_empty()).map(move |part| (i, part))
        });
        let plots: Vec<Plot> = parts.map(plot).collect();
        let mut layout =
            layout(&plots).with_x_label(self.x_label.clone()).with_y_label(self.y_label.clone());
        for (name, place) in &self.marks {
            let mark = ReferenceLine::vertical(*place).with_color(LINE.var());
            layout = layout.with_reference_line(mark.with_label(name.clone()));
        }
        if let Some(names) = self.x_names {
            layout = layout.with_x_tick_format(TickFormat::Custom(std::sync::Arc::new(names)));
        }
        if let Some(names) = self.y_names {
            layout = layout.with_y_tick_format(TickFormat::Custom(std::sync::Arc::new(names)));
        }
        if let Some((low, high, step)) = self.x_range {
            layout = layout.with_x_axis_min(low).with_x_axis_max(high).with_x_tick_step(step);
        }
        if let Some((low, high)) = self.y_range {
            layout = layout.with_y_axis_min(low).with_y_axis_max(high);
        }
        draw(plots, layout, title)
    }
}

/// Returns the legend of areas.
pub fn areas_legend<'a>(areas: impl IntoIterator<Item = (&'a str, Color)>) -> Markup {
    html! { ul.legend { @for (name, color) in areas {
        li {
            svg aria-hidden="true" width="14" height="14" {
                rect width="14" height="14" fill=(color.var()) {}
            }
            " " (name)
        }
    } } }
}

/// Returns a layout in the page's colors.
pub(crate) fn layout(plots: &[Plot]) -> Layout {
    let text = |color: Color| color.var();
    let theme = Theme {
        background: "none".to_owned(),
        axis_color: text(LINE),
        grid_color: text(GRID),
        tick_color: text(LINE),
        text_color: text(INK),
        legend_bg: "none".to_owned(),
        legend_border: "none".to_owned(),
        ..Theme::light()
    };
    Layout::auto_from_plots(plots)
        .with_width(WIDTH)
        .with_height(HEIGHT)
        .with_label_size(13)
        .with_tick_size(12)
        .with_body_size(13)
        .with_x_label_overlap(AxisLabelOverlap::Thin)
        .with_theme(theme)
}

/// Returns the drawing with a name for screen readers.
pub(crate) fn draw(plots: Vec<Plot>, layout: Layout, title: &str) -> String {
    let svg = SvgBackend.render_scene(&render_multiple(plots, layout));
    let title = html! { (title) }.into_string();
    svg.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{title}\" "), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_has_the_colors_of_the_page_and_a_name() {
        let mut lines = Lines::new("x", "y");
        lines.lines.push(Line { name: "a".into(), points: vec![(0.0, 1.0), (1.0, 2.0)] });
        lines.lines.push(Line { name: "b".into(), points: vec![(0.0, 2.0), (1.0, 1.0)] });
        lines.marks.push(("L1".into(), 0.5));
        let svg = lines.svg("a & \"b\"");
        for part in ["aria-label=\"a &amp; &quot;b&quot;\"", "var(--blue)", "var(--ink)", ">L1<"] {
            assert!(svg.contains(part), "{part} in {svg}");
        }
        let legend = lines.legend().into_string();
        assert!(legend.contains("</svg> b</li>") && legend.contains("7 3"), "{legend}");
        assert!(!svg.contains("#000") && !svg.contains("\"black\""), "{svg}");
    }

    #[test]
    fn the_name_of_the_last_mark_fits() {
        let mut lines = Lines::new("x", "y");
        lines.lines.push(Line { name: "a".into(), points: vec![(6.0, 1.0), (12.0, 0.0)] });
        lines.marks.push(("system level cache".into(), 25.0));
        lines.fit_powers_of_two();
        let (low, high, step) = lines.x_range.expect("there are points");
        let scale = (WIDTH - MARGINS) / (high - low);
        assert!((high - 25.0) * scale > 18.0 * LETTER, "{low} {high}");
        assert_eq!((low, step), (6.0, 3.0));
        let mut nothing = Lines::new("x", "y");
        nothing.fit_powers_of_two();
        assert_eq!(nothing.x_range, None);
    }

    #[test]
    fn an_empty_plot_can_be_drawn() {
        let empty = Lines::new("x", "y");
        assert!(empty.svg("empty").contains("<svg"));
    }
}
