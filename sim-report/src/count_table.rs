//! Reader of counts that `perf stat` or n2sim printed: text, CSV (`-x`) or JSON lines (`-j`). The
//! rows of one thread, CPU, socket, level or interval form one table.

mod csv;
mod error;
mod json;
mod row;
mod text;

use std::collections::BTreeMap;

use sim_core::{CoreEvent, EventName, PmuEvent};
use sim_metrics::Count;

use row::{Row, Value};

pub use error::CountTableError;

/// Tolerated relative difference of counters that are read one after another while the program
/// runs: in intervals, and on whole CPUs [assumed: some microseconds of a second].
const READING_TOLERANCE: f64 = 0.01;
/// Tolerated relative error of an estimate [assumed: programs change from phase to phase].
const ESTIMATE_TOLERANCE: f64 = 0.1;

/// Event that a table lists under two names, with different counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TwoNames {
    /// One name with its count.
    pub first: (String, u64),
    /// Other name with its count.
    pub second: (String, u64),
}

/// Core whose counts a reader takes, by the names of its PMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedCore {
    /// Name on the command line and, with underscores, in the name of its PMU.
    pub name: &'static str,
    /// Name in sentences.
    pub title: &'static str,
}

/// The Neoverse N2.
pub const NEOVERSE_N2: CountedCore = CountedCore { name: "neoverse-n2", title: "Neoverse N2" };
/// The Cortex-A53.
pub const CORTEX_A53: CountedCore = CountedCore { name: "cortex-a53", title: "Cortex-A53" };

/// Counts of one window on one thread or CPU. `E` is the type of the core's events.
#[derive(Clone, Debug, PartialEq)]
pub struct CountTable<E = PmuEvent> {
    /// Thread, CPU, function or other owner, as printed; empty if there is only one.
    pub owner: String,
    /// Whether the counts belong to a function.
    pub is_function: bool,
    /// Counts by event.
    pub counts: BTreeMap<E, Count>,
    /// Names of the events in the file.
    names: BTreeMap<E, String>,
    /// Spreads of the events that are means of several runs.
    spreads: BTreeMap<E, f64>,
    shares: BTreeMap<E, f64>,
    /// Events that have two names with different counts.
    pub two_names: Vec<TwoNames>,
    /// Requested events without a count.
    pub missing: Vec<String>,
    /// Names that are not events of this core, such as task-clock.
    pub unknown: Vec<String>,
}

impl<E: CoreEvent> CountTable<E> {
    /// Moves the counts of events that the core does not have to those of unknown names.
    pub fn leave_out(&mut self, has: impl Fn(E) -> bool) {
        let absent: Vec<E> = self.counts.keys().copied().filter(|event| !has(*event)).collect();
        for event in absent {
            self.counts.remove(&event);
            let name = self.names.remove(&event);
            self.unknown.push(name.unwrap_or_else(|| event.perf_name()));
        }
    }

    fn new(owner: String, is_function: bool) -> CountTable<E> {
        CountTable {
            owner,
            is_function,
            counts: BTreeMap::new(),
            names: BTreeMap::new(),
            spreads: BTreeMap::new(),
            shares: BTreeMap::new(),
            two_names: Vec::new(),
            missing: Vec::new(),
            unknown: Vec::new(),
        }
    }

    /// Returns the standard deviation of a mean of several runs (`perf stat -r`), as a share of the
    /// mean; `None` for a count of one run.
    pub fn spread(&self, event: E) -> Option<f64> {
        self.spreads.get(&event).copied()
    }

    /// Returns the share of the time for which a scaled count was counted; `None` for a count that
    /// was not scaled.
    pub fn share(&self, event: E) -> Option<f64> {
        self.shares.get(&event).copied()
    }

    /// Returns the number of events that were counted for part of the time and scaled.
    pub fn estimates(&self) -> usize {
        self.counts.values().filter(|count| count.is_estimate).count()
    }
}

/// Tolerance of the comparisons.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Tolerance that the form of the file makes likely.
    Usual,
    /// Relative tolerance for every count.
    Given(f64),
}

/// Rows of a file of counts, before any event is looked up.
#[derive(Debug)]
pub struct CountFile {
    lines: Vec<Line>,
    /// Error at the first line that could not be read; the lines after it are not there.
    fault: Option<CountTableError>,
}

/// Line that matters.
#[derive(Debug)]
enum Line {
    /// A count, with the number of its line.
    Row(Row, usize),
    /// The head of a run.
    RunStart,
}

/// Reads all tables of a file with counts of a Neoverse N2, in its order.
///
/// # Errors
/// Fails if a line is not part of a table, or if no line holds a count.
pub fn read(text: &str, tolerance: Tolerance) -> Result<Vec<CountTable>, CountTableError> {
    CountFile::parse(text).tables(NEOVERSE_N2, tolerance)
}

impl CountFile {
    /// Reads the rows. [`CountFile::tables`] returns the error of a line that is not part of a
    /// table.
    pub fn parse(text: &str) -> CountFile {
        let is_content = |line: &&str| !line.is_empty() && !line.starts_with('#');
        let is_json = text.lines().map(str::trim).find(is_content).is_some_and(is_object);
        let separator = if is_json { None } else { csv::separator(text) };
        let mut place = text::Place::default();
        let mut file = CountFile { lines: Vec::new(), fault: None };
        for (i, line) in text.lines().enumerate() {
            let number = i + 1;
            let row = match separator {
                _ if is_json => json::row(line, number),
                Some(separator) => csv::row(line, number, separator),
                None => place.row(line, number),
            };
            match row {
                Ok(Some(row)) => file.lines.push(Line::Row(row, number)),
                Ok(None) if starts_a_run(line) => file.lines.push(Line::RunStart),
                Ok(None) => {}
                Err(fault) => {
                    file.fault = Some(fault);
                    break;
                }
            }
        }
        file
    }

    /// Returns the cores that PMUs in the file are named after, such as `cortex-a53`, in order of
    /// appearance.
    pub fn cores(&self) -> Vec<String> {
        let mut cores: Vec<String> = Vec::new();
        for line in &self.lines {
            let Line::Row(row, _) = line else { continue };
            let core = EventName::split(&row.event).ok().and_then(|name| name.core());
            if let Some(core) = core.filter(|core| !cores.contains(core)) {
                cores.push(core);
            }
        }
        cores
    }

    /// Returns the tables of one core, in the order of the file. Counts of a PMU that is named
    /// after another core are unknown events, and so are events without a PMU in a file with PMUs
    /// of several cores.
    ///
    /// # Errors
    /// Fails if a line is not part of a table, or if no line holds a count of this core.
    pub fn tables<E: CoreEvent>(
        self,
        core: CountedCore,
        tolerance: Tolerance,
    ) -> Result<Vec<CountTable<E>>, CountTableError> {
        let is_mixed = self.cores().len() > 1;
        let is_of_core = |name: &EventName<'_>| match name.core() {
            Some(own) => own == core.name,
            None => !is_mixed && name.is_of_core(),
        };
        let mut tables = Tables { tolerance, ..Tables::default() };
        for line in self.lines {
            match line {
                Line::RunStart => tables.start_run(),
                Line::Row(row, number) => {
                    let name = EventName::split(&row.event).ok().filter(is_of_core);
                    let event = name.as_ref().and_then(E::named);
                    tables.insert(row, event, number)?;
                }
            }
        }
        match self.fault {
            Some(fault) => Err(fault),
            None => tables.finish(core),
        }
    }
}

fn is_object(line: &str) -> bool {
    line.starts_with('{')
}

/// Returns the modifiers of a printed name that select levels, guest and host.
fn levels(printed: &str) -> String {
    let modifiers = EventName::split(printed).map_or("", |name| name.modifiers);
    "ukhGH".chars().filter(|level| modifiers.contains(*level)).collect()
}

/// Returns whether perf writes this line before the counts of another run in the same file.
fn starts_a_run(line: &str) -> bool {
    text::is_head(line) || line.starts_with("# started on")
}

/// Tables of a file, under construction.
#[derive(Debug)]
struct Tables<E> {
    tables: Vec<CountTable<E>>,
    /// Index of the first table of the present run.
    run_start: usize,
    /// Number of the present run, from 1.
    run: usize,
    tolerance: Tolerance,
}

impl<E> Default for Tables<E> {
    fn default() -> Self {
        Tables { tables: Vec::new(), run_start: 0, run: 1, tolerance: Tolerance::Usual }
    }
}

impl<E: CoreEvent> Tables<E> {
    fn start_run(&mut self) {
        if self.tables.len() > self.run_start {
            self.run_start = self.tables.len();
            self.run += 1;
        }
    }

    fn table(&mut self, owner: &str, is_function: bool) -> &mut CountTable<E> {
        let owner = match self.run {
            1 => owner.to_owned(),
            n => format!("run {n} {owner}").trim_end().to_owned(),
        };
        let known = self.tables[self.run_start..].iter().position(|table| table.owner == owner);
        let at = known.map_or(self.tables.len(), |at| at + self.run_start);
        if at == self.tables.len() {
            self.tables.push(CountTable::new(owner, is_function));
        }
        &mut self.tables[at]
    }

    fn insert(&mut self, row: Row, event: Option<E>, line: usize) -> Result<(), CountTableError> {
        let levels = levels(&row.event);
        let is_shared = !row.is_function && is_read_while_running(&row.owner);
        let tolerance = self.tolerance;
        let owner = [row.owner.as_str(), &levels].join(" ");
        let table = self.table(owner.trim(), row.is_function);
        let Some(event) = event else {
            table.unknown.push(row.event);
            return Ok(());
        };
        let value = match row.value {
            Value::Missing => {
                table.missing.push(row.event);
                return Ok(());
            }
            Value::Fraction => {
                let value = format!("{} with a fraction", row.event);
                return Err(CountTableError::Value { line, value });
            }
            Value::Count(value) => value,
        };
        let is_estimate = row.share < 1.0;
        let tolerance = match tolerance {
            Tolerance::Given(share) => share,
            Tolerance::Usual if is_estimate => ESTIMATE_TOLERANCE,
            Tolerance::Usual if is_shared => READING_TOLERANCE,
            Tolerance::Usual => 0.0,
        };
        // Means are printed as whole numbers.
        let rounding = u64::from(row.spread.is_some());
        if let Some(spread) = row.spread {
            table.spreads.insert(event, spread);
        }
        if is_estimate {
            table.shares.insert(event, row.share);
        }
        table.add(event, &row.event, Count { value, tolerance, rounding, is_estimate }, line)
    }

    fn finish(self, core: CountedCore) -> Result<Vec<CountTable<E>>, CountTableError> {
        let counted: Vec<_> =
            self.tables.into_iter().filter(|table| !table.counts.is_empty()).collect();
        match counted.is_empty() {
            true => Err(CountTableError::Nothing { core: core.title }),
            false => Ok(counted),
        }
    }
}

impl<E: CoreEvent> CountTable<E> {
    /// Adds a count. One event may appear in a table under two names, not twice under one.
    fn add(
        &mut self,
        event: E,
        name: &str,
        count: Count,
        line: usize,
    ) -> Result<(), CountTableError> {
        let Some(first) = self.counts.get(&event).map(|count| count.value) else {
            self.counts.insert(event, count);
            self.names.insert(event, name.to_owned());
            return Ok(());
        };
        let first_name = self.names[&event].clone();
        let second = count.value;
        if first_name == name && first != second {
            return Err(CountTableError::Twice { line, event: first_name, first, second });
        }
        let allowed = first.max(second) as f64 * count.tolerance + count.rounding as f64;
        if first.abs_diff(second) as f64 > allowed {
            let second = (name.to_owned(), second);
            self.two_names.push(TwoNames { first: (first_name, first), second });
        }
        Ok(())
    }
}

/// Returns whether the counts are of an interval or a CPU and so are read while programs run.
fn is_read_while_running(owner: &str) -> bool {
    owner.split(' ').any(|word| {
        let is_time = word.contains('.') && word.parse::<f64>().is_ok();
        let digits = word.trim_start_matches("CPU").trim_start_matches(['S', 'N', 'D']);
        let is_cpu = digits.len() < word.len() && digits.starts_with(|c: char| c.is_ascii_digit());
        is_time || is_cpu
    })
}

#[cfg(test)]
mod tests {
    use super::row::is_function;
    use super::*;
    use PmuEvent::*;

    fn tables(text: &str) -> Vec<CountTable> {
        read(text, Tolerance::Usual).expect("the file holds counts")
    }

    fn counts(text: &str) -> Vec<(String, Vec<(PmuEvent, u64)>)> {
        let values = |table: &CountTable| {
            table.counts.iter().map(|(event, count)| (*event, count.value)).collect()
        };
        tables(text).into_iter().map(|table| (table.owner.clone(), values(&table))).collect()
    }

    fn message(text: &str) -> String {
        let error = read(text, Tolerance::Usual).expect_err("no counts");
        format!("{}: {error}", error.line().unwrap_or(0))
    }

    #[test]
    fn every_form_of_perf_output_gives_the_same_table() {
        let csv = "# started on Monday\n\n\
            40,,cycles,13333333,100.00,3.000,GHz\n\
            ,,,,,1.5,extra metric\n\
            13.33,msec,task-clock,13333333,100.00,0.988,CPUs utilized\n\
            <not counted>,,r10,0,0.00,,\n\
            7000000,,l1d_cache,13333333,100.00,,\n";
        let json = "{\"counter-value\" : \"40.000000\", \"unit\" : \"\", \"event\" : \"cycles\", \"event-runtime\" : 1, \"pcnt-running\" : 100.00}\n\
            {\"metric-value\" : \"1.5\", \"metric-unit\" : \"extra\"}\n\
            {\"counter-value\" : \"7000000.000000\", \"unit\" : \"\", \"event\" : \"l1d_cache\", \"event-runtime\" : 1, \"pcnt-running\" : 100.00}\n";
        let text = "\n Performance counter stats for './a b':\n\n\
            \x20               40      cycles                    #    3.000 GHz\n\
            \x20                                                  #     1.5 extra metric\n\
            \x20            13.33 msec task-clock                #    0.988 CPUs utilized\n\
            \x20    <not counted>      r10                                       (0.00%)\n\
            \x20        7,000,000      l1d_cache                                 ( +-  0.50% )\n\n\
            \x20      0.002786 seconds time elapsed\n\n       0.001000 seconds user\n";
        let expected = vec![(String::new(), vec![(L1D_CACHE, 7_000_000), (CPU_CYCLES, 40)])];
        for form in [csv, json, text, &csv.replace(',', ";"), &text.replace(',', ".")] {
            assert_eq!(counts(form), expected, "{form}");
            assert_eq!(tables(form)[0].estimates(), 0);
        }
        assert_eq!(tables(text)[0].missing, ["r10"]);
        assert_eq!(tables(text)[0].unknown, ["task-clock"]);
        assert_eq!(counts(&text.replace(',', "\u{202f}")), expected, "a narrow blank");
    }

    #[test]
    fn threads_sockets_intervals_and_levels_make_tables_of_their_own() {
        let csv = "prog-1,4,,ld_spec,9,100.00,,\nprog-2,5,,ld_spec,9,100.00,,\n";
        let of = |owner: &str, count| (owner.to_owned(), vec![(LD_SPEC, count)]);
        assert_eq!(counts(csv), [of("prog-1", 4), of("prog-2", 5)]);
        let csv = "     1.000100000,S0,2,4,,ld_spec:u,9,39.00,,\n";
        assert_eq!(counts(csv), [of("1.000100000 S0 u", 4)]);
        assert_eq!(tables(csv)[0].estimates(), 1);
        let text = "#           time socket cpus             counts unit events\n\
            \x20    0.100184046 S0        2                  4      ld_spec                (66.67%)\n\
            \x20    0.100184046 S0        1    <not supported>      l3d_cache\n\
            \x20    0.200184046 S0        2                  5      ld_spec\n";
        assert_eq!(counts(text), [of("0.100184046 S0", 4), of("0.200184046 S0", 5)]);
        let text =
            "CPU0                    4      ld_spec:k\nCPU1                    5      ld_spec:k\n";
        assert_eq!(counts(text), [of("CPU0 k", 4), of("CPU1 k", 5)]);
        let json = "{\"interval\" : 0.1, \"cpu\" : \"3\", \"counter-value\" : \"4.0\", \"event\" : \"ld_spec\"}";
        assert_eq!(counts(json), [of("0.1 3", 4)]);
    }

    #[test]
    fn runs_in_one_file_have_separate_tables() {
        let text = " Performance counter stats for 'a':\n\n     4      ld_spec\n\n\
            \x20Performance counter stats for 'b':\n\n     5      ld_spec\n";
        let owner: Vec<String> = tables(text).into_iter().map(|table| table.owner).collect();
        assert_eq!(owner, ["", "run 2"]);
        let csv =
            "# started on Mon\n4,,ld_spec,9,100.00,,\n# started on Tue\n5,,ld_spec,9,100.00,,\n";
        assert_eq!(tables(csv).len(), 2);
    }

    #[test]
    fn an_event_is_recognized_in_every_spelling() {
        for name in ["ld_spec", "LD_SPEC", "r70", "r0070", "armv8_pmuv3_0/ld_spec/"] {
            assert_eq!(counts(&format!("4,,{name},9,100.00,,"))[0].1, [(LD_SPEC, 4)], "{name}");
        }
        let terms = "4,,armv8_pmuv3_0/event=0x70,long=1/u,9,100.00,,";
        assert_eq!(counts(terms), [("u".to_owned(), vec![(LD_SPEC, 4)])]);
        let foreign = "4,,ld_spec,9,100.00,,\n5,,arm_dsu_0/cycles/,9,100.00,,\n";
        assert_eq!(tables(foreign)[0].unknown, ["arm_dsu_0/cycles/"], "a cluster's cycles");
    }

    #[test]
    fn rows_of_another_core_are_unknown() {
        use sim_core::A53Event::{INST_RETIRED as RETIRED, LD_DEP_STALL};
        let text = "  40      armv8_cortex_a53/instructions/      (94.80%)\n\
            \x20  50      armv8_cortex_a57/instructions/      (99.19%)\n  3      armv8_cortex_a53/ld_dep_stall/\n\
            \x20  7      instructions\n";
        let file = CountFile::parse(text);
        assert_eq!(file.cores(), ["cortex-a53", "cortex-a57"]);
        let tables = file.tables::<sim_core::A53Event>(CORTEX_A53, Tolerance::Usual);
        let table = tables.expect("counts of the core").remove(0);
        let values: Vec<_> =
            table.counts.iter().map(|(event, count)| (*event, count.value)).collect();
        assert_eq!(values, [(RETIRED, 40), (LD_DEP_STALL, 3)]);
        assert_eq!(table.unknown, ["armv8_cortex_a57/instructions/", "instructions"]);
        assert!(message(text).starts_with("0: no line holds the count of a Neoverse N2 event"));
    }

    #[test]
    fn counts_of_one_event_under_two_names_are_compared() {
        let csv = "40,,cycles,9,100.00,,\n40,,cpu_cycles,9,100.00,,\n41,,r11,9,100.00,,\n";
        let two = &tables(csv)[0].two_names;
        assert_eq!(two.len(), 1);
        assert_eq!((two[0].first.1, two[0].second.0.as_str()), (40, "r11"));
    }

    #[test]
    fn the_tolerance_depends_on_the_form() {
        let tolerance = |csv: &str| tables(csv)[0].counts[&LD_SPEC].tolerance;
        assert_eq!(tolerance("4,,ld_spec,9,100.00,,"), 0.0);
        assert_eq!(tolerance("prog-1,4,,ld_spec,9,100.00,,"), 0.0, "a thread is stopped");
        assert_eq!(tolerance("1.5,4,,ld_spec,9,100.00,,"), READING_TOLERANCE);
        assert_eq!(tolerance("CPU1,4,,ld_spec,9,100.00,,"), READING_TOLERANCE);
        assert_eq!(tolerance("S0,2,4,,ld_spec,9,99.00,,"), ESTIMATE_TOLERANCE);
        let given = read("1.5,4,,ld_spec,9,50.00,,", Tolerance::Given(0.3)).expect("counts");
        assert_eq!(given[0].counts[&LD_SPEC].tolerance, 0.3);
    }

    /// Covers `perf stat -r 3` as perf 6.1 prints it: the spread comes before the share of the
    /// time.
    #[test]
    fn means_of_several_runs_have_their_spread() {
        let text = "\n Performance counter stats for './prog' (3 runs):\n\n\
            \x20             0.50 msec task-clock                       #    0.061 CPUs utilized            ( +- 13.33% )\n\
            \x20        1,000,123      cycles                           #    2.000 GHz                      ( +-  0.68% )\n\
            \x20               49      ld_spec                          #   83.872 K/sec                    ( +-  2.25% )  (66.67%)\n\
            \x20                0      st_spec                                                            ( +-  0.00% )\n\n\
            \x20          0.00825 +- 0.00199 seconds time elapsed  ( +- 24.17% )\n\n";
        let csv = "0.49,msec,task-clock,13.33%,494427,100.00,0.098,CPUs utilized\n\
            1000123,,cycles,0.68%,494427,100.00,2.000,GHz\n\
            49,,ld_spec,2.25%,494427,66.67,97.258,K/sec\n0,,st_spec,0.00%,494427,100.00,,\n";
        let object = |count: &str, event: &str, variance: &str, running: &str| {
            format!(
                "{{\"counter-value\" : \"{count}\", \"unit\" : \"\", \"event\" : \"{event}\", \"variance\" : {variance}, \
                 \"event-runtime\" : 499916, \"pcnt-running\" : {running}}}\n"
            )
        };
        let json = object("1000123.000000", "cycles", "0.68", "100.00")
            + &object("49.000000", "ld_spec", "2.25", "66.67")
            + &object("0.000000", "st_spec", "0.00", "100.00");
        let expected = [(CPU_CYCLES, 1_000_123, 0.0068), (LD_SPEC, 49, 0.0225), (ST_SPEC, 0, 0.0)];
        for form in [text, csv, &json] {
            let table = tables(form).remove(0);
            for (event, value, spread) in expected {
                let count = table.counts[&event];
                assert_eq!((count.value, count.rounding), (value, 1), "{form}");
                let found = table.spread(event).expect(form);
                assert!((found - spread).abs() < 1e-12, "{form}: {found}");
            }
            assert!(table.counts[&LD_SPEC].is_estimate && table.estimates() == 1, "{form}");
            let share = table.share(LD_SPEC).expect(form);
            assert!((share - 0.6667).abs() < 1e-9 && table.share(CPU_CYCLES).is_none(), "{form}");
        }
        let one = tables("4,,ld_spec,9,100.00,,").remove(0);
        assert_eq!((one.spread(LD_SPEC), one.counts[&LD_SPEC].rounding), (None, 0));
        let odd = tables(&text.replace("+-  0.68%", "+-  -nan%")).remove(0);
        assert_eq!((odd.spread(CPU_CYCLES), odd.counts[&CPU_CYCLES].value), (None, 1_000_123));
    }

    #[test]
    fn an_unreadable_line_is_refused_with_its_number() {
        assert!(message("").contains("no line holds the count"));
        assert!(message("hello, world").contains("no line holds the count"));
        assert!(message("{\"event\" : 1").starts_with("1: not a JSON object"));
        assert!(message("\n{\"event\" : \"ld_spec\"}").starts_with("2: `counter-value`"));
        let number = "{\"event\" : \"ld_spec\", \"counter-value\" : 4}";
        assert_eq!(counts(number), [(String::new(), vec![(LD_SPEC, 4)])]);
        let half = "4.5,,ld_spec,9,100.00,,";
        assert_eq!(message(half), "1: 'ld_spec with a fraction' is not a count");
        let twice = "4,,ld_spec,9,100.00,,\n5,,ld_spec,9,100.00,,";
        assert!(message(twice).starts_with("2: ld_spec occurs twice"), "{}", message(twice));
        let cut = "4,,ld_spec,9,100.00,,\n400,,st_sp";
        assert_eq!(message(cut), "2: '400,,st_sp' is not a perf stat row; fix or remove it");
        let text = "        4      ld_spec\n     1,23\n";
        assert!(message(text).starts_with("2: '1,23' is not a perf stat row"), "{}", message(text));
        let long = format!("<!doctype html>{}\n", "x".repeat(3000));
        let error = message(&long);
        assert!(error.len() < 150 && error.contains("xxx...' is not a perf stat row"), "{error}");
    }

    /// Covers the output of `n2sim functions`, and a name that contains the separator.
    #[test]
    fn each_function_has_its_own_table_in_every_form() {
        let text = " Performance counter stats for 'x':\n\n main:\n\n\
            \x20     9      cycles                #    2.750 GHz\n\n f(int, long):\n\n\
            \x20     4      cycles\n\n      0.001 seconds time elapsed (modeled)\n";
        let csv = "main,9,,cycles,1,100.00,2.750,GHz\n\"f(int, long)\",4,,cycles,1,100.00,,\n";
        let json = "{\"function\" : \"main\", \"counter-value\" : \"9\", \"event\" : \"cycles\"}\n\
            {\"function\" : \"f(int, long)\", \"counter-value\" : \"4\", \"event\" : \"cycles\"}\n";
        for form in [text, csv, json] {
            let of = |owner: &str, count| (owner.to_owned(), vec![(CPU_CYCLES, count)]);
            assert_eq!(counts(form), [of("main", 9), of("f(int, long)", 4)], "{form}");
            assert!(tables(form).iter().all(|table| table.is_function), "{form}");
        }
        for owner in ["prog-1", "1.5", "CPU0", "S0-D0-C1", "1.5 S0", "3", "S0-D0-L3-ID8", ""] {
            assert!(!is_function(owner), "{owner}");
        }
        let error = message(" Exact counts by function for 'x':\n\n  75.00%   3   1  0.5  main\n");
        assert!(error.starts_with("1: a table by function"), "{error}");
    }

    /// Covers column names, `--header` lines, chapter headings and metrics.
    #[test]
    fn lines_other_than_counts_are_skipped() {
        let expected = vec![(String::new(), vec![(LD_SPEC, 4)])];
        let csv = "counter-value,unit,event,event-runtime,pcnt-running,metric-value,metric-unit\n\
            4,,ld_spec,9,100.00,,\n,,,,,0.25,per cycle  ipc\n";
        let a53 = " Performance counter stats for 'x' (Cortex-A53):\n\n     4      ld_spec\n\n\
            \x20  0.554      instructions per cycle (at most 2)\n\
            \x20  0.100      cycles with two instructions, per cycle\n\n 0.0001 seconds time elapsed (modeled)\n\n\
            \x20Issue slots      400  100.00 %\n";
        let json = "{\"n2sim\": \"0.1.0\", \"trace\": \"x\"}\n{\"counter-value\": \"4\", \"event\": \"ld_spec\"}\n";
        let text = " Performance counter stats for 'x':\n\n Operations (PMU guide 4.13):\n\n\
            \x20     4      ld_spec\n\n    0.001 seconds time elapsed (modeled)\n\n Metrics:\n\n\
            \x20  0.2500  per cycle      ipc\n\n 147 events were counted: --all prints every one\n";
        for form in [csv, json, text, a53] {
            assert_eq!(counts(form), expected, "{form}");
            assert!(!tables(form)[0].is_function);
        }
    }
}
