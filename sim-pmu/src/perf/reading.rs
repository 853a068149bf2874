//! Reading of an event as software gets it: its count, its enabled time and its running time, and
//! the estimate from these three.

/// Status of a reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// The event was never on a counter, so its count is unknown.
    #[default]
    NotCounted,
    /// The event was counted, all the time or part of it.
    Counted,
    /// The event was refused: its group never fits, or no counter can count it.
    NotSupported,
}

/// Reading of one event, on one core or on several together. Times are in cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Occurrences while the event was on a counter.
    pub value: u64,
    /// Time for which the event was requested.
    pub enabled: u64,
    /// Time for which the event was on a counter.
    pub running: u64,
    /// Status of the reading.
    pub status: Status,
}

impl Reading {
    /// Returns the reading of an event that was counted all the time, or is known without counting.
    pub fn exact(value: u64, cycles: u64) -> Reading {
        Reading { value, enabled: cycles, running: cycles, status: Status::Counted }
    }

    /// Returns the estimate for the whole time: the count scaled by enabled over running time,
    /// rounded down as perf does. Returns `None` if the event was never counted.
    pub fn scaled(&self) -> Option<u64> {
        if self.status != Status::Counted {
            return None;
        }
        if self.running == self.enabled || self.running == 0 {
            return Some(self.value);
        }
        let scaled = u128::from(self.value) * u128::from(self.enabled) / u128::from(self.running);
        Some(u64::try_from(scaled).unwrap_or(u64::MAX))
    }

    /// Returns the error of the estimate in percent of the true count. Returns `None` without an
    /// estimate, or if the event never occurred.
    pub fn error_percent(&self, truth: u64) -> Option<f64> {
        let estimate = self.scaled()?;
        match truth {
            0 => (estimate == 0).then_some(0.0),
            truth => Some(100.0 * (estimate as f64 - truth as f64) / truth as f64),
        }
    }

    /// Returns the fraction of the time for which the event was counted, 0 to 1.
    pub fn share(&self) -> f64 {
        if self.enabled == 0 { 0.0 } else { self.running as f64 / self.enabled as f64 }
    }

    /// Returns the readings of the same event on two cores together. The event counts as counted if
    /// one core counted it.
    #[must_use]
    pub fn plus(&self, other: &Reading) -> Reading {
        let status = match (self.status, other.status) {
            (Status::NotSupported, _) | (_, Status::NotSupported) => Status::NotSupported,
            (Status::Counted, _) | (_, Status::Counted) => Status::Counted,
            _ => Status::NotCounted,
        };
        Reading {
            value: self.value + other.value,
            enabled: self.enabled + other.enabled,
            running: self.running + other.running,
            status,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_assumes_a_constant_rate() {
        let reading = Reading { value: 10, enabled: 9, running: 4, status: Status::Counted };
        assert_eq!(reading.scaled(), Some(22), "22.5");
        assert_eq!(Reading { running: 9, ..reading }.scaled(), Some(10));
        assert_eq!(Reading { status: Status::NotCounted, ..reading }.scaled(), None);
        let huge = Reading { value: u64::MAX, enabled: u64::MAX, running: 1, ..reading };
        assert_eq!(huge.scaled(), Some(u64::MAX), "nothing wraps");
        assert_eq!(Reading::exact(7, 0).scaled(), Some(7), "no cycle has passed yet");
    }

    #[test]
    fn an_error_is_relative_to_the_true_count() {
        let reading = Reading::exact(90, 1);
        assert_eq!(reading.error_percent(100), Some(-10.0));
        assert_eq!(reading.error_percent(90), Some(0.0));
        assert_eq!(reading.error_percent(0), None, "nothing to relate to");
        assert_eq!(Reading::exact(0, 1).error_percent(0), Some(0.0));
        assert_eq!(Reading::default().error_percent(5), None, "never counted");
    }

    #[test]
    fn cores_are_added_before_scaling() {
        let one = Reading { value: 10, enabled: 8, running: 2, status: Status::Counted };
        let never = Reading { value: 0, enabled: 8, running: 0, status: Status::NotCounted };
        assert_eq!(one.plus(&never).scaled(), Some(80), "10 in 2 of 16 cycles");
    }
}
