//! Matrix of cases by machines, with a group of rows for each section of the guide.

use maud::{Markup, html};

use super::super::judged::Judged;
use super::cases::{Row, rows};
use super::marked;

/// Returns the matrix.
pub(super) fn matrix(machines: &[Judged]) -> Markup {
    let rows = rows(machines);
    html! {
        h3 #matrix { "Cases by machines" }
        div.wide.tall.matrix tabindex="0" role="region" aria-labelledby="matrix" { table {
            thead { tr {
                th scope="col" { "Case" }
                @for one in machines { th scope="col" { (one.name) } }
            } }
            @for (section, of_section) in sections(&rows) {
                tbody data-group {
                    tr.section { th scope="rowgroup" colspan=(machines.len() + 1) { (section) } }
                    @for row in of_section { (line(row)) }
                }
            }
        } }
    }
}

fn line(row: Row<'_>) -> Markup {
    let [answer, section, event] = row.facets();
    html! {
        tr data-item data-answer=(answer) data-section=(section) data-event=(event) {
            th scope="row" { a href={ "#" (row.id()) } { (row.case().claim) } }
            @for answer in row.answers() { td { (marked(answer)) } }
        }
    }
}

/// Returns the cases of each section, in the order of the sections' numbers.
fn sections<'a>(rows: &[Row<'a>]) -> Vec<(&'a str, Vec<Row<'a>>)> {
    let mut sections: Vec<(&str, Vec<Row<'a>>)> = Vec::new();
    for row in rows {
        let section = row.case().guide.as_str();
        match sections.iter_mut().find(|(own, _)| *own == section) {
            Some((_, of_section)) => of_section.push(*row),
            None => sections.push((section, vec![*row])),
        }
    }
    sections.sort_by_key(|(section, _)| order(section));
    sections
}

/// Returns the words of a section, numbers by value: 4.10 is after 4.9.
fn order(section: &str) -> (String, Vec<u32>) {
    let start = section.find(|c: char| c.is_ascii_digit()).unwrap_or(section.len());
    let numbers = section[start..].split(|c: char| !c.is_ascii_digit());
    (section[..start].to_owned(), numbers.filter_map(|number| number.parse().ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::order;

    #[test]
    fn sections_are_in_the_order_of_their_numbers() {
        let mut sections = ["PMU guide 4.10.2", "PMU guide 4.9.11", "PMU guide 4.9.2", "Arm, 3"];
        sections.sort_by_key(|section| order(section));
        assert_eq!(sections, ["Arm, 3", "PMU guide 4.9.2", "PMU guide 4.9.11", "PMU guide 4.10.2"]);
    }
}
