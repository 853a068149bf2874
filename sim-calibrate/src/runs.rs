//! Predictions of the model, made in parallel and once each.
//!
//! A kernel is run again only for keys that it depends on. Which these are is learned from runs at
//! the ends of all ranges.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;

use crate::journal::{Journal, JournalError, Line};
use crate::key::Key;
use crate::point::Points;

/// A model that predicts the counts of kernels.
pub trait Model: Sync {
    /// Reason for which a run failed that has nothing to do with the values.
    type Error: Send;

    /// Returns false if the model has no machine with these values of all keys.
    fn has_machine(&self, values: &[i64]) -> bool {
        let _ = values;
        true
    }

    /// Returns the predictions of the points of one kernel, in their order, for the values of all
    /// keys; `None` if the model has no machine with these values.
    ///
    /// # Errors
    /// The run failed, and the search with it.
    fn predict(&self, kernel: usize, values: &[i64]) -> Result<Option<Vec<f64>>, Self::Error>;

    /// Returns the predictions of all points, where each kernel finds the machine as those before
    /// it left it; `None` if that is the same as each alone, or the model has no such machine.
    ///
    /// # Errors
    /// The run failed, and the search with it.
    fn predict_together(&self, values: &[i64]) -> Result<Option<Vec<f64>>, Self::Error> {
        let _ = values;
        Ok(None)
    }
}

/// A search that could not go on.
#[derive(Debug)]
pub enum RunError<E> {
    /// A run of the model failed.
    Model(E),
    /// Finished runs cannot be kept.
    Journal(JournalError),
}

/// Predictions of all points at one place.
pub(crate) type Counts = Arc<Vec<f64>>;
/// Predictions at one place; `None` if the model has no such machine.
pub(crate) type Predicted = Option<Counts>;
/// Predictions of all kernels together, and of each alone.
pub(crate) type Both = [Counts; 2];

/// Kernels whose predictions are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Kernels with a fitted count. Points of others have no number.
    Fitted,
    /// All.
    All,
}

/// Runs of kernels between two reports of progress, and at most those that an ended search loses.
const BATCH: usize = 256;

/// A run: its kernel (`None` for all together) and its place.
type Run = (Option<usize>, Vec<usize>);

/// Finished runs, and the model for others.
pub struct Runs<'a, M: Model> {
    keys: &'a [Key],
    model: &'a M,
    known: HashMap<Run, Predicted>,
    /// Places of which the model said if it has a machine.
    machines: HashMap<Vec<usize>, bool>,
    journal: Option<Journal>,
    kernels: Vec<KernelOfRuns>,
    /// Changes of the predictions of kernels alone.
    correction: Option<Vec<Correction>>,
    made: usize,
    least: Option<f64>,
    progress: &'a dyn Fn(Progress),
    pool: rayon::ThreadPool,
}

/// A kernel as its runs see it.
#[derive(Clone, Debug)]
struct KernelOfRuns {
    /// Number of its points.
    points: usize,
    is_fitted: bool,
    /// For each key, true if a count of the kernel may change with it.
    depends: Vec<bool>,
}

/// Change of a count with the kernels before it.
#[derive(Clone, Copy, Debug)]
enum Correction {
    /// They add events.
    More(f64),
    /// They leave this share of the events.
    Less(f64),
}

impl Correction {
    fn new(together: f64, alone: f64) -> Correction {
        match together >= alone {
            true => Correction::More(together - alone),
            false => Correction::Less(together / alone),
        }
    }

    fn of(self, count: f64) -> f64 {
        match self {
            Correction::More(more) => count + more,
            Correction::Less(share) => count * share,
        }
    }
}

/// State of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Runs of the model that were made: of single kernels, divided by the number of kernels.
    pub runs: usize,
    /// Root of the mean cost of a fitted count at the best place so far, in standard deviations.
    pub difference: Option<f64>,
}

impl<'a, M: Model> Runs<'a, M> {
    /// Starts with the runs of a journal. `progress` gets the state of the search after each
    /// batch of runs. `jobs` is the number of parallel runs; 0 is one for each CPU of the host.
    ///
    /// # Errors
    /// The threads cannot be started.
    pub fn new(
        keys: &'a [Key],
        model: &'a M,
        journal: Option<Journal>,
        progress: &'a dyn Fn(Progress),
        jobs: usize,
    ) -> Result<Runs<'a, M>, rayon::ThreadPoolBuildError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build()?;
        let (mut journal, mut known) = (journal, HashMap::new());
        for Line { kernel, place, predicted } in journal.iter_mut().flat_map(Journal::take) {
            if keys.len() == place.len() {
                known.insert((kernel, place), predicted.map(Arc::new));
            }
        }
        let (machines, kernels) = (HashMap::new(), Vec::new());
        let (correction, made, least) = (None, 0, None);
        Ok(Runs {
            keys,
            model,
            known,
            machines,
            journal,
            kernels,
            correction,
            made,
            least,
            progress,
            pool,
        })
    }

    /// Ends the runs. Returns the journal, which stays locked.
    pub fn into_journal(self) -> Option<Journal> {
        self.journal
    }

    /// Returns the number of runs of the model, without those of the journal.
    pub fn made(&self) -> usize {
        self.made.div_ceil(self.kernels.len().max(1))
    }

    /// Gets to know the kernels, and forgets runs of a damaged journal, which do not have so many
    /// predictions.
    pub(crate) fn of_points(&mut self, points: &Points) {
        let kernel = |number: usize| {
            let own = || points.all.iter().filter(|point| point.kernel == number);
            KernelOfRuns {
                points: own().count(),
                is_fitted: own().any(|point| point.counted.is_some() && !point.held_out),
                depends: vec![true; self.keys.len()],
            }
        };
        let kernels: Vec<KernelOfRuns> = (0..points.kernels.len()).map(kernel).collect();
        let is_whole = |kernel: Option<usize>, run: &[f64]| {
            let points = match kernel {
                None => Some(points.all.len()),
                Some(number) => kernels.get(number).map(|kernel| kernel.points),
            };
            points == Some(run.len()) && run.iter().all(|count| count.is_finite() && *count >= 0.0)
        };
        self.known.retain(|(kernel, _), run| run.as_ref().is_none_or(|run| is_whole(*kernel, run)));
        self.kernels = kernels;
    }

    /// Notes that a kernel depends on some of the keys alone.
    pub(crate) fn depends(&mut self, kernel: usize, on: Vec<bool>) {
        self.kernels[kernel].depends = on;
    }

    /// Returns the predictions at several places, in their order.
    pub(crate) fn at(
        &mut self,
        places: &[Vec<usize>],
        wanted: Wanted,
    ) -> Result<Vec<Predicted>, RunError<M::Error>> {
        let mut runs = Vec::new();
        for place in places {
            let of_place = self.runs_of(place, wanted);
            runs.push(self.has_machine(place, &of_place).then_some(of_place));
        }
        self.make_all(runs.iter().flatten().flatten().flatten())?;
        Ok(runs.iter().map(|runs| self.joined(runs.as_ref()?)).collect())
    }

    /// Returns the predictions at one place.
    pub(crate) fn one(
        &mut self,
        place: &[usize],
        wanted: Wanted,
    ) -> Result<Predicted, RunError<M::Error>> {
        Ok(self.at(&[place.to_vec()], wanted)?.remove(0))
    }

    /// Returns the predictions at one place where each kernel follows the others.
    pub(crate) fn together(&mut self, place: &[usize]) -> Result<Predicted, RunError<M::Error>> {
        let run = (None, place.to_vec());
        self.make_all([&run].into_iter())?;
        match self.known[&run].clone() {
            Some(known) => Ok(Some(known)),
            None => {
                self.correction = None;
                self.one(place, Wanted::All)
            }
        }
    }

    /// Returns the predictions at places where each kernel follows the others, those of kernels
    /// that no key seemed to change too.
    pub(crate) fn all_together(
        &mut self,
        places: Vec<Vec<usize>>,
    ) -> Result<Vec<Predicted>, RunError<M::Error>> {
        let runs: Vec<Run> = places.into_iter().map(|place| (None, place)).collect();
        self.make_all(runs.iter())?;
        Ok(runs.iter().map(|run| self.known[run].clone()).collect())
    }

    /// Corrects all predictions by the difference between kernels that follow each other and each
    /// alone, at a place. Returns both predictions, together first.
    pub(crate) fn correct(&mut self, place: &[usize]) -> Result<Option<Both>, RunError<M::Error>> {
        self.correction = None;
        let (together, alone) = (self.together(place)?, self.one(place, Wanted::All)?);
        let Some((together, alone)) = together.zip(alone) else { return Ok(None) };
        let both = together.iter().zip(alone.iter());
        self.correction =
            Some(both.map(|(together, alone)| Correction::new(*together, *alone)).collect());
        Ok(Some([together, alone]))
    }

    /// Notes the cost of a fitted count at the best place so far.
    pub(crate) fn found(&mut self, cost: f64) {
        self.least = Some(cost.sqrt());
    }

    /// Runs a closure with the threads of the runs.
    pub(crate) fn in_parallel<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.pool.install(work)
    }

    /// Returns the run of each wanted kernel at a place.
    fn runs_of(&self, place: &[usize], wanted: Wanted) -> Vec<Option<Run>> {
        let run = |(number, kernel): (usize, &KernelOfRuns)| {
            let is_wanted = wanted == Wanted::All || kernel.is_fitted;
            is_wanted.then(|| (Some(number), self.projected(kernel, place)))
        };
        self.kernels.iter().enumerate().map(run).collect()
    }

    /// Returns false if the model says that it has no machine at a place. A kernel that does not
    /// depend on a key runs with its first value, which hides it. The model is asked once, and not
    /// if all runs are of the very place: they show it.
    fn has_machine(&mut self, place: &[usize], runs: &[Option<Run>]) -> bool {
        if runs.iter().flatten().all(|(_, of_run)| of_run == place) {
            return true;
        }
        if let Some(known) = self.machines.get(place) {
            return *known;
        }
        let has_machine = self.model.has_machine(&values(self.keys, place));
        self.machines.insert(place.to_vec(), has_machine);
        has_machine
    }

    /// Returns a place with the keys at their start that do not change the kernel.
    fn projected(&self, kernel: &KernelOfRuns, place: &[usize]) -> Vec<usize> {
        let keys = self.keys.iter().zip(place).zip(&kernel.depends);
        keys.map(|((key, position), depends)| if *depends { *position } else { key.start })
            .collect()
    }

    /// Returns the predictions of all points from those of the kernels.
    fn joined(&self, runs: &[Option<Run>]) -> Predicted {
        let mut all = Vec::new();
        for (kernel, run) in self.kernels.iter().zip(runs) {
            match run {
                Some(run) => all.extend_from_slice(self.known[run].as_ref()?),
                None => all.extend(std::iter::repeat_n(f64::NAN, kernel.points)),
            }
        }
        for (count, correction) in all.iter_mut().zip(self.correction.iter().flatten()) {
            *count = correction.of(*count);
        }
        Some(Arc::new(all))
    }

    /// Makes those of some runs that are not known.
    fn make_all<'b>(
        &mut self,
        runs: impl Iterator<Item = &'b Run>,
    ) -> Result<(), RunError<M::Error>> {
        let mut new: Vec<&Run> = runs.filter(|run| !self.known.contains_key(*run)).collect();
        new.sort_unstable();
        new.dedup();
        for batch in new.chunks(BATCH) {
            self.make(batch)?;
        }
        Ok(())
    }

    /// Makes some runs.
    fn make(&mut self, runs: &[&Run]) -> Result<(), RunError<M::Error>> {
        let (model, keys) = (self.model, self.keys);
        let predict = |(kernel, place): &&Run| match kernel {
            Some(kernel) => model.predict(*kernel, &values(keys, place)),
            None => model.predict_together(&values(keys, place)),
        };
        let all = || runs.par_iter().with_max_len(1).map(predict).collect::<Vec<_>>();
        let predicted = self.pool.install(all);
        for ((kernel, place), predicted) in runs.iter().zip(predicted) {
            let predicted = predicted.map_err(RunError::Model)?;
            if let Some(journal) = &mut self.journal {
                let line = Line { kernel: *kernel, place: place.clone(), predicted };
                journal.add(&line).map_err(RunError::Journal)?;
                self.known.insert((*kernel, line.place), line.predicted.map(Arc::new));
            } else {
                self.known.insert((*kernel, place.clone()), predicted.map(Arc::new));
            }
            self.made += kernel.map_or(self.kernels.len(), |_| 1);
        }
        (self.progress)(Progress { runs: self.made(), difference: self.least });
        Ok(())
    }
}

/// Returns the values at a place.
fn values(keys: &[Key], place: &[usize]) -> Vec<i64> {
    keys.iter().zip(place).map(|(key, position)| key.value(*position)).collect()
}

#[cfg(test)]
mod tests {
    use sim_core::config::{Range, Steps};

    use super::*;
    use crate::point::Point;

    /// A kernel whose count is its value, and a share of it after others.
    struct Share(f64);

    impl Model for Share {
        type Error = ();

        fn predict(&self, _: usize, values: &[i64]) -> Result<Option<Vec<f64>>, ()> {
            Ok(Some(vec![values[0] as f64]))
        }

        fn predict_together(&self, values: &[i64]) -> Result<Option<Vec<f64>>, ()> {
            Ok(Some(vec![self.0 * values[0] as f64]))
        }
    }

    /// Returns the prediction at 10, corrected by the difference at 100.
    fn corrected(share: f64) -> f64 {
        let range = Range { low: 0, high: 200, steps: Steps::Ones };
        let keys = [Key { name: "key".to_owned(), range, start: 100 }];
        let model = Share(share);
        let mut runs = Runs::new(&keys, &model, None, &|_| (), 1).expect("a thread");
        let event = "CPU_CYCLES".to_owned();
        let point = Point { kernel: 0, event, counted: None, step: 0.0, held_out: false };
        let kernels = vec!["kernel".to_owned()];
        runs.of_points(&Points { kernels, all: vec![point], noise: 0.01 });
        let both = runs.correct(&[100]).expect("the model runs").expect("a machine");
        assert_eq!(both.map(|counts| counts[0]), [share * 100.0, 100.0]);
        let there = runs.one(&[10], Wanted::All).expect("the model runs").expect("a machine");
        there[0]
    }

    /// A count cannot become negative: where others leave a share at one place, they leave that
    /// share elsewhere.
    #[test]
    fn correction_adds_events_or_leaves_a_share() {
        assert_eq!(corrected(1.5), 10.0 + 50.0);
        assert_eq!(corrected(0.25), 2.5);
        assert_eq!(corrected(0.0), 0.0);
    }
}
