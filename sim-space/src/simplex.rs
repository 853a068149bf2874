//! Linear programming in whole numbers: is there a sum of columns with these row totals, and if
//! not, which weights of the rows prove it?
//!
//! The first phase of the simplex method with integer pivoting (Edmonds): all entries share one
//! denominator, every division is exact, and no result depends on rounding. The entries are
//! determinants of the columns, which are 0 and 1 but for few, so they stay small.

/// Comparison of a row's total with its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// The total equals the bound.
    Equal,
    /// The total is at most the bound.
    AtMost,
    /// The total is at least the bound.
    AtLeast,
}

/// A row: what each column adds to it, and the bound of the total.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) parts: Vec<i128>,
    pub(crate) bound: Bound,
    /// Not negative.
    pub(crate) value: i128,
}

/// Answer to the question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// There is such a sum.
    Possible,
    /// There is none. The weighted sum of the rows is at most 0 in every column and more than 0 in
    /// the bounds. The weight of an [`Bound::AtMost`] row is at most 0, that of an
    /// [`Bound::AtLeast`] row at least 0.
    Impossible(Vec<i128>),
    /// The numbers grew over 127 bits.
    TooLarge,
}

/// Answers for rows of the same number of columns.
pub(crate) fn solve(rows: &[Row]) -> Answer {
    let mut tableau = Tableau::new(rows);
    match tableau.run() {
        None => Answer::TooLarge,
        Some(()) if tableau.shortfall() == 0 => Answer::Possible,
        Some(()) => Answer::Impossible(tableau.weights(rows)),
    }
}

/// Pivots without progress after which the first column is taken instead of the steepest one, which
/// cannot repeat forever (Bland).
const PATIENCE: usize = 40;

struct Tableau {
    /// One line for each row, the last entry being its value; then the line of costs.
    lines: Vec<Vec<i128>>,
    /// Column that has the value of each row.
    basis: Vec<usize>,
    denominator: i128,
    /// Number of columns without the artificial ones, which never enter again.
    open: usize,
    /// For each row, the column of its slack or artificial variable that starts as its value.
    starts: Vec<usize>,
}

impl Tableau {
    fn new(rows: &[Row]) -> Tableau {
        let own = rows.first().map_or(0, |row| row.parts.len());
        let slacks = rows.iter().filter(|row| row.bound != Bound::Equal).count();
        let artificial = rows.iter().filter(|row| row.bound != Bound::AtMost).count();
        let (open, width) = (own + slacks, own + slacks + artificial + 1);
        let (mut slack, mut start) = (own, open);
        let mut tableau = Tableau {
            lines: Vec::with_capacity(rows.len() + 1),
            basis: Vec::new(),
            denominator: 1,
            open,
            starts: Vec::new(),
        };
        let mut costs = vec![0; width];
        for row in rows {
            let mut line = row.parts.clone();
            line.resize(width, 0);
            line[width - 1] = row.value;
            if row.bound != Bound::Equal {
                line[slack] = if row.bound == Bound::AtMost { 1 } else { -1 };
                slack += 1;
            }
            if row.bound == Bound::AtMost {
                tableau.starts.push(slack - 1);
            } else {
                costs.iter_mut().zip(&line).for_each(|(cost, part)| *cost -= part);
                line[start] = 1;
                tableau.starts.push(start);
                start += 1;
            }
            tableau.lines.push(line);
        }
        tableau.basis.clone_from(&tableau.starts);
        tableau.lines.push(costs);
        tableau
    }

    fn costs(&self) -> &[i128] {
        self.lines.last().map_or(&[], Vec::as_slice)
    }

    /// Returns the sum by which the rows miss their bounds, times the denominator.
    fn shortfall(&self) -> i128 {
        -self.costs().last().copied().unwrap_or_default()
    }

    /// Pivots until no column improves. Returns `None` if a number is too large.
    fn run(&mut self) -> Option<()> {
        let mut idle = 0;
        while let Some(column) = self.entering(idle > PATIENCE) {
            let row = self.leaving(column)?;
            let is_idle = self.lines[row].last() == Some(&0);
            idle = if is_idle { idle + 1 } else { 0 };
            self.pivot(row, column)?;
        }
        Some(())
    }

    fn entering(&self, takes_first: bool) -> Option<usize> {
        let costs = &self.costs()[..self.open];
        let mut falling = costs.iter().enumerate().filter(|(_, cost)| **cost < 0);
        match takes_first {
            true => falling.next().map(|(column, _)| column),
            false => falling.min_by_key(|(_, cost)| **cost).map(|(column, _)| column),
        }
    }

    /// Returns the row that first reaches 0 as the column grows. There is one, since the shortfall
    /// cannot fall below 0.
    fn leaving(&self, column: usize) -> Option<usize> {
        let mut best: Option<(usize, i128, i128)> = None;
        for (row, line) in self.lines[..self.basis.len()].iter().enumerate() {
            let (part, value) = (line[column], *line.last()?);
            if part <= 0 {
                continue;
            }
            let is_better = match best {
                None => true,
                Some((known, best_part, best_value)) => {
                    let (own, other) =
                        (value.checked_mul(best_part)?, best_value.checked_mul(part)?);
                    own < other || own == other && self.basis[row] < self.basis[known]
                }
            };
            if is_better {
                best = Some((row, part, value));
            }
        }
        best.map(|(row, ..)| row)
    }

    fn pivot(&mut self, row: usize, column: usize) -> Option<()> {
        let chosen = self.lines[row].clone();
        let (pivot, denominator) = (chosen[column], self.denominator);
        let used: Vec<usize> = (0..chosen.len()).filter(|place| chosen[*place] != 0).collect();
        for (number, line) in self.lines.iter_mut().enumerate() {
            let factor = line[column];
            if number == row || factor == 0 && pivot == denominator {
                continue;
            }
            if pivot != denominator {
                let is_changed = |place: usize| factor != 0 && chosen[place] != 0;
                scale(line, pivot, denominator, is_changed)?;
            }
            if factor == 0 {
                continue;
            }
            for place in &used {
                let own = match pivot == denominator {
                    true => line[*place].checked_mul(pivot)?,
                    false => line[*place],
                };
                let changed = own.checked_sub(factor.checked_mul(chosen[*place])?)?;
                line[*place] = if denominator == 1 { changed } else { changed / denominator };
            }
        }
        self.basis[row] = column;
        self.denominator = pivot;
        Some(())
    }

    /// Returns the weights of the rows at the end, times the denominator.
    fn weights(&self, rows: &[Row]) -> Vec<i128> {
        let costs = self.costs();
        let weight = |(row, start): (&Row, &usize)| match row.bound {
            Bound::AtMost => -costs[*start],
            Bound::Equal | Bound::AtLeast => self.denominator - costs[*start],
        };
        rows.iter().zip(&self.starts).map(weight).collect()
    }
}

/// Multiplies a line for a new denominator. Entries that are changed next are divided after that,
/// so that every division is exact.
fn scale(
    line: &mut [i128],
    pivot: i128,
    denominator: i128,
    is_changed: impl Fn(usize) -> bool,
) -> Option<()> {
    for (place, entry) in line.iter_mut().enumerate().filter(|(_, entry)| **entry != 0) {
        *entry = entry.checked_mul(pivot)?;
        if !is_changed(place) {
            *entry /= denominator;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(parts: &[i128], bound: Bound, value: i128) -> Row {
        Row { parts: parts.to_vec(), bound, value }
    }

    #[test]
    fn a_sum_of_columns_is_possible() {
        let rows = [row(&[1, 1, 0], Bound::Equal, 7), row(&[0, 2, 1], Bound::Equal, 5)];
        assert_eq!(solve(&rows), Answer::Possible);
    }

    #[test]
    fn weights_prove_that_there_is_none() {
        // Accesses that hit or miss, and misses: seven misses of five accesses.
        let rows = [row(&[1, 1], Bound::Equal, 5), row(&[0, 1], Bound::Equal, 7)];
        let Answer::Impossible(weights) = solve(&rows) else { panic!("more misses than accesses") };
        assert_eq!(weights, [-1, 1]);
    }

    #[test]
    fn bounds_leave_room() {
        let at_most = |most| {
            solve(&[
                row(&[1, 1], Bound::AtLeast, 4),
                row(&[1, 1], Bound::AtMost, most),
                row(&[0, 1], Bound::AtLeast, 6),
            ])
        };
        assert_eq!(at_most(6), Answer::Possible);
        let Answer::Impossible(weights) = at_most(5) else { panic!("6 of at most 5") };
        assert_eq!(weights, [0, -1, 1]);
    }

    #[test]
    fn numbers_over_127_bits_are_reported() {
        let large = i128::MAX / 2;
        let rows = [row(&[3, 1], Bound::Equal, large), row(&[1, 3], Bound::Equal, large)];
        assert_eq!(solve(&rows), Answer::TooLarge);
    }

    #[test]
    fn no_rows_are_possible() {
        assert_eq!(solve(&[]), Answer::Possible);
    }
}
