//! What software reads of an event: what was counted, for how long it could have been, for how long it
//! was; and the estimate that is made of the three.

/// What can be said of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// It was never on a counter: there is nothing to say about it.
    #[default]
    NotCounted,
    /// It was counted, all the time or a part of it.
    Counted,
    /// It was refused: its group can never fit, or there is nothing that could count it.
    NotSupported,
}

/// The reading of one event, of one core or of several together. Times are cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// What was counted while it was on.
    pub value: u64,
    /// Time for which it was asked for.
    pub enabled: u64,
    /// Time for which it was on a counter.
    pub running: u64,
    /// What can be said of it.
    pub status: Status,
}

impl Reading {
    /// An event that was counted all the time, or is known without counting.
    pub fn exact(value: u64, cycles: u64) -> Reading {
        Reading { value, enabled: cycles, running: cycles, status: Status::Counted }
    }

    /// The estimate for the whole time: what was counted, scaled by enabled over running time and
    /// rounded down, as perf does. `None` if it was never counted.
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

    /// How far the estimate is from the truth, in percent of the truth. `None` if there is no estimate, or
    /// one of something that never happened.
    pub fn error_percent(&self, truth: u64) -> Option<f64> {
        let estimate = self.scaled()?;
        match truth {
            0 => (estimate == 0).then_some(0.0),
            truth => Some(100.0 * (estimate as f64 - truth as f64) / truth as f64),
        }
    }

    /// Part of the time for which it was counted, 0 to 1.
    pub fn share(&self) -> f64 {
        if self.enabled == 0 { 0.0 } else { self.running as f64 / self.enabled as f64 }
    }

    /// The readings of the same event on two cores together. One counted core is enough.
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
    fn an_estimate_assumes_that_the_rest_was_like_the_part() {
        let reading = Reading { value: 10, enabled: 9, running: 4, status: Status::Counted };
        assert_eq!(reading.scaled(), Some(22), "22.5");
        assert_eq!(Reading { running: 9, ..reading }.scaled(), Some(10));
        assert_eq!(Reading { status: Status::NotCounted, ..reading }.scaled(), None);
        let huge = Reading { value: u64::MAX, enabled: u64::MAX, running: 1, ..reading };
        assert_eq!(huge.scaled(), Some(u64::MAX), "nothing wraps");
        assert_eq!(Reading::exact(7, 0).scaled(), Some(7), "no cycle has passed yet");
    }

    #[test]
    fn an_error_is_a_part_of_the_truth() {
        let reading = Reading::exact(90, 1);
        assert_eq!(reading.error_percent(100), Some(-10.0));
        assert_eq!(reading.error_percent(90), Some(0.0));
        assert_eq!(reading.error_percent(0), None, "no part of nothing");
        assert_eq!(Reading::exact(0, 1).error_percent(0), Some(0.0));
        assert_eq!(Reading::default().error_percent(5), None, "never counted");
    }

    #[test]
    fn cores_add_up_before_anything_is_scaled() {
        let one = Reading { value: 10, enabled: 8, running: 2, status: Status::Counted };
        let never = Reading { value: 0, enabled: 8, running: 0, status: Status::NotCounted };
        assert_eq!(one.plus(&never).scaled(), Some(80), "10 in 2 of 16 cycles");
    }
}
