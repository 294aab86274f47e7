//! Counts of words.

pub mod count;
