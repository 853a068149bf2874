//! Plots of a page: kuva's, in the colors of the page, so that they follow its theme.

use kuva::backend::svg::SvgBackend;
use kuva::plot::legend::LegendPosition;
use kuva::plot::{LinePlot, LineStyle};
use kuva::render::annotations::ReferenceLine;
use kuva::render::layout::{AxisLabelOverlap, Layout, TickFormat};
use kuva::render::plots::Plot;
use kuva::render::render::render_multiple;
use kuva::render::theme::Theme;

use super::palette::{Color, GRID, INK, LINE, PAPER, SERIES};

/// Size of a plot: narrow enough for a column of text.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 330.0;
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
            y_range: None,
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
        legend_bg: text(PAPER),
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
    fn a_plot_of_nothing_is_no_fault() {
        let empty = Lines::new("x", "y");
        assert!(empty.svg("nothing").contains("<svg"));
    }
}
