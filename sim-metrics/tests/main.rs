//! Metric files and formulas from outside: expressions and the values that they must have.

mod expressions;
