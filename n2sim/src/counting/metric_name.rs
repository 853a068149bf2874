//! Metrics that a reader takes for events.

use sim_metrics::builtin;

/// Returns a remark that `name` is a metric, with its name as options take it. Returns `None` if
/// no metric has this name.
pub(crate) fn remark(name: &str) -> Option<String> {
    let catalog = builtin::catalog();
    let lower = name.to_ascii_lowercase();
    let metric = catalog.get(name).or_else(|| catalog.get(&lower))?;
    Some(format!(
        "{name} is a metric, not an event (n2sim explain {} has its formula)",
        metric.name
    ))
}

#[cfg(test)]
mod tests {
    use super::remark;

    #[test]
    fn metrics_are_recognized_in_any_case() {
        assert!(remark("IPC").expect("a metric").contains("n2sim explain ipc"));
        assert_eq!(remark("L1D_CACHE_MISS"), None);
    }
}
