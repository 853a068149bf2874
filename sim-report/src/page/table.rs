//! Table of a page: caption, typed columns, and exact values of rounded numbers.
//!
//! Numbers are aligned right and have the exact value in `data-value`. The script sorts by it, and
//! other programs can read it.

use maud::{Markup, PreEscaped, Render, html};

use crate::perf_stat::grouped;

/// Content of a cell.
#[derive(Clone, Debug)]
pub enum Cell {
    /// Words.
    Text(String),
    /// Markup with the text by which it is sorted and filtered.
    Markup(Markup, String),
    /// A count, printed with thousands separated.
    Count(u64),
    /// A number with this many decimals.
    Number(f64, usize),
    /// A share of 1, printed in percent.
    Share(f64),
    /// No value: an event without a count, a ratio without a divisor.
    None,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Cell {
        Cell::Count(count)
    }
}

impl Cell {
    /// Returns a number, or an empty cell if it is not finite.
    pub fn number(value: Option<f64>, decimals: usize) -> Cell {
        value.filter(|value| value.is_finite()).map_or(Cell::None, |v| Cell::Number(v, decimals))
    }

    /// Returns a part of a whole, or an empty cell if the whole is 0.
    pub fn share(part: u64, whole: u64) -> Cell {
        if whole == 0 { Cell::None } else { Cell::Share(part as f64 / whole as f64) }
    }

    /// Returns the exact value for programs.
    fn value(&self) -> Option<String> {
        match self {
            Cell::Count(count) => Some(count.to_string()),
            Cell::Number(number, _) | Cell::Share(number) => Some(number.to_string()),
            Cell::Markup(_, text) => Some(text.clone()),
            Cell::Text(_) | Cell::None => None,
        }
    }
}

impl Render for Cell {
    fn render(&self) -> Markup {
        match self {
            Cell::Text(text) => html! { (text) },
            Cell::Markup(markup, _) => markup.clone(),
            Cell::Count(count) => PreEscaped(grouped(*count)),
            Cell::Number(number, decimals) => PreEscaped(format!("{number:.decimals$}")),
            Cell::Share(share) => PreEscaped(format!("{:.2}%", share * 100.0)),
            Cell::None => html! { span.quiet title="no value" { "–" } },
        }
    }
}

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Prose,
    Number,
}

#[derive(Clone, Debug)]
struct Column {
    name: String,
    kind: Kind,
    /// Initially hidden.
    is_more: bool,
    /// Quantity by which the script replaces the values for an interval of time.
    live: Option<&'static str>,
}

/// Table whose first column names the rows.
///
/// ```
/// # use sim_report::page::{Cell, Table};
/// let table = Table::new("levels", "Hits of each level").text("Level").number("Hits");
/// let html = table.row(["L1D".into(), Cell::Count(1234)]).html().into_string();
/// assert!(html.contains("1,234"));
/// ```
#[derive(Clone, Debug)]
pub struct Table {
    id: String,
    caption: String,
    columns: Vec<Column>,
    rows: Vec<(Option<String>, Vec<Cell>)>,
    can_filter: bool,
    is_tall: bool,
    has_more: bool,
}

impl Table {
    /// Creates an empty table. The id is unique in the page.
    pub fn new(id: impl Into<String>, caption: impl Into<String>) -> Table {
        let (id, caption) = (id.into(), caption.into());
        Table {
            id,
            caption,
            columns: Vec::new(),
            rows: Vec::new(),
            can_filter: false,
            is_tall: false,
            has_more: false,
        }
    }

    /// Adds a column of words.
    #[must_use]
    pub fn text(self, name: impl Into<String>) -> Table {
        self.column(name, Kind::Text)
    }

    /// Adds a column of phrases, which stays wide enough to read them.
    #[must_use]
    pub fn prose(self, name: impl Into<String>) -> Table {
        self.column(name, Kind::Prose)
    }

    /// Adds a column of numbers.
    #[must_use]
    pub fn number(self, name: impl Into<String>) -> Table {
        self.column(name, Kind::Number)
    }

    fn column(mut self, name: impl Into<String>, kind: Kind) -> Table {
        self.columns.push(Column { name: name.into(), kind, is_more: self.has_more, live: None });
        self
    }

    /// Hides all columns that are added after this call until the reader asks for them.
    #[must_use]
    pub fn more(mut self) -> Table {
        self.has_more = true;
        self
    }

    /// Marks the last column: for an interval of time, the script replaces its values by those of
    /// this quantity, and empties the other columns of numbers.
    #[must_use]
    pub fn live(mut self, quantity: &'static str) -> Table {
        if let Some(column) = self.columns.last_mut() {
            column.live = Some(quantity);
        }
        self
    }

    /// Limits the height; the rows scroll.
    #[must_use]
    pub fn tall(mut self) -> Table {
        self.is_tall = true;
        self
    }

    /// Adds a box that filters the rows.
    #[must_use]
    pub fn filter(mut self) -> Table {
        self.can_filter = true;
        self
    }

    /// Adds a row and returns the table.
    #[must_use]
    pub fn row(mut self, cells: impl IntoIterator<Item = Cell>) -> Table {
        self.push(cells);
        self
    }

    /// Adds a row. Missing cells are empty.
    pub fn push(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.push_row(None, cells);
    }

    /// Adds a row with an id that is unique in the page.
    pub fn push_named(&mut self, id: String, cells: impl IntoIterator<Item = Cell>) {
        self.push_row(Some(id), cells);
    }

    fn push_row(&mut self, id: Option<String>, cells: impl IntoIterator<Item = Cell>) {
        let mut row: Vec<Cell> = cells.into_iter().collect();
        debug_assert!(row.len() <= self.columns.len(), "a cell without a column in {}", self.id);
        row.resize(self.columns.len(), Cell::None);
        self.rows.push((id, row));
    }

    /// Returns whether the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the table in a box that scrolls sideways on a narrow screen.
    pub fn html(&self) -> Markup {
        if !self.has_more {
            return self.boxed();
        }
        html! { div.columns {
            label.all-columns { input type="checkbox"; " All columns of: " (self.caption) }
            (self.boxed())
        } }
    }

    fn boxed(&self) -> Markup {
        let filter = self.can_filter.then_some("");
        let caption_id = format!("{}-caption", self.id);
        let class = if self.is_tall { "wide tall" } else { "wide" };
        html! {
            div class=(class) tabindex="0" role="region" aria-labelledby=(caption_id) {
                table id=(self.id) data-filter=[filter] {
                    caption { span id=(caption_id) { (self.caption) } }
                    thead { tr { @for column in &self.columns {
                        th scope="col" class=(column.class()) data-live=[column.live] { (column.name) }
                    } } }
                    tbody { @for (id, row) in &self.rows { (self.row_html(id.as_deref(), row)) } }
                }
            }
        }
    }

    fn row_html(&self, id: Option<&str>, row: &[Cell]) -> Markup {
        html! {
            tr id=[id] { @for (i, (cell, column)) in row.iter().zip(&self.columns).enumerate() {
                @if i == 0 {
                    th scope="row" class=(column.class()) data-value=[cell.value()] { (cell) }
                } @else {
                    td class=(column.class()) data-value=[cell.value()] { (cell) }
                }
            } }
        }
    }
}

impl Column {
    fn class(&self) -> &'static str {
        match (self.kind, self.is_more) {
            (kind, false) => kind.class(),
            (Kind::Text, true) => "text more",
            (Kind::Prose, true) => "prose more",
            (Kind::Number, true) => "number more",
        }
    }
}

impl Kind {
    fn class(self) -> &'static str {
        match self {
            Kind::Text => "text",
            Kind::Prose => "prose",
            Kind::Number => "number",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_printed_short_and_stored_in_full() {
        let table = Table::new("t", "Numbers").text("What").number("Value");
        let table = table
            .row(["a <b>".into(), 1_234_567.into()])
            .row(["ratio".into(), Cell::Number(1.0 / 3.0, 2)])
            .row(["part".into(), Cell::share(1, 8)])
            .row(["of nothing".into(), Cell::share(0, 0)])
            .row(["no number".into(), Cell::number(Some(f64::NAN), 1)]);
        let html = table.html().into_string();
        for part in [
            "a &lt;b&gt;</th>",
            r#"data-value="1234567">1,234,567</td>"#,
            r#"data-value="0.3333333333333333">0.33</td>"#,
            r#"data-value="0.125">12.50%</td>"#,
            r#"<caption><span id="t-caption">Numbers</span></caption>"#,
            r#"<th scope="col" class="number">Value</th>"#,
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
        assert!(!html.contains("NaN"), "{html}");
    }
}
