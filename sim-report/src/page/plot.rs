//! Plots of a page: kuva's, in the colors of the page, so that they follow its theme.

use kuva::backend::svg::SvgBackend;
use kuva::plot::legend::LegendPosition;
use kuva::plot::{LinePlot, LineStyle};
use kuva::render::annotations::ReferenceLine;
use kuva::render::layout::{AxisLabelOverlap, Layout, TickFormat};
use kuva::render::plots::Plot;
use kuva::render::render::render_multiple;
use kuva::render::theme::Theme;

use super::palette::{Color, GRID, INK, LINE, SERIES};

/// Size of a plot: narrow enough for a column of text.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 330.0;
/// About what the axes take of the width, and a letter of the name of a mark.
const MARGINS: f64 = 90.0;
const LETTER: f64 = 7.0;
/// Ticks that have room for their names on the horizontal axis.
const MOST_TICKS: f64 = 11.0;
/// How the lines of a plot differ besides by color: in turns, one each time the colors are used up, and within them.
const STYLES: [LineStyle; 3] = [LineStyle::Solid, LineStyle::Dashed, LineStyle::Dotted];

/// Lines over a common axis.
pub struct Lines {
    /// What the horizontal axis shows.
    pub x_label: String,
    /// What the vertical axis shows.
    pub y_label: String,
    /// The lines: name and points.
    pub lines: Vec<(String, Vec<(f64, f64)>)>,
    /// Vertical marks: name and place.
    pub marks: Vec<(String, f64)>,
    /// Names of places on the horizontal axis, if they are no plain numbers.
    pub x_names: Option<fn(f64) -> String>,
    /// The same of the vertical axis.
    pub y_names: Option<fn(f64) -> String>,
    /// Ends of the horizontal axis, if not those of the lines, and the distance of its ticks.
    pub x_range: Option<(f64, f64, f64)>,
    /// Ends of the vertical axis, if not those of the lines.
    pub y_range: Option<(f64, f64)>,
}

impl Lines {
    /// Lines without marks on plain axes.
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

    /// Sets a logarithmic horizontal axis over these places and the names of the marks, with a tick at every
    /// power of two, or at every other one where they are many.
    pub fn fit_powers_of_two(&mut self) {
        let points = self.lines.iter().flat_map(|(_, points)| points).map(|(x, _)| *x);
        let places = || points.clone().chain(self.marks.iter().map(|(_, x)| *x));
        let low = places().fold(f64::INFINITY, f64::min).floor();
        let mut high = places().fold(low + 1.0, f64::max);
        for (name, place) in &self.marks {
            // The name stands right of its mark: this part of the width is left for it.
            let part = (name.chars().count() as f64 * LETTER + 10.0) / (WIDTH - MARGINS);
            high = high.max((place - part * low) / (1.0 - part));
        }
        if low.is_finite() {
            self.x_range = Some((low, high, ((high - low) / MOST_TICKS).ceil()));
        }
    }

    /// The drawing.
    pub fn svg(&self, title: &str) -> String {
        let has_legend = self.lines.len() > 1;
        let plot = |(i, (name, points)): (usize, &(String, Vec<(f64, f64)>))| {
            let line = LinePlot::new()
                .with_data(points.clone())
                .with_color(SERIES[i % SERIES.len()].var())
                .with_stroke_width(2.0)
                .with_line_style(STYLES[(i + i / SERIES.len()) % STYLES.len()].clone());
            Plot::Line(if has_legend { line.with_legend(name.clone()) } else { line })
        };
        let plots: Vec<Plot> = self.lines.iter().enumerate().map(plot).collect();
        let mut layout = layout(&plots)
            .with_x_label(self.x_label.clone())
            .with_y_label(self.y_label.clone())
            .with_legend_position(LegendPosition::OutsideBottomColumns);
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

/// A layout in the page's colors.
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

/// The drawing, named for those who do not see it; its numbers are in the table behind it.
pub(crate) fn draw(plots: Vec<Plot>, layout: Layout, title: &str) -> String {
    let svg = SvgBackend.render_scene(&render_multiple(plots, layout));
    let title = maud::html! { (title) }.into_string();
    svg.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{title}\" "), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_has_the_colors_of_the_page_and_a_name() {
        let mut lines = Lines::new("x", "y");
        lines.lines.push(("a".into(), vec![(0.0, 1.0), (1.0, 2.0)]));
        lines.lines.push(("b".into(), vec![(0.0, 2.0), (1.0, 1.0)]));
        lines.marks.push(("L1".into(), 0.5));
        let svg = lines.svg("a & \"b\"");
        for part in ["aria-label=\"a &amp; &quot;b&quot;\"", "var(--blue)", "var(--ink)", ">L1<"] {
            assert!(svg.contains(part), "{part} in {svg}");
        }
        assert!(!svg.contains("#000") && !svg.contains("\"black\""), "{svg}");
    }

    #[test]
    fn the_name_of_the_last_mark_has_room() {
        let mut lines = Lines::new("x", "y");
        lines.lines.push(("a".into(), vec![(6.0, 1.0), (12.0, 0.0)]));
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
    fn a_plot_of_nothing_is_no_fault() {
        let empty = Lines::new("x", "y");
        assert!(empty.svg("nothing").contains("<svg"));
    }
}
