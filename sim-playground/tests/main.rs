//! The model of the playground page, one module for each subject.

mod answers;
