//! The command line of `n2sim` and its commands. The arguments of each command are in the file of
//! the command.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::capture::args::CaptureArgs;
use crate::commands::book::BookArgs;
use crate::commands::calibrate::CalibrateArgs;
use crate::commands::check::CheckArgs;
use crate::commands::completions::CompletionsArgs;
use crate::commands::counterfactual::CounterfactualArgs;
use crate::commands::course::CourseArgs;
use crate::commands::diff::DiffArgs;
use crate::commands::doctor::DoctorArgs;
use crate::commands::estimate::EstimateArgs;
use crate::commands::event_bus::EventBusArgs;
use crate::commands::explain::ExplainArgs;
use crate::commands::flow::FlowArgs;
use crate::commands::functions::FunctionsArgs;
use crate::commands::lint::LintArgs;
use crate::commands::list::ListArgs;
use crate::commands::litmus::LitmusArgs;
use crate::commands::man::ManArgs;
use crate::commands::mcp::McpArgs;
use crate::commands::membench::MembenchArgs;
use crate::commands::perf_stat::PerfStatArgs;
use crate::commands::pipeline::PipelineArgs;
use crate::commands::plan::PlanArgs;
use crate::commands::playground::PlaygroundArgs;
use crate::commands::program_pmu::ProgramPmuArgs;
use crate::commands::record::RecordArgs;
use crate::commands::report::ReportArgs;
use crate::commands::run::RunArgs;
use crate::commands::scaling::ScalingArgs;
use crate::commands::space::SpaceArgs;
use crate::commands::spe::SpeArgs;
use crate::commands::stat::StatArgs;
use crate::commands::sweep::SweepArgs;
use crate::commands::trace::TraceArgs;
use crate::commands::validate::ValidateArgs;
use crate::help;

/// Replay recorded AArch64 programs on a model of the Arm Neoverse N2 and count its PMU events
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Memory limit for the code, the readers and the cores of a trace
    ///
    /// The suffixes k, M and G are powers of 1000. The default is three quarters of the available
    /// memory.
    #[arg(long, global = true, value_name = "SIZE", value_parser = crate::host::memory::size)]
    #[arg(allow_negative_numbers = true, hide_short_help = true)]
    #[arg(help_heading = "Memory of the host")]
    pub(crate) max_memory: Option<u64>,
}

impl Args {
    /// Reads the words of a command line; the first is the program's name.
    pub(crate) fn read(words: Vec<OsString>) -> Result<Args, clap::Error> {
        let matches = help::grouped(Args::command()).try_get_matches_from(words)?;
        Args::from_arg_matches(&matches)
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Book(BookArgs),
    Calibrate(CalibrateArgs),
    Capture(CaptureArgs),
    Check(CheckArgs),
    Completions(CompletionsArgs),
    Counterfactual(CounterfactualArgs),
    Course(CourseArgs),
    Diff(DiffArgs),
    Doctor(DoctorArgs),
    Estimate(Box<EstimateArgs>),
    #[command(alias = "bus")]
    EventBus(EventBusArgs),
    Explain(ExplainArgs),
    Flow(FlowArgs),
    Functions(FunctionsArgs),
    Lint(LintArgs),
    List(ListArgs),
    Litmus(LitmusArgs),
    Man(ManArgs),
    Mcp(McpArgs),
    #[command(alias = "ladder")]
    Membench(MembenchArgs),
    PerfStat(PerfStatArgs),
    Pipeline(PipelineArgs),
    Plan(PlanArgs),
    Playground(PlaygroundArgs),
    ProgramPmu(ProgramPmuArgs),
    Record(RecordArgs),
    Report(ReportArgs),
    Run(Box<RunArgs>),
    Scaling(ScalingArgs),
    Space(SpaceArgs),
    Spe(SpeArgs),
    Stat(Box<StatArgs>),
    Sweep(SweepArgs),
    Trace(TraceArgs),
    Validate(ValidateArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::old_forms;

    #[test]
    fn the_command_line_is_consistent() {
        help::grouped(Args::command()).debug_assert();
    }

    #[test]
    fn every_command_is_in_one_group_of_the_help() {
        let command = Args::command();
        let mut names: Vec<&str> = command.get_subcommands().map(|one| one.get_name()).collect();
        let mut grouped: Vec<&str> =
            help::GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        names.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(names, grouped);
        let text = help::grouped(Args::command()).render_help().to_string();
        for command in Args::command().get_subcommands() {
            let (name, about) = (command.get_name(), command.get_about().expect("a sentence"));
            let line = text.lines().find(|line| line.trim_start().starts_with(&format!("{name} ")));
            assert!(line.is_some_and(|line| line.ends_with(&about.to_string())), "{name}: {text}");
        }
    }

    /// Returns the arguments of a command line, in its old or its current form.
    fn arguments(line: &str) -> String {
        let words = line.split(' ').map(OsString::from).collect();
        let args =
            Args::read(old_forms::current(words)).unwrap_or_else(|error| panic!("{line}: {error}"));
        format!("{args:?}")
    }

    #[test]
    fn old_names_and_forms_give_the_same_arguments_as_the_current_ones() {
        for (old, current) in [
            ("bus a.n2t", "event-bus a.n2t"),
            ("ladder tlb", "membench tlb"),
            ("stat a.n2t -e x --tick 1ms", "stat a.n2t -e x --mux-interval 1ms"),
            ("report a.n2t --tick 1ms", "report a.n2t --mux-interval 1ms"),
            ("validate a.n2t --tick 1ms", "validate a.n2t --mux-interval 1ms"),
            ("perf-stat --tick 1ms -- -e x", "perf-stat --mux-interval 1ms -- -e x"),
            (
                "trace regions a.n2t -o b --lesson 1k --draw 2",
                "trace regions a.n2t -o b --functional-warmup 1k --selection-seed 2",
            ),
            ("diff --runs a b --least 5", "diff --runs a b --min-change 5"),
            ("explain --why a --ways 3", "explain --why a --max-variants 3"),
            ("sweep a --plots b --of c", "sweep a --plots b --plot-metric c"),
            ("spe --against a.n2t", "spe --compare-with a.n2t"),
            ("stat --counterfactual -j a.n2t", "counterfactual -j a.n2t"),
            ("stat a.n2t --plan -e x --tick 1ms", "plan a.n2t -e x --mux-interval 1ms"),
            ("stat --program-pmu a.n2t -o b", "program-pmu a.n2t -o b"),
            ("stat a.n2t --per-function --elf b -x,", "functions a.n2t --elf b -x,"),
            ("stat --regions a.toml b.n2t -M ipc", "estimate --regions a.toml b.n2t -M ipc"),
            ("stat --jobs 2 a.n2t --stalls", "estimate --jobs 2 a.n2t --stalls"),
        ] {
            let [old, current] = [old, current].map(|line| arguments(&format!("n2sim {line}")));
            assert_eq!(old, current);
        }
    }

    #[test]
    fn the_help_does_not_show_old_names() {
        let old = ["tick", "lesson", "draw", "least", "ways", "of", "against", "plan"];
        for command in Args::command().get_subcommands_mut() {
            assert!(!["bus", "ladder"].contains(&command.get_name()));
            let help = command.render_long_help().to_string();
            for option in old {
                assert!(!help.contains(&format!("--{option} ")), "{option}: {help}");
            }
        }
    }

    #[test]
    fn the_short_help_of_stat_fits_on_a_screen() {
        let mut command = Args::command();
        let stat = command.find_subcommand_mut("stat").expect("a command");
        let text = stat.render_help().to_string();
        assert!(text.lines().count() <= 50, "{} lines: {text}", text.lines().count());
    }

    #[test]
    fn no_option_excludes_more_than_three_others() {
        for command in Args::command().get_subcommands() {
            for arg in command.get_arguments() {
                let others = command.get_arg_conflicts_with(arg).len();
                let limit = if arg.is_exclusive_set() { usize::MAX } else { 3 };
                let (command, arg) = (command.get_name(), arg.get_id());
                assert!(others <= limit, "{command}: {arg} excludes {others} options");
            }
        }
    }
}
