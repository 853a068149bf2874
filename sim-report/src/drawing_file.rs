//! Drawings as separate files (SVG): a name for screen readers, and colors that follow the theme of
//! the reader.
//!
//! kuva writes each color as an attribute. A style sheet, which takes precedence over attributes,
//! gives every color of the palette its value on dark paper where the reader prefers it.

use std::fmt::Write;

use kuva::backend::svg::SvgBackend;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use kuva::render::render::render_multiple;
use kuva::render::theme::Theme;
use maud::html;

use crate::page::palette::{COLORS, Color, GRID, INK, LINE, PAPER, QUIET};

/// Color that kuva mixes from text and background for subtitles: too faint on dark paper.
const KUVA_SUBTITLE: &str = "\"#76797c\"";

/// Returns plots as a file. The layout keeps its sizes; its colors are those of the palette.
pub(crate) fn plots(plots: Vec<Plot>, layout: Layout, title: &str) -> String {
    let text = |color: Color| color.light.to_owned();
    let theme = Theme {
        background: text(PAPER),
        axis_color: text(LINE),
        grid_color: text(GRID),
        tick_color: text(LINE),
        text_color: text(INK),
        legend_bg: text(PAPER),
        legend_border: text(GRID),
        ..Theme::light()
    };
    let svg = SvgBackend.render_scene(&render_multiple(plots, layout.with_theme(theme)));
    let svg = svg.replace(KUVA_SUBTITLE, &format!("\"{}\"", QUIET.light));
    let (head, rest) = svg.split_once('>').unwrap_or((&svg, ""));
    let view = view_box(head);
    let label = html! { (title) }.into_string();
    format!(
        "{head}{view} role=\"img\" aria-label=\"{label}\"><title>{label}</title>{}{rest}\n",
        dark_style()
    )
}

/// Returns the attribute that lets a drawing of fixed size scale.
fn view_box(head: &str) -> String {
    let number = |name: &str| head.split(name).nth(1)?.split('"').next();
    match (number(" width=\""), number(" height=\"")) {
        (Some(width), Some(height)) => format!(" viewBox=\"0 0 {width} {height}\""),
        _ => String::new(),
    }
}

/// Returns the style that exchanges the colors of attributes on dark paper.
fn dark_style() -> String {
    let mut rules = String::new();
    for Color { light, dark, .. } in COLORS {
        for kind in ["fill", "stroke"] {
            let _ = write!(rules, "[{kind}=\"{light}\"]{{{kind}:{dark}}}");
        }
    }
    format!(
        "<style>text{{font-family:system-ui,sans-serif}}\
         @media(prefers-color-scheme:dark){{{rules}}}</style>"
    )
}

#[cfg(test)]
mod tests {
    use kuva::plot::LinePlot;

    use super::*;
    use crate::page::palette::BLUE;

    #[test]
    fn a_file_has_a_name_a_view_box_and_only_colors_of_the_palette() {
        let line = LinePlot::new().with_data(vec![(0.0, 1.0), (1.0, 2.0)]).with_color(BLUE.light);
        let all = vec![Plot::Line(line)];
        let layout = Layout::auto_from_plots(&all).with_title("T").with_subtitle("s");
        let svg = plots(all, layout, "a < b");
        for part in ["role=\"img\"", "<title>a &lt; b</title>", "viewBox=\"0 0 ", ":dark"] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        let drawn = svg.split("</style>").nth(1).expect("a style");
        for used in drawn.split("=\"#").skip(1) {
            let used = format!("#{}", used.split('"').next().unwrap_or_default());
            assert!(COLORS.iter().any(|color| color.light == used), "{used}");
        }
    }
}
