//! n2sim: report.
