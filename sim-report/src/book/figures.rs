//! Figures as parts of a page.
//!
//! A figure in a file has the palette as its own style, dark if the reader's system is dark. In a
//! page, that style is left out, so that the figure follows the theme of the page.

use crate::page::palette;

/// Returns whether a figure is drawn in the colors of the palette, has a role and a name.
pub fn is_drawn_in_palette(svg: &str) -> bool {
    let is_named = svg.contains("<title") || svg.contains("aria-label=");
    svg.contains(&palette::svg_style()) && svg.contains(" role=\"") && is_named
}

/// Returns a figure for a page. Its identifiers begin with `prefix`, so that two figures of a page
/// never share one.
pub(super) fn inline(svg: &str, prefix: &str) -> String {
    let svg = svg.find("<svg").map_or(svg, |start| &svg[start..]);
    let svg = svg.replace(&palette::svg_style(), "").replace(&palette::scale_style(), "");
    let mut text = svg.trim_end().to_owned();
    for attribute in ["id=\"", "url(#", "href=\"#", "aria-labelledby=\"", "aria-describedby=\""] {
        text = text.replace(attribute, &format!("{attribute}{prefix}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_of_a_figure_get_a_prefix() {
        let svg = r##"<?xml version="1.0"?><svg aria-labelledby="t"><title id="t">T</title><path marker-end="url(#a)"/></svg>"##;
        let text = inline(svg, "one-");
        assert_eq!(
            text,
            r##"<svg aria-labelledby="one-t"><title id="one-t">T</title><path marker-end="url(#one-a)"/></svg>"##
        );
    }
}
