//! Chart of a page: the drawing, a description in words, and its numbers as a table.

use maud::{Markup, PreEscaped, html};

use super::Table;
use super::palette::svg_style;

/// Chart of a page.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Identifier, unique in the page.
    pub id: String,
    /// Title of one line.
    pub title: String,
    /// Description, also for readers who cannot see the drawing.
    pub text: String,
    /// Drawing: an `<svg>` element or file.
    pub svg: String,
    /// Numbers of the drawing.
    pub table: Table,
}

impl Chart {
    /// Returns the figure. The drawing scrolls sideways in its box; the table opens below it.
    pub fn html(&self) -> Markup {
        self.html_with(&Markup::default())
    }

    /// Returns the figure with a legend above the drawing.
    pub fn html_with(&self, legend: &Markup) -> Markup {
        let title_id = format!("{}-title", self.id);
        html! {
            figure id=(self.id) {
                figcaption {
                    strong id=(title_id) { (self.title) }
                    @if !self.text.is_empty() { " " (self.text) }
                }
                (legend)
                (drawing(&title_id, &self.svg))
                details.aside { summary { "Numbers of: " (self.title) } (self.table.html()) }
            }
        }
    }
}

/// Returns a drawing in a box that scrolls, named by the element with this id.
pub fn drawing(label_id: &str, svg: &str) -> Markup {
    html! {
        div.wide.drawing tabindex="0" role="group" aria-labelledby=(label_id) { (inline(svg)) }
    }
}

/// Returns the file of a drawing as an element of a page: without its declaration, and without the
/// style of the palette, for which the page has a variant that follows its theme.
pub fn inline(svg: &str) -> Markup {
    let element = svg.find("<svg").map_or("", |start| &svg[start..]);
    PreEscaped(element.replace(&svg_style(), "").trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_becomes_an_element_with_the_style_of_the_page() {
        let own = "<style>.mine{stroke-width:2}</style>";
        let file = format!("<?xml version=\"1.0\"?>\n<svg>{}{own}<g/></svg>\n", svg_style());
        assert_eq!(inline(&file).into_string(), format!("<svg>{own}<g/></svg>"));
        assert_eq!(inline("no drawing").into_string(), "");
    }

    #[test]
    fn a_chart_includes_a_table_of_its_numbers() {
        let table = Table::new("t", "Values").text("x").row(["1".into()]);
        let (id, title, text) = ("c".into(), "A & B".into(), String::new());
        let chart = Chart { id, title, text, svg: "<svg/>".into(), table };
        let html = chart.html().into_string();
        assert!(html.contains("A &amp; B") && html.contains("<svg/>"), "{html}");
        assert!(html.contains("<details class=\"aside\">") && html.contains("id=\"t\""));
    }
}
