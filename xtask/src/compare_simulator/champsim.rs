//! Reads the counts that ChampSim prints as text.

/// Line that ChampSim prints before anything else.
const BANNER: &str = "ChampSim Multicore Out-of-Order Simulator";
/// Line before the counts of the instructions after the warm-up.
const COUNTED: &str = "Region of Interest Statistics";

/// Counts of one kind of request at one cache or TLB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Requests {
    pub(super) accesses: u64,
    /// Misses that needed a request of their own: those that joined an earlier one are taken off.
    pub(super) misses: u64,
}

/// Returns why this text is not the report of a ChampSim run with one core.
pub(super) fn check(report: &str) -> Result<(), String> {
    if !report.contains(BANNER) {
        return Err("is not ChampSim: its output does not begin with ChampSim's title".to_owned());
    }
    match report.split_once(COUNTED) {
        None => Err(format!("prints no '{COUNTED}'; its output cannot be read")),
        Some(_) if core(report).is_none() => {
            Err("prints no instructions and cycles of CPU 0; its output cannot be read".to_owned())
        }
        Some(_) => Ok(()),
    }
}

/// Returns the instructions and cycles of core 0.
pub(super) fn core(report: &str) -> Option<(u64, u64)> {
    let line = counted(report).find(|line| line.starts_with("CPU 0 cumulative IPC:"))?;
    Some((number(line, "instructions:")?, number(line, "cycles:")?))
}

/// Returns the branch mispredictions for each 1000 instructions.
pub(super) fn branch_mpki(report: &str) -> Option<f64> {
    let line = counted(report).find(|line| line.starts_with("CPU 0 Branch Prediction"))?;
    word(line, "MPKI:")?.parse().ok()
}

/// Returns the requests of one kind, such as `LOAD`, at one unit, such as `cpu0_L1D`.
pub(super) fn requests(report: &str, unit: &str, kind: &str) -> Option<Requests> {
    let name = format!("cpu0->{unit}");
    let line = counted(report).find(|line| {
        let mut words = line.split_whitespace();
        words.next() == Some(&name) && words.next() == Some(kind) && line.contains("ACCESS:")
    })?;
    let misses = number(line, " MISS:")?.saturating_sub(number(line, "MSHR_MERGE:")?);
    Some(Requests { accesses: number(line, "ACCESS:")?, misses })
}

fn counted(report: &str) -> impl Iterator<Item = &str> {
    report.split_once(COUNTED).map_or("", |(_, counted)| counted).lines()
}

/// Returns the word after a label.
fn word<'l>(line: &'l str, label: &str) -> Option<&'l str> {
    line.split_once(label)?.1.split_whitespace().next()
}

fn number(line: &str, label: &str) -> Option<u64> {
    word(line, label)?.parse().ok()
}

#[cfg(test)]
pub(super) const REPORT: &str = "\
*** ChampSim Multicore Out-of-Order Simulator ***
Warmup Instructions: 200
CPU 0 cumulative IPC: 9.9 instructions: 1 cycles: 1

Region of Interest Statistics

CPU 0 cumulative IPC: 2 instructions: 1000 cycles: 500
CPU 0 Branch Prediction Accuracy: 90.5% MPKI: 3.5 Average ROB Occupancy at Mispredict: 20
cpu0->cpu0_L1D TOTAL        ACCESS:        300 HIT:        250 MISS:         50 MSHR_MERGE:         15
cpu0->cpu0_L1D LOAD         ACCESS:        200 HIT:        160 MISS:         40 MSHR_MERGE:         10
cpu0->cpu0_L1D RFO          ACCESS:        100 HIT:         90 MISS:         10 MSHR_MERGE:          5
cpu0->cpu0_L2C LOAD         ACCESS:         30 HIT:         28 MISS:          2 MSHR_MERGE:          0
cpu0->cpu0_L2C RFO          ACCESS:          5 HIT:          4 MISS:          1 MSHR_MERGE:          0
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_after_the_warm_up_and_without_joined_misses() {
        assert_eq!(check(REPORT), Ok(()));
        assert_eq!(core(REPORT), Some((1000, 500)));
        assert_eq!(branch_mpki(REPORT), Some(3.5));
        let expected = Some(Requests { accesses: 200, misses: 30 });
        assert_eq!(requests(REPORT, "cpu0_L1D", "LOAD"), expected);
        assert_eq!(requests(REPORT, "cpu0_L1I", "LOAD"), None);
    }

    #[test]
    fn other_programs_and_reports_are_refused_with_a_reason() {
        let refused = |text: &str| check(text).expect_err("not a report");
        assert!(refused("hello\n").starts_with("is not ChampSim"));
        let cut = REPORT.split_once("Region").map_or("", |(head, _)| head);
        assert!(refused(cut).starts_with("prints no 'Region"));
        assert!(refused(&REPORT.replace("cycles: 500", "")).starts_with("prints no instructions"));
    }
}
