//! Drawings of a report as separate files: the map of the mesh, and who waits for whom in several
//! runs, each with its legend. They are for the documents only; no command writes them.

use std::fmt::Write;

use crate::page::palette::{scale_style, svg_style};
use crate::page::{Matrix, Scale};
use crate::run_report::{CorePairCount, MeshTraffic, RunReport};
use crate::xml::escaped;

use super::{mesh_map, waits};

/// Distance of drawings from the edges and from one another, in pixels.
const GAP: usize = 16;
/// Height of a line of text with its distance to the next, in pixels.
const LINE: usize = 26;

/// Returns the map of the mesh, with the flits of all channels.
pub fn map_file(mesh: &MeshTraffic) -> String {
    let title = "Map of the mesh: flits of each link, look-ups of each home node";
    let (width, height) = mesh_map::size(mesh);
    let (links, homes) = (mesh_map::link_scale(mesh, None), mesh_map::home_scale(mesh));
    let mut out = String::new();
    let one = links.draw_legend(&mut out, (GAP, GAP), "Flits of a link");
    let other = homes.draw_legend(&mut out, (GAP, GAP + LINE), "Look-ups of home nodes");
    placed(&mut out, (GAP, 2 * GAP + 2 * LINE), &mesh_map::svg(mesh, title, &[None]));
    let right = one.max(other).max(width as usize + GAP);
    file(title, (right + GAP, height as usize + 3 * GAP + 2 * LINE), &out)
}

/// Returns the lines that came from another core in several runs, side by side and in one scale.
/// Each run has a name.
pub fn waits_file(runs: &[(&str, &RunReport)]) -> String {
    let title = "Lines that a core (row) got from another core (column)";
    let matrices: Vec<Matrix> = runs
        .iter()
        .map(|(name, report)| {
            let lines = |pair: &CorePairCount| pair.lines;
            waits::matrix_of(name, waits::core_count(report), report.core_pairs(), lines)
        })
        .collect();
    let cells = matrices.iter().flat_map(|matrix| &matrix.cells);
    let scale = Scale::new(cells.map(|cell| cell.count), crate::page::palette::COLD);
    let sizes: Vec<(usize, usize)> = matrices.iter().map(Matrix::size).collect();
    let highest = sizes.iter().map(|(_, height)| *height).max().unwrap_or(0);
    let mut out = String::new();
    let legend = scale.draw_legend(&mut out, (GAP, GAP), "Lines");
    let mut left = GAP;
    for ((matrix, (width, _)), (name, _)) in matrices.iter().zip(sizes).zip(runs) {
        let y = 2 * GAP + LINE;
        let _ = write!(
            out,
            "<text x=\"{left}\" y=\"{}\" font-size=\"14\" font-weight=\"bold\" class=\"fill-ink\">{}</text>",
            y + 6,
            escaped(name)
        );
        placed(&mut out, (left, y + LINE - 6), &matrix.svg(&scale));
        left += width + GAP;
    }
    file(title, (left.max(legend + GAP), highest + 3 * GAP + 2 * LINE), &out)
}

/// Returns a file: name, size, colors, paper and content.
fn file(title: &str, (width, height): (usize, usize), content: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{title}\" width=\"{width}\" \
         height=\"{height}\" viewBox=\"0 0 {width} {height}\">{}{}<rect class=\"fill-paper\" width=\"{width}\" \
         height=\"{height}\"/>{content}</svg>\n",
        svg_style(),
        scale_style()
    )
}

/// Adds a drawing at a place.
fn placed(out: &mut String, (x, y): (usize, usize), drawing: &str) {
    let _ = write!(out, "<g transform=\"translate({x} {y})\">{drawing}</g>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_as_wide_as_its_legend() {
        let empty = waits_file(&[]);
        let width = empty.split(" width=\"").nth(1).and_then(|text| text.split('"').next());
        let width: usize = width.and_then(|text| text.parse().ok()).expect("a width");
        assert!(empty.contains(">all 0<") && width > 2 * GAP + "Lines all 0".len() * 8, "{empty}");
    }
}
