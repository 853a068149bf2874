//! Predictions of the model, made in parallel and once each.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;

use crate::journal::{Journal, JournalError};
use crate::key::Key;

/// A model that predicts the counts of all points.
pub trait Model: Sync {
    /// Reason for which a run failed that has nothing to do with the values.
    type Error: Send;

    /// Returns the prediction of each point, for the values of all keys; `None` if the model has no
    /// machine with these values.
    ///
    /// # Errors
    /// The run failed, and the search with it.
    fn predict(&self, values: &[i64]) -> Result<Option<Vec<f64>>, Self::Error>;
}

/// A search that could not go on.
#[derive(Debug)]
pub enum RunError<E> {
    /// A run of the model failed.
    Model(E),
    /// Finished runs cannot be kept.
    Journal(JournalError),
}

/// Predictions at one place; `None` if the model has no such machine.
pub(crate) type Predicted = Option<Arc<Vec<f64>>>;

/// Runs between two reports of progress, and at most those that an ended search loses.
const BATCH: usize = 16;

/// Finished runs, and the model for others.
pub struct Runs<'a, M: Model> {
    keys: &'a [Key],
    model: &'a M,
    known: HashMap<Vec<usize>, Predicted>,
    journal: Option<Journal>,
    made: usize,
    least: Option<f64>,
    progress: &'a dyn Fn(Progress),
    pool: rayon::ThreadPool,
}

/// State of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Runs of the model that were made.
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
        let known = HashMap::new();
        let mut runs =
            Runs { keys, model, known, journal: None, made: 0, least: None, progress, pool };
        let mut journal = journal;
        for (place, predicted) in journal.iter_mut().flat_map(Journal::take) {
            if keys.len() == place.len() {
                runs.known.insert(place, predicted.map(Arc::new));
            }
        }
        runs.journal = journal;
        Ok(runs)
    }

    /// Returns the number of runs of the model, without those of the journal.
    pub fn made(&self) -> usize {
        self.made
    }

    /// Returns the predictions at several places, in their order.
    pub(crate) fn at(
        &mut self,
        places: &[Vec<usize>],
    ) -> Result<Vec<Predicted>, RunError<M::Error>> {
        let mut new: Vec<&Vec<usize>> =
            places.iter().filter(|place| !self.known.contains_key(*place)).collect();
        new.sort_unstable();
        new.dedup();
        for batch in new.chunks(BATCH) {
            self.make(batch)?;
        }
        Ok(places.iter().map(|place| self.known[place].clone()).collect())
    }

    /// Forgets runs of a damaged journal, which do not have so many predictions.
    pub(crate) fn expect_points(&mut self, points: usize) {
        let is_whole = |run: &Arc<Vec<f64>>| {
            run.len() == points && run.iter().all(|count| count.is_finite() && *count >= 0.0)
        };
        self.known.retain(|_, run| run.as_ref().is_none_or(is_whole));
    }

    /// Notes the cost of a fitted count at the best place so far.
    pub(crate) fn found(&mut self, cost: f64) {
        self.least = Some(cost.sqrt());
    }

    /// Makes some runs.
    fn make(&mut self, places: &[&Vec<usize>]) -> Result<(), RunError<M::Error>> {
        let (model, keys) = (self.model, self.keys);
        let predict = |place: &&Vec<usize>| model.predict(&values(keys, place));
        let all = || places.par_iter().map(predict).collect::<Vec<_>>();
        let predicted = self.pool.install(all);
        for (place, predicted) in places.iter().zip(predicted) {
            let predicted = predicted.map_err(RunError::Model)?;
            if let Some(journal) = &mut self.journal {
                journal.add(place, predicted.as_deref()).map_err(RunError::Journal)?;
            }
            self.known.insert((*place).clone(), predicted.map(Arc::new));
            self.made += 1;
        }
        (self.progress)(Progress { runs: self.made, difference: self.least });
        Ok(())
    }

    /// Returns the predictions at one place.
    pub(crate) fn one(&mut self, place: &[usize]) -> Result<Predicted, RunError<M::Error>> {
        Ok(self.at(&[place.to_vec()])?.remove(0))
    }
}

/// Returns the values at a place.
fn values(keys: &[Key], place: &[usize]) -> Vec<i64> {
    keys.iter().zip(place).map(|(key, position)| key.value(*position)).collect()
}
