//! Matrix of counts as a drawing: a cell for each row and column, colored and with its count.

use std::fmt::Write;

use super::palette::on_step;
use super::scale::{Scale, compact};
use crate::xml::escaped;

/// Width and height of a cell, in pixels.
const CELL: (usize, usize) = (46, 26);
/// Width of a letter of a name, in pixels.
const LETTER: usize = 8;
/// Height of the names of the columns, in pixels.
const HEAD: usize = 22;

/// Matrix of counts.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// Name for readers who cannot see the drawing.
    pub title: String,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Cells; those that are absent have no count.
    pub cells: Vec<MatrixCell>,
}

/// Cell of a matrix.
#[derive(Clone, Debug)]
pub struct MatrixCell {
    /// Number of the row.
    pub row: usize,
    /// Number of the column.
    pub column: usize,
    /// Count, which the color shows.
    pub count: u64,
    /// Text for a reader who points at the cell.
    pub text: String,
    /// Marked with a bar at its left edge.
    pub is_marked: bool,
}

impl Matrix {
    /// Returns width and height of the drawing, in pixels.
    pub fn size(&self) -> (usize, usize) {
        let width = self.left() + self.columns.len() * CELL.0 + 2;
        (width, HEAD + self.rows.len() * CELL.1 + 2)
    }

    /// Returns whether the name of each column is as narrow as its cells.
    #[cfg(test)]
    pub(crate) fn names_fit(&self) -> bool {
        self.columns.iter().all(|name| name.chars().count() * LETTER <= CELL.0)
    }

    /// Returns the left end of the cells: the width of the longest name of a row.
    fn left(&self) -> usize {
        let longest = self.rows.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        longest * LETTER + 8
    }

    /// Returns the drawing, in the colors of a scale.
    pub fn svg(&self, scale: &Scale) -> String {
        let left = self.left();
        let (width, height) = self.size();
        let title = escaped(&self.title);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{title}\" width=\"{width}\" \
             height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-size=\"13\">"
        );
        self.names(&mut out, left);
        for cell in &self.cells {
            cell_svg(&mut out, cell, scale, left);
        }
        out + "</svg>"
    }

    /// Draws the names, and the frames of all cells.
    fn names(&self, out: &mut String, left: usize) {
        for (at, name) in self.rows.iter().enumerate() {
            let y = HEAD + at * CELL.1 + CELL.1 / 2 + 5;
            let _ = write!(
                out,
                "<text x=\"{}\" y=\"{y}\" text-anchor=\"end\" class=\"fill-ink\">{}</text>",
                left - 8,
                escaped(name)
            );
        }
        let bottom = HEAD + self.rows.len() * CELL.1;
        let right = left + self.columns.len() * CELL.0;
        let mut lines = String::new();
        for (at, name) in self.columns.iter().enumerate() {
            let x = left + at * CELL.0;
            let _ = write!(
                out,
                "<text x=\"{}\" y=\"15\" text-anchor=\"middle\" class=\"fill-ink\">{}</text>",
                x + CELL.0 / 2,
                escaped(name)
            );
            let _ = write!(lines, "M{x} {HEAD}V{bottom}");
        }
        for at in 0..=self.rows.len() {
            let _ = write!(lines, "M{left} {}H{right}", HEAD + at * CELL.1);
        }
        let _ = write!(out, "<path d=\"{lines}M{right} {HEAD}V{bottom}\" class=\"stroke-grid\"/>");
    }
}

fn cell_svg(out: &mut String, cell: &MatrixCell, scale: &Scale, left: usize) {
    let (x, y) = (left + cell.column * CELL.0, HEAD + cell.row * CELL.1);
    let _ = write!(out, "<g><title>{}</title>", escaped(&cell.text));
    if let Some(step) = scale.step(cell.count) {
        let _ = write!(
            out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"fill-{}\"/>",
            x + 1,
            y + 1,
            CELL.0 - 2,
            CELL.1 - 2,
            scale.color(step).name
        );
    }
    let color = on_step(scale.step(cell.count).unwrap_or(0)).name;
    let (middle, line) = (x + CELL.0 / 2, y + CELL.1 / 2 + 5);
    let _ = write!(
        out,
        "<text x=\"{middle}\" y=\"{line}\" text-anchor=\"middle\" class=\"fill-{color}\">{}</text>",
        compact(cell.count)
    );
    if cell.is_marked {
        let (bar, end) = (x + 3, y + CELL.1 - 3);
        let _ = write!(
            out,
            "<path d=\"M{bar} {}V{end}\" class=\"stroke-{color}\" stroke-width=\"3\"/>",
            y + 3
        );
    }
    out.push_str("</g>");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::palette::COLD;

    #[test]
    fn a_cell_has_its_count_its_color_and_its_text() {
        let cell = |count, column| MatrixCell {
            row: 0,
            column,
            count,
            text: format!("{count} <lines>"),
            is_marked: count == 0,
        };
        let matrix = Matrix {
            title: "A & B".into(),
            rows: vec!["core 0".into()],
            columns: vec!["0".into(), "1".into()],
            cells: vec![cell(0, 0), cell(1_500, 1)],
        };
        let svg = matrix.svg(&Scale::new([0, 1_500], COLD));
        for part in ["A &amp; B", "1.5k", "fill-cold-5", "1500 &lt;lines&gt;", "stroke-width=\"3\""]
        {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        assert_eq!(svg.matches("<rect").count(), 1, "no color for 0");
    }
}
