//! What an estimate promises: how sure a sketch is, and with which settings.

mod intervals;
mod labels;
mod options;
mod promise;

pub use intervals::{Intervals, count_error, error_bound};
pub use labels::{LabelOptions, Labeler, same_beginning};
pub use options::{EstimateOptions, Method};
pub use promise::{
    Interval, agreement, found_by_agreement, found_by_labels, label_length, lowest_estimate, synopsis_size, trees_for,
};
